"""Guards on one variable become ends of its range; variables with one value disappear."""

from __future__ import annotations

from ..model.record import replace
from ..symbolic import ZERO, Cond, Expr, Op, const, floordiv
from ..symbolic.assumptions import Ranges
from .corner import extreme, outermost
from .model import Ends, Piece


def tighten(p: Piece) -> Piece | None:
    """The piece with every one-variable guard in its box; None when it has no iteration at all."""
    while True:
        box = dict(p.box)
        guards: list[Cond] = []
        needs: list[Expr] = []
        for g in p.guards:
            kept = _absorb(g, box, p.sizes)
            if kept is False:
                return None
            if (
                kept is None
                and box.keys().isdisjoint(g.symbols)
                and g.kind in ("ge", "eq")
                and g.expr is not None
            ):
                # a condition on sizes alone: the rest is only about sizes at which it holds
                needs += [g.expr] if g.kind == "ge" else [g.expr, -g.expr]
            elif kept is None:
                guards.append(g)
        sizes = p.sizes.assuming(needs) if needs else p.sizes
        spans = _spans(box, sizes)
        if spans is None:
            return None
        sizes = sizes.assuming(spans) if spans else sizes
        if sizes is not p.sizes and sizes.impossible:
            return None
        single = {
            v: lo for v, (lo, hi) in box.items() if lo is not None and hi is not None and _one(lo, hi, sizes)
        }
        changed = box != p.box or len(guards) != len(p.guards)
        for v in single:
            del box[v]
        p = replace(
            p,
            index=p.index.substitute(single),
            box=box,
            guards=tuple(g.substitute(single) for g in guards),
            steps=(*p.steps, *single.items()),
            sizes=sizes,
        )
        if not changed and not single:
            return _drop_implied(replace(p, box=_bound_by_others(p)))
        if not guards:
            return p


def _one(lo: Expr, hi: Expr, sizes: Ranges) -> bool:
    """Whether a variable with these ends has one value only, given that it has any."""
    if lo == hi or hi.value is not None:
        return lo == hi
    span = lo - hi
    return span.value is None and any(isinstance(a, Op) for a in span.atoms()) and sizes.nonneg(span) is True


def _spans(box: dict[str, Ends], sizes: Ranges) -> list[Expr] | None:
    """What must not be negative for every variable to have a value; None when one has none at any size."""
    spans = []
    for lo, hi in box.values():
        if lo is None or hi is None:
            continue
        if lo is ZERO and (last := hi.value) is not None:
            if last < 0:
                return None
            continue
        span = hi - lo
        if sizes.nonneg(span) is False:
            return None
        if span.value is None:
            spans.append(span)
    return spans


def _bound_by_others(p: Piece) -> dict[str, Ends]:
    """The box with ends for unbounded variables that a guard compares with other variables."""
    box = p.box
    for v in [v for v, ends in p.box.items() if None in ends]:
        for g in p.guards:
            split = linear(g.expr, v) if g.kind == "ge" and g.expr is not None and v in g.symbols else None
            a = split[0].value if split is not None else None
            if split is None or not a:
                continue
            most = extreme(split[1], True, box, p.sizes).value  # a*v + c >= 0 gives a*v >= -most
            if most is None or not box.keys().isdisjoint(most.symbols):
                continue
            lo, hi = box[v]
            if a > 0 and lo is None:
                lo = -floordiv(most, const(a))
            elif a < 0 and hi is None:
                hi = floordiv(most, const(-a))
            box = {**box, v: (lo, hi)}
    return box


def _drop_implied(p: Piece) -> Piece | None:
    """Without the guards that hold everywhere in the box; None when one holds nowhere."""
    guards = []
    for g in p.guards:
        if g.kind == "ge" and g.expr is not None:
            low = extreme(g.expr, False, p.box, p.sizes).value
            if low is not None and p.sizes.nonneg(low) is True:
                continue
            high = extreme(g.expr, True, p.box, p.sizes).value
            if high is not None and p.sizes.nonneg(high) is False:
                return None
        guards.append(g)
    return p if len(guards) == len(p.guards) else replace(p, guards=tuple(guards))


def _absorb(g: Cond, box: dict[str, Ends], sizes: Ranges) -> bool | None:
    """True when the box now says all that ``g`` does, False when ``g`` never holds, None otherwise."""
    names = box.keys() & g.symbols
    if not names:
        return sizes.truth(g)
    if len(names) != 1 or g.expr is None:
        return None
    (v,) = names
    split = linear(g.expr, v)
    if split is None:
        return None
    a, c = split
    if sizes.positive(a) is not True:
        a, c = -a, -c
        if sizes.positive(a) is not True:
            return None
        low, high = None, floordiv(-c, a)
        if g.kind != "ge":
            low = -floordiv(c, a)
    else:
        low, high = -floordiv(c, a), None
        if g.kind != "ge":
            high = floordiv(-c, a)
    return _apply(g.kind, v, low, high, box, sizes)


def _apply(
    kind: str, v: str, low: Expr | None, high: Expr | None, box: dict[str, Ends], sizes: Ranges
) -> bool | None:
    lo, hi = box[v]
    if kind == "ne":
        assert low is not None and high is not None
        if sizes.nonneg(low - high - 1) is True:
            return True  # no integer solves it
        if low != high:
            return None
        if lo is not None and sizes.equal(lo, low) is True:
            box[v] = (lo + 1, hi)
        elif hi is not None and sizes.equal(hi, low) is True:
            box[v] = (lo, hi - 1)
        elif not (lo is not None and sizes.positive(lo - low)) and not (
            hi is not None and sizes.positive(low - hi)
        ):
            return None
        return True
    if low is not None:
        lo = low if lo is None else outermost((lo, low), True, sizes)
    if high is not None:
        hi = high if hi is None else outermost((hi, high), False, sizes)
    box[v] = (lo, hi)
    return True


def linear(e: Expr, v: str) -> tuple[Expr, Expr] | None:
    """``(a, c)`` with ``e == a*v + c`` and ``v`` in neither, or None."""
    a: dict[tuple[object, ...], int] = {}
    c: dict[tuple[object, ...], int] = {}
    for mono, k in e.terms.items():
        n = mono.count(v)
        if n > 1 or any(not isinstance(x, str) and v in x.symbols for x in mono):
            return None
        if n:
            a[tuple(x for x in mono if x != v)] = k
        else:
            c[mono] = k
    return Expr(a), Expr(c)  # type: ignore[arg-type]
