"""Floating-point functions of one integer, as in the source index of a resize: ``int(x * 0.5)``.

They are followed as a chain of steps.  When such a value becomes an index, every value in its range is
computed in the precision of the kernel (with and without fused multiply-add) and compared with an integer
formula; only a formula that agrees everywhere is used.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

from ...model.record import record, replace
from ...symbolic import Expr, const, evaluate, floordiv, maximum, minimum

Step: TypeAlias = "tuple[str, float]"

#: More values than this are not enumerated.
TABLE_LIMIT = 4096

#: Steps that keep or reverse order, so that a range follows from its ends.
_MONOTONE = {"add", "sub", "rsub", "mul", "div", "min", "max", "floor", "ceil", "trunc", "neg"}


@record(frozen=True)
class FloatFn:
    """``steps`` applied to the integer ``arg``, or to ``start`` when ``arg`` is None."""

    arg: Expr | None
    steps: tuple[Step, ...] = ()
    start: float = 0.0
    double: bool = False

    @property
    def value(self) -> float | None:
        """The constant this is, or None."""
        return self.start if self.arg is None else None


def constant(x: float, double: bool = False) -> FloatFn:
    return FloatFn(None, (), x if double else _single(x), double)


def _single(x: float) -> float:
    if math.isnan(x) or math.isinf(x):
        return x
    try:
        return float(struct.unpack("f", struct.pack("f", x))[0])
    except OverflowError:
        return math.copysign(math.inf, x)


def _round_half_even(x: float) -> float:
    return float(round(x))


_UNARY: dict[str, Callable[[float], float]] = {
    "floor": lambda x: float(math.floor(x)), "ceil": lambda x: float(math.ceil(x)),
    "trunc": lambda x: float(math.trunc(x)), "abs": abs, "neg": lambda x: -x, "nearbyint": _round_half_even,
    "rint": _round_half_even,
}  # fmt: skip

_BINARY: dict[str, Callable[[float, float], float]] = {
    "add": lambda x, c: x + c, "sub": lambda x, c: x - c, "rsub": lambda x, c: c - x,
    "mul": lambda x, c: x * c, "div": lambda x, c: x / c if c else math.nan,
    "rdiv": lambda x, c: c / x if x else math.nan, "min": min, "max": max,
}  # fmt: skip

_SWAPPED = {"sub": "rsub", "div": "rdiv"}


def unary(op: str, f: FloatFn) -> FloatFn | None:
    """``op`` applied to ``f``, or None when this module has no meaning for it."""
    if op not in _UNARY:
        return None
    if f.arg is not None:
        return replace(f, steps=(*f.steps, (op, 0.0)))
    if not math.isfinite(f.start):
        return None
    return replace(f, start=_UNARY[op](f.start))


def binary(op: str, a: FloatFn, b: FloatFn) -> FloatFn | None:
    """``a op b`` when at least one side is a constant, else None."""
    double = a.double or b.double
    if b.arg is None and op in _BINARY:
        if a.arg is None:
            return constant(_BINARY[op](a.start, b.start), double)
        return replace(a, steps=(*a.steps, (op, b.start)), double=double)
    if a.arg is None and op in _BINARY:
        return replace(b, steps=(*b.steps, (_SWAPPED.get(op, op), a.start)), double=double)
    return None


def _run(steps: tuple[Step, ...], x: float, double: bool, fused: bool) -> float:
    fit = (lambda v: v) if double else _single
    x = fit(x)
    for i, (op, c) in enumerate(steps):
        if op in _UNARY:
            x = _UNARY[op](x) if math.isfinite(x) else x
            continue
        x = _BINARY[op](x, c)
        keep = fused and op == "mul" and i + 1 < len(steps) and steps[i + 1][0] in ("add", "sub", "rsub")
        x = x if keep else fit(x)
    return x


@lru_cache(maxsize=512)
def _table(steps: tuple[Step, ...], double: bool, lo: int, hi: int) -> tuple[int, ...] | None:
    """The truncated result for every ``lo <= x <= hi``; None where it depends on rounding choices."""
    out: list[int] = []
    for x in range(lo, hi + 1):
        a, b = (_run(steps, float(x), double, fused) for fused in (False, True))
        if not (math.isfinite(a) and math.isfinite(b)) or math.trunc(a) != math.trunc(b):
            return None
        out.append(math.trunc(a))
    return tuple(out)


def compare(op: str, a: FloatFn, b: FloatFn) -> bool | None:
    """The truth of ``a op b`` for two constants."""
    x, y = a.value, b.value
    if x is None or y is None:
        return None
    return {"<": x < y, "<=": x <= y, ">": x > y, ">=": x >= y, "==": x == y, "!=": x != y}.get(op)


def truncated(f: FloatFn, lo: int | None, hi: int | None) -> Expr | tuple[int | None, int | None]:
    """``f`` converted to an integer, for ``lo <= arg <= hi``: an exact expression, or else its bounds."""
    if f.arg is None:
        return const(math.trunc(f.start)) if math.isfinite(f.start) else (None, None)
    if lo is None or hi is None or hi < lo:
        return None, None
    if hi - lo >= TABLE_LIMIT:
        return _ends(f, lo, hi)
    table = _table(f.steps, f.double, lo, hi)
    if table is None:
        return _ends(f, lo, hi)
    for formula in _formulas(f.steps):
        if all(evaluate(formula(const(x)), {}) == y for x, y in enumerate(table, lo)):
            return formula(f.arg)
    return min(table), max(table)


def _ends(f: FloatFn, lo: int, hi: int) -> tuple[int | None, int | None]:
    if not all(op in _MONOTONE for op, _ in f.steps):
        return None, None
    ends = [_run(f.steps, float(x), f.double, fused) for x in (lo, hi) for fused in (False, True)]
    if not all(math.isfinite(e) for e in ends):
        return None, None
    return math.trunc(min(ends)), math.trunc(max(ends))


def _formulas(steps: tuple[Step, ...]) -> list[Callable[[Expr], Expr]]:
    """Integer formulas worth trying for a chain of steps: ``(p*x + r) // q``, clipped or not."""
    a, b = Fraction(1), Fraction(0)
    low: int | None = None
    high: int | None = None
    for op, c in steps:
        if op in ("floor", "trunc"):
            continue
        if op in ("min", "max"):
            if op == "min":
                high = math.trunc(c)
            else:
                low = math.trunc(c)
            continue
        if op not in ("add", "sub", "rsub", "mul", "div", "neg") or not math.isfinite(c):
            return []
        k = Fraction(c).limit_denominator(4096)
        if op in ("div", "mul") and k == 0:
            return []
        a, b = {
            "add": (a, b + k), "sub": (a, b - k), "rsub": (-a, k - b), "mul": (a * k, b * k),
            "div": (a / k if k else a, b / k if k else b), "neg": (-a, -b),
        }[op]  # fmt: skip
    q = math.lcm(a.denominator, b.denominator)
    p, r = int(a * q), int(b * q)

    def plain(x: Expr) -> Expr:
        return floordiv(x * p + r, q)

    def clipped(x: Expr) -> Expr:
        out = maximum(plain(x), 0 if low is None else low)
        return out if high is None else minimum(out, high)

    return [plain, clipped]
