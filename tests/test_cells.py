"""Cells against plain lists: sets of elements marked, searched, gathered and joined."""

from __future__ import annotations

from itertools import product

import pytest
from aoti_lint.analyzer.bounds.footprint import Box, Elements, normal
from aoti_lint.analyzer.memory import byte_map
from aoti_lint.analyzer.memory.byte_map import Cells, above, those
from hypothesis import given
from hypothesis import strategies as st

SIZE = 400
DIMS = st.lists(st.tuples(st.integers(1, 6), st.integers(1, 12)), max_size=3)


@st.composite
def boxes(draw: st.DrawFn) -> Box:
    dims = draw(DIMS)
    box = normal(draw(st.integers(0, 150)), dims)
    assert box is not None
    return box


def of(b: Box) -> list[int]:
    return [
        b.start + sum(i * s for i, (_, s) in zip(at, b.dims, strict=True))
        for at in product(*(range(n) for n, _ in b.dims))
    ]


@pytest.fixture(params=[1, 1 << 14], ids=["numpy", "slices"], autouse=True)
def both_ways(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(byte_map, "_SLICES", request.param)


def same(cells: Cells, model: list[int]) -> bool:
    return [cells[i] for i in range(len(model))] == model


STEPS = st.lists(st.tuples(boxes(), st.integers(0, 4)), max_size=8)


@given(STEPS, boxes(), st.integers(0, 4))
def test_the_last_value_set_is_found(steps: list[tuple[Box, int]], asked: Box, least: int) -> None:
    cells, model = Cells(SIZE), [0] * SIZE
    for box, value in steps:
        cells.set(Elements([box]), value)
        for i in of(box):
            model[i] = value
    assert same(cells, model)
    for table, counts in ((those(least), lambda v: v == least), (above(least), lambda v: v > least)):
        hits = [i for i in of(asked) if counts(model[i])]
        assert cells.ends(Elements([asked]), table) == ((min(hits), max(hits)) if hits else None)


@given(STEPS, DIMS, st.integers(0, 150), STEPS)
def test_gather_packs_a_view_and_join_adds_to_it(steps, dims, start, more) -> None:  # type: ignore[no-untyped-def]
    cells = Cells(SIZE)
    for box, value in steps:
        cells.set(Elements([box]), value)
    sizes, strides = [n for n, _ in dims], [s for _, s in dims]
    index = [
        start + sum(i * s for i, s in zip(at, strides, strict=True)) for at in product(*map(range, sizes))
    ]
    packed = cells.gather(sizes, strides, start)
    assert same(packed, [cells[i] for i in index])
    other = Cells(SIZE)
    for box, _ in more:
        other.set(Elements([box]), 1)
    ours = Cells(len(index))
    ours.join(other.gather(sizes, strides, start))
    assert same(ours, [other[i] for i in index])


def test_a_set_that_is_the_whole_needs_no_bytes() -> None:
    cells = Cells(1 << 40)
    cells.set(Elements([Box(0, ((1 << 40, 1),))]), 3)
    assert cells[12345] == 3
    assert cells.ends(Elements([Box(7, ((5, 2),))]), those(3)) == (7, 15)
    assert cells.ends(Elements([]), those(3)) is None
