"""Building operations: what is constant, or trivially simpler, is folded."""

from __future__ import annotations

from collections.abc import Iterable
from math import gcd

from .conditions import Cond
from .terms import ONE, ZERO, Expr, Mono, Op, as_expr, atom_key, const, total


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
    a, b = args
    va, vb = a.value, b.value
    if vb == 0:
        return Expr({(Op(kind, args),): 1})
    if va == 0:
        return ZERO
    if va is not None and vb is not None:
        if kind == "floordiv":
            return const(va // vb)
        if kind == "mod":
            return const(va % vb)
        q = trunc_div(va, vb)
        return const(q if kind == "tdiv" else va - q * vb)
    if vb == 1:
        return a if kind in ("floordiv", "tdiv") else ZERO
    exact = exact_div(a, b)
    if exact is not None:
        return exact if kind in ("floordiv", "tdiv") else ZERO
    common = _common_factor(a, b)
    if common is not None:
        # (f*a) / (f*b) = a / b ; (f*a) % (f*b) = f * (a % b), for any f that is not 0
        fa, fb = exact_div(a, common), exact_div(b, common)
        assert fa is not None and fb is not None
        reduced = make(kind, (fa, fb))
        return reduced if kind in ("floordiv", "tdiv") else reduced * common
    if kind in ("floordiv", "mod"):
        # (b*p + r) // b = p + r // b ; (b*p + r) % b = r % b, for any integers p and r
        whole, rest = _divmod(a, b)
        if whole.terms:
            tail = make(kind, (rest, b))
            return whole + tail if kind == "floordiv" else tail
        spare = _spare(a, vb)
        if spare:
            # (g*a + r) // (g*b) = a // b ; (g*a + r) % (g*b) = g * (a % b) + r, for 0 <= r < g
            reduced = make(kind, (a - spare, b))
            return reduced if kind == "floordiv" else reduced + spare
    return Expr({(Op(kind, (a, b)),): 1})


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
