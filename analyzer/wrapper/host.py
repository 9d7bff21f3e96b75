"""Values of host code: integer expressions, size arrays, handles, and how a syntax node denotes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from ..cxx.nodes import Node
from ..model.dtypes import INTEGERS, from_cxx
from ..model.record import record
from ..symbolic import (
    ZERO,
    Cond,
    Expr,
    compare,
    const,
    floordiv,
    maximum,
    minimum,
    mod,
    tdiv,
    tmod,
    where,
)  # fmt: skip
from .fractions import NotExact, is_fraction, rational

#: Bytes that pieces of a memory pool are aligned to.
POOL_ALIGNMENT = 64


@record(frozen=True)
class Handle:
    """A tensor handle variable; ``name`` identifies it in events."""

    name: str


@record(frozen=True)
class HandleList:
    """An array of raw handles; None where an element is no tensor."""

    items: tuple[Handle | None, ...]


@record(frozen=True)
class SizesOf:
    """``x.sizes()`` or ``x.strides()`` of a handle."""

    name: str
    strides: bool


@record(frozen=True)
class Pointer:
    """A raw pointer to the data of a handle."""

    name: str


@record(frozen=True)
class ArgumentList:
    """``void* args[] = {&a, …}``: what a launch passes, by address: the values are those at the launch."""

    items: tuple[Node, ...]


@record(frozen=True)
class Constants:
    """``constants_``."""


@record(frozen=True)
class Text_:
    """A value that is no integer: a dtype, a string, a float."""

    text: str


Value: TypeAlias = "Expr | tuple[Value, ...] | Handle | HandleList | ArgumentList | SizesOf | Pointer | Constants | Text_ | Node | None"


class NotUnderstood(Exception):
    """A node this reader has no meaning for."""


class Scope:
    """Names in nested C++ scopes."""

    def __init__(self, parent: Scope | None = None) -> None:
        self.parent = parent
        self.names: dict[str, Value] = {}

    def get(self, name: str) -> Value:
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.parent
        raise KeyError(name)

    def define(self, name: str, value: Value) -> None:
        self.names[name] = value

    def assign(self, name: str, value: Value) -> None:
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                scope.names[name] = value
                return
            scope = scope.parent
        self.names[name] = value

    def _chain(self) -> list[Scope]:
        out: list[Scope] = []
        scope: Scope | None = self
        while scope is not None:
            out.append(scope)
            scope = scope.parent
        return out

    def snapshot(self) -> list[dict[str, Value]]:
        """The names of this scope and those around it, as they are now."""
        return [dict(s.names) for s in self._chain()]

    def restore(self, names: list[dict[str, Value]]) -> None:
        for scope, known in zip(self._chain(), names, strict=True):
            scope.names = dict(known)

    def merge(self, before: list[dict[str, Value]], ends: list[list[dict[str, Value]]]) -> None:
        """After alternatives: names of ``before``; those that do not end alike have no known value."""
        for level, (scope, known) in enumerate(zip(self._chain(), before, strict=True)):
            scope.names = {
                name: value
                if all(e[level].get(name) == value for e in ends)
                else self._either(name, ends, level)
                for name, value in known.items()
            }

    @staticmethod
    def _either(name: str, ends: list[list[dict[str, Value]]], level: int) -> Value:
        values = [e[level].get(name) for e in ends]
        if all(v == values[0] for v in values):
            return values[0]
        return Text_(f"{name}, which differs between branches")


def _nonnegative(e: Expr) -> bool:
    """Sums of backed sizes with positive coefficients; there C++ division rounds down."""
    return all(c >= 0 and all(isinstance(a, str) and a[0] == "s" for a in m) for m, c in e.terms.items())


def integer(node: Node, lookup: Callable[[Node], Expr]) -> Expr:
    """The integer expression a node denotes; ``lookup`` gives leaves that are not literals.

    Raises NotUnderstood for what is no integer expression of the host grammar.
    """
    k = node.kind
    if k == "int":
        return const(node.value)
    if k == "bin" and is_fraction(node):
        return truncated(node, lambda n: integer(n, lookup))
    if k == "cast":
        return converted(integer(node.kids[0], lookup), str(node.value))
    if k == "construct" and len(node.kids) == 1:
        return integer(node.kids[0], lookup)
    if k == "un" and len(node.kids) == 1:
        if node.value == "-":
            return -integer(node.kids[0], lookup)
        if node.value == "+":
            return integer(node.kids[0], lookup)
    if k == "bin" and len(node.kids) == 2:
        if node.value in ("<", "<=", ">", ">=", "==", "!=", "&&", "||"):
            return where(condition(node, lookup), 1, 0)
        a, b = (integer(x, lookup) for x in node.kids)
        return arithmetic(node.value, a, b)
    if k == "cond":
        return where(
            condition(node.kids[0], lookup), integer(node.kids[1], lookup), integer(node.kids[2], lookup)
        )
    if k == "call":
        name = node.value
        if name in ("min", "max"):
            args = (
                node.kids[0].kids
                if len(node.kids) == 1 and node.kids[0].kind in ("init", "construct")
                else node.kids
            )
            vals = [integer(a, lookup) for a in args]
            return minimum(*vals) if name == "min" else maximum(*vals)
        if name == "align":  # of a piece of a memory pool
            return (
                floordiv(integer(node.kids[0], lookup) + (POOL_ALIGNMENT - 1), POOL_ALIGNMENT)
                * POOL_ALIGNMENT
            )
        if name in ("trunc", "floor") and is_fraction(node.kids[0]):
            return truncated(node.kids[0], lambda n: integer(n, lookup))
        if name == "div_floor_integer":
            return floordiv(integer(node.kids[0], lookup), integer(node.kids[1], lookup))
        if name == "div_mod":
            return mod(integer(node.kids[0], lookup), integer(node.kids[1], lookup))
        if name in ("abs", "llabs"):
            a = integer(node.kids[0], lookup)
            return maximum(a, -a)
    return lookup(node)


def converted(e: Expr, type_: str) -> Expr:
    """``e`` kept in a variable of a C++ type: a narrow one keeps the low bits. Sizes fit 64 bits."""
    dtype = from_cxx(type_)
    if dtype == "bool":
        return e if e.value in (0, 1) else where(compare("!=", e, ZERO), 1, 0)
    bits, signed = INTEGERS.get(dtype or "", (64, True))
    if bits == 64:
        return e
    span, low = 1 << bits, -(1 << (bits - 1)) if signed else 0
    return e if e.value is not None and low <= e.value < low + span else mod(e - low, span) + low


def truncated(node: Node, whole: Callable[[Node], Expr]) -> Expr:
    """The whole part of sizes scaled by a constant. Raises NotUnderstood where doubles may miss it."""
    try:
        numerator, denominator = rational(node, whole)
    except NotExact as e:
        raise NotUnderstood(str(e)) from None
    return (
        floordiv(numerator, denominator) if _nonnegative(numerator) else tdiv(numerator, const(denominator))
    )


def arithmetic(op: str, a: Expr, b: Expr) -> Expr:
    if op == "+":
        return a + b
    if op == "-":
        return a - b
    if op == "*":
        return a * b
    if op in ("/", "%"):
        if _nonnegative(a) and _nonnegative(b):
            return floordiv(a, b) if op == "/" else mod(a, b)
        return tdiv(a, b) if op == "/" else tmod(a, b)
    if op == "<<" and b.value is not None and 0 <= b.value < 63:
        return a * (1 << b.value)
    raise NotUnderstood(f"operator {op}")


def condition(node: Node, lookup: Callable[[Node], Expr]) -> Cond:
    """The condition a node denotes. Raises NotUnderstood."""
    if node.kind == "bin" and node.value in ("<", "<=", ">", ">=", "==", "!="):
        return compare(node.value, integer(node.kids[0], lookup), integer(node.kids[1], lookup))
    if node.kind == "bin" and node.value in ("&&", "&"):
        return condition(node.kids[0], lookup) & condition(node.kids[1], lookup)
    if node.kind == "bin" and node.value in ("||", "|"):
        return condition(node.kids[0], lookup) | condition(node.kids[1], lookup)
    if node.kind == "un" and node.value == "!":
        return ~condition(node.kids[0], lookup)
    if node.kind == "cast":
        return condition(node.kids[0], lookup)
    return compare("!=", integer(node, lookup), ZERO)
