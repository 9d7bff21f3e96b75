"""Nothing of a body is lost: every call of the runtime, launch and use of a handle in a statement is accounted for.

A statement's handler notes the calls it has read (:meth:`Context.account`) and emits events. What is left over in
the statement's tree after that, a call no handler has seen or a handle that no event names, is what was not understood.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ..cxx.nodes import Node
from ..model.program import Event, Launch, Tensor, Unmodelled, nested
from ..symbolic import Expr
from .context import Context
from .host import ArgumentList, Handle, HandleList, Pointer, SizesOf, Text_

#: Methods that look at a handle's description and never at its elements.
_DESCRIBES = frozenset(
    ("size", "stride", "sizes", "strides", "numel", "dim", "storage_offset", "dtype", "device")
)
#: Calls of the C interface that touch no tensor.
_HARMLESS = re.compile(
    r"aoti_torch_(?:get_\w+|delete_\w+|grad_mode_\w+|device_type_\w+|dtype_\w+|layout_\w+|memory_format_\w+"
    r"|print_tensor_handle|save_tensor_handle|check_inf_and_nan|mps_(?:set_arg|start_|dispatch|create_|get_)\w*|zero_\w*guard|create_\w+_guard"
    r"|tensor_to_ivalue|int64_to_ivalue|\w+_to_ivalue|record_function_\w+)$"
)


def walk(node: Node, into_lambdas: bool = True) -> Iterator[Node]:
    """A node and everything in it."""
    yield node
    if node.kind == "lambda" and not into_lambdas:
        return
    for k in node.kids:
        yield from walk(k, into_lambdas)


def handles(ctx: Context, node: Node, into_lambdas: bool = True) -> set[str]:
    """Handles whose memory a node may use: by name, by a pointer, or in a lambda it mentions."""
    out: set[str] = set()
    todo, seen = [node], set()
    while todo:
        n = todo.pop()
        if n.kind == "method" and n.value in _DESCRIBES and n.kids and n.kids[0].kind == "name":
            todo += n.kids[1:]
            continue
        if n.kind == "lambda" and not into_lambdas:
            continue
        if n.kind == "lambda":
            own = _parameters(n)
            todo += [k for k in n.kids if not own] + [_without(k, own) for k in n.kids if own]
            continue
        if n.kind == "name":
            value = ctx.value(str(n.value))
            if isinstance(value, (Handle, Pointer)):
                out.add(value.name)
            elif isinstance(value, HandleList):
                out.update(h.name for h in value.items if h is not None)
            elif isinstance(value, ArgumentList) and id(value) not in seen:
                seen.add(id(value))
                todo += value.items
            elif isinstance(value, Node) and id(value) not in seen:
                seen.add(id(value))
                todo.append(value)
        todo += n.kids
    return out


def _parameters(node: Node) -> set[str]:
    """Names of a lambda's parameters: they hide what is around it."""
    _, _, listed = node.type.partition("(")
    return set(re.findall(r"(\w+)\s*[,)]", listed))


def _without(node: Node, names: set[str]) -> Node:
    """A node without the uses of some names."""
    kids = [_without(k, names) for k in node.kids if not (k.kind == "name" and k.value in names)]
    return Node(node.kind, node.value, kids, node.start, node.end, node.type)


def cover(ctx: Context, node: Node) -> None:
    """The handles a node uses need no event: nothing that matters happens to them."""
    ctx.covered |= handles(ctx, node)


def is_harmless(name: str) -> bool:
    """Whether a function of the C interface neither reads nor writes elements in a way that matters here."""
    return _HARMLESS.match(name) is not None


def is_runtime_call(ctx: Context, node: Node) -> bool:
    """Whether a call reaches the runtime or a kernel."""
    if node.kind != "call" or not isinstance(node.value, str):
        return False
    name = node.value
    if name.startswith("aoti_torch_"):
        return not is_harmless(name)
    return (
        name in ctx.kernels or name in ctx.launchers or name in ("launchKernel", "reinterpret_tensor_wrapper")
    )


def missed(ctx: Context, node: Node, events: Iterable[Event], declares: bool) -> str | None:
    """What of a statement its handler did not account for, in words; None when nothing is left.

    ``declares``: a lambda in it is a value for later, not yet called.
    """
    for n in walk(node, into_lambdas=not declares):
        if is_runtime_call(ctx, n) and n.start not in ctx.accounted:
            return f"call of {n.value} inside a statement"
        if n.kind == "call" and n.value is None and n.start not in ctx.accounted:
            return "call of a function object inside a statement"
        if n.kind == "name" and isinstance(n.value, str) and n.value in ctx.macros:
            return f"macro {n.value}"
    left = handles(ctx, node, into_lambdas=not declares) - named(events) - ctx.covered - _bound(ctx, node)
    return f"use of {', '.join(sorted(left))}" if left else None


def _bound(ctx: Context, node: Node) -> set[str]:
    """The handles that a declaration gives another name to."""
    value = ctx.value(str(node.value)) if node.kind == "decl" else None
    if isinstance(value, ArgumentList):
        return set().union(*(handles(ctx, k) for k in value.items))
    if isinstance(value, HandleList):
        return {h.name for h in value.items if h is not None}
    return {value.name} if isinstance(value, (Pointer, SizesOf)) else set()


def named(events: Iterable[Event]) -> set[str]:
    """Every handle that events name."""
    out: set[str] = set()
    for e in nested(events):
        if isinstance(e, Launch):
            out.update(n for _, n in e.tensors)
            continue
        for field in ("result", "base", "source", "handle", "name"):
            value = getattr(e, field, None)
            if isinstance(value, str):
                out.add(value)
        out.update(_tensors(getattr(e, "args", ())))
        out.update(n for n in getattr(e, "results", ()) if n is not None)
        if isinstance(e, Unmodelled):
            out.update(e.names)
    return out


def _tensors(args: object) -> Iterator[str]:
    if isinstance(args, Tensor):
        yield args.name
    elif isinstance(args, tuple):
        for a in args:
            yield from _tensors(a)


def lose(ctx: Context, node: Node, reason: str, everything: bool = False) -> None:
    """An unmodelled statement: what it mentions is not known after it."""
    names = set(handles(ctx, node))
    if node.kind == "decl":
        _forget_declared(ctx, node, names)
    for n in walk(node):
        if n.kind == "name" and isinstance(n.value, str):
            value = ctx.value(n.value)
            if isinstance(value, (Expr, SizesOf)) and n.value not in ctx.symbols:
                ctx.scope.assign(n.value, Text_(f"{n.value}, which line {ctx.loc(node).line} may change"))
        everything = everything or (n.kind == "name" and n.value in ctx.macros)
    ctx.emit(Unmodelled(ctx.text(node), ctx.loc(node), tuple(sorted(names)), reason, everything))


def _forget_declared(ctx: Context, node: Node, names: set[str]) -> None:
    """What a declaration that was not understood declares stands for nothing that is known."""
    name = str(node.value)
    if "Handle" in node.type:
        ctx.scope.define(name, Handle(name))
        names.add(name)
    elif ctx.value(name) is None or not isinstance(ctx.scope.names.get(name), Handle):
        ctx.scope.define(name, Text_(f"{name}, whose declaration is not understood"))
