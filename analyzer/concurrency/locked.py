"""Accesses that a lock keeps apart."""

from __future__ import annotations

from collections.abc import Mapping

from ..memory.trace import Verdict
from ..symbolic import evaluate


def kept_apart(
    a: Verdict, first: Mapping[str, int], b: Verdict, second: Mapping[str, int], sizes: Mapping[str, int]
) -> bool:
    """Whether iteration ``first`` of one access and ``second`` of another hold the same element of one lock."""
    mine, theirs = a.access.lock, b.access.lock
    if mine is None or theirs is None or mine.param != theirs.param:
        return False
    scalars = a.launch.scalars
    try:
        at = evaluate(mine.index.substitute(scalars), {**sizes, **first})
        return bool(at == evaluate(theirs.index.substitute(scalars), {**sizes, **second}))
    except (KeyError, ValueError, ZeroDivisionError):
        return False
