"""Layout predicates against known executions and against the formulas spelled out on plain integers."""

from __future__ import annotations

from itertools import product
from math import prod

import pytest
from aoti_lint.analyzer.runtimes import predicates as p
from aoti_lint.analyzer.symbolic import const, evaluate, sym
from aoti_lint.analyzer.symbolic.assumptions import Ranges
from hypothesis import example, given, settings
from hypothesis import strategies as st

NO = Ranges()


def exprs(values):
    return tuple(const(v) for v in values)


def canon(sizes, strides, ones_last=False):
    c = p.et_canon(exprs(sizes), exprs(strides), NO, ones_last)
    assert c.strides is not None
    return c.ok, tuple(s.value for s in c.strides)


# -- the formulas on integers -------------------------------------------------------------------


def model_canon(sizes, strides):
    order = sorted(range(len(sizes)), key=lambda d: (-strides[d], d))
    dense, run = [0] * len(sizes), 1
    for d in reversed(order):
        dense[d] = run
        run *= max(sizes[d], 1)
    ok = all(t == c or s == 1 for s, t, c in zip(sizes, strides, dense, strict=True))
    return ok, tuple(dense)


def model_packed(sizes, strides):
    numel = prod(sizes)
    return numel <= 1 or 1 + sum((s - 1) * t for s, t in zip(sizes, strides, strict=True) if s > 1) == numel


def model_extent(sizes, strides):
    return 0 if 0 in sizes else 1 + sum((s - 1) * t for s, t in zip(sizes, strides, strict=True))


def addresses(sizes, strides):
    return [sum(i * t for i, t in zip(index, strides, strict=True)) for index in product(*map(range, sizes))]


def row_major(sizes):
    strides, run = [], 1
    for s in reversed(sizes):
        strides.insert(0, run)
        run *= max(s, 1)
    return strides


# -- executed examples --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sizes", "strides", "carried"),
    [
        ((2, 1, 7, 9), (63, 1, 9, 1), (63, 9, 9, 1)),
        ((1, 5, 7), (7, 7, 1), (35, 7, 1)),
        ((1, 5, 7), (1, 7, 1), (7, 7, 1)),
        ((4, 1, 7), (7, 28, 1), (7, 28, 1)),
        ((4, 7, 1), (7, 1, 7), (7, 1, 7)),
        ((2, 3, 1, 1), (3, 1, 3, 3), (3, 1, 3, 3)),
    ],
)
def test_canonical_strides_that_were_executed(sizes, strides, carried):
    assert canon(sizes, strides) == (True, carried)


@pytest.mark.parametrize(
    ("sizes", "strides"), [((2, 3), (8, 1)), ((2, 3), (0, 1)), ((3, 3), (2, 2)), ((0, 4), (8, 1))]
)
def test_layouts_that_were_refused(sizes, strides):
    assert canon(sizes, strides)[0] is False


@pytest.mark.parametrize(
    ("sizes", "strides"), [((3, 3), (2, 2)), ((2, 3), (5, 0)), ((0, 4), (8, 1)), ((1, 4), (8, 1))]
)
def test_packed_is_blind_to_overlap_and_emptiness(sizes, strides):
    assert p.packed_m2(exprs(sizes), exprs(strides), NO) is True


@pytest.mark.parametrize(
    ("sizes", "strides", "numel", "span"),
    [
        ((1, 32, 80, 80), (819200, 1, 10240, 128), 204800, 819104),
        ((6, 8), (16, 1), 48, 88),
        ((4, 4), (8, 1), 16, 28),
        ((2, 3), (-3, 1), 6, 0),
    ],
)
def test_not_packed(sizes, strides, numel, span):
    assert p.packed_m2(exprs(sizes), exprs(strides), NO) is False
    assert p.numel(exprs(sizes)).value == numel
    assert p.span(exprs(sizes), exprs(strides)).value == span


def test_one_channel_keeps_channels_last_only_when_ones_sort_last():
    assert canon((2, 1, 7, 9), (63, 1, 9, 1)) == (True, (63, 9, 9, 1))
    assert canon((2, 1, 7, 9), (63, 1, 9, 1), ones_last=True) == (True, (63, 1, 9, 1))


def test_second_operand_of_a_matrix_product():
    def right(sizes, strides):
        return p.mm_second_operand_read_right(exprs(sizes), exprs(strides), NO)

    assert right((12, 5), (1, 12)) is True  # column-major
    assert right((12, 5), (5, 1)) is True
    assert right((12, 5), (8, 1)) is False  # padded rows are read as dense ones
    assert right((12, 5), (1, 16)) is False  # padded columns too
    assert right((1, 5), (1, 5)) is False  # told column-major, read at 0..4
    assert right((12, 1), (1, 12)) is True


def test_pytorchs_choice_of_memory_format():
    def looks(sizes, strides):
        return p.looks_channels_last(exprs(sizes), exprs(strides), NO)

    assert looks((2, 3, 4, 5), (60, 1, 15, 3)) is True
    assert looks((2, 3, 4, 5), (60, 20, 5, 1)) is False
    assert looks((2, 1, 4, 5), (20, 1, 5, 1)) is True
    assert looks((2, 1, 4, 5), (20, 20, 5, 1)) is False
    assert looks((2, 3, 1, 1), (3, 1, 3, 3)) is True
    assert looks((2, 3, 1, 1), (3, 1, 1, 1)) is False
    assert looks((5, 1, 1, 1), (1, 1, 1, 1)) is False


# -- properties ---------------------------------------------------------------------------------

sizes_st = st.lists(st.integers(0, 6), max_size=4).map(tuple)


@st.composite
def layouts(draw, least_stride=-3):
    sizes = draw(sizes_st)
    if draw(st.booleans()):  # a permutation of dense strides, so that the good side is reached too
        order = draw(st.permutations(range(len(sizes))))
        strides, run = [0] * len(sizes), 1
        for d in order:
            strides[d], run = run, run * max(sizes[d], 1)
        return sizes, tuple(strides)
    return sizes, tuple(draw(st.integers(least_stride, 40)) for _ in sizes)


@given(layouts())
@example(((), ()))
def test_formulas_on_integers(layout):
    sizes, strides = layout
    s, t = exprs(sizes), exprs(strides)
    assert canon(sizes, strides) == model_canon(sizes, strides)
    assert canon(sizes, strides, ones_last=True)[0] is model_canon(sizes, strides)[0]
    assert p.packed_m2(s, t, NO) is model_packed(sizes, strides)
    assert p.extent(s, t, NO).value == model_extent(sizes, strides)
    assert [c.value for c in p.contiguous_strides(s, NO)] == row_major(sizes)


@given(layouts(least_stride=0))
def test_meaning_of_the_predicates(layout):
    """What the predicates claim, checked on the addresses themselves."""
    sizes, strides = layout
    s, t = exprs(sizes), exprs(strides)
    reached = addresses(sizes, strides)
    assert p.contiguous(s, t, NO) is (reached == addresses(sizes, row_major(sizes)))
    assert p.extent(s, t, NO).value == (max(reached) + 1 if reached else 0)
    if canon(sizes, strides)[0] and prod(sizes):
        assert sorted(reached) == list(range(prod(sizes)))
        assert reached == addresses(sizes, canon(sizes, strides)[1])
    capacity = const(10)
    assert p.in_bounds(s, t, const(3), capacity, NO) is all(3 + a < 10 for a in reached)
    if len(sizes) == 4:
        n, c, h, w = sizes
        nhwc = [
            ((i * h + k) * w + x) * c + j
            for i in range(n) for j in range(c) for k in range(h) for x in range(w)
        ]  # fmt: skip
        assert p.channels_last(s, t, NO) is (reached == nhwc)
    if len(sizes) == 2:
        k, n = sizes
        column = strides[0] == 1 and strides[1] != 1
        read = [j * k + i if column else i * n + j for i in range(k) for j in range(n)]
        assert p.mm_second_operand_read_right(s, t, NO) is (read == reached)


polynomials = st.sampled_from(
    [const(0), const(1), const(2), const(4), sym("a"), sym("b"), sym("a") * sym("b"), 2 * sym("a"),
     sym("a") + 1, 3 * sym("b"), sym("b") - 1, sym("a") * 4 * sym("b")]
)  # fmt: skip
size_exprs = st.sampled_from(
    [const(0), const(1), const(2), const(4), sym("a"), sym("b"), 2 * sym("a"), sym("b") - 1]
)
dims_st = st.lists(st.tuples(size_exprs, polynomials), max_size=4)
bounds_st = st.fixed_dictionaries(
    {n: st.tuples(st.integers(1, 3), st.integers(0, 3)).map(lambda t: (t[0], t[0] + t[1])) for n in "ab"}
)


@settings(max_examples=400)
@given(dims_st, bounds_st)
@example([(sym("a"), const(4)), (const(4), const(1))], {"a": (2, 4), "b": (1, 1)})
@example([(sym("a"), sym("b")), (sym("b"), const(1))], {"a": (1, 3), "b": (1, 4)})
def test_an_answer_for_all_sizes_holds_at_each(dims, bounds):
    sizes, strides = tuple(d[0] for d in dims), tuple(d[1] for d in dims)
    ranges = Ranges(bounds)
    answers = {
        "canon": p.et_canon(sizes, strides, ranges),
        "ones": p.et_canon(sizes, strides, ranges, ones_last=True),
    }
    tests = {
        "packed": p.packed_m2,
        "contiguous": p.contiguous,
        "row_major": p.row_major,
        "channels_last": p.channels_last,
        "looks_channels_last": p.looks_channels_last,
        "overlap": p.self_overlapping,
    }
    if len(dims) == 2:
        tests["second_operand"] = p.mm_second_operand_read_right
    symbolic = {name: test(sizes, strides, ranges) for name, test in tests.items()}
    extent = p.extent(sizes, strides, ranges)
    for a in range(bounds["a"][0], bounds["a"][1] + 1):
        for b in range(bounds["b"][0], bounds["b"][1] + 1):
            env = {"a": a, "b": b}
            s = exprs(evaluate(x, env) for x in sizes)
            t = exprs(evaluate(x, env) for x in strides)
            for name, test in tests.items():
                assert symbolic[name] in (None, test(s, t, NO)), (name, env)
            for name, answer in answers.items():
                here = p.et_canon(s, t, NO, ones_last=name == "ones")
                assert answer.ok in (None, here.ok), (name, env)
                if answer.strides is not None:
                    got = tuple(evaluate(x, env) for x in answer.strides)
                    assert got == tuple(x.value for x in here.strides or ()), (name, env)
            assert evaluate(extent, env) == p.extent(s, t, NO).value


def test_dynamic_sizes_are_decided():
    s = sym("s77")
    some = Ranges({"s77": (2, None)})
    sizes, strides = (s, const(5)), (const(8), const(1))
    assert p.et_canon(sizes, strides, some).ok is False
    assert p.packed_m2(sizes, strides, some) is False
    maybe_one = Ranges({"s77": (1, None)})
    assert p.et_canon(sizes, strides, maybe_one).ok is None
    assert p.packed_m2(sizes, strides, maybe_one) is None
    dense = (s, s, const(8)), (8 * s, const(8), const(1))
    assert p.et_canon(*dense, some).ok is True
    swapped = (s, sym("s21"), const(8)), (8 * sym("s21"), const(1), sym("s21"))
    both = Ranges({"s77": (2, 32), "s21": (2, 512)})
    assert p.et_canon(*swapped, both).ok is True
    assert p.row_major(*swapped, both) is False


def test_order_of_dims_that_cannot_be_compared():
    a, b = sym("a"), sym("b")
    free = Ranges({"a": (2, None), "b": (2, None)})
    assert p.et_canon((const(3), const(4)), (a, b), free) == p.Canon(None, None)
    placed_freely = p.et_canon((const(1), const(4), a), (b, a, const(1)), free)
    assert placed_freely == p.Canon(True, None)
