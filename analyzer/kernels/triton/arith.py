"""Arithmetic, comparison, selection and conversion of abstract Triton values."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

from ...model.dtypes import ITEMSIZE
from ...model.record import replace
from ...symbolic import (
    FALSE,
    TRUE,
    ZERO,
    Cond,
    Expr,
    compare,
    const,
    floordiv,
    maximum,
    minimum,
    mod,
    sym,
    tdiv,
    tmod,
    where,
)  # fmt: skip
from ..interpret.integers import IntType, int_type
from . import floats
from .floats import FloatFn
from .state import State
from .typed import bitwise, converted, join, meeting, settled
from .values import (
    Bool,
    DType,
    Num,
    Ptr,
    Real,
    Static,
    Unsupported,
    Value,
    as_int,
    broadcast,
    deps_of,
    join_feeds,
    restrict,
)  # fmt: skip

#: Expressions with more terms than this stand for nothing a proof could use: they become data.
MAX_TERMS = 200

_INT_RANGE = {
    "uint8": (0, 255), "int8": (-128, 127), "bool": (0, 1), "int16": (-(2**15), 2**15 - 1),
    "uint16": (0, 2**16 - 1), "int32": (-(2**31), 2**31 - 1), "uint32": (0, 2**32 - 1),
    "int64": (-(2**63), 2**63 - 1), "uint64": (0, 2**64 - 1),
}  # fmt: skip

_FLOAT_OPS = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div"}


def is_int_dtype(name: str | None) -> bool:
    return name in _INT_RANGE


def dtype_range(name: str | None) -> tuple[int | None, int | None]:
    """The values an integer type can hold."""
    return _INT_RANGE.get(name or "", (None, None))


def unknown(*values: Value, dtype: str | None = None, fn: FloatFn | None = None) -> Real:
    """A value computed from ``values`` in a way that is not followed."""
    return Real(
        shape=broadcast(v.shape for v in values), deps=deps_of(values), feeds=join_feeds(values),
        dtype=dtype, fn=fn,
    )  # fmt: skip


def _num(state: State, node: ast.AST, expr: Expr, t: IntType, *values: Value, fits: bool = False) -> Num:
    like = unknown(*values)
    if len(expr.terms) > MAX_TERMS:
        n = state.data(node, "value", like, *((t.low, t.high) if t.bits < 64 else ()))
        return replace(n, bits=t.bits, signed=t.signed, narrow=join(*values))
    weak = all(v.weak for v in values if isinstance(v, Num))
    return Num(
        expr=expr, bits=t.bits, signed=t.signed, shape=like.shape, deps=like.deps, feeds=like.feeds, fits=fits,
        weak=weak, narrow=join(*values),
    )  # fmt: skip


def _bool(state: State, cond: Cond, *values: Value) -> Bool:
    like = unknown(*values)
    if not state.on_data(cond.symbols):
        cond = state.decide(cond, like.shape)
    return Bool(cond=cond, shape=like.shape, deps=like.deps, feeds=like.feeds, narrow=join(*values))


# -- views of a value ---------------------------------------------------------------------------


def as_num(state: State, v: Value, node: ast.AST, label: str = "value") -> Num:
    """``v`` as an integer; one that is not followed becomes a data symbol."""
    if isinstance(v, Num):
        return v
    if isinstance(v, Bool):
        return as_int(v)
    if isinstance(v, Real):
        if v.fn is None:
            return state.data(node, label, v, *dtype_range(v.dtype))
        lo, hi = (None, None) if v.fn.arg is None else state.ranges(v.shape).interval(v.fn.arg)
        whole = floats.truncated(v.fn, lo, hi)
        if isinstance(whole, Expr):
            return Num(expr=whole, shape=v.shape, deps=v.deps, feeds=v.feeds, fits=True)
        return state.data(node, label, v, *whole)
    raise Unsupported(f"no integer: {ast.unparse(node)}")


def as_bool(state: State, v: Value, node: ast.AST) -> Bool:
    """``v`` as a condition; one that is not followed becomes an opaque condition."""
    if isinstance(v, Bool):
        return v
    if isinstance(v, Num):
        v = settled(state, v, node)
        return _bool(state, Cond.of("ne", v.expr), v)
    if isinstance(v, Static):
        return Bool(cond=TRUE if v.obj else FALSE)
    if isinstance(v, Real):
        if v.fn is not None and v.fn.value is not None:
            return _bool(state, TRUE if v.fn.value else FALSE, v)
        return _bool(state, state.opaque(node), v)
    return Bool(cond=TRUE)


def as_float(v: Value) -> FloatFn | None:
    """``v`` as a function of one integer, or None."""
    if isinstance(v, Real):
        return v.fn
    if isinstance(v, Num):
        if not (v.fits or v.weak or v.bits >= 64):
            return None
        return floats.constant(v.expr.value) if v.expr.value is not None else FloatFn(v.expr)
    return None


def _whole(v: Value) -> Value:
    """A floating constant that is an integer, as that integer: ``0.0`` beside integers."""
    if isinstance(v, Real) and v.fn is not None and v.fn.value is not None and v.fn.value.is_integer():
        n = const(int(v.fn.value))
        return Num(expr=n, shape=v.shape, deps=v.deps, feeds=v.feeds, fits=True, weak=True)
    return v


# -- operators ----------------------------------------------------------------------------------


def binary(state: State, op: ast.operator, a: Value, b: Value, node: ast.AST) -> Value:
    """``a op b`` element by element."""
    if isinstance(a, Ptr) or isinstance(b, Ptr):
        return _pointer(state, op, a, b, node)
    if isinstance(op, (ast.BitAnd, ast.BitOr, ast.BitXor)) and (isinstance(a, Bool) or isinstance(b, Bool)):
        return _logic(state, op, as_bool(state, a, node), as_bool(state, b, node))
    if isinstance(a, Bool):
        a = as_int(a)
    if isinstance(b, Bool):
        b = as_int(b)
    if isinstance(a, Num) and isinstance(b, Num) and not isinstance(op, ast.Div):
        return _integer(state, op, a, b, node)
    name = _FLOAT_OPS.get(type(op))
    fa, fb = (as_float(settled(state, v, node) if isinstance(v, Num) else v) for v in (a, b))
    fn = floats.binary(name, fa, fb) if name and fa is not None and fb is not None else None
    dtype = next((v.dtype for v in (a, b) if isinstance(v, Real) and v.dtype), None)
    return unknown(a, b, dtype=dtype, fn=fn)


def _pointer(state: State, op: ast.operator, a: Value, b: Value, node: ast.AST) -> Value:
    if isinstance(a, Ptr) and isinstance(b, Ptr):
        return unknown(a, b)
    ptr, other = (a, b) if isinstance(a, Ptr) else (b, a)
    assert isinstance(ptr, Ptr)
    if not isinstance(op, (ast.Add, ast.Sub)):
        raise Unsupported(f"pointer arithmetic {ast.unparse(node)}")
    term = node.right if isinstance(node, ast.BinOp) and ptr is a else node
    n = settled(state, as_num(state, other, node, "offset"), term, address=True)
    both = unknown(ptr, n)
    offset = ptr.offset + n.expr if isinstance(op, ast.Add) else ptr.offset - n.expr
    return replace(
        ptr, offset=offset, shape=both.shape, deps=both.deps, feeds=both.feeds, narrow=join(ptr, n)
    )  # fmt: skip


def _logic(state: State, op: ast.operator, a: Bool, b: Bool) -> Bool:
    if isinstance(op, ast.BitAnd):
        return _bool(state, a.cond & b.cond, a, b)
    if isinstance(op, ast.BitOr):
        return _bool(state, a.cond | b.cond, a, b)
    return _bool(state, (a.cond & ~b.cond) | (~a.cond & b.cond), a, b)


def _integer(state: State, op: ast.operator, a: Num, b: Num, node: ast.AST) -> Value:
    sign = _BITWISE.get(type(op))
    if sign is not None:
        return bitwise(state, sign, a, b, unknown(a, b), node)
    t = meeting(a, b)
    left, right = (node.left, node.right) if isinstance(node, ast.BinOp) else (node, node)
    if not (a.weak and b.weak):
        a, b = converted(state, a, t, left), converted(state, b, t, right)
    x, y = a.expr, b.expr
    if isinstance(op, ast.Add):
        return _num(state, node, x + y, t, a, b)
    if isinstance(op, ast.Sub):
        return _num(state, node, x - y, t, a, b)
    if isinstance(op, ast.Mult):
        if len(x.terms) * len(y.terms) > MAX_TERMS:
            n = state.data(node, "product", unknown(a, b))
            return replace(n, narrow=join(a, b))
        return _num(state, node, x * y, t, a, b)
    if isinstance(op, (ast.FloorDiv, ast.Mod)):
        a, b = settled(state, a, left), settled(state, b, right)
        return _num(state, node, divide(state, isinstance(op, ast.Mod), a, b), t, a, b, fits=True)
    k = y.value
    if isinstance(op, ast.Pow) and x.value is not None and k is not None and 0 <= k < 64:
        return _num(state, node, const(x.value**k), t, a, b)
    n = state.data(node, "bits", unknown(a, b))
    return replace(n, narrow=join(a, b))


_BITWISE: dict[type[ast.operator], str] = {
    ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
}  # fmt: skip


def divide(state: State, remainder: bool, a: Num, b: Num) -> Expr:
    """``a // b`` or ``a % b`` as the kernel computes it: rounding towards zero, for compile-time integers down.

    Where both sides can't be negative that is floor division, which simplifies further.
    """
    ranges = state.ranges(broadcast((a.shape, b.shape)))
    low = ranges.interval(b.expr)[0]
    if (a.weak and b.weak) or (ranges.nonneg(a.expr) is True and low is not None and low >= 0):
        return mod(a.expr, b.expr) if remainder else floordiv(a.expr, b.expr)
    return tmod(a.expr, b.expr) if remainder else tdiv(a.expr, b.expr)


_COMPARE: dict[type[ast.cmpop], str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip


def comparison(state: State, op: ast.cmpop, a: Value, b: Value, node: ast.AST) -> Value:
    """``a op b``; ``is`` compares compile-time objects."""
    sign = _COMPARE.get(type(op))
    if sign is None or (isinstance(a, Static) and isinstance(b, Static)):
        return _identity(state, op, a, b, node)
    if isinstance(a, Bool) and isinstance(b, Bool) and sign in ("==", "!="):
        differ = _logic(state, ast.BitXor(), a, b)
        return differ if sign == "!=" else replace(differ, cond=~differ.cond)
    a, b = (as_int(v) if isinstance(v, Bool) else v for v in (a, b))
    if isinstance(a, Num) or isinstance(b, Num):
        a, b = _whole(a), _whole(b)
    if isinstance(a, Num) and isinstance(b, Num):
        a, b = _alike(state, a, b, node)
        return _bool(state, compare(sign, a.expr, b.expr), a, b)
    fa, fb = as_float(a), as_float(b)
    known = floats.compare(sign, fa, fb) if fa is not None and fb is not None else None
    if known is not None:
        return _bool(state, TRUE if known else FALSE, a, b)
    return _bool(state, state.opaque(node), a, b)


def _alike(state: State, a: Num, b: Num, node: ast.AST) -> tuple[Num, Num]:
    """Two integers as values of the type in which they meet."""
    t = meeting(a, b)
    left = node.left if isinstance(node, (ast.Compare, ast.BinOp)) else node
    right = node.comparators[0] if isinstance(node, ast.Compare) and len(node.comparators) == 1 else node
    if not (a.weak and b.weak):
        a, b = converted(state, a, t, left), converted(state, b, t, right)
    return settled(state, a, left), settled(state, b, right)


def _identity(state: State, op: ast.cmpop, a: Value, b: Value, node: ast.AST) -> Value:
    if isinstance(a, Static) != isinstance(b, Static):
        other = b if isinstance(a, Static) else a
        types = [v for v in (a, b) if isinstance(v, Static) and isinstance(v.obj, DType)]
        same = None if types and isinstance(other, Real) else False
    else:
        same = isinstance(a, Static) and isinstance(b, Static) and a.obj == b.obj
    if same is None or not isinstance(op, (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)):
        return _bool(state, state.opaque(node), a, b)
    return Bool(cond=TRUE if same == isinstance(op, (ast.Is, ast.Eq)) else FALSE)


def negate(state: State, v: Value, node: ast.AST) -> Value:
    v = as_int(v) if isinstance(v, Bool) else v
    if isinstance(v, Num):
        return replace(v, expr=-v.expr, fits=v.weak)
    fn = v.fn if isinstance(v, Real) else None
    return unknown(v, dtype=getattr(v, "dtype", None), fn=floats.unary("neg", fn) if fn else None)


def extreme(state: State, largest: bool, a: Value, b: Value, node: ast.AST) -> Value:
    """The smaller or larger of two values."""
    if isinstance(a, Num) and isinstance(b, Num):
        pick: Callable[..., Expr] = maximum if largest else minimum
        t = meeting(a, b)
        a, b = _alike(state, a, b, node)
        return _num(state, node, pick(a.expr, b.expr), t, a, b, fits=True)
    fa, fb = as_float(a), as_float(b)
    fn = floats.binary("max" if largest else "min", fa, fb) if fa is not None and fb is not None else None
    return unknown(a, b, fn=fn, dtype=next((v.dtype for v in (a, b) if isinstance(v, Real)), None))


def select(state: State, c: Bool, a: Value, b: Value, node: ast.AST) -> Value:
    """``c ? a : b`` element by element; loads behind the branch that is not taken do not matter there."""
    cond = state.decide(c.cond, broadcast((c.shape, a.shape, b.shape)))
    a = replace(a, feeds=restrict(a.feeds, cond))
    b = replace(b, feeds=restrict(b.feeds, ~cond))
    if cond.kind == "const":
        taken = a if cond.truth else b
        return replace(taken, shape=broadcast((c.shape, a.shape, b.shape)))
    if isinstance(a, Num) != isinstance(b, Num):
        a, b = (_whole(as_int(v) if isinstance(v, Bool) else v) for v in (a, b))
    if isinstance(a, Num) and isinstance(b, Num):
        t = meeting(a, b)
        a, b = _under(state, a, t, cond, node), _under(state, b, t, ~cond, node)
        if cond.has_opaque() and a.expr != b.expr:
            return _either(state, c, a, b, node)
        return _num(state, node, _choice(cond, a.expr, b.expr), t, c, a, b, fits=True)
    if isinstance(a, Bool) and isinstance(b, Bool):
        return _bool(state, (cond & a.cond) | (~cond & b.cond), c, a, b)
    if isinstance(a, Ptr) and isinstance(b, Ptr) and (a.param, a.size) == (b.param, b.size):
        both = unknown(c, a, b)
        return replace(
            a, offset=where(cond, a.offset, b.offset), base=where(cond, a.base, b.base),
            narrow=join(c, a, b), shape=both.shape, deps=both.deps, feeds=both.feeds,
        )  # fmt: skip
    if isinstance(a, Ptr) or isinstance(b, Ptr):
        raise Unsupported(f"one of two pointers: {ast.unparse(node)}")
    return unknown(c, a, b, dtype=next((v.dtype for v in (a, b) if isinstance(v, Real)), None))


def _under(state: State, v: Num, t: IntType, cond: Cond, node: ast.AST) -> Num:
    """``v`` as a value of type ``t``, where ``cond`` holds."""
    return settled(
        state, converted(state, v if v.weak else settled(state, v, node, cond), t, node), node, cond
    )


def _either(state: State, c: Bool, a: Num, b: Num, node: ast.AST) -> Num:
    """One of two integers, by a condition on data that is not followed."""
    both = unknown(c, a, b)
    ranges = state.ranges(both.shape)
    (al, ah), (bl, bh) = ranges.interval(a.expr), ranges.interval(b.expr)
    lo = None if al is None or bl is None else min(al, bl)
    hi = None if ah is None or bh is None else max(ah, bh)
    n = state.data(node, "choice", both, lo, hi)
    return replace(n, bits=a.bits, signed=a.signed, narrow=join(c, a, b))


def _choice(cond: Cond, a: Expr, b: Expr) -> Expr:
    """``cond ? a : b``; a selection of the smaller or larger one is a minimum or maximum."""
    if cond.kind == "ge" and cond.expr is not None:
        if cond.expr in (b - a, b - a - 1):
            return minimum(a, b)
        if cond.expr in (a - b, a - b - 1):
            return maximum(a, b)
    return where(cond, a, b)


def cast(state: State, v: Value, to: DType, node: ast.AST, label: str, bitcast: bool = False) -> Value:
    """``v.to(type)``."""
    if to.pointer:
        if not isinstance(v, Ptr):
            raise Unsupported(f"conversion to a pointer: {ast.unparse(node)}")
        return replace(v, base=v.base + v.offset * v.size, offset=ZERO, size=ITEMSIZE.get(to.name, 1))
    if to.name == "bool":
        return as_bool(state, v, node)
    if not is_int_dtype(to.name):
        v = as_int(v) if isinstance(v, Bool) else v
        fn = as_float(settled(state, v, node) if isinstance(v, Num) else v)
        if fn is not None and to.name not in ("float32", "float64"):
            fn = None  # lower precision rounds the value
        return unknown(v, dtype=to.name, fn=replace(fn, double=to.name == "float64") if fn else None)
    if bitcast and not isinstance(v, Num):
        return state.data(node, label, v, *dtype_range(to.name))
    n = as_num(state, v, node, label)
    t = int_type(to.name)
    if t is None:
        return state.data(node, label, n)
    inner = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else node
    return converted(state, n, t, inner)


# -- block axes ---------------------------------------------------------------------------------


def move(
    state: State, v: Value, mapping: dict[str, str | None], shape: tuple[Expr, ...], node: ast.AST
) -> Value:
    """``v`` with its block axes renamed (None: the axis is dropped) and a new shape."""
    places = {a: ZERO if b is None else sym(b) for a, b in mapping.items()}
    return rearrange(state, v, places, shape, node)


def rearrange(
    state: State, v: Value, places: Mapping[str, Expr], shape: tuple[Expr, ...], node: ast.AST
) -> Value:
    """``v`` in a new shape, each of its block axes as an expression over the new ones."""
    if all(e == sym(a) for a, e in places.items()):
        return replace(v, shape=shape)
    deps = _moved(v.deps, places)
    feeds = {k: (c, False) for k, (c, _) in v.feeds.items()}
    names = {a: e for a, e in places.items() if e != sym(a)}
    if isinstance(v, (Num, Bool, Ptr)):
        symbols = v.offset.symbols | v.base.symbols if isinstance(v, Ptr) else (
            v.expr.symbols if isinstance(v, Num) else v.cond.symbols
        )  # fmt: skip
        for s in symbols:  # data that varies along a moved axis is other data for a fixed lane
            info = state.vars.get(s)
            if info is not None and any(a in names for a in info.axes):
                names[s] = state.fresh(node, s, replace(info, axes=_moved(info.axes, places)))
        v = replace(v, narrow=tuple(replace(n, value=n.value.substitute(names)) for n in v.narrow))
    if isinstance(v, Num):
        return replace(v, expr=v.expr.substitute(names), shape=shape, deps=deps, feeds=feeds)
    if isinstance(v, Bool):
        return replace(v, cond=v.cond.substitute(names), shape=shape, deps=deps, feeds=feeds)
    if isinstance(v, Ptr):
        return replace(
            v,
            offset=v.offset.substitute(names),
            base=v.base.substitute(names),
            shape=shape,
            deps=deps,
            feeds=feeds,
        )
    fn = v.fn if isinstance(v, Real) else None
    if fn is not None and fn.arg is not None:
        varies = any(s in state.vars and state.vars[s].axes for s in fn.arg.symbols)
        fn = None if varies else replace(fn, arg=fn.arg.substitute(names))
    return Real(shape=shape, deps=deps, feeds=feeds, fn=fn, dtype=getattr(v, "dtype", None))


def _moved(names: frozenset[str], places: Mapping[str, Expr]) -> frozenset[str]:
    """What varies with ``names``, after a change of block axes."""
    return frozenset().union(*(places[n].symbols if n in places else {n} for n in names))
