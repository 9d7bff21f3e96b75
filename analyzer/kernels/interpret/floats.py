"""Floats computed from indices, as in resampling kernels: ``static_cast<int>((x + 0.5) * 0.125 - 0.5)``.

Float literals are single precision.  A decimal such as 0.49206349206349204 is taken for the simple
fraction it was printed from (31/63); whether an index computed with it comes out the same is found by doing
the float arithmetic for every value of the integers in it.  A power-of-two denominator loses nothing
below 2**24: sizes that are not known are taken to be below 2**20.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from math import prod

from ...model.record import replace
from ...symbolic import Cond, Expr, compare, const, maximum, minimum, sym, where
from ...symbolic.assumptions import Ranges
from .. import reals
from ..reals import Real

#: Integers below this are all tried when their range is not known; above, the result may be one off.
_TRIED = 1 << 16
_POINTS = 200_000
_MANTISSA = 1 << 24
_SMALL_FACTOR = 16
_LARGEST_DENOMINATOR = 4096


class Reals:
    """Operations on floats. Integers in them are leaves, symbols that stand for an index expression.

    ``noise(lo, hi)`` makes a symbol of unknown value in that range.
    """

    def __init__(self, ranges: Ranges, noise: Callable[[int, int], Expr]) -> None:
        self.ranges = ranges
        self.noise = noise
        self._leaves: dict[str, Expr] = {}
        self._names: dict[Expr, str] = {}

    def of_integer(self, e: Expr) -> Real:
        if e.value is not None:
            return reals.from_int(e, False)
        name = self._names.get(e)
        if name is None:
            name = self._names[e] = f"%{len(self._names)}"
            self._leaves[name] = e
            self.ranges.bounds[name] = self.ranges.interval(e)
        return reals.from_int(sym(name), False)

    def binary(self, op: str, a: Real, b: Real) -> Real | None:
        r = reals.binary(op, a, b)
        if r is None and op == "/":
            # A size minus one may be nothing; the quotient is then no number, whatever the index made of it.
            den = b.num if self.ranges.positive(b.num) is True else maximum(b.num, 1)
            r = Real(a.num * b.den, a.den * den, False, False, ("/", False, a.tree, b.tree))
        return r and replace(r, exact=a.exact and b.exact and self._exact(r.num, r.den))

    def extreme(self, name: str, a: Real, b: Real) -> Real:
        return reals.extreme(name, a, b)

    def compare(self, op: str, a: Real, b: Real) -> Cond | None:
        c = reals.compared(op, a, b)
        return None if c is None else c.substitute(self._leaves)

    def select(self, c: Cond, a: Real, b: Real) -> Real | None:
        return reals.select(c, a, b)

    def whole(self, r: Real, mode: str) -> Expr:
        """The integer after ``trunc``, ``floor``, ``ceil`` or ``round``."""
        least = 0 if mode == "trunc" and self.ranges.nonneg(r.num) is True else None
        return self._whole(r, "floor" if least == 0 else mode, least).substitute(self._leaves)

    def _whole(self, r: Real, mode: str, least: int | None) -> Expr:
        if r.exact:
            exact = reals.whole(r, mode, {})
            if isinstance(exact, Expr):
                return exact
        extents, open_ = self._extents(r)
        tried = extents if prod(extents.values()) <= _POINTS else {}
        found = reals.whole(r, mode, tried)
        if isinstance(found, tuple):
            low, high = found
            if least is not None:
                low = maximum(low, least)
            return minimum(high, low + self.noise(0, 1))
        if not open_:
            return found
        known = Cond.join("and", [compare("<", sym(n), _TRIED) for n in open_])
        return where(known, found, found + self.noise(-1, 1))

    def _extents(self, r: Real) -> tuple[dict[str, int], list[str]]:
        """How far each integer goes, and those that may go further."""
        extents: dict[str, int] = {}
        open_: list[str] = []
        for name in sorted(r.num.symbols | r.den.symbols):
            lo, hi = self.ranges.interval(sym(name))
            if lo is None or lo < 0:
                return {}, []
            if hi is None or hi >= _TRIED:
                open_.append(name)
                hi = _TRIED - 1
            extents[name] = hi + 1
        return extents, open_

    def _exact(self, num: Expr, den: Expr) -> bool:
        if not _power_of_two(den):
            return False
        lo, hi = self.ranges.interval(num)
        if lo is not None and hi is not None:
            return lo > -_MANTISSA and hi < _MANTISSA
        return all(abs(c) <= _SMALL_FACTOR for m, c in num.terms.items() if m)


@lru_cache(maxsize=1024)
def literal(text: str) -> Real | None:
    """A float literal; None for what is no finite number."""
    try:
        printed = Fraction(text.rstrip("fFhH"))
        rounded = reals.constant(float(printed), False)
    except (ValueError, OverflowError):
        return None
    simple = printed.limit_denominator(_LARGEST_DENOMINATOR)
    if rounded is None or reals.constant(float(simple), False) != rounded:
        return rounded
    num, den = const(simple.numerator), const(simple.denominator)
    exact = _power_of_two(den) and abs(simple.numerator) < _MANTISSA
    return replace(rounded, num=num, den=den, exact=exact)


def _power_of_two(e: Expr) -> bool:
    n = e.value
    return n is not None and n > 0 and n & (n - 1) == 0
