"""Typed integer arithmetic against numpy: every pair of 8-bit values, samples of the wider types."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import Any

import pytest
from aoti_lint.analyzer.kernels.interpret import integers
from aoti_lint.analyzer.kernels.interpret.integers import (
    BOOL,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT8,
    UINT32,
    UINT64,
    Int,
    IntType,
    Known,
    binary,
    cast,
    comparison,
    constant,
    of,
    promoted,
    settle,
    unknown,
    widest,
)  # fmt: skip
from aoti_lint.analyzer.symbolic import compare, evaluate, evaluate_cond, sym
from aoti_lint.analyzer.symbolic.assumptions import Ranges

np = pytest.importorskip("numpy")

TYPES = [IntType(b, s) for b in (8, 16, 32, 64) for s in (True, False)]
RING = ("+", "-", "*")


def dtype(t: IntType) -> Any:
    return np.dtype(t.name)


def operands(t: IntType) -> tuple[Int, Int, Known]:
    """a and b, any value of the type."""
    return of(sym("a"), t), of(sym("b"), t), Known(Ranges({"a": (t.low, t.high), "b": (t.low, t.high)}))


def values(t: IntType) -> tuple[Any, Any]:
    """Pairs of values as arrays of Python integers: all of an 8-bit type, else the ends and random ones."""
    if t.bits == 8:
        one = list(range(t.low, t.high + 1))
        pairs = list(product(one, one))
    else:
        draw = Random(t.bits)
        ends = [t.low, t.low + 1, -1, 0, 1, 2, 3, t.high - 1, t.high, 1 << (t.bits // 2)]
        ends = [x for x in ends if t.low <= x <= t.high]
        pairs = [
            *product(ends, ends),
            *((draw.randint(t.low, t.high), draw.randint(t.low, t.high)) for _ in range(300)),
        ]
    return tuple(np.array(x, dtype=object) for x in zip(*pairs, strict=True))  # type: ignore[return-value]


def at(x: Int, known: Known, env: dict[str, Any]) -> Any:
    s = settle(x, known)
    assert s.exact, s
    return np.asarray(evaluate(s.expr, env) + 0 * env["a"], dtype=object)


def machine(op: str, a: Any, b: Any, t: IntType) -> Any:
    """What the machine computes: in Python integers, then the low bits."""
    with np.errstate(all="ignore"):
        if op in ("/", "%"):
            q = abs(a) // abs(b) * np.where((a < 0) == (b < 0), 1, -1)
            out = q if op == "/" else a - q * b
        else:
            out = {"+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b, "//": lambda: a // b,
                   "mod": lambda: a % b}[op]()  # fmt: skip
    return (out - t.low) % (1 << t.bits) + t.low


@pytest.mark.parametrize("t", TYPES, ids=lambda t: t.name)
@pytest.mark.parametrize("op", [*RING, "/", "%", "//", "mod"])
def test_arithmetic_wraps_as_the_machine_does(op: str, t: IntType) -> None:
    a, b, known = operands(t)
    x, y = values(t)
    if op not in RING:
        x, y = x[y != 0], y[y != 0]
    found = at(binary(op, a, b, t, known), known, {"a": x, "b": y})
    assert (found == machine(op, x, y, t)).all()


@pytest.mark.parametrize("t", TYPES, ids=lambda t: t.name)
@pytest.mark.parametrize("op", RING)
def test_ring_operations_agree_with_numpy(op: str, t: IntType) -> None:
    x, y = (v.astype(dtype(t)) for v in values(t))
    fn = {"+": np.add, "-": np.subtract, "*": np.multiply}[op]
    with np.errstate(all="ignore"):
        assert (fn(x, y).astype(object) == machine(op, *values(t), t)).all()


@pytest.mark.parametrize("t", TYPES, ids=lambda t: t.name)
@pytest.mark.parametrize("op", ["<", "<=", ">", ">=", "==", "!="])
def test_comparisons_are_of_the_type(op: str, t: IntType) -> None:
    a, b, known = operands(t)
    x, y = values(t)
    cond, taken = comparison(op, binary("-", a, b, t, known), b, t, known)
    assert cond is not None and not taken
    fn = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal, "==": np.equal,
          "!=": np.not_equal}[op]  # fmt: skip
    assert (evaluate_cond(cond, {"a": x, "b": y}) == fn(machine("-", x, y, t), y)).all()


@pytest.mark.parametrize("t", TYPES, ids=lambda t: t.name)
@pytest.mark.parametrize("to", TYPES, ids=lambda t: t.name)
def test_conversions_keep_the_low_bits(t: IntType, to: IntType) -> None:
    a, _, known = operands(t)
    x, _ = values(t)
    found = at(cast(a, to, known), known, {"a": x})
    with np.errstate(all="ignore"):
        assert (found == x.astype(dtype(t)).astype(dtype(to)).astype(object)).all()


@pytest.mark.parametrize("t", [INT8, UINT8, INT32, UINT32], ids=lambda t: t.name)
@pytest.mark.parametrize("mask", [0, 1, 7, 0x55, 0x7F, -1, -8, -128])
@pytest.mark.parametrize("op", ["&", "|", "^"])
def test_bits(op: str, mask: int, t: IntType) -> None:
    """Exact for masks of low and of high bits; for others a range that holds every result."""
    a, _, known = operands(t)
    x, _ = values(t)
    m = mask if t.signed else mask % (1 << t.bits)
    expected = np.array([{"&": v & m, "|": v | m, "^": v ^ m}[op] for v in x], dtype=object)
    s = settle(binary(op, a, constant(m, t), t, known), known)
    if s.expr is not None:
        assert (np.asarray(evaluate(s.expr, {"a": x}) + 0 * x) == expected).all()
    else:
        assert mask == 0x55 or (op == "^" and mask < 0)
    assert ((expected >= s.low) & (expected <= s.high)).all()


@pytest.mark.parametrize("t", [INT8, UINT8], ids=lambda t: t.name)
@pytest.mark.parametrize("op", ["+", "-", "*", "/", "%", "//", "mod", "&", "|", "^", ">>"])
def test_ranges_hold_every_result(op: str, t: IntType) -> None:
    """An operand known by its range alone: all that the machine can compute lies in the range of the result."""
    draw = Random(1)
    known = Known(Ranges())
    for _ in range(150):
        (al, ah), (bl, bh) = (sorted(draw.randint(t.low, t.high) for _ in range(2)) for _ in range(2))
        if op == ">>":
            bl, bh = 0, draw.randint(0, 7)
        r = binary(op, unknown(t, al, ah), unknown(t, bl, bh), t, known)
        for p in {al, ah, *(draw.randint(al, ah) for _ in range(6))}:
            for q in {bl, bh, *(draw.randint(bl, bh) for _ in range(6))}:
                if q == 0 and op in ("/", "%", "//", "mod"):
                    continue
                exact = {"&": p & q, "|": p | q, "^": p ^ q}.get(op)
                if exact is None:
                    one = (np.array([v], dtype=object) for v in (p, q))
                    exact = p >> q if op == ">>" else int(machine(op, *one, t)[0])
                assert r.low <= exact <= r.high, (op, (al, ah), (bl, bh), p, q)


@pytest.mark.parametrize("t", TYPES, ids=lambda t: t.name)
def test_negation_inversion_and_magnitude(t: IntType) -> None:
    a, _, known = operands(t)
    x, _ = values(t)
    native = x.astype(dtype(t))
    with np.errstate(all="ignore"):
        for fn, expected in (
            (integers.negate, np.negative(native)), (integers.invert, np.invert(native)),
            (integers.absolute, np.abs(native)),
        ):  # fmt: skip
            assert (at(fn(a, known), known, {"a": x}) == expected.astype(object)).all()


@pytest.mark.parametrize("t", [INT8, UINT8, INT64], ids=lambda t: t.name)
@pytest.mark.parametrize("n", [0, 1, 3, 7])
def test_shifts(n: int, t: IntType) -> None:
    a, _, known = operands(t)
    x, _ = values(t)
    native = x.astype(dtype(t))
    for op, fn in (("<<", np.left_shift), (">>", np.right_shift)):
        found = at(binary(op, a, constant(n, INT32), t, known), known, {"a": x})
        assert (found == fn(native, np.asarray(n, dtype(t))).astype(object)).all()


def test_a_shift_by_the_width_is_not_known() -> None:
    a, _, known = operands(INT32)
    assert binary("<<", a, constant(32, INT32), INT32, known).ring is None


def test_a_product_wraps_before_it_is_widened() -> None:
    """long + int * int: 65536 * 65536 is 0 in 32 bits."""
    known = Known(Ranges({"r": (0, 65536)}))
    product_ = binary("*", of(sym("r"), INT32), constant(65536, INT32), INT32, known)
    total = binary("+", constant(5, INT64), product_, INT64, known)
    assert evaluate(settle(total, known).expr, {"r": 65536}) == 5  # type: ignore[arg-type]
    assert evaluate(settle(total, known).expr, {"r": 2}) == 131077  # type: ignore[arg-type]


def test_what_a_launch_decides_is_taken_and_said() -> None:
    known = Known(Ranges({"x": (0, None)}), compare("<", sym("x"), sym("n")))
    row = replace_text(binary("*", of(sym("x"), INT32), constant(4096, INT32), INT32, known), "4096*x")
    s = settle(cast(row, INT64, known), known)
    assert s.expr == sym("x") * 4096 and not s.exact
    assert [(n.text, n.bits, n.signed, n.path) for n in s.narrow] == [("4096*x", 32, True, known.path)]


def replace_text(a: Int, text: str) -> Int:
    return Int(a.type, a.ring, a.low, a.high, a.narrow, text)


def test_what_goes_below_zero_and_comes_back_loses_nothing() -> None:
    known = Known(Ranges({"x": (0, None)}))
    x = of(sym("x"), UINT32)
    there = binary("-", x, constant(1, UINT32), UINT32, known)
    back = binary("+", there, constant(1, UINT32), UINT32, known)
    assert settle(back, known).expr == sym("x")
    assert evaluate(settle(there, known).expr, {"x": 0}) == 2**32 - 1  # type: ignore[arg-type]


def test_bool_is_whether_it_is_not_zero() -> None:
    a, _, known = operands(INT8)
    x, _ = values(INT8)
    assert (at(cast(a, BOOL, known), known, {"a": x}) == (x != 0)).all()


@pytest.mark.parametrize(("a", "b", "cxx", "triton"), [
    (INT8, INT8, INT32, INT8), (UINT8, INT8, INT32, UINT8), (INT32, UINT32, UINT32, UINT32),
    (INT64, UINT32, INT64, INT64), (INT64, UINT64, UINT64, UINT64), (INT16, INT64, INT64, INT64),
])  # fmt: skip
def test_types_of_results(a: IntType, b: IntType, cxx: IntType, triton: IntType) -> None:
    """As in C++ (usual arithmetic conversions) and as Triton's promotion has it."""
    assert promoted(a, b) == promoted(b, a) == cxx
    assert widest(a, b) == widest(b, a) == triton


def test_the_narrower_minimum_cuts_first() -> None:
    """min<int8>(300, 50) is min(44, 50)."""
    known = Known(Ranges())
    r = integers.extreme("min", constant(300, INT32), constant(50, INT32), INT8, known)
    assert settle(r, known).expr == 44
