"""Operations that the ranges of their variables make trivial."""

from __future__ import annotations

from math import gcd

from ..model.record import replace
from ..symbolic import Atom, Cond, Expr, Op, const, exact_div, floordiv, make, maximum, minimum, mod
from ..symbolic.assumptions import Ranges
from .corner import extreme, one_quotient
from .model import Piece
from .reshape import all_operations


def simplify(p: Piece) -> Piece | None:
    """The piece with simpler operations, or None when none of them is simpler there."""
    return _replaced(p, all_operations(p))


def tidy(p: Piece) -> Piece:
    """The piece with simpler operations on sizes; the same in all pieces, so they stay alike."""
    for _ in range(8):
        simpler = _replaced(p, [op for op in all_operations(p) if p.box.keys().isdisjoint(op.symbols)])
        if simpler is None:
            break
        p = simpler
    return p


def tidy_size(e: Expr, sizes: Ranges) -> Expr:
    """The same for an expression over sizes."""
    if all(isinstance(a, str) for a in e.atoms()):
        return e
    return sizes.remember(_tidy_size, e)


def _tidy_size(e: Expr, sizes: Ranges) -> Expr:
    return tidy(Piece(e, {}, (), (), sizes)).index


def _replaced(p: Piece, ops: list[Op]) -> Piece | None:
    new: dict[Atom, Expr] = {}
    for op in ops:
        simpler = _of_sizes(op, p) if p.box.keys().isdisjoint(op.symbols) else _simpler(op, p)
        if simpler is not None and simpler != Expr({(op,): 1}):
            new[op] = simpler
    if not new:
        return None
    return replace(p, index=p.index.replace(new), guards=tuple(g.replace(new) for g in p.guards))


def _of_sizes(op: Op, p: Piece) -> Expr | None:
    """The same for an operation on sizes alone, which is the same in every piece with these sizes."""
    return p.sizes.remember(_simpler_size, op)


def _simpler_size(op: Op, sizes: Ranges) -> Expr | None:
    return _simpler(op, Piece(Expr({(op,): 1}), {}, (), (), sizes))


def _simpler(op: Op, p: Piece) -> Expr | None:
    if op.kind in ("min", "max"):
        return _min_max(op, p)
    return _where(op, op.cond, p) if op.cond is not None else _division(op, p)


def _division(op: Op, p: Piece) -> Expr | None:
    a, b = op.args
    if not p.box.keys().isdisjoint(b.symbols) or p.sizes.positive(b) is not True:
        return None
    low, high = _ends(a, p)
    if op.kind in ("tdiv", "tmod"):
        if low is None or p.sizes.nonneg(low) is not True:
            return None
        return make("floordiv" if op.kind == "tdiv" else "mod", (a, b))
    if low is not None and high is not None:
        q = one_quotient(low, high, b, p.sizes)
        if q is not None and q != floordiv(a, b):
            return q if op.kind == "floordiv" else a - q * b
    reduced = (_by_factor(op, g, p) for g in _common_factors(a, b, p))
    return next((r for r in reduced if r is not None), None)


def _ends(e: Expr, p: Piece) -> tuple[Expr | None, Expr | None]:
    return extreme(e, False, p.box, p.sizes).value, extreme(e, True, p.box, p.sizes).value


def _by_factor(op: Op, g: Expr, p: Piece) -> Expr | None:
    """``(g*p + r) // (g*m) = p // m`` and ``(g*p + r) % (g*m) = g*(p % m) + r``, where ``0 <= r < g``."""
    a, b = op.args
    whole = {m: c for m, c in a.terms.items() if exact_div(Expr({m: c}), g) is not None}
    rest = Expr({m: c for m, c in a.terms.items() if m not in whole})
    quotient, m = exact_div(Expr(whole), g), exact_div(b, g)
    if not whole or quotient is None or m is None or p.sizes.positive(g) is not True:
        return None
    low, high = _ends(rest, p)
    if low is None or high is None:
        return None
    if p.sizes.nonneg(low) is not True or p.sizes.positive(g - high) is not True:
        return None
    return floordiv(quotient, m) if op.kind == "floordiv" else mod(quotient, m) * g + rest


def _common_factors(a: Expr, b: Expr, p: Piece) -> list[Expr]:
    """Factors of ``b`` that the coefficients of variables in ``a`` have as well."""
    found: dict[Expr, None] = {}
    n = b.value
    for mono, c in a.terms.items():
        if n is not None:
            g = const(gcd(c, n))
        else:
            g = Expr({tuple(x for x in mono if isinstance(x, str) and x not in p.box): abs(c)})
            if exact_div(b, g) is None:
                g = b if exact_div(Expr({mono: c}), b) is not None else const(1)
        if g.value != 1:
            found[g] = None
    return list(found)


def _min_max(op: Op, p: Piece) -> Expr | None:
    keep = list(op.args)
    for a in op.args:
        for b in keep:
            if a is b:
                continue
            d = a - b if op.kind == "min" else b - a  # >= 0: a is never the one that is picked
            low = extreme(d, False, p.box, p.sizes).value
            if low is not None and p.sizes.nonneg(low) is True:
                keep.remove(a)
                break
    if len(keep) == len(op.args):
        return None
    return (minimum if op.kind == "min" else maximum)(*keep)


def _where(op: Op, cond: Cond, p: Piece) -> Expr | None:
    truth = holds(cond, p)
    if truth is None:
        return None
    return op.args[0 if truth else 1]


def holds(c: Cond, p: Piece) -> bool | None:
    """Whether a condition holds everywhere in the box, nowhere, or neither is known."""
    if c.expr is None:
        parts = [holds(a, p) for a in c.args]
        if c.kind not in ("and", "or"):
            return p.sizes.truth(c)
        decisive = c.kind == "or"
        return decisive if decisive in parts else (None if None in parts else not decisive)
    low = extreme(c.expr, False, p.box, p.sizes).value
    high = extreme(c.expr, True, p.box, p.sizes).value
    if c.kind == "ge":
        if low is not None and p.sizes.nonneg(low) is True:
            return True
        return False if high is not None and p.sizes.nonneg(high) is False else None
    apart = (low is not None and p.sizes.positive(low) is True) or (
        high is not None and p.sizes.nonneg(high) is False
    )
    if apart:
        return c.kind == "ne"
    if low is not None and high is not None and not low.terms and not high.terms:
        return c.kind == "eq"
    return None
