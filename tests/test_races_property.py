"""Races and meetings against brute force over all pairs of iterations of small random accesses.

The number of cases is ``BOUNDS_EXAMPLES`` (environment), a few hundred without it.
"""

from __future__ import annotations

import itertools
import os
from random import Random

import bounds_cases
from aoti_lint.analyzer.concurrency.conflicts import common, meet
from aoti_lint.analyzer.concurrency.write_races import rivals
from aoti_lint.analyzer.model.kernel import Var
from aoti_lint.analyzer.symbolic import TRUE, Cond, Expr, evaluate, evaluate_cond
from aoti_lint.analyzer.symbolic.assumptions import Ranges
from hypothesis import given, settings
from hypothesis import strategies as st
from race_cases import access, aliased, launch, var

EXAMPLES = int(os.environ.get("BOUNDS_EXAMPLES", "250"))


def all_points(index: Expr, variables: list[Var], guard: Cond) -> list[tuple[int, dict[str, int]]]:
    out = []
    for at in itertools.product(*(range(v.extent.value or 0) for v in variables if v.extent is not None)):
        env = dict(zip((v.name for v in variables), at, strict=True))
        if evaluate_cond(guard, env):
            out.append((evaluate(index, env), env))
    return out


def drawn(r: Random) -> tuple[Expr, list[Var], Cond]:
    """An index, its variables of random kinds, and a guard."""
    names = ("x0", "x1", "x2")
    kinds = r.choices(["grid", "loop", "lane"], k=3)
    variables = [var(n, r.randint(1, 5), k) for n, k in zip(names, kinds, strict=True)]
    index = bounds_cases.linear(r, names) if r.random() < 0.5 else bounds_cases.expression(r, names, (), 2)
    return index, variables, bounds_cases.condition(r, names) if r.random() < 0.5 else TRUE


def conflict(p: dict[str, int], q: dict[str, int], variables: list[Var], values: set[str]) -> bool:
    """Whether two iterations are concurrent and can have different values, by the definition."""
    differ = {v.name: v.kind for v in variables if p[v.name] != q[v.name]}
    concurrent = "grid" in differ.values() or ("lane" in differ.values() and "loop" not in differ.values())
    return concurrent and any(n in values and k != "loop" for n, k in differ.items())


@settings(max_examples=EXAMPLES, deadline=None)
@given(seed=st.integers(0, (1 << 48) - 1))
def test_races_against_brute_force(seed: int) -> None:
    r = Random(seed)
    index, variables, guard = drawn(r)
    values = {v.name for v in variables if r.random() < 0.7}
    try:
        everything = all_points(index, variables, guard)
    except ZeroDivisionError:
        return
    expected = any(
        e == f and conflict(p, q, variables, values)
        for (e, p), (f, q) in itertools.combinations(everything, 2)
    )
    group = launch([access("store", "out", index, variables, values, guard)])
    found = rivals(group[0], group, Ranges(), everything=False)
    assert (found is not None) == expected
    if found is not None:
        full = [{**{v.name: 0 for v in variables}, **k} for k in (found.first, found.second)]
        assert conflict(full[0], full[1], variables, values)
        assert all(evaluate(index, k) == found.element and evaluate_cond(guard, k) for k in full)


@settings(max_examples=EXAMPLES, deadline=None)
@given(seed=st.integers(0, (1 << 48) - 1))
def test_meetings_against_brute_force(seed: int) -> None:
    r = Random(seed)
    parallel = r.randint(0, 2)
    outer = [var(f"x{i}", r.randint(2, 4), "parallel" if i < parallel else "loop", i + 1) for i in range(2)]
    accesses = []
    for n in range(2):
        inner = var("x2", r.randint(2, 4), "loop", 10 + n)
        names = ("x0", "x1", "x2")
        index = (
            bounds_cases.linear(r, names) if r.random() < 0.6 else bounds_cases.expression(r, names, (), 2)
        )
        guard = bounds_cases.condition(r, names) if r.random() < 0.3 else TRUE
        accesses.append((index, [*outer, inner], guard))
    try:
        mine, theirs = (all_points(*a) for a in accesses)
    except ZeroDivisionError:
        return

    def before(p: dict[str, int], q: dict[str, int]) -> bool:
        """Whether the iteration of q may come first."""
        for v in outer:
            if p[v.name] != q[v.name]:
                return v.kind == "parallel" or q[v.name] < p[v.name]
        return False

    expected = any(e == f and before(p, q) for e, p in mine for f, q in theirs)
    src, dst = aliased(0, 0)
    group = launch(
        [
            access(k, n, i, v, guard=g)
            for k, n, (i, v, g) in zip(("load", "store"), "pq", accesses, strict=True)
        ],
        {"p": src, "q": dst},
        "cpp",
    )
    assert [v.name for v in common(*group)] == ["x0", "x1"]
    found = meet(*group, Ranges(), in_order=True)
    assert bool(found) == expected
    for m in found:
        assert before(m.first, m.second)
