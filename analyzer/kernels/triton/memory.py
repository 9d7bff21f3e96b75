"""Loads, stores and atomics of a Triton kernel, through plain pointers, block pointers and descriptors."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from ...model.dtypes import ITEMSIZE
from ...model.kernel import VarKind
from ...model.record import replace
from ...symbolic import ONE, TRUE, ZERO, Cond, Expr, compare, const, floordiv, minimum, sym, total
from ..interpret.integers import int_type
from .arith import as_bool, as_num, dtype_range, is_int_dtype, unknown
from .state import RawAccess, State, VarInfo
from .typed import settled
from .values import (
    NONE,
    BlockDim,
    BlockPtr,
    Bool,
    Num,
    Ptr,
    Real,
    Static,
    Unsupported,
    Value,
    axis,
    broadcast,
    deps_of,
)  # fmt: skip

#: The source's own index variables in scope: shown with an access.
Names: TypeAlias = "tuple[tuple[str, Num], ...]"
Kind: TypeAlias = Literal["load", "store", "atomic"]


def element_dtype(state: State, ptr: Ptr) -> str | None:
    return next((p.dtype for p in state.kernel.params if p.name == ptr.param), None)


def load(
    state: State, where: Value, mask: Value, other: Value, checked: Value, node: ast.Call, label: str,
    text: str, names: Names,
) -> Value:  # fmt: skip
    """``tl.load``: records the access and gives the loaded value."""
    ptr, cond = target(state, where, mask, checked, node)
    load_id = state.load_id(node)
    state.use([ptr, cond])
    _record(state, "load", ptr, cond, node, text, names, None, load_id)
    value = unknown(ptr, cond, *([other] if other is not NONE else []))
    value = replace(value, feeds={**other.feeds, load_id: (TRUE, True)})
    dtype = element_dtype(state, ptr)
    if ptr.base != ZERO or (dtype is not None and ptr.size != ITEMSIZE[dtype]):
        return value  # read through a pointer of another type
    if is_int_dtype(dtype) and dtype != "bool":
        n = state.data(node, label, value, *dtype_range(dtype), loaded=True)
        t = int_type(dtype or "")
        return n if t is None else replace(n, bits=t.bits, signed=t.signed)
    return replace(value, dtype=dtype)


def store(
    state: State, kind: Kind, where: Value, values: Sequence[Value], mask: Value, checked: Value,
    node: ast.Call, text: str, names: Names,
) -> Value:  # fmt: skip
    """``tl.store`` (``kind`` store) or an atomic: ``values`` are stored where the mask holds."""
    ptr, cond = target(state, where, mask, checked, node)
    state.use([ptr, cond])
    state.use(values, cond.cond)
    _record(state, kind, ptr, cond, node, text, names, deps_of(values), None)
    dtype = element_dtype(state, ptr)
    result = unknown(ptr, cond, *values)
    if kind == "atomic" and is_int_dtype(dtype):
        n, t = state.data(node, "previous", result, *dtype_range(dtype), loaded=True), int_type(dtype or "")
        return n if t is None else replace(n, bits=t.bits, signed=t.signed)
    return result


def target(state: State, where: Value, mask: Value, checked: Value, node: ast.AST) -> tuple[Ptr, Bool]:
    """The pointer and the condition of an access; a block pointer becomes plain pointer arithmetic."""
    if isinstance(where, BlockPtr):
        return _block_target(where, checked)
    if not isinstance(where, Ptr):
        raise Unsupported(f"memory access through {ast.unparse(node)[:80]}")
    if mask is NONE or (isinstance(mask, Static) and mask.obj is None):
        return where, Bool(cond=TRUE)
    cond = as_bool(state, mask, node)
    return where, replace(cond, cond=state.decide(cond.cond, broadcast((where.shape, cond.shape))))


def _block_target(block: BlockPtr, checked: Value) -> tuple[Ptr, Bool]:
    rank = len(block.dims)
    dims = range(rank) if block.checked else _checked_dims(checked, rank)
    where = [
        d.offset + (sym(axis(rank - 1 - i)) if d.block != ONE else ZERO) for i, d in enumerate(block.dims)
    ]
    guards = [
        c for i in dims for c in (compare(">=", where[i], 0), compare("<", where[i], block.dims[i].extent))
    ]
    shape = tuple(d.block for d in block.dims)
    axes = frozenset(axis(i) for i in range(rank))
    ptr = block.ptr
    offset = ptr.offset + total(w * d.stride for w, d in zip(where, block.dims, strict=True))
    deps = block.deps | axes
    return (
        replace(ptr, offset=offset, shape=shape, deps=deps, feeds=block.feeds),
        Bool(cond=Cond.join("and", guards), shape=shape, deps=deps),
    )


def _checked_dims(checked: Value, rank: int) -> list[int]:
    items = checked.obj if isinstance(checked, Static) and isinstance(checked.obj, tuple) else ()
    out = []
    for v in items:
        i = v.expr.value if isinstance(v, Num) else None
        if i is not None and -rank <= i < rank:
            out.append(i % rank)
    return out


def _record(
    state: State, kind: Kind, ptr: Ptr, mask: Bool, node: ast.AST, text: str, names: Names,
    deps: frozenset[str] | None, load_id: int | None,
) -> None:  # fmt: skip
    if state.dry:
        return
    shape = broadcast((ptr.shape, mask.shape))
    # a block of lower rank has its lanes along other axes than its source means
    shown = tuple((k, v.expr) for k, v in names if len(v.shape) in (0, len(shape)))
    raw = RawAccess(
        kind, ptr, shape, mask.cond, tuple(state.path), tuple(state.loops), tuple(state.facts),
        node, text, shown, deps, load_id, ptr.narrow, (*mask.narrow, *state.path_narrow), state.barriers,
    )  # fmt: skip
    state.accesses.append(raw)


# -- block pointers -----------------------------------------------------------------------------


def _exprs(state: State, v: Value, node: ast.AST) -> list[Expr]:
    if not (isinstance(v, Static) and isinstance(v.obj, tuple)):
        raise Unsupported(f"a list of sizes in {ast.unparse(node)[:80]}")
    return [settled(state, as_num(state, x, node), node, address=True).expr for x in v.obj]


def make_block(state: State, args: Mapping[str, Value], node: ast.Call, descriptor: bool) -> Value:
    """``tl.make_block_ptr`` and ``tl.make_tensor_descriptor``."""
    base = args.get("base")
    if not isinstance(base, Ptr):
        raise Unsupported(f"block pointer {ast.unparse(node)[:80]}")
    need = ("shape", "strides", "block_shape") + (() if descriptor else ("offsets",))
    if any(k not in args for k in need):
        raise Unsupported(f"block pointer {ast.unparse(node)[:80]}")
    extents, strides, blocks = (_exprs(state, args[k], node) for k in ("shape", "strides", "block_shape"))
    offsets = [ZERO] * len(extents) if descriptor else _exprs(state, args["offsets"], node)
    dims = tuple(BlockDim(*d) for d in zip(extents, strides, offsets, blocks, strict=True))
    like = unknown(base, *(v for k in need for v in _items(args[k])))
    return BlockPtr(ptr=base, dims=dims, checked=descriptor, deps=like.deps, feeds=like.feeds)


def _items(v: Value) -> tuple[Value, ...]:
    return v.obj if isinstance(v, Static) and isinstance(v.obj, tuple) else (v,)


def advance(state: State, block: Value, by: Value, node: ast.AST, absolute: bool = False) -> Value:
    """``tl.advance``; ``absolute``: the offsets of a descriptor access."""
    if not isinstance(block, BlockPtr):
        raise Unsupported(f"block pointer {ast.unparse(node)[:80]}")
    steps = _exprs(state, by, node)
    dims = tuple(
        replace(d, offset=s if absolute else d.offset + s) for d, s in zip(block.dims, steps, strict=True)
    )
    return replace(block, dims=dims, deps=block.deps | deps_of(_items(by)))


# -- helpers of the generator's runtime that touch memory ----------------------------------------


def helper(state: State, name: str, args: Sequence[Value], node: ast.Call) -> Value | None:
    """Runtime helpers that take a pointer; None for a name this module has no model of."""
    ptr = args[0] if args and isinstance(args[0], Ptr) else None
    if name == "x_grid_barrier" and ptr is not None:
        _record(state, "atomic", ptr, Bool(cond=TRUE), node, "semaphore", (), None, None)
        state.barrier(grid=True)
        return NONE
    if name.startswith("exclusive_scan_decoupled_lookback") and ptr is not None and len(args) >= 3:
        return _lookback(state, ptr, args, node, wide=name.endswith("_64"))
    if name == "bucketize_binary_search" and len(args) >= 6:
        return _bucketize(state, args, node)
    return None


def _lookback(state: State, ptr: Ptr, args: Sequence[Value], node: ast.Call, wide: bool) -> Value:
    """Blocks publish to slot ``index`` of the scratch memory and read the slots before it.

    A slot is one element, or three (flag, value, prefix) for 64-bit values.
    """
    at = settled(state, as_num(state, args[2], node), node)
    blocks = next((v.extent for n, v in state.vars.items() if at.expr == sym(n)), None)
    kind_of: VarKind = "loop" if blocks is not None else "data"
    before = state.fresh(node, "block", VarInfo(kind_of, blocks, "block", 0, None))
    slots: list[tuple[Kind, Expr, Cond]] = [
        ("atomic", at.expr, TRUE),
        ("atomic", before, compare("<", before, at.expr)),
    ]
    for kind, slot, guard in slots:
        for part in range(3 if wide else 1):
            where = replace(
                ptr, offset=ptr.offset + slot * (3 if wide else 1) + part, deps=ptr.deps | at.deps
            )
            _record(state, kind, where, Bool(cond=guard), node, "scan state", (), None, None)
    state.use(args[1:3])
    return unknown(*args[1:3])


def _bucketize(state: State, args: Sequence[Value], node: ast.Call) -> Value:
    """A binary search: reads ``boundaries[offset + stride * mid]`` for 0 <= mid < size, inside the array."""
    values, base, size, numel, stride, offset = args[:6]
    sorter = args[8] if len(args) > 8 else NONE
    if not isinstance(base, Ptr) or not isinstance(values, (Real, Num)) or isinstance(sorter, Ptr):
        raise Unsupported(f"binary search {ast.unparse(node)[:80]}")
    n, count, step, start = (
        settled(state, as_num(state, v, node), node).expr for v in (size, numel, stride, offset)
    )
    mid = state.fresh(node, "mid", VarInfo("loop", n, "mid"))
    guard = compare("<", step * mid + start, count)
    where = replace(base, offset=base.offset + start + step * mid, shape=values.shape, deps=values.deps)
    _record(state, "load", where, Bool(cond=guard), node, "boundaries", (), None, None)
    state.use(args[:6])
    found = state.data(node, "bucket", unknown(values, offset), 0, None)
    return replace(found, expr=minimum(found.expr, n))


# -- index in elements of the parameter ----------------------------------------------------------


def element_index(ptr: Ptr, itemsize: int | None) -> tuple[Expr | None, tuple[str, int] | None]:
    """The index in elements of the parameter, and an extra (symbol, extent) over the parts of a wide access.

    None when the pointer was reinterpreted and the parameter's element size is not known.
    """
    if ptr.base == ZERO and ptr.size == itemsize:
        return ptr.offset, None
    if itemsize is None:
        return (ptr.offset, None) if ptr.base == ZERO else (None, None)
    first = ptr.base + ptr.offset * ptr.size
    if ptr.size % itemsize == 0:
        parts = ptr.size // itemsize
        return floordiv(first, itemsize) + (sym("part") if parts > 1 else ZERO), (
            ("part", parts) if parts > 1 else None
        )
    return floordiv(first + sym("part"), const(itemsize)), ("part", ptr.size)
