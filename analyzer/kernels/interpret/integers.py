"""Typed integer arithmetic: what a machine computes in so many bits, as exact expressions.

An :class:`Int` is an operand: its type, an expression, and what is taken for granted in it. ``+ - *`` and conversions
to the same or a smaller width need an operand only up to multiples of ``2**bits``, so its ``ring`` expression is kept
as written (``i - 1 + 1`` loses nothing). Everything else needs the value itself: :func:`settle` says what it is.

- It provably fits its type: the expression.
- It provably may not (both ends are known, or an unsigned one goes below zero): the wrapped value, exactly.
- Its ends depend on what a launch will say: the expression, and a :class:`Narrow` that whoever uses the value keeps
  with the access. The access is *proved* only if each of them fits at the launch.

Operands come from :func:`constant`, :func:`of` (an expression whose value is known to be of the type), and
:func:`unknown` (any value of the type, or of a range in it; it has no expression until the reader names a symbol for
it). All functions are pure; :class:`Known` is what is known where the operation stands.

>>> known = Known(Ranges({"i": (0, 9)}))
>>> i = of(sym("i"), UINT8)
>>> settle(binary("-", i, constant(1, UINT8), UINT8, known), known).expr
mod(i + 255, 256)
"""

from __future__ import annotations

from collections.abc import Callable

from ...model.dtypes import INTEGERS
from ...model.kernel import Narrow
from ...model.record import record, replace
from ...symbolic import (
    TRUE,
    ZERO,
    Cond,
    Expr,
    as_expr,
    compare,
    const,
    floordiv,
    maximum,
    minimum,
    mod,
    tdiv,
    tmod,
    where,
)  # fmt: skip
from ...symbolic.assumptions import Interval, Ranges


@record(frozen=True)
class IntType:
    """An integer type. A bool is one of 1 bit, unsigned: 0 or 1."""

    bits: int
    signed: bool

    @property
    def low(self) -> int:
        return -(1 << (self.bits - 1)) if self.signed else 0

    @property
    def high(self) -> int:
        return (1 << (self.bits - 1)) - 1 if self.signed else (1 << self.bits) - 1

    @property
    def name(self) -> str:
        return "bool" if self.bits == 1 else f"{'' if self.signed else 'u'}int{self.bits}"


INT8, INT16, INT32, INT64 = (IntType(b, True) for b in (8, 16, 32, 64))
UINT8, UINT16, UINT32, UINT64 = (IntType(b, False) for b in (8, 16, 32, 64))
BOOL = IntType(1, False)
_BY_NAME = {name: IntType(*rest) for name, rest in INTEGERS.items()} | {"bool": BOOL}


def int_type(dtype: str) -> IntType | None:
    """The integer type of a dtype as torch names it (``uint8``); None for those that are none."""
    return _BY_NAME.get(dtype)


@record(frozen=True)
class Int:
    """An operand of ``type``.

    ``ring`` is its value up to a multiple of ``2**bits``; None when only ``low <= value <= high`` is known.
    ``narrow`` are the values that were taken not to wrap on the way. ``text`` is its source, for messages.
    ``fits``: the ring expression is the value itself.
    """

    type: IntType
    ring: Expr | None
    low: int
    high: int
    narrow: tuple[Narrow, ...] = ()
    text: str = ""
    fits: bool = False


@record(frozen=True)
class Settled:
    """The value of an operand: ``expr`` (None: anything in ``low .. high``), given that all of ``narrow`` fit."""

    expr: Expr | None
    low: int
    high: int
    narrow: tuple[Narrow, ...]

    @property
    def exact(self) -> bool:
        """Whether the expression is the value without anything being taken for granted."""
        return self.expr is not None and not self.narrow


@record(frozen=True)
class Known:
    """What is known where an operation stands: ranges of symbols, and the condition under which it is reached."""

    ranges: Ranges
    path: Cond = TRUE


# -- operands


def constant(value: int, type_: IntType) -> Int:
    return Int(type_, const(value), type_.low, type_.high)


def of(expr: Expr | int, type_: IntType, text: str = "", fits: bool = False) -> Int:
    """An operand whose ring expression is ``expr``; ``fits`` where it is the value whatever its ranges say."""
    return Int(type_, as_expr(expr), type_.low, type_.high, (), text, fits)


def unknown(type_: IntType, low: int | None = None, high: int | None = None) -> Int:
    """Any value of the type, or of the part of it that is given."""
    low = type_.low if low is None else max(low, type_.low)
    high = type_.high if high is None else min(high, type_.high)
    return Int(type_, None, low, high)


def both(a: tuple[Narrow, ...], b: tuple[Narrow, ...]) -> tuple[Narrow, ...]:
    """What two operands take for granted, each thing once."""
    if not a or not b or a == b:
        return a or b
    return tuple(dict.fromkeys((*a, *b)))


def settle(a: Int, known: Known) -> Settled:
    """The value of an operand."""
    if a.ring is None:
        return Settled(None, a.low, a.high, a.narrow)
    t = a.type
    low, high = known.ranges.interval(a.ring)
    if a.fits:
        return Settled(a.ring, _least(low, t.low), _most(high, t.high), a.narrow)
    fits_low = (low is not None and low >= t.low) or known.ranges.nonneg(a.ring - t.low) is True
    fits_high = (high is not None and high <= t.high) or known.ranges.nonneg(t.high - a.ring) is True
    if fits_low and fits_high:
        return Settled(a.ring, _least(low, t.low), _most(high, t.high), a.narrow)
    if (low is not None and high is not None) or not (fits_low or t.signed):
        wrapped = mod(a.ring - t.low, 1 << t.bits) + t.low
        return Settled(wrapped, t.low, t.high, a.narrow)
    if t.bits == 64:  # a size that large is not taken to exist
        return Settled(a.ring, _least(low, t.low), _most(high, t.high), a.narrow)
    taken = Narrow(a.text or repr(a.ring), a.ring, t.bits, t.signed, known.path)
    return Settled(a.ring, _least(low, t.low), _most(high, t.high), both(a.narrow, (taken,)))


def _least(low: int | None, limit: int) -> int:
    return limit if low is None else max(low, limit)


def _most(high: int | None, limit: int) -> int:
    return limit if high is None else min(high, limit)


# -- types


def promoted(a: IntType, b: IntType) -> IntType:
    """The type of ``a + b`` in C++ and Metal: at least 32 bits, unsigned where that does not hold the other."""
    bits = max(a.bits, b.bits, 32)
    signed = (a.signed or a.bits < bits) and (b.signed or b.bits < bits)
    return IntType(bits, signed)


def widest(a: IntType, b: IntType) -> IntType:
    """The type of ``a + b`` in Triton: the wider, the unsigned one among equals; nothing is promoted."""
    if a.signed == b.signed:
        return a if a.bits >= b.bits else b
    unsigned, signed = (b, a) if a.signed else (a, b)
    return unsigned if unsigned.bits >= signed.bits else signed


# -- operations


def cast(a: Int, to: IntType, known: Known) -> Int:
    """Conversion: the low bits, with the sign of the target. To bool it is whether the value is not 0."""
    if to == a.type:
        return a
    if to is BOOL or to.bits == 1:
        return _to_bool(a, known)
    if to.bits <= a.type.bits and a.ring is not None:
        return Int(to, a.ring, to.low, to.high, a.narrow, a.text)
    s = settle(a, known)
    if s.expr is not None:
        return Int(to, s.expr, to.low, to.high, s.narrow, a.text, to.low <= s.low and s.high <= to.high)
    if to.low <= s.low and s.high <= to.high:
        return Int(to, None, s.low, s.high, s.narrow, a.text)
    return Int(to, None, to.low, to.high, s.narrow, a.text)


def _to_bool(a: Int, known: Known) -> Int:
    s = settle(a, known)
    if s.expr is not None:
        return Int(BOOL, where(compare("==", s.expr, 0), 0, 1), 0, 1, s.narrow, a.text)
    outside = s.low > 0 or s.high < 0
    return Int(BOOL, const(1) if outside else None, 0, 1, s.narrow, a.text)


def binary(op: str, a: Int, b: Int, type_: IntType, known: Known) -> Int:
    """``a op b`` computed in ``type_``: ``+ - * / % << >> & | ^``, and ``//`` and ``mod`` that round down."""
    a = cast(a, type_, known)
    if op in ("<<", ">>"):
        return _shift(op, a, b, known)
    b = cast(b, type_, known)
    narrow = both(a.narrow, b.narrow)
    if op in _RING:
        if a.ring is not None and b.ring is not None:
            return Int(type_, _RING[op](a.ring, b.ring), type_.low, type_.high, narrow)
        return _ring_range(op, a, b, narrow, known)
    x, y = settle(a, known), settle(b, known)
    narrow = both(x.narrow, y.narrow)
    if op in _DIVISIONS:
        return _division(op, x, y, type_, narrow)
    return _bitwise(op, x, y, type_, narrow)


_RING: dict[str, Callable[[Expr, Expr], Expr]] = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b,
}  # fmt: skip
#: Rounding towards zero, and the same where nothing is negative.
_DIVISIONS: dict[str, tuple[Callable[[Expr, Expr], Expr], Callable[[Expr, Expr], Expr]]] = {
    "/": (tdiv, floordiv), "%": (tmod, mod), "//": (floordiv, floordiv), "mod": (mod, mod),
}  # fmt: skip


def _ring_range(op: str, a: Int, b: Int, narrow: tuple[Narrow, ...], known: Known) -> Int:
    """Sum, difference or product where an operand is known by its range alone."""
    x, y = settle(a, known), settle(b, known)
    ends = [_PLAIN[op](p, q) for p in (x.low, x.high) for q in (y.low, y.high)]
    t = a.type
    fits = t.low <= min(ends) and max(ends) <= t.high
    low, high = (min(ends), max(ends)) if fits else (t.low, t.high)
    return Int(t, None, low, high, both(narrow, both(x.narrow, y.narrow)))


_PLAIN: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b,
}  # fmt: skip


def _division(op: str, x: Settled, y: Settled, type_: IntType, narrow: tuple[Narrow, ...]) -> Int:
    if x.expr is not None and y.expr is not None and y.expr.value != 0:
        general, natural = _DIVISIONS[op]
        made = (natural if x.low >= 0 and y.low >= 0 else general)(x.expr, y.expr)
        if op in ("/", "//") and type_.signed and x.low == type_.low and y.low <= -1 <= y.high:
            made = mod(made - type_.low, 1 << type_.bits) + type_.low  # the least value by -1 is itself
        return Int(type_, made, type_.low, type_.high, narrow, fits=True)
    low, high = type_.low, type_.high
    if x.low >= 0 and y.low > 0:
        low = 0
        high = x.high // y.low if op in ("/", "//") else min(x.high, y.high - 1)
    elif op == "mod" and y.low > 0:
        low, high = 0, y.high - 1
    elif op == "%" and y.low > 0:
        low, high = 1 - y.high, y.high - 1
    return Int(type_, None, low, high, narrow)


def _shift(op: str, a: Int, b: Int, known: Known) -> Int:
    """A shift by a constant within the width; by anything else its value is not known."""
    by = settle(b, known)
    n = None if by.expr is None else by.expr.value
    t = a.type
    narrow = both(a.narrow, by.narrow)
    if op == "<<":
        if n is None or not 0 <= n < t.bits:
            return Int(t, None, t.low, t.high, narrow)
        return binary("*", replace(a, narrow=narrow), of(1 << n, t), t, known)
    s = settle(a, known)
    narrow = both(narrow, s.narrow)
    if n is None or not 0 <= n < t.bits:
        inside = by.low >= 0 and by.high < t.bits
        low, high = (min(s.low, 0), max(s.high, -1 if s.high < 0 else 0)) if inside else (t.low, t.high)
        return Int(t, None, low, high, narrow)
    if s.expr is None:
        return Int(t, None, s.low >> n, s.high >> n, narrow)
    return Int(t, floordiv(s.expr, 1 << n), t.low, t.high, narrow, fits=True)


def _bitwise(op: str, x: Settled, y: Settled, t: IntType, narrow: tuple[Narrow, ...]) -> Int:
    for s, mask in ((x, _constant(y)), (y, _constant(x))):
        if s.expr is not None and mask is not None:
            found = _masked(op, s.expr, mask, t)
            if found is not None:
                return Int(t, found, t.low, t.high, narrow)
    if x.expr is not None and x.expr == y.expr:
        return Int(t, ZERO if op == "^" else x.expr, t.low, t.high, narrow)
    low, high = t.low, t.high
    if x.low >= 0 and y.low >= 0:
        full = (1 << max(x.high, y.high).bit_length()) - 1
        low, high = 0, min(full, t.high)
        if op == "&":
            high = min(x.high, y.high)
        elif op == "|":
            low = max(x.low, y.low)
    elif op == "&" and (x.low >= 0 or y.low >= 0):
        low, high = 0, x.high if x.low >= 0 else y.high
    return Int(t, None, low, high, narrow)


def _constant(s: Settled) -> int | None:
    return None if s.expr is None else s.expr.value


def _masked(op: str, e: Expr, mask: int, t: IntType) -> Expr | None:
    """``e op mask`` for a constant: exact for masks of low bits and of high bits; two's complement below zero."""
    value = e.value
    if value is not None:
        result = {"&": value & mask, "|": value | mask, "^": value ^ mask}[op]
        return const(result)
    full = t.high if not t.signed else -1  # all bits set
    low_bits = mask + 1 if mask >= 0 and mask & (mask + 1) == 0 else None
    rest = full - mask  # the bits that are not in the mask
    high_bits = rest + 1 if rest >= 0 and rest & (rest + 1) == 0 else None
    if low_bits is not None:
        part = mod(e, low_bits)
        return {"&": part, "|": e - part + mask, "^": e - 2 * part + mask}[op]
    if high_bits is not None:
        part = mod(e, high_bits)
        return {"&": e - part, "|": part + mask, "^": None}[op]
    return None


def negate(a: Int, known: Known) -> Int:
    """``-a`` in the type of a (promote it first where the language does)."""
    return binary("-", constant(0, a.type), a, a.type, known)


def invert(a: Int, known: Known) -> Int:
    """``~a``: in the ring it is ``-a - 1``."""
    return binary("-", constant(-1, a.type), a, a.type, known)


def absolute(a: Int, known: Known) -> Int:
    """``abs`` in the type of a: the least value of a signed type has no positive counterpart and stays."""
    s = settle(a, known)
    if not a.type.signed:
        return a
    if s.expr is not None:
        e = s.expr if s.low >= 0 else maximum(s.expr, -s.expr)
        return Int(a.type, e, a.type.low, a.type.high, s.narrow, a.text)
    ends = (abs(s.low), abs(s.high))
    low = 0 if s.low <= 0 <= s.high else min(ends)
    fits = max(ends) <= a.type.high
    return Int(
        a.type, None, low if fits else a.type.low, max(ends) if fits else a.type.high, s.narrow, a.text
    )


def extreme(kind: str, a: Int, b: Int, type_: IntType, known: Known) -> Int:
    """``min`` or ``max`` computed in ``type_``: narrower than an operand, it keeps that one's low bits first."""
    x, y = settle(cast(a, type_, known), known), settle(cast(b, type_, known), known)
    narrow = both(x.narrow, y.narrow)
    pick = min if kind == "min" else max
    if x.expr is not None and y.expr is not None:
        e = (minimum if kind == "min" else maximum)(x.expr, y.expr)
        return Int(type_, e, type_.low, type_.high, narrow, fits=True)
    return Int(type_, None, pick(x.low, y.low), pick(x.high, y.high), narrow)


def select(cond: Cond, a: Int, b: Int, type_: IntType, known: Known) -> Int:
    """``cond ? a : b``; the condition must be expressible (not opaque) for an exact result."""
    a, b = cast(a, type_, known), cast(b, type_, known)
    if a.ring is not None and a.ring == b.ring:
        return replace(a, narrow=both(a.narrow, b.narrow))
    x, y = settle(a, known), settle(b, known)
    narrow = both(x.narrow, y.narrow)
    if x.expr is not None and y.expr is not None and not cond.has_opaque():
        return Int(type_, where(cond, x.expr, y.expr), type_.low, type_.high, narrow, fits=True)
    return Int(type_, None, min(x.low, y.low), max(x.high, y.high), narrow)


def comparison(
    op: str, a: Int, b: Int, type_: IntType, known: Known
) -> tuple[Cond | None, tuple[Narrow, ...]]:
    """``a op b`` compared in ``type_`` (unsigned where that is), and what it takes for granted.

    None where it is neither known nor expressible: the reader names an opaque condition.
    """
    x, y = settle(cast(a, type_, known), known), settle(cast(b, type_, known), known)
    narrow = both(x.narrow, y.narrow)
    if x.expr is not None and y.expr is not None:
        return compare(op, x.expr, y.expr), narrow
    truth = _by_ranges(op, (x.low, x.high), (y.low, y.high))
    return None if truth is None else (compare("==", 0, 0) if truth else compare("!=", 0, 0)), narrow


def _by_ranges(op: str, a: tuple[int, int], b: tuple[int, int]) -> bool | None:
    if op in (">", ">="):
        return _by_ranges("<" if op == ">" else "<=", b, a)
    if op == "<":
        return True if a[1] < b[0] else False if a[0] >= b[1] else None
    if op == "<=":
        return True if a[1] <= b[0] else False if a[0] > b[1] else None
    apart = a[1] < b[0] or b[1] < a[0]
    return (op == "!=") if apart else None


def interval(a: Int, known: Known) -> Interval:
    """The ends of the value."""
    s = settle(a, known)
    return s.low, s.high
