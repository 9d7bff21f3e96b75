"""Statements of one graph body (``run_impl`` and the like) to events."""

from __future__ import annotations

import re
from collections.abc import Callable

from ..cxx.nodes import Node
from ..model.program import Assert, Branch, Call, Event, Loop, Move, Output, Reset
from ..model.record import replace
from ..symbolic import Expr
from . import declarations, launches, shims
from .context import Context
from .host import Handle, NotUnderstood, Text_
from .operands import WRAPPERS, dtype_of, handle, integer, ints, output_index

_QUIET_CALLS = frozenset(("__check_inputs_outputs", "printf", "AOTI_TORCH_WARN", "assert_numel", "AOTI_RUNTIME_CUDA_CHECK",
                          "CUDA_DRIVER_CHECK", "convert_handle_to_arrayref_tensor", "arrayref_tensor_to_c"))  # fmt: skip


def block(ctx: Context, node: Node) -> None:
    with ctx.inner_scope():
        for k in node.kids:
            statement(ctx, k)


def statement(ctx: Context, node: Node) -> None:
    """One statement; what is not understood becomes an Unmodelled event."""
    broken = ctx.diagnostic(node)
    if broken is not None and node.kind not in ("block", "if", "while"):
        ctx.emit(shims.unmodelled(ctx, node, broken))
        _poison(ctx, node)
        return
    handler = _STATEMENTS.get(node.kind)
    mark = len(ctx.events)
    try:
        if handler is None:
            raise NotUnderstood(f"{node.kind} statement")
        handler(ctx, node)
    except NotUnderstood as e:
        del ctx.events[mark:]
        ctx.emit(shims.unmodelled(ctx, node, str(e)))


def _poison(ctx: Context, node: Node) -> None:
    """After a declaration that is not valid C++, its name stands for nothing that is known."""
    if node.kind != "decl":
        return
    name = str(node.value)
    if declarations.HANDLE_TYPES.search(node.type) or isinstance(ctx.value(name), Handle):
        ctx.scope.define(name, Handle(name))
        ctx.emit(Call("unmodelled", (), (name,), ctx.loc(node), ctx.text(node)))
    else:
        ctx.scope.define(name, Text_("?"))


def quiet(ctx: Context, node: Node) -> None:
    """Statements without meaning for tensors: return, break, throw, using."""


def decls(ctx: Context, node: Node) -> None:
    for k in node.kids:
        if k.kind == "decl":
            declarations.decl(ctx, k)


# -- expression statements
def call(ctx: Context, node: Node) -> None:
    name = str(node.value)
    if name == "AOTI_TORCH_ERROR_CODE_CHECK":
        inner = node.kids[0]
        if inner.kind != "call":
            raise NotUnderstood("checked expression")
        call(ctx, inner)
    elif name == "assert_size_stride":
        _assert(ctx, node)
    elif name in ("AOTI_TORCH_CHECK", "TORCH_CHECK"):
        shims.check(ctx, node.kids[0])
    elif name == "aoti_torch_mps_run_command_block":
        _metal(ctx, node)
    elif name.startswith("aoti_torch_"):
        shims.shim(ctx, node)
    elif name.startswith("call_") or name in ctx.launchers:
        launches.triton_launch(ctx, node)
    elif name in WRAPPERS and node.kids:
        handle(ctx, node)
    elif name in _QUIET_CALLS:
        return
    elif launches.launches_kernel(ctx, node):
        launches.cpp_launch(ctx, node)
    else:
        raise NotUnderstood(f"call of {name}")


def _metal(ctx: Context, node: Node) -> None:
    library = re.search(r"get_(\w+)_handle", ctx.original[node.kids[0].start : node.kids[0].end])
    wrapper = node.kids[-1]
    while wrapper.kind in ("un", "cast"):
        wrapper = wrapper.kids[0]
    body = ctx.value(wrapper.value) if wrapper.kind == "name" else None
    if library is None or not isinstance(body, Node) or not body.kids:
        raise NotUnderstood("command block")
    launches.metal_launch(ctx, library.group(1), body.kids[0], node)


def method(ctx: Context, node: Node) -> None:
    base = node.kids[0] if node.kids else None
    if node.value in ("reset", "clear") and base is not None:
        value = ctx.value(str(base.value)) if base.kind == "name" else None
        if isinstance(value, Handle):
            ctx.emit(Reset(value.name, ctx.loc(node)))
        elif node.value == "reset" and value is None and base.kind != "index":
            raise NotUnderstood("reset of an unknown name")
    elif node.value == "runCommandBlock":
        m = re.search(r"(?:get_)?(mps_lib_\d+)", ctx.original[node.start : node.end])
        body = node.kids[-1]
        if m is None or body.kind != "lambda" or not body.kids:
            raise NotUnderstood("command block")
        launches.metal_launch(ctx, m.group(1), body.kids[0], node)
    elif node.value in ("copy_data_from", "emplace", "set_index", "ensure", "push_back"):
        return
    else:
        raise NotUnderstood(f"method {node.value}")


def assign(ctx: Context, node: Node) -> None:
    target, source = node.kids
    index = output_index(ctx, target)
    if index is not None:
        _output(ctx, node, index, source)
        return
    if target.kind != "name":
        raise NotUnderstood("assignment")
    name = str(target.value)
    if name.startswith("cached_output_") or name.startswith("output_arrayref"):
        base = handle(ctx, source)
        if base is not None:
            ctx.emit(Output(len(ctx.events), base, ctx.loc(node), released=False))
        return
    current = ctx.value(name)
    if isinstance(current, Handle):
        inner = source.kids[0] if source.kind == "call" and source.value == "move" else source
        base = handle(ctx, inner)
        if base is None:
            raise NotUnderstood("assignment to a tensor")
        ctx.emit(Move(current.name, base, ctx.loc(node)))
        return
    try:
        ctx.scope.assign(name, integer(ctx, source))
    except NotUnderstood:
        ctx.scope.assign(name, Text_(ctx.text(source)))


def _output(ctx: Context, node: Node, index: int, source: Node) -> None:
    same = output_index(ctx, source)
    if same is not None:
        ctx.emit(Output(index, None, ctx.loc(node), same))
        return
    if source.kind == "method" and source.value in ("release", "get"):
        name = handle(ctx, source.kids[0])
    else:
        name = handle(ctx, source)
    if name is None:
        raise NotUnderstood("output")
    released = source.kind == "method" and source.value == "release"
    ctx.emit(Output(index, name, ctx.loc(node), released=released))


def _assert(ctx: Context, node: Node) -> None:
    name = handle(ctx, node.kids[0])
    sizes, strides = _braces(ctx, node.kids[1]), _braces(ctx, node.kids[2])
    if name is None or sizes is None or strides is None:
        raise NotUnderstood("assert_size_stride")
    what = str(node.kids[3].value).strip('"') if len(node.kids) > 3 else ""
    dtype = dtype_of(ctx.text(node.kids[4])) if len(node.kids) > 4 else None
    ctx.emit(Assert(name, sizes, strides, ctx.loc(node), dtype, what))


def _braces(ctx: Context, node: Node) -> tuple[Expr, ...] | None:
    return () if not node.kids and node.kind != "name" else ints(ctx, node)


# -- control flow
def if_(ctx: Context, node: Node) -> None:
    cond, body = node.kids[0], node.kids[1]
    text = ctx.original[cond.start : cond.end]
    if "_check_aoti_runtime_check_inputs_env" in text:
        _inline(ctx, body)
    elif "is_same_v" in text:  # an output of the array interface: which branch is compiled depends on types
        mark = len(ctx.events)
        _inline(ctx, body)
        ctx.events[mark:] = [
            replace(e, released=False) if isinstance(e, Output) else e for e in ctx.events[mark:]
        ]
    elif "data_ptr()" in text and "16" in text:
        return  # the copy of a misaligned input keeps its layout
    elif _throws(ctx, body):
        shims.check(ctx, cond, negate=True)
    else:
        _branch(ctx, node)


def _inline(ctx: Context, body: Node) -> None:
    for k in body.kids if body.kind == "block" else [body]:
        statement(ctx, k)


def _throws(ctx: Context, body: Node) -> bool:
    kids = body.kids if body.kind == "block" else [body]
    return (bool(kids) and kids[-1].kind == "throw") or any(
        k.kind == "call" and k.value == "throw" for k in kids
    )


def _branch(ctx: Context, node: Node) -> None:
    arms = []
    for arm in node.kids[1:]:
        arms.append(_captured(ctx, arm))
    if len(arms) == 1:
        arms.append(())
    ctx.emit(Branch(tuple(arms), ctx.loc(node)))


def _captured(ctx: Context, body: Node) -> tuple[Event, ...]:
    with ctx.capture() as events:
        if body.kind == "block":
            block(ctx, body)
        else:
            statement(ctx, body)
    return tuple(events)


def while_(ctx: Context, node: Node) -> None:
    ctx.emit(Loop(_captured(ctx, node.kids[-1]), ctx.loc(node)))


_STATEMENTS: dict[str, Callable[[Context, Node], None]] = {
    "decl": declarations.decl, "decls": decls, "call": call, "method": method,
    "assign": assign, "if": if_, "while": while_, "block": block,
    "return": quiet, "break": quiet, "throw": quiet, "empty": quiet,
    "construct": call, "other": quiet,
}  # fmt: skip
