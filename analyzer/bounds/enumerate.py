"""Exact ends by evaluating an expression at every point of a small box (numpy)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

from ..symbolic import Cond, Expr, evaluate, evaluate_cond

Values = Mapping[str, Sequence[int]]
#: Values and partial results beyond this could overflow 64-bit arithmetic.
_SAFE = 1 << 61


def extremes(
    e: Expr, guards: Sequence[Cond], values: Values, limit: int
) -> tuple[dict[str, int], dict[str, int]] | bool | None:
    """Points where ``e`` is smallest and largest among those that pass the guards.

    False when no point passes; None when there are more than ``limit`` points or a value can't be computed.
    """
    if prod(count(v) for v in values.values()) > limit:
        return None
    found = grid(e, guards, values)
    if found is None:
        return None
    index, mask = found
    import numpy as np

    if mask is not None:
        where = np.flatnonzero(mask)
        if not len(where):
            return False
        index = index.ravel()[where]
        low, high = int(where[index.argmin()]), int(where[index.argmax()])
    else:
        low, high = int(index.argmin()), int(index.argmax())
    shape = tuple(len(v) for v in values.values())
    return _point(low, shape, values), _point(high, shape, values)


def count(values: Sequence[int]) -> int:
    """How many values there are; ``len`` of a range fails beyond 64 bits."""
    return max(values.stop - values.start, 0) if isinstance(values, range) else len(values)


def _point(flat: int, shape: tuple[int, ...], values: Values) -> dict[str, int]:
    out = {}
    for (name, v), n in zip(reversed(list(values.items())), reversed(shape), strict=True):
        flat, k = divmod(flat, n)
        out[name] = int(v[k])
    return out


def grid(e: Expr, guards: Sequence[Cond], values: Values) -> tuple[Any, Any] | None:
    """``e`` and the guards' truth at every point, as full arrays; the truth is None where it always holds.

    None when a value could overflow, divides by zero or depends on something that has no value.
    """
    import numpy as np

    size = {n: max((abs(v[0]), abs(v[-1])), default=0) for n, v in values.items()}
    if magnitude(e, size) > _SAFE or any(_cond_magnitude(g, size) > _SAFE for g in guards):
        return None
    shape = tuple(len(v) for v in values.values())
    env: dict[str, Any] = {}
    for i, (name, v) in enumerate(values.items()):
        axis = [1] * len(shape)
        axis[i] = shape[i]
        env[name] = np.asarray(v, dtype=np.int64).reshape(axis)
    try:
        index = np.broadcast_to(np.asarray(evaluate(e, env), dtype=np.int64), shape)
        mask = None
        for g in guards:
            truth = np.broadcast_to(np.asarray(evaluate_cond(g, env), dtype=bool), shape)
            mask = truth if mask is None else mask & truth
    except (KeyError, ValueError, ZeroDivisionError):
        return None
    return index, mask


def magnitude(e: Expr, size: Mapping[str, int]) -> int:
    """A bound on the absolute value of ``e`` and of everything computed on the way to it."""
    total = 0
    for mono, c in e.terms.items():
        term = abs(c)
        for atom in mono:
            if isinstance(atom, str):
                term *= max(size.get(atom, 1), 1)
            else:
                inner = max((magnitude(a, size) for a in atom.args), default=0)
                if atom.cond is not None:
                    inner = max(inner, _cond_magnitude(atom.cond, size))
                term *= max(inner, 1)
        total += term
    return total


def _cond_magnitude(c: Cond, size: Mapping[str, int]) -> int:
    if c.expr is not None:
        return magnitude(c.expr, size)
    return max((_cond_magnitude(a, size) for a in c.args), default=0)
