"""Indices that come out of memory and that nothing bounds."""

from __future__ import annotations

from ..bounds import index_range
from ..memory.trace import Verdict
from ..model.record import replace
from ..symbolic.assumptions import Ranges

_INTEGERS = frozenset(
    f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
)  # fmt: skip
#: What float rounding adds to an index is bounded where it is introduced and is no loaded value.
_NOISE = "rounding"


def unchecked(v: Verdict, ranges: Ranges) -> tuple[str, ...]:
    """Loaded values in the index of an undecided access that no check bounds, by the kernel's own names.

    The range of their type does not count as a bound. In a kernel that loads no integers, what is not known of an
    index was computed, not loaded.
    """
    if v.decision.status != "unknown" or v.index is None or not _loads_integers(v):
        return ()
    loaded = {
        x.name
        for x in v.vars
        if x.kind == "data" and x.name in v.index.symbols and not x.name.startswith(_NOISE)
    }
    if not loaded:
        return ()
    bare = tuple(replace(x, lo=None, hi=None) if x.name in loaded else x for x in v.vars)
    found = index_range(v.index, bare, v.guard, ranges)
    if found.empty or (found.min is not None and found.max is not None):
        return ()
    return tuple(sorted(loaded))


def _loads_integers(v: Verdict) -> bool:
    kernel = v.launch.kernel
    if kernel is None:
        return False
    loaded = {a.param for a in kernel.accesses if a.kind != "store"}
    return any(p.name in loaded and p.dtype in _INTEGERS for p in kernel.params)
