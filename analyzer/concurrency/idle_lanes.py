"""Lanes of a Triton program beyond the elements there are, that take part in an atomic all the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..memory.trace import Verdict
from ..model.record import record
from ..symbolic.assumptions import Ranges
from ..symbolic.sampling import sizes_to_try
from .pairs import points
from .write_races import launches

if TYPE_CHECKING:
    from ..analysis import Analysis


@record(frozen=True)
class IdleLanes:
    """``atomic`` is done by all ``lanes`` lanes of a block, although ``load`` has elements for ``filled`` only."""

    atomic: Verdict
    load: Verdict
    lanes: int
    filled: int
    sizes: dict[str, int]


def idle_lanes(analysis: Analysis) -> Iterator[IdleLanes]:
    """Atomics without a mask at one element for all lanes, of a value that comes from a masked load."""
    for fact, group in launches(analysis):
        if fact.kernel is None or fact.kernel.dialect != "triton":
            continue
        loads = [v for v in group if v.access.kind == "load" and v.guard.symbols]
        for v in group:
            if v.access.kind == "atomic" and _by_lanes(v):
                found = next((f for f in (_idle(v, x, analysis.ranges) for x in loads) if f), None)
                if found is not None:
                    yield found
                    break


def _by_lanes(v: Verdict) -> bool:
    """Whether every lane adds a value of its own, whichever it is."""
    lanes = {x.name for x in v.vars if x.kind == "lane"}
    if v.index is None or not lanes or v.access.value_vars is None:
        return False
    return lanes.isdisjoint(v.index.symbols | v.guard.symbols) and not lanes.isdisjoint(v.access.value_vars)


def _idle(atomic: Verdict, load: Verdict, ranges: Ranges) -> IdleLanes | None:
    """The load has one variable for the lanes and programs together, and its mask leaves some out."""
    mine = [x for x in load.vars if x.kind == "grid" and x.name in load.guard.symbols]
    if len(mine) != 1 or load.index is None or mine[0].extent is None:
        return None
    for env in sizes_to_try(ranges):
        p = points(load.index, load.vars, load.guard, env, [mine[0].name])
        if p is None:
            return None
        lanes, filled = p.extents.get(mine[0].name, 0), len(set(p.at.get(mine[0].name, ())))
        if lanes and filled < lanes:
            return IdleLanes(atomic, load, lanes, filled, env)
    return None
