"""Library ops in Python host code: ``extern_kernels.mm(a, b, out=c)``, ``torch.ops.aten.sort.stable(x)``."""

from __future__ import annotations

import ast
import re

from ...model.program import Arg, Call, Tensor, Writes
from ...symbolic import Expr
from ..host import Handle, NotUnderstood, SizesOf, Text_
from .context import Context, Items, Results, Value
from .values import evaluate

#: Namespaces of ops whose schemas say by their names what they change.
_KNOWN = ("aten", "prims", "quantized", "_quantized", "mkldnn", "inductor", "onednn", "mkl")
#: Methods that change what a tensor holds, not how it is laid out.
_CHANGING = frozenset(
    ("zero_", "fill_", "copy_", "add_", "mul_", "normal_", "uniform_", "random_", "bernoulli_")
)

#: Those of them that leave nothing of what was there.
_FILLING = _CHANGING - {"add_", "mul_"}


def is_op(name: str) -> bool:
    return name.startswith(("torch.ops.", "extern_kernels.")) or ".extern_kernels." in name


def short(name: str) -> str:
    """``aten.mm.default`` of ``torch.ops.aten.mm.default``, ``extern_kernels.mm``."""
    at = name.rfind("extern_kernels.")
    return name[at:] if at >= 0 else name.removeprefix("torch.ops.")


def op(c: Context, node: ast.Call, name: str, results: tuple[str | None, ...]) -> None:
    """An op: its arguments in order, those with a name after the others."""
    label = short(name)
    args: list[Arg] = []
    written: list[int] = []
    named = [(k.arg or "", k.value) for k in node.keywords]
    outs = [
        v for k, v in named if k.startswith("out") and k not in ("output_padding", "out_dtype", "output_size")
    ]
    for v in outs:
        given = argument(c, v)
        for one in given if isinstance(given, tuple) else (given,):
            written.append(len(args))
            args.append(one)
    for a in node.args:
        args.append(argument(c, a))
    for _, v in named:
        if v not in outs:
            args.append(argument(c, v))
    changed = _changed(label, args, written, bool(results))
    c.emit(
        Call(
            label,
            tuple(args),
            results,
            c.loc(node),
            c.text(node),
            c.source_nodes(node),
            Writes(changed, bool(written)),
        )
    )


def _changed(label: str, args: list[Arg], written: list[int], has_results: bool) -> tuple[int, ...] | None:
    """Positions of the arguments an op writes; None when that is not known."""
    namespace, _, rest = label.partition(".")
    base = rest.partition(".")[0]
    if written:
        return tuple(written)
    first = next((i for i, a in enumerate(args) if isinstance(a, Tensor)), None)
    if namespace == "extern_kernels":
        return () if has_results and not base.endswith("_") else None
    if re.search(r"[a-z0-9]_$", base):
        return (first,) if first is not None and namespace in _KNOWN else None
    return () if namespace in _KNOWN and has_results else None


def method(c: Context, node: ast.Call) -> None:
    """``workspace_0.zero_()``. Raises NotUnderstood for methods that are not known."""
    assert isinstance(node.func, ast.Attribute)
    if node.func.attr not in _CHANGING:
        raise NotUnderstood(f"method {node.func.attr}")
    args = [argument(c, a) for a in (node.func.value, *node.args)]
    if not isinstance(args[0], Tensor):
        raise NotUnderstood(f"method {node.func.attr}")
    c.emit(
        Call(
            node.func.attr,
            tuple(args),
            (),
            c.loc(node),
            c.text(node),
            c.source_nodes(node),
            Writes((0,), node.func.attr in _FILLING),
        )
    )


def clone(c: Context, node: ast.Call, result: str) -> None:
    """``x.clone()``."""
    assert isinstance(node.func, ast.Attribute)
    given = argument(c, node.func.value)
    if not isinstance(given, Tensor):
        raise NotUnderstood("clone of something that is no tensor")
    c.emit(Call("clone", (given,), (result,), c.loc(node), c.text(node), c.source_nodes(node), Writes(())))


def argument(c: Context, node: ast.expr) -> Arg:
    """An argument of an op; one that is not understood is its text, unless it names a tensor."""
    try:
        return _argument(c, evaluate(c, node), node)
    except NotUnderstood:
        if any(
            isinstance(n, ast.Name) and isinstance(c.frame.names.get(n.id), (Handle, Items, Results))
            for n in ast.walk(node)
        ):
            raise
        return c.text(node)


def _argument(c: Context, value: Value, node: ast.expr) -> Arg:
    if value is None or isinstance(value, Expr):
        return value
    if isinstance(value, Handle):
        return Tensor(value.name)
    if isinstance(value, Items):
        return tuple(_argument(c, v, node) for v in value.values)
    if isinstance(value, Results):
        return tuple(Tensor(n) for n in value.names.values())
    return (
        value.text
        if isinstance(value, Text_)
        else f"{value.name}.size()"
        if isinstance(value, SizesOf)
        else c.text(node)
    )
