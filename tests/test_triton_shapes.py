"""Triton blocks in another shape or order. Each expected index comes from numpy doing what the operation says."""

from __future__ import annotations

import numpy as np
import pytest
from triton_cases import accesses, lower, points

N = 16
ROW = np.arange(N)


def stored(body: str) -> list[int]:
    """The indices of the stores: ``64 * value + place`` tells which value stands where."""
    launcher = lower(body, "y:f x:i n:n", ("1", "1", "1"))
    return sorted(p for a in accesses(launcher, "y") for p in points(launcher, a, n=N))


def placed(value: np.ndarray) -> list[int]:
    """``64 * value + place`` of a block in row-major order."""
    return sorted((64 * value.ravel() + np.arange(value.size)).tolist())


FLAT = "tl.store(y + 64 * v + tl.arange(0, {n}), 0.0)"
GRID = "r = tl.arange(0, {r})[:, None] * {c} + tl.arange(0, {c})[None, :]\n    tl.store(y + 64 * v + r, 0.0)"


def flat(n: int) -> str:
    return FLAT.format(n=n)


def grid(r: int, c: int) -> str:
    return GRID.format(r=r, c=c)


CASES: list[tuple[str, str, np.ndarray]] = [
    ("tl.reshape(i, (4, 4))", grid(4, 4), ROW.reshape(4, 4)),
    ("tl.reshape(i, (2, 8))", grid(2, 8), ROW.reshape(2, 8)),
    ("i.reshape(8, 2)", grid(8, 2), ROW.reshape(8, 2)),
    ("tl.trans(tl.reshape(i, (2, 8)))", grid(8, 2), ROW.reshape(2, 8).T),
    ("tl.permute(tl.reshape(i, (2, 8)), (1, 0))", grid(8, 2), ROW.reshape(2, 8).T),
    ("tl.reshape(tl.trans(tl.reshape(i, (2, 8))), (4, 4))", grid(4, 4), ROW.reshape(2, 8).T.reshape(4, 4)),
    ("tl.ravel(tl.trans(tl.reshape(i, (4, 4))))", flat(16), ROW.reshape(4, 4).T.ravel()),
    ("tl.reshape(tl.permute(tl.reshape(i, (2, 2, 4)), (2, 0, 1)), (16,))", flat(16),
     ROW.reshape(2, 2, 4).transpose(2, 0, 1).ravel()),
    ("tl.view(i, (1, 16, 1)).reshape(16)", flat(16), ROW),
    ("tl.interleave(i, 20 + i)", flat(32), np.stack([ROW, 20 + ROW], -1).ravel()),
    ("tl.interleave(2 * i, 2 * i + 1)", flat(32), np.arange(32)),
    ("tl.interleave(i, 3 * i)", flat(32), np.stack([ROW, 3 * ROW], -1).ravel()),
    ("tl.reshape(tl.join(i, i * 2), (32,))", flat(32), np.stack([ROW, 2 * ROW], -1).ravel()),
    ("tl.cat(i, i + 16, can_reorder=True)", flat(32), np.arange(32)),
    ("tl.cat(i, 2 * i, can_reorder=True)", flat(32), np.concatenate([ROW, 2 * ROW])),
    ("tl.flip(i)", flat(16), ROW[::-1]),
    ("tl.flip(tl.reshape(i, (4, 4)), 0)", grid(4, 4), ROW.reshape(4, 4)[::-1]),
    ("tl.split(tl.reshape(i, (8, 2)))[0]", flat(8), ROW[0::2]),
    ("tl.split(tl.reshape(i, (8, 2)))[1]", flat(8), ROW[1::2]),
    ("tl.split(tl.join(i, i + 16))[1]", flat(16), ROW + 16),
]  # fmt: skip


@pytest.mark.parametrize(("value", "store", "expected"), CASES, ids=[c[0] for c in CASES])
def test_elements_in_their_new_places(value: str, store: str, expected: np.ndarray) -> None:
    assert stored(f"    i = tl.arange(0, 16)\n    v = {value}\n    {store}\n") == placed(expected)


def test_pairs_and_masks_move_with_their_blocks() -> None:
    body = """
    i = tl.arange(0, 16)
    even, odd = tl.split(tl.reshape(i < 5, (8, 2)))
    tl.store(y + tl.arange(0, 8), 0.0, mask=even)
    tl.store(y + 100 + tl.arange(0, 8), 0.0, mask=odd)
    """
    assert stored(body) == [0, 1, 2, 100, 101]


def test_groups_of_rows() -> None:
    body = """
    i, j = tl.swizzle2d(tl.program_id(0), tl.program_id(1), 5, 4, 2)
    tl.store(y + i * 100 + j, 0.0)
    """
    launcher = lower(body, "y:f", ("5", "4", "1"))
    (store,) = accesses(launcher, "y")
    # every tile once, each in its own place; the last group has one row
    assert points(launcher, store) == sorted(i * 100 + j for i in range(5) for j in range(4))


#: What is only known by its range: (expression, smallest, largest).
RANGES: list[tuple[str, int, int]] = [
    ("tl.argmax(f, 0)", 0, 15), ("tl.argmin(f, 0)", 0, 15), ("tl.max(i, 0)", 0, 15), ("tl.min(i + 3, 0)", 3, 18),
    ("tl.sum(i, 0)", 0, 240), ("tl.max(f, 0, return_indices=True)[1]", 0, 15), ("tl.sort(i)", 0, 15),
    ("tl.gather(i * 2, tl.load(x + i), 0)", 0, 30), ("tl.histogram(tl.load(x + i), 16)", 0, 16),
    ("tl.sum((i < n).to(tl.int32), 0)", 0, 16), ("tl.argmax(tl.reshape(f, (2, 8)), 1)", 0, 7),
]  # fmt: skip


@pytest.mark.parametrize(("value", "low", "high"), RANGES, ids=[r[0] for r in RANGES])
def test_values_that_are_known_by_their_range(value: str, low: int, high: int) -> None:
    body = f"""
    i = tl.arange(0, 16)
    f = tl.load(y + i)
    v = {value}
    tl.store(y + v, 0.0)
    """
    (store,) = accesses(lower(body, "y:f x:i n:n", ("1", "1", "1")), "y", "store")
    (data,) = (v for v in store.vars if v.kind == "data")
    assert (data.lo, data.hi) == (low, high)


@pytest.mark.parametrize("name", ["cumsum", "xor_sum"])
def test_values_of_which_nothing_is_known(name: str) -> None:
    body = f"    i = tl.arange(0, 16)\n    tl.store(y + tl.{name}(i, 0), 0.0)\n"
    (store,) = accesses(lower(body, "y:f", ("1", "1", "1")), "y")
    assert any(v.kind == "data" for v in store.vars)
