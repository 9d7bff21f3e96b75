"""Sizes scaled by a constant in floating point: ``(1.0/4.0)*n``, ``1.5*static_cast<double>(n)``."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from ..cxx.nodes import Node
from ..symbolic import Expr

#: Factors beyond this are rounded numbers rather than meant ones.
_MAX_DENOMINATOR = 1 << 20


class NotExact(Exception):
    """Products with this factor may be rounded below the whole number they stand for."""


def is_fraction(node: Node) -> bool:
    """Whether a constant in floating point is a factor in ``node``."""
    if node.kind == "bin" and node.value in ("*", "/") and len(node.kids) == 2:
        return any(is_fraction(k) for k in node.kids)
    return node.kind == "float"


def rational(node: Node, whole: Callable[[Node], Expr]) -> tuple[Expr, int]:
    """Numerator and denominator of a product with one constant factor; ``whole`` reads the other factor.

    Raises NotExact where computing it in doubles may end below the exact value: a factor ``p/q`` that is stored
    more than half a unit in the last place of 1 too small turns ``q`` times it into ``p`` less something.
    """
    factor, rest = node.kids if _constant(node.kids[0]) is not None else reversed(node.kids)
    exact = _constant(factor)
    if (
        node.value != "*"
        or exact is None
        or is_fraction(rest)
        or not 0 < exact.denominator <= _MAX_DENOMINATOR
    ):
        raise NotExact("a size computed in floating point")
    if exact > 0 and (exact - Fraction(float(exact))) / exact > Fraction(1, 1 << 54):
        raise NotExact(f"{exact} times a size is rounded down below whole numbers")
    return whole(rest) * exact.numerator, exact.denominator


def _constant(node: Node) -> Fraction | None:
    if node.kind == "float" and not str(node.value).endswith(("f", "F")):
        return Fraction(str(node.value).rstrip("lL"))  # as it is written: 1.7 is 17/10
    if node.kind == "bin" and node.value == "/" and len(node.kids) == 2:
        a, b = (_constant(k) for k in node.kids)
        return a / b if a is not None and b else None
    return None
