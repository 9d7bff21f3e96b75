"""What expressions of Python host code denote: sizes, tensors, lists; and the calls that make tensors."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TypeAlias

from ...model.program import Alloc, Call, Tensor, View, Writes
from ...symbolic import ZERO, Expr, sym
from ..host import Handle, NotUnderstood, SizesOf, Text_
from . import integers
from .context import Context, Items, Lost, Results, Value
from .module import dotted

#: A call that makes a tensor: brings it into being under the name of its result.
Maker: TypeAlias = Callable[[Context, ast.Call, str], None]
#: Longest list that is followed element by element.
MAX_ITEMS = 4_096


def canonical(c: Context, node: ast.expr) -> str:
    """What a called name stands for in the end: ``torch.ops.aten.mm.default``, ``reinterpret_tensor``; "" if unknown.

    A local name, and a name the module defines as something of its own, stand for no function known here.
    """
    root = node
    while isinstance(root, ast.Attribute):
        root = root.value
    if not isinstance(root, ast.Name) or root.id in c.frame.names:
        return ""
    if root is node and root.id in c.module.names and not c.module.aliases.get(root.id):
        return ""
    name = dotted(node, c.module.aliases) or ""
    last = name.rpartition(".")[2].lstrip("_")
    return last if last in MAKERS and (root is node or name.startswith("torch.")) else name


def evaluate(c: Context, node: ast.expr) -> Value:
    """The value of an expression; views written inside it become events. Raises NotUnderstood."""
    if isinstance(node, ast.Name):
        return c.value(node.id)
    if isinstance(node, ast.Constant):
        if isinstance(node.value, (bool, int)):
            return integers.integer(node, lambda n: leaf(c, n))
        return None if node.value is None else Text_(str(node.value))
    if isinstance(node, (ast.Tuple, ast.List)):
        if any(isinstance(e, ast.Starred) for e in node.elts):
            raise NotUnderstood("a starred list")
        return Items([evaluate(c, e) for e in node.elts])
    if isinstance(node, ast.BinOp) and isinstance(node.left, ast.List):
        return _repeated(c, node)
    if isinstance(node, ast.Subscript):
        return _item(c, node)
    if isinstance(node, ast.Call):
        return _called(c, node)
    if isinstance(node, ast.Attribute):
        return Text_(dotted(node, c.module.aliases) or c.text(node))
    if (
        isinstance(node, ast.UnaryOp)
        and isinstance(node.operand, ast.Constant)
        and type(node.operand.value) is float
    ):
        return Text_(c.text(node))
    return integer(c, node)


def _called(c: Context, node: ast.Call) -> Value:
    maker = canonical(c, node.func)
    if maker in MAKERS:
        result = c.temporary()
        MAKERS[maker](c, node, result)
        return Handle(result)
    if isinstance(node.func, ast.Attribute) and node.func.attr in ("size", "stride"):
        base = evaluate(c, node.func.value)
        if isinstance(base, Handle):
            whole = SizesOf(base.name, node.func.attr == "stride")
            return whole if not node.args else dim(c, whole, _index(c, node.args[0]), node)
    if isinstance(node.func, ast.Attribute) and node.func.attr == "item" and not node.args:
        c.emit(
            Call("item", (Tensor(tensor(c, node.func.value)),), (), c.loc(node), c.text(node), (), Writes(()))
        )
        return Lost("a number that comes from data")
    if maker in ("float", "str", "device", "torch.device", "get_raw_stream", "torch.tensor"):
        return Text_(c.text(node))
    return integer(c, node)


def _repeated(c: Context, node: ast.BinOp) -> Value:
    """``[None] * 3``."""
    assert isinstance(node.left, ast.List)
    count = integer(c, node.right).value
    if (
        not isinstance(node.op, ast.Mult)
        or count is None
        or len(node.left.elts) != 1
        or not 0 <= count <= MAX_ITEMS
    ):
        raise NotUnderstood("a list of a length that is not known")
    return Items([evaluate(c, node.left.elts[0])] * count)


def _index(c: Context, node: ast.expr) -> int:
    index = integer(c, node).value
    if index is None:
        raise NotUnderstood("an index that is not known")
    return index


def _item(c: Context, node: ast.Subscript) -> Value:
    base = evaluate(c, node.value)
    if isinstance(node.slice, ast.Slice):
        raise NotUnderstood("a slice")
    index = _index(c, node.slice)
    if isinstance(base, SizesOf):
        return dim(c, base, index, node)
    if isinstance(base, Items):
        if not -len(base.values) <= index < len(base.values):
            raise NotUnderstood("an index outside its list")
        return base.values[index]
    if isinstance(base, Results):
        if index not in base.names:
            raise NotUnderstood("an item that was not expected")
        return Handle(base.names[index])
    raise NotUnderstood("an item of something that is no list")


def dim(c: Context, of: SizesOf, index: int, node: ast.AST) -> Expr:
    """The symbol for a size or stride of a tensor that is read at run time."""
    key = (of.name, of.strides, index)
    if index < 0:
        raise NotUnderstood("a size counted from the end")
    if key not in c.dims:
        label = f"{of.name}_{'stride' if of.strides else 'size'}_{index}"
        c.dims[key] = c.symbol(label, node, 0, of.name in c.inputs)
    return c.dims[key]


def leaf(c: Context, node: ast.expr) -> Expr:
    """Leaves of integer expressions: names, sizes that are read, items."""
    if isinstance(node, ast.Name):
        value = c.value(node.id)
        if isinstance(value, Handle) and value.name in c.inputs and value.name not in c.used:
            return number(c, value, node)
    elif isinstance(node, ast.Subscript):
        value = _item(c, node)
    elif (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("size", "stride")
    ):
        value = _called(c, node)
    else:
        raise NotUnderstood(c.text(node)[:80])
    if isinstance(value, Expr):
        return value
    raise NotUnderstood(value.reason if isinstance(value, Lost) else f"{c.text(node)[:80]} is no integer")


def number(c: Context, given: Handle, node: ast.AST, name: str = "") -> Expr:
    """An input that turns out to be an integer: a symbol, by the name it is given or its own."""
    position, _ = c.inputs.pop(given.name)
    label = name or given.name
    e = c.symbol(label, node, None)
    examples = c.module.examples
    known = examples[position] if position < len(examples) else None
    if known is not None and known.integer is not None:
        c.example[label] = known.integer
    for n, v in c.frame.names.items():
        if v == given:
            c.frame.names[n] = e
    return e


def integer(c: Context, node: ast.expr) -> Expr:
    return integers.integer(node, lambda n: leaf(c, n))


def ints(c: Context, node: ast.expr) -> tuple[Expr, ...]:
    """The integers of a tuple or list. Raises NotUnderstood."""
    if isinstance(node, (ast.Tuple, ast.List)):
        return tuple(integer(c, e) for e in node.elts)
    value = evaluate(c, node)
    if isinstance(value, Items) and all(isinstance(v, Expr) for v in value.values):
        return tuple(v for v in value.values if isinstance(v, Expr))
    raise NotUnderstood(f"{c.text(node)[:80]} is no list of sizes")


def tensor(c: Context, node: ast.expr) -> str:
    """The handle of a tensor operand. Raises NotUnderstood for what is none."""
    value = evaluate(c, node)
    if isinstance(value, Results) and len(value.names) == 1 and -1 in value.names:
        return value.names[-1]
    if not isinstance(value, Handle):
        raise NotUnderstood(value.reason if isinstance(value, Lost) else f"{c.text(node)[:80]} is no tensor")
    return value.name


def dtype_of(c: Context, node: ast.expr) -> str:
    """``torch.float32``. Raises NotUnderstood."""
    name = dotted(node, c.module.aliases) or ""
    if not name.startswith("torch."):
        raise NotUnderstood(f"{c.text(node)[:60]} is no dtype")
    return name.removeprefix("torch.")


# -- calls that make tensors --------------------------------------------------------------------


def _words(node: ast.Call) -> dict[str, ast.expr]:
    return {k.arg: k.value for k in node.keywords if k.arg is not None}


def _positional(node: ast.Call, count: int) -> list[ast.expr]:
    if len(node.args) != count or any(isinstance(a, ast.Starred) for a in node.args):
        raise NotUnderstood(f"{len(node.args)} arguments where {count} are expected")
    return node.args


def _empty_strided_on(device: str) -> Maker:
    def make(c: Context, node: ast.Call, result: str) -> None:
        sizes, strides, dtype = _positional(node, 3)
        _alloc(c, node, result, sizes, strides, dtype, device)

    return make


def _empty_strided(c: Context, node: ast.Call, result: str) -> None:
    sizes, strides = _positional(node, 2)
    words = _words(node)
    dtype, device = words.get("dtype"), words.get("device")
    if dtype is None or device is None:
        raise NotUnderstood("an allocation without a dtype or device")
    value = device.args[0] if isinstance(device, ast.Call) and device.args else device
    if not isinstance(value, ast.Constant):
        raise NotUnderstood("an allocation on a device that is not known")
    _alloc(c, node, result, sizes, strides, dtype, str(value.value).partition(":")[0])


def _alloc(
    c: Context, node: ast.Call, result: str, sizes: ast.expr, strides: ast.expr, dtype: ast.expr, device: str
) -> None:
    c.emit(
        Alloc(
            result, ints(c, sizes), ints(c, strides), dtype_of(c, dtype), device, c.loc(node), "empty_strided"
        )
    )


def _reinterpret(c: Context, node: ast.Call, result: str) -> None:
    base, sizes, strides, offset = _positional(node, 4)
    view(c, node, result, tensor(c, base), ints(c, sizes), ints(c, strides), integer(c, offset))


def view(
    c: Context,
    node: ast.AST,
    result: str,
    base: str,
    sizes: tuple[Expr, ...] | None,
    strides: tuple[Expr, ...] | None,
    offset: Expr,
    note: str = "",
) -> None:
    """A view of the same memory; without sizes, of the same layout under another name."""
    c.emit(
        View(
            result, base, sizes, strides, offset, "reinterpret", c.loc(node), "reinterpret_tensor", note=note
        )
    )


def _pool(c: Context, node: ast.Call, result: str) -> None:
    pool, offset, dtype, sizes, strides = _positional(node, 5)
    c.emit(
        View(
            result, tensor(c, pool), ints(c, sizes), ints(c, strides), integer(c, offset), "pool", c.loc(node),
            "alloc_from_pool", dtype_of(c, dtype),
        )
    )  # fmt: skip


def _same_layout(c: Context, node: ast.Call, result: str) -> None:
    """``copy_if_misaligned(t)``: the tensor itself, or a copy with its layout that kernels are given instead."""
    (base,) = _positional(node, 1)
    c.emit(View(result, tensor(c, base), None, None, ZERO, "alias", c.loc(node), "copy_if_misaligned"))


def _as_strided(c: Context, node: ast.Call, result: str) -> None:
    base, sizes, strides = _positional(node, 3)[:3]
    c.emit(
        View(
            result,
            tensor(c, base),
            ints(c, sizes),
            ints(c, strides),
            ZERO,
            "as_strided",
            c.loc(node),
            "as_strided",
        )
    )


MAKERS: dict[str, Maker] = {
    **{
        f"empty_strided_{device}": _empty_strided_on("cpu" if device == "cpu_pinned" else device)
        for device in ("cpu", "cuda", "xpu", "mtia", "cpu_pinned", "mps")
    },
    "empty_strided": _empty_strided,
    "reinterpret_tensor": _reinterpret,
    "alloc_from_pool": _pool,
    "copy_if_misaligned": _same_layout,
    "as_strided": _as_strided,
}


def item(c: Context, node: ast.Call, name: str) -> Value:
    """``u0 = buf1.item()``: a number that comes from data."""
    assert isinstance(node.func, ast.Attribute)
    source = tensor(c, node.func.value)
    c.emit(Call("item", (Tensor(source),), (), c.loc(node), c.text(node), (), Writes(())))
    if name[:2] in ("zf", "f") or name.startswith("zuf"):
        return Text_(name)
    c.symbols.pop(name, None)
    c.symbol(name, node, None, backed=False)
    return sym(name)
