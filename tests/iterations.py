"""Every iteration of an access, by trying all values of its variables: what symbolic answers are held against."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from aoti_lint.analyzer.model.kernel import Access
from aoti_lint.analyzer.symbolic import evaluate, evaluate_cond


def points(access: Access, data: Mapping[str, range] | None = None, **env: int) -> list[int]:
    """Every index an access touches, in order of its variables.

    ``env`` gives sizes, scalars and grids; ``data`` the values tried for variables that come from memory,
    within the range the kernel states of them (all of that range where ``data`` names none).
    """
    assert access.index is not None
    return [evaluate(access.index, at) for at in iterations(access, env, data or {})]


def iterations(
    access: Access, env: Mapping[str, int], data: Mapping[str, range], known: int = 0
) -> Iterator[dict[str, int]]:
    """Values of all variables where the guard holds; those of the first ``known`` variables are in ``env``."""
    if known == len(access.vars):
        if evaluate_cond(access.guard, env):
            yield dict(env)
        return
    v = access.vars[known]
    values = _loaded(v.name, v.lo, v.hi, data) if v.extent is None else range(evaluate(v.extent, env))
    for n in values:
        yield from iterations(access, {**env, v.name: n}, data, known + 1)


def _loaded(name: str, low: int | None, high: int | None, data: Mapping[str, range]) -> range:
    tried = data.get(name)
    if tried is None:
        assert low is not None and high is not None, f"no values for {name}"
        return range(low, high + 1)
    return range(
        tried.start if low is None else max(tried.start, low),
        tried.stop if high is None else min(tried.stop, high + 1),
    )
