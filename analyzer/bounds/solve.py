"""Both ends of the index over one piece: corners first, then exact sub-problems where corners don't do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ..model.record import record, replace
from ..symbolic import Atom, Cond, Expr, Mono, Op, const, exact_div, total
from .corner import extreme
from .enumerate import extremes
from .model import End, Piece
from .tighten import linear


@record(frozen=True)
class Solved:
    """A piece with the ends of its index; ``empty`` when it turned out to have no iteration."""

    piece: Piece
    low: End
    high: End
    empty: bool = False


@record(frozen=True)
class Component:
    """Variables that share a term or a guard, with their part of the index."""

    names: tuple[str, ...]
    part: Expr
    guards: tuple[Cond, ...]


def corners(p: Piece) -> Solved:
    """Bounds at corners of the box; exact where the corner passes every guard."""
    return Solved(p, _corner(p, False), _corner(p, True))


def _corner(p: Piece, up: bool) -> End:
    end = extreme(p.index, up, p.box, p.sizes)
    if not p.guards:
        return end
    point = complete(p, end.point or {}) if end.exact else None
    if point is not None and all(p.sizes.truth(g.substitute(point)) is True for g in p.guards):
        return replace(end, point=point)
    end = replace(end, exact=False, reason=end.reason or "a guard over several variables cuts off the corner")
    return _through_guards(p, up, end)


def _through_guards(p: Piece, up: bool, end: End) -> End:
    """A tighter bound from ``index <= index + m*g`` for a guard ``g >= 0`` that cancels a term."""
    for g in p.guards:
        if g.kind != "ge" or g.expr is None:
            continue
        for m in _multipliers(p, g.expr):
            if p.sizes.nonneg(-m if up else m) is not True:
                continue
            other = extreme(p.index - m * g.expr, up, p.box, p.sizes).value
            if other is None:
                continue
            if end.value is None or p.sizes.nonneg(end.value - other if up else other - end.value) is True:
                end = replace(end, value=other, point=None)
    return end


def _multipliers(p: Piece, guard: Expr) -> list[Expr]:
    """Multiples of a guard that have a term of the index, or all of its terms in one variable."""
    found: dict[Expr, None] = {}
    for mono, k in guard.terms.items():
        if p.index.terms.get(mono, 0) % k == 0 and mono in p.index.terms and _variables(mono, p):
            found[const(p.index.terms[mono] // k)] = None
    for v in sorted(guard.symbols & p.box.keys() & p.index.symbols):
        mine, its = linear(p.index, v), linear(guard, v)
        m = exact_div(mine[0], its[0]) if mine is not None and its is not None and its[0].terms else None
        if m is not None:
            found[m] = None
    return list(found)


def complete(p: Piece, point: Mapping[str, Expr]) -> dict[str, Expr] | None:
    """``point`` with a value for every variable of the box; None when one has no bound at all."""
    out = dict(point)
    for name, (lo, hi) in p.box.items():
        if name not in out:
            value = lo if lo is not None else hi
            if value is None:
                if name not in p.data:
                    return None
                value = const(0)
            out[name] = value
    return out


def refine(s: Solved, points: int) -> Solved:
    """The same piece with the ends of its components exact, where that takes no more than ``points`` points."""
    p = s.piece
    lows: list[End] = []
    highs: list[End] = []
    constant, parts = components(p)
    for c in parts:
        found = _component(c, p, points)
        if found is None:
            return replace(s, empty=True)
        lows.append(found[0])
        highs.append(found[1])
    return Solved(p, _sum(constant, lows, s.low), _sum(constant, highs, s.high))


def _sum(constant: Expr, ends: list[End], fallback: End) -> End:
    if any(e.value is None for e in ends):
        return fallback if fallback.value is not None else next(e for e in ends if e.value is None)
    point: dict[str, Expr] = {}
    for e in ends:
        point.update(e.point or {})
    value = total([constant, *(e.value for e in ends if e.value is not None)])
    inexact = next((e for e in ends if not e.exact), None)
    return End(value, point, inexact is None, inexact.reason if inexact else None)


def components(p: Piece) -> tuple[Expr, list[Component]]:
    """The part of the index without variables, and the components of the rest."""
    group = {v: v for v in p.box}

    def find(v: str) -> str:
        while group[v] != v:
            v = group[v]
        return v

    terms: list[tuple[frozenset[str], Mono, int]] = []
    for mono, c in p.index.terms.items():
        terms.append((_variables(mono, p), mono, c))
    guards = [(g.symbols & p.box.keys(), g) for g in p.guards]
    for names in (*(t[0] for t in terms), *(g[0] for g in guards)):
        roots = [find(v) for v in names]
        for r in roots[1:]:
            group[find(r)] = find(roots[0])
    members: dict[str, list[str]] = {}
    for v in p.box:
        members.setdefault(find(v), []).append(v)
    out = []
    for root, vs in members.items():
        part = Expr({m: c for names, m, c in terms if names and find(next(iter(names))) == root})
        mine = tuple(g for names, g in guards if names and find(next(iter(names))) == root)
        if part.terms or mine:
            out.append(Component(tuple(vs), part, mine))
    return Expr({m: c for names, m, c in terms if not names}), out


def _variables(mono: Mono, p: Piece) -> frozenset[str]:
    names: set[str] = set()
    for a in mono:
        names |= {a} & p.box.keys() if isinstance(a, str) else a.symbols & p.box.keys()
    return frozenset(names)


def _component(c: Component, p: Piece, points: int) -> tuple[End, End] | None:
    """The ends of a component; None when its guards leave it no point."""
    sub = replace(p, index=c.part, box={v: p.box[v] for v in c.names}, guards=c.guards)
    by_corner = corners(sub)
    if by_corner.low.exact and by_corner.high.exact:
        return by_corner.low, by_corner.high
    common, plain = common_size(c.part, sub)
    values = _values(sub, plain)
    positive = p.sizes.nonneg(common) is True
    if values is None or not (positive or p.sizes.nonneg(-common) is True):
        return by_corner.low, by_corner.high
    sampled = any(not isinstance(v, range) for v in values.values())
    found = extremes(plain, c.guards, values, points)
    if found is None and not sampled:
        from .sets import ends

        found = ends(plain, c.guards, {n: (v[0], v[-1]) for n, v in values.items()})
    if found is False and not sampled:
        return None
    if found is None or isinstance(found, bool):
        return by_corner.low, by_corner.high
    low, high = (_reached(plain, common, point) for point in (found if positive else reversed(found)))
    if sampled:  # only some values of an unbounded variable were tried
        low, high = _confirm(by_corner.low, low), _confirm(by_corner.high, high)
    return low, high


def _confirm(bound: End, tried: End) -> End:
    return replace(tried, exact=True) if tried.value == bound.value else bound


def _reached(plain: Expr, common: Expr, point: Mapping[str, int]) -> End:
    at = {n: const(v) for n, v in point.items()}
    return End(plain.substitute(at) * common, at, True)


def common_size(part: Expr, p: Piece) -> tuple[Expr, Expr]:
    """``(f, e)`` with ``part == f * e`` where f holds all size symbols that stand outside operations."""
    factors: dict[Mono, dict[Mono, int]] = {}
    for mono, c in part.terms.items():
        sizes = tuple(a for a in mono if not (_variables((a,), p)))
        rest = tuple(a for a in mono if _variables((a,), p))
        factors.setdefault(sizes, {})[rest] = c
    if len(factors) != 1:
        return const(1), part
    ((sizes, terms),) = factors.items()
    return Expr({sizes: 1}), Expr(terms)


def _values(p: Piece, plain: Expr) -> dict[str, Sequence[int]] | None:
    """The values each variable runs over; samples for a loaded value without bounds. None when symbolic."""
    out: dict[str, Sequence[int]] = {}
    used = plain.symbols | {n for g in p.guards for n in g.symbols}
    if not used <= p.box.keys():
        return None
    for v, (lo, hi) in p.box.items():
        a, b = lo.value if lo is not None else None, hi.value if hi is not None else None
        if a is not None and b is not None:
            out[v] = range(a, b + 1)
        elif v in p.data and (lo is None or a is not None) and (hi is None or b is not None):
            tries = {0} | {k + d for k in constants_of(plain, p.guards) for d in (-1, 0, 1)}
            out[v] = sorted(t for t in tries if (a is None or t >= a) and (b is None or t <= b))
        else:
            return None
    return out


def constants_of(e: Expr, guards: Iterable[Cond]) -> set[int]:
    """Integers in an expression, those inside operations included, with both signs."""
    out: set[int] = set()
    work: list[Expr | Cond] = [e, *guards]
    while work:
        x = work.pop()
        if isinstance(x, Cond):
            work.extend(x.args)
            if x.expr is not None:
                work.append(x.expr)
            continue
        out |= {k for c in x.terms.values() for k in (c, -c)}
        for atom in x.atoms():
            work.extend(_inside(atom))
    return out


def _inside(atom: Atom) -> list[Expr | Cond]:
    if not isinstance(atom, Op):
        return []
    return [*atom.args, *([atom.cond] if atom.cond is not None else [])]
