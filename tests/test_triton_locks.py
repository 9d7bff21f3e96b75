"""What stands under a spin lock of a Triton kernel, and what does not."""

from __future__ import annotations

import pytest
from aoti_lint.analyzer.model.kernel import Lock
from aoti_lint.analyzer.symbolic import mod, sym
from triton_cases import accesses, lower

WAIT = "while tl.atomic_cas(lk, 0, 1) == 1: pass"
STORE = "tl.store(p, r)"
FREE = "tl.debug_barrier(); tl.atomic_xchg(lk, 0)"
HEAD = "r = tl.program_id(0)\nlk = lock + r % 4\np = out + r % 4\n"
GRID = ("8", "1", "1")


def locks(*lines: str) -> list[Lock | None]:
    launcher = lower(HEAD + "\n".join(lines), "out:f lock:i", GRID)
    return [a.lock for a in accesses(launcher, "out", "store")]


def test_stores_between_are_under_the_lock() -> None:
    held = Lock("lock", mod(sym("pid0"), 4))
    assert locks(WAIT, STORE, FREE) == [held]
    assert locks(WAIT.replace("== 1", "!= 0"), "if r > 2:", "    " + STORE, FREE) == [held]
    assert locks(WAIT, STORE, "tl.atomic_xchg(lk + 4, 1)", STORE, FREE) == [held, held]  # a counter beside it
    assert locks(STORE, WAIT, STORE, FREE, STORE) == [None, held, None]
    assert locks("for i in range(3):", "    " + WAIT, "    " + STORE, "    " + FREE) == [held]


@pytest.mark.parametrize(
    "lines",
    [
        (STORE, FREE),  # never acquired
        (WAIT, STORE),  # never released
        (WAIT, STORE, "tl.atomic_xchg(lk, 0)"),  # other threads may still be at the store
        (WAIT, STORE, "tl.debug_barrier(); tl.atomic_xchg(lk + 1, 0)"),  # another lock
        (WAIT, STORE, "tl.debug_barrier(); tl.atomic_xchg(lk, 1)"),  # stays taken, yet that is no release
        (WAIT.replace("0, 1", "1, 1"), STORE, FREE),  # waits until it is taken
        (WAIT.replace("== 1", "== 0"), STORE, FREE),
        ("tl.atomic_cas(lk, 0, 1)", STORE, FREE),  # does not wait
        ("if r > 2:", "    " + WAIT, STORE, FREE),  # not all programs wait
        (WAIT, "for i in range(3):", "    " + STORE, "    tl.debug_barrier()", "    tl.atomic_xchg(lk, 0)"),
        (WAIT, "tl.atomic_xchg(lk, 0)", STORE, FREE),  # free when it stores
        (WAIT, "tl.store(lk, 0)", STORE, FREE),
    ],
)
def test_what_a_lock_does_not_keep_apart(lines: tuple[str, ...]) -> None:
    assert locks(*lines) == [None]
