"""Expressions of a Metal kernel: syntax nodes to values, loads on the way."""

from __future__ import annotations

import re
from collections.abc import Callable

from ...cxx.nodes import Node
from ...model.record import replace
from ...symbolic import TRUE, Cond, Expr, const, floordiv, maximum, minimum, mod
from ..reals import magnitude, negate
from .floats import Reals, literal
from .record import REDUCTION_INDEX, Record
from .values import INTEGERS, Arithmetic, Value, common_type, integer, merged

_DECLTYPE = re.compile(r"decltype\s*\((.*)\)\Z", re.S)
_TOKEN = re.compile(r"\d[\w.]*|[A-Za-z_]\w*")
_COMPARISONS = frozenset(("<", "<=", ">", ">=", "==", "!="))


class Expressions:
    """Evaluates nodes against a record."""

    def __init__(self, record: Record) -> None:
        self.r = record
        self.reals = Reals(record.ranges, record.noise)
        self.math = Arithmetic(self.reals)

    def value(self, node: Node) -> Value:
        handler = _HANDLERS.get(node.kind)
        return handler(self, node) if handler is not None else self._other(node)

    def index(self, node: Node) -> Value:
        """A value used as an integer: unsigned ones settled, unknown ones given a symbol."""
        v = self.math.settle(self.math.as_integer(self.value(node)))
        if v.expr is None and v.type in INTEGERS:
            return replace(v, expr=self.r.unknown(self.r.slice(node), v.type, v.loaded))
        return v

    def condition(self, node: Node) -> tuple[Cond, Value]:
        v = self.value(node)
        return self.math.truth(v, self._label(node)), v

    def named(self, name: str, v: Value) -> Value:
        """The value of a declared variable: unknown integers get a symbol with the variable's name."""
        if v.type in INTEGERS and v.expr is None and v.cond is None and v.base is None:
            e = self.r.unknown(name, v.type, v.loaded)
            return replace(v, expr=e)
        return v

    def type_of(self, text: str) -> str:
        """A target type as written; ``decltype(a+b)`` from the types of its operands."""
        text = text.strip()
        m = _DECLTYPE.match(text)
        if m is None:
            return text.removeprefix("const ").rsplit("::", 1)[-1]
        found = [t for token in _TOKEN.findall(m.group(1)) if (t := self._token_type(token))]
        if not found:
            return "float"
        out = found[0]
        for t in found[1:]:
            out = common_type(out, t)
        return out

    def _token_type(self, token: str) -> str | None:
        if token[0].isdigit():
            return "int" if token.isdigit() else "float"
        if token in INTEGERS or token in ("float", "half", "bfloat"):
            return token
        v = self.r.env.get(token)
        return v.type if v is not None else None

    def _label(self, node: Node) -> str:
        """A name for a condition that can't be expressed, unlike that of any other."""
        return f"{self.r.slice(node)} (line {self.r.loc(node).line})"

    # -- leaves
    def _integer(self, n: Node) -> Value:
        if n.type == "bool":
            return Value("bool", cond=~Cond.of("eq", const(n.value)))
        return integer(n.value, "int" if -(1 << 31) <= n.value < 1 << 31 else "long")

    def _float(self, n: Node) -> Value:
        return Value("float", real=literal(n.value))

    def _name(self, n: Node) -> Value:
        v = self.r.env.get(n.value)
        if v is None:
            return Value("")
        if n.value in self.r.shared:  # every thread of the group sees the same value
            return replace(v, deps=frozenset(d for d in v.deps if not REDUCTION_INDEX.match(d)))
        return v

    def _other(self, n: Node) -> Value:
        parts = [self.value(k) for k in n.kids]
        return self._opaque_use(n, "", parts)

    def _opaque_use(self, n: Node, type_: str, parts: list[Value]) -> Value:
        """Something this reader has no rule for: values flow through, pointers must not."""
        if any(p.base is not None for p in parts):
            self.r.give_up(n)
        return merged(type_, *parts)

    # -- operators
    def _binary(self, n: Node) -> Value:
        op = n.value
        if op in ("&&", "||"):
            return self._short_circuit(n)
        a, b = self.value(n.kids[0]), self.value(n.kids[1])
        if a.base is not None or b.base is not None:
            return self._pointer_arithmetic(n, a, b)
        if op in _COMPARISONS:
            return self.math.compare(op, a, b, self._label(n))
        if op == ",":
            return b
        return self.math.binary(op, a, b)

    def _short_circuit(self, n: Node) -> Value:
        cond, a = self.condition(n.kids[0])
        skip = cond if n.value == "&&" else ~cond
        other, b = self._under(skip, lambda: self.condition(n.kids[1]))
        return merged("bool", a, b, cond=cond & other if n.value == "&&" else cond | other)

    def _under(self, cond: Cond, run: Callable[[], tuple[Cond, Value]]) -> tuple[Cond, Value]:
        """Evaluate where ``cond`` holds."""
        saved = self.r.path
        self.r.path = saved & cond
        self.r.masks += 1
        out = run()
        self.r.path = saved
        self.r.masks -= 1
        return out

    def _pointer_arithmetic(self, n: Node, a: Value, b: Value) -> Value:
        pointer, offset = (a, b) if a.base is not None else (b, a)
        if offset.base is not None or n.value not in ("+", "-") or (n.value == "-" and pointer is b):
            return self._opaque_use(n, "", [a, b])
        offset = self.math.settle(self.math.as_integer(offset))
        type_ = offset.type if pointer.expr == 0 else "long"
        e = None
        if pointer.expr is not None and offset.expr is not None:
            e = pointer.expr + offset.expr if n.value == "+" else pointer.expr - offset.expr
        return merged(type_, a, b, base=pointer.base, expr=e)

    def _unary(self, n: Node) -> Value:
        if n.value == "*":
            return self._load(n)
        if n.value == "&" and n.kids and n.kids[0].kind in ("index", "un"):
            place = self.place(n.kids[0])
            if place is not None:
                return place
        v = self.value(n.kids[0])
        type_ = common_type(v.type, "int")
        e = self.math.as_integer(v).expr if v.type in INTEGERS else None
        if n.value == "-":
            real = None if v.real is None else negate(v.real)
            return merged(type_, v, expr=None if e is None else -e, real=real)
        if n.value == "!":
            return merged("bool", v, cond=~self.math.truth(v, self._label(n)))
        if n.value == "~":
            return merged(type_, v, expr=None if e is None else -e - 1)
        return v if n.value == "+" else self._opaque_use(n, v.type, [v])

    def _conditional(self, n: Node) -> Value:
        cond, c = self.condition(n.kids[0])
        _, a = self._under(cond, lambda: (cond, self.value(n.kids[1])))
        _, b = self._under(~cond, lambda: (cond, self.value(n.kids[2])))
        if a.base is not None or b.base is not None:
            return self._opaque_use(n, "", [c, a, b])
        return self.choose(cond, c, a, b, common_type(a.type, b.type) if a.type != b.type else a.type)

    def choose(self, cond: Cond, c: Value, a: Value, b: Value, type_: str) -> Value:
        """The value that is ``a`` where ``cond`` (the truth of ``c``) holds, else ``b``."""
        out = self.math.select(cond, self.math.convert(a, type_), self.math.convert(b, type_), type_)
        both = merged(type_, c, out)
        return replace(out, deps=both.deps, live=both.live)

    def _cast(self, n: Node) -> Value:
        target = n.value.strip()
        v = self.value(n.kids[0])
        if v.base is not None:
            # Atomics see their element under a wrapper type of the same size.
            return v if target.endswith("*") and "AtomicType" in target else self._opaque_use(n, "", [v])
        return self.math.convert(v, self.type_of(target))

    # -- memory
    def place(self, n: Node) -> Value | None:
        """Where an lvalue lies: a pointer value of the index's type, or None when it is no device memory."""
        if n.kind == "index":
            base = self.value(n.kids[0])
            if base.base is None:
                return None
            at = self.index(n.kids[1])
            e = None if base.expr is None or at.expr is None else base.expr + at.expr
            type_ = at.type if base.expr == 0 else "long"  # addresses are added in 64 bits
            return merged(type_, base, at, base=base.base, expr=e)
        if n.kind == "un" and n.value == "*":
            v = self.value(n.kids[0])
            return v if v.base is not None else None
        return None

    def _load(self, n: Node) -> Value:
        place = self.place(n)
        if place is None:
            parts = [self.value(k) for k in n.kids]  # an array of the kernel's own
            return merged(parts[0].type, *parts)
        index = n.kids[1] if n.kind == "index" else None
        number = self.r.access("load", place, n, index, None)
        assert place.base is not None
        v = Value(self.r.elements[place.base], deps=place.deps, loaded=True)
        return v if self.r.masks else replace(v, live={number: TRUE})

    def _member(self, n: Node) -> Value:
        if not n.kids:
            return Value("")
        base = n.kids[0]
        if base.kind == "name":
            v = self.r.env.get(f"{base.value}.{n.value}")
            if v is not None:
                return v
        v = self.value(base)
        return merged(re.sub(r"\d\Z", "", v.type), v)

    # -- calls
    def _call(self, n: Node) -> Value:
        name = str(n.value)
        if name == "simdgroup_barrier":
            self.r.barriers += 1  # threads of other SIMD groups are not told apart from those it orders
        if name.startswith("threadgroup_"):
            return self._group_call(name, n)
        if name == "atomic_add":
            return self._atomic(n)
        args = [self.value(k) for k in n.kids]
        if any(a.base is not None for a in args):
            return self._opaque_use(n, "", args)
        if name in ("min", "max", "floor_divide", "remainder", "safe_mod") and len(args) == 2:
            return self._integer_call(name, args[0], args[1])
        if name in ("abs", *_ROUNDINGS) and len(args) == 1:
            return self._rounding_call(name, args[0])
        return merged(self._result_type(name, n, args), *args)

    def _result_type(self, name: str, n: Node, args: list[Value]) -> str:
        if name in ("isnan", "isinf", "isfinite", "signbit", "replace", "any", "all"):
            return "bool"
        if name == "randint64":
            return "long"
        m = re.search(r"<\s*([\w:]+)\s*>", n.type)
        if m and name in ("as_type", "identity", "min", "max", "lowest", "infinity"):
            return self.type_of(m.group(1))
        if n.kind == "construct":
            found = re.match(r"[\w:]+", self.r.slice(n))
            return found.group().rsplit("::", 1)[-1] if found else ""
        types = [a.type for a in args if a.type]
        out = types[0] if types else "float"
        for t in types[1:]:
            out = common_type(out, t)
        return out

    def _integer_call(self, name: str, a: Value, b: Value) -> Value:
        type_ = common_type(a.type, b.type)
        if type_ not in INTEGERS:
            ra, rb = self.math.real(a), self.math.real(b)
            if ra is None or rb is None or name not in ("min", "max"):
                return merged(type_, a, b)
            return merged(type_, a, b, real=self.reals.extreme(name, ra, rb))
        ea, eb = (self.math.settle(self.math.as_integer(v)).expr for v in (a, b))
        if ea is None or eb is None:
            return merged(type_, a, b)
        return merged(type_, a, b, expr=_INTEGER_CALLS[name](ea, eb))

    def _rounding_call(self, name: str, v: Value) -> Value:
        if name == "abs" and v.expr is not None:
            e = v.expr
            return merged(v.type, v, expr=e if self.math.nonneg(e) else maximum(e, -e))
        if v.real is None:
            return merged(v.type, v)
        if name == "abs":
            return merged(v.type, v, real=magnitude(v.real))
        return merged(v.type, v, real=self.reals.of_integer(self.reals.whole(v.real, _ROUNDINGS[name])))

    def _group_call(self, name: str, n: Node) -> Value:
        """A reduction over the threads of a group: the same result for all of them."""
        args = [self.value(k) for k in n.kids]
        self.r.barriers += 1
        if name == "threadgroup_barrier":
            return Value("")
        out = self._opaque_use(n, args[0].type if args else "", args)
        if name in ("threadgroup_argmax", "threadgroup_argmin"):
            out = replace(out, type=args[1].type if len(args) > 2 else "int")
        linear = args[-2].deps if len(args) > 2 else frozenset()
        gone = {d for d in out.deps if d in linear or REDUCTION_INDEX.match(d)}
        self.r.sink(out)
        return replace(out, deps=out.deps - gone)

    def _atomic(self, n: Node) -> Value:
        pointer, index, stored = n.kids[0], n.kids[1], n.kids[-1]
        base, at, v = self.value(pointer), self.index(index), self.value(stored)
        if base.base is None:
            return self._opaque_use(n, "", [base, at, v])
        e = None if base.expr is None or at.expr is None else base.expr + at.expr
        place = merged(at.type, base, at, base=base.base, expr=e)
        self.r.access("atomic", place, n, index, v)
        return Value("")


_ROUNDINGS = {"floor": "floor", "ceil": "ceil", "trunc": "trunc"}
_INTEGER_CALLS: dict[str, Callable[[Expr, Expr], Expr]] = {
    "min": minimum, "max": maximum, "floor_divide": floordiv, "remainder": mod, "safe_mod": mod,
}  # fmt: skip

_HANDLERS: dict[str, Callable[[Expressions, Node], Value]] = {
    "int": Expressions._integer, "float": Expressions._float, "name": Expressions._name,
    "bin": Expressions._binary, "un": Expressions._unary, "cond": Expressions._conditional,
    "cast": Expressions._cast, "index": Expressions._load, "member": Expressions._member,
    "call": Expressions._call, "method": Expressions._call, "construct": Expressions._call,
}  # fmt: skip
