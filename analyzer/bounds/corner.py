"""Bounds of an expression at a corner of a box.

Every variable is moved to the end at which its term is largest (or smallest).  The value is always a
sound bound; it is reached when no variable is wanted at both ends and nothing was over-approximated.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..symbolic import ONE, ZERO, Atom, Expr, Mono, Op, const, floordiv, make, maximum, minimum
from ..symbolic.assumptions import Ranges
from .model import End, Ends

_UNKNOWN = End(None, None, False, "not monotone in its variables")


def extreme(e: Expr, up: bool, box: Mapping[str, Ends], sizes: Ranges) -> End:
    """The largest (``up``) or smallest value of ``e`` over ``box``, guards not considered."""
    fixed: dict[Mono, int] = {}
    linear: dict[Atom, dict[Mono, int]] = {}
    products: list[tuple[list[Atom], Expr]] = []
    for mono, c in e.terms.items():
        moving = [
            a for a in mono if (a in box if isinstance(a, str) else not box.keys().isdisjoint(a.symbols))
        ]
        if not moving:
            fixed[mono] = c
        elif len(moving) == 1:
            rest = tuple(a for a in mono if a is not moving[0])
            linear.setdefault(moving[0], {})[rest] = c
        else:
            rest = tuple(a for a in mono if a not in moving)
            products.append((moving, Expr({rest: c})))
    total = Expr(fixed)
    point: dict[str, Expr] = {}
    exact, reason = True, None
    parts = [([atom], Expr(coef)) for atom, coef in linear.items()] + products
    for atoms, factor in parts:
        end = _term(atoms, factor, up, box, sizes)
        if end.value is None:
            return end
        total = total + end.value
        if not end.exact or not _join(point, end.point):
            exact, reason = False, end.reason or reason or "terms that pull a variable both ways"
    return End(total, point, exact, reason)


def _join(point: dict[str, Expr], other: Mapping[str, Expr] | None) -> bool:
    """Add ``other`` to ``point``; False when they disagree about a variable."""
    if other is None:
        return False
    agree = True
    for name, v in other.items():
        agree &= point.setdefault(name, v) == v
    return agree


def _term(atoms: list[Atom], factor: Expr, up: bool, box: Mapping[str, Ends], sizes: Ranges) -> End:
    """An end of ``factor * product(atoms)``."""
    v = factor.value
    if v is not None:
        positive = v >= 0
    elif sizes.nonneg(factor) is True:
        positive = True
    elif sizes.nonneg(-factor) is True:
        positive = False
    else:
        return End(None, None, False, f"sign of {factor} is not known")
    side = up == positive
    if len(atoms) == 1:
        end = _atom(atoms[0], side, box, sizes)
        if end.value is None:
            return end
        return End(end.value * factor, end.point, end.exact, end.reason)
    value, point, exact = ONE, dict[str, Expr](), True
    for atom in atoms:
        low = _atom(atom, False, box, sizes)
        if low.value is None or sizes.nonneg(low.value) is not True:
            return End(None, None, False, "product of variables that can be negative")
        end = _atom(atom, side, box, sizes)
        if end.value is None:
            return end
        value = value * end.value
        exact = _join(point, end.point) and end.exact and exact
    return End(value * factor, point, exact, None if exact else "product of variables")


def _atom(atom: Atom, up: bool, box: Mapping[str, Ends], sizes: Ranges) -> End:
    if isinstance(atom, str):
        end = box[atom][1 if up else 0]
        if end is None:
            return End(None, None, False, f"{atom} is not bounded")
        return End(end, {atom: end}, True)
    return _operation(atom, up, box, sizes)


def _operation(op: Op, up: bool, box: Mapping[str, Ends], sizes: Ranges) -> End:
    if op.kind in ("min", "max"):
        return _min_max(op, up, box, sizes)
    if op.kind == "where":
        return _where(op, up, box, sizes)
    a, b = op.args
    if not box.keys().isdisjoint(b.symbols) or sizes.positive(b) is not True:
        return End(None, None, False, f"divisor {b} is not known to be positive")
    if op.kind in ("floordiv", "tdiv"):
        end = extreme(a, up, box, sizes)
        if end.value is None:
            return end
        return End(make(op.kind, (end.value, b)), end.point, end.exact, end.reason)
    return _remainder(op, up, box, sizes)


def _remainder(op: Op, up: bool, box: Mapping[str, Ends], sizes: Ranges) -> End:
    a, b = op.args
    low, high = extreme(a, False, box, sizes), extreme(a, True, box, sizes)
    natural = low.value is not None and sizes.nonneg(low.value) is True
    if (op.kind == "mod" or natural) and low.value is not None and high.value is not None:
        q = one_quotient(low.value, high.value, b, sizes)
        if q is not None:
            end = high if up else low
            assert end.value is not None
            return End(end.value - q * b, end.point, end.exact, end.reason)
    why = f"{op} is bounded by its divisor only"
    if op.kind == "mod" or natural:
        return End(b - 1 if up else ZERO, None, False, why)
    return End(b - 1 if up else 1 - b, None, False, why)


def one_quotient(low: Expr, high: Expr, b: Expr, sizes: Ranges) -> Expr | None:
    """The quotient that all of ``low .. high`` have when divided by ``b``, if it is known to be one."""
    exact = floordiv(low, b)
    if exact == floordiv(high, b):
        return exact
    if b.value is None or low.value is None:
        for q in (0, -1, 1):
            if sizes.nonneg(low - q * b) is True and sizes.positive(b * (q + 1) - high) is True:
                return const(q)
    return None


def _min_max(op: Op, up: bool, box: Mapping[str, Ends], sizes: Ranges) -> End:
    ends = [extreme(a, up, box, sizes) for a in op.args]
    known = [e for e in ends if e.value is not None]
    drops = op.kind == "min" if up else op.kind == "max"  # an unbounded operand doesn't matter then
    if not known or (len(known) < len(ends) and not drops):
        return next(e for e in ends if e.value is None)
    point: dict[str, Expr] = {}
    exact = len(known) == len(ends)
    for e in known:
        exact = _join(point, e.point) and e.exact and exact
    value = outermost([e.value for e in known if e.value is not None], op.kind == "max", sizes)
    return End(value, point, exact, None if exact else f"{op} is bounded operand by operand")


def outermost(values: Iterable[Expr], up: bool, sizes: Ranges) -> Expr:
    """The largest (``up``) or smallest of some values, without those that are never it."""
    kept: list[Expr] = []
    for v in values:
        if any(sizes.nonneg(k - v if up else v - k) is True for k in kept):
            continue
        kept = [k for k in kept if sizes.nonneg(v - k if up else k - v) is not True]
        kept.append(v)
    return (maximum if up else minimum)(*kept)


def _where(op: Op, up: bool, box: Mapping[str, Ends], sizes: Ranges) -> End:
    ends = [extreme(a, up, box, sizes) for a in op.args]
    for e in ends:
        if e.value is None:
            return e
    a, b = ends[0].value, ends[1].value
    assert a is not None and b is not None
    return End(outermost((a, b), up, sizes), None, False, f"{op} may take either value")
