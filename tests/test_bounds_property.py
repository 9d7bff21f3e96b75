"""Verdicts and ranges against brute force, on random expressions over small sizes.

The number of cases of each kind is ``BOUNDS_EXAMPLES`` (environment), a few hundred without it.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import bounds_cases as cases
import pytest
from aoti_lint.analyzer.bounds import Decision, IndexRange, decide, index_range
from aoti_lint.analyzer.symbolic import evaluate
from hypothesis import event, given, settings
from hypothesis import strategies as st

#: Kinds of cases with so few points and no sizes that nothing can stay unknown.
DECIDED = (cases.concrete, cases.mixed_radix)


@pytest.mark.parametrize("kind", cases.KINDS, ids=lambda k: k.__name__)
@settings(max_examples=cases.EXAMPLES, deadline=None)
@given(seed=st.integers(0, (1 << 48) - 1))
def test_against_brute_force(kind: Callable[[Random], cases.Case], seed: int) -> None:
    case = kind(Random(seed))
    if cases.divides_by_zero(case):
        return
    r = index_range(case.index, case.vars, case.guard, case.ranges)
    d = decide(case.index, case.vars, case.guard, case.offset, case.capacity, case.ranges)
    event(f"{kind.__name__}: {d.status}{', exact' if r.exact else ''}")
    inside = _check_range(case, r)
    _check_decision(case, d, inside)
    assert d.status != "unknown" or kind not in DECIDED


def _check_range(case: cases.Case, r: IndexRange) -> bool:
    """Whether the access is inside at every size that is tried."""
    inside = True
    assert not r.exact or r.empty or (r.min is not None and r.max is not None)
    for env in case.envs:
        at = cases.points(case, env)
        if not at:
            continue
        assert not r.empty
        reached = [evaluate(case.index, p) for p in at]
        if r.min is not None:
            low = evaluate(r.min, env)
            assert low == min(reached) if r.exact else low <= min(reached), (env, r, min(reached))
        if r.max is not None:
            high = evaluate(r.max, env)
            assert high == max(reached) if r.exact else high >= max(reached), (env, r, max(reached))
        offset, capacity = evaluate(case.offset, env), evaluate(case.capacity, env)
        inside = inside and all(0 <= offset + i < capacity for i in reached)
    return inside


def _check_decision(case: cases.Case, d: Decision, inside: bool) -> None:
    if d.status == "unknown":
        assert d.reason
    if d.status != "fault":
        assert inside or d.status == "unknown"
        return
    w = d.witness
    assert w is not None and d.index is not None and d.available is not None
    for v in case.vars:
        assert v.extent is not None or (
            (v.lo is None or v.lo <= w[v.name]) and (v.hi is None or w[v.name] <= v.hi)
        )
    assert cases.is_iteration(case, w)
    assert d.index == evaluate(case.index, w) and d.available == evaluate(case.capacity, w)
    assert not 0 <= d.index + evaluate(case.offset, w) < d.available
