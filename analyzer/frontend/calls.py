"""Calls in host code: C shim functions, views, kernel launches of every dialect."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from ..expr import Expr, ZERO, const, sym
from ..program import (
    Alloc, Arg, Call, Check, Event, Kernel, Launch, Loc, Tensor, Unmodelled, View,
)  # fmt: skip
from .cxx import Node
from .host import Handle, NotUnderstood, Pointer, SizesOf, Text_, condition

if TYPE_CHECKING:
    from .statements import Reader

#: Shim calls that neither read nor write tensor elements in a way that matters here.
_IGNORED = re.compile(
    r"aoti_torch_(?:print_tensor_handle|save_tensor_handle|check_inf_and_nan|delete_tensor_object"
    r"|get_current_\w+|grad_mode_set_enabled|tensor_to_ivalue|delete_\w+)$"
)
_WRAPPERS = frozenset((
    "wrap_with_raii_handle_if_needed", "temporary_reference", "RAIIAtenTensorHandle", "handle_t",
    "borrow_arrayref_tensor_as_tensor", "copy_arrayref_tensor_to_tensor", "AtenTensorHandle",
    "expensive_copy_to_tensor_if_needed", "convert_arrayref_tensor_to_tensor", "ConstantHandle",
    "unwrap_raii_handle_if_needed", "move",
))  # fmt: skip
_POINTER_METHODS = frozenset(("data_ptr", "data"))


def dtype_of(text: str) -> str:
    return text.removeprefix("cached_torch_dtype_").removeprefix("aoti_torch_dtype_")


# -- operands -----------------------------------------------------------------------------------


def handle(r: Reader, node: Node) -> str | None:
    """Name of the tensor a node denotes; views written inline become events. None when it is no tensor."""
    node = _peel(node)
    if node.kind == "name":
        value = r.value(node.value)
        if isinstance(value, Handle):
            return value.name
        return value.name if isinstance(value, Pointer) else None
    if node.kind == "call" and node.value == "reinterpret_tensor_wrapper":
        return view(r, node, r.temporary())
    if node.kind == "method" and node.value in ("get", "release", *_POINTER_METHODS) and node.kids:
        return handle(r, node.kids[0])
    if node.kind == "call" and node.value == "get_data_ptr_wrapper":
        return handle(r, node.kids[0])
    if node.kind == "un" and node.value == "&":
        return handle(r, node.kids[0])
    if node.kind == "index":
        return r.input_name(node)
    return None


def _peel(node: Node) -> Node:
    while True:
        if node.kind == "cast" or (
            node.kind in ("call", "construct") and node.value in _WRAPPERS and len(node.kids) == 1
        ):
            node = node.kids[-1]
        else:
            return node


def view(r: Reader, node: Node, result: str, note: str = "", loc: Loc | None = None) -> str:
    """``reinterpret_tensor_wrapper(base, n, sizes, strides, offset)``."""
    base = handle(r, node.kids[0])
    sizes, strides = r.ints(node.kids[2]), r.ints(node.kids[3])
    if base is None or sizes is None or strides is None:
        raise NotUnderstood("view of something that is no tensor")
    offset = r.integer(node.kids[4])
    r.emit(View(result, base, sizes, strides, offset, "reinterpret", loc or r.loc(node), note=note))
    return result


def argument(r: Reader, node: Node) -> Arg:
    """An argument of an extern call; a part that is not understood is its text."""
    inner = _peel(node)
    if inner.kind == "null" or (inner.kind == "name" and inner.value == "NULL"):
        return None
    if inner.kind == "un" and inner.value == "&" and inner.kids[0].kind == "name":
        value = r.value(inner.kids[0].value)
        if isinstance(value, Expr):
            return value
        if isinstance(value, Text_):
            return value.text
    name = handle(r, inner)
    if name is not None:
        return Tensor(name)
    ints = r.ints(inner)
    if ints is not None:
        return ints
    if inner.kind == "method" and inner.value in ("data", "cbegin", "begin") and inner.kids:
        return argument(r, inner.kids[0])
    if inner.kind in ("init", "construct", "un") and (inner.kind != "un" or inner.value == "&"):
        return tuple(argument(r, k) for k in inner.kids)
    if inner.kind in ("str", "float"):
        return str(inner.value).strip('"')
    try:
        return r.integer(inner)
    except NotUnderstood:
        pass
    value = r.value(inner.value) if inner.kind == "name" else None
    return value.text if isinstance(value, Text_) else r.text(inner)


# -- C shims ------------------------------------------------------------------------------------


def shim(r: Reader, node: Node) -> None:
    """A call of an ``aoti_torch_…`` function."""
    name = str(node.value)
    special = _SHIMS.get(name)
    if special is None and name.startswith("aoti_torch_item_"):
        special = _item
    if special is None and name.endswith("_view_dtype"):
        special = _view_dtype
    if special is not None:
        special(r, node)
    elif not _IGNORED.match(name):
        extern(r, node)


def _result(r: Reader, node: Node) -> str | None:
    """The handle an ``&x`` argument is filled with, or None."""
    if node.kind == "un" and node.value == "&" and node.kids[0].kind == "name":
        value = r.value(node.kids[0].value)
        if isinstance(value, Handle):
            return value.name
    return None


def extern(r: Reader, node: Node) -> None:
    """Any op: trailing ``&handle`` arguments are results; ``&scalar`` ones become symbols."""
    args: list[Arg] = []
    results: list[str | None] = []
    for k in node.kids:
        out = _result(r, k)
        if out is not None:
            results.append(out)
            continue
        if results and k.kind == "null":
            results.append(None)
            continue
        if k.kind == "un" and k.value == "&" and k.kids[0].kind == "index":
            index = r.output_index(k.kids[0])
            if index is not None:
                results.append(r.output_result(index))
                continue
        if k.kind == "un" and k.value == "&" and k.kids[0].kind == "name" and r.is_pending(k.kids[0].value):
            r.bind_symbol(k.kids[0].value, r.loc(k), lo=None)
            continue
        args.append(argument(r, k))
    r.emit(Call(node.value, tuple(args), tuple(results), r.loc(node), r.text(node), r.source_nodes(node)))


def _empty_strided(r: Reader, node: Node) -> None:
    sizes, strides = r.ints(node.kids[1]), r.ints(node.kids[2])
    result = _result(r, node.kids[-1])
    if sizes is None or strides is None or result is None:
        raise NotUnderstood("allocation with sizes that are not known")
    device = r.text(node.kids[4]).removeprefix("cached_torch_device_type_")
    r.emit(Alloc(result, sizes, strides, dtype_of(r.text(node.kids[3])), device, r.loc(node), node.value))


def _as_strided(r: Reader, node: Node) -> None:
    base, result = handle(r, node.kids[0]), _result(r, node.kids[-1])
    sizes, strides = r.ints(node.kids[-3]), r.ints(node.kids[-2])
    if base is None or result is None or sizes is None or strides is None:
        raise NotUnderstood("as_strided")
    r.emit(View(result, base, sizes, strides, ZERO, "as_strided", r.loc(node), node.value))


def _pool(r: Reader, node: Node) -> None:
    base, result = handle(r, node.kids[0]), _result(r, node.kids[-1])
    sizes, strides = r.ints(node.kids[4]), r.ints(node.kids[5])
    if base is None or result is None or sizes is None or strides is None:
        raise NotUnderstood("alloc_from_pool")
    r.emit(
        View(
            result, base, sizes, strides, r.integer(node.kids[1]), "pool", r.loc(node), node.value,
            dtype_of(r.text(node.kids[2])),
        )
    )  # fmt: skip


def _alias(r: Reader, node: Node) -> None:
    base, result = handle(r, node.kids[0]), _result(r, node.kids[-1])
    if base is None or result is None:
        raise NotUnderstood("alias")
    r.emit(View(result, base, None, None, ZERO, "alias", r.loc(node), node.value))


def _view_dtype(r: Reader, node: Node) -> None:
    base, result = handle(r, node.kids[0]), _result(r, node.kids[-1])
    if base is None or result is None:
        raise NotUnderstood("view_dtype")
    dtype = dtype_of(r.text(node.kids[1]))
    r.emit(View(result, base, None, None, ZERO, "dtype", r.loc(node), node.value, dtype))


def _uninitialized(r: Reader, node: Node) -> None:
    result = _result(r, node.kids[-1])
    if result is None and node.kids[-1].kind == "un":
        return  # an output slot of the array interface
    if result is not None:
        r.emit(Call(node.value, (), (result,), r.loc(node), r.text(node)))


def _item(r: Reader, node: Node) -> None:
    """``aoti_torch_item_int64(x, &u_raw)``: a size that comes from data."""
    target = node.kids[-1]
    source = None
    try:
        source = handle(r, node.kids[0])
    except NotUnderstood:
        source = None
    args: tuple[Arg, ...] = (Tensor(source),) if source is not None else (r.text(node.kids[0]),)
    r.emit(Call(node.value, args, (), r.loc(node), r.text(node)))
    if target.kind == "un" and target.kids and target.kids[0].kind == "name":
        name = target.kids[0].value
        if "int" in node.value or "bool" in node.value:
            hi = 1 if "bool" in node.value else None
            r.bind_symbol(name, r.loc(node), lo=0 if hi else None, hi=hi)
        else:
            r.scope.assign(name, Text_(name))


_SHIMS: dict[str, Callable[[Reader, Node], None]] = {
    "aoti_torch_empty_strided": _empty_strided,
    "aoti_torch_empty_strided_pinned": _empty_strided,
    "aoti_torch_as_strided": _as_strided,
    "aoti_torch__alloc_from_pool": _pool,
    "aoti_torch_new_tensor_handle": _alias,
    "aoti_torch_assign_tensors_out": _alias,
    "aoti_torch_new_uninitialized_tensor": _uninitialized,
}


# -- launches -----------------------------------------------------------------------------------


def cpp_launch(r: Reader, node: Node) -> None:
    """``cpp_fused_x((float*)(buf0.data_ptr()), …, s27)``: arguments bind by position."""
    kernel = r.kernels.get(node.value)
    tensors: list[tuple[str, str]] = []
    scalars: list[tuple[str, Expr]] = []
    locs: list[tuple[str, Loc]] = []
    reason = None if kernel else f"no source for kernel {node.value}"
    for i, k in enumerate(node.kids):
        param = kernel.params[i].name if kernel and i < len(kernel.params) else f"arg{i}"
        _bind(r, k, param, tensors, scalars, locs)
    if kernel and len(node.kids) != len(kernel.params):
        reason = f"{len(node.kids)} arguments for {len(kernel.params)} parameters"
    r.emit(_launch(r, node.value, tensors, scalars, locs, node, reason))


def _bind(
    r: Reader,
    k: Node,
    param: str,
    tensors: list[tuple[str, str]],
    scalars: list[tuple[str, Expr]],
    locs: list[tuple[str, Loc]],
) -> None:
    name = handle(r, k)
    locs.append((param, r.loc(k)))
    if name is not None:
        tensors.append((param, name))
        return
    try:
        scalars.append((param, r.integer(k)))
    except NotUnderstood:
        return  # a float scalar: no index depends on it


def _launch(
    r: Reader,
    kernel: str,
    tensors: list[tuple[str, str]],
    scalars: list[tuple[str, Expr]],
    locs: list[tuple[str, Loc]],
    node: Node,
    reason: str | None,
) -> Launch:
    return Launch(
        kernel, tuple(tensors), tuple(scalars), r.loc(node), tuple(locs), r.source_nodes(node), reason
    )


def triton_launch(r: Reader, node: Node) -> None:
    """``call_triton_x(buf0, arg1, 2048L, device_idx, stream, kernels, cubin_dir)``."""
    launcher = r.launchers.get(node.value)
    tensors: list[tuple[str, str]] = []
    scalars: list[tuple[str, Expr]] = []
    locs: list[tuple[str, Loc]] = []
    if launcher is None:
        names = [n for n in (handle(r, k) for k in node.kids if k.kind in ("name", "call")) if n]
        tensors = [(f"arg{i}", n) for i, n in enumerate(names)]
        kernel = str(node.value).removeprefix("call_")
        r.emit(_launch(r, kernel, tensors, scalars, locs, node, f"no source for {node.value}"))
        return
    for param, k in zip(launcher.params, node.kids, strict=False):
        _bind(r, k, param, tensors, scalars, locs)
    bound = dict(scalars)
    extra = [(n, e.substitute(bound)) for n, e in launcher.constants]
    if launcher.grid is not None:
        bound.update(extra)
        extra += [(f"grid.{i}", g.substitute(bound)) for i, g in enumerate(launcher.grid)]
    locs.append(("grid", launcher.grid_loc))
    launch = _launch(r, launcher.kernel.name, tensors, scalars + extra, locs, node, launcher.reason)
    r.emit(replace(launch, empty_grid_launches=not launcher.returns_when_empty))


def metal_launch(r: Reader, library: str, body: Node, node: Node) -> None:
    """The encoding calls of one command block: arguments by index, grid from the dispatch call."""
    kernel = r.kernels.get(library)
    tensors: list[tuple[str, str]] = []
    scalars: list[tuple[str, Expr]] = []
    locs: list[tuple[str, Loc]] = []
    reason = None if kernel else f"no source for Metal library {library}"
    arrays: dict[str, tuple[Expr, ...]] = {}
    for call in _statements(body):
        name = str(call.value)
        if name.startswith("aoti_torch_mps_set_arg"):
            index = r.integer(call.kids[1]).value
            param = f"arg{index}"
            if kernel and index is not None and index < len(kernel.params):
                param = kernel.params[index].name
            _bind(r, call.kids[2], param, tensors, scalars, locs)
        elif call.kind == "decl":
            ints = r.ints(call.kids[-1]) if call.kids else None
            if ints is None:
                raise NotUnderstood("dispatch array")
            arrays[name] = ints
        elif "dispatch" in name:
            scalars += _grid(r, call, arrays)
        elif name not in ("aoti_torch_mps_start_encoding", "startEncoding"):
            raise NotUnderstood(f"statement in a command block: {r.text(call)[:60]}")
    if not any(n == "grid.0" for n, _ in scalars):
        reason = reason or "no dispatch in the command block"
    r.emit(_launch(r, library, tensors, scalars, locs, node, reason))


def _statements(body: Node) -> list[Node]:
    out: list[Node] = []
    for k in body.kids:
        out += _statements(k) if k.kind == "block" else [k]
    return out


def _grid(r: Reader, call: Node, arrays: dict[str, tuple[Expr, ...]]) -> list[tuple[str, Expr]]:
    """Threads per dimension and, when given, threads per group."""
    args = call.kids[1:]
    sizes: list[tuple[Expr, ...]] = []
    for a in args:
        inner = _peel(a)
        if inner.kind == "name" and inner.value in arrays:
            sizes.append(arrays[inner.value])
        elif inner.kind in ("init", "construct"):
            sizes.append(tuple(r.integer(k) for k in inner.kids))
        elif "array" not in str(call.value):
            sizes.append((r.integer(a),))
    out: list[tuple[str, Expr]] = []
    for label, dims in zip(("grid", "group"), sizes, strict=False):
        out += [(f"{label}.{i}", d) for i, d in enumerate(dims)]
        out += [(f"{label}.{i}", const(1)) for i in range(len(dims), 3)]
    return out


def check(r: Reader, node: Node, negate: bool = False) -> None:
    """A run-time check: what follows holds only where the condition does."""
    try:
        cond = condition(node, r.lookup)
    except NotUnderstood:
        return  # a check on data narrows nothing that is tracked here
    r.emit(Check(~cond if negate else cond, r.loc(node)))


def launches_kernel(r: Reader, node: Node) -> bool:
    """Whether a call that is no shim is a C++ kernel: it is known, or takes cast data pointers."""
    if node.value in r.kernels or str(node.value).startswith("cpp_fused"):
        return True
    return any(k.kind == "cast" and "*" in str(k.value) for k in node.kids)


def unmodelled(r: Reader, node: Node, reason: str) -> Unmodelled:
    names = sorted({v.name for n in _names(node) if isinstance(v := r.value(n), Handle)})
    return Unmodelled(r.text(node), r.loc(node), tuple(names), reason)


def _names(node: Node) -> list[str]:
    out = [str(node.value)] if node.kind == "name" else []
    for k in node.kids:
        out += _names(k)
    return out


