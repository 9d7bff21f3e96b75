"""Kernel launches of every dialect: arguments bound to parameters, grid and scalars."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..cxx.nodes import Node
from ..model.location import Loc
from ..model.program import Launch, Reset
from ..model.record import replace
from ..symbolic import Expr, const
from .context import Context
from .host import ArgumentList, NotUnderstood, Value
from .operands import handle, integer, ints, peel

if TYPE_CHECKING:
    from ..kernels.triton.arguments import Arguments


def launches_kernel(ctx: Context, node: Node) -> bool:
    """Whether a call that is no shim is a C++ kernel: it is known, or takes cast data pointers."""
    if node.value in ctx.kernels or str(node.value).startswith("cpp_fused"):
        return True
    return any(k.kind == "cast" and "*" in str(k.value) for k in node.kids)


def cpp_launch(ctx: Context, node: Node) -> None:
    """``cpp_fused_x((float*)(buf0.data_ptr()), …, s27)``: arguments bind by position."""
    kernel = ctx.kernels.get(node.value)
    tensors: list[tuple[str, str]] = []
    scalars: list[tuple[str, Expr]] = []
    locs: list[tuple[str, Loc]] = []
    reason = None if kernel else f"no source for kernel {node.value}"
    for i, k in enumerate(node.kids):
        param = kernel.params[i].name if kernel and i < len(kernel.params) else f"arg{i}"
        _bind(ctx, k, param, tensors, scalars, locs)
    if kernel and len(node.kids) != len(kernel.params):
        reason = f"{len(node.kids)} arguments for {len(kernel.params)} parameters"
    ctx.emit(_launch(ctx, node.value, tensors, scalars, locs, node, reason))


def _bind(
    ctx: Context,
    k: Node,
    param: str,
    tensors: list[tuple[str, str]],
    scalars: list[tuple[str, Expr]],
    locs: list[tuple[str, Loc]],
) -> None:
    name = handle(ctx, k)
    locs.append((param, ctx.loc(k)))
    if name is not None:
        tensors.append((param, name))
        return
    try:
        scalars.append((param, integer(ctx, k)))
    except NotUnderstood:
        return  # a float scalar: no index depends on it


def _launch(
    ctx: Context,
    kernel: str,
    tensors: list[tuple[str, str]],
    scalars: list[tuple[str, Expr]],
    locs: list[tuple[str, Loc]],
    node: Node,
    reason: str | None,
) -> Launch:
    return Launch(
        kernel, tuple(tensors), tuple(scalars), ctx.loc(node), tuple(locs), ctx.source_nodes(node), reason
    )


def triton_launch(ctx: Context, node: Node) -> None:
    """``call_triton_x(buf0, arg1, 2048L, device_idx, stream, kernels, cubin_dir)``."""
    launcher = ctx.launchers.get(node.value)
    tensors: list[tuple[str, str]] = []
    scalars: list[tuple[str, Expr]] = []
    locs: list[tuple[str, Loc]] = []
    if launcher is None:
        names = [n for n in (handle(ctx, k) for k in node.kids if k.kind in ("name", "call")) if n]
        tensors = [(f"arg{i}", n) for i, n in enumerate(names)]
        kernel = str(node.value).removeprefix("call_")
        ctx.emit(_launch(ctx, kernel, tensors, scalars, locs, node, f"no source for {node.value}"))
        return
    for param, k in zip(launcher.params, node.kids, strict=False):
        _bind(ctx, k, param, tensors, scalars, locs)
    bound = dict(scalars)
    extra = [(n, e.substitute(bound)) for n, e in launcher.constants]
    if launcher.grid is not None:
        bound.update(extra)
        extra += [(f"grid.{i}", g.substitute(bound)) for i, g in enumerate(launcher.grid)]
    locs.append(("grid", launcher.grid_loc))
    if launcher.arguments is not None:
        tensors, scalars = _handed(launcher.arguments, dict(tensors), bound)
    launch = _launch(ctx, launcher.kernel.name, tensors, scalars + extra, locs, node, launcher.reason)
    ctx.emit(replace(launch, empty_grid_launches=not launcher.returns_when_empty))


def _handed(
    arguments: Arguments, tensors: dict[str, str], scalars: dict[str, Expr]
) -> tuple[list[tuple[str, str]], list[tuple[str, Expr]]]:
    """What the launcher hands on: the kernel's parameters in terms of the launcher's."""
    given = [(p, tensors[name]) for p, name in arguments.tensors if name in tensors]
    values = [(p, e.substitute(scalars)) for p, e in arguments.scalars if e is not None]
    return given, values


def inline_launch(ctx: Context, node: Node) -> None:
    """``launchKernel(function, x, y, z, warps, shared, args, stream)``: a Triton kernel launched in the body itself."""
    function, listed = (
        node.kids[0],
        next((v for k in node.kids if isinstance(v := _value(ctx, k), ArgumentList)), None),
    )
    if listed is None or len(node.kids) < 4:
        raise NotUnderstood("launch without a list of arguments")
    name = ctx.loaded.get(str(function.value), str(function.value))
    kernel = ctx.kernels.get(name)
    tensors: list[tuple[str, str]] = []
    scalars: list[tuple[str, Expr]] = []
    locs: list[tuple[str, Loc]] = []
    for i, item in enumerate(listed.items):
        param = kernel.params[i].name if kernel and i < len(kernel.params) else f"arg{i}"
        _bind(
            ctx,
            item.kids[0] if item.kind == "un" and item.value == "&" else item,
            param,
            tensors,
            scalars,
            locs,
        )
    scalars += [(f"grid.{i}", integer(ctx, k)) for i, k in enumerate(node.kids[1:4])]
    reason = None if kernel else f"no source for kernel {name}"
    ctx.emit(_launch(ctx, name, tensors, scalars, locs, node, reason))


def _value(ctx: Context, node: Node) -> Value:
    return ctx.value(str(node.value)) if node.kind == "name" else None


def metal_launch(ctx: Context, library: str, body: Node, node: Node) -> None:
    """The encoding calls of one command block: arguments by index, grid from the dispatch call."""
    kernel = ctx.kernels.get(library)
    tensors: list[tuple[str, str]] = []
    scalars: list[tuple[str, Expr]] = []
    locs: list[tuple[str, Loc]] = []
    reason = None if kernel else f"no source for Metal library {library}"
    arrays: dict[str, tuple[Expr, ...]] = {}
    after: list[Reset] = []
    for call in _statements(body):
        name = str(call.value)
        if name.startswith("aoti_torch_mps_set_arg"):
            index = integer(ctx, call.kids[1]).value
            param = f"arg{index}"
            if kernel and index is not None and index < len(kernel.params):
                param = kernel.params[index].name
            _bind(ctx, call.kids[2], param, tensors, scalars, locs)
        elif call.kind == "decl":
            extents = ints(ctx, call.kids[-1]) if call.kids else None
            if extents is None:
                raise NotUnderstood("dispatch array")
            arrays[name] = extents
        elif "dispatch" in name:
            scalars += _grid(ctx, call, arrays)
        elif call.kind == "method" and name == "reset" and (gone := handle(ctx, call.kids[0])):
            reset = Reset(gone, ctx.loc(call))
            if any(given == gone for _, given in tensors):
                after.append(reset)  # what is encoded already is kept
            else:
                ctx.emit(reset)
        elif name not in ("aoti_torch_mps_start_encoding", "startEncoding"):
            raise NotUnderstood(f"statement in a command block: {ctx.text(call)[:60]}")
    if not any(n == "grid.0" for n, _ in scalars):
        reason = reason or "no dispatch in the command block"
    ctx.emit(_launch(ctx, library, tensors, scalars, locs, node, reason))
    for reset in after:
        ctx.emit(reset)


def _statements(body: Node) -> list[Node]:
    out: list[Node] = []
    for k in body.kids:
        out += _statements(k) if k.kind == "block" else [k]
    return out


def _grid(ctx: Context, call: Node, arrays: dict[str, tuple[Expr, ...]]) -> list[tuple[str, Expr]]:
    """Threads per dimension and, when given, threads per group."""
    args = call.kids[1:]
    sizes: list[tuple[Expr, ...]] = []
    for a in args:
        inner = peel(a)
        if inner.kind == "name" and inner.value in arrays:
            sizes.append(arrays[inner.value])
        elif inner.kind in ("init", "construct"):
            sizes.append(tuple(integer(ctx, k) for k in inner.kids))
        elif "array" not in str(call.value):
            sizes.append((integer(ctx, a),))
    out: list[tuple[str, Expr]] = []
    for label, dims in zip(("grid", "group"), sizes, strict=False):
        out += [(f"{label}.{i}", d) for i, d in enumerate(dims)]
        out += [(f"{label}.{i}", const(1)) for i in range(len(dims), 3)]
    return out
