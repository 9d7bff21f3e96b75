"""Kernel launches in Python host code, of every dialect: arguments bound to parameters, and the grid."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from ...model.kernel import Kernel, Param
from ...model.location import Loc
from ...model.program import Branch, Launch
from ...symbolic import Expr, const, sym
from ..host import Handle, NotUnderstood
from .context import Context, Items, Lost
from .kernels import Definition
from .values import evaluate, integer, ints

_GRID = ("grid.0", "grid.1", "grid.2")


def launch(c: Context, node: ast.Call, name: str, d: Definition) -> None:
    """A launch of the kernel defined as ``name``; one of several that are tried at run time is any of them."""
    if d.choices:
        arms = []
        for choice, definition in d.choices:
            with c.captured() as events:
                launch(c, node, choice, definition)
            arms.append(tuple(events))
        c.emit(Branch(tuple(arms), c.loc(node)))
    elif d.dialect == "triton":
        _triton(c, node, d)
    elif d.dialect == "metal":
        _metal(c, node, d)
    else:
        _bind(c, node, d.kernel, d.kernel.params, node.args, {}, d.reason)


def _bind(
    c: Context,
    node: ast.Call,
    kernel: Kernel,
    params: Sequence[Param | str],
    args: Sequence[ast.expr],
    more: Mapping[str, Expr],
    reason: str | None,
    grid_loc: Loc | None = None,
) -> None:
    """Arguments bind by position; ``more`` binds the grid and constants, over what the arguments give."""
    tensors: list[tuple[str, str]] = []
    scalars: list[tuple[str, Expr]] = []
    locs: list[tuple[str, Loc]] = []
    if any(isinstance(a, ast.Starred) for a in args):
        raise NotUnderstood("starred arguments")
    for i, a in enumerate(args):
        p = params[i] if i < len(params) else f"arg{i}"
        name = p if isinstance(p, str) else p.name
        locs.append((name, c.loc(a)))
        value = evaluate(c, a)
        if isinstance(value, Handle):
            tensors.append((name, value.name))
        elif isinstance(value, Expr):
            scalars.append((name, value))
        elif isinstance(value, Items) or (isinstance(value, Lost) and _is_pointer(kernel, name)):
            reason = reason or f"{c.text(a)[:60]} is not known"
    if reason is None and len(args) != len(params):
        reason = f"{len(args)} arguments for {len(params)} parameters"
    bound = dict(scalars)
    extra = [(n, e.substitute(bound)) for n, e in more.items()]
    if grid_loc is not None:
        locs.append(("grid", grid_loc))
    c.emit(
        Launch(
            kernel.name, tuple(tensors), (*scalars, *extra), c.loc(node), tuple(locs), c.source_nodes(node), reason,
            empty_grid_launches=kernel.dialect == "metal",
        )
    )  # fmt: skip


def _is_pointer(kernel: Kernel, name: str) -> bool:
    """Whether a parameter takes a tensor; a number that is not known leaves open what depends on it."""
    param = kernel.param(name)
    return param is None or param.pointer


def _metal(c: Context, node: ast.Call, d: Definition) -> None:
    """``k(a, b, s27, threads=[n], group_size=[m], error_buf_idx=2)``: the error buffer is put in between."""
    words = {k.arg: k.value for k in node.keywords}
    params: list[Param | str] = list(d.kernel.params)
    error = words.get("error_buf_idx")
    if error is not None:
        at = integer(c, error).value
        if at is None or not 0 <= at < max(len(params), 1):
            raise NotUnderstood("error_buf_idx")
        del params[at : at + 1]
    grid: dict[str, Expr] = {}
    for label, word in (("grid", "threads"), ("group", "group_size")):
        if word in words:
            node_ = words[word]
            sizes = ints(c, node_) if isinstance(node_, (ast.List, ast.Tuple)) else (integer(c, node_),)
            grid |= {f"{label}.{i}": s for i, s in enumerate((*sizes, const(1), const(1))[:3])}
    reason = d.reason or (None if "grid.0" in grid else "the number of threads is not stated")
    _bind(c, node, d.kernel, params, node.args, grid, reason)


def _triton(c: Context, node: ast.Call, d: Definition) -> None:
    """``k.run(a, b, numel, stream=s)``; before torch 2.7 with ``grid=grid(numel)``."""
    words = {k.arg: k.value for k in node.keywords}
    launcher, args = d.launcher, list(node.args)
    if launcher is None:
        _bind(c, node, d.kernel, (), args, {}, d.reason or "no source for this kernel")
        return
    params: list[Param | str] = list(launcher.params)
    if len(args) != len(params) and len(args) == len(d.stated):
        params = list(d.stated)
    more: dict[str, Expr] = dict(launcher.constants)
    grid = launcher.grid
    if "grid" in words:
        grid = _older_grid(c, words["grid"], more)
    if grid is not None:
        more |= {g: e.substitute(dict(launcher.constants)) for g, e in zip(_GRID, grid, strict=True)}
    _bind(c, node, d.kernel, params, args, more, launcher.reason, c.loc(node))


def _older_grid(c: Context, node: ast.expr, constants: Mapping[str, Expr]) -> tuple[Expr, Expr, Expr] | None:
    """``grid(ynumel, xnumel)`` counts blocks, the last number along the first axis; a tuple is the grid itself."""
    if isinstance(node, (ast.Tuple, ast.List)):
        sizes = (*ints(c, node), const(1), const(1))
        return sizes[0], sizes[1], sizes[2]
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id != "grid":
        return None
    from ...symbolic import ceildiv, floordiv

    numels = [integer(c, a) for a in node.args]
    blocks = [constants.get(f"{p}BLOCK") for p in "XYZ"]
    out: list[Expr] = []
    for n, block in zip(reversed(numels), blocks, strict=False):
        out.append(ceildiv(n, block if block is not None else sym("a block size")))
    if len(out) == 2:  # what does not fit along the second axis goes on along the third
        parts = ceildiv(out[1], const(65535))
        out = [out[0], floordiv(out[1] + parts - 1, parts), parts]
    out += [const(1)] * (3 - len(out))
    return out[0], out[1], out[2]
