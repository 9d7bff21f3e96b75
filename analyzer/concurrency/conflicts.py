"""Two accesses of a launch that meet: different iterations, one element, and an order that matters.

On a GPU every iteration of the grid runs at any time.  Threads of one group that share a reduction are ordered where
a barrier stands between the two accesses.  In a C++ kernel only accesses in the same
loop are: a parallel one runs in any order, any other one forwards.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeAlias

from ..bounds import index_range
from ..bounds.corner import outermost
from ..memory.trace import Verdict
from ..model.dtypes import ITEMSIZE
from ..model.kernel import Var
from ..model.record import record, replace
from ..symbolic import ONE, TRUE, Cond, Expr, evaluate, evaluate_cond, product, sym
from ..symbolic.assumptions import Ranges
from ..symbolic.sampling import sizes_to_try
from .injective import injective
from .locked import kept_apart
from .pairs import meetings, points

#: Index in the storage, variables, and guard.
Accessed: TypeAlias = "tuple[Expr, tuple[Var, ...], Cond]"

_REDUCTION = re.compile(r"r\d+_index\Z")
#: Threads that a Metal device runs in step.
_SIMD_GROUP = 32


@record(frozen=True)
class Meeting:
    """Iteration ``first`` of one access and ``second`` of another reach ``element`` of the storage.

    ``concurrent``: they may run in any order; otherwise the second runs before the first.  ``doubt``: what is not known.
    """

    first: dict[str, int]
    second: dict[str, int]
    element: int
    sizes: dict[str, int]
    concurrent: bool
    doubt: str = ""


#: The doubt about lanes of one Triton program.
DIFFERENT_WARPS = "whether the two lanes are in different warps is not known"


def meet(a: Verdict, b: Verdict, ranges: Ranges, in_order: bool) -> list[Meeting]:
    """Meetings of two accesses to one storage at small admitted sizes; none when they are not exactly known.

    ``in_order``: also those where an ordinary loop does ``b`` first.
    """
    shared = common(a, b)
    concurrent = tuple(v.name for v in shared[: _leading(shared)])
    names = tuple(v.name for v in shared) if in_order else concurrent
    if not names or _size(a) != _size(b) or a.index is None or b.index is None or disjoint(a, b, ranges):
        return []
    mine, theirs = absolute(a), absolute(b)
    key = ("meet", mine, theirs, names, concurrent)
    if key not in ranges.memo:
        apart = agree(mine, theirs, shared[: len(names)], ranges)
        ranges.memo[key] = [] if apart else _search(mine, theirs, names, concurrent, ranges)
    found: list[Meeting] = ranges.memo[key]
    return _told(found, a, b)


def _told(found: list[Meeting], a: Verdict, b: Verdict) -> list[Meeting]:
    """Meetings that the device does not order, those that are sure to be unordered first.

    Threads of one SIMD group of a Metal device go on together.  So do lanes of one warp of a Triton program, but which lanes
    a warp has is up to the compiler.
    """
    kernel = a.launch.kernel
    if kernel is None or kernel.dialect == "cpp":
        return found
    found = [m for m in found if not kept_apart(a, m.first, b, m.second, m.sizes)]
    if kernel.dialect == "metal":
        return [m for m in found if not _in_step(a, m)]
    apart = [m for m in found if _programs(a, m)]
    within = found if a.access.barriers == b.access.barriers else []
    return apart or [replace(m, doubt=DIFFERENT_WARPS) for m in within]


def _programs(v: Verdict, m: Meeting) -> bool:
    """Whether both iterations are known to be of different programs."""
    for name in m.first:
        index = re.fullmatch(r"([xyz])index", name)
        block = v.launch.scalars.get(f"{index.group(1).upper()}BLOCK", ONE * 0).value if index else 1
        if block and name in m.second and m.first[name] // block != m.second[name] // block:
            return True
    return False


def _in_step(v: Verdict, m: Meeting) -> bool:
    """Whether both iterations are threads of one SIMD group of a Metal launch."""
    scalars = v.launch.scalars
    if not any(f"group.{i}" in scalars for i in range(3)):
        return False
    place, width = [0, 0], 1
    for i, x in enumerate(x for x in v.vars if x.kind == "grid"):
        group = scalars.get(f"group.{i}", ONE).value
        if group is None or x.extent != scalars.get(f"grid.{i}") or x.name not in m.first:
            return False
        one, other = m.first[x.name], m.second[x.name]
        if one // group != other // group:
            return False
        place = [p + at % group * width for p, at in zip(place, (one, other), strict=True)]
        width *= group
    return place[0] // _SIMD_GROUP == place[1] // _SIMD_GROUP


def _search(
    mine: Accessed, theirs: Accessed, names: tuple[str, ...], concurrent: tuple[str, ...], ranges: Ranges
) -> list[Meeting]:
    for env in sizes_to_try(ranges):
        p, q = points(*mine, env, names), points(*theirs, env, names)
        if p is None or q is None:
            return []
        pairs = [(*m, True) for m in meetings(p, q, concurrent, both=True)] if concurrent else []
        if names != concurrent:
            pairs += [(*m, False) for m in meetings(p, q, names, both=False)]
        met = [Meeting(p.point(i), q.point(j), int(p.element[i]), env, c) for i, j, c in pairs]
        held = [m for m in met if _holds(mine, m.first, m) and _holds(theirs, m.second, m)]
        if held:
            return held
    return []


def common(a: Verdict, b: Verdict) -> list[Var]:
    """The loops two accesses are both in, outermost first; for a GPU kernel the dimensions of its grid."""
    out: list[Var] = []
    if a.launch.kernel is not None and a.launch.kernel.dialect == "cpp":
        for x, y in zip(loops(a), loops(b), strict=False):
            if x.loop != y.loop or x.extent != y.extent:
                break
            out.append(x)
        return out
    if a.access.barriers[0] != b.access.barriers[0]:
        return []  # all programs have waited for each other
    apart = _group_unordered(a, b)
    grids = [
        {v.name: v for v in x.vars if v.kind == "grid" and (apart or not _REDUCTION.match(v.name))}
        for x in (a, b)
    ]
    return list(grids[0].values()) if grids[0] == grids[1] else []


def _group_unordered(a: Verdict, b: Verdict) -> bool:
    """Whether threads of one Metal group may do the two accesses in any order.

    No barrier stands between them, and the group is more than one SIMD group, whose threads go on together.
    """
    kernel, scalars = a.launch.kernel, a.launch.scalars
    if kernel is None or kernel.dialect != "metal" or a.access.barriers != b.access.barriers:
        return False
    threads = product([scalars.get(f"group.{i}", ONE) for i in range(3)]).value
    return threads is not None and threads > _SIMD_GROUP


def loops(v: Verdict) -> list[Var]:
    """The numbered loops around an access of a C++ kernel."""
    return [x for x in v.vars if x.loop]


def _leading(shared: list[Var]) -> int:
    """How many of the outermost loops are parallel."""
    return next((i for i, v in enumerate(shared) if v.kind not in ("grid", "parallel")), len(shared))


def disjoint(a: Verdict, b: Verdict, ranges: Ranges) -> bool:
    """Whether all elements of one are below those of the other."""
    for x, y in ((a, b), (b, a)):
        last, first = x.decision.range.max, y.decision.range.min
        if last is None or first is None:
            continue
        if ranges.positive(y.start + first - x.start - last) is True:
            return True
    return False


def _size(v: Verdict) -> int | None:
    return ITEMSIZE.get(v.param.dtype or v.tensor.dtype)


def absolute(v: Verdict) -> Accessed:
    """An access by elements of its storage. A load counts where its value is used."""
    assert v.index is not None
    used = v.access.used.substitute(v.launch.scalars)
    return v.index + v.start, v.vars, v.guard & used if v.access.kind == "load" else v.guard


def _holds(access: Accessed, point: dict[str, int], m: Meeting) -> bool:
    index, _, guard = access
    at = {**m.sizes, **point}
    return evaluate(index, at) == m.element and bool(evaluate_cond(guard, at))


# -- proof


def agree(a: Accessed, b: Accessed, shared: Sequence[Var], ranges: Ranges) -> bool:
    """Whether iterations of two accesses with one index agree on ``shared``, whatever the sizes.

    False: not proved.  It is when both are the same map, or when both add to the same function of the shared
    variables something so small that it never reaches what the next iteration adds to.
    """
    names = frozenset(v.name for v in shared)
    if a == b:
        return injective(*a, ranges, names) is True
    (home, rest), (other, other_rest) = _divided(a[0], names), _divided(b[0], names)
    if home != other:
        return False
    ends = [index_range(r, v, g, ranges) for r, (_, v, g) in ((rest, a), (other_rest, b))]
    lows, highs = [e.min for e in ends if e.min is not None], [e.max for e in ends if e.max is not None]
    if len(lows) < 2 or len(highs) < 2:
        return any(e.empty for e in ends)
    width = outermost(highs, True, ranges) - outermost(lows, False, ranges) + 1
    spare = Var("rest", width, "loop")
    return injective(home + sym("rest"), (*shared, spare), TRUE, ranges, names) is True


def _divided(index: Expr, names: frozenset[str]) -> tuple[Expr, Expr]:
    """The terms with any of ``names`` in them, and the others."""
    mine = {m: c for m, c in index.terms.items() if not Expr({m: c}).symbols.isdisjoint(names)}
    return Expr(mine), Expr({m: c for m, c in index.terms.items() if m not in mine})
