"""Integer expressions and conditions in normal form: what they are, how they are built, replaced in and written.

An expression holds operations, an operation holds a condition, a condition holds expressions; building any of
them folds what is constant. That is one concept, so it is one module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from math import gcd
from typing import Any, TypeAlias

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


# -- conditions -----------------------------------------------------------------------------------------------


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


# -- substitution ---------------------------------------------------------------------------------------------


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
    return make(atom.kind, args, cond)


# -- folding --------------------------------------------------------------------------------------------------


def trunc_div(a: int, b: int) -> int:
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


def make(kind: str, args: tuple[Expr, ...], cond: Cond | None = None) -> Expr:
    """Build an operation, folding what is constant or trivially simpler."""
    if kind == "where":
        assert cond is not None
        if cond.kind == "const":
            return args[0] if cond.truth else args[1]
        return args[0] if args[0] == args[1] else Expr({(Op("where", args, cond),): 1})
    if kind in ("min", "max"):
        return _extreme(kind, args)
    folded = _plain_quotient(kind, *args)
    if folded is None:
        folded = _reduced_quotient(kind, *args)
    return folded if folded is not None else Expr({(Op(kind, args),): 1})


def _plain_quotient(kind: str, a: Expr, b: Expr) -> Expr | None:
    """A quotient or remainder that is a polynomial: of constants, by one, or of a multiple; None otherwise."""
    va, vb = a.value, b.value
    if vb == 0:
        return None  # it stays as it is written
    if va == 0:
        return ZERO
    if va is not None and vb is not None:
        if kind == "floordiv":
            return const(va // vb)
        if kind == "mod":
            return const(va % vb)
        q = trunc_div(va, vb)
        return const(q if kind == "tdiv" else va - q * vb)
    exact = a if vb == 1 else exact_div(a, b)
    if exact is None:
        return None
    return exact if kind in ("floordiv", "tdiv") else ZERO


def _reduced_quotient(kind: str, a: Expr, b: Expr) -> Expr | None:
    """A quotient or remainder of smaller operands that is the same for all integers; None when there is none."""
    if b.value == 0:
        return None
    common = _common_factor(a, b)
    if common is not None:
        # (f*a) / (f*b) = a / b ; (f*a) % (f*b) = f * (a % b), for any f that is not 0
        fa, fb = exact_div(a, common), exact_div(b, common)
        assert fa is not None and fb is not None
        reduced = make(kind, (fa, fb))
        return reduced if kind in ("floordiv", "tdiv") else reduced * common
    if kind not in ("floordiv", "mod"):
        return None
    # (b*p + r) // b = p + r // b ; (b*p + r) % b = r % b, for any integers p and r
    whole, rest = _divmod(a, b)
    if whole.terms:
        tail = make(kind, (rest, b))
        return whole + tail if kind == "floordiv" else tail
    # (g*a + r) // (g*b) = a // b ; (g*a + r) % (g*b) = g * (a % b) + r, for 0 <= r < g
    spare = _spare(a, b.value)
    if spare:
        reduced = make(kind, (a - spare, b))
        return reduced if kind == "floordiv" else reduced + spare
    return None


def _spare(a: Expr, b: int | None) -> int:
    """What the constant of ``a`` has over a multiple of the factor that ``b`` and all other terms share."""
    if b is None or b <= 0:
        return 0
    return a.terms.get((), 0) % gcd(b, *(c for m, c in a.terms.items() if m))


def _common_factor(a: Expr, b: Expr) -> Expr | None:
    """A factor of both that is not a unit: a monomial, or the polynomial that b is a multiple of."""
    n = 0
    shared: Mono | None = None
    for e in (b, a):
        for m, c in e.terms.items():
            n = gcd(n, c)
            shared = m if shared is None else _shared(shared, m)
    if n > 1 or shared:
        return Expr({shared or (): n})
    if len(b.terms) > 1:
        c = gcd(*b.terms.values())
        primitive = Expr({m: k // c for m, k in b.terms.items()})
        if exact_div(a, primitive) is not None:
            return primitive
    return None


def _shared(a: Mono, b: Mono) -> Mono:
    left = list(b)
    out = []
    for x in a:
        if x in left:
            left.remove(x)
            out.append(x)
    return tuple(out)


def exact_div(a: Expr, b: Expr) -> Expr | None:
    """The polynomial ``q`` with ``a == q * b``, or None when there is none with integer coefficients."""
    if a == b:
        return ONE
    if len(b.terms) != 1:
        if not b.terms or not a.terms:
            return None
        quotient, left = _long_division(a, b)
        return None if left.terms else quotient
    ((mono, c),) = b.terms.items()
    out: dict[Mono, int] = {}
    for m, k in a.terms.items():
        if k % c:
            return None
        rest = _without(m, mono)
        if rest is None:
            return None
        out[rest] = k // c
    return Expr(out)


def _without(m: Mono, part: Mono) -> Mono | None:
    if not part:
        return m
    rest = list(m)
    for atom in part:
        if atom not in rest:
            return None
        rest.remove(atom)
    return tuple(rest)


def _divmod(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """Polynomials ``(q, r)`` with ``a == q*b + r``, where r is the simpler of what can be had that way."""
    n = b.value
    if n is not None:
        if n <= 0:
            return ZERO, a
        q = Expr({m: c // n for m, c in a.terms.items() if c % n == 0 or not m})
        return q, a - q * n
    if len(b.terms) == 1:
        parts: dict[Mono, Expr | None] = {m: exact_div(Expr({m: c}), b) for m, c in a.terms.items()}
        left = Expr({m: a.terms[m] for m, d in parts.items() if d is None})
        if (left.value or 0) < 0:
            return ZERO, a  # s - 1 is easier to compare with s than -1 is
        return total(d for d in parts.values() if d is not None), left
    q, r = _long_division(a, b)
    return (q, r) if len(r.terms) < len(a.terms) else (ZERO, a)


def _long_division(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """Quotient and remainder by leading terms, as far as the leading terms divide."""
    atoms = sorted(b.atoms() | a.atoms(), key=atom_key)

    def lead(e: Expr) -> tuple[Mono, int]:
        return max(e.terms.items(), key=lambda t: [t[0].count(x) for x in atoms])

    mono, c = lead(b)
    quotient = ZERO
    for _ in range(2 * len(a.terms) + 8):
        if not a.terms:
            break
        m, k = lead(a)
        rest = _without(m, mono)
        if rest is None or k % c:
            break
        step = Expr({rest: k // c})
        quotient = quotient + step
        a = a - step * b
    return quotient, a


def _extreme(kind: str, args: Iterable[Expr]) -> Expr:
    flat: list[Expr] = []
    best: int | None = None
    pick = min if kind == "min" else max
    for a in args:
        if len(a.terms) == 1:
            ((m, c),) = a.terms.items()
            if c == 1 and len(m) == 1 and isinstance(m[0], Op) and m[0].kind == kind:
                for x in m[0].args:
                    if x.value is None:
                        flat.append(x)
                    else:
                        best = x.value if best is None else pick(best, x.value)
                continue
        if a.value is not None:
            best = a.value if best is None else pick(best, a.value)
        else:
            flat.append(a)
    unique = sorted(dict.fromkeys(flat), key=repr)
    if best is not None:
        unique.append(const(best))
    if len(unique) == 1:
        return unique[0]
    return Expr({(Op(kind, tuple(unique)),): 1})


def floordiv(a: Expr | int, b: Expr | int) -> Expr:
    return make("floordiv", (as_expr(a), as_expr(b)))


def mod(a: Expr | int, b: Expr | int) -> Expr:
    return make("mod", (as_expr(a), as_expr(b)))


def tdiv(a: Expr | int, b: Expr | int) -> Expr:
    return make("tdiv", (as_expr(a), as_expr(b)))


def tmod(a: Expr | int, b: Expr | int) -> Expr:
    return make("tmod", (as_expr(a), as_expr(b)))


def minimum(*args: Expr | int) -> Expr:
    return make("min", tuple(as_expr(a) for a in args))


def maximum(*args: Expr | int) -> Expr:
    return make("max", tuple(as_expr(a) for a in args))


def where(cond: Cond, a: Expr | int, b: Expr | int) -> Expr:
    return make("where", (as_expr(a), as_expr(b)), cond)


def ceildiv(a: Expr | int, b: Expr | int) -> Expr:
    return floordiv(as_expr(a) + as_expr(b) - 1, b)


# -- text -----------------------------------------------------------------------------------------------------


_NAMES = {"floordiv": "//", "mod": "%", "tdiv": "/", "tmod": "%"}


def render_atom(a: Atom) -> str:
    if isinstance(a, str):
        return a
    if a.kind == "where":
        return f"({render_cond(a.cond) if a.cond else '?'} ? {a.args[0]} : {a.args[1]})"
    if a.kind in ("min", "max"):
        return f"{a.kind}({', '.join(render(x) for x in a.args)})"
    parts = [r if len(x.terms) <= 1 and " " not in (r := render(x)) else f"({render(x)})" for x in a.args]
    return f"({parts[0]} {_NAMES[a.kind]} {parts[1]})"


def render(e: Expr) -> str:
    """Readable text, constant last: ``64*s27 - 1``."""
    if not e.terms:
        return "0"
    out: list[str] = []
    for m, c in sorted(e.terms.items(), key=lambda t: (not t[0], [atom_key(a) for a in t[0]])):
        body = "*".join(render_atom(a) for a in m)
        mag = abs(c)
        text = str(mag) if not m else body if mag == 1 else f"{mag}*{body}"
        if out:
            out.append(f" {'-' if c < 0 else '+'} {text}")
        else:
            out.append(f"-{text}" if c < 0 else text)
    return "".join(out)


def render_cond(c: Cond) -> str:
    if c.kind == "const":
        return "true" if c.truth else "false"
    if c.kind == "opaque":
        return ("!" if c.negated else "") + c.name
    if c.expr is not None:
        return f"{c.expr} {'>=' if c.kind == 'ge' else '==' if c.kind == 'eq' else '!='} 0"
    return "(" + (" && " if c.kind == "and" else " || ").join(render_cond(a) for a in c.args) + ")"


def plain(e: Expr | None) -> int | str | None:
    """An integer where it is one, else the expression's text."""
    if e is None:
        return None
    v = e.value
    return v if v is not None else str(e)
