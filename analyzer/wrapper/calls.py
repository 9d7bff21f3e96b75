"""Calls in host code: C shim functions, views, kernel launches of every dialect."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..cxx.nodes import Node
from ..model.location import Loc
from ..model.program import Alloc, Arg, Assert, Call, Check, Event, Tensor, Unmodelled, View
from ..symbolic import ZERO, Expr
from .host import Handle, NotUnderstood, Pointer, Text_, condition

if TYPE_CHECKING:
    from .statements import Reader

#: Shim calls that neither read nor write tensor elements in a way that matters here.
_IGNORED = re.compile(
    r"aoti_torch_(?:print_tensor_handle|save_tensor_handle|check_inf_and_nan|delete_tensor_object"
    r"|get_current_\w+|grad_mode_set_enabled|tensor_to_ivalue|delete_\w+)$"
)
WRAPPERS = frozenset((
    "wrap_with_raii_handle_if_needed", "temporary_reference", "RAIIAtenTensorHandle", "handle_t",
    "borrow_arrayref_tensor_as_tensor", "copy_arrayref_tensor_to_tensor", "AtenTensorHandle",
    "expensive_copy_to_tensor_if_needed", "convert_arrayref_tensor_to_tensor", "ConstantHandle",
    "unwrap_raii_handle_if_needed", "move",
))  # fmt: skip
#: Those that copy a stack array's elements, as many as the array has from there on.
_COPIES = frozenset(("copy_arrayref_tensor_to_tensor", "convert_arrayref_tensor_to_tensor"))
_POINTER_METHODS = frozenset(("data_ptr", "data"))


def dtype_of(text: str) -> str:
    return text.removeprefix("cached_torch_dtype_").removeprefix("aoti_torch_dtype_")


# -- operands -----------------------------------------------------------------------------------


def handle(r: Reader, node: Node) -> str | None:
    """Name of the tensor a node denotes; views written inline become events. None when it is no tensor."""
    name = _handle(r, peel(node))
    if name is None or not _copies(node):
        return name
    copy = r.temporary()
    r.emit(View(copy, name, None, None, ZERO, "arrayref", r.loc(node)))
    return copy


def _copies(node: Node) -> bool:
    """Whether a tensor on the stack is copied into one of its own here."""
    while node.kind in ("cast", "call", "construct") and node.kids and node is not peel(node):
        if node.value in _COPIES:
            return True
        node = node.kids[-1]
    return False


def _handle(r: Reader, node: Node) -> str | None:
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


def peel(node: Node) -> Node:
    while True:
        if node.kind == "cast" or (
            node.kind in ("call", "construct") and node.value in WRAPPERS and len(node.kids) == 1
        ):
            node = node.kids[-1]
        else:
            return node


def consistent(event: Event) -> Event:
    """The event, if its layout has as many sizes as strides."""
    if isinstance(event, (Alloc, Assert, View)):
        sizes, strides = event.sizes, event.strides
        if sizes is not None and strides is not None and len(sizes) != len(strides):
            raise NotUnderstood(f"{len(sizes)} sizes and {len(strides)} strides")
    return event


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
    inner = peel(node)
    if inner.kind == "null" or (inner.kind == "name" and inner.value == "NULL"):
        return None
    if inner.kind == "un" and inner.value == "&" and inner.kids[0].kind == "name":
        value = r.value(inner.kids[0].value)
        if isinstance(value, Expr):
            return value
        if isinstance(value, Text_):
            return value.text
    name = handle(r, node)
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


def check(r: Reader, node: Node, negate: bool = False) -> None:
    """A run-time check: what follows holds only where the condition does."""
    try:
        cond = condition(node, r.lookup)
    except NotUnderstood:
        return  # a check on data narrows nothing that is tracked here
    r.emit(Check(~cond if negate else cond, r.loc(node)))


def unmodelled(r: Reader, node: Node, reason: str) -> Unmodelled:
    names = sorted({v.name for n in _names(node) if isinstance(v := r.value(n), Handle)})
    return Unmodelled(r.text(node), r.loc(node), tuple(names), reason)


def _names(node: Node) -> list[str]:
    out = [str(node.value)] if node.kind == "name" else []
    for k in node.kids:
        out += _names(k)
    return out
