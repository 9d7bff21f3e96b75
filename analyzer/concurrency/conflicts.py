"""Two accesses of a launch that meet: different iterations, one element, and an order that matters.

On a GPU every iteration of the grid runs at any time.  Threads of one group that share a reduction, and what one
program does, are ordered by the kernel itself and are not compared.  In a C++ kernel only accesses in the same
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
from ..model.record import record
from ..symbolic import TRUE, Cond, Expr, evaluate, evaluate_cond, sym
from ..symbolic.assumptions import Ranges
from ..symbolic.sampling import sizes_to_try
from .injective import injective
from .pairs import meetings, points

#: Index in the storage, variables, and guard.
Accessed: TypeAlias = "tuple[Expr, tuple[Var, ...], Cond]"

_REDUCTION = re.compile(r"r\d+_index\Z")


@record(frozen=True)
class Meeting:
    """Iteration ``first`` of one access and ``second`` of another reach ``element`` of the storage.

    ``concurrent``: they may run in any order; otherwise the second runs before the first.
    """

    first: dict[str, int]
    second: dict[str, int]
    element: int
    sizes: dict[str, int]
    concurrent: bool


def meet(a: Verdict, b: Verdict, ranges: Ranges, in_order: bool) -> list[Meeting]:
    """Meetings of two accesses to one storage at small admitted sizes; none when they are not exactly known.

    ``in_order``: also those where an ordinary loop does ``b`` first.
    """
    shared = common(a, b)
    concurrent = tuple(v.name for v in shared[: _leading(shared)])
    names = tuple(v.name for v in shared) if in_order else concurrent
    if not names or _size(a) != _size(b) or a.index is None or b.index is None or disjoint(a, b, ranges):
        return []
    mine, theirs = _absolute(a), _absolute(b)
    key = ("meet", mine, theirs, names, concurrent)
    if key not in ranges.memo:
        apart = agree(mine, theirs, shared[: len(names)], ranges)
        ranges.memo[key] = [] if apart else _search(mine, theirs, names, concurrent, ranges)
    found: list[Meeting] = ranges.memo[key]
    return found


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
    grids = [{v.name: v for v in x.vars if v.kind == "grid" and not _REDUCTION.match(v.name)} for x in (a, b)]
    return list(grids[0].values()) if grids[0] == grids[1] else []


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


def _absolute(v: Verdict) -> Accessed:
    """A load counts where its value is used."""
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
