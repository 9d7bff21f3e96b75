"""A kernel as what it touches: iteration variables with ranges, and accesses with index and guard."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

from ..symbolic import TRUE, Cond, Expr
from .location import Loc
from .record import field, record, replace

VarKind: TypeAlias = Literal["grid", "parallel", "loop", "lane", "data"]

#: Barriers of the whole grid, and of the threads of a group or program, that were passed so far.
Barriers: TypeAlias = "tuple[int, int]"


@record(frozen=True)
class Var:
    """An iteration variable running over ``0 .. extent-1`` in steps of one.

    A source loop with another start or step is normalised: the source variable is an expression of
    this one (see :attr:`Access.names`).  ``grid`` and ``parallel`` iterations run concurrently,
    ``loop`` in order, ``lane`` are the elements of one vector access.  ``data`` is a value loaded
    from memory: ``extent`` is None and only guards bound it; ``lo``/``hi`` are what its type allows.
    ``computed``: it was not loaded but computed in a way that is not followed.
    ``loop`` is the number of the loop in a C++ kernel: accesses that share it are in the same loop, not just
    in two of the same form. Elsewhere it is 0, as a kernel has one grid.
    """

    name: str
    extent: Expr | None
    kind: VarKind
    lo: int | None = None
    hi: int | None = None
    loop: int = field(default=0, compare=False)
    computed: bool = False


@record(frozen=True)
class Narrow:
    """A value computed in ``bits`` bits that is taken not to wrap around; whether it fits, a launch says.

    ``text`` is its source, ``path`` the condition under which it is computed, ``vars`` the variables in it that
    are not those of the access that keeps it. ``rounds``: it is a number in float arithmetic instead, which
    is taken to be small enough for rounding not to move what is computed from it by more than is allowed for.
    """

    text: str
    value: Expr
    bits: int
    signed: bool
    path: Cond = TRUE
    vars: tuple[Var, ...] = ()
    rounds: bool = False

    @property
    def low(self) -> int:
        return -(1 << (self.bits - 1)) if self.signed else 0

    @property
    def high(self) -> int:
        return (1 << (self.bits - (1 if self.signed else 0))) - 1


@record(frozen=True)
class Lock:
    """A spin lock: element ``index`` of ``param``. ``index`` is in the variables of the access under it."""

    param: str
    index: Expr


@record(frozen=True)
class Access:
    """One load, store or atomic of a kernel: ``param[index]`` for all ``vars`` where ``guard`` holds.

    ``index`` is None when it could not be expressed; ``reason`` then says why (also set when the guard
    or a bound is not understood).  ``guard`` may hold :func:`~..symbolic.opaque` parts (data-dependent).
    ``names`` gives the source's own index variables as expressions, for messages and witnesses.
    ``value_vars`` names the variables a stored value can depend on (None: not known).
    ``used`` is the condition under which a loaded value is not discarded by a later select.
    ``index_bits`` and ``index_signed``: the type the index is computed in, its value being taken not to overflow;
    ``narrow`` are those of ``names`` in the index that are computed in 32 bits, with their signedness.
    ``taken`` are the values behind index and guard that are taken not to wrap: unless each fits, nothing is proved.
    ``barriers`` stand before the access in the text; only whether they differ between two accesses matters.
    ``lock`` is held around the access: each holder is alone at it.
    ``alternatives`` are the same access where the compiler is given other constants, each with what it is given;
    ``widest`` says that this one reaches all that they reach.
    """

    param: str
    kind: Literal["load", "store", "atomic"]
    index: Expr | None
    vars: tuple[Var, ...]
    guard: Cond
    loc: Loc
    text: str = ""
    reason: str | None = None
    names: tuple[tuple[str, Expr], ...] = ()
    value_vars: frozenset[str] | None = None
    used: Cond = TRUE
    index_bits: int = 64
    index_signed: bool = True
    narrow: tuple[tuple[str, bool], ...] = ()
    taken: tuple[Narrow, ...] = ()
    barriers: Barriers = (0, 0)
    lock: Lock | None = None
    alternatives: tuple[Alternative, ...] = ()
    widest: bool = False


@record(frozen=True)
class Alternative:
    """``access`` where ``given`` is chosen (``BLOCK = 64``); None: there it is not made."""

    given: str
    access: Access | None


def each_alternative(a: Access, change: Callable[[Access], Access]) -> tuple[Alternative, ...]:
    """The alternatives of ``a``, each changed as ``a`` itself is."""
    return tuple(x if x.access is None else replace(x, access=change(x.access)) for x in a.alternatives)


@record(frozen=True)
class Param:
    """A kernel parameter. ``dtype`` of pointers is the element type; ``readonly`` a const/constant pointer."""

    name: str
    pointer: bool
    dtype: str | None
    readonly: bool = False
    restrict: bool = False


@record(frozen=True)
class Array:
    """An array of the kernel's own, one for each thread or (``shared``) for each group of threads.

    ``length`` in elements; None when it is not known. Its accesses have its name as their ``param``.
    """

    name: str
    dtype: str | None
    length: Expr | None
    shared: bool = False
    accesses: tuple[Access, ...] = ()


@record(frozen=True)
class Kernel:
    """A kernel: parameters and every access it makes, in program order.

    It is parametric in its scalars and its grid: the symbols ``grid.0``, ``grid.1``, ``grid.2`` (number of
    threads for Metal, programs for Triton) and scalar parameter names are bound by each launch.
    ``unmodelled`` lists statements that were not understood, as (text, location).
    ``alignments`` are bytes each pointer is promised to be aligned to. ``arrays`` are its own storages.
    """

    name: str
    dialect: Literal["metal", "cpp", "triton"]
    params: tuple[Param, ...]
    accesses: tuple[Access, ...]
    loc: Loc
    unmodelled: tuple[tuple[str, Loc], ...] = ()
    alignments: tuple[tuple[str, int], ...] = ()
    arrays: tuple[Array, ...] = ()

    def param(self, name: str) -> Param | None:
        return next((p for p in self.params if p.name == name), None)
