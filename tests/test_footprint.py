"""Footprints against sets of integers, and the layouts that models have."""

from __future__ import annotations

from random import Random

import bounds_cases as cases
import pytest
from aoti_lint.analyzer.expr import TRUE, as_expr, ceildiv, compare, evaluate, floordiv, mod, opaque, sym
from aoti_lint.analyzer.footprint import Footprint, dense_cover, footprint
from aoti_lint.analyzer.footprint_race import Collision, injective
from aoti_lint.analyzer.program import Var
from aoti_lint.analyzer.ranges import Ranges
from hypothesis import given, settings
from hypothesis import strategies as st

x, y, k, lane = (sym(n) for n in ("x", "y", "k", "lane"))
s27, s77 = sym("s27"), sym("s77")
SIZES = Ranges({"s27": (0, 512), "s77": (0, None)})
seeds = st.integers(0, (1 << 48) - 1)


def grid(**extents: object) -> tuple[Var, ...]:
    return tuple(Var(n, as_expr(e), "grid") for n, e in extents.items())  # type: ignore[arg-type]


def elements(f: Footprint) -> set[int]:
    return {i for a, b in zip(f.starts.tolist(), f.ends.tolist(), strict=True) for i in range(a, b + 1)}


def of(values: set[int]) -> Footprint:
    out = Footprint.span(0, -1)
    for v in values:
        out = out.union(Footprint.span(v, v))
    return out


@settings(deadline=None)
@given(st.sets(st.integers(0, 20)), st.sets(st.integers(0, 20)))
def test_set_operations(a: set[int], b: set[int]) -> None:
    fa, fb = of(a), of(b)
    assert elements(fa) == a and fa.count == len(a)
    assert elements(fa.union(fb)) == a | b
    assert elements(fa.intersection(fb)) == a & b
    assert elements(fa.minus(fb)) == a - b
    assert fa.intersects(fb) == bool(a & b)
    assert fa.contains(fb) == (b <= a)
    assert fa.missing(fb) == min(b - a, default=None)
    assert all((i in fa) == (i in a) for i in range(-1, 22))
    assert elements(fa.shifted(5)) == {i + 5 for i in a}
    assert elements(fa.scaled(4)) == {4 * i + j for i in a for j in range(4)}


def test_runs_are_merged() -> None:
    f = Footprint.span(0, 3).union(Footprint.span(4, 7))
    assert f.dense and (f.min, f.max, f.count) == (0, 7, 8)


@settings(max_examples=cases.EXAMPLES, deadline=None)
@given(st.sampled_from([cases.concrete, cases.mixed_radix]), seeds)
def test_access_against_brute_force(kind: object, seed: int) -> None:
    case = kind(Random(seed))  # type: ignore[operator]
    f = footprint(case.index, case.vars, case.guard)
    assert f is not None
    assert elements(f) == {evaluate(case.index, p) for p in cases.points(case, {})}


@settings(max_examples=cases.EXAMPLES, deadline=None)
@given(st.sampled_from([cases.symbolic_view, cases.symbolic_loop, cases.symbolic, cases.mixed_radix]), seeds)
def test_cover_against_brute_force(kind: object, seed: int) -> None:
    case = kind(Random(seed))  # type: ignore[operator]
    if cases.divides_by_zero(case):
        return
    cover = dense_cover(case.index, case.vars, case.guard, case.ranges)
    if cover is None:
        return
    for env in case.envs:
        first, last = (evaluate(e, env) for e in cover)
        assert {evaluate(case.index, p) for p in cases.points(case, env)} == set(range(first, last + 1))


@settings(max_examples=cases.EXAMPLES, deadline=None)
@given(st.sampled_from([*cases.KINDS]), seeds)
def test_injective_against_brute_force(kind: object, seed: int) -> None:
    r = Random(seed)
    case = kind(r)  # type: ignore[operator]
    if cases.divides_by_zero(case):
        return
    over = frozenset(v.name for v in case.vars if v.extent is not None and r.random() < 0.7)
    found = injective(case.index, case.vars, case.guard, case.ranges, over)
    if isinstance(found, Collision):
        for p in (found.first, found.second):
            assert cases.is_iteration(case, p) and evaluate(case.index, p) == found.index
        assert any(found.first[n] != found.second[n] for n in over)
        assert all(found.first[n] == found.second[n] for n in case.ranges.bounds if n in found.first)
    elif found:
        for env in case.envs:
            seen: dict[int, tuple[int, ...]] = {}
            for p in cases.points(case, env):
                who = tuple(p[n] for n in sorted(over))
                assert seen.setdefault(evaluate(case.index, p), who) == who


# -- what models do


def test_dense_write_takes_one_run() -> None:
    n = 10**8
    digits = mod(x, 1000) + 1000 * mod(floordiv(x, 1000), 1000) + 10**6 * floordiv(x, 10**6)
    for index in (x, digits):
        f = footprint(index, grid(x=n), TRUE)
        assert f is not None and f.dense and f.count == n


def test_channel_slices_of_a_cat_add_up() -> None:
    # four slices of 32 channels in a channels-last buffer {1,128,80,80}: 6400 pixels of 128 channels
    parts = [footprint(y + 128 * x + 32 * i, grid(y=32, x=6400), TRUE) for i in range(4)]
    whole = Footprint.layout([1, 128, 80, 80], [819200, 1, 10240, 128])
    assert whole is not None and whole.dense and whole.count == 819200
    written = Footprint.span(0, -1)
    for p in parts[:3]:
        assert p is not None and p.count == 204800 and not p.dense
        written = written.union(p)
    assert written.missing(whole) == 96  # the first element of the slice nobody filled
    assert parts[3] is not None
    assert written.union(parts[3]).contains(whole)


def test_layouts() -> None:
    expanded = Footprint.layout([4, 3], [0, 1], 5)
    assert expanded is not None and elements(expanded) == {5, 6, 7}
    flipped = Footprint.layout([4], [-2], 10)
    assert flipped is not None and elements(flipped) == {4, 6, 8, 10}
    none = Footprint.layout([4, 0], [1, 1])
    assert none is not None and none.empty
    scalar = Footprint.layout([], [], 3)
    assert scalar is not None and elements(scalar) == {3}


def test_unknown_footprints() -> None:
    assert footprint(x, grid(x=4), opaque("mask")) is None
    assert footprint(sym("t"), (*grid(x=4), Var("t", None, "data")), TRUE) is None
    assert footprint(x, grid(x=s27), TRUE) is None
    assert footprint(2 * x, grid(x=10**8), TRUE) is None  # 10^8 runs


def test_empty_footprints() -> None:
    for f in (
        footprint(x, grid(x=0), TRUE),
        footprint(x, grid(x=5, y=0), TRUE),
        footprint(x, grid(x=5), compare(">", x, 7)),
    ):
        assert f is not None and f.empty and f.count == 0


@pytest.mark.parametrize(
    ("index", "vars", "guard", "cover"),
    [
        (x + s27 * y, grid(x=s27, y=s77), TRUE, (0, s27 * s77 - 1)),
        # the same grid, with an extent that does not reach the index: nothing at all runs when it is 0
        (x, grid(x=5, y=s77), TRUE, None),
        (2 * x, grid(x=s27), TRUE, None),
        (mod(x, s27) + s27 * floordiv(x, s27) + 7, grid(x=s27 * s77), TRUE, (7, s27 * s77 + 6)),
        # vector loop over s27 elements: the full blocks, then the rest
        (16 * k + lane, grid(k=ceildiv(s27, 16), lane=16), compare("<", 16 * k, 16 * floordiv(s27, 16)),
         (0, 16 * floordiv(s27, 16) - 1)),
        (16 * k + lane, grid(k=ceildiv(s27, 16), lane=s27 - 16 * floordiv(s27, 16)),
         compare("<", 16 * k, s27) & compare(">=", 16 * k, 16 * floordiv(s27, 16)), (16 * floordiv(s27, 16), s27 - 1)),
    ],
)  # fmt: skip
def test_dense_cover(index: object, vars: tuple[Var, ...], guard: object, cover: object) -> None:
    found = dense_cover(index, vars, guard, SIZES)  # type: ignore[arg-type]
    assert found == cover


def test_races() -> None:
    both = frozenset({"x", "y"})
    assert injective(y + 128 * x, grid(y=32, x=6400), TRUE, SIZES, both) is True
    # rows 16 apart, 32 long
    met = injective(y + 16 * x, grid(y=32, x=6400), TRUE, SIZES, both)
    assert isinstance(met, Collision) and met.first != met.second
    # every y writes the same row, one after the other if y is a loop
    assert injective(x, grid(x=5, y=6), TRUE, SIZES, frozenset({"x"})) is True
    assert isinstance(injective(x, grid(x=5, y=6), TRUE, SIZES, both), Collision)
    assert injective(x, grid(x=5, y=6), compare("==", y, 0), SIZES, both) is True
    assert injective(mod(x, s27) + 2 * s27 * floordiv(x, s27), grid(x=s27 * s77), TRUE, SIZES, both) is True
    assert injective(mod(x + 3, 10) + 10 * floordiv(x, 10), grid(x=995), TRUE, SIZES, both) is True
    assert injective(x - mod(x, 2), grid(x=6), opaque("mask"), SIZES, both) is None
