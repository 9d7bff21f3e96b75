"""Floating-point values that are computed from indices: interpolation scales, ``arange`` in float.

Kernels that resample compute source indices in ``float``: ``long((x + 0.5f) * 0.6153846f - 0.5f)``.  A
:class:`Real` keeps such a value as the fraction it would be without rounding, together with the operations
in order, so that the integer it is converted to can be compared with what the hardware computes.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from fractions import Fraction
from math import ceil, gcd, isfinite, prod
from typing import Any, TypeAlias

from ..model.record import record, replace
from ..symbolic import Atom, Cond, Expr, compare, const, evaluate, floordiv, maximum, minimum, tdiv, where
from ..symbolic.assumptions import Ranges

#: ("int", double, Expr), ("const", float), ("exact", num, den), (operation, double, t[, t]).
Tree: TypeAlias = "tuple[Any, ...]"

#: A fraction with a numerator and a power-of-two denominator up to this is exact in float32 for sizes
#: below 2**19: products and sums with it need no more than 24 bits.
_SMALL = 16
#: Rounding errors are taken to be below 1/_SLACK: four float32 roundings of values below 2**16.
_SLACK = 64
_SLACK_BITS = 16
#: Denominators of scales: ratios of image sizes.
_LARGEST = 1 << 12
#: Points at which a conversion is compared with float arithmetic; more are not tried.
_POINTS = 200_000


@record(frozen=True)
class Real:
    """``num / den`` before rounding (``den`` > 0). ``exact``: no operation so far has rounded."""

    num: Expr
    den: Expr
    exact: bool
    double: bool
    tree: Tree


def constant(value: float, double: bool) -> Real | None:
    """A literal, rounded to its type; None for infinities and NaN."""
    if not double:
        try:
            value = struct.unpack("f", struct.pack("f", value))[0]
        except OverflowError:
            return None
    if not isfinite(value):
        return None
    f = Fraction(value)
    exact = abs(f.numerator) <= _SMALL and f.denominator <= _SMALL
    return Real(const(f.numerator), const(f.denominator), exact, double, ("const", value))


def simplest(r: Real) -> Real:
    """A float32 literal as the fraction it was printed for: 0.484 of 31 rows is 15 when it stands for 15/31."""
    value = r.tree[1]
    near = Fraction(value).limit_denominator(_LARGEST)
    if r.double or r.exact or struct.pack("f", float(near)) != struct.pack("f", value):
        return r
    return replace(r, num=const(near.numerator), den=const(near.denominator))


def from_int(e: Expr, double: bool) -> Real:
    return Real(e, const(1), True, double, ("int", double, e))


def cast(r: Real, double: bool) -> Real:
    """Conversion between float and double; to float rounds unless the value has few bits."""
    if r.double == double:
        return r
    if r.tree[0] == "const":
        return simplest(constant(r.tree[1], double) or r)
    exact = r.exact and (double or _small_denominator(r.den))
    return Real(r.num, r.den, exact, double, ("cast", double, r.tree))


def binary(op: str, a: Real, b: Real, positive: Callable[[Expr], bool] | None = None) -> Real | None:
    """Sum, difference, product or quotient; None when the fraction can't be kept.

    A divisor must be known to be greater than 0; ``positive`` may know more than its shape tells.
    """
    double = a.double or b.double
    if op in ("+", "-"):
        num = a.num * b.den + b.num * a.den if op == "+" else a.num * b.den - b.num * a.den
        den = a.den * b.den
    elif op == "*":
        num, den = a.num * b.num, a.den * b.den
    elif op == "/" and (_positive(b.num) or (positive is not None and positive(b.num))):
        num, den = a.num * b.den, a.den * b.num
    else:
        return None
    num, den = _reduced(num, den)
    exact = a.exact and b.exact and _small_denominator(den)
    return Real(num, den, exact, double, (op, double, a.tree, b.tree))


def extreme(name: str, a: Real, b: Real) -> Real:
    pick = minimum if name == "min" else maximum
    num, den = _reduced(pick(a.num * b.den, b.num * a.den), a.den * b.den)
    double = a.double or b.double
    return Real(num, den, a.exact and b.exact, double, (name, double, a.tree, b.tree))


def negate(a: Real) -> Real:
    return Real(-a.num, a.den, a.exact, a.double, ("neg", a.double, a.tree))


def magnitude(a: Real) -> Real:
    return extreme("max", a, negate(a))


def select(c: Cond, a: Real, b: Real) -> Real | None:
    """``c ? a : b`` of exact values; None otherwise (the operations could not be replayed)."""
    if not (a.exact and b.exact):
        return None
    num, den = _reduced(where(c, a.num * b.den, b.num * a.den), a.den * b.den)
    return Real(num, den, True, a.double or b.double, ("exact", num, den))


def compared(op: str, a: Real, b: Real) -> Cond | None:
    """The comparison as a condition; None where rounding could decide it."""
    if not (a.exact and b.exact):
        return None
    return compare(op, a.num * b.den, b.num * a.den)


def substitute(r: Real, env: Mapping[str, Expr]) -> Real:
    return Real(r.num.substitute(env), r.den.substitute(env), r.exact, r.double, _map_leaves(r.tree, env))


def _map_leaves(t: Tree, env: Mapping[str, Expr]) -> Tree:
    return tuple(
        x.substitute(env) if isinstance(x, Expr) else _map_leaves(x, env) if isinstance(x, tuple) else x
        for x in t
    )


# -- conversion to integers -----------------------------------------------------------------------

_ROUNDING: dict[str, Callable[[Expr, Expr], Expr]] = {
    "trunc": tdiv,
    "floor": floordiv,
    "ceil": lambda n, d: -floordiv(-n, d),
    "round": lambda n, d: floordiv(2 * n + d, 2 * d),
}


def whole(r: Real, mode: str, extents: Mapping[str, int]) -> Expr | tuple[Expr, Expr]:
    """The value made whole (``trunc``, ``floor``, ``ceil``, ``round``).

    An expression when rounding can't change it: the value is exact, or float arithmetic was replayed at
    every point of ``extents`` (variables 0 .. extent-1).  Otherwise the least and greatest it can be.
    """
    plain = _ROUNDING[mode](r.num, r.den)
    reached = _reach(r.tree, extents)
    exact = r.exact and (reached is None or reached.error == 0 or _holds(r, reached))
    if (exact and mode != "round") or _agrees(r, mode, plain, extents):
        return plain
    error = 1 if reached is None else max(1, ceil(reached.error * _SLACK))
    n, d = r.num * _SLACK, r.den * _SLACK
    return _ROUNDING[mode](n - r.den * error, d), _ROUNDING[mode](n + r.den * error, d)


def large(r: Real, extents: Mapping[str, int]) -> tuple[tuple[Expr, int], ...]:
    """Numbers in ``r`` that :func:`whole` takes to be small as sizes are not known, with the bits each must fit."""
    if r.double or _reach(r.tree, extents) is not None:
        return ()
    den = min(r.den.value or _SMALL * _SMALL, _SMALL * _SMALL)
    bits = _BITS[False] + 1 - (den.bit_length() if den > 1 else 0) if r.exact else _SLACK_BITS + 1
    return tuple((e, bits) for e in _leaves(r.tree) if e.value is None)


def _leaves(t: Tree) -> list[Expr]:
    if t[0] == "int":
        return [t[2]]
    if t[0] == "exact":
        return [t[1]]
    return [e for x in t if isinstance(x, tuple) for e in _leaves(x)]


def _holds(r: Real, reached: Reach) -> bool:
    """Whether every value on the way to an exact one has few enough bits for the significand."""
    return reached.peak * (r.den.value or _SMALL * _SMALL) <= 1 << _BITS[r.double]


@record(frozen=True)
class Reach:
    """The ends of a value before rounding, the most that rounding can have moved it by, and the largest on the way."""

    low: Fraction
    high: Fraction
    error: Fraction
    peak: Fraction

    @property
    def most(self) -> Fraction:
        return max(abs(self.low), abs(self.high))


#: Bits of a significand: integers up to ``2**bits`` are exact, and one rounding moves a value by half a unit.
_BITS = {False: 24, True: 53}


def _reach(t: Tree, extents: Mapping[str, int]) -> Reach | None:
    """How far a value reaches and how wrong it can be there; None where a size is not known."""
    if t[0] == "const":
        value = Fraction(t[1])
        short = value.denominator <= _SMALL * _SMALL  # else it stands for a fraction it is the nearest to
        error = Fraction(0) if short else abs(value) / (1 << _BITS[False])
        return Reach(value, value, error, abs(value))
    if t[0] == "exact":
        return None
    if t[0] == "int":
        low, high = Ranges({n: (0, max(e - 1, 0)) for n, e in extents.items()}).interval(t[2])
        if low is None or high is None:
            return None
        most = Fraction(max(abs(low), abs(high)))
        return _rounded_to(Reach(Fraction(low), Fraction(high), Fraction(0), most), t[1], whole_number=True)
    parts = [_reach(x, extents) for x in t[2:]]
    known = [p for p in parts if p is not None]
    if len(known) < len(parts):
        return None
    made = _combined(t[0], known)
    if made is not None:
        made = replace(made, peak=max(made.most, *(p.peak for p in known)))
    if made is None or t[0] in ("neg", "min", "max"):
        return made
    power = any(x[0] == "const" and abs(Fraction(x[1])).numerator == 1 and _is_power(x[1]) for x in t[2:])
    keeps = t[0] == "*" and power and made.error == 0
    return made if keeps else _rounded_to(made, t[1], whole_number=False)


def _is_power(value: float) -> bool:
    den = Fraction(value).denominator
    return den & (den - 1) == 0


def _rounded_to(r: Reach, double: bool, whole_number: bool) -> Reach:
    """After one rounding. A whole number the significand holds is not moved."""
    bits = _BITS[bool(double)]
    if whole_number and r.most <= 1 << bits and r.error == 0:
        return r
    return replace(r, error=r.error + (r.most + r.error) / (1 << bits))


def _combined(op: str, parts: list[Reach]) -> Reach | None:
    """Ends and error of an operation on exact ends, before it rounds."""
    a = parts[0]
    if op in ("neg", "cast"):
        return replace(a, low=-a.high, high=-a.low) if op == "neg" else a
    b = parts[1]
    if op == "+":
        return Reach(a.low + b.low, a.high + b.high, a.error + b.error, a.peak)
    if op == "-":
        return Reach(a.low - b.high, a.high - b.low, a.error + b.error, a.peak)
    if op in ("min", "max"):
        pick = min if op == "min" else max
        return Reach(pick(a.low, b.low), pick(a.high, b.high), max(a.error, b.error), a.peak)
    if op == "/":
        least = min(abs(b.low), abs(b.high)) - b.error
        if least <= 0 or b.low * b.high <= 0:
            return None
        ends = [x / y for x in (a.low, a.high) for y in (b.low, b.high)]
        error = (a.error + b.error * a.most / (least + b.error)) / least
        return Reach(min(ends), max(ends), error, a.peak)
    if op != "*":
        return None
    ends = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
    error = a.error * b.most + b.error * a.most + a.error * b.error
    return Reach(min(ends), max(ends), error, a.peak)


def _agrees(r: Real, mode: str, plain: Expr, extents: Mapping[str, int]) -> bool:
    names = sorted(plain.symbols | _leaf_symbols(r.tree))
    if not all(n in extents for n in names) or prod(extents[n] for n in names) > _POINTS:
        return False
    import numpy as np

    # Python integers: numerators of scaled floats do not fit 64 bits
    ranges = (np.arange(extents[n]).astype(object) for n in names)
    axes = np.meshgrid(*ranges, indexing="ij", sparse=True)
    env = dict(zip(names, axes, strict=True))
    rounded = {"trunc": np.trunc, "floor": np.floor, "ceil": np.ceil, "round": np.rint}[mode]
    with np.errstate(all="ignore"):
        return bool(np.all(rounded(_replay(r.tree, env)).astype(object) == evaluate(plain, env)))


def _leaf_symbols(t: Tree) -> set[str]:
    out: set[str] = set()
    for x in t:
        if isinstance(x, Expr):
            out |= x.symbols
        elif isinstance(x, tuple):
            out |= _leaf_symbols(x)
    return out


def _replay(t: Tree, env: Mapping[str, Any]) -> Any:
    """The value in float arithmetic, operation by operation."""
    import numpy as np

    kind = np.float64 if t[1] is True else np.float32
    if t[0] == "int":
        return np.asarray(evaluate(t[2], env)).astype(kind)
    if t[0] == "const":
        return np.float64(t[1])
    if t[0] == "exact":
        return np.asarray(evaluate(t[1], env)) / np.float64(evaluate(t[2], env))
    args = [np.asarray(_replay(x, env)).astype(kind) for x in t[2:]]
    fn: dict[str, Any] = {
        "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "min": np.minimum,
        "max": np.maximum, "neg": np.negative, "cast": np.positive,
    }  # fmt: skip
    return fn[t[0]](*args)


# -- fractions ------------------------------------------------------------------------------------


def _small_denominator(den: Expr) -> bool:
    n = den.value
    return n is not None and n <= _SMALL * _SMALL and n & (n - 1) == 0


def _positive(e: Expr) -> bool:
    """Sizes are positive: a constant, or one product of symbols with a positive factor."""
    if e.value is not None:
        return e.value > 0
    return len(e.terms) == 1 and all(c > 0 and all(isinstance(a, str) for a in m) for m, c in e.terms.items())


def _reduced(num: Expr, den: Expr) -> tuple[Expr, Expr]:
    """The fraction without common constants, and without common symbols when ``den`` is one product."""
    if len(den.terms) != 1:
        return num, den
    ((mono, c),) = den.terms.items()
    terms = dict(num.terms)
    rest = list(mono)
    for atom in mono:
        if terms and all(atom in m for m in terms):
            terms = {_without(m, atom): k for m, k in terms.items()}
            rest.remove(atom)
    g = gcd(c, *terms.values()) if terms else c
    return Expr({m: k // g for m, k in terms.items()}), Expr({tuple(rest): c // g})


def _without(mono: tuple[Atom, ...], atom: Atom) -> tuple[Atom, ...]:
    out = list(mono)
    out.remove(atom)
    return tuple(out)
