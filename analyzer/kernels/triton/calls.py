"""The functions a Triton kernel calls: ``tl.*``, the generator's helpers, methods of tensors."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence

from ...model.record import record, replace
from ...symbolic import ONE, TRUE, ZERO, Expr, floordiv, maximum, mod, sym
from . import floats, locks, memory, shapes
from .accounting import pointers_in
from .arith import as_bool, as_float, as_num, binary, cast, extreme, move, select, unknown
from .memory import Names
from .state import State
from .typed import join, meeting, settled
from .values import (
    NONE,
    BlockPtr,
    Bool,
    DType,
    Num,
    Real,
    Shape,
    Static,
    Unsupported,
    Value,
    axis,
    broadcast,
    number,
)


@record(frozen=True)
class Call:
    """One call: evaluated arguments, and where the result is going."""

    state: State
    node: ast.Call
    args: tuple[Value, ...]
    kwargs: Mapping[str, Value]
    label: str
    text: str
    names: Names

    def get(self, i: int, *names: str) -> Value:
        """The positional argument ``i`` or a keyword argument; NONE when it is not given."""
        if i < len(self.args):
            return self.args[i]
        return next((self.kwargs[n] for n in names if n in self.kwargs), NONE)

    def int_at(self, i: int, *names: str) -> int | None:
        v = self.get(i, *names)
        return v.expr.value if isinstance(v, Num) else None

    def num(self, i: int, *names: str) -> Num:
        return as_num(self.state, self.get(i, *names), self.node, self.label)

    def value(self, i: int, *names: str) -> Num:
        return settled(self.state, self.num(i, *names), self.node)

    def shape_at(self, i: int, *names: str) -> Shape:
        v = self.get(i, *names)
        items = v.obj if isinstance(v, Static) and isinstance(v.obj, tuple) else self.args[i:]
        return tuple(as_num(self.state, x, self.node).expr for x in items)

    def flat(self, n: int) -> tuple[Value, ...]:
        """The first ``n`` arguments, tuples spread out."""
        out: list[Value] = []
        for v in self.args[:n]:
            out.extend(v.obj if isinstance(v, Static) and isinstance(v.obj, tuple) else (v,))
        return tuple(out)


Handler = Callable[[Call], Value]

#: Where each reduction has its axis.
_REDUCTIONS = {
    "sum": 1, "max": 1, "min": 1, "argmax": 1, "argmin": 1, "xor_sum": 1, "reduce": 1, "prod": 1, "any": 1,
    "max2": 1, "min2": 1, "max_with_index": 2, "min_with_index": 2, "select_one": 2, "welford": 3,
    "online_softmax_reduce": 2,
}  # fmt: skip
_SCANS = ("associative_scan", "cumsum", "cumprod", "sort_with_index")
_SCRAMBLE = ("sort", "topk", "gather", "histogram", "join", "interleave", "split", "cat", "flip", "ravel")
_NOTHING = (
    "static_assert", "static_print", "device_print", "debug_barrier", "gdc_wait", "gdc_launch_dependents",
)  # fmt: skip
_SAME = ("multiple_of", "max_contiguous", "max_constancy", "promote_to_tensor", "constexpr", "int", "item")


def call_function(name: str, c: Call) -> Value:
    """The value of a call to a function of that name; raises Unsupported where a pointer goes somewhere unknown."""
    if (
        name in _REDUCTIONS
        or name in _SCANS
        or name in _SCRAMBLE
        or name in ("debug_barrier", "dot", "dot_scaled")
    ):
        c.state.barrier()  # lanes exchange values: whether they wait is up to the compiler, except for the barrier
    handler = _HANDLERS.get(name)
    if handler is not None:
        return handler(c)
    if name in _REDUCTIONS:
        return _reduce(c, _REDUCTIONS[name])
    if name in _SCANS:
        return unknown(*c.flat(1))
    if name in _NOTHING:
        return NONE
    if name in _SAME and c.args:
        return c.args[0]
    if name.startswith("atomic_"):
        return _atomic(c)
    found = memory.helper(c.state, name, c.args, c.node)
    if found is not None:
        return found
    given = [*c.args, *c.kwargs.values()]
    if any(True for v in given for _ in pointers_in(v)):
        raise Unsupported(f"call of {name}")
    fn = as_float(given[0]) if len(given) == 1 else None
    return unknown(*given, fn=floats.unary(name, fn) if fn is not None else None)


# -- shapes -------------------------------------------------------------------------------------


def _grid_dimension(c: Call) -> int:
    k = c.int_at(0, "axis")
    if k is None or not 0 <= k < 3:
        raise Unsupported("a computed grid dimension")
    return k


def _program_id(c: Call) -> Value:
    e = c.state.program_id(_grid_dimension(c))
    return Num(expr=e, deps=e.symbols, fits=True)


def _num_programs(c: Call) -> Value:
    return Num(expr=c.state.programs_along(_grid_dimension(c)), fits=True)


def _arange(c: Call) -> Value:
    lo, hi = c.num(0, "start").expr, c.num(1, "end").expr
    extent = hi - lo
    if extent == ONE:
        return Num(expr=lo, shape=(ONE,), fits=True)
    return Num(expr=lo + sym(axis(0)), shape=(extent,), deps=frozenset({axis(0)}), fits=True)


def _full(c: Call) -> Value:
    shape, v, to = c.shape_at(0, "shape"), c.get(1, "value"), c.get(2, "dtype")
    if isinstance(to, Static) and isinstance(to.obj, DType):
        v = cast(c.state, v, to.obj, c.node, c.label)
    return replace(v, shape=shape)


def _zeros(c: Call) -> Value:
    to = c.get(1, "dtype")
    v: Value = number(0)
    if isinstance(to, Static) and isinstance(to.obj, DType):
        v = cast(c.state, v, to.obj, c.node, c.label)
    return replace(v, shape=c.shape_at(0, "shape"))


def _zeros_like(c: Call) -> Value:
    like = c.get(0)
    if isinstance(like, Num):
        return Num(expr=ZERO, shape=like.shape, bits=like.bits, signed=like.signed, fits=True)
    return Real(shape=like.shape, fn=floats.constant(0.0), dtype=getattr(like, "dtype", None))


def _broadcast_to(c: Call) -> Value:
    v = c.get(0)
    return replace(v, shape=broadcast((v.shape, c.shape_at(1, "shape"))))


def _reshape(c: Call) -> Value:
    return shapes.reshape(c.state, c.get(0), c.shape_at(1, "shape"), c.node, c.label)


def _ravel(c: Call) -> Value:
    v, count = c.get(0), ONE
    for n in v.shape:
        count = count * n
    return shapes.reshape(c.state, v, (count,), c.node, c.label)


def _sort(c: Call) -> Value:
    return shapes.scrambled(c.state, [c.get(0)], c.get(0).shape, c.node, c.label)


def _topk(c: Call) -> Value:
    v, k = c.get(0), c.num(1, "k").expr
    return shapes.scrambled(c.state, [v], (*v.shape[:-1], k), c.node, c.label)


def _histogram(c: Call) -> Value:
    v, bins = c.get(0), c.num(1, "num_bins").expr
    count = ONE
    for n in v.shape:
        count = count * n
    like = replace(unknown(v), shape=(bins,))
    return shapes.in_range(c.state, Num(expr=ZERO), like, c.node, c.label, 0, count.value)


def _swizzle(c: Call) -> Value:
    return shapes.swizzle(c.state, [c.num(i) for i in range(5)], c.node)


def _expand_dims(c: Call) -> Value:
    v, k = c.get(0), c.int_at(1, "axis")
    if k is None:
        raise Unsupported("expand_dims of a computed axis")
    rank = len(v.shape) + 1
    k %= rank
    shape = (*v.shape[:k], ONE, *v.shape[k:])
    mapping: dict[str, str | None] = {
        axis(rank - 2 - i): axis(rank - 1 - (i if i < k else i + 1)) for i in range(rank - 1)
    }
    return move(c.state, v, mapping, shape, c.node)


def _permute(c: Call) -> Value:
    v = c.get(0)
    rank = len(v.shape)
    order = [e.value for e in c.shape_at(1, "dims")] if len(c.args) > 1 or "dims" in c.kwargs else None
    if order is None:
        order = list(range(rank))
        order[-2:] = reversed(order[-2:])
    if sorted(o if o is not None else -1 for o in order) != list(range(rank)):
        raise Unsupported("permutation of block axes")
    places = [o for o in order if o is not None]
    mapping: dict[str, str | None] = {axis(rank - 1 - o): axis(rank - 1 - i) for i, o in enumerate(places)}
    return move(c.state, v, mapping, tuple(v.shape[o] for o in places), c.node)


def _reduce(c: Call, axis_at: int) -> Value:
    v = unknown(*c.flat(min(axis_at, len(c.args))))
    at = c.int_at(axis_at, "axis", "dim")
    keep = c.kwargs.get("keep_dims", NONE)
    keeps = isinstance(keep, Bool) and keep.cond == TRUE
    rank = len(v.shape)
    gone = range(rank) if at is None else (at % rank,) if rank else ()
    mapping: dict[str, str | None] = {}
    place = 0
    for i in reversed(range(rank)):
        if i in gone:
            mapping[axis(rank - 1 - i)] = None
            place += keeps
        else:
            mapping[axis(rank - 1 - i)] = axis(place)
            place += 1
    shape = tuple(ONE if i in gone else n for i, n in enumerate(v.shape) if keeps or i not in gone)
    out = move(c.state, v, mapping, shape, c.node)
    name, first = _called(c), c.get(0)
    if (
        name in ("argmax", "argmin")
        or "return_indices" in c.kwargs
        or (axis_at == 1 and isinstance(first, Num))
    ):
        return _integers_reduced(c, name, [v.shape[i] for i in gone], out)
    return out


def _integers_reduced(c: Call, name: str, gone: Sequence[Expr], like: Value) -> Value:
    first = c.get(0)
    of = first if isinstance(first, Num) else Num(expr=ZERO)
    value = shapes.reduced(c.state, name, of, gone, like, c.node, c.label)
    where = c.kwargs.get("return_indices", NONE)
    if isinstance(where, Bool) and where.cond == TRUE:
        place = shapes.reduced(c.state, f"arg{name}", of, gone, like, c.node, f"{c.label}_at")
        return Static(obj=(value if isinstance(first, Num) else like, place))
    return value


def _called(c: Call) -> str:
    f = c.node.func
    return f.attr if isinstance(f, ast.Attribute) else f.id if isinstance(f, ast.Name) else ""


def _dot(c: Call) -> Value:
    a, b = c.get(0, "input"), c.get(1, "other")
    if len(a.shape) < 2 or len(b.shape) < 2:
        return unknown(a, b)
    rows = move(c.state, unknown(a), {axis(0): None}, (*a.shape[:-1], ONE), c.node)
    cols = move(c.state, unknown(b), {axis(1): None}, (*b.shape[:-2], ONE, b.shape[-1]), c.node)
    acc = c.get(2, "acc")
    return unknown(rows, cols, *([acc] if acc is not NONE else []))


# -- values -------------------------------------------------------------------------------------


def _cdiv(c: Call) -> Value:
    a, b = c.num(0), c.num(1)
    top = binary(c.state, ast.Add(), a, replace(b, expr=b.expr - 1), c.node)
    return binary(c.state, ast.FloorDiv(), top, b, c.node)


def _floor_division(c: Call) -> Value:
    a, b = c.value(0), c.value(1)
    return _whole(floordiv(a.expr, b.expr), a, b)


def _remainder(c: Call) -> Value:
    a, b = c.value(0), c.value(1)
    return _whole(mod(a.expr, b.expr), a, b)


def _whole(e: Expr, a: Num, b: Num) -> Num:
    like = unknown(a, b)
    t = meeting(a, b)
    return Num(
        expr=e, shape=like.shape, deps=like.deps, feeds=like.feeds, bits=t.bits, signed=t.signed, fits=True,
        weak=a.weak and b.weak, narrow=join(a, b),
    )  # fmt: skip


def _abs(c: Call) -> Value:
    v = c.get(0)
    if isinstance(v, Num):
        v = settled(c.state, v, c.node)
        return replace(v, expr=maximum(v.expr, -v.expr), fits=v.weak)
    fn = as_float(v)
    return unknown(v, fn=floats.unary("abs", fn) if fn is not None else None)


def _where(c: Call) -> Value:
    cond = as_bool(c.state, c.get(0, "condition"), c.node.args[0] if c.node.args else c.node)
    return select(c.state, cond, c.get(1, "x"), c.get(2, "y"), c.node)


def _to(c: Call) -> Value:
    to = c.get(1, "dtype")
    if not (isinstance(to, Static) and isinstance(to.obj, DType)):
        return unknown(c.get(0)) if isinstance(c.get(0), Real) else c.get(0)
    bits = c.kwargs.get("bitcast", NONE)
    return cast(
        c.state, c.get(0), to.obj, c.node, c.label, bitcast=isinstance(bits, Bool) and bits.cond == TRUE
    )


def _float(c: Call) -> Value:
    v = c.get(0)
    if isinstance(v, Static) and v.obj in ("inf", "-inf", "nan"):
        return Real(fn=floats.constant(float(str(v.obj))))
    return unknown(v, fn=as_float(v))


def _pointer_type(c: Call) -> Value:
    to = c.get(0)
    if not (isinstance(to, Static) and isinstance(to.obj, DType)):
        raise Unsupported("pointer type")
    return Static(obj=DType(to.obj.name, pointer=True))


def _next_power(c: Call) -> Value:
    n = c.int_at(0)
    return number(1 << (n - 1).bit_length()) if n is not None and n > 0 else unknown(c.get(0))


def _logical(op: ast.operator) -> Handler:
    return lambda c: binary(
        c.state, op, as_bool(c.state, c.get(0), c.node), as_bool(c.state, c.get(1), c.node), c.node
    )


def _assert(c: Call) -> Value:
    """``tl.device_assert(cond, text, mask)``: nothing where assertions are not compiled in."""
    cond = as_bool(c.state, c.get(0, "cond"), c.node)
    mask = c.get(2, "mask")
    c.state.use([cond])
    if c.state.kernel.asserts:
        where = TRUE if mask is NONE else as_bool(c.state, mask, c.node).cond
        c.state.assume(cond, where)
    return NONE


def _assume(c: Call) -> Value:
    """``tl.assume``: the compiler takes it for granted."""
    cond = as_bool(c.state, c.get(0, "cond"), c.node)
    c.state.use([cond])
    c.state.assume(cond)
    return NONE


# -- memory -------------------------------------------------------------------------------------


def _load(c: Call) -> Value:
    where = _descriptor(c, 1) if isinstance(c.get(0), BlockPtr) and len(c.args) > 1 else c.get(0, "pointer")
    mask = c.get(1, "mask") if not isinstance(where, BlockPtr) else NONE
    return memory.load(
        c.state,
        where,
        mask,
        c.kwargs.get("other", c.get(2)),
        c.get(3, "boundary_check"),
        c.node,
        c.label,
        c.text,
        c.names,
    )


def _descriptor(c: Call, at: int) -> Value:
    block = c.get(0)
    if isinstance(block, BlockPtr) and block.checked:
        return memory.advance(c.state, block, c.get(at), c.node, absolute=True)
    return block


def _store(c: Call) -> Value:
    where, value, mask = c.get(0, "pointer"), c.get(1, "value"), c.get(2, "mask")
    if isinstance(where, BlockPtr) and where.checked:  # descriptor.store(offsets, value)
        where, value, mask = _descriptor(c, 1), c.get(2, "value"), NONE
    return memory.store(
        c.state, "store", where, [value], mask, c.get(3, "boundary_check"), c.node, c.text, c.names
    )


def _atomic(c: Call) -> Value:
    swap = isinstance(c.node.func, ast.Attribute) and c.node.func.attr == "atomic_cas"
    values = c.args[1:3] if swap else (c.get(1, "val"),)
    mask = NONE if swap else c.get(2, "mask")
    locks.release(c.state, c.node, c.get(0, "pointer"))
    return memory.store(c.state, "atomic", c.get(0, "pointer"), values, mask, NONE, c.node, c.text, c.names)


def _block_ptr(descriptor: bool) -> Handler:
    order = ("base", "shape", "strides", "block_shape") if descriptor else (
        "base", "shape", "strides", "offsets", "block_shape", "order",
    )  # fmt: skip

    def handler(c: Call) -> Value:
        given = {**dict(zip(order, c.args, strict=False)), **c.kwargs}
        return memory.make_block(c.state, given, c.node, descriptor)

    return handler


_HANDLERS: dict[str, Handler] = {
    "program_id": _program_id, "num_programs": _num_programs, "arange": _arange, "full": _full,
    "zeros": _zeros, "zeros_like": _zeros_like, "broadcast_to": _broadcast_to, "reshape": _reshape,
    "view": _reshape, "ravel": _ravel, "sort": _sort, "topk": _topk, "histogram": _histogram,
    "swizzle2d": _swizzle,
    "join": lambda c: shapes.join(c.state, c.get(0), c.get(1), c.node),
    "interleave": lambda c: shapes.interleave(c.state, c.get(0), c.get(1), c.node, c.label),
    "cat": lambda c: shapes.cat(c.state, c.get(0), c.get(1), c.node),
    "split": lambda c: shapes.split(c.state, c.get(0), c.node),
    "flip": lambda c: shapes.flip(c.state, c.get(0), c.int_at(1, "dim"), c.node),
    "gather": lambda c: shapes.taken(c.state, c.get(0), c.get(1, "index"), c.node, c.label),
    "expand_dims": _expand_dims, "trans": _permute, "permute": _permute, "dot": _dot,
    "cdiv": _cdiv, "div_floor_integer": _floor_division, "remainder_integer": _remainder, "abs": _abs,
    "where": _where, "to": _to, "cast": _to, "float": _float, "pointer_type": _pointer_type,
    "constexpr_next_power_of_2": _next_power, "next_power_of_2": _next_power,
    "logical_and": _logical(ast.BitAnd()), "logical_or": _logical(ast.BitOr()),
    "device_assert": _assert, "assume": _assume, "load": _load, "store": _store,
    "make_block_ptr": _block_ptr(False), "make_tensor_descriptor": _block_ptr(True),
    "advance": lambda c: memory.advance(c.state, c.get(0), c.get(1, "offsets"), c.node),
    "maximum": lambda c: extreme(c.state, True, c.get(0), c.get(1), c.node),
    "minimum": lambda c: extreme(c.state, False, c.get(0), c.get(1), c.node),
}  # fmt: skip
