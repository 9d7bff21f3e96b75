"""Calls in a C++ kernel: vector methods, masks, checks, and functions on index values."""

from __future__ import annotations

import re
from collections.abc import Callable

from ...cxx.nodes import Node
from ...model.dtypes import from_cxx
from ...symbolic import FALSE, TRUE, Cond, Expr, const, floordiv, mod, sym, tmod
from ..interpret import integers
from ..reals import Real
from .lanes import opaque_names, some_lane, within
from .memory import Memory
from .scope import Guard
from .values import LANE, UNKNOWN, Flag, Int, Local, Opaque, Ptr, Value, as_int, template_words, type_of

_ROUNDING = {"floor": "floor", "ceil": "ceil", "trunc": "trunc", "round": "round", "nearbyint": "round",
             "rint": "round"}  # fmt: skip
_MINIMUM = frozenset(("min", "minimum", "min_propagate_nan", "clamp_max", "fmin"))
_MAXIMUM = frozenset(("max", "maximum", "max_propagate_nan", "clamp_min", "fmax"))


class Calls(Memory):
    """Meaning of function and method calls."""

    def call(self, node: Node) -> Value:
        name, kids = node.value, node.kids
        if not name and kids and kids[0].kind == "member":  # a method of a dependent type
            name = kids[0].value
            kids = [*kids[0].kids, *kids[1:]]
            return self.method(name, node, kids)
        if name is None:
            return self.invoke(node, kids[0], kids[1:])
        if node.kind == "method":
            return self.method(name, node, kids)
        handler = _FUNCTIONS.get(name)
        if handler is not None:
            return handler(self, node, kids)
        return self.function(name, node, kids)

    # -- what later layers add
    def invoke(self, node: Node, callee: Node, args: list[Node]) -> Value:
        raise NotImplementedError

    def function(self, name: str, node: Node, args: list[Node]) -> Value:
        raise NotImplementedError

    # -- methods
    def method(self, name: str, node: Node, kids: list[Node]) -> Value:
        handler = _METHODS.get(name)
        if handler is not None:
            return handler(self, node, kids)
        v = self.value(kids[0]) if kids else UNKNOWN
        if name in _ROUNDING:
            return self.rounded(v, _ROUNDING[name])
        return self.mixture([v, *(self.value(k) for k in kids[1:])])

    def _m_store(self, node: Node, kids: list[Node]) -> Value:
        v = self.value(kids[0])
        if len(kids) < 2:
            return v
        count = self.integer(self.value(kids[2])) if len(kids) > 2 else None
        self.vector_store(self.value(kids[1]), v, count, node, kids[1])
        return UNKNOWN

    def _m_loadu(self, node: Node, kids: list[Node]) -> Value:
        mask = self.cond(self.value(kids[0]), kids[0])
        return self.vector_load(self.value(kids[-1]), self.width(node.type), node, kids[-1], mask)

    def _m_same(self, node: Node, kids: list[Node]) -> Value:
        return self.value(kids[0])

    def _m_to(self, node: Node, kids: list[Node]) -> Value:
        words = template_words(node.type)
        return self.convert(self.value(kids[0]), words[0] if words else "")

    def _m_data(self, node: Node, kids: list[Node]) -> Value:
        v = self.value(kids[0])
        return Ptr(v, const(0)) if isinstance(v, Local) else v

    def _m_size(self, node: Node, kids: list[Node]) -> Value:
        return Int(self.fresh("uint64", frozenset()))

    def _m_all_zero(self, node: Node, kids: list[Node]) -> Value:
        return Flag(~self.some(kids[0]).cond)

    def _m_all_masked(self, node: Node, kids: list[Node]) -> Value:
        c = self.cond(self.value(kids[0]), kids[0])
        return Flag(~self._some(~c, kids[0]))

    def _m_is_masked(self, node: Node, kids: list[Node]) -> Value:
        c = self.cond(self.value(kids[0]), kids[0])
        return self.at_lane(Flag(c), self.integer(self.value(kids[1])))

    def some(self, mask: Node) -> Guard:
        """The guard that some lane of a mask is set."""
        c = self.cond(self.value(mask), mask)
        return Guard(self._some(c, mask), lanes=c)

    def _some(self, c: Cond, node: Node) -> Cond:
        width = self.width()
        found = some_lane(c, width, self.varying) if width is not None else None
        if found is None:
            found = self.unknown_cond(node, self.deps_of(Flag(c)) - {LANE})
        return found

    def _f_same(self, node: Node, kids: list[Node]) -> Value:
        """A mask in the lanes of another type."""
        return self.value(kids[0])

    # -- functions on values
    def _f_convert(self, node: Node, kids: list[Node]) -> Value:
        words = template_words(node.type)
        return self.convert(self.value(kids[-1]), words[0] if words else "")

    def _f_bit_cast(self, node: Node, kids: list[Node]) -> Value:
        words = template_words(node.type)
        return self.typed(from_cxx(words[0]) if words else None, self.deps_of(self.value(kids[-1])))

    def _f_arange(self, node: Node, kids: list[Node]) -> Value:
        start, step = self.value(kids[0]), self.value(kids[1])
        steps = self.binary("*", step, Int(sym(LANE)), node)
        return self.convert(self.binary("+", start, steps, node), _element_type(node.type))

    def _f_blendv(self, node: Node, kids: list[Node]) -> Value:
        a, b = self.value(kids[0]), self.value(kids[1])
        return self.select(self.cond(self.value(kids[2]), kids[2]), b, a)

    def _f_set(self, node: Node, kids: list[Node]) -> Value:
        a, b, n = self.value(kids[0]), self.value(kids[1]), self.integer(self.value(kids[2]))
        if isinstance(b, Flag) or "VecMask" in node.type:
            return Flag(within(sym(LANE), n, self.cond(b, kids[1]), self.cond(a, kids[0])))
        return self.select(within(sym(LANE), n, TRUE, FALSE), b, a)

    def _f_from(self, node: Node, kids: list[Node]) -> Value:
        v = self.value(kids[0])
        if not isinstance(v, Ptr):
            return Flag(self.cond(v, kids[0]))
        count: Expr | int | None
        count = self.integer(self.value(kids[1])) if len(kids) > 1 else self.width(node.type)
        loaded = self.vector_load(v, count, node, kids[0])
        return Flag(self.cond(loaded, kids[0]))

    def _f_loadu(self, node: Node, kids: list[Node]) -> Value:
        count: Expr | int | None
        count = self.integer(self.value(kids[1])) if len(kids) > 1 else self.width(node.type)
        return self.vector_load(self.value(kids[0]), count, node, kids[0])

    def _f_extreme(self, node: Node, kids: list[Node]) -> Value:
        if len(kids) == 1 and kids[0].kind == "init":
            kids = kids[0].kids
        values = [self.value(k) for k in kids]
        if not values:  # a limit of a type
            return UNKNOWN
        words = template_words(node.type)
        type_ = type_of(words[0]) if len(words) == 1 else None
        if type_ is not None:  # std::min<int8_t> converts first
            values = [self.as_type(v, type_) if isinstance(v, (Int, Flag)) else v for v in values]
        out = values[0]
        for v in values[1:]:
            out = self.extreme("min" if node.value in _MINIMUM else "max", out, v)
        return out

    def _f_clamp(self, node: Node, kids: list[Node]) -> Value:
        x, low, high = (self.value(k) for k in kids[:3])
        return self.extreme("min", self.extreme("max", x, low), high)

    def _f_abs(self, node: Node, kids: list[Node]) -> Value:
        return self.magnitude(self.value(kids[0]))

    def _f_round(self, node: Node, kids: list[Node]) -> Value:
        return self.rounded(self.value(kids[0]), _ROUNDING[node.value])

    def _f_lrint(self, node: Node, kids: list[Node]) -> Value:
        v = self.value(kids[0])
        return Int(self.whole(v, "round") if isinstance(v, Real) else self.integer(v))

    def _f_floor_divide(self, node: Node, kids: list[Node]) -> Value:
        return self._floor(floordiv, kids)

    def _f_remainder(self, node: Node, kids: list[Node]) -> Value:
        return self._floor(mod, kids)

    def _floor(self, op: Callable[[Expr, Expr], Expr], kids: list[Node]) -> Value:
        a, b = self.value(kids[0]), self.value(kids[1])
        x, y = as_int(a), as_int(b)
        return Int(op(x, y)) if x is not None and y is not None else self.mixture([a, b])

    def _f_c_remainder(self, node: Node, kids: list[Node]) -> Value:
        """``%`` of C++."""
        return self._floor(tmod, kids)

    def _f_vector_size(self, node: Node, kids: list[Node]) -> Value:
        if self.vector_bytes is None:
            return Int(self.fresh(None, frozenset(), lo=1))
        width = self.width(node.type.replace("::size", ""))
        return Int(const(width)) if width is not None else UNKNOWN

    def _f_reduce(self, node: Node, kids: list[Node]) -> Value:
        """One value from all lanes."""
        v = self.mixture([self.value(k) for k in kids if k.kind != "lambda"])
        return Opaque(v.deps - {LANE})

    def _f_randint(self, node: Node, kids: list[Node]) -> Value:
        low, high = as_int(self.value(kids[2])), as_int(self.value(kids[3]))
        if low is None or high is None:
            return Int(self.fresh("int64", frozenset()))
        return Int(self.bounded(low, high - 1))

    def _f_local(self, node: Node, kids: list[Node]) -> Value:
        """Heap memory of the kernel's own."""
        values = [self.value(k) for k in kids]
        words = template_words(node.type)
        dtype = from_cxx(words[0].replace("[]", "")) if words else None
        array = Local(self.label or "buffer", dtype, len(self.guards))
        counted = node.value == "make_unique" and len(values) == 1 and "[]" in "".join(words[0:1])
        count = values[0] if counted else None
        return self.measured(array, count.expr if isinstance(count, Int) else None)

    def _f_thread(self, node: Node, kids: list[Node]) -> Value:
        m = re.search(r"num_threads\((\d+)\)", self.source.text)
        top = int(m.group(1)) - 1 if m else None
        return Int(self.fresh(None, frozenset(), label="tid", lo=0, hi=top), integers.INT32)

    # -- checks, atomics, blocks
    def _f_check(self, node: Node, kids: list[Node]) -> Value:
        """What follows in the block runs only where the condition holds, for every lane."""
        inner = kids[0]
        if inner.kind == "method" and inner.value == "all_masked":
            inner = inner.kids[0]
        c = self.cond(self.value(inner), inner)
        facts = [p for p in c.conjuncts() if not opaque_names(p)]
        self.guards.append(Guard(Cond.join("and", facts), check=True))
        return UNKNOWN

    def _f_atomic_add(self, node: Node, kids: list[Node]) -> Value:
        ptr, v = self.value(kids[0]), self.value(kids[1])
        if isinstance(ptr, Ptr):
            self.store(ptr, v, node, "atomic")
        return UNKNOWN

    def _f_atomic_vec(self, node: Node, kids: list[Node]) -> Value:
        values = [self.value(k) for k in kids]
        words = [w.strip() for w in template_words(node.type)]
        count: Expr | int | None = self.integer(values[3]) if len(values) > 3 else None
        if count is None:
            count = self.width(f"<{words[0]},{words[2]}>" if len(words) == 3 else "")
        self.vector_atomic(values[0], values[1], values[2], count, node)
        return UNKNOWN

    def _f_transpose(self, node: Node, kids: list[Node]) -> Value:
        self.transpose(node, [self.value(k) for k in kids], kids)
        return UNKNOWN

    def _f_store(self, node: Node, kids: list[Node]) -> Value:
        """``_store(ptr, value[, count])``."""
        count = self.integer(self.value(kids[2])) if len(kids) > 2 else None
        self.vector_store(self.value(kids[0]), self.value(kids[1]), count, node, kids[0])
        return UNKNOWN


def _element_type(callee: str) -> str:
    m = re.search(r"<\s*([\w:]+)", callee)
    return m.group(1) if m else ""


_Call = Callable[[Calls, Node, "list[Node]"], Value]
_METHODS: dict[str, _Call] = {
    "store": Calls._m_store, "loadu": Calls._m_loadu, "cast": Calls._m_same, "to": Calls._m_to,
    "data": Calls._m_data, "get": Calls._m_data, "begin": Calls._m_data, "all_zero": Calls._m_all_zero,
    "all_masked": Calls._m_all_masked, "is_masked": Calls._m_is_masked, "size": Calls._m_size,
    "allocate": Calls._f_local, "abs": Calls._f_abs,
}  # fmt: skip
_FUNCTIONS: dict[str, _Call] = {
    "inductor_vec_mask_cast": Calls._f_same, "convert": Calls._f_convert, "bit_cast": Calls._f_bit_cast, "arange": Calls._f_arange,
    "blendv": Calls._f_blendv, "set": Calls._f_set, "from": Calls._f_from, "loadu": Calls._f_loadu,
    "clamp": Calls._f_clamp, "abs": Calls._f_abs, "fabs": Calls._f_abs, "lrint": Calls._f_lrint,
    "div_floor_integer": Calls._f_floor_divide, "floor_divide_integral": Calls._f_floor_divide,
    "remainder_integral": Calls._f_remainder, "div_mod": Calls._f_remainder, "mod": Calls._f_c_remainder,
    "size": Calls._f_vector_size,
    "vec_reduce_all": Calls._f_reduce, "welford_vec_reduce_all": Calls._f_reduce,
    "argmax_vec_reduce_all": Calls._f_reduce, "argmin_vec_reduce_all": Calls._f_reduce,
    "randint64_cpu": Calls._f_randint, "make_unique": Calls._f_local,
    "omp_get_thread_num": Calls._f_thread, "get_thread_num": Calls._f_thread,
    "AOTI_TORCH_CHECK": Calls._f_check, "TORCH_CHECK": Calls._f_check, "atomic_add": Calls._f_atomic_add,
    "atomic_add_vec": Calls._f_atomic_vec, "transpose_mxn": Calls._f_transpose, "_store": Calls._f_store,
    **dict.fromkeys(_ROUNDING, Calls._f_round), **dict.fromkeys(_MINIMUM | _MAXIMUM, Calls._f_extreme),
}  # fmt: skip
