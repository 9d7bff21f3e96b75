"""Expressions of a C++ kernel: from syntax nodes to values."""

from __future__ import annotations

import re
from collections.abc import Callable

from ...cxx.nodes import Node
from ...model.dtypes import from_cxx, itemsize
from ...model.kernel import Narrow
from ...model.record import replace
from ...symbolic import Cond, Expr, const, exact_div, maximum, sym, where
from .. import reals as real
from ..interpret import integers
from ..interpret.integers import BOOL, INT64, IntType, int_type
from ..reals import Real
from .pointers import Pointers
from .record import Recorder
from .scope import Guard, Scope
from .values import (
    ANY_TYPE,
    LANE,
    UNKNOWN,
    Address,
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
    int_compare,
    int_extreme,
    is_integer,
    literal_type,
    operand,
    template_words,
    type_of,
)

_COMPARISONS = frozenset(("<", "<=", ">", ">=", "==", "!="))
_NOWHERE = Node("null", None, [], 0, 0)
_POINTER = re.compile(r"\*\s*(?:const|restrict|__restrict|__restrict__)?\s*&?\s*\Z")
_VECTOR_OF = re.compile(r"Vectorized\w*\s*<\s*([\w:]+)")
_SAME = re.compile(r"decltype|\b(?:Vectorized\w*|VecMask|Vec|vec_t|auto|Welford|IndexValue\w*|complex)\b")


class Evaluator(Recorder):
    """Evaluates expressions; loads, stores and calls are noted on the way."""

    def value(self, node: Node) -> Value:
        outer, self._open = self._open, Pointers()
        try:
            v = _VALUES.get(node.kind, Evaluator._other)(self, node)
            if self._open.operands:
                for p in self._open.left(v):
                    self.lose(p, node)
        finally:
            self._open = outer
        if isinstance(v, (Ptr, Local, Closure, Address)):
            outer.operands.append(v)
        return v

    def lose(self, v: Value, node: Node, why: str = "") -> None:
        """A pointer went where it is not followed: whatever it reaches may be touched, in any way."""
        why = why or f"what {self.text(node)[:80]} does with the pointer is not understood"
        if isinstance(v, Closure):
            self._lose_lambda(v, why)
        elif isinstance(v, Address):
            self._changed_elsewhere(v.scope, v.name)
        elif isinstance(v, Local) or (isinstance(v, Ptr) and isinstance(v.base, Local)):
            array = v if isinstance(v, Local) else v.base
            assert isinstance(array, Local)
            array.content, array.escaped = None, True
        elif isinstance(v, Ptr):
            self.record(v, "load", node, reason=why)
            param = self.params.get(v.base) if isinstance(v.base, str) else None
            if param is None or not param.readonly:
                self.record(v, "store", node, reason=why)

    def _lose_lambda(self, f: Closure, why: str) -> None:
        """A lambda that anyone may call: what it mentions may be touched, what it names may change."""
        if f.node.start in self.entered:
            return
        self.entered.add(f.node.start)
        todo = [f.node]
        while todo:
            n = todo.pop()
            todo.extend(n.kids)
            if n.kind != "name":
                continue
            self.seen.add(n.start)
            found = f.scope.resolve(n.value)
            if found is None:
                continue
            old = found[0].names[found[1]]
            if isinstance(old, (Ptr, Local, Closure, Address)):
                self.lose(old, n, why)
            else:
                self._changed_elsewhere(*found)

    def _changed_elsewhere(self, scope: Scope, name: str) -> None:
        """A variable that code which is not followed may assign."""
        old = scope.names[name]
        if isinstance(old, Int):
            scope.names[name] = Int(self.fresh(old.type.name, self.deps_of(old), label=name), old.type)
        elif isinstance(old, Ptr):
            self.lose(old, _NOWHERE, f"{name} is known to code that is not followed")
            scope.names[name] = replace(old, offset=self.computed(None, frozenset()))
        elif not isinstance(old, (Ptr, Local, Closure, Address)):
            scope.names[name] = Opaque(self.deps_of(old))

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
        return Int(const(node.value), literal_type(self.source.text[node.start : node.end], node.value))

    def _float(self, node: Node) -> Value:
        text = node.value.rstrip("fFlL")
        try:
            return real.constant(float(text), double=text == node.value) or UNKNOWN
        except ValueError:
            return UNKNOWN

    def _str(self, node: Node) -> Value:
        return UNKNOWN

    def _name(self, node: Node) -> Value:
        self.seen.add(node.start)
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
        self.written[node.start] = node
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
        if op == "*" and isinstance(v, Address):
            self._open.account(v)
            return v.scope.names[v.name]
        if op == "*":
            return self.load(v, node) if isinstance(v, Ptr) else v
        if op in ("!", "~") and (isinstance(v, Flag) or op == "!"):
            return Flag(~self.cond(v, node.kids[0]))
        if op == "-" and isinstance(v, Real):
            return real.negate(v)
        if not isinstance(v, (Int, Flag)) or op not in ("-", "+", "~"):
            return self.mixture([v])
        if isinstance(v, Int) and v.type == INT64:
            return Int(-v.expr if op == "-" else v.expr if op == "+" else -v.expr - 1)
        known = self.knowledge(v)
        a = operand(v)
        a = integers.cast(a, integers.promoted(a.type, a.type), known)
        made = integers.negate(a, known) if op == "-" else integers.invert(a, known) if op == "~" else a
        return self.settled(made, known, node)

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
        if isinstance(a, (Int, Flag)) and isinstance(b, (Int, Flag)):
            return self._integers(op, a, b, node)
        r, s = as_real(a), as_real(b)
        if r is not None and s is not None:
            return self._reals(op, r, s, node)
        if op in _COMPARISONS:
            return Flag(self.unknown_cond(node, self.deps_of(a) | self.deps_of(b)))
        if op in ("&", "|", "^") and (isinstance(a, Flag) or isinstance(b, Flag)):
            logic = bool_binary(op, self.cond(a, node.kids[0]), self.cond(b, node.kids[1]))
            return Flag(logic) if logic is not None else self.mixture([a, b])
        return self.mixture([a, b])

    def _integers(self, op: str, x: Int | Flag, y: Int | Flag, node: Node) -> Value:
        p, q = (v.type if isinstance(v, Int) else BOOL for v in (x, y))
        type_ = integers.promoted(p, p if op in ("<<", ">>") else q)
        if type_ != INT64:
            return self._typed(op, x, y, type_, node)
        a, b = (v.expr if isinstance(v, Int) else where(v.cond, 1, 0) for v in (x, y))
        if op in _COMPARISONS:
            return Flag(int_compare(op, a, b))
        if op == "%" and any(a == sym(v.name) and v.extent in (b, maximum(b, 0)) for v in self.vars):
            return Int(a)  # a loop variable below its own extent
        below_zero = b.value is not None and b.value < 0
        e = int_binary(op, a, b, op not in ("/", "%") or (self.nonneg(a) and not below_zero))
        if e is not None:
            return Int(e)
        deps = self.deps_of(Int(a)) | self.deps_of(Int(b))
        top = b.value if op == "&" and b.value is not None and b.value > 0 else None
        return Int(self.fresh(None, deps, varying=LANE in deps, lo=None if top is None else 0, hi=top))

    def _typed(self, op: str, x: Int | Flag, y: Int | Flag, type_: IntType, node: Node) -> Value:
        """An operation in another type than that of indices: it wraps at its own width."""
        known = self.knowledge(x, y)
        if op in _COMPARISONS:
            plain = as_int(x), as_int(y)
            if type_.signed and plain[0] is not None and plain[1] is not None:
                return Flag(int_compare(op, plain[0], plain[1]))
            a, b = (self.settled(integers.cast(operand(v), type_, known), known, node) for v in (x, y))
            return Flag(int_compare(op, a.expr, b.expr))
        if op not in ("+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^"):
            return self.mixture([x, y])
        return self.settled(integers.binary(op, operand(x), operand(y), type_, known), known, node)

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
            return self.advanced(a, offset if op == "+" else -offset)
        if op in _COMPARISONS:  # of addresses: nothing is touched
            self._open.account(a, b)
            return Flag(self.unknown_cond(node, frozenset()))
        return self.mixture([a, b])

    def _cond(self, node: Node) -> Value:
        c = self.cond(self.value(node.kids[0]), node.kids[0])
        if c.kind == "const":
            self.never(node.kids[2 if c.truth else 1])
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
            type_ = _common_type(a, b)
            return Int(self.one_of(c, x, y) if c.has_opaque() else where(c, x, y), type_)
        r, s = as_real(a), as_real(b)
        if r is not None and s is not None:
            return (None if c.has_opaque() else real.select(c, r, s)) or self.mixture([Flag(c), a, b])
        if isinstance(a, Ptr) and isinstance(b, Ptr) and a.base is b.base:
            offsets = self.select(c, Int(a.offset), Int(b.offset))
            if a.dtype == b.dtype:
                return replace(a, offset=self.integer(offsets))
        if isinstance(a, (Local, Closure)) and a is b:
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
            return self.load(self.advanced(base, e), node)
        if isinstance(base, Address) and e == 0:
            self._open.account(base)
            return base.scope.names[base.name]
        if isinstance(base, Local):
            self.record(Ptr(base, e), "load", node, text=node.kids[1])
            return self.element(base, e)
        return self.at_lane(base, e)

    def element(self, array: Local, number: Expr) -> Value:
        """An element of a local array."""
        self._open.account(array)
        if array.content is not None:
            return self.at_lane(array.content, number)
        deps = (array.deps - {LANE}) | self.deps_of(Int(number))
        return self.typed(array.dtype, deps)

    def typed(self, dtype: str | None, deps: frozenset[str]) -> Value:
        """A value of a type that comes from memory."""
        if not is_integer(dtype):
            return Opaque(deps)
        e = self.fresh(dtype, deps, varying=LANE in deps)
        return Flag(Cond.of("ne", e)) if dtype == "bool" else Int(e, int_type(dtype or "") or INT64)

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
        for e, bits in real.large(v, self.extents()):
            if not self.from_memory(e):
                n = Narrow(
                    str(e).replace(LANE, "its lane"), e, bits, True, vars=tuple(self.vars), rounds=True
                )
                self.assumed[n] = None
        if mode == "trunc" and self.nonneg(v.num):
            found = real.whole(v, "floor", self.extents())
            return found if isinstance(found, Expr) else self.bounded(maximum(0, found[0]), found[1])
        found = real.whole(v, mode, self.extents())
        return found if isinstance(found, Expr) else self.bounded(*found)

    def convert(self, v: Value, type_text: str) -> Value:
        """The value converted to a type given as text; unknown types leave it as it is."""
        if _SAME.search(type_text):
            return self._lanes_as(v, type_text)
        if _POINTER.search(type_text):
            return self.recast(v, from_cxx(type_text))
        dtype = from_cxx(type_text)
        if isinstance(v, Ptr) and (dtype is not None or "ptr" in type_text):  # an address as a number
            return self.mixture([v])
        if dtype is None or isinstance(v, (Ptr, Local, Closure)):
            return v
        if dtype == "bool":
            return Flag(self._truth(v))
        type_ = type_of(type_text)
        if type_ is not None:
            return self.as_type(v, type_)
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

    def recast(self, v: Value, dtype: str | None) -> Value:
        """A pointer as one to another element type."""
        if isinstance(v, Local):
            v = Ptr(v, const(0))
        if isinstance(v, (Address, Closure)):
            return v
        if not isinstance(v, Ptr):
            return Ptr(Local("?", dtype, wild=True), const(0))
        own = self.element_type(v.base)
        if dtype == own or (dtype and own and itemsize(dtype) == itemsize(own) and v.dtype is None):
            return v if v.dtype is None else self._as_own(v)
        if dtype is None or own is None or isinstance(v.base, Local) or v.dtype is not None:
            return v if dtype is None and not isinstance(v.base, Local) else replace(v, dtype=ANY_TYPE)
        if itemsize(dtype) < itemsize(own):
            return replace(v, offset=v.offset * (itemsize(own) // itemsize(dtype)), dtype=dtype)
        return replace(v, dtype=dtype)

    def _as_own(self, v: Ptr) -> Ptr:
        """Back to the memory's own element type."""
        own, dtype = self.element_type(v.base), v.dtype
        if own is None or dtype is None or dtype == ANY_TYPE:
            return v
        if itemsize(dtype) > itemsize(own):
            return replace(v, dtype=None)
        found = exact_div(v.offset, const(itemsize(own) // itemsize(dtype)))
        return replace(v, dtype=ANY_TYPE) if found is None else replace(v, offset=found, dtype=None)

    def element_type(self, base: str | Local) -> str | None:
        if isinstance(base, Local):
            return base.dtype
        return self.params[base].dtype if base in self.params else None

    def advanced(self, p: Ptr, by: Expr) -> Ptr:
        """``p + by``: steps of a wider type are several elements of the memory."""
        own = self.element_type(p.base)
        if p.dtype in (None, ANY_TYPE) or own is None:
            return replace(p, offset=p.offset + by)
        assert p.dtype is not None
        return replace(p, offset=p.offset + by * max(itemsize(p.dtype) // itemsize(own), 1))

    def as_type(self, v: Value, type_: IntType) -> Int:
        """Conversion to an integer type: the low bits."""
        if isinstance(v, Int) and v.type == type_:
            return v
        if not isinstance(v, (Int, Flag)):
            return Int(self.integer(v, type_.name), type_)
        known = self.knowledge(v)
        return self.settled(integers.cast(operand(v), type_, known), known, _NOWHERE)

    def _lanes_as(self, v: Value, type_text: str) -> Value:
        """``Vectorized<T>(x)``: every lane is a T."""
        if not isinstance(v, Int):
            return v
        m = _VECTOR_OF.search(type_text)
        type_ = type_of(m.group(1)) if m else None
        return v if type_ is None else self.as_type(v, type_)

    def extreme(self, name: str, a: Value, b: Value) -> Value:
        """``min`` or ``max``; NaN can't come from an index."""
        x, y = as_int(a), as_int(b)
        if x is not None and y is not None:
            return Int(int_extreme(name, x, y), _common_type(a, b))
        r, s = as_real(a), as_real(b)
        return real.extreme(name, r, s) if r is not None and s is not None else self.mixture([a, b])

    def magnitude(self, v: Value) -> Value:
        e = as_int(v)
        if isinstance(v, Int) and v.type != INT64:
            known = self.knowledge(v)
            return self.settled(integers.absolute(operand(v), known), known, _NOWHERE)
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
            return self.advanced(base, offset) if isinstance(base, Ptr) else UNKNOWN
        if node.kind == "name":
            v = self.value(node)
            found = self.scope.resolve(node.value)
            return Address(*found) if found and isinstance(v, (Int, Flag, Real, Opaque, Ptr)) else v
        return self.value(node)


_VALUES: dict[str, Callable[[Evaluator, Node], Value]] = {
    "int": Evaluator._int, "float": Evaluator._float, "str": Evaluator._str, "null": Evaluator._str,
    "name": Evaluator._name, "lambda": Evaluator._lambda, "cast": Evaluator._cast, "un": Evaluator._un,
    "bin": Evaluator._bin, "cond": Evaluator._cond, "index": Evaluator._index, "member": Evaluator._member,
    "assign": Evaluator._assign, "call": Evaluator._call, "method": Evaluator._call,
    "construct": Evaluator._call,
}  # fmt: skip


def _common_type(a: Value, b: Value) -> IntType:
    """What two integers are converted to when they meet; two of one type stay of it."""
    p, q = (v.type if isinstance(v, Int) else BOOL for v in (a, b))
    return p if p == q else integers.promoted(p, q)


def as_real(v: Value) -> Real | None:
    """A number in floating-point arithmetic; None when it is not followed."""
    if isinstance(v, Real):
        return v
    e = as_int(v)
    return real.from_int(e, double=False) if e is not None else None
