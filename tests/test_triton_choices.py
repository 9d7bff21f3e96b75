"""One Triton kernel under several compile-time choices: what holds for all of them, and what only for some."""

from __future__ import annotations

import pytest
from aoti_lint.analyzer.analysis import bind
from aoti_lint.analyzer.bounds import decide
from aoti_lint.analyzer.kernels.triton.reader import TritonLauncher, find_launchers
from aoti_lint.analyzer.model.kernel import Access
from aoti_lint.analyzer.symbolic import TRUE, const
from aoti_lint.analyzer.symbolic.assumptions import Ranges
from triton_cases import accesses, lower, wrapper

BODY = """
    for k in range(tl.cdiv(n, BT)):
        i = k * BT + tl.arange(0, BT)
        tl.store(y + i, tl.load(x + i), mask=i < n)
"""


def tuned(body: str, blocks: list[int], grid: str = "1L") -> TritonLauncher:
    """A kernel tuned over ``blocks`` of BT, all with the same grid."""
    configs = ", ".join(f"{{'BT': {b}, 'num_warps': {w}}}" for b in blocks for w in (2, 4))
    text = wrapper(body, "x:f y:f n:n BT:c", (grid, "1L", "1L"), heuristic="user_autotune")
    text = text.replace("size_hints={'x': 64},", f"configs=[{configs}],")
    return next(iter(find_launchers(text, "w.cpp").values()))


def statuses(a: Access, capacity: int, **env: int) -> list[str]:
    """The status under the first choice and under the others."""
    values = {k: const(v) for k, v in env.items()} | {"grid.0": const(1)}
    out = []
    for choice in (a, *(x.access for x in a.alternatives)):
        if choice is None:
            out.append("absent")
            continue
        index, vars_, guard = bind(choice, values)
        assert index is not None
        out.append(decide(index, vars_, guard, const(0), const(capacity), Ranges()).status)
    return out


def test_every_configuration_in_the_text_is_read() -> None:
    # rounds of 32 over 200 elements end at 224, of 64 at 256
    launcher = tuned(BODY, [32, 64])
    (load,) = accesses(launcher, "x")
    assert [x.given for x in load.alternatives] == ["BT = 64"] and not load.widest
    assert statuses(load, 200, n=200) == ["fault", "fault"]
    assert statuses(load, 224, n=200) == ["proved", "fault"]
    assert statuses(load, 256, n=200) == ["proved", "proved"]
    (store,) = accesses(launcher, "y")
    assert statuses(store, 200, n=200) == ["proved", "proved"]


def test_an_access_that_only_one_configuration_makes() -> None:
    body = """
    i = tl.arange(0, BT)
    if BT > 32:
        tl.store(y + i + 1000, 0.0)
    tl.store(y + i, 0.0)
    """
    plain, extra = accesses(tuned(body, [32, 64]), "y")
    assert statuses(plain, 64) == ["proved", "proved"]
    assert statuses(extra, 100) == ["fault", "absent"]
    first, second = accesses(tuned(body, [64, 32]), "y")
    assert statuses(first, 100) == ["fault", "absent"] and statuses(second, 64) == ["proved", "proved"]


def test_a_block_size_that_is_not_in_the_text_is_tried_at_both_ends() -> None:
    body = """
    xindex = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)
    tl.store(y + xindex, 0.0)
    """
    # two programs of up to 64, the largest the size hint allows, and of 1
    launcher = lower(body, "y:f xnumel:n XBLOCK:c", ("2", "1", "1"))
    (store,) = accesses(launcher, "y")
    assert store.widest and [x.given for x in store.alternatives] == ["XBLOCK = 1"]
    for capacity, expected in ((128, ["proved", "proved"]), (100, ["fault", "proved"]), (1, ["fault"] * 2)):
        values = {"grid.0": const(2)}
        found = []
        for choice in (store, store.alternatives[0].access):
            assert choice is not None
            index, vars_, guard = bind(choice, values)
            assert index is not None and guard == TRUE
            found.append(decide(index, vars_, guard, const(0), const(capacity), Ranges()).status)
        assert found == expected


@pytest.mark.parametrize("blocks", [[], [2**k for k in range(40)]])
def test_no_choice_or_too_many(blocks: list[int]) -> None:
    launcher = tuned(BODY, blocks)
    assert all(a.index is None and "chosen by tuning" in (a.reason or "") for a in launcher.kernel.accesses)
