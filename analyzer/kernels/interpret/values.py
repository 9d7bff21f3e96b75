"""Values: what an expression is worth as an integer, a condition, a quotient of integers or a pointer."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeAlias

from ...model.kernel import Narrow
from ...model.record import field, record, replace
from ...symbolic import TRUE, Cond, where
from ..reals import Real
from . import integers
from .integers import BOOL, int_type
from .integers import Int as Operand

#: Loads by number, each with the condition under which its value matters.
Loads: TypeAlias = "Mapping[int, Cond]"
NO_LOADS: Loads = MappingProxyType({})
#: A dependency that stands for "not known".
ANYTHING = "*"


@record(frozen=True)
class Target:
    """What a pointer may point at: ``offset`` elements into ``base``, where ``when`` holds.

    ``base`` is a pointer parameter, an array, or (``cell``) a variable whose address was taken.
    ``moved``: the offset is not that of the base itself, so an index is added to it as an address.
    """

    base: str
    offset: Operand
    when: Cond = TRUE
    cell: bool = False
    moved: bool = False


@record(frozen=True)
class Value:
    """A value of a type, and whatever is known of it.

    ``int``: the integer. ``cond``: the truth of a boolean. ``real``: a float computed from integers.
    ``targets``: what it points at (more than one after a branch). ``deps``: iteration variables it can depend on.
    ``live``: loads (by number) that it uses, with the condition under which their value matters.
    ``loaded``: it is as it was read from memory. ``taken``: what was taken not to wrap in ``cond`` and ``real``.
    """

    dtype: str
    int: Operand | None = None
    cond: Cond | None = None
    real: Real | None = None
    targets: tuple[Target, ...] = ()
    deps: frozenset[str] = frozenset()
    live: Loads = field(default_factory=lambda: NO_LOADS)
    loaded: bool = False
    taken: tuple[Narrow, ...] = ()


NOTHING = Value("")


def merged(dtype: str, *parts: Value) -> Value:
    """A value made of others in a way that says nothing but what it depends on."""
    deps: frozenset[str] = frozenset()
    live = NO_LOADS
    taken: tuple[Narrow, ...] = ()
    for p in parts:
        if not p.deps <= deps:
            deps = deps | p.deps
        if p.live:
            live = union(live, p.live) if live else p.live
        taken = integers.both(taken, p.taken)
    return Value(dtype, deps=deps, live=live, taken=taken)


def union(a: Mapping[int, Cond], b: Mapping[int, Cond]) -> Mapping[int, Cond]:
    out = dict(a)
    for k, c in b.items():
        out[k] = c | out[k] if k in out else c
    return out


def under(live: Mapping[int, Cond], cond: Cond) -> Mapping[int, Cond]:
    return {k: c & cond for k, c in live.items()} if live else live


def integer(v: Value) -> Operand | None:
    """The value as an operand; any value of the type when nothing is known. None for what is no integer."""
    if v.int is not None:
        return v.int
    t = int_type(v.dtype)
    if t is None:
        return None
    if v.cond is not None and not v.cond.has_opaque():
        return replace(integers.of(where(v.cond, 1, 0), BOOL, fits=True), narrow=v.taken)
    return replace(integers.unknown(t), narrow=v.taken)
