"""Values of the Metal reader: what an expression is worth as an integer, a condition or an exact quotient.

Arithmetic follows C++: usual conversions, unsigned wrap-around where it can show, division towards zero.
Scalar parameters are sizes and taken to be non-negative.  Signed 32-bit arithmetic is taken not to overflow
(an access says how wide its index is computed).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from types import MappingProxyType

from ..expr import Cond, Expr, compare, const, floordiv, mod, tdiv, tmod, where
from ..ranges import Ranges

#: (bits, signed) of the integer types a kernel can name.
INTEGERS: dict[str, tuple[int, bool]] = {
    "bool": (1, False), "char": (8, True), "uchar": (8, False), "short": (16, True), "ushort": (16, False),
    "int": (32, True), "uint": (32, False), "long": (64, True), "ulong": (64, False),
    "int8_t": (8, True), "uint8_t": (8, False), "int16_t": (16, True), "uint16_t": (16, False),
    "int32_t": (32, True), "uint32_t": (32, False), "int64_t": (64, True), "uint64_t": (64, False),
    "size_t": (64, False),
}  # fmt: skip

#: Element types as the program model names them.
DTYPES: dict[str, str] = {
    "float": "float32", "half": "float16", "bfloat": "bfloat16", "bool": "bool", "char": "int8",
    "uchar": "uint8", "short": "int16", "ushort": "uint16", "int": "int32", "uint": "uint32",
    "long": "int64", "ulong": "uint64", "float2": "complex64", "half2": "complex32",
    "int8_t": "int8", "uint8_t": "uint8", "int16_t": "int16", "uint16_t": "uint16", "int32_t": "int32",
    "uint32_t": "uint32", "int64_t": "int64", "uint64_t": "uint64",
}  # fmt: skip

_NO_LOADS: Mapping[int, Cond] = MappingProxyType({})
#: A dependency that stands for "not known".
ANYTHING = "*"


@dataclass(frozen=True, slots=True)
class Value:
    """A value: its C type, and whatever is known of it.

    ``expr``: the integer. ``cond``: the truth of a boolean. ``real``: the float as an exact quotient.
    ``base``: the pointer parameter it points into, ``expr`` elements from the start.
    ``deps``: iteration variables it can depend on. ``live``: loads (by number) that it uses, with the
    condition under which their value matters.
    """

    type: str
    expr: Expr | None = None
    cond: Cond | None = None
    real: tuple[Expr, Expr] | None = None
    base: str | None = None
    deps: frozenset[str] = frozenset()
    live: Mapping[int, Cond] = field(default_factory=lambda: _NO_LOADS)


def integer(value: int, type_: str = "int") -> Value:
    return Value(type_, const(value))


def merged(type_: str, *parts: Value) -> Value:
    """A value of which nothing is known but what it is made of."""
    deps = frozenset().union(*(p.deps for p in parts))
    live = _NO_LOADS
    for p in parts:
        if p.live:
            live = union(live, p.live) if live else p.live
    return Value(type_, deps=deps, live=live)


def union(a: Mapping[int, Cond], b: Mapping[int, Cond]) -> Mapping[int, Cond]:
    out = dict(a)
    for k, c in b.items():
        out[k] = c | out[k] if k in out else c
    return out


def under(live: Mapping[int, Cond], cond: Cond) -> Mapping[int, Cond]:
    return {k: c & cond for k, c in live.items()} if live else live


def common_type(a: str, b: str) -> str:
    """The type of ``a + b``."""
    if a == b and (a not in INTEGERS or INTEGERS[a][0] >= 32):
        return a
    if a not in INTEGERS or b not in INTEGERS:
        return next((t for t in (a, b) if t not in INTEGERS and t not in ("half", "bfloat")), "float")
    (ba, sa), (bb, sb) = INTEGERS[a], INTEGERS[b]
    bits = max(ba, bb, 32)
    signed = (sa or ba < bits) and (sb or bb < bits)
    return {(32, True): "int", (32, False): "uint", (64, True): "long", (64, False): "ulong"}[bits, signed]


class Arithmetic:
    """Operations on values, given what is known about the signs of symbols."""

    def __init__(self, ranges: Ranges) -> None:
        self.ranges = ranges

    def nonneg(self, e: Expr) -> bool:
        return self.ranges.nonneg(e) is True

    def settle(self, v: Value) -> Value:
        """The value an unsigned integer really has: below zero it has wrapped around."""
        bits, signed = INTEGERS.get(v.type, (64, True))
        if v.expr is None or signed or bits < 32 or self.nonneg(v.expr):
            return v
        return replace(v, expr=mod(v.expr, 1 << bits))

    def binary(self, op: str, a: Value, b: Value) -> Value:
        type_ = common_type(a.type, b.type)
        out = merged(type_, a, b)
        if type_ not in INTEGERS:
            if op in "+-*/":
                return replace(out, real=_real(op, a, b))
            return out
        if op in ("&", "|", "^"):
            return self._bitwise(op, a, b, out)
        ea, eb = self._as_expr(a, type_), self._as_expr(b, type_)
        if ea is None or eb is None:
            return out
        return replace(out, expr=self._integer(op, ea, eb))

    def _integer(self, op: str, a: Expr, b: Expr) -> Expr | None:
        if op == "+":
            return a + b
        if op == "-":
            return a - b
        if op == "*":
            return a * b
        if op in ("/", "%"):
            whole = self.nonneg(a) and self.nonneg(b)
            if op == "/":
                return floordiv(a, b) if whole else tdiv(a, b)
            return mod(a, b) if whole else tmod(a, b)
        if op in ("<<", ">>") and b.value is not None and 0 <= b.value < 64:
            return a * (1 << b.value) if op == "<<" else floordiv(a, 1 << b.value)
        return None

    def _as_expr(self, v: Value, type_: str) -> Expr | None:
        """The integer value as an operand of ``type_`` that is not only added and multiplied."""
        v = self.settle(self.as_integer(v))
        if v.expr is None:
            return None
        return self.settle(replace(v, type=type_)).expr

    def _bitwise(self, op: str, a: Value, b: Value, out: Value) -> Value:
        if a.cond is not None and b.cond is not None and op != "^":
            cond = a.cond & b.cond if op == "&" else a.cond | b.cond
            return replace(out, cond=cond)
        ea, eb = self._as_expr(a, out.type), self._as_expr(b, out.type)
        if op == "&" and ea is not None and eb is not None:
            for x, m in ((ea, eb.value), (eb, ea.value)):
                if m is not None and m >= 0 and m & (m + 1) == 0:
                    return replace(out, expr=mod(x, m + 1))  # also right for two's complement below zero
        return out

    def compare(self, op: str, a: Value, b: Value, name: str) -> Value:
        """``a op b``; ``name`` stands for it where it can't be expressed."""
        out = merged("bool", a, b)
        if op in ("==", "!=") and (flag := _flag_test(op, a, b)) is not None:
            return replace(out, cond=flag)
        type_ = common_type(a.type, b.type)
        if type_ in INTEGERS:
            ea, eb = self._as_expr(a, type_), self._as_expr(b, type_)
            if ea is not None and eb is not None:
                return replace(out, cond=compare(op, ea, eb))
        elif (pair := self.same_unit(a, b)) is not None:
            return replace(out, cond=compare(op, *pair))
        return replace(out, cond=Cond("opaque", name=name))

    def same_unit(self, a: Value, b: Value) -> tuple[Expr, Expr] | None:
        """Integers in the ratio of two tracked floats."""
        ra, rb = real_of(a), real_of(b)
        if ra is None or rb is None or not (self.nonneg(ra[1] - 1) and self.nonneg(rb[1] - 1)):
            return None
        return ra[0] * rb[1], rb[0] * ra[1]

    def as_integer(self, v: Value) -> Value:
        """Give a condition its value 0 or 1."""
        if v.expr is None and v.cond is not None and not v.cond.has_opaque():
            return replace(v, expr=where(v.cond, 1, 0))
        return v

    def truth(self, v: Value, name: str) -> Cond:
        if v.cond is not None:
            return v.cond
        v = self.settle(v)
        if v.expr is not None:
            return ~Cond.of("eq", v.expr)
        return Cond("opaque", name=name)

    def convert(self, v: Value, type_: str) -> Value:
        """``static_cast<type_>(v)``."""
        if type_ == v.type or type_ == "auto":
            return v
        if type_ == "bool":
            cond = v.cond if v.cond is not None or v.expr is None else ~Cond.of("eq", v.expr)
            return replace(v, type=type_, expr=None, real=None, cond=cond)
        if type_ in INTEGERS:
            if v.type not in INTEGERS:
                return replace(v, type=type_, real=None, expr=self._truncate(v), cond=None)
            v = self.settle(self.as_integer(v))
            return replace(v, type=type_, expr=self._narrow(v.expr, type_))
        if v.type in INTEGERS:
            e = self.settle(self.as_integer(v)).expr
            v = replace(v, real=None if e is None else (e, const(1)))
        return replace(v, type=type_, expr=None, cond=None)

    def _narrow(self, e: Expr | None, type_: str) -> Expr | None:
        bits, signed = INTEGERS[type_]
        if e is None or bits >= 32:
            return e
        low = -(1 << (bits - 1)) if signed else 0
        if self.nonneg(e - low) and self.nonneg(low + (1 << bits) - 1 - e):
            return e
        return mod(e - low, 1 << bits) + low

    def _truncate(self, v: Value) -> Expr | None:
        if v.real is None:
            return None
        num, den = v.real
        if not self.nonneg(den - 1):
            return None
        return floordiv(num, den) if self.nonneg(num) else tdiv(num, den)

    def select(self, cond: Cond, a: Value, b: Value, type_: str) -> Value:
        """``cond ? a : b``, both of ``type_`` already."""
        out = merged(type_, replace(a, live=under(a.live, cond)), replace(b, live=under(b.live, ~cond)))
        if a.cond is not None and b.cond is not None:
            return replace(out, cond=(cond & a.cond) | (~cond & b.cond))
        if cond.has_opaque():
            return out if a.expr is None or a.expr != b.expr else replace(out, expr=a.expr)
        a, b = self.settle(self.as_integer(a)), self.settle(self.as_integer(b))
        if a.expr is not None and b.expr is not None:
            return replace(out, expr=where(cond, a.expr, b.expr))
        return out


def real_of(v: Value) -> tuple[Expr, Expr] | None:
    if v.real is not None:
        return v.real
    return None if v.expr is None else (v.expr, const(1))


def literal(text: str) -> Value:
    """A float literal; decimals the generator rounds (0.0009765625, 0.49206...) are exact fractions."""
    try:
        f = Fraction(text.rstrip("fFhH"))
    except ValueError:
        return Value("float")
    return Value("float", real=(const(f.numerator), const(f.denominator)))


def _real(op: str, a: Value, b: Value) -> tuple[Expr, Expr] | None:
    ra, rb = real_of(a), real_of(b)
    if ra is None or rb is None:
        return None
    (na, da), (nb, db) = ra, rb
    if op == "*":
        return na * nb, da * db
    if op == "/":
        return (na * db, da * nb) if nb.value is None or nb.value > 0 else None
    if da == db:
        return na + nb if op == "+" else na - nb, da
    return (na * db + nb * da if op == "+" else na * db - nb * da), da * db


def _flag_test(op: str, a: Value, b: Value) -> Cond | None:
    """``flag == 0`` and the like."""
    for flag, other in ((a, b), (b, a)):
        value = None if other.expr is None else other.expr.value
        if flag.cond is not None and flag.expr is None and value in (0, 1):
            return flag.cond if (op == "==") == (value == 1) else ~flag.cond
    return None
