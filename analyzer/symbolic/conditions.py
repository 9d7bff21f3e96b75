"""Conditions: trees over ``expr >= 0``, ``expr == 0`` and ``expr != 0``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .terms import Atom, Expr, as_expr, substituted


class Cond:
    """A condition. ``kind``: ge, eq, ne (on ``expr`` and 0), and, or, const, opaque.

    ``opaque`` stands for a condition this tool can't express (it depends on data): it may hold or not.
    """

    __slots__ = ("_hash", "_syms", "args", "expr", "kind", "name", "negated", "truth")

    def __init__(
        self,
        kind: str,
        expr: Expr | None = None,
        args: tuple[Cond, ...] = (),
        truth: bool = True,
        name: str = "",
        negated: bool = False,
    ) -> None:
        self.kind, self.expr, self.args = kind, expr, args
        self.truth, self.name, self.negated = truth, name, negated
        self._hash = hash((kind, expr, args, truth, name, negated))
        self._syms: frozenset[str] | None = None

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Cond)
            and self._hash == other._hash
            and (self.kind, self.expr, self.args) == (other.kind, other.expr, other.args)
            and (self.truth, self.name, self.negated) == (other.truth, other.name, other.negated)
        )

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[Any, ...]:
        return Cond, (self.kind, self.expr, self.args, self.truth, self.name, self.negated)

    def __repr__(self) -> str:
        from .text import render_cond

        return render_cond(self)

    @staticmethod
    def of(kind: str, e: Expr) -> Cond:
        """``e >= 0`` / ``e == 0`` / ``e != 0``, tightened to integers and folded when constant."""
        v = e.value
        if v is not None:
            return TRUE if {"ge": v >= 0, "eq": v == 0, "ne": v != 0}[kind] else FALSE
        g = e.content()
        if g > 1:
            if kind == "ge":
                e = Expr({m: (c // g) for m, c in e.terms.items()})
            elif e.constant % g:
                return FALSE if kind == "eq" else TRUE
            else:
                e = Expr({m: c // g for m, c in e.terms.items()})
        return Cond(kind, e)

    @staticmethod
    def join(kind: str, args: Iterable[Cond]) -> Cond:
        """Conjunction (``and``) or disjunction (``or``), flattened and folded."""
        flat: list[Cond] = []
        absorbing = kind == "or"
        for a in args:
            if a.kind == "const":
                if a.truth == absorbing:
                    return a
                continue
            flat.extend(a.args if a.kind == kind else (a,))
        unique = tuple(dict.fromkeys(flat))
        if not unique:
            return TRUE if kind == "and" else FALSE
        return unique[0] if len(unique) == 1 else Cond(kind, None, unique)

    @property
    def symbols(self) -> frozenset[str]:
        if self._syms is None:
            if self.expr is not None:
                self._syms = self.expr.symbols
            else:
                self._syms = frozenset().union(*(a.symbols for a in self.args))
        return self._syms

    def conjuncts(self) -> tuple[Cond, ...]:
        if self.kind == "and":
            return self.args
        return () if self.kind == "const" and self.truth else (self,)

    def substitute(self, env: Mapping[str, Expr]) -> Cond:
        if not env or not (self.symbols & env.keys()):
            return self
        return self.mapped(lambda a: env.get(a) if isinstance(a, str) else None, env.keys())

    def replace(self, atoms: Mapping[Atom, Expr]) -> Cond:
        return self.mapped(atoms.get, None) if atoms else self

    def mapped(self, get: Callable[[Any], Expr | None], names: Any) -> Cond:
        """With the atoms replaced that ``get`` knows; those without any of ``names`` are left alone."""
        if self.expr is not None:
            return Cond.of(self.kind, substituted(self.expr, get, names))
        if self.kind in ("and", "or"):
            return Cond.join(self.kind, [a.mapped(get, names) for a in self.args])
        return self

    def has_opaque(self) -> bool:
        return self.kind == "opaque" or any(a.has_opaque() for a in self.args)

    def __invert__(self) -> Cond:
        if self.kind == "const":
            return FALSE if self.truth else TRUE
        if self.kind == "ge":
            assert self.expr is not None
            return Cond.of("ge", -self.expr - 1)
        if self.kind in ("eq", "ne"):
            return Cond("ne" if self.kind == "eq" else "eq", self.expr)
        if self.kind in ("and", "or"):
            return Cond.join("or" if self.kind == "and" else "and", [~a for a in self.args])
        return Cond("opaque", name=self.name, negated=not self.negated)

    def __and__(self, other: Cond) -> Cond:
        return Cond.join("and", (self, other))

    def __or__(self, other: Cond) -> Cond:
        return Cond.join("or", (self, other))


TRUE = Cond("const", truth=True)
FALSE = Cond("const", truth=False)


def opaque(name: str) -> Cond:
    return Cond("opaque", name=name)


def compare(op: str, a: Expr | int, b: Expr | int) -> Cond:
    """The condition ``a op b`` for op in ``< <= > >= == !=``."""
    a, b = as_expr(a), as_expr(b)
    if op == "<":
        return Cond.of("ge", b - a - 1)
    if op == "<=":
        return Cond.of("ge", b - a)
    if op == ">":
        return Cond.of("ge", a - b - 1)
    if op == ">=":
        return Cond.of("ge", a - b)
    return Cond.of("eq" if op == "==" else "ne", a - b)
