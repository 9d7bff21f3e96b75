"""Values of the abstract interpretation of a C++ kernel.

A vector is the value of one of its lanes: an expression that may mention :data:`LANE`, the number of the
lane.  A scalar used in a vector operation therefore needs no conversion, and neither does a mask.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

from ...model.dtypes import from_cxx
from ...model.record import record
from ...symbolic import (
    Cond,
    Expr,
    Op,
    compare,
    const,
    floordiv,
    maximum,
    minimum,
    mod,
    sym,
    tdiv,
    tmod,
    where,
)
from ..interpret import integers
from ..interpret.integers import BOOL, INT64, IntType, int_type

if TYPE_CHECKING:
    from ...cxx.nodes import Node
    from ...model.kernel import Access
    from ..reals import Real
    from .scope import Scope

#: The lane of a vector access or value.
LANE = "lane"
#: The element type of a pointer whose steps are not known.
ANY_TYPE = "?"
#: The second lane of a block access (row of a transposed tile).
ROW = "row"
#: An element of the memory behind one of a wider type that it was cast to.
PART = "part"


@record(frozen=True)
class Int:
    """An integer of a type.

    ``ring`` is what it was computed as, equal to ``expr`` up to a multiple of ``2**bits``, where that is not it.
    """

    expr: Expr
    type: IntType = INT64
    ring: Expr | None = None


@record(frozen=True)
class Flag:
    """A truth value."""

    cond: Cond


@record(frozen=True)
class Opaque:
    """A value that is not followed (floating point from memory). ``deps``: variables it can depend on."""

    deps: frozenset[str]


class Local:
    """An array, vector or heap buffer of the kernel's own.

    ``length`` in elements, where it is known; ``accesses`` those that are followed.
    ``content`` is what element number :data:`LANE` holds, when that is known; ``dtype`` the element type;
    ``wild``: it stands for any memory; ``escaped``: its address went where nobody follows it; ``deps`` the variables its contents can depend on; ``depth`` the number of guards in force when it was made.
    """

    __slots__ = ("accesses", "content", "deps", "depth", "dtype", "escaped", "length", "name", "wild")

    def __init__(self, name: str, dtype: str | None, depth: int = 0, wild: bool = False) -> None:
        self.name, self.dtype, self.depth = name, dtype, depth
        self.content: Value | None = None
        self.deps: frozenset[str] = frozenset()
        self.escaped, self.wild = False, wild
        self.length: Expr | None = None
        self.accesses: list[Access] = []


@record(frozen=True)
class Ptr:
    """Address of element ``offset`` of a parameter (by name) or of a local array.

    ``dtype`` is the element type it was cast to, where that has another size than the memory's own: a wider one
    keeps its offset in elements of the memory, a narrower one counts in its own.
    """

    base: str | Local
    offset: Expr
    dtype: str | None = None


@record(frozen=True)
class Address:
    """The address of a variable, by the scope it is declared in."""

    scope: Scope
    name: str


@record(frozen=True)
class Closure:
    """A lambda with the scope it was written in."""

    node: Node
    scope: Scope


Value: TypeAlias = "Int | Real | Flag | Opaque | Ptr | Local | Address | Closure"

UNKNOWN = Opaque(frozenset())

# -- types --------------------------------------------------------------------------------------


def template_words(callee: str) -> list[str]:
    """Template arguments of ``f<a, (3L), b<c>>``, as written."""
    m = re.search(r"<(.*)>\s*\Z", callee, re.S)
    if not m:
        return []
    out, depth, word = [], 0, ""
    for ch in m.group(1):
        depth += (ch in "<(") - (ch in ">)")
        if ch == "," and depth == 0:
            out.append(word)
            word = ""
        else:
            word += ch
    return [*out, word]


def int_bounds(dtype: str | None) -> tuple[int | None, int | None]:
    """What an integer type of at most 32 bits can hold; (None, None) for wider or unknown types."""
    if dtype == "bool":
        return 0, 1
    m = re.fullmatch(r"(u?)int(8|16|32)", dtype or "")
    if not m:
        return (0, None) if dtype == "uint64" else (None, None)
    bits = int(m.group(2))
    return (0, (1 << bits) - 1) if m.group(1) else (-(1 << bits - 1), (1 << bits - 1) - 1)


def is_integer(dtype: str | None) -> bool:
    return dtype is not None and (dtype == "bool" or "int" in dtype)


_OTHER_SIGN = re.compile(r"make_(un)?signed(?:_t)?\s*<\s*([^<>]+?)\s*>")


def type_of(text: str) -> IntType | None:
    """The integer type a C++ type names, ``std::make_unsigned_t<T>`` included; None for anything else."""
    m = _OTHER_SIGN.search(text)
    if m:
        found = type_of(m.group(2))
        return None if found is None else IntType(found.bits, m.group(1) is None)
    dtype = from_cxx(text)
    return int_type(dtype) if dtype else None


def literal_type(text: str, value: int) -> IntType:
    """The type of an integer literal: its suffix, and 64 bits where 32 do not hold it."""
    suffix = text.lower()[len(text.lower().rstrip("ul")) :]
    signed = "u" not in suffix
    bits = 64 if "l" in suffix or not IntType(32, signed).low <= value <= IntType(32, signed).high else 32
    return IntType(bits, signed)


def operand(v: Int | Flag) -> integers.Int:
    """A value as an operand of typed arithmetic; a truth value is 0 or 1."""
    if isinstance(v, Flag):
        return integers.of(where(v.cond, 1, 0), BOOL, fits=True)
    if v.ring is not None:
        return integers.of(v.ring, v.type)
    return integers.of(v.expr, v.type, fits=True)


# -- integers and conditions --------------------------------------------------------------------


def as_int(v: Value) -> Expr | None:
    """The integer a value is (a truth value counts 0 or 1); None for anything else."""
    if isinstance(v, Int):
        return v.expr
    if isinstance(v, Flag):
        return where(v.cond, 1, 0)
    return None


def int_binary(op: str, a: Expr, b: Expr, nonneg: bool) -> Expr | None:
    """``a op b`` on integers; None when the operation has no expression.

    ``nonneg``: the left operand is known not to be negative, so that C's division rounds down.
    """
    if op == "+":
        return a + b
    if op == "-":
        return a - b
    if op == "*":
        return a * b
    if op == "/":
        if a == 2 * b - 1:  # ceil(b / b) of a number of blocks
            return const(1)
        return floordiv(a, b) if nonneg else tdiv(a, b)
    if op == "%":
        return mod(a, b) if nonneg else tmod(a, b)
    n = b.value
    if op == "<<" and n is not None and 0 <= n < 63:
        return a * (1 << n)
    if op == ">>" and n is not None and 0 <= n < 63:
        return floordiv(a, 1 << n)
    if op == "&" and n is not None and n > 0 and n & (n + 1) == 0:
        return mod(a, n + 1)
    if op == "&" and a.value is not None and n is None:
        return int_binary(op, b, a, nonneg)
    return None


def int_compare(op: str, a: Expr, b: Expr) -> Cond:
    """``a op b``; equality with a minimum of a constant is spelled out, so that provers need no case split."""
    if op in ("==", "!="):
        for x, y in ((a, b), (b, a)):
            split = _equals_minimum(x, y)
            if split is not None:
                return split if op == "==" else ~split
    return compare(op, a, b)


def _equals_minimum(e: Expr, c: Expr) -> Cond | None:
    """``min(x, k) == c`` for constants c <= k: ``x == c``, or ``x >= c`` when c is k."""
    if c.value is None or len(e.terms) != 1:
        return None
    ((mono, coef),) = e.terms.items()
    if coef != 1 or len(mono) != 1 or isinstance(mono[0], str) or mono[0].kind != "min":
        return None
    args = mono[0].args
    top = args[-1].value
    if top is None or len(args) != 2 or c.value > top:
        return None
    return compare(">=" if c.value == top else "==", args[0], c)


def int_extreme(name: str, a: Expr, b: Expr) -> Expr:
    if name == "max":
        return maximum(a, b)
    for x, y in ((a, b), (b, a)):
        if _rounds_up(x, y):
            return y
    return minimum(a, b)


def _rounds_up(e: Expr, x: Expr) -> bool:
    """Whether ``e`` is ``x`` rounded up to a multiple: ``((x + c - 1) / c) * c``."""
    if len(e.terms) != 1:
        return False
    ((mono, c),) = e.terms.items()
    op = mono[0] if len(mono) == 1 else None
    return isinstance(op, Op) and op.kind in ("tdiv", "floordiv") and op.args == (x + c - 1, const(c))


def absolute(e: Expr) -> Expr:
    return const(abs(e.value)) if e.value is not None else maximum(e, -e)


def bool_binary(op: str, a: Cond, b: Cond) -> Cond | None:
    """Logic on truth values; None when the operator is arithmetic."""
    if op in ("&", "&&", "*"):
        return a & b
    if op in ("|", "||"):
        return a | b
    if op in ("^", "!="):
        return (a & ~b) | (~a & b)
    if op == "==":
        return (a & b) | (~a & ~b)
    return None


def lane() -> Expr:
    return sym(LANE)
