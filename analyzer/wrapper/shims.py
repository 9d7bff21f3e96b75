"""Calls in host code: C shim functions, views, kernel launches of every dialect."""

from __future__ import annotations

from collections.abc import Callable

from ..cxx.nodes import Node
from ..model.program import Alloc, Arg, Call, Check, Reset, Tensor, View
from ..symbolic import ZERO
from .completeness import cover, is_harmless
from .context import Context
from .host import Handle, NotUnderstood, Pointer, Text_
from .operands import argument, condition, dtype_of, handle, integer, ints, output_index, peel

# -- C shims ------------------------------------------------------------------------------------


def shim(ctx: Context, node: Node) -> None:
    """A call of an ``aoti_torch_…`` function."""
    name = str(node.value)
    special = _SHIMS.get(name)
    if special is None and name.startswith("aoti_torch_item_"):
        special = _item
    if special is None and name.endswith("_view_dtype"):
        special = _view_dtype
    if special is not None:
        special(ctx, node)
    elif is_harmless(name):
        cover(ctx, node)
        for k in node.kids:
            handle(ctx, k)  # views written inline
    else:
        extern(ctx, node)


def _result(ctx: Context, node: Node) -> str | None:
    """The handle an ``&x`` argument is filled with, or None."""
    if node.kind == "un" and node.value == "&" and node.kids[0].kind == "name":
        value = ctx.value(node.kids[0].value)
        if isinstance(value, Handle):
            return value.name
    return None


def extern(ctx: Context, node: Node) -> None:
    """Any op: trailing ``&handle`` arguments are results; ``&scalar`` ones become symbols."""
    args: list[Arg] = []
    results: list[str | None] = []
    for k in node.kids:
        out = _result(ctx, k)
        if out is not None:
            results.append(out)
            continue
        if results and k.kind == "null":
            results.append(None)
            continue
        if k.kind == "un" and k.value == "&" and k.kids[0].kind == "index":
            index = output_index(ctx, k.kids[0])
            if index is not None:
                results.append(f"output_{index}")
                continue
        if k.kind == "un" and k.value == "&" and k.kids[0].kind == "name" and ctx.is_pending(k.kids[0].value):
            ctx.bind_symbol(k.kids[0].value, ctx.loc(k), lo=None)
            continue
        args.append(argument(ctx, k))
    ctx.emit(
        Call(node.value, tuple(args), tuple(results), ctx.loc(node), ctx.text(node), ctx.source_nodes(node))
    )


def _empty_strided(ctx: Context, node: Node) -> None:
    sizes, strides = ints(ctx, node.kids[1]), ints(ctx, node.kids[2])
    result = _result(ctx, node.kids[-1])
    if sizes is None or strides is None or result is None:
        raise NotUnderstood("allocation with sizes that are not known")
    device = ctx.text(node.kids[4]).removeprefix("cached_torch_device_type_")
    ctx.emit(
        Alloc(result, sizes, strides, dtype_of(ctx.text(node.kids[3])), device, ctx.loc(node), node.value)
    )


def _as_strided(ctx: Context, node: Node) -> None:
    base, result = handle(ctx, node.kids[0]), _result(ctx, node.kids[-1])
    sizes, strides = ints(ctx, node.kids[-3]), ints(ctx, node.kids[-2])
    if base is None or result is None or sizes is None or strides is None:
        raise NotUnderstood("as_strided")
    ctx.emit(View(result, base, sizes, strides, ZERO, "as_strided", ctx.loc(node), node.value))


def _pool(ctx: Context, node: Node) -> None:
    base, result = handle(ctx, node.kids[0]), _result(ctx, node.kids[-1])
    sizes, strides = ints(ctx, node.kids[4]), ints(ctx, node.kids[5])
    if base is None or result is None or sizes is None or strides is None:
        raise NotUnderstood("alloc_from_pool")
    ctx.emit(
        View(
            result, base, sizes, strides, integer(ctx, node.kids[1]), "pool", ctx.loc(node), node.value,
            dtype_of(ctx.text(node.kids[2])),
        )
    )  # fmt: skip


def _alias(ctx: Context, node: Node) -> None:
    base, result = handle(ctx, node.kids[0]), _result(ctx, node.kids[-1])
    if base is None or result is None:
        raise NotUnderstood("alias")
    ctx.emit(View(result, base, None, None, ZERO, "alias", ctx.loc(node), node.value))


def _delete(ctx: Context, node: Node) -> None:
    name = handle(ctx, node.kids[0]) if node.kids else None
    if name is not None:
        ctx.emit(Reset(name, ctx.loc(node), deleted=True))


def _data_pointer(ctx: Context, node: Node) -> None:
    """``aoti_torch_get_data_ptr(x, reinterpret_cast<void**>(&p))``."""
    name, target = handle(ctx, node.kids[0]), peel(node.kids[-1])
    if name is None or target.kind != "un" or target.value != "&" or target.kids[0].kind != "name":
        raise NotUnderstood("pointer to something that is no tensor")
    ctx.scope.assign(str(target.kids[0].value), Pointer(name))
    ctx.covered.add(name)


def _view_dtype(ctx: Context, node: Node) -> None:
    base, result = handle(ctx, node.kids[0]), _result(ctx, node.kids[-1])
    if base is None or result is None:
        raise NotUnderstood("view_dtype")
    dtype = dtype_of(ctx.text(node.kids[1]))
    ctx.emit(View(result, base, None, None, ZERO, "dtype", ctx.loc(node), node.value, dtype))


def _uninitialized(ctx: Context, node: Node) -> None:
    result = _result(ctx, node.kids[-1])
    if result is None and node.kids[-1].kind == "un":
        return  # an output slot of the array interface
    if result is not None:
        ctx.emit(Call(node.value, (), (result,), ctx.loc(node), ctx.text(node)))


def _item(ctx: Context, node: Node) -> None:
    """``aoti_torch_item_int64(x, &u_raw)``: a size that comes from data."""
    target = node.kids[-1]
    source = None
    try:
        source = handle(ctx, node.kids[0])
    except NotUnderstood:
        source = None
    args: tuple[Arg, ...] = (Tensor(source),) if source is not None else (ctx.text(node.kids[0]),)
    ctx.emit(Call(node.value, args, (), ctx.loc(node), ctx.text(node)))
    if target.kind == "un" and target.kids and target.kids[0].kind == "name":
        name = target.kids[0].value
        if "int" in node.value or "bool" in node.value:
            hi = 1 if "bool" in node.value else None
            ctx.bind_symbol(name, ctx.loc(node), lo=0 if hi else None, hi=hi)
        else:
            ctx.scope.assign(name, Text_(name))


_SHIMS: dict[str, Callable[[Context, Node], None]] = {
    "aoti_torch_empty_strided": _empty_strided,
    "aoti_torch_empty_strided_pinned": _empty_strided,
    "aoti_torch_as_strided": _as_strided,
    "aoti_torch__alloc_from_pool": _pool,
    "aoti_torch_delete_tensor_object": _delete,
    "aoti_torch_get_data_ptr": _data_pointer,
    "aoti_torch_new_tensor_handle": _alias,
    "aoti_torch_assign_tensors_out": _alias,
    "aoti_torch_new_uninitialized_tensor": _uninitialized,
}


def check(ctx: Context, node: Node, negate: bool = False) -> None:
    """A run-time check: what follows holds only where the condition does."""
    try:
        cond = condition(ctx, node)
    except NotUnderstood:
        return  # a check on data narrows nothing that is tracked here
    ctx.emit(Check(~cond if negate else cond, ctx.loc(node)))
