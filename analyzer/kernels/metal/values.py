"""Values of the Metal reader: what an expression is worth as an integer, a condition or an exact quotient.

Arithmetic follows C++: usual conversions, unsigned wrap-around where it can show, division towards zero.
Scalar parameters are sizes and taken to be non-negative.  Signed 32-bit arithmetic is taken not to overflow
(an access says how wide its index is computed).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ...model.record import field, record, replace
from ...symbolic import Cond, Expr, compare, const, floordiv, mod, opaque, tdiv, tmod, where
from ..reals import Real
from .floats import Reals

#: (bits, signed) of the integer types a kernel can name.
INTEGERS: dict[str, tuple[int, bool]] = {
    "bool": (1, False), "char": (8, True), "uchar": (8, False), "short": (16, True), "ushort": (16, False),
    "int": (32, True), "uint": (32, False), "long": (64, True), "ulong": (64, False),
    "int8_t": (8, True), "uint8_t": (8, False), "int16_t": (16, True), "uint16_t": (16, False),
    "int32_t": (32, True), "uint32_t": (32, False), "int64_t": (64, True), "uint64_t": (64, False),
    "size_t": (64, False),
}  # fmt: skip

_NO_LOADS: Mapping[int, Cond] = MappingProxyType({})
#: A dependency that stands for "not known".
ANYTHING = "*"


@record(frozen=True)
class Value:
    """A value: its C type, and whatever is known of it.

    ``expr``: the integer. ``cond``: the truth of a boolean. ``real``: a float computed from integers.
    ``base``: the pointer parameter it points into, ``expr`` elements from the start.
    ``deps``: iteration variables it can depend on. ``live``: loads (by number) that it uses, with the
    condition under which their value matters.  ``loaded``: it is as it was read from memory.
    """

    type: str
    expr: Expr | None = None
    cond: Cond | None = None
    real: Real | None = None
    base: str | None = None
    deps: frozenset[str] = frozenset()
    live: Mapping[int, Cond] = field(default_factory=lambda: _NO_LOADS)
    loaded: bool = False


def integer(value: int, type_: str = "int") -> Value:
    return Value(type_, const(value))


def merged(
    type_: str,
    *parts: Value,
    expr: Expr | None = None,
    cond: Cond | None = None,
    real: Real | None = None,
    base: str | None = None,
) -> Value:
    """A value made of others; what is known of it besides."""
    deps: frozenset[str] = frozenset()
    live = _NO_LOADS
    for p in parts:
        if not p.deps <= deps:
            deps = deps | p.deps
        if p.live:
            live = union(live, p.live) if live else p.live
    return Value(type_, expr, cond, real, base, deps, live)


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

    def __init__(self, reals: Reals) -> None:
        self.reals = reals

    def nonneg(self, e: Expr) -> bool:
        return self.reals.ranges.nonneg(e) is True

    def settle(self, v: Value) -> Value:
        """The value an unsigned integer really has: below zero it has wrapped around."""
        bits, signed = INTEGERS.get(v.type, (64, True))
        if v.expr is None or signed or bits < 32 or self.nonneg(v.expr):
            return v
        return replace(v, expr=mod(v.expr, 1 << bits))

    def binary(self, op: str, a: Value, b: Value) -> Value:
        type_ = common_type(a.type, b.type)
        if type_ not in INTEGERS:
            ra, rb = self.real(a), self.real(b)
            if ra is None or rb is None or op not in ("+", "-", "*", "/"):
                return merged(type_, a, b)
            return merged(type_, a, b, real=self.reals.binary(op, ra, rb))
        if op in ("&", "|", "^"):
            return self._bitwise(op, a, b, type_)
        ring = op in ("+", "-", "*")  # whose results wrap around all the same
        ea, eb = (self._as_expr(v, type_, ring) for v in (a, b))
        if ea is None or eb is None:
            return merged(type_, a, b)
        return merged(type_, a, b, expr=self._integer(op, ea, eb))

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

    def _as_expr(self, v: Value, type_: str, ring: bool = False) -> Expr | None:
        """The integer value as an operand of ``type_``; up to multiples of its range for ``ring``."""
        v = self.as_integer(v)
        if not ring or INTEGERS[v.type][0] < INTEGERS[type_][0]:
            v = self.settle(v)
        if ring or v.expr is None or v.type == type_:
            return v.expr
        return self.settle(replace(v, type=type_)).expr

    def _bitwise(self, op: str, a: Value, b: Value, type_: str) -> Value:
        if a.cond is not None and b.cond is not None and op != "^":
            return merged(type_, a, b, cond=a.cond & b.cond if op == "&" else a.cond | b.cond)
        ea, eb = self._as_expr(a, type_), self._as_expr(b, type_)
        if op == "&" and ea is not None and eb is not None:
            for x, m in ((ea, eb.value), (eb, ea.value)):
                if m is not None and m >= 0 and m & (m + 1) == 0:
                    # also right for two's complement below zero
                    return merged(type_, a, b, expr=mod(x, m + 1))
        return merged(type_, a, b)

    def compare(self, op: str, a: Value, b: Value, name: str) -> Value:
        """``a op b``; ``name`` stands for it where it can't be expressed."""
        cond = _flag_test(op, a, b) if op in ("==", "!=") else None
        if cond is None:
            cond = self._comparison(op, a, b)
        return merged("bool", a, b, cond=cond if cond is not None else opaque(name))

    def _comparison(self, op: str, a: Value, b: Value) -> Cond | None:
        type_ = common_type(a.type, b.type)
        if type_ in INTEGERS:
            ea, eb = self._as_expr(a, type_), self._as_expr(b, type_)
            return None if ea is None or eb is None else compare(op, ea, eb)
        ra, rb = self.real(a), self.real(b)
        return None if ra is None or rb is None else self.reals.compare(op, ra, rb)

    def real(self, v: Value) -> Real | None:
        """The value as a float."""
        if v.type in INTEGERS:
            e = self.settle(self.as_integer(v)).expr
            return None if e is None else self.reals.of_integer(e)
        return v.real

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
                whole = None if v.real is None else self.reals.whole(v.real, "trunc")
                return replace(v, type=type_, real=None, expr=whole, cond=None)
            v = self.as_integer(v)
            if INTEGERS[type_][0] > INTEGERS[v.type][0]:
                v = self.settle(v)
            return replace(v, type=type_, expr=self._narrow(v.expr, type_))
        return replace(v, type=type_, expr=None, cond=None, real=self.real(v) if type_ == "float" else None)

    def _narrow(self, e: Expr | None, type_: str) -> Expr | None:
        bits, signed = INTEGERS[type_]
        if e is None or bits >= 32:
            return e
        low = -(1 << (bits - 1)) if signed else 0
        if self.nonneg(e - low) and self.nonneg(low + (1 << bits) - 1 - e):
            return e
        return mod(e - low, 1 << bits) + low

    def select(self, cond: Cond, a: Value, b: Value, type_: str) -> Value:
        """``cond ? a : b``, both of ``type_`` already."""
        parts = replace(a, live=under(a.live, cond)), replace(b, live=under(b.live, ~cond))
        if a.cond is not None and b.cond is not None:
            return merged(type_, *parts, cond=(cond & a.cond) | (~cond & b.cond))
        if cond.has_opaque():
            return merged(type_, *parts, expr=a.expr if a.expr == b.expr else None)
        if a.real is not None and b.real is not None:
            return merged(type_, *parts, real=self.reals.select(cond, a.real, b.real))
        ea, eb = self.settle(self.as_integer(a)).expr, self.settle(self.as_integer(b)).expr
        return merged(type_, *parts, expr=None if ea is None or eb is None else where(cond, ea, eb))


def _flag_test(op: str, a: Value, b: Value) -> Cond | None:
    """``flag == 0`` and the like."""
    for flag, other in ((a, b), (b, a)):
        value = None if other.expr is None else other.expr.value
        if flag.cond is not None and flag.expr is None and value in (0, 1):
            return flag.cond if (op == "==") == (value == 1) else ~flag.cond
    return None
