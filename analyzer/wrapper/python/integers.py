"""Integer expressions and conditions of Python host code."""

from __future__ import annotations

import ast
from collections.abc import Callable
from fractions import Fraction

from ...symbolic import FALSE, TRUE, Cond, Expr, compare, const, floordiv, maximum, minimum, mod, where
from ..host import POOL_ALIGNMENT, NotUnderstood

_COMPARE: dict[type[ast.cmpop], str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip
_CONVERSIONS = ("float", "int", "torch.sym_float", "torch.sym_int")
#: Largest exponent and shift that is written out.
_MAX_POWER = 8
_MAX_SHIFT = 62
#: Factors with larger denominators are rounded numbers rather than meant ones.
_MAX_DENOMINATOR = 1 << 20


def integer(node: ast.expr, leaf: Callable[[ast.expr], Expr]) -> Expr:
    """The integer a node denotes; ``leaf`` gives what is no arithmetic. Raises NotUnderstood."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return const(int(node.value))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        inner = integer(node.operand, leaf)
        return -inner if isinstance(node.op, ast.USub) else inner
    if isinstance(node, ast.BinOp):
        return _binary(node, leaf)
    if isinstance(node, (ast.Compare, ast.BoolOp)) or (
        isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    ):
        return where(condition(node, leaf), 1, 0)
    if isinstance(node, ast.IfExp):
        return where(condition(node.test, leaf), integer(node.body, leaf), integer(node.orelse, leaf))
    if isinstance(node, ast.Call):
        found = _function(node, leaf)
        if found is not None:
            return found
    return leaf(node)


def _binary(node: ast.BinOp, leaf: Callable[[ast.expr], Expr]) -> Expr:
    # A long sum is a deep tree: its left spine is walked, not recursed into.
    spine: list[tuple[ast.operator, ast.expr]] = []
    left: ast.expr = node
    while isinstance(left, ast.BinOp):
        spine.append((left.op, left.right))
        left = left.left
    value = integer(left, leaf)
    for op, right in reversed(spine):
        value = _arith(op, value, integer(right, leaf))
    return value


def _arith(op: ast.operator, a: Expr, b: Expr) -> Expr:
    if isinstance(op, ast.Add):
        return a + b
    if isinstance(op, ast.Sub):
        return a - b
    if isinstance(op, ast.Mult):
        return a * b
    if isinstance(op, (ast.FloorDiv, ast.Mod)):
        if b.value == 0:
            raise NotUnderstood("a division by zero")
        return floordiv(a, b) if isinstance(op, ast.FloorDiv) else mod(a, b)
    if isinstance(op, ast.Pow) and b.value is not None and 0 <= b.value <= _MAX_POWER:
        out = const(1)
        for _ in range(b.value):
            out = out * a
        return out
    if isinstance(op, ast.LShift) and b.value is not None and 0 <= b.value <= _MAX_SHIFT:
        return a * (1 << b.value)
    raise NotUnderstood(f"operator {type(op).__name__} in a size")


def _function(node: ast.Call, leaf: Callable[[ast.expr], Expr]) -> Expr | None:
    """min, max, abs, int, align and what rounds a fraction; None for another function."""
    name = ast.unparse(node.func) if isinstance(node.func, (ast.Name, ast.Attribute)) else ""
    args = node.args
    if node.keywords or not args or any(isinstance(a, ast.Starred) for a in args):
        return None
    if name in ("min", "max", "torch.sym_min", "torch.sym_max") and len(args) > 1:
        values = [integer(a, leaf) for a in args]
        return minimum(*values) if name.endswith("min") else maximum(*values)
    if len(args) != 1:
        return None
    if name == "abs":
        a = integer(args[0], leaf)
        return maximum(a, -a)
    if name in ("align", "_align"):
        return floordiv(integer(args[0], leaf) + (POOL_ALIGNMENT - 1), POOL_ALIGNMENT) * POOL_ALIGNMENT
    if name in ("int", "torch.sym_int", "math.trunc", "math.floor", "math.ceil"):
        scaled = _fraction(args[0], leaf)
        if scaled is None:
            return integer(args[0], leaf)
        numerator, denominator = scaled
        if name == "math.ceil":
            return -floordiv(-numerator, denominator)
        if name != "math.floor" and not _nonnegative(numerator):
            return where(
                compare(">=", numerator, 0),
                floordiv(numerator, denominator),
                -floordiv(-numerator, denominator),
            )
        return floordiv(numerator, denominator)
    return None


def _nonnegative(e: Expr) -> bool:
    return all(c >= 0 and all(isinstance(a, str) and a[0] == "s" for a in m) for m, c in e.terms.items())


def _fraction(node: ast.expr, leaf: Callable[[ast.expr], Expr]) -> tuple[Expr, Expr] | None:
    """Numerator and denominator of a size computed in floating point; None for a plain integer.

    ``a / b`` of integers below 2**53 is never rounded up to a whole number. A product with a constant is exact
    only where the constant is not stored too small. Raises NotUnderstood for others.
    """
    if (
        isinstance(node, ast.Call)
        and ast.unparse(node.func) in ("float", "torch.sym_float")
        and len(node.args) == 1
    ):
        return _fraction(node.args[0], leaf)
    if not isinstance(node, ast.BinOp):
        return None
    if isinstance(node.op, ast.Div):
        below = integer(_plain(node.right), leaf)
        if below.value is None or below.value <= 0:
            raise NotUnderstood("a quotient in floating point")
        return integer(_plain(node.left), leaf), below
    if isinstance(node.op, ast.Mult):
        for factor, rest in ((node.left, node.right), (node.right, node.left)):
            exact = _constant(factor)
            if exact is None:
                continue
            if not 0 < exact.denominator <= _MAX_DENOMINATOR or exact <= 0:
                raise NotUnderstood("a size computed in floating point")
            if (exact - Fraction(float(exact))) / exact > Fraction(1, 1 << 54):
                raise NotUnderstood(f"{exact} times a size is rounded down below whole numbers")
            return integer(_plain(rest), leaf) * exact.numerator, const(exact.denominator)
    return None


def _plain(node: ast.expr) -> ast.expr:
    """What ``float(x)`` converts."""
    if isinstance(node, ast.Call) and len(node.args) == 1 and ast.unparse(node.func) in _CONVERSIONS:
        return _plain(node.args[0])
    return node


def _constant(node: ast.expr) -> Fraction | None:
    if isinstance(node, ast.Constant) and type(node.value) is float:
        return Fraction(node.value) if abs(node.value) < 2.0**52 else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        a, b = (k.value if isinstance(k, ast.Constant) else None for k in (node.left, node.right))
        if type(a) in (int, float) and type(b) in (int, float) and b:
            return Fraction(a) / Fraction(b)  # type: ignore[arg-type]
    return None


def condition(node: ast.expr, leaf: Callable[[ast.expr], Expr]) -> Cond:
    """The condition a node denotes. Raises NotUnderstood."""
    if isinstance(node, ast.BoolOp):
        parts = [condition(v, leaf) for v in node.values]
        out = TRUE if isinstance(node.op, ast.And) else FALSE
        for p in parts:
            out = out & p if isinstance(node.op, ast.And) else out | p
        return out
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return ~condition(node.operand, leaf)
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.BitAnd, ast.BitOr)):
        a, b = condition(node.left, leaf), condition(node.right, leaf)
        return a & b if isinstance(node.op, ast.BitAnd) else a | b
    if isinstance(node, ast.Compare):
        values = [integer(x, leaf) for x in (node.left, *node.comparators)]
        out = TRUE
        for op, left, right in zip(node.ops, values, values[1:], strict=False):
            if type(op) not in _COMPARE:
                raise NotUnderstood(f"comparison {type(op).__name__}")
            out = out & compare(_COMPARE[type(op)], left, right)
        return out
    return compare("!=", integer(node, leaf), 0)
