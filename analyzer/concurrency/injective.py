"""Whether two concurrent iterations of an access meet at one element."""

from __future__ import annotations

from collections.abc import Mapping

from ..bounds.enumerate import count, grid
from ..bounds.model import Piece
from ..bounds.pieces import pieces
from ..bounds.solve import Component, components
from ..model.kernel import Var
from ..model.record import record, replace
from ..symbolic import Cond, Expr, const, evaluate
from ..symbolic.assumptions import Ranges

#: Iterations that are compared with each other.
POINTS = 1 << 18


@record(frozen=True)
class Collision:
    """Two iterations, as values of the iteration variables and of the sizes, that reach element ``index``."""

    first: dict[str, int]
    second: dict[str, int]
    index: int


def injective(
    index: Expr, vars: tuple[Var, ...], guard: Cond, ranges: Ranges, over: frozenset[str]
) -> bool | Collision | None:
    """Whether iterations that differ in a variable of ``over`` never reach one element.

    True when that holds at every size, a :class:`Collision` when two do reach one, None when neither is
    known: the index depends on data, or only some iterations run.
    """
    if not any(v.name in over for v in vars) or _separate(index, vars, guard, ranges, over):
        return True
    if guard.has_opaque() or any(v.extent is None and v.name in index.symbols | guard.symbols for v in vars):
        return None
    names: set[str] = set(index.symbols | guard.symbols)
    for v in vars:
        names |= v.extent.symbols if v.extent is not None else frozenset()
    sizes = names - {v.name for v in vars}
    if not sizes:
        return _compare(index, vars, guard, over, {})
    if not sizes <= ranges.bounds.keys():
        return None
    for env in ranges.samples(sizes, 24):
        at = {n: const(v) for n, v in env.items()}
        fixed = tuple(v if v.extent is None else replace(v, extent=v.extent.substitute(at)) for v in vars)
        found = _compare(index.substitute(at), fixed, guard.substitute(at), over, env)
        if isinstance(found, Collision):
            return found
    return None


# -- proof


@record(frozen=True)
class _Digit:
    """Different values of a component are at least ``step`` apart, and at most ``reach``."""

    step: Expr
    reach: Expr


def _separate(index: Expr, vars: tuple[Var, ...], guard: Cond, ranges: Ranges, over: frozenset[str]) -> bool:
    """Whether the index is a sum of digits that tells all iterations apart that differ in ``over``."""
    found = pieces(index, vars, guard, ranges, partition=False)
    if not found:
        return True
    p = found[0]
    if p.folded or p.atoms or len(found) > 1:
        return False
    parts = components(p)[1]
    told = {v for c in parts if c.part.terms for v in c.names}
    if not _digits_of(over, p) <= told:
        return False
    digits = []
    for c in parts:
        if c.part.terms:
            d = _digit(c, p)
            if d is None:
                return False
            digits.append(d)
    reach = Expr({})
    while digits:
        least = next(
            (d for d in digits if all(p.sizes.nonneg(x.step - d.step) is True for x in digits)), None
        )
        if least is None or p.sizes.positive(least.step - reach) is not True:
            return False
        digits.remove(least)
        reach = reach + least.reach
    return True


def _digits_of(over: frozenset[str], p: Piece) -> set[str]:
    """The variables of the piece that stand for the given ones."""
    names = set(over)
    for name, e in p.steps:
        if name in names:
            names |= e.symbols
    return names & p.box.keys()


def _digit(c: Component, p: Piece) -> _Digit | None:
    if len(c.names) == 1:
        (v,) = c.names
        lo, hi = p.box[v]
        if lo is None or hi is None:
            return None
        if all(m.count(v) == 1 for m in c.part.terms):
            step = Expr({tuple(a for a in m if a != v): k for m, k in c.part.terms.items()})
            if p.sizes.nonneg(step) is not True:
                step = -step
            if v not in step.symbols and p.sizes.positive(step) is True:
                return _Digit(step, step * (hi - lo))
    return _enumerated(c, p)


def _enumerated(c: Component, p: Piece) -> _Digit | None:
    """A component of a few points: different points must have different values."""
    import numpy as np

    spans = {}
    points = 1
    for v in c.names:
        lo, hi = p.box[v]
        if lo is None or hi is None or lo.value is None or hi.value is None:
            return None
        spans[v] = range(lo.value, hi.value + 1)
        points *= count(spans[v])
    if points > POINTS:
        return None
    found = grid(c.part, c.guards, spans)
    if found is None:
        return None
    index, mask = found
    values = np.sort(index.ravel() if mask is None else index[mask])
    gaps = np.diff(values)
    if len(values) < 2:
        return _Digit(const(1), const(0))
    if not gaps.all():
        return None
    return _Digit(const(int(gaps.min())), const(int(values[-1] - values[0])))


# -- comparison


def _compare(
    index: Expr, vars: tuple[Var, ...], guard: Cond, over: frozenset[str], env: Mapping[str, int]
) -> bool | Collision | None:
    """The answer at given sizes, from all iterations or from a part of them that is small enough."""
    import numpy as np

    spans: dict[str, range] = {}
    names = {v.name for v in vars}
    for v in vars:
        if v.extent is None:
            spans[v.name] = range(0, 1)
        elif v.extent.symbols & names:
            return None
        else:
            spans[v.name] = range(max(int(evaluate(v.extent, env)), 0))
    part, complete = _part(spans)
    if any(not len(s) for s in part.values()):
        return True
    found = grid(index, [guard], part)
    if found is None:
        return None
    at, mask = found
    where = np.flatnonzero(mask) if mask is not None else np.arange(at.size)
    at = at.ravel()[where]
    shape = tuple(len(s) for s in part.values())
    place = np.unravel_index(where, shape)
    who = np.zeros(len(where), dtype=np.int64)
    for n, axis in zip(part, place, strict=True):
        if n in over:
            who = who * len(part[n]) + axis
    order = np.lexsort((who, at))
    meet = np.flatnonzero((np.diff(at[order]) == 0) & (np.diff(who[order]) != 0))
    if not len(meet):
        return True if complete else None
    a, b = order[meet[0]], order[meet[0] + 1]

    def point(i: int) -> dict[str, int]:
        return {**env, **{n: int(axis[i]) for n, axis in zip(part, place, strict=True)}}

    return Collision(point(a), point(b), int(at[a]))


def _part(spans: Mapping[str, range]) -> tuple[dict[str, range], bool]:
    """The spans, cut so that they have few points together; and whether nothing was cut."""
    out = dict(spans)
    most = max((count(s) for s in out.values()), default=0)
    whole = True
    while most > 1:
        points = 1
        for s in out.values():
            points *= max(count(s), 1)
        if points <= POINTS:
            break
        whole = False
        most = max(count(s) for s in out.values()) // 2
        out = {n: s[: max(most, 2)] for n, s in out.items()}
    return out, whole
