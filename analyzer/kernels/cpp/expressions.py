"""Expressions of a C++ kernel: from syntax nodes to values."""

from __future__ import annotations

import re
from collections.abc import Callable

from ...cxx.nodes import Node
from ...model.dtypes import from_cxx
from ...symbolic import Cond, Expr, const, maximum, sym, where
from .. import reals as real
from ..reals import Real
from .record import Recorder
from .scope import Guard
from .values import (
    LANE,
    UNKNOWN,
    Closure,
    Flag,
    Int,
    Local,
    Opaque,
    Ptr,
    Value,
    absolute,
    as_int,
    bool_binary,
    int_binary,
    int_bounds,
    int_compare,
    int_extreme,
    is_integer,
    template_words,
)

_COMPARISONS = frozenset(("<", "<=", ">", ">=", "==", "!="))
_SAME = re.compile(r"decltype|\b(?:Vectorized\w*|VecMask|Vec|vec_t|auto|Welford|IndexValue\w*|complex)\b")


class Evaluator(Recorder):
    """Evaluates expressions; loads, stores and calls are noted on the way."""

    def value(self, node: Node) -> Value:
        return _VALUES.get(node.kind, Evaluator._other)(self, node)

    def load(self, ptr: Ptr, node: Node) -> Value:
        raise NotImplementedError

    def call(self, node: Node) -> Value:
        raise NotImplementedError

    def assign(self, node: Node) -> Value:
        raise NotImplementedError

    # -- leaves
    def _int(self, node: Node) -> Value:
        if node.type == "bool":
            return Flag(Cond("const", truth=bool(node.value)))
        return Int(const(node.value))

    def _float(self, node: Node) -> Value:
        text = node.value.rstrip("fFlL")
        try:
            return real.constant(float(text), double=text == node.value) or UNKNOWN
        except ValueError:
            return UNKNOWN

    def _str(self, node: Node) -> Value:
        return UNKNOWN

    def _name(self, node: Node) -> Value:
        found = self.scope.get(node.value)
        if found is None and node.value in ("is_reduced_floating_point_v", "is_same_v"):
            found = self._type_trait(node)
        return found or UNKNOWN

    def _type_trait(self, node: Node) -> Value | None:
        """``is_same_v<A, B>`` or ``is_reduced_floating_point_v<A>`` of element types."""
        types = [from_cxx(self.aliases.get(w.strip(), w)) for w in template_words(self.text(node))]
        if not types or None in types:
            return None
        if node.value == "is_same_v":
            return Flag(Cond("const", truth=types[0] == types[-1]))
        return Flag(Cond("const", truth=types[0] in ("bfloat16", "float16")))

    def _lambda(self, node: Node) -> Value:
        return Closure(node, self.scope)

    def _other(self, node: Node) -> Value:
        """Something libclang gave no meaning to: its operands are evaluated, the result is not known."""
        return self.mixture([self.value(k) for k in node.kids])

    # -- operators
    def _cast(self, node: Node) -> Value:
        return self.convert(self.value(node.kids[0]), node.value)

    def _un(self, node: Node) -> Value:
        op = node.value
        if op == "&":
            return self.address(node.kids[0])
        if op in ("++", "--", "post++", "post--"):
            return self.assign(node)
        v = self.value(node.kids[0])
        if op == "*":
            return self.load(v, node) if isinstance(v, Ptr) else v
        if op in ("!", "~") and (isinstance(v, Flag) or op == "!"):
            return Flag(~self.cond(v, node.kids[0]))
        if op == "-" and isinstance(v, Real):
            return real.negate(v)
        e = as_int(v)
        if e is None or op not in ("-", "+", "~"):
            return self.mixture([v])
        return Int(-e if op == "-" else e if op == "+" else -e - 1)

    def _bin(self, node: Node) -> Value:
        op = node.value
        left = self.value(node.kids[0])
        if op in ("&&", "||"):
            c = self.cond(left, node.kids[0])
            with self.given(Guard(c if op == "&&" else ~c)):
                right = self.value(node.kids[1])
            d = self.cond(right, node.kids[1])
            return Flag(c & d if op == "&&" else c | d)
        return self.binary(op, left, self.value(node.kids[1]), node)

    def binary(self, op: str, a: Value, b: Value, node: Node) -> Value:
        if isinstance(a, Flag) and isinstance(b, Flag):
            c = bool_binary(op, a.cond, b.cond)
            if c is not None:
                return Flag(c)
        if isinstance(a, Ptr) or isinstance(b, Ptr):
            return self._pointer(op, a, b, node)
        x, y = as_int(a), as_int(b)
        if x is not None and y is not None:
            return self._integers(op, x, y)
        r, s = as_real(a), as_real(b)
        if r is not None and s is not None:
            return self._reals(op, r, s, node)
        if op in _COMPARISONS:
            return Flag(self.unknown_cond(node, self.deps_of(a) | self.deps_of(b)))
        if op in ("&", "|", "^") and (isinstance(a, Flag) or isinstance(b, Flag)):
            logic = bool_binary(op, self.cond(a, node.kids[0]), self.cond(b, node.kids[1]))
            return Flag(logic) if logic is not None else self.mixture([a, b])
        return self.mixture([a, b])

    def _integers(self, op: str, a: Expr, b: Expr) -> Value:
        if op in _COMPARISONS:
            return Flag(int_compare(op, a, b))
        if op == "%" and any(a == sym(v.name) and v.extent in (b, maximum(b, 0)) for v in self.vars):
            return Int(a)  # a loop variable below its own extent
        e = int_binary(op, a, b, op not in ("/", "%") or self.nonneg(a))
        if e is not None:
            return Int(e)
        deps = self.deps_of(Int(a)) | self.deps_of(Int(b))
        top = b.value if op == "&" and b.value is not None and b.value > 0 else None
        return Int(self.fresh(None, deps, varying=LANE in deps, lo=None if top is None else 0, hi=top))

    def _reals(self, op: str, a: Real, b: Real, node: Node) -> Value:
        if op in _COMPARISONS:
            c = real.compared(op, a, b)
            return Flag(c if c is not None else self.unknown_cond(node, self.deps_of(a) | self.deps_of(b)))
        return real.binary(op, a, b, lambda e: self.nonneg(e - 1)) or self.mixture([a, b])

    def _pointer(self, op: str, a: Value, b: Value, node: Node) -> Value:
        if op == "+" and isinstance(b, Ptr):
            a, b = b, a
        offset = self.integer(b) if not isinstance(b, Ptr) else None
        if isinstance(a, Ptr) and offset is not None and op in ("+", "-"):
            return Ptr(a.base, a.offset + offset if op == "+" else a.offset - offset)
        if op in _COMPARISONS:
            return Flag(self.unknown_cond(node, frozenset()))
        return self.mixture([a, b])

    def _cond(self, node: Node) -> Value:
        c = self.cond(self.value(node.kids[0]), node.kids[0])
        if c.kind == "const":
            return self.value(node.kids[1 if c.truth else 2])
        with self.given(Guard(c)):
            a = self.value(node.kids[1])
        with self.given(Guard(~c)):
            b = self.value(node.kids[2])
        return self.select(c, a, b)

    def select(self, c: Cond, a: Value, b: Value) -> Value:
        """``c ? a : b``."""
        if c.kind == "const":
            return a if c.truth else b
        if isinstance(a, Flag) and isinstance(b, Flag):
            return Flag((c & a.cond) | (~c & b.cond))
        x, y = as_int(a), as_int(b)
        if x is not None and y is not None:
            return Int(self.one_of(c, x, y) if c.has_opaque() else where(c, x, y))
        r, s = as_real(a), as_real(b)
        if r is not None and s is not None:
            return (None if c.has_opaque() else real.select(c, r, s)) or self.mixture([Flag(c), a, b])
        if isinstance(a, Ptr) and isinstance(b, Ptr) and a.base is b.base:
            offsets = self.select(c, Int(a.offset), Int(b.offset))
            return Ptr(a.base, self.integer(offsets))
        if isinstance(a, (Local, Closure)):
            return a
        return self.mixture([Flag(c), a, b])

    def one_of(self, c: Cond, a: Expr, b: Expr) -> Expr:
        """One of two integers, chosen by data."""
        if a == b:
            return a
        return self.bounded(a, b, choice=True, deps=self.deps_of(Flag(c)))

    def _index(self, node: Node) -> Value:
        base = self.value(node.kids[0])
        number = self.value(node.kids[1])
        e = self.integer(number)
        if isinstance(base, Ptr):
            return self.load(Ptr(base.base, base.offset + e), node)
        if isinstance(base, Local):
            return self.element(base, e)
        return self.at_lane(base, e)

    def element(self, array: Local, number: Expr) -> Value:
        """An element of a local array."""
        if array.content is not None:
            return self.at_lane(array.content, number)
        deps = (array.deps - {LANE}) | self.deps_of(Int(number))
        return self.typed(array.dtype, deps)

    def typed(self, dtype: str | None, deps: frozenset[str]) -> Value:
        """A value of a type that comes from memory."""
        if not is_integer(dtype):
            return Opaque(deps)
        e = self.fresh(dtype, deps, varying=LANE in deps)
        return Flag(Cond.of("ne", e)) if dtype == "bool" else Int(e)

    def _assign(self, node: Node) -> Value:
        return self.assign(node)

    def _call(self, node: Node) -> Value:
        return self.call(node)

    def _member(self, node: Node) -> Value:
        v = self.mixture([self.value(k) for k in node.kids])
        if node.value == "index":  # of an arg-reduction
            return Int(self.fresh("int64", self.deps_of(v), varying=LANE in self.deps_of(v)))
        return v

    # -- conversions
    def mixture(self, values: list[Value]) -> Opaque:
        """A value that depends on others in a way that is not followed."""
        return Opaque(frozenset().union(*(self.deps_of(v) for v in values)))

    def cond(self, v: Value, node: Node) -> Cond:
        """A value used as a condition."""
        if isinstance(v, Flag):
            return v.cond
        if isinstance(v, Int):
            return int_compare("!=", v.expr, const(0))
        if isinstance(v, Real) and v.exact:
            return int_compare("!=", v.num, const(0))
        return self.unknown_cond(node, self.deps_of(v))

    def integer(self, v: Value, dtype: str | None = "int64") -> Expr:
        """A value used as an integer of a type."""
        e = as_int(v)
        if e is not None:
            return e
        if isinstance(v, Real):
            return self.whole(v, "trunc")
        return self.computed(dtype, self.deps_of(v))

    def whole(self, v: Real, mode: str) -> Expr:
        if mode == "trunc" and self.nonneg(v.num):
            found = real.whole(v, "floor", self.extents())
            return found if isinstance(found, Expr) else self.bounded(maximum(0, found[0]), found[1])
        found = real.whole(v, mode, self.extents())
        return found if isinstance(found, Expr) else self.bounded(*found)

    def convert(self, v: Value, type_text: str) -> Value:
        """The value converted to a type given as text; unknown types leave it as it is."""
        if _SAME.search(type_text):
            return v
        if type_text.rstrip().endswith("*"):
            return v if isinstance(v, Ptr) else Ptr(Local("?", from_cxx(type_text)), const(0))
        dtype = from_cxx(type_text)
        if dtype is None or isinstance(v, (Ptr, Local, Closure)):
            return v
        if dtype == "bool":
            return Flag(self._truth(v))
        if is_integer(dtype):
            return Int(self._narrow(self.integer(v, dtype), dtype))
        r = as_real(v)
        if r is None or dtype not in ("float32", "float64"):
            return self.mixture([v])
        return real.cast(r, dtype == "float64")

    def _truth(self, v: Value) -> Cond:
        e = as_int(v)
        if isinstance(v, Flag):
            return v.cond
        deps = self.deps_of(v)
        if e is None:
            e = self.fresh("bool", deps, varying=LANE in deps)
        return int_compare("!=", e, const(0))

    def _narrow(self, e: Expr, dtype: str) -> Expr:
        """Conversion to a type of 8 or 16 bits, which wraps; wider ones are taken to hold every index."""
        lo, hi = int_bounds(dtype)
        if ("8" not in dtype and "16" not in dtype) or lo is None or hi is None:
            return e
        low, high = self.interval(e)
        if low is not None and high is not None and lo <= low and high <= hi:
            return e
        deps = self.deps_of(Int(e))
        return self.fresh(dtype, deps, varying=LANE in deps)

    def extreme(self, name: str, a: Value, b: Value) -> Value:
        """``min`` or ``max``; NaN can't come from an index."""
        x, y = as_int(a), as_int(b)
        if x is not None and y is not None:
            return Int(int_extreme(name, x, y))
        r, s = as_real(a), as_real(b)
        return real.extreme(name, r, s) if r is not None and s is not None else self.mixture([a, b])

    def magnitude(self, v: Value) -> Value:
        e = as_int(v)
        if e is not None:
            return Int(absolute(e))
        return real.magnitude(v) if isinstance(v, Real) else self.mixture([v])

    def rounded(self, v: Value, mode: str) -> Value:
        """``floor`` and friends of a floating-point value."""
        if isinstance(v, Real):
            return real.from_int(self.whole(v, mode), v.double)
        return v if isinstance(v, Int) else self.mixture([v])

    def address(self, node: Node) -> Value:
        """``&x[i]`` (a pointer), or ``&x`` (the variable itself)."""
        if node.kind == "index":
            base = self.value(node.kids[0])
            offset = self.integer(self.value(node.kids[1]))
            if isinstance(base, Local):
                return Ptr(base, offset)
            return Ptr(base.base, base.offset + offset) if isinstance(base, Ptr) else UNKNOWN
        return self.value(node) if node.kind in ("name", "member") else UNKNOWN


_VALUES: dict[str, Callable[[Evaluator, Node], Value]] = {
    "int": Evaluator._int, "float": Evaluator._float, "str": Evaluator._str, "null": Evaluator._str,
    "name": Evaluator._name, "lambda": Evaluator._lambda, "cast": Evaluator._cast, "un": Evaluator._un,
    "bin": Evaluator._bin, "cond": Evaluator._cond, "index": Evaluator._index, "member": Evaluator._member,
    "assign": Evaluator._assign, "call": Evaluator._call, "method": Evaluator._call,
    "construct": Evaluator._call,
}  # fmt: skip


def as_real(v: Value) -> Real | None:
    """A number in floating-point arithmetic; None when it is not followed."""
    if isinstance(v, Real):
        return v
    e = as_int(v)
    return real.from_int(e, double=False) if e is not None else None
