"""What follows from ranges and facts about sizes."""

from __future__ import annotations

import itertools
from random import Random

import pytest
from aoti_lint.analyzer.symbolic import (
    Expr,
    ceildiv,
    compare,
    const,
    evaluate,
    floordiv,
    maximum,
    minimum,
    mod,
    sym,
    where,
)
from aoti_lint.analyzer.symbolic.assumptions import Ranges
from hypothesis import given, settings
from hypothesis import strategies as st

a, b, c = sym("a"), sym("b"), sym("c")
SIZES = Ranges({"a": (2, 512), "b": (0, None), "c": (4, 8192)})


def q(e: Expr, n: int) -> Expr:
    return floordiv(e, n)


@pytest.mark.parametrize(
    "e",
    [
        a * b,
        a * b + b - a * b,
        a - 2 * q(a, 2),
        a * b - 2 * b * q(a, 2),
        # vector loops: full blocks end before n, the last block starts before n, blocks cover n
        a - 16 * q(a, 16),
        16 * ceildiv(a, 16) - a,
        16 * q(a, 16) + 16 - 16 * ceildiv(a, 16),
        q(a + 3, 4) - q(a, 4),
        # a pooled plane lies inside the plane it comes from
        a * b * c - 1 - (2 * (q(c, 2) - 1) + 2 * c * (q(a, 2) - 1) + a * c * (b - 1) + 1 + c) + a * c * 0,
        a - minimum(a, b),
        maximum(a, b) - b,
        a * maximum(b, 1) - a * b,
        minimum(a, 1024) - 1,
        where(compare("<", b, 3), a, a + b) - 2,
        a - 1 - mod(b, a),
        b - mod(b, 7),
        a - mod(a, 5) - 5 * q(a, 5),
        const(1023) - minimum(a, 1024) + 1,
        512 - a,
    ],
    ids=str,
)
def test_proved(e: Expr) -> None:
    given_ranges = SIZES if "b" not in e.symbols else SIZES.with_bounds({"b": (1, None)})
    assert given_ranges.nonneg(e) is True


@pytest.mark.parametrize(
    "e", [-a, 1 - a, 2 * q(a, 2) - a - 1, -a * a, minimum(a, 3) - 4, mod(b, a) - a], ids=str
)
def test_refuted(e: Expr) -> None:
    assert SIZES.nonneg(e) is False


@pytest.mark.parametrize("e", [a - 3, b - 1, a - b, a - 2 * q(a, 2) - 1, sym("unlisted"), a * b - 1], ids=str)
def test_neither(e: Expr) -> None:
    assert SIZES.nonneg(e) is None


def test_facts() -> None:
    known = SIZES.with_bounds({}, [compare(">=", b, a), compare("==", c, 2 * b)])
    assert known.nonneg(b - 2) is True
    assert known.nonneg(c - a - b) is True
    assert known.equal(c, 2 * b) is None or known.nonneg(c - 2 * b) is True
    assert SIZES.nonneg(b - a) is None


def test_assuming_tightens_symbols() -> None:
    assert SIZES.assuming([a * b - 1]).bounds["b"] == (1, None)
    assert SIZES.assuming([floordiv(c, 16) - 2]).bounds["c"] == (32, 8192)
    assert SIZES.assuming([a - 1]) is SIZES
    # a product of at least 5 leaves each factor at least 1, and is a fact of its own
    five = SIZES.assuming([a * b - 5])
    assert five.bounds["b"] == (1, None) and five.nonneg(a * b - 5) is True and five.nonneg(b - 2) is None


def test_admitted_sizes() -> None:
    odd = Ranges({"a": (2, 9), "b": (0, None)}, [compare("==", mod(a, 3), 0), compare("==", b, a + 1)])
    assert (
        odd.admits({"a": 3, "b": 4}) and not odd.admits({"a": 4, "b": 5}) and not odd.admits({"a": 3, "b": 3})
    )
    samples = odd.samples(["a", "b"])
    assert samples and all(odd.admits(e) for e in samples)
    assert Ranges({"a": (3, 2)}).samples(["a"]) == [] and Ranges({"a": (3, 2)}).impossible


def expression(r: Random, depth: int = 3) -> Expr:
    if depth == 0 or r.random() < 0.3:
        e = const(r.randint(-6, 6))
        for n in r.choices("abc", k=r.randint(0, 2)):
            e = e + sym(n) * r.choice([1, 1, 2, 3, -1, -2]) * (
                sym(r.choice("abc")) if r.random() < 0.2 else 1
            )
        return e
    kind = r.randrange(5)
    left, right = expression(r, depth - 1), expression(r, depth - 1)
    if kind == 0:
        return floordiv(left, r.randint(1, 5))
    if kind == 1:
        return mod(left, sym(r.choice("abc")) + 1)
    if kind == 2:
        return r.choice([minimum, maximum])(left, right)
    if kind == 3:
        return where(compare("<", left, right), left, right + 1)
    return left + right * r.choice([1, 2, -1])


@settings(max_examples=400, deadline=None)
@given(st.integers(0, (1 << 48) - 1))
def test_against_evaluation(seed: int) -> None:
    r = Random(seed)
    bounds = {n: (lo := r.randint(0, 3), r.choice([lo + 4, None])) for n in "abc"}
    facts = [compare(">=", expression(r, 1), 0)] if r.random() < 0.4 else []
    ranges = Ranges(bounds, facts)
    e = expression(r)
    if r.random() < 0.3:
        ranges = ranges.assuming([expression(r, 2)])
    holds = ranges.nonneg(e)
    lo, hi = ranges.interval(e)
    for values in itertools.product(*(range(low, low + 5) for low, _ in bounds.values())):
        env = dict(zip("abc", values, strict=True))
        if not ranges.admits(env):
            continue
        v = evaluate(e, env)
        assert (lo is None or lo <= v) and (hi is None or v <= hi)
        assert holds is not True or v >= 0
        assert holds is not False or v < 0
