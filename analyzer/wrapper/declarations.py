"""Declarations in host code: handles, views, moves, size arrays, symbols and scalars."""

from __future__ import annotations

import re

from ..cxx.nodes import Node
from ..model.dtypes import from_cxx
from ..model.program import Alloc, Call, Move, Own, Reset, Symbol, View
from ..symbolic import ONE, ZERO, Expr, Op, product, sym
from .completeness import cover
from .context import Context
from .host import (
    ArgumentList,
    Constants,
    Handle,
    HandleList,
    NotUnderstood,
    Pointer,
    SizesOf,
    Text_,
    Value,
    converted,
)
from .operands import handle, integer, ints, peel, view

#: Types of the addresses that launches take.
_DEVICE_POINTERS = re.compile(r"\b(?:CUdeviceptr|hipDeviceptr_t|void *\*)$")
#: Calls that return an owner of a new tensor.
_OWNERS = frozenset(("reinterpret_tensor_wrapper", "RAIIAtenTensorHandle", "scalar_to_tensor_handle"))
_RAW = re.compile(r"(?:const\s+)?AtenTensorHandle(?:\s+const)?")
HANDLE_TYPES = re.compile(r"\b(?:RAII)?AtenTensorHandle$|\bConstantHandle$")
_INT_TYPES = re.compile(r"\b(?:u?int\d*_t|int|long|size_t|bool|auto)\b\s*&?$")
#: Declarations that concern streams, guards, profiling or bookkeeping, not tensors.
_NO_TENSORS = re.compile(
    r"Guard\b|RecordFunction|\bKernelContext|\bcudaStream_t\b|\bhipStream_t\b|stringstream|\bC10IValueHandle"
    r"|\bRAIIC10IValueHandle|unordered_map|MetalKernelFunction|^static auto\b|\bRAIIPyObject\b|^py::"
)


def decl(ctx: Context, node: Node) -> None:
    name, type_ = str(node.value), node.type
    init = node.kids[-1] if node.kids else None
    if _NO_TENSORS.search(type_) and "std::function" not in type_:
        cover(ctx, node)
        return
    if "ArrayRefTensor" in type_ and "ThreadLocal" not in type_:
        arrayref(ctx, node, name)
    elif "ThreadLocal" in type_ or "thread_local" in type_ or "tuple_element" in type_:
        ctx.scope.define(name, Handle(name))
    elif type_.endswith("*") and init is not None and init.kind == "null" and "int64_t" in type_:
        ctx.scope.define(name, ())
    elif init is not None and _owned_by_temporary(type_, init):
        base = handle(ctx, init)
        if base is None:
            raise NotUnderstood("handle of something that is no tensor")
        ctx.scope.define(name, Handle(name))
        ctx.emit(View(name, base, None, None, ZERO, "alias", ctx.loc(node), "="))
        ctx.emit(Reset(name, ctx.loc(node), temporary=True))
    elif init is not None and init.kind in ("init", "construct") and _lists_handles(ctx, node):
        handle_list(ctx, node, name, init)
    elif init is not None and _DEVICE_POINTERS.search(type_) and (base := handle(ctx, init)) is not None:
        ctx.scope.define(name, Pointer(base))
    elif init is not None and init.kind == "init" and "void*" in type_.replace(" ", ""):
        ctx.scope.define(name, ArgumentList(tuple(init.kids)))
    elif init is not None and type_ == "Grid":
        grid = peel(init)
        ctx.scope.define(name, tuple(integer(ctx, k) for k in grid.kids))
    elif init is None:
        uninitialised(ctx, node, name, type_)
    elif HANDLE_TYPES.search(type_):
        owner(ctx, node, name, init)
    elif init.kind == "init" and re.search(r"int(?:64|32)_t\s*$", type_):
        values = ints(ctx, init)
        if values is None:
            raise NotUnderstood("size array")
        ctx.scope.define(name, values)
    elif init.kind == "lambda" or "std::function" in type_:
        ctx.scope.define(name, init if init.kind == "lambda" else ctx.value(init.value))
    elif type_ in ("float", "double", "const float", "const double") or "char" in type_:
        ctx.scope.define(name, Text_(ctx.text(init)))
    else:
        auto(ctx, node, name, init)


def _owned_by_temporary(type_: str, init: Node) -> bool:
    """``AtenTensorHandle v = owner()`` or ``auto v = owner().get()``: the owner ends with the declaration."""
    raw = _RAW.fullmatch(type_.strip()) is not None
    while init.kind == "cast" or (init.kind == "method" and init.value == "get" and init.kids):
        raw = raw or init.kind == "method"
        init = init.kids[0]
    makes = {str(init.value), str(peel(init).value)}
    return raw and init.kind in ("call", "construct") and not _OWNERS.isdisjoint(makes)


def _lists_handles(ctx: Context, node: Node) -> bool:
    """Whether a declaration is of an array, ``std::array`` or ``std::vector`` of raw handles."""
    text = ctx.text(node)
    return (
        re.match(rf"(const )?(std::(array|vector)<)?AtenTensorHandle\b[^{{(=]*?(>|\b{node.value} ?\[)", text)
        is not None
    )


def handle_list(ctx: Context, node: Node, name: str, init: Node) -> None:
    """``AtenTensorHandle args[] = {buf0, …}``: raw handles, whose owners must last as long as the list is used."""
    held: list[Handle | None] = []
    for i, item in enumerate(init.kids):
        base = handle(ctx, item)
        element = None if base is None else Handle(base)
        if base is not None and _owned_by_temporary("AtenTensorHandle", item):
            element = Handle(f"{name}[{i}]")
            ctx.emit(View(element.name, base, None, None, ZERO, "alias", ctx.loc(item), "="))
            ctx.emit(Reset(element.name, ctx.loc(item), temporary=True))
        held.append(element)
    ctx.scope.define(name, HandleList(tuple(held)))


def uninitialised(ctx: Context, node: Node, name: str, type_: str) -> None:
    if HANDLE_TYPES.search(type_):
        ctx.scope.define(name, Handle(name))
        if "RAII" in type_:  # what a branch puts into it stays in it after the branch
            ctx.emit(Reset(name, ctx.loc(node)))
    else:
        ctx.scope.define(name, Text_("?"))


def owner(ctx: Context, node: Node, name: str, init: Node) -> None:
    """``RAIIAtenTensorHandle x(h)`` or ``= call(…)``."""
    if init.kind == "name" and isinstance(v := ctx.value(init.value), Handle):
        ctx.scope.define(name, Handle(name))
        ctx.emit(Own(name, v.name, ctx.loc(node)))
    elif init.kind == "call" and init.value == "scalar_to_tensor_handle":
        ctx.scope.define(name, Handle(name))
        ctx.emit(Call("scalar_to_tensor_handle", (), (name,), ctx.loc(node), ctx.text(node)))
    elif init.kind in ("null", "construct") and not init.kids:
        ctx.scope.define(name, Handle(name))
    elif init.kind == "method" and init.value == "get" and (base := handle(ctx, init)) is not None:
        ctx.scope.define(name, Pointer(base))  # no owner: it is used as the one it was taken from
    else:
        auto(ctx, node, name, init)


def arrayref(ctx: Context, node: Node, name: str) -> None:
    """``ArrayRefTensor<float> b(b_storage, sizes, strides, device, index)``: storage on the stack."""
    args = node.kids[-1].kids if node.kids and node.kids[-1].kind in ("construct", "call") else []
    m = re.search(r"ArrayRefTensor<\s*([\w:]+)\s*>", node.type)
    ctx.scope.define(name, Handle(name))
    if len(args) < 3:
        return
    sizes, strides = ints(ctx, args[1]), ints(ctx, args[2])
    if sizes is None or strides is None:
        raise NotUnderstood("stack tensor")
    count = ctx.value(str(args[0].value))
    dtype = (from_cxx(m.group(1)) or "") if m else "float32"
    if isinstance(count, Expr) and count != product(sizes):
        ctx.emit(Alloc(f"{name}_storage", (count,), (ONE,), dtype, "cpu", ctx.loc(node), "stack"))
    ctx.emit(Alloc(name, sizes, strides, dtype, "cpu", ctx.loc(node), "stack"))


def auto(ctx: Context, node: Node, name: str, init: Node) -> None:
    inner = peel(init)
    if inner.kind == "call" and inner.value == "reinterpret_tensor_wrapper":
        note = line_comment(ctx, node)
        ctx.scope.define(name, Handle(name))
        view(ctx, inner, name, note, ctx.loc(node))
    elif init.kind == "call" and init.value == "move":
        move(ctx, node, name, init)
    elif init.kind == "method" and init.value == "at" and isinstance(at(ctx, init), Constants):
        index = integer(ctx, init.kids[1]).value
        if index is None:
            raise NotUnderstood("constant index")
        ctx.scope.define(name, Handle(name))
        ctx.constants.append((name, index))
    elif init.kind == "method" and init.value in ("sizes", "strides"):
        base = handle(ctx, init.kids[0])
        if base is None:
            raise NotUnderstood("sizes of something that is no tensor")
        ctx.scope.define(name, SizesOf(base, init.value == "strides"))
    elif init.kind == "call" and init.value == "get_data_ptr_wrapper":
        base = handle(ctx, init.kids[0])
        if base is None:
            raise NotUnderstood("pointer to something that is no tensor")
        ctx.scope.define(name, Pointer(base))
    elif init.kind == "call" and init.value in (
        "steal_from_raw_handles_to_raii_handles",
        "alloc_tensors_by_stealing_from_handles",
    ):
        ctx.scope.define(name, Text_("inputs"))
    elif name == "kernels" or (init.kind == "name" and str(init.value).startswith("cached_torch_")):
        ctx.scope.define(name, Text_(ctx.text(init)))
    elif (
        inner.kind == "call"
        and inner.value in ("get", "c_to_arrayref_tensor")
        and arrayref_input(ctx, name, node)
    ):
        pass
    elif init.kind in ("construct", "call", "cast") and (
        "RAIIAtenTensorHandle" in (str(init.value), init.type) and isinstance(v := held(ctx, inner), Handle)
    ):
        ctx.scope.define(name, Handle(name))
        ctx.emit(Own(name, v.name, ctx.loc(node)))
    elif inner.kind == "name" and isinstance(v := ctx.value(inner.value), Handle):
        ctx.scope.define(name, Handle(name))
        ctx.emit(View(name, v.name, None, None, ZERO, "alias", ctx.loc(node), "="))
    else:
        scalar(ctx, node, name, init)


def held(ctx: Context, node: Node) -> Value:
    return ctx.value(node.value) if node.kind == "name" else None


def scalar(ctx: Context, node: Node, name: str, init: Node) -> None:
    """``int64_t s77 = x_size[0]``: a size that names a symbol, or any integer expression."""
    if not _INT_TYPES.search(node.type):
        raise NotUnderstood(f"declaration of {name}")
    if init.kind in ("float", "str"):
        ctx.scope.define(name, Text_(ctx.text(init)))
        return
    value_of = ctx.value(init.value) if init.kind == "name" else None
    if isinstance(value_of, Text_):
        ctx.scope.define(name, value_of)
        return
    e = converted(integer(ctx, init), node.type)
    fresh = fresh_dim(ctx, e)
    if fresh is None and re.fullmatch(r"[su]\d+", name):
        solved(ctx, e, name, node)
        ctx.scope.define(name, e if name not in ctx.symbols else sym(name))
        return
    if fresh is not None and name not in ctx.symbols:
        key, label = fresh
        backed = key[0] in {n for n, _ in ctx.inputs.values()}
        del ctx.symbols[label]
        ctx.dims[key] = sym(name)
        ctx.symbols[name] = Symbol(name, 0, None, ctx.loc(node), backed)
        ctx.scope.define(name, sym(name))
        return
    ctx.scope.define(name, e)


def solved(ctx: Context, e: Expr, name: str, node: Node) -> None:
    """``s3 = (x_size_0 + c) // d``: the dimension is ``d*s3 - c`` and ``s3`` is the symbol."""
    if len(e.terms) != 1:
        return
    ((mono, k),) = e.terms.items()
    op = mono[0] if len(mono) == 1 and k == 1 else None
    if not isinstance(op, Op) or op.kind != "floordiv":
        return
    inner, d = op.args
    for key, value in ctx.dims.items():
        label = next(iter(value.symbols), "")
        if value == sym(label) and label in inner.symbols and inner.terms.get((label,)) == 1:
            rest = inner - value
            if label in rest.symbols:
                continue
            solved = sym(name) * d - rest
            ctx.dims[key] = solved
            ctx.symbols.pop(label, None)
            ctx.symbols[name] = Symbol(name, 0, None, ctx.loc(node))
            ctx.scope.assign(label, solved)
            return


def fresh_dim(ctx: Context, e: Expr) -> tuple[tuple[str, bool, int], str] | None:
    """The tensor dimension whose provisional symbol ``e`` is, to be named by this declaration."""
    if len(e.terms) != 1:
        return None
    for key, d in ctx.dims.items():
        if d == e and next(iter(d.symbols)) == f"{key[0]}_{'stride' if key[1] else 'size'}_{key[2]}":
            return key, next(iter(d.symbols))
    return None


def move(ctx: Context, node: Node, name: str, init: Node) -> None:
    source = init.kids[0]
    if source.kind == "index":
        index = integer(ctx, source.kids[1]).value
        if index is None:
            raise NotUnderstood("input index")
        ctx.inputs[index] = (name, ctx.loc(node))
        ctx.scope.define(name, Handle(name))
        return
    base = handle(ctx, source)
    if base is None:
        raise NotUnderstood("move of something that is no tensor")
    ctx.scope.define(name, Handle(name))
    ctx.emit(Move(name, base, ctx.loc(node)))


def arrayref_input(ctx: Context, name: str, node: Node) -> bool:
    """``std::get<0>(inputs)`` and ``c_to_arrayref_tensor<float>(c_inputs[0])``."""
    m = re.search(r"get<(\d+)>\(inputs\)|c_inputs\[(\d+)\]", ctx.original[node.start : node.end])
    if m is None:
        return False
    ctx.inputs[int(m.group(1) or m.group(2))] = (name, ctx.loc(node))
    ctx.scope.define(name, Handle(name))
    return True


def at(ctx: Context, init: Node) -> Value:
    base = init.kids[0] if init.kids else None
    return ctx.value(str(base.value)) if base is not None and base.kind in ("name", "member") else None


def line_comment(ctx: Context, node: Node) -> str:
    end = ctx.original.find("\n", node.end)
    tail = ctx.original[node.end : end if end >= 0 else len(ctx.original)]
    m = re.search(r"//\s*(reuse|alias)\b", tail)
    return m.group(1) if m else ""
