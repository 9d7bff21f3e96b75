"""Index expressions: normal form, folding, substitution, evaluation."""

from __future__ import annotations

import pickle
import subprocess
import sys
from random import Random

import pytest
from aoti_lint.analyzer.symbolic import (
    FALSE,
    ONE,
    TRUE,
    ZERO,
    Cond,
    Expr,
    Op,
    ceildiv,
    compare,
    const,
    evaluate,
    evaluate_cond,
    exact_div,
    floordiv,
    make,
    maximum,
    minimum,
    mod,
    opaque,
    sym,
    tdiv,
    tmod,
    where,
)  # fmt: skip
from hypothesis import given, settings
from hypothesis import strategies as st

x, y, s = sym("x"), sym("y"), sym("s")
seeds = st.integers(0, (1 << 48) - 1)
KINDS = ("floordiv", "mod", "tdiv", "tmod")


def truth(kind: str, a: int, b: int) -> int:
    """What C++ and Python say about a division."""
    q = abs(a) // abs(b)
    q = q if (a < 0) == (b < 0) else -q
    return {"floordiv": a // b, "mod": a % b, "tdiv": q, "tmod": a - q * b}[kind]


def polynomial(r: Random) -> Expr:
    e = const(r.randint(-6, 6))
    for _ in range(r.randint(0, 3)):
        term = const(r.choice([1, 1, 2, 3, -1, -2, 4, 6, 8]))
        for name in r.choices(["x", "y", "s"], k=r.randint(1, 2)):
            term = term * sym(name)
        e = e + term
    return e


@settings(max_examples=500, deadline=None)
@given(seeds)
def test_folding_keeps_the_value(seed: int) -> None:
    r = Random(seed)
    a, b = polynomial(r), polynomial(r)
    if r.random() < 0.5:
        b = const(r.choice([1, 2, 3, 4, 6, 8])) * (s if r.random() < 0.5 else 1)
    if r.random() < 0.4:
        a = a * b + r.choice([ZERO, b, polynomial(r)])
    kind = r.choice(KINDS)
    e = make(kind, (a, b))
    for _ in range(4):
        env = {n: r.randint(-7, 9) for n in ("x", "y", "s")}
        by = evaluate(b, env)
        if by:
            assert evaluate(e, env) == truth(kind, evaluate(a, env), by), (kind, a, b, e, env)


@settings(max_examples=200, deadline=None)
@given(seeds)
def test_substitution_is_evaluation(seed: int) -> None:
    r = Random(seed)
    e = minimum(floordiv(polynomial(r), 4), polynomial(r)) + where(
        compare("<", polynomial(r), x), polynomial(r), mod(y, 5)
    )
    env = {n: r.randint(-5, 9) for n in ("x", "y", "s")}
    assert e.substitute({n: const(v) for n, v in env.items()}).value == evaluate(e, env)
    partly = e.substitute({"x": const(env["x"])})
    assert "x" not in partly.symbols and evaluate(partly, env) == evaluate(e, env)


@settings(max_examples=200, deadline=None)
@given(seeds)
def test_exact_division(seed: int) -> None:
    r = Random(seed)
    a, b = polynomial(r), polynomial(r)
    if b.terms and a.terms:
        q = exact_div(a * b, b)
        assert q == a
    found = exact_div(a, b) if b.terms else None
    assert found is None or found * b == a


def test_equal_polynomials_are_equal_objects() -> None:
    assert (x + y) * (x - y) == x * x - y * y
    assert hash((x + 1) * 2) == hash(2 * x + 2)
    assert x - x == ZERO == 0 and (x * 0).value == 0


@pytest.mark.parametrize(
    ("got", "want"),
    [
        (floordiv(64 * y + x, 64), y + floordiv(x, 64)),
        (mod(64 * y + x, 64), mod(x, 64)),
        (floordiv(x + s * y, s), y + floordiv(x, s)),
        (floordiv(6 * s * x, 4 * s), floordiv(3 * x, 2)),
        (mod(6 * s * x, 4 * s), 2 * s * mod(3 * x, 2)),
        (floordiv(s - 1, 16), floordiv(s + 15, 16) - 1),
        (floordiv(20 * s * x + 7, 8), floordiv(5 * s * x + 1, 2)),
        (mod(4 * s + 7, 8), 4 * mod(s + 1, 2) + 3),
        (ceildiv(s, 16), floordiv(s + 15, 16)),
        # (s - 1)*(2*s - 1)*64 and a rest of 2*s - 1, divided by (2*s - 1)*64
        (floordiv((2 * s - 1) * (64 * s - 63), 64 * (2 * s - 1)), s - 1),
        (tdiv(const(-7), 2), const(-3)),
        (tmod(const(-7), 2), const(-1)),
        (minimum(x, maximum(3, 5)), minimum(5, x)),
        (maximum(0, x, 0, maximum(x, 4)), maximum(x, 4)),
        (where(TRUE, x, y), x),
        (where(compare("<", x, 3), y, y), y),
    ],
)
def test_folding(got: Expr, want: Expr) -> None:
    assert got == want


def test_division_by_zero_is_an_error_not_a_value() -> None:
    e = floordiv(x, s)
    with pytest.raises(ZeroDivisionError):
        evaluate(e, {"x": 3, "s": 0})
    with pytest.raises(ZeroDivisionError):
        evaluate(floordiv(x, 0), {"x": 3})


def test_arrays_are_evaluated_like_numbers() -> None:
    np = pytest.importorskip("numpy")
    values = np.arange(-9, 10)
    e = where(compare(">", tmod(x, 4), 0), tdiv(x, 3), maximum(mod(x, 5), floordiv(x, 2)))
    assert evaluate(e, {"x": values}).tolist() == [evaluate(e, {"x": int(v)}) for v in values]
    with pytest.raises(ZeroDivisionError):
        evaluate(floordiv(7, x), {"x": values})


def test_conditions() -> None:
    assert compare("<", 2 * x, 5) == compare("<=", x, 2)  # integers
    assert compare("==", 2 * x, 5) == FALSE
    assert compare("!=", 2 * x, 5) == TRUE
    both = compare("<", x, 3) & compare(">", x, 0)
    assert [evaluate_cond(both, {"x": v}) for v in range(5)] == [False, True, True, False, False]
    assert [evaluate_cond(~both, {"x": v}) for v in range(5)] == [True, False, False, True, True]
    assert ~~both == both
    assert (both & TRUE) == both and (both & FALSE) == FALSE and (both | TRUE) == TRUE
    assert (~opaque("m")).has_opaque()
    with pytest.raises(ValueError, match="data"):
        evaluate_cond(opaque("m"), {})


def test_text() -> None:
    assert str(64 * s - 1) == "64*s - 1"
    assert str(floordiv(x + 1, 4) * 3) == "3*((x + 1) // 4)"
    assert str(compare("<", x, 3)) == "-x + 2 >= 0"


def test_equality_survives_another_process() -> None:
    # names hash differently in every process: nothing that depends on a hash may be stored
    e = floordiv(x + s, 7) * mod(y, s) + where(compare("<", x, s), 3, 4)
    code = (
        "import pickle, sys; e = pickle.load(sys.stdin.buffer);"
        "from aoti_lint.analyzer.symbolic import *; x, y, s = map(sym, 'xys');"
        "assert e - (floordiv(x + s, 7) * mod(y, s) + where(compare('<', x, s), 3, 4)) == 0"
    )
    subprocess.run([sys.executable, "-c", code], input=pickle.dumps(e), check=True, timeout=60)


def test_operations_are_values() -> None:
    a, b = Op("floordiv", (x, const(3))), Op("floordiv", (x, const(3)))
    assert a == b and hash(a) == hash(b) and a != Op("mod", (x, const(3)))
    assert Expr({(a,): 1}) - Expr({(b,): 1}) == 0
    assert Cond.of("ge", x).symbols == {"x"} and ONE.symbols == frozenset()
