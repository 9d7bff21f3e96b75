"""Changes of variables that make ``//`` and ``%`` disappear.

``split``: a variable that is divided by d becomes ``d*q + r`` with independent digits q and r.
``merge``: two variables that only occur as ``m*u + w``, with w running over at least m values, become one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..model.record import replace
from ..symbolic import ZERO, Atom, Cond, Expr, Op, exact_div, floordiv, minimum, mod, sym
from .model import Ends, Piece
from .tighten import linear

_DIVISIONS = ("floordiv", "mod", "tdiv", "tmod")


def operations(e: Expr) -> Iterator[Op]:
    """Every operation in ``e``, those inside operations included."""
    for mono in e.terms:
        for atom in mono:
            if not isinstance(atom, str):
                yield atom
                for a in atom.args:
                    yield from operations(a)
                if atom.cond is not None:
                    yield from operations_in(atom.cond)


def operations_in(c: Cond) -> Iterator[Op]:
    if c.expr is not None:
        yield from operations(c.expr)
    for a in c.args:
        yield from operations_in(a)


def all_operations(p: Piece) -> list[Op]:
    """The distinct operations of the index and the guards, outermost first."""
    found = dict.fromkeys(operations(p.index))
    for g in p.guards:
        found.update(dict.fromkeys(operations_in(g)))
    return list(found)


def operations_of(p: Piece) -> list[Op]:
    """Those that depend on a variable."""
    return [op for op in all_operations(p) if not p.box.keys().isdisjoint(op.symbols)]


# -- digits


def split(p: Piece, partition: bool = True) -> list[Piece] | None:
    """Pieces in which one variable is replaced by two digits; None when no variable can be.

    ``partition``: cut incomplete digits off as pieces of their own, rather than leave them to a guard.
    """
    divisors: dict[str, list[Expr]] = {}
    for op in operations_of(p):
        if op.kind in _DIVISIONS and len(op.args[0].terms) == 1:
            ((mono, c),) = op.args[0].terms.items()
            v = mono[0] if len(mono) == 1 and c == 1 else None
            if isinstance(v, str) and v in p.box and _can_divide(op, v, p):
                divisors.setdefault(v, []).append(op.args[1])
    for v, found in divisors.items():
        d = _common_divisor(found)
        if d is not None:
            return _digits(p, v, d, partition)
    return None


def _can_divide(op: Op, v: str, p: Piece) -> bool:
    lo, hi = p.box[v]
    if lo is None or hi is None or not p.box.keys().isdisjoint(op.args[1].symbols):
        return False
    if op.kind in ("tdiv", "tmod") and p.sizes.nonneg(lo) is not True:
        return False
    return p.sizes.positive(op.args[1]) is True


def _common_divisor(found: list[Expr]) -> Expr | None:
    unique = list(dict.fromkeys(found))
    if len(unique) == 1:
        return unique[0]
    return next((d for d in unique if all(exact_div(b, d) is not None for b in unique)), None)


def _digits(p: Piece, v: str, d: Expr, partition: bool) -> list[Piece]:
    q, r = f"{v}.{len(p.steps)}q", f"{v}.{len(p.steps)}r"
    whole = sym(q) * d + sym(r)
    new: dict[Atom, Expr] = {v: whole}
    for op in operations_of(p):
        if op.kind in _DIVISIONS and op.args[0] == sym(v):
            m = exact_div(op.args[1], d)
            if m is not None and p.sizes.positive(m) is True:
                if op.kind in ("floordiv", "tdiv"):
                    new[op] = floordiv(sym(q), m)
                else:
                    new[op] = mod(sym(q), m) * d + sym(r)
    lo, hi = p.box[v]
    assert lo is not None and hi is not None
    box = {n: e for n, e in p.box.items() if n != v}
    base = replace(
        p,
        index=p.index.replace(new),
        guards=tuple(g.replace(new) for g in p.guards),
        steps=(*p.steps, (v, whole)),
    )
    out = []
    for q_ends, r_ends, extra in _digit_boxes(lo, hi, d, whole, partition):
        out.append(replace(base, box={**box, q: q_ends, r: r_ends}, guards=base.guards + extra))
    return out


def _digit_boxes(
    lo: Expr, hi: Expr, d: Expr, whole: Expr, partition: bool
) -> list[tuple[Ends, Ends, tuple[Cond, ...]]]:
    """Boxes of digits that together are ``lo <= whole <= hi``."""
    first, end = exact_div(lo, d) if lo.terms else ZERO, exact_div(hi + 1, d)
    full: Ends = (ZERO, d - 1)
    if first is not None and end is not None:
        return [((first, end - 1), full, ())]
    a, b, n = lo.value, hi.value, d.value
    if a is None or b is None or n is None or not partition:
        extra = []
        if first is None:
            extra.append(Cond.of("ge", whole - lo))
        if end is None:
            extra.append(Cond.of("ge", hi - whole))
        return [((floordiv(lo, d), floordiv(hi, d)), full, tuple(extra))]
    (ql, rl), (qh, rh) = divmod(a, n), divmod(b, n)
    if ql == qh:
        return [((_c(ql), _c(ql)), (_c(rl), _c(rh)), ())]
    out: list[tuple[Ends, Ends, tuple[Cond, ...]]] = []
    if rl > 0:
        out.append(((_c(ql), _c(ql)), (_c(rl), _c(n - 1)), ()))
        ql += 1
    if rh < n - 1:
        out.append(((_c(qh), _c(qh)), (ZERO, _c(rh)), ()))
        qh -= 1
    if ql <= qh:
        out.append(((_c(ql), _c(qh)), full, ()))
    return out


def _c(n: int) -> Expr:
    return ZERO + n


# -- flat variables


def merge(p: Piece) -> Piece | None:
    """The piece with two variables made one where a guard or a division mixes them; None when none can be."""
    for form in _mixed_forms(p):
        names = [v for v in p.box if v in form.symbols]
        for w in names:
            for u in names:
                merged = _merge_pair(p, form, u, w) if u != w else None
                if merged is not None:
                    return merged
    return None


def _mixed_forms(p: Piece) -> Iterable[Expr]:
    """Expressions over several variables that are compared or divided."""
    seen: dict[Expr, None] = {}
    for g in p.guards:
        if g.expr is not None:
            seen[g.expr] = None
    for op in operations_of(p):
        if op.kind in _DIVISIONS:
            seen[op.args[0]] = None
        elif op.cond is not None and op.cond.expr is not None:
            seen[op.cond.expr] = None
    return [e for e in seen if len(e.symbols & p.box.keys()) > 1]


def _merge_pair(p: Piece, form: Expr, u: str, w: str) -> Piece | None:
    (ulo, uhi), (wlo, whi) = p.box[u], p.box[w]
    if ulo is None or uhi is None or wlo is None or whi is None:
        return None
    in_w = linear(form, w)
    in_u = linear(form, u)
    if in_w is None or in_u is None:
        return None
    m = exact_div(in_u[0], in_w[0]) if in_w[0].terms else None
    if m is None or p.sizes.positive(m) is not True or p.sizes.nonneg(whi - wlo + 1 - m) is not True:
        return None
    t = f"{u}.{len(p.steps)}t"
    into = {w: sym(t) - m * sym(u)}
    index = p.index.substitute(into)
    guards = tuple(g.substitute(into) for g in p.guards)
    if u in index.symbols or any(u in g.symbols for g in guards):
        return None
    box = {n: e for n, e in p.box.items() if n not in (u, w)}
    box[t] = (m * ulo + wlo, m * uhi + whi)
    quotient = minimum(floordiv(sym(t) - wlo, m), uhi)
    steps = (*p.steps, (w, into[w]), (u, quotient))
    folded = p.folded or (whi - wlo + 1 != m and ulo != uhi)
    return replace(p, index=index, guards=guards, box=box, steps=steps, folded=folded)


# -- rotations


def rotate(p: Piece) -> Piece | None:
    """The piece with ``(v + c) % n`` made a variable, where ``v`` runs over n values and is used there only."""
    for op in operations_of(p):
        n = op.args[1] if op.kind == "mod" else None
        names = op.args[0].symbols & p.box.keys()
        if n is None or len(names) != 1 or not p.box.keys().isdisjoint(n.symbols):
            continue
        (v,) = names
        lo, hi = p.box[v]
        form = linear(op.args[0], v)
        if (
            lo is None
            or hi is None
            or form is None
            or form[0] != 1
            or hi - lo + 1 != n
            or p.sizes.positive(n) is not True
        ):
            continue
        r = f"{v}.{len(p.steps)}o"
        index, guards = p.index.replace({op: sym(r)}), tuple(g.replace({op: sym(r)}) for g in p.guards)
        if v in index.symbols or any(v in g.symbols for g in guards):
            continue
        box = {**{x: e for x, e in p.box.items() if x != v}, r: (ZERO, n - 1)}
        back = mod(sym(r) - form[1] - lo, n) + lo
        return replace(p, index=index, guards=guards, box=box, steps=(*p.steps, (v, back)))
    return None


# -- alternatives of sizes


def alternatives(p: Piece) -> list[Piece] | None:
    """Pieces in which an end that is a minimum or maximum of sizes is one of its operands.

    None when no guard over several variables could profit from it.
    """
    if not any(len(g.symbols & p.box.keys()) > 1 for g in p.guards):
        return None
    for ends in p.box.values():
        for end in ends:
            for op in operations(end) if end is not None else ():
                if op.kind in ("min", "max"):
                    return [_alternative(p, op, x) for x in op.args]
    return None


def _alternative(p: Piece, op: Op, x: Expr) -> Piece:
    new: dict[Atom, Expr] = {op: x}

    def put(e: Expr | None) -> Expr | None:
        return None if e is None else e.replace(new)

    return replace(
        p,
        index=p.index.replace(new),
        box={v: (put(lo), put(hi)) for v, (lo, hi) in p.box.items()},
        guards=tuple(g.replace(new) for g in p.guards),
        sizes=p.sizes.assuming((y - x if op.kind == "min" else x - y) for y in op.args if y is not x),
    )
