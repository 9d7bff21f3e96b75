"""Verdicts on the forms that generated kernels have; every number is derived by hand beside it."""

from __future__ import annotations

import pytest
from aoti_lint.analyzer.bounds import Decision, decide, index_range
from aoti_lint.analyzer.model.kernel import Var
from aoti_lint.analyzer.symbolic import (
    TRUE,
    Cond,
    Expr,
    as_expr,
    ceildiv,
    compare,
    evaluate,
    evaluate_cond,
    floordiv,
    maximum,
    minimum,
    mod,
    opaque,
    sym,
    tdiv,
    tmod,
    where,
)  # fmt: skip
from aoti_lint.analyzer.symbolic.assumptions import Ranges

x, y, k, lane, t = (sym(n) for n in ("x", "y", "k", "lane", "t"))
x0, x1, x2 = (sym(n) for n in ("x0", "x1", "x2"))
s27, s77, n = (sym(v) for v in ("s27", "s77", "n"))
SIZES = Ranges({"s27": (2, 512), "s77": (0, None), "n": (1, None)})
LOADED = Var("t", None, "data")


def grid(**extents: Expr | int) -> tuple[Var, ...]:
    return tuple(Var(name, as_expr(e), "grid") for name, e in extents.items())


def ask(
    index: Expr | int, vars: tuple[Var, ...], capacity: Expr | int, guard: Cond = TRUE, offset: Expr | int = 0,
    ranges: Ranges = SIZES,
) -> Decision:  # fmt: skip
    d = decide(as_expr(index), vars, guard, as_expr(offset), as_expr(capacity), ranges)
    if d.status == "fault":
        assert d.witness is not None and d.index is not None and d.available is not None
        assert evaluate(as_expr(index), d.witness) == d.index
        assert evaluate(as_expr(capacity), d.witness) == d.available
        assert guard.has_opaque() or evaluate_cond(guard, d.witness)
        assert not 0 <= d.index + evaluate(as_expr(offset), d.witness) < d.available
    return d


def span(d: Decision) -> tuple[Expr | None, Expr | None]:
    return d.range.min, d.range.max


# -- affine accesses and guards


def test_strided_store_into_a_packed_copy() -> None:
    # a channels-last slice: 32 channels of 128, 80*80 pixels, in a copy that holds 204800 elements
    d = ask(x0 + 128 * x1, grid(x0=32, x1=6400), 204800)
    assert d.status == "fault" and span(d) == (0, 819103) and d.range.exact  # 31 + 128*6399
    assert d.witness == {"x0": 31, "x1": 6399} and d.index == 819103 and d.available == 204800


def test_offset_of_a_view() -> None:
    # the same slice in the parent of 819200: the last of four starts at 96 and ends with the buffer
    assert ask(x0 + 128 * x1, grid(x0=32, x1=6400), 819200, offset=96).status == "proved"
    assert ask(x0 + 128 * x1, grid(x0=32, x1=6400), 819200, offset=97).index == 819103
    below = ask(x0, grid(x0=4), 8, offset=-1)
    assert below.status == "fault" and below.index == 0


def test_padding_guard() -> None:
    guard = compare("<=", 0, x0 - 1) & compare("<", x0 - 1, 8)
    d = ask(x0 + 8 * x1 - 1, grid(x0=10, x1=8), 64, guard)
    assert d.status == "proved" and span(d) == (0, 63) and d.range.exact  # 1-1+0 .. 8-1+56
    d = ask(x0 + 8 * x1 - 1, grid(x0=10, x1=8), 66)
    assert d.status == "fault" and d.index == -1 and d.witness == {"x0": 0, "x1": 0}


def test_guard_that_never_holds() -> None:
    d = ask(x, grid(x=24), 20, compare(">", x, 30))
    assert d.status == "proved" and d.range.empty and span(d) == (None, None)
    assert ask(x, grid(x=0), 0).range.empty
    assert ask(x + 100, grid(x=5, y=0), 1).range.empty
    assert ask(x, grid(x=4), 1, compare("==", 2 * x, 5)).range.empty


def test_either_side_of_a_hole() -> None:
    guard = compare("<", x, 3) | compare(">", x, 7)
    assert span(ask(x, grid(x=10), 10, guard)) == (0, 9)
    assert span(ask(x, grid(x=10), 10, guard & compare("!=", x, 9) & compare("!=", x, 0))) == (1, 8)


def test_negative_strides() -> None:
    d = ask(35 - x0 + 36 * x1, grid(x0=36, x1=4), 144)
    assert d.status == "proved" and span(d) == (0, 143)  # 35-35 .. 35+108


def test_loops_over_loops() -> None:
    # the inner loop runs to the outer variable: 8*7 + 7 is reached, 8*6 + 7 is not
    inner = (Var("x", as_expr(8), "grid"), Var("y", x + 1, "loop"))
    d = ask(8 * x + y, inner, 64)
    assert d.status == "proved" and span(d) == (0, 63) and d.range.exact
    assert span(ask(y - 8 * x, inner, 64)) == (-56, 0)


# -- digits of a flat index


def test_digits_of_a_padded_plane() -> None:
    # 10 x 10 x 48 read through clamps into 8 x 8 x 48
    c0, c1, c2 = mod(x, 10), mod(floordiv(x, 10), 10), floordiv(x, 100)
    index = minimum(7, maximum(0, c0 - 1)) + 8 * minimum(7, maximum(0, c1 - 1)) + 64 * c2
    d = ask(index, grid(x=4800), 3072)
    assert d.status == "proved" and span(d) == (0, 3071) and d.range.exact  # 7 + 56 + 64*47


def test_reflected_plane() -> None:
    def away(e: Expr) -> Expr:
        return maximum(e, -e)

    c0, c1, c2 = mod(x, 10), mod(floordiv(x, 10), 12), floordiv(x, 120)
    index = 63 - away(away(c0 - 1) - 7) - 8 * away(away(c1 - 2) - 7) + 64 * c2
    d = ask(index, grid(x=360), 192)
    assert d.status == "proved" and span(d) == (0, 191)  # both distances are 0 .. 7


def test_rolled_windows() -> None:
    # 4 x 4 windows of an 8 x 8 plane of 32 channels, rolled by two: a permutation of 2048 elements
    c1, c2 = mod(floordiv(x, 32), 8), floordiv(x, 256)
    index = (
        mod(x, 32) + 32 * mod(6 + c1, 4) + 128 * mod(6 + c2, 4) + 512 * mod(floordiv(6 + c1, 4), 2)
        + 1024 * mod(floordiv(6 + c2, 4), 2)
    )  # fmt: skip
    assert span(ask(index, grid(x=2048), 2048)) == (0, 2047)


def test_incomplete_last_digit() -> None:
    # 7 rows of 5 and one of 3: the last row stops at column 2
    d = ask(mod(x, 5) + 10 * floordiv(x, 5), grid(x=38), 73)
    assert d.status == "proved" and span(d) == (0, 72) and d.range.exact  # row 7, column 2


def test_flat_index_of_two_variables() -> None:
    # 6 elements for each of 1024 threads, 6000 in all, then rows of 256
    flat = 6 * x + y
    d = ask(floordiv(flat, 256), grid(x=1024, y=6), 24, compare("<", flat, 6000))
    assert d.status == "proved" and span(d) == (0, 23)  # 5999 // 256
    # without the check the last thread reaches 6143, in the same last row; rows of 128 show the difference
    assert ask(floordiv(flat, 128), grid(x=1024, y=6), 47).index == 47
    assert ask(floordiv(flat, 128), grid(x=1024, y=6), 47, compare("<", flat, 6000)).status == "proved"


def test_large_domain_that_is_no_box() -> None:
    # x = 9 gives (14 % 7) + 0; 9999991 gives (9999996 % 7) + 3*909090, and 10**7 % 7 == 3
    d = ask(mod(x + 5, 7) + 3 * floordiv(x, 11), grid(x=10**7), 2727277)
    assert d.status == "proved" and span(d) == (0, 2727276) and d.range.exact
    assert ask(mod(x + 5, 7) + 3 * floordiv(x, 11), grid(x=10**7), 2727276).index == 2727276


def test_c_division_of_what_is_never_negative() -> None:
    assert span(ask(tmod(x, 5) + 5 * tdiv(x, 5), grid(x=40), 40)) == (0, 39)
    assert span(ask(tmod(x - 3, 5), grid(x=5), 40)) == (-3, 1)


# -- vector loops


def test_vector_loop_and_tail() -> None:
    # 29 elements in vectors of 16
    blocks = ceildiv(29, 16)
    assert span(ask(16 * k + lane, grid(k=blocks, lane=16), 29, compare("<", 16 * k, 16))) == (0, 15)
    tail = compare(">=", 16 * k, 16) & compare("<", 16 * k, 29)
    assert span(ask(16 * k + lane, grid(k=blocks, lane=13), 29, tail)) == (16, 28)
    assert ask(16 * k + lane, grid(k=blocks, lane=16), 29, tail).index == 31


def test_symbolic_vector_loop_and_tail() -> None:
    whole = floordiv(n, 16)
    main = ask(16 * k + lane, grid(k=ceildiv(n, 16), lane=16), n, compare("<", 16 * k, 16 * whole))
    assert main.status == "proved" and span(main) == (0, 16 * whole - 1) and main.range.exact
    guard = compare(">=", 16 * k, 16 * whole) & compare("<", 16 * k, n)
    tail = ask(16 * k + lane, grid(k=ceildiv(n, 16), lane=n - 16 * whole), n, guard)
    assert tail.status == "proved" and span(tail) == (16 * whole, n - 1)
    # a full vector in the tail: with n = 1 lanes 1 .. 15 are outside
    wide = ask(16 * k + lane, grid(k=ceildiv(n, 16), lane=16), n, guard)
    assert wide.status == "fault" and wide.witness is not None and wide.witness["n"] == 1 and wide.index == 15


# -- symbolic sizes


def test_symbolic_matrix() -> None:
    d = ask(x0 + s27 * x1, grid(x0=s27, x1=s77), s27 * s77)
    assert d.status == "proved" and span(d) == (0, s27 * s77 - 1) and d.range.exact


def test_smallest_size_that_fails() -> None:
    # 64*s27 elements fit into 8192 up to s27 = 128
    d = ask(mod(x, 64 * s27), grid(x=64 * s27 * n), 8192)
    assert d.status == "fault" and d.range.max == 64 * s27 - 1
    assert d.witness is not None and d.witness["s27"] == 129 and d.index == 8255 and d.available == 8192


def test_digits_with_symbolic_strides() -> None:
    c0, c1, c2 = mod(x, s27), mod(floordiv(x, s27), n), floordiv(x, s27 * n)
    d = ask(c0 + s27 * c1 + s27 * n * c2, grid(x=s27 * n * s77), s27 * n * s77)
    assert d.status == "proved" and span(d) == (0, s27 * n * s77 - 1) and d.range.exact


def test_pooled_plane() -> None:
    # 2 x 2 windows of an s27 x n plane; an odd last row or column is left out
    h, w = floordiv(n, 2), floordiv(s27, 2)
    at = 2 * mod(x, h) + 2 * n * mod(floordiv(x, h), w) + n * s27 * floordiv(x, h * w)
    assert ask(at + 1 + n, grid(x=h * w * s77), n * s27 * s77).status == "proved"


def test_rolled_by_a_symbolic_size() -> None:
    d = ask(x0 + 36 * mod(x1 + mod(s27 - 1, s27), s27), grid(x0=36, x1=s27), 36 * s27)
    assert d.status == "proved" and span(d) == (0, 36 * s27 - 1) and d.range.exact


def test_cooperative_reduction() -> None:
    # up to 1024 threads stride over n elements of each of s77 rows
    flat = 1024 * k + lane
    d = ask(
        flat + n * x, grid(x=s77, lane=minimum(n, 1024), k=ceildiv(n, 1024)), n * s77, compare("<", flat, n)
    )
    assert d.status == "proved" and span(d) == (0, n * s77 - 1) and d.range.exact


def test_zero_sizes_touch_nothing() -> None:
    # s77 = 0 would divide by zero, if any iteration ran
    assert ask(mod(x, s77), grid(x=s77), s77).status == "proved"
    assert ask(x, grid(x=s77), s77).status == "proved"
    # the last element of nothing
    d = ask(s77 - 1, (), s77)
    assert d.status == "fault" and d.witness == {"s77": 0} and d.index == -1


def test_facts_between_sizes() -> None:
    assert ask(x, grid(x=n), s27).status == "fault"
    known = SIZES.with_bounds({}, [compare("<=", n, s27)])
    assert ask(x, grid(x=n), s27, ranges=known).status == "proved"
    even = Ranges({"n": (1, None)}, [compare("==", mod(n, 2), 0)])
    d = ask(x, grid(x=n), 4 * floordiv(n, 4), ranges=even)
    assert d.status == "fault" and d.witness is not None and d.witness["n"] == 2  # 1 and 3 are not admitted


def test_few_sizes_are_tried_one_by_one() -> None:
    few = Ranges({"n": (1, 20)})
    square = mod(n * n, 8)  # 0, 1 or 4
    assert ask(square, (), 5, ranges=few).status == "proved"
    assert ask(square, (), 4, ranges=few).witness == {"n": 2}


def test_symbol_without_a_range() -> None:
    d = ask(sym("ks0") + x, grid(x=4), 100)
    assert d.status == "unknown" and d.reason == "no range is known for ks0"


# -- values loaded from memory


def wrapped(size: int) -> Expr:
    return where(compare("<", t, 0), t + size, t)


def test_checked_index() -> None:
    at = wrapped(50)
    guard = compare(">=", at, 0) & compare("<", at, 50)
    vars = (*grid(x=24), LOADED)
    d = ask(x + 24 * at, vars, 1200, guard)
    assert d.status == "proved" and span(d) == (0, 1199) and d.range.exact  # 23 + 24*49
    # a table of 40 rows under a check against 50
    d = ask(x + 24 * at, vars, 960, guard)
    assert d.status == "fault" and d.index == 1199
    assert d.witness is not None and d.witness["x"] == 23 and d.witness["t"] in (49, -1)
    assert ask(x + 24 * at, vars, 1200, compare("<", at, 50)).status == "unknown"


def test_unchecked_index() -> None:
    d = ask(x + 24 * t, (*grid(x=24), LOADED), 960)
    assert d.status == "unknown" and d.reason == "index loaded from memory is not bounded (t)"


def test_index_bounded_by_its_type() -> None:
    byte = (*grid(x=24), Var("t", None, "data", 0, 255))
    assert ask(x + 24 * t, byte, 24 * 256).status == "proved"
    d = ask(x + 24 * t, byte, 960)
    assert d.status == "unknown" and d.reason == "index loaded from memory is bounded by its type only (t)"
    d = ask(x + 24 * t + 1000, byte, 960)  # outside whatever is loaded
    assert d.status == "fault"


def test_clamped_index() -> None:
    clamp = minimum(63, maximum(0, t))
    assert ask(clamp, (LOADED,), 64).status == "proved"
    d = ask(clamp, (LOADED,), 60)
    assert d.status == "fault" and d.index == 63


def test_index_bounded_by_another_variable() -> None:
    guard = compare(">=", t, floordiv(x, 2)) & compare("<=", t, floordiv(x, 2) + 1)
    vars = (*grid(x=10), LOADED)
    assert ask(t, vars, 6, guard).status == "proved"  # 9 // 2 + 1
    d = ask(t, vars, 5, guard)
    assert d.status == "fault" and d.index == 5


def test_check_of_a_sum() -> None:
    # a bucket of 16 below or above the diagonal: the sum is checked, not its parts
    bucket = where(compare("<", x, 8), x, minimum(t + 8, 15))
    side = where(compare(">", x, y), 1, 0)
    guard = compare(">=", bucket + 16 * side, 0) & compare("<", bucket + 16 * side, 32)
    d = ask(4 * bucket + 64 * side + x2, (*grid(x=n, y=n, x2=4), LOADED), 128, guard)
    assert d.status == "proved" and span(d) == (0, 127)  # 4*31 + 3
    # 31 = 15 + 16 is reached below the diagonal from row 8 on, where 7 or more is loaded
    assert ask(4 * bucket + 64 * side + x2, (*grid(x=n, y=n, x2=4), LOADED), 127, guard).index == 127


def test_block_sizes_from_memory() -> None:
    # blocks of an unknown size, the last one cut off at 64
    inner = maximum(minimum(t + x, 64) - x, 0)
    d = ask(32 * x + 32 * y + lane, (LOADED, *grid(x=64), Var("y", inner, "loop"), *grid(lane=32)), 2048)
    assert d.status == "proved" and span(d) == (0, 2047)  # x + y is at most 63


# -- conditions on data


def test_condition_on_data() -> None:
    mask = opaque("mask")
    assert ask(x, grid(x=24), 24, mask).status == "proved"
    d = ask(x, grid(x=24), 20, mask)
    assert d.status == "unknown" and d.reason == "guard depends on data"
    # what does not need the mask is certain
    d = ask(x, grid(x=24), 20, mask | compare(">", x, 22))
    assert d.status == "fault" and d.index == 23
    assert not index_range(x, grid(x=24), mask, SIZES).exact


def test_selection_on_data() -> None:
    index = where(opaque("mask"), x, x + 100)
    assert ask(index, grid(x=10), 110).status == "proved"
    assert ask(index, grid(x=10), 109).status == "unknown"


# -- results are kept


def test_answers_are_kept_with_the_ranges() -> None:
    ranges = Ranges()
    first = ask(x, grid(x=4), 4, ranges=ranges)
    assert ask(x, grid(x=4), 4, ranges=ranges) is first


@pytest.mark.parametrize("capacity", [0, -3])
def test_no_capacity_at_all(capacity: int) -> None:
    assert ask(x, grid(x=4), capacity).status == "fault"
    assert ask(x, grid(x=0), capacity).status == "proved"


def test_the_reason_says_whether_an_index_was_loaded() -> None:
    t = Var("t", None, "data", computed=True)
    d = decide(sym("t"), (t,), TRUE, as_expr(0), as_expr(4), Ranges())
    assert d.status == "unknown"
    assert d.reason == "index computed in a way that is not followed is not bounded (t)"
