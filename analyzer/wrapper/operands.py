"""What nodes of host code denote: tensors, integers, integer lists, arguments of calls."""

from __future__ import annotations

from ..cxx.nodes import Node
from ..model.location import Loc
from ..model.program import Arg, Tensor, View
from ..symbolic import ZERO, Cond, Expr
from . import host
from .context import Context
from .host import Handle, HandleList, NotUnderstood, Pointer, SizesOf, Text_

WRAPPERS = frozenset((
    "wrap_with_raii_handle_if_needed", "temporary_reference", "RAIIAtenTensorHandle", "handle_t",
    "borrow_arrayref_tensor_as_tensor", "copy_arrayref_tensor_to_tensor", "AtenTensorHandle",
    "expensive_copy_to_tensor_if_needed", "convert_arrayref_tensor_to_tensor", "ConstantHandle",
    "unwrap_raii_handle_if_needed", "move",
))  # fmt: skip
#: Those that copy a stack array's elements, as many as the array has from there on.
_COPIES = frozenset(("copy_arrayref_tensor_to_tensor", "convert_arrayref_tensor_to_tensor"))
_GRID = ("grid_x", "grid_y", "grid_z")
_POINTER_METHODS = frozenset(("data_ptr", "data"))


def dtype_of(text: str) -> str:
    return text.removeprefix("cached_torch_dtype_").removeprefix("aoti_torch_dtype_")


# -- integers --------------------------------------------------------------------------------


def lookup(ctx: Context, node: Node) -> Expr:
    """Leaves of integer expressions: variables and size queries."""
    if node.kind == "name":
        value = ctx.value(node.value)
        if isinstance(value, Expr):
            return value
    if node.kind == "member" and node.value in _GRID and node.kids and node.kids[0].kind == "name":
        grid = ctx.value(node.kids[0].value)
        extent = grid[_GRID.index(node.value)] if isinstance(grid, tuple) and len(grid) == 3 else None
        if isinstance(extent, Expr):
            return extent
    if node.kind == "index" and len(node.kids) == 2 and node.kids[0].kind == "name":
        base, dim = ctx.value(node.kids[0].value), node.kids[1]
        if isinstance(base, SizesOf) and dim.kind == "int":
            return ctx.dim(base.name, base.strides, dim.value, ctx.loc(node))
    if node.kind == "index" and node.kids and node.kids[0].kind == "method":
        method = node.kids[0]
        name = handle(ctx, method.kids[0]) if method.kids else None
        if name is not None and method.value in ("sizes", "strides") and node.kids[1].kind == "int":
            return ctx.dim(name, method.value == "strides", node.kids[1].value, ctx.loc(node))
    if node.kind == "method" and node.value in ("size", "stride") and len(node.kids) == 2:
        name = handle(ctx, node.kids[0])
        if name is not None and node.kids[1].kind == "int":
            return ctx.dim(name, node.value == "stride", node.kids[1].value, ctx.loc(node))
    raise NotUnderstood(ctx.text(node))


def integer(ctx: Context, node: Node) -> Expr:
    """The integer a node denotes. Raises NotUnderstood."""
    return host.integer(node, lambda leaf: lookup(ctx, leaf))


def condition(ctx: Context, node: Node) -> Cond:
    """The condition on sizes a node denotes. Raises NotUnderstood."""
    return host.condition(node, lambda leaf: lookup(ctx, leaf))


def ints(ctx: Context, node: Node) -> tuple[Expr, ...] | None:
    """The integers of an array variable or braces; None when it is no integer list."""
    while node.kind == "cast" or (node.kind == "call" and node.value == "temporary_reference"):
        node = node.kids[0]
    if node.kind == "method" and node.value in ("data", "cbegin", "begin") and node.kids:
        return ints(ctx, node.kids[0])
    if node.kind == "name":
        value = ctx.value(node.value)
        if isinstance(value, tuple):
            return tuple(v for v in value if isinstance(v, Expr))
        return None
    if node.kind in ("init", "construct") and node.value in (None, "array", "initializer_list"):
        try:
            out: list[Expr] = []
            for k in node.kids:
                out += ints(ctx, k) or () if k.kind in ("init", "construct") else (integer(ctx, k),)
            return tuple(out)
        except NotUnderstood:
            return None
    return None


# -- tensors -----------------------------------------------------------------------------------


def handle(ctx: Context, node: Node) -> str | None:
    """Name of the tensor a node denotes; views written inline become events. None when it is no tensor."""
    name = _handle(ctx, peel(node))
    if name is None or not _copies(node):
        return name
    copy = ctx.temporary()
    ctx.emit(View(copy, name, None, None, ZERO, "arrayref", ctx.loc(node)))
    return copy


def _copies(node: Node) -> bool:
    """Whether a tensor on the stack is copied into one of its own here."""
    while node.kind in ("cast", "call", "construct") and node.kids and node is not peel(node):
        if node.value in _COPIES:
            return True
        node = node.kids[-1]
    return False


def _handle(ctx: Context, node: Node) -> str | None:
    if node.kind == "name":
        value = ctx.value(node.value)
        if isinstance(value, Handle):
            return value.name
        return value.name if isinstance(value, Pointer) else None
    if node.kind == "call" and node.value == "reinterpret_tensor_wrapper":
        return view(ctx, node, ctx.temporary())
    if node.kind == "method" and node.value in ("get", "release", *_POINTER_METHODS) and node.kids:
        return handle(ctx, node.kids[0])
    if node.kind == "call" and node.value == "get_data_ptr_wrapper":
        return handle(ctx, node.kids[0])
    if node.kind == "un" and node.value == "&":
        return handle(ctx, node.kids[0])
    if node.kind == "index":
        return input_name(ctx, node)
    return None


def peel(node: Node) -> Node:
    while True:
        if node.kind == "cast" or (
            node.kind in ("call", "construct") and node.value in WRAPPERS and len(node.kids) == 1
        ):
            node = node.kids[-1]
        else:
            return node


def view(ctx: Context, node: Node, result: str, note: str = "", loc: Loc | None = None) -> str:
    """``reinterpret_tensor_wrapper(base, n, sizes, strides, offset)``."""
    ctx.account(node)
    base = handle(ctx, node.kids[0])
    sizes, strides = ints(ctx, node.kids[2]), ints(ctx, node.kids[3])
    if base is None or sizes is None or strides is None:
        raise NotUnderstood("view of something that is no tensor")
    offset = integer(ctx, node.kids[4])
    ctx.emit(View(result, base, sizes, strides, offset, "reinterpret", loc or ctx.loc(node), note=note))
    return result


def argument(ctx: Context, node: Node) -> Arg:
    """An argument of an extern call; a part that is not understood is its text."""
    inner = peel(node)
    if inner.kind == "null" or (inner.kind == "name" and inner.value == "NULL"):
        return None
    if inner.kind == "un" and inner.value == "&" and inner.kids[0].kind == "name":
        value = ctx.value(inner.kids[0].value)
        if isinstance(value, Expr):
            return value
        if isinstance(value, Text_):
            return value.text
    listed = ctx.value(inner.value) if inner.kind == "name" else None
    if isinstance(listed, HandleList):
        return tuple(None if h is None else Tensor(h.name) for h in listed.items)
    name = handle(ctx, node)
    if name is not None:
        return Tensor(name)
    numbers = ints(ctx, inner)
    if numbers is not None:
        return numbers
    if inner.kind == "method" and inner.value in ("data", "cbegin", "begin") and inner.kids:
        return argument(ctx, inner.kids[0])
    if inner.kind in ("init", "construct", "un") and (inner.kind != "un" or inner.value == "&"):
        return tuple(argument(ctx, k) for k in inner.kids)
    if inner.kind in ("str", "float"):
        return str(inner.value).strip('"')
    try:
        return integer(ctx, inner)
    except NotUnderstood:
        pass
    value = ctx.value(inner.value) if inner.kind == "name" else None
    return value.text if isinstance(value, Text_) else ctx.text(inner)


def input_name(ctx: Context, node: Node) -> str | None:
    if node.kids and node.kids[0].kind == "name" and node.kids[0].value in ("inputs", "input_handles"):
        index = integer(ctx, node.kids[1]).value
        if index is not None:
            return ctx.inputs.get(index, (f"inputs[{index}]", None))[0]
    return None


def output_index(ctx: Context, node: Node) -> int | None:
    if node.kind == "index" and node.kids[0].kind == "name" and node.kids[0].value == "output_handles":
        return integer(ctx, node.kids[1]).value
    return None
