"""The ladder: closed forms, then exact sub-problems, then sizes one by one."""

from __future__ import annotations

from ..model.kernel import Var
from ..model.record import replace
from ..symbolic import FALSE, Cond, Expr
from ..symbolic.assumptions import Ranges
from .corner import outermost
from .model import Decision, End, IndexRange, Piece
from .pieces import pieces, without_opaque
from .simplify import tidy_size
from .sizes import search
from .solve import Solved, corners, refine
from .witness import Question, outside_at

#: Points enumerated for an exact range that no verdict needs.
CHEAP = 1 << 16
#: Points enumerated for a verdict, and for a verdict at one of many sizes.
POINTS, ONE_SIZE = 1 << 22, 1 << 18
NOT_BOUNDED, BY_TYPE = "not bounded", "bounded by its type only"
ON_DATA = "guard depends on data"

_EMPTY = IndexRange(None, None, True, True)


def index_range(index: Expr, vars: tuple[Var, ...], guard: Cond, ranges: Ranges) -> IndexRange:
    """The range of ``index`` over all iterations in which ``guard`` holds."""
    return ranges.remember(_index_range, index, vars, guard)


def _index_range(index: Expr, vars: tuple[Var, ...], guard: Cond, ranges: Ranges) -> IndexRange:
    found = _range(solutions(index, vars, guard, ranges), guard, ranges)
    if not found.exact or found.empty or all(v.extent is not None for v in vars):
        return found
    reason = _doubt(index, vars, guard, ranges)
    hard = _range(solutions(index, vars, guard, ranges, False), guard, ranges)
    if reason is None and (hard.min, hard.max, hard.exact) != (found.min, found.max, True):
        reason = _loaded(index, vars, BY_TYPE)
    return replace(found, exact=reason is None, reason=reason)


def decide(
    index: Expr, vars: tuple[Var, ...], guard: Cond, offset: Expr, capacity: Expr, ranges: Ranges
) -> Decision:
    """The verdict on ``0 <= offset + index < capacity`` for every iteration and every admitted size."""
    q = Question(index, vars, guard, tidy_size(offset, ranges), tidy_size(capacity, ranges))
    return ranges.remember(_decide, q)


def solutions(
    index: Expr, vars: tuple[Var, ...], guard: Cond, ranges: Ranges, typed: bool = True
) -> tuple[Solved, ...]:
    """The pieces of the iteration space with both ends of the index over each."""
    return ranges.remember(_solutions, index, vars, guard, typed)


def _solutions(
    index: Expr, vars: tuple[Var, ...], guard: Cond, typed: bool, ranges: Ranges
) -> tuple[Solved, ...]:
    out = []
    for p in pieces(index, vars, guard, ranges, typed):
        s = corners(p)
        if not (s.low.exact and s.high.exact):
            s = refine(s, CHEAP)
        if not s.empty:
            out.append(s)
    return tuple(out)


# -- ranges


def _range(solved: tuple[Solved, ...], guard: Cond, sizes: Ranges) -> IndexRange:
    if not solved:
        return _EMPTY
    always = [_always_runs(s.piece, sizes) for s in solved]
    low = _outermost([s.low for s in solved], always, False, sizes)
    high = _outermost([s.high for s in solved], always, True, sizes)
    exact, reason = low.exact and high.exact, low.reason or high.reason
    if exact and guard.has_opaque():
        exact, reason = False, ON_DATA
    return IndexRange(low.value, high.value, exact, False, None if exact else reason)


def _always_runs(p: Piece, sizes: Ranges) -> bool:
    """Whether no condition on sizes can leave the piece without an iteration."""
    return p.sizes is sizes and not any(p.box.keys().isdisjoint(g.symbols) for g in p.guards)


def _outermost(ends: list[End], always: list[bool], up: bool, sizes: Ranges) -> End:
    """The end of the union of pieces; ``always``: which of them have an iteration whatever the size."""
    if len(ends) == 1:
        return ends[0]
    unknown = next((e for e in ends if e.value is None), None)
    if unknown is not None:
        return unknown
    value = outermost([e.value for e in ends if e.value is not None], up, sizes)
    reached = [e.exact and e.value == value for e in ends]
    exact = all(reached) or any(r and a for r, a in zip(reached, always, strict=True))
    return End(
        value, None, exact, None if exact else next((e.reason for e in ends if e.reason), "several cases")
    )


# -- verdicts


def _decide(q: Question, ranges: Ranges, points: int = POINTS) -> Decision:
    found = index_range(q.index, q.variables, q.guard, ranges)
    if found.empty:
        return Decision("proved", found)
    undecided = [s for s in solutions(q.index, q.variables, q.guard, ranges) if not _inside(q, s)]
    if not undecided:
        return Decision("proved", found)
    names = _sizes(q)
    if not names:
        return _decide_numbers(q, undecided, found, ranges, points)
    unlisted = sorted(n for n in names if n not in ranges.bounds)
    if unlisted:
        return Decision("unknown", found, reason=f"no range is known for {', '.join(unlisted)}")
    loaded = [v.name for v in q.variables if v.extent is None and v.name in q.index.symbols]
    if loaded and any(s.low.value is None or s.high.value is None for s in undecided):
        return Decision("unknown", found, reason=_loaded(q.index, q.variables, NOT_BOUNDED))
    return search(q, undecided, found, names, ranges, lambda at: _decide(at, Ranges(), ONE_SIZE))


def _inside(q: Question, s: Solved) -> bool:
    low, high, sizes = s.low.value, s.high.value, s.piece.sizes
    if s.empty:
        return True
    if low is None or high is None:
        return False
    return sizes.nonneg(q.capacity - q.offset - high - 1) is True and sizes.nonneg(q.offset + low) is True


def _sizes(q: Question) -> frozenset[str]:
    names = set(q.index.symbols | q.guard.symbols | q.offset.symbols | q.capacity.symbols)
    for v in q.variables:
        if v.extent is not None:
            names |= v.extent.symbols
    return frozenset(names) - {v.name for v in q.variables}


def _decide_numbers(
    q: Question, undecided: list[Solved], found: IndexRange, ranges: Ranges, points: int
) -> Decision:
    """The verdict without size symbols."""
    undecided = [s if s.low.exact and s.high.exact else refine(s, points) for s in undecided]
    undecided = [s for s in undecided if not _inside(q, s)]
    if not undecided:
        return Decision("proved", found)
    loaded = any(v.extent is None for v in q.variables) and not _always_outside(q, undecided)
    doubt = _doubt(q.index, q.variables, q.guard, ranges) if loaded else None
    if doubt is not None:
        return Decision("unknown", found, reason=doubt)
    if q.guard.has_opaque():  # certain is only what is outside where no condition on data holds
        certain = _decide(replace(q, guard=without_opaque(q.guard, FALSE)), ranges, points)
        return (
            replace(certain, range=found)
            if certain.status == "fault"
            else Decision("unknown", found, reason=ON_DATA)
        )
    for s in undecided:
        for end in (s.high, s.low):
            point = outside_at(q, s.piece, end, {})
            if point is not None:
                return Decision("fault", found, point.values, point.index, point.available)
    reason = next((e.reason for s in undecided for e in (s.high, s.low) if e.reason), None)
    return Decision("unknown", found, reason=reason or "no witness was found")


def _loaded(index: Expr, vars: tuple[Var, ...], how: str) -> str:
    """What is known of the values, loaded or not followed, that the index, or else a loop, depends on."""
    data = {v.name for v in vars if v.extent is None}
    loops = frozenset[str]().union(*(v.extent.symbols for v in vars if v.extent is not None))
    what, names = ("index", data & index.symbols) if data & index.symbols else ("loop bound", data & loops)
    computed = all(v.computed for v in vars if v.name in names)
    source = "computed in a way that is not followed" if names and computed else "loaded from memory"
    return f"{what} {source} is {how} ({', '.join(sorted(names))})"


def _doubt(index: Expr, vars: tuple[Var, ...], guard: Cond, ranges: Ranges) -> str | None:
    """Why it is not certain that the ends of the index are reached: the values that guards alone leave."""
    for s in solutions(index, vars, guard, ranges, False):
        p = s.piece
        if s.low.value is None or s.high.value is None:
            typed = _range(solutions(index, vars, guard, ranges), guard, ranges)
            known = typed.min is not None and typed.max is not None
            return _loaded(index, vars, BY_TYPE if known else NOT_BOUNDED)
        other = p.data - p.index.symbols  # they decide whether the access is made, not where
        one_sided = any((lo is None) != (hi is None) for v, (lo, hi) in p.box.items() if v in other)
        if one_sided or any(not g.symbols.isdisjoint(other) for g in p.guards):
            return ON_DATA
    return None


def _always_outside(q: Question, undecided: list[Solved]) -> bool:
    def outside(s: Solved) -> bool:
        low, high, sizes = s.low.value, s.high.value, s.piece.sizes
        return (low is not None and sizes.nonneg(q.offset + low - q.capacity) is True) or (
            high is not None and sizes.nonneg(q.offset + high) is False
        )

    return all(outside(s) for s in undecided)
