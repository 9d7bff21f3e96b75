"""Concurrent iterations that meet at one element, against brute force and on the layouts that models have."""

from __future__ import annotations

from random import Random

import bounds_cases as cases
from aoti_lint.analyzer.concurrency.injective import Collision, injective
from aoti_lint.analyzer.model.kernel import Var
from aoti_lint.analyzer.symbolic import TRUE, as_expr, compare, evaluate, floordiv, mod, opaque, sym
from aoti_lint.analyzer.symbolic.assumptions import Ranges
from hypothesis import given, settings
from hypothesis import strategies as st

x, y, k, lane = (sym(n) for n in ("x", "y", "k", "lane"))
s27, s77 = sym("s27"), sym("s77")
SIZES = Ranges({"s27": (0, 512), "s77": (0, None)})
seeds = st.integers(0, (1 << 48) - 1)


def grid(**extents: object) -> tuple[Var, ...]:
    return tuple(Var(n, as_expr(e), "grid") for n, e in extents.items())  # type: ignore[arg-type]


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
