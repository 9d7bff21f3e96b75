"""The parts of a runtime profile, and the layout they are asked about."""

from __future__ import annotations

from typing import TypeAlias

from ..model.record import record
from ..symbolic import ZERO, Expr, as_expr
from .predicates import Exprs


@record(frozen=True)
class Layout:
    """A tensor as the runtime holds it: sizes, strides, ``offset`` from the start of its storage and the
    storage's ``capacity``, all in elements of ``dtype``.

    ``copied``: the storage is a copy the runtime made of a view.  ``gathered``: ops are given a packed copy
    when they read it and refuse to write it.
    """

    sizes: Exprs
    strides: Exprs
    offset: Expr = ZERO
    capacity: Expr | None = None
    dtype: str | None = None
    device: str = "cpu"
    copied: bool = False
    gathered: bool = False


@record(frozen=True)
class Rule:
    """What happens when every test of ``when`` answers as wanted; the first rule that applies decides.

    ``error`` is what a rejection does: ``abort`` (the process ends), ``undefined`` (the runtime itself
    misbehaves) or the name of the error code.  ``carry`` names the strides the result has, ``binding`` how
    kernels and ops reach its memory, ``ordered`` whether accesses through it wait for those through its
    base, ``leaks`` whether its base is never freed, ``slow`` whether it is right and far slower than it need be.
    """

    id: str
    when: tuple[tuple[str, bool], ...]
    then: str
    why: str = ""
    error: str = ""
    carry: str = ""
    binding: str = "storage"
    ordered: bool = True
    leaks: bool = False
    gathered: bool = False
    slow: bool = False
    bug: str = ""


@record(frozen=True)
class Section:
    """Rules on one subject and where they are known from."""

    source: str
    rules: tuple[Rule, ...] = ()


@record(frozen=True)
class AllocFacts:
    """``empty_strided``: ``capacity`` is ``numel`` or ``extent``; ``max_dims`` 0 means any number.

    ``align`` are the bytes a fresh storage is aligned to, by device.  ``maybe_dtypes`` are accepted by a
    later state of this runtime and it is not known since when.
    """

    source: str
    capacity: str
    carry: str
    dtypes: frozenset[str]
    maybe_dtypes: frozenset[str]
    devices: frozenset[str]
    max_dims: int
    min_elements: int
    align: tuple[tuple[str, int], ...]
    rules: tuple[Rule, ...]


@record(frozen=True)
class ViewFacts:
    """``reinterpret_tensor``: ``offset`` is ``relative`` to the base or ``absolute`` in its storage."""

    source: str
    offset: str
    carry: str
    rules: tuple[Rule, ...]


@record(frozen=True)
class CloneFacts:
    """Strides of a clone: ``dense-kept`` (a permutation of dense is kept, else row-major) or ``kept``."""

    source: str
    layout: str


@record(frozen=True)
class OutputFacts:
    """What the caller can be given. ``duplicates``: one handle in two places (``ok``, ``double-release``,
    ``unknown``). ``copied``: the caller gets a copy, never memory the model goes on using."""

    source: str
    duplicates: str
    copied: bool
    rules: tuple[Rule, ...]


@record(frozen=True)
class Symbols:
    """C symbols: ``open`` means every one exists but those ``absent``, otherwise only those listed do.

    ``maybe`` exist in a later state of this runtime and it is not known since when.
    """

    source: str
    open: bool
    present: frozenset[str]
    throws: frozenset[str]
    maybe: frozenset[str]
    absent: frozenset[str] = frozenset()


# -- answers ------------------------------------------------------------------------------------

#: An argument of a C call: a tensor, an integer, the text of another constant, null or a list.
OpArg: TypeAlias = "Layout | Expr | str | tuple[object, ...] | None"


@record(frozen=True)
class Judgement:
    """``kind``: ``misread`` (wrong elements in silence), ``reject`` (``error``) or ``unknown``.

    ``arg`` and ``at`` name the argument; "" and -1 when it is about several.
    """

    arg: str
    at: int
    kind: str
    reason: str
    error: str = ""
    fact: str = ""
    bug: str = ""

    @property
    def effect(self) -> str:
        return effect_of(self.kind, self.error)


def effect_of(kind: str, error: str) -> str:
    """``abort``, ``undefined``, ``error``, ``wrong`` or "" for an outcome."""
    if kind in ("misread", "corrupt"):
        return "wrong"
    if kind != "reject":
        return ""
    return error if error in ("abort", "undefined") else "error"


def constant_number(value: object) -> float | None:
    """The number an argument is, if it is a constant one."""
    if isinstance(value, (Expr, int)):
        return as_expr(value).value
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return None
    return None


def shape(values: Exprs) -> str:
    """Sizes or strides as wrappers write them: ``{2, 3}``."""
    return "{" + ", ".join(map(str, values)) + "}"
