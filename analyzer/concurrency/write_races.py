"""Stores of different iterations to one element, with values that can differ.

Two iterations are concurrent when they differ in a variable of the grid or of a parallel loop, or in the lane of
one vector store.  A value that depends on none of the variables in which they differ is the same in both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias

from ..memory.trace import LaunchFact, Verdict
from ..model.record import record, replace
from ..symbolic import Cond, evaluate, evaluate_cond
from ..symbolic.assumptions import Ranges
from ..symbolic.sampling import sizes_to_try
from .conflicts import common, loops, meet
from .injective import injective
from .locked import kept_apart
from .pairs import Points, clashes, points

if TYPE_CHECKING:
    from ..analysis import Analysis

_CONCURRENT = ("grid", "parallel")
#: Pairs of points of one access.
Pairs: TypeAlias = "list[tuple[int, int]]"


@record(frozen=True)
class Race:
    """Iterations ``first`` of ``store`` and ``second`` of ``other`` both store ``element`` of the storage.

    What they store depends on variables in which they differ.  ``doubt`` says what else is not known: whether
    the values do differ, or whether both iterations get as far.
    """

    store: Verdict
    other: Verdict
    first: dict[str, int]
    second: dict[str, int]
    element: int
    sizes: dict[str, int]
    doubt: str = ""

    @property
    def certain(self) -> bool:
        return not self.doubt


def launches(analysis: Analysis) -> Iterator[tuple[LaunchFact, list[Verdict]]]:
    """Every launch with its accesses."""
    for body in analysis.bodies:
        groups: dict[int, list[Verdict]] = {}
        for v in body.verdicts:
            groups.setdefault(id(v.launch), []).append(v)
        for group in groups.values():
            yield group[0].launch, group


def races(analysis: Analysis) -> Iterator[Race]:
    """One race for each launch and parameter that has any."""
    for _, group in launches(analysis):
        stores: dict[str, list[Verdict]] = {}
        for v in group:
            if v.access.kind == "store" and v.index is not None:
                stores.setdefault(v.param.name, []).append(v)
        for mine in stores.values():
            found = next(_of_parameter(mine, group, analysis.ranges), None)
            if found is not None:
                yield found


def _of_parameter(stores: list[Verdict], group: list[Verdict], ranges: Ranges) -> Iterator[Race]:
    for v in stores:
        found = rivals(v, group, ranges, everything=False)
        if found is not None:
            yield found
    for a, b in combinations(stores, 2):
        varying = _dependences(a) | _dependences(b)
        if varying.isdisjoint(v.name for v in common(a, b) if v.kind in _CONCURRENT):
            continue
        for m in meet(a, b, ranges, in_order=False):
            yield _doubted(Race(a, b, m.first, m.second, m.element, m.sizes), group)


def _dependences(v: Verdict) -> frozenset[str]:
    """The variables a stored value can depend on: all when that is not known."""
    every = frozenset(x.name for x in v.vars if x.extent is not None)
    return every if v.access.value_vars is None else every & v.access.value_vars


def rivals(v: Verdict, group: list[Verdict], ranges: Ranges, everything: bool) -> Race | None:
    """Two iterations of a store that write one element; ``everything``: of any loops, not only concurrent ones."""
    if v.index is None:
        return None
    kinds = (*_CONCURRENT, "lane", *(("loop",) if everything else ()))
    values = [x.name for x in v.vars if x.kind in kinds and x.name in _dependences(v)]
    key = ("rivals", v.index, v.vars, v.guard, v.launch.event.kernel, id(v.access), everything)
    if key not in ranges.memo:
        open_ = replace(v, guard=_without_data(v))
        told = injective(v.index, v.vars, open_.guard, ranges, frozenset(values)) is True
        ranges.memo[key] = None if told else _search(open_, group, ranges, values, everything)
    found: Race | None = ranges.memo[key]
    if found is None:
        return None
    element = found.element + int(evaluate(v.start, found.sizes))
    doubt = found.doubt or ("" if found.store.guard == v.guard else "whether both store depends on data")
    return replace(found, store=v, other=v, element=element, doubt=doubt)


def _without_data(v: Verdict) -> Cond:
    """The guard without the conditions that depend on data."""
    data = {x.name for x in v.vars if x.extent is None}
    parts = (c for c in v.guard.conjuncts() if c.symbols.isdisjoint(data) and not c.has_opaque())
    return Cond.join("and", parts)


def _search(
    v: Verdict, group: list[Verdict], ranges: Ranges, values: list[str], everything: bool
) -> Race | None:
    assert v.index is not None
    if any(s.startswith("group.") for x in v.access.vars if x.extent is not None for s in x.extent.symbols):
        return None  # a place in the group follows from the place in the grid
    grid = [x.name for x in v.vars if x.kind in _CONCURRENT]
    for env in sizes_to_try(ranges):
        p = points(v.index, v.vars, v.guard, env, [*values, *grid])
        if p is None:
            return None
        pairs = clashes(p, values, values) if everything else _concurrent(p, v, values, grid)
        found = [_race(v, group, p, env, pair) for pair in pairs]
        held = [r for r in found if _holds(r) and not kept_apart(v, r.first, v, r.second, env)]
        if held:
            return next((r for r in held if r.certain), held[0])
    return None


def _concurrent(p: Points, v: Verdict, values: list[str], grid: list[str]) -> Pairs:
    """Pairs that differ in the grid, or in the lanes of one vector store."""
    lanes = [x.name for x in v.vars if x.kind == "lane" and x.name in p.at]
    varying = [n for n in lanes if n in values]
    pairs = clashes(p, grid, values)
    return pairs + (clashes(p, lanes, varying, [n for n in p.at if n not in lanes]) if varying else [])


def _race(v: Verdict, group: list[Verdict], p: Points, env: dict[str, int], pair: tuple[int, int]) -> Race:
    i, j = pair
    return _doubted(Race(v, v, p.point(i), p.point(j), int(p.element[i]), env), group)


def _holds(r: Race) -> bool:
    assert r.store.index is not None
    points_ = ({**r.sizes, **r.first}, {**r.sizes, **r.second})
    return all(evaluate(r.store.index, x) == r.element and evaluate_cond(r.store.guard, x) for x in points_)


def _doubted(race: Race, group: Sequence[Verdict]) -> Race:
    """The race with a doubt, unless some load reads different elements because of what the values depend on."""
    a, b = race.store, race.other
    if a.access.value_vars is not None and b.access.value_vars is not None:
        varying = a.access.value_vars | b.access.value_vars
        moved = {n: race.second.get(n, x) if n in varying else x for n, x in race.first.items()}
        for load in group:
            if load.access.kind == "load" and load.index is not None:
                at = [
                    _element(load, _shared(load, v), x, race.sizes) for v, x in ((a, race.first), (b, moved))
                ]
                if None not in at and at[0] != at[1]:
                    return race
    return replace(race, doubt="whether the values differ is not known")


def _shared(load: Verdict, store: Verdict) -> Iterable[str]:
    """The variables that are the same loop, or dimension of the grid, in both."""
    numbers = {x.name: x.loop for x in loops(store)}
    return [x.name for x in load.vars if x.kind != "data" and (not x.loop or numbers.get(x.name) == x.loop)]


def _element(
    load: Verdict, shared: Iterable[str], point: dict[str, int], sizes: dict[str, int]
) -> int | None:
    """The element a load reads in an iteration; its own loops are in their first one."""
    assert load.index is not None
    at = {**{x.name: 0 for x in load.vars if x.extent is not None}, **sizes}
    at |= {n: point[n] for n in shared if n in point}
    try:
        return int(evaluate(load.index, at))
    except (KeyError, ValueError, ZeroDivisionError):
        return None
