"""Abstract values of a Triton kernel: what each name can hold while the kernel body is read.

A block tensor is one value that stands for all its elements: its integer expression uses a symbol for the
position along each block axis.  Axes count from the right (``@0`` is the last one), as in broadcasting, so
two blocks that meet in an operation use the same symbol for the same lane.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from ...model.dtypes import from_tl
from ...model.kernel import Narrow
from ...model.record import field, record
from ...symbolic import ONE, TRUE, ZERO, Cond, Expr, where

if TYPE_CHECKING:
    from .floats import FloatFn

Shape: TypeAlias = "tuple[Expr, ...]"

#: Per load that reaches a value: where it matters, and whether block axes still are those of the load.
Feeds: TypeAlias = "Mapping[int, tuple[Cond, bool]]"


class Unsupported(Exception):
    """A form this reader has no meaning for; the text says which."""


@record(frozen=True, kw_only=True)
class Value:
    """``deps``: the iteration symbols the value can vary with.  ``feeds``: the loads it is computed from."""

    shape: Shape = ()
    deps: frozenset[str] = frozenset()
    feeds: Feeds = field(default_factory=dict)


@record(frozen=True, kw_only=True)
class Num(Value):
    """An integer of ``bits`` bits.

    ``expr`` is its value up to a multiple of ``2**bits``, and the value itself where it ``fits``: see :mod:`.typed`.
    ``weak``: a compile-time integer of Python, which takes the type of what it meets.  ``narrow``: what was taken not
    to wrap on the way.
    """

    expr: Expr
    bits: int = 32
    signed: bool = True
    fits: bool = False
    weak: bool = False
    narrow: tuple[Narrow, ...] = ()


@record(frozen=True, kw_only=True)
class Bool(Value):
    """A condition per element; ``narrow``: what was taken not to wrap in it."""

    cond: Cond
    narrow: tuple[Narrow, ...] = ()


@record(frozen=True, kw_only=True)
class Real(Value):
    """A value that is not followed as an integer: floating point, or unknown.

    ``fn`` is set where it is a known function of one integer.
    """

    fn: FloatFn | None = None
    dtype: str | None = None


@record(frozen=True, kw_only=True)
class Ptr(Value):
    """``param`` plus ``base`` bytes plus ``offset`` elements of ``size`` bytes."""

    param: str
    offset: Expr = ZERO
    size: int
    base: Expr = ZERO
    narrow: tuple[Narrow, ...] = ()


@record(frozen=True)
class BlockDim:
    """One dimension of a block pointer or descriptor."""

    extent: Expr
    stride: Expr
    offset: Expr
    block: Expr


@record(frozen=True, kw_only=True)
class BlockPtr(Value):
    """``tl.make_block_ptr`` or a tensor descriptor (``checked``: every dimension is bounds-checked)."""

    ptr: Ptr
    dims: tuple[BlockDim, ...]
    checked: bool = False


@record(frozen=True, kw_only=True)
class Descriptor(Value):
    """A tensor descriptor made on the host: an argument whose accesses are not followed."""

    param: str


@record(frozen=True)
class DType:
    """``tl.int64`` and the like; ``pointer`` for ``tl.pointer_type(...)``."""

    name: str
    pointer: bool = False


@record(frozen=True, kw_only=True)
class Static(Value):
    """A compile-time object: None, a string, a type, or a tuple of values."""

    obj: str | DType | tuple[Value, ...] | None


NONE = Static(obj=None)
#: Values that lead to memory.
POINTERS = (Ptr, BlockPtr, Descriptor)


def axis(k: int) -> str:
    """The symbol of the block axis that is ``k``-th from the right."""
    return f"@{k}"


def dtype_named(attr: str) -> DType | None:
    """``tl.int64`` and the like."""
    name = from_tl(attr)
    return DType(name) if name else None


def is_axis(name: str) -> bool:
    return name.startswith("@") and name[1:].isdigit()


def number(n: int) -> Num:
    return Num(expr=Expr({(): n}), bits=32 if -(2**31) <= n < 2**31 else 64, fits=True, weak=True)


def broadcast(shapes: Iterable[Shape]) -> Shape:
    """The common shape; where two extents differ, the one that is not 1."""
    out: list[Expr] = []
    for shape in shapes:
        for i, n in enumerate(reversed(shape)):
            if i == len(out):
                out.append(n)
            elif out[i] == ONE:
                out[i] = n
    return tuple(reversed(out))


def join_feeds(values: Iterable[Value]) -> Feeds:
    out: dict[int, tuple[Cond, bool]] = {}
    for v in values:
        for k, (cond, aligned) in v.feeds.items():
            old = out.get(k)
            out[k] = (cond, aligned) if old is None else (_cap(old[0] | cond), old[1] and aligned)
    return out


def restrict(feeds: Feeds, cond: Cond) -> Feeds:
    """The loads behind a value that is only taken where ``cond`` holds."""
    if cond == TRUE:
        return feeds
    return {k: (_cap(c & cond) if ok else c, ok) for k, (c, ok) in feeds.items()}


def _cap(cond: Cond) -> Cond:
    """Conditions that grow without end say less and less: give up on them (a load counts as used)."""
    return cond if len(cond.args) <= 12 and all(len(a.args) <= 12 for a in cond.args) else TRUE


def deps_of(values: Iterable[Value]) -> frozenset[str]:
    return frozenset().union(*(v.deps for v in values))


def as_int(c: Bool) -> Num:
    one = where(c.cond, ONE, ZERO)
    return Num(expr=one, shape=c.shape, deps=c.deps, feeds=c.feeds, fits=True, narrow=c.narrow)
