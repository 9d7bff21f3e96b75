"""The normal form: polynomials with integer coefficients over symbols and operations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from math import gcd
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from .conditions import Cond

#: ``floordiv``/``mod`` round down (Python); ``tdiv``/``tmod`` round towards zero (C++).
OPS = ("floordiv", "mod", "tdiv", "tmod", "min", "max", "where")


class Op:
    """A non-polynomial integer operation: ``kind`` applied to expressions.

    ``where`` has a condition and two expressions: ``cond ? a : b``.
    """

    __slots__ = ("_hash", "_syms", "_text", "args", "cond", "kind")

    def __init__(self, kind: str, args: tuple[Expr, ...], cond: Cond | None = None) -> None:
        self.kind = kind
        self.args = args
        self.cond = cond
        self._hash = hash((kind, args, cond))
        self._syms: frozenset[str] | None = None
        self._text: str | None = None  # monomials are sorted by it

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Op)
            and self._hash == other._hash
            and self.kind == other.kind
            and self.args == other.args
            and self.cond == other.cond
        )

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[Any, ...]:
        return Op, (self.kind, self.args, self.cond)  # another process hashes names differently

    def __repr__(self) -> str:
        if self._text is None:
            from .text import render_atom

            self._text = render_atom(self)
        return self._text

    @property
    def symbols(self) -> frozenset[str]:
        if self._syms is None:
            names: frozenset[str] = frozenset().union(*(a.symbols for a in self.args))
            self._syms = names | self.cond.symbols if self.cond is not None else names
        return self._syms


Atom: TypeAlias = "str | Op"
Mono: TypeAlias = "tuple[Atom, ...]"


def atom_key(atom: Atom) -> tuple[int, str, str]:
    return (0, atom, "") if isinstance(atom, str) else (1, repr(atom), atom.kind)


class Expr:
    """A polynomial with integer coefficients: ``terms`` maps a sorted monomial to its coefficient."""

    __slots__ = ("_hash", "_syms", "terms")

    def __init__(self, terms: Mapping[Mono, int]) -> None:
        self.terms: dict[Mono, int] = {m: c for m, c in terms.items() if c}
        self._hash: int | None = None
        self._syms: frozenset[str] | None = None

    # -- identity
    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if isinstance(other, int):
            other = const(other)
        return isinstance(other, Expr) and self.terms == other.terms

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(frozenset(self.terms.items()))
        return self._hash

    def __reduce__(self) -> tuple[Any, ...]:
        return Expr, (self.terms,)

    def __repr__(self) -> str:
        from .text import render

        return render(self)

    # -- arithmetic
    def __add__(self, other: Expr | int) -> Expr:
        if not isinstance(other, Expr):
            other = const(other)
        if not other.terms:
            return self
        if not self.terms:
            return other
        terms = self.terms.copy()
        for m, c in other.terms.items():
            terms[m] = terms.get(m, 0) + c
        return Expr(terms)

    __radd__ = __add__

    def __neg__(self) -> Expr:
        return Expr({m: -c for m, c in self.terms.items()})

    def __sub__(self, other: Expr | int) -> Expr:
        if isinstance(other, int):
            return self + (-other)
        terms = self.terms.copy()
        for m, c in other.terms.items():
            terms[m] = terms.get(m, 0) - c
        return Expr(terms)

    def __rsub__(self, other: Expr | int) -> Expr:
        return as_expr(other) + (-self)

    def __mul__(self, other: Expr | int) -> Expr:
        if isinstance(other, int):
            return self if other == 1 else Expr({m: c * other for m, c in self.terms.items()})
        if other.value is not None:
            return self * other.value
        if self.value is not None:
            return other * self.value
        terms: dict[Mono, int] = {}
        for m1, c1 in self.terms.items():
            for m2, c2 in other.terms.items():
                m = tuple(sorted(m1 + m2, key=atom_key)) if m1 and m2 else m1 or m2
                terms[m] = terms.get(m, 0) + c1 * c2
        return Expr(terms)

    __rmul__ = __mul__

    # -- queries
    @property
    def value(self) -> int | None:
        """The integer this is, or None when it is not constant."""
        if not self.terms:
            return 0
        if len(self.terms) == 1:
            return self.terms.get(())
        return None

    @property
    def constant(self) -> int:
        """The constant term."""
        return self.terms.get((), 0)

    @property
    def symbols(self) -> frozenset[str]:
        """Names of all symbols, those inside operations included."""
        if self._syms is None:
            names: set[str] = set()
            for mono in self.terms:
                for atom in mono:
                    if isinstance(atom, str):
                        names.add(atom)
                    else:
                        names |= atom.symbols
            self._syms = frozenset(names)
        return self._syms

    def atoms(self) -> set[Atom]:
        return {a for m in self.terms for a in m}

    def is_affine(self) -> bool:
        """Whether no symbols are multiplied with each other; operations count as symbols."""
        return all(len(m) <= 1 for m in self.terms)

    def content(self) -> int:
        """The greatest common divisor of the non-constant coefficients (0 for a constant)."""
        g = 0
        for m, c in self.terms.items():
            if m:
                g = gcd(g, c)
        return g

    def substitute(self, env: Mapping[str, Expr]) -> Expr:
        """Replace symbols; operations whose operands become constant are folded."""
        if not env or not (self.symbols & env.keys()):
            return self
        return substituted(self, lambda a: env.get(a) if isinstance(a, str) else None, env.keys())

    def replace(self, atoms: Mapping[Atom, Expr]) -> Expr:
        """Replace whole atoms (symbols or operations) wherever they occur."""
        if not atoms:
            return self
        return substituted(self, atoms.get, None)


def substituted(e: Expr, get: Callable[[Any], Expr | None], names: Any) -> Expr:
    """With the atoms replaced that ``get`` knows; operations without any of ``names`` are left alone."""
    terms: dict[Mono, int] = {}
    for mono, c in e.terms.items():
        kept: list[Atom] = []
        term: Expr | None = None
        for atom in mono:
            new = _subst_atom(atom, get, names)
            if new is None:
                kept.append(atom)
            else:
                term = new if term is None else term * new
        if term is None:
            terms[mono] = terms.get(mono, 0) + c
            continue
        if kept:
            term = term * Expr({tuple(kept): 1})
        for m, k in term.terms.items():
            terms[m] = terms.get(m, 0) + c * k
    return Expr(terms)


def _subst_atom(atom: Atom, get: Callable[[Any], Expr | None], names: Any) -> Expr | None:
    """What replaces ``atom``; None when it stays as it is."""
    hit = get(atom)
    if hit is not None:
        return hit
    if isinstance(atom, str) or (names is not None and not (atom.symbols & names)):
        return None
    args = tuple(substituted(a, get, names) for a in atom.args)
    cond = atom.cond.mapped(get, names) if atom.cond is not None else None
    if args == atom.args and cond == atom.cond:
        return None
    from .fold import make

    return make(atom.kind, args, cond)


@lru_cache(maxsize=4096)
def const(n: int) -> Expr:
    return Expr({(): n})


@lru_cache(maxsize=4096)
def sym(name: str) -> Expr:
    return Expr({(name,): 1})


def as_expr(x: Expr | int) -> Expr:
    return x if isinstance(x, Expr) else const(x)


ZERO = const(0)
ONE = const(1)


def product(items: Iterable[Expr | int]) -> Expr:
    out = ONE
    for x in items:
        out = out * as_expr(x)
    return out


def total(items: Iterable[Expr | int]) -> Expr:
    terms: dict[Mono, int] = {}
    for x in items:
        for m, c in as_expr(x).terms.items():
            terms[m] = terms.get(m, 0) + c
    return Expr(terms)
