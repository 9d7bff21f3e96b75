"""Expressions of a Triton kernel body, evaluated to abstract values."""

from __future__ import annotations

import ast

from ...model.record import replace
from ...symbolic import FALSE, ONE, TRUE, Cond, Expr
from . import floats
from .arith import as_bool, as_num, binary, comparison, extreme, move, negate, select, unknown
from .calls import Call, call_function
from .memory import Names, element_dtype
from .state import State
from .typed import join, type_of
from .values import (
    NONE,
    BlockPtr,
    Bool,
    DType,
    Num,
    Ptr,
    Real,
    Static,
    Unsupported,
    Value,
    axis,
    dtype_named,
    number,
)

#: Ways to name the Triton language module and the generator's helpers in kernel code.
_MODULES = {
    "tl", "triton", "triton_helpers", "libdevice", "tl_math", "math", "language", "core", "hl", "torch",
}  # fmt: skip


class Evaluator:
    """Evaluates expressions in the scope of the function being read."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.env: dict[str, Value] = {}
        #: The variable the current statement assigns: data it loads is named after it.
        self.label = "value"

    def expr(self, node: ast.expr) -> Value:
        """The value of an expression. Raises Unsupported for a form that has no meaning here."""
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is None:
            raise Unsupported(f"expression {ast.unparse(node)[:80]}")
        value: Value = method(node)
        return value

    # -- leaves
    def _constant(self, node: ast.Constant) -> Value:
        v = node.value
        if v is None:
            return NONE
        if isinstance(v, bool):
            return Bool(cond=TRUE if v else FALSE)
        if isinstance(v, int):
            return number(v)
        if isinstance(v, float):
            return Real(fn=floats.constant(v))
        return Static(obj=str(v))

    def _name(self, node: ast.Name) -> Value:
        self.state.seen.add(id(node))
        if node.id in self.env:
            return self.env[node.id]
        if node.id in self.state.kernel.module_constants:
            return self.expr(self.state.kernel.module_constants[node.id])
        if node.id in self.state.kernel.functions:
            return Static(obj=node.id)
        return Real()

    def _tuple(self, node: ast.Tuple) -> Value:
        return Static(obj=tuple(self.expr(e) for e in node.elts))

    def _list(self, node: ast.List) -> Value:
        return Static(obj=tuple(self.expr(e) for e in node.elts))

    def _joinedstr(self, node: ast.JoinedStr) -> Value:
        return Static(obj=ast.unparse(node))

    def _attribute(self, node: ast.Attribute) -> Value:
        if self._is_module(node.value):
            dtype = dtype_named(node.attr)
            return Static(obj=dtype) if dtype is not None else Static(obj=node.attr)
        v = self.expr(node.value)
        if node.attr in ("shape", "value"):
            return (
                Static(obj=tuple(Num(expr=n, fits=True, weak=True) for n in v.shape))
                if node.attr == "shape"
                else v
            )
        if node.attr in ("dtype", "element_ty"):
            return self._dtype_of(v)
        if node.attr == "T":
            return call_function("trans", self._call_of(node, [v]))
        return unknown(v)

    def _dtype_of(self, v: Value) -> Value:
        if isinstance(v, (Num, Bool)):
            width = type_of(v).name if isinstance(v, Num) else "bool"
            return Static(obj=DType(width))
        if isinstance(v, Static):
            return v
        name = element_dtype(self.state, v) if isinstance(v, Ptr) else getattr(v, "dtype", None)
        return Static(obj=DType(name)) if name else Real()

    def _is_module(self, node: ast.expr) -> bool:
        while isinstance(node, ast.Attribute):
            node = node.value
        return isinstance(node, ast.Name) and node.id in _MODULES and node.id not in self.env

    # -- operators
    def _binop(self, node: ast.BinOp) -> Value:
        picked = self._branchless_extreme(node)
        if picked is not None:
            return picked
        return binary(self.state, node.op, self.expr(node.left), self.expr(node.right), node)

    def _branchless_extreme(self, node: ast.BinOp) -> Value | None:
        """``a * (a <= b) + b * (b < a)``, the generator's minimum (and maximum, with ``>=``)."""
        if not (isinstance(node.op, ast.Add) and _is_product(node.left) and _is_product(node.right)):
            return None
        left, right = node.left, node.right
        assert isinstance(left, ast.BinOp) and isinstance(right, ast.BinOp)
        c, d = left.right, right.right
        if not (isinstance(c, ast.Compare) and isinstance(d, ast.Compare) and len(c.ops) == len(d.ops) == 1):
            return None
        a, b = ast.unparse(left.left), ast.unparse(right.left)
        sides = [ast.unparse(x) for x in (c.left, c.comparators[0], d.left, d.comparators[0])]
        if sides != [a, b, b, a]:
            return None
        ops = (type(c.ops[0]), type(d.ops[0]))
        if ops not in ((ast.LtE, ast.Lt), (ast.GtE, ast.Gt)):
            return None
        return extreme(self.state, ops[0] is ast.GtE, self.expr(left.left), self.expr(right.left), node)

    def _unaryop(self, node: ast.UnaryOp) -> Value:
        v = self.expr(node.operand)
        if isinstance(node.op, ast.USub):
            return negate(self.state, v, node)
        if isinstance(node.op, ast.UAdd):
            return v
        if isinstance(node.op, ast.Not) or isinstance(v, (Bool, Real)):
            c = as_bool(self.state, v, node.operand)
            return replace(c, cond=~c.cond)
        n = as_num(self.state, v, node)
        return replace(n, expr=-n.expr - 1, fits=n.fits and n.signed)

    def _boolop(self, node: ast.BoolOp) -> Value:
        """``and``/``or`` of scalars: what follows a deciding operand is not evaluated."""
        kind = "and" if isinstance(node.op, ast.And) else "or"
        parts: list[Bool] = []
        for e in node.values:
            c = as_bool(self.state, self.expr(e), e)
            parts.append(c)
            if c.cond.kind == "const" and c.cond.truth == (kind == "or"):
                self.state.skip(node)
                break
        like = unknown(*parts)
        joined = Cond.join(kind, [c.cond for c in parts])
        return Bool(cond=joined, shape=like.shape, deps=like.deps, feeds=like.feeds, narrow=join(*parts))

    def _compare(self, node: ast.Compare) -> Value:
        values = [self.expr(e) for e in (node.left, *node.comparators)]
        out = comparison(self.state, node.ops[0], values[0], values[1], node)
        for i, op in enumerate(node.ops[1:], 1):
            more = comparison(self.state, op, values[i], values[i + 1], node)
            out = binary(self.state, ast.BitAnd(), out, more, node)
        return out

    def _ifexp(self, node: ast.IfExp) -> Value:
        c = as_bool(self.state, self.expr(node.test), node.test)
        if c.cond.kind == "const":
            self.state.skip(node.orelse if c.cond.truth else node.body)
            return self.expr(node.body if c.cond.truth else node.orelse)
        return select(self.state, c, self.expr(node.body), self.expr(node.orelse), node)

    # -- subscripts
    def _subscript(self, node: ast.Subscript) -> Value:
        v = self.expr(node.value)
        items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if isinstance(v, Static) and isinstance(v.obj, tuple):
            i = as_num(self.state, self.expr(items[0]), node).expr.value if len(items) == 1 else None
            if i is None or not -len(v.obj) <= i < len(v.obj):
                raise Unsupported(f"subscript {ast.unparse(node)}")
            return v.obj[i]
        return self._index_block(v, items, node)

    def _index_block(self, v: Value, items: list[ast.expr], node: ast.Subscript) -> Value:
        """``x[:, None]``: a new axis of extent 1 for every None, the others in order."""
        shape: list[Expr] = []
        places: list[int] = []
        for item in items:
            if isinstance(item, ast.Constant) and item.value is None:
                shape.append(ONE)
            elif isinstance(item, ast.Slice) and item.lower is None and item.upper is None:
                places.append(len(shape))
                shape.append(v.shape[len(places) - 1] if len(places) <= len(v.shape) else ONE)
            else:
                raise Unsupported(f"subscript {ast.unparse(node)}")
        rest = v.shape[len(places) :]
        places.extend(range(len(shape), len(shape) + len(rest)))
        shape.extend(rest)
        mapping: dict[str, str | None] = {
            axis(len(v.shape) - 1 - i): axis(len(shape) - 1 - p) for i, p in enumerate(places[: len(v.shape)])
        }
        return move(self.state, v, mapping, tuple(shape), node)

    # -- calls
    def _call(self, node: ast.Call) -> Value:
        f = node.func
        if isinstance(f, ast.Name) and f.id in self.state.kernel.functions:
            return self.inline(self.state.kernel.functions[f.id], node)
        args = [self.expr(a.value if isinstance(a, ast.Starred) else a) for a in node.args]
        if isinstance(f, ast.Name):
            name = {"max": "maximum", "min": "minimum"}.get(f.id, f.id)
        elif isinstance(f, ast.Attribute):
            name = f.attr
            if not self._is_module(f.value):
                args.insert(0, self.expr(f.value))
        else:
            raise Unsupported(f"call {ast.unparse(node)[:80]}")
        return call_function(name, self._call_of(node, args))

    def inline(self, fn: ast.FunctionDef, node: ast.Call) -> Value:
        """The value of calling a function of the same source."""
        raise NotImplementedError

    def _call_of(self, node: ast.expr, args: list[Value]) -> Call:
        call = node if isinstance(node, ast.Call) else self.state.synthetic.setdefault(
            id(node), ast.copy_location(ast.Call(node, [], []), node)
        )  # fmt: skip
        assert isinstance(call, ast.Call)
        kwargs = {k.arg: self.expr(k.value) for k in call.keywords if k.arg is not None}
        where = call.args[0] if call.args else None
        return Call(
            self.state, call, tuple(args), kwargs, self.label, self._index_text(where), self._names(call)
        )

    def _index_text(self, node: ast.expr | None) -> str:
        """The source of the index of ``ptr + (index)``."""
        if node is None:
            return ""
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and isinstance(node.left, ast.Name):
            node = node.right
        return self.state.source(node)

    def _names(self, node: ast.Call) -> Names:
        """Index variables of the source that a call mentions, and the block's own index variables."""
        mentioned = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
        return tuple(
            (k, v)
            for k, v in self.env.items()
            if isinstance(v, Num)
            and v.expr.value is None
            and (k in mentioned or k.endswith("index"))
            and not isinstance(v, BlockPtr)
        )


def _is_product(node: ast.expr) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)
