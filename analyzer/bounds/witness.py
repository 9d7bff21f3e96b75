"""A point of the original problem from a point of a piece, and its check by evaluation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product

from ..model.kernel import Var
from ..model.record import record
from ..symbolic import Cond, Expr, Op, evaluate, evaluate_cond
from .model import End, Piece
from .solve import complete, constants_of


@record(frozen=True)
class Question:
    """``0 <= offset + index < capacity`` for all ``variables`` where ``guard`` holds."""

    index: Expr
    variables: tuple[Var, ...]
    guard: Cond
    offset: Expr
    capacity: Expr


@record(frozen=True)
class Point:
    """Values at which the access is outside."""

    values: dict[str, int]
    index: int
    available: int


def outside_at(q: Question, p: Piece, end: End, sizes: Mapping[str, int]) -> Point | None:
    """The point of ``end`` as values of the question's own variables, if the access is outside there."""
    if end.point is None:
        return None
    point = complete(p, end.point)
    if point is None:
        return None
    env: dict[str, int] = dict(sizes)
    try:
        for name, e in point.items():
            env[name] = evaluate(e, sizes)
        for name, e in reversed(p.steps):
            env[name] = evaluate(e, env)
    except (KeyError, ZeroDivisionError):
        return None
    for loaded in _loaded_values(q, p, env):
        found = check(q, {**env, **loaded}, sizes)
        if found is not None:
            return found
    return None


def _loaded_values(q: Question, p: Piece, env: Mapping[str, int]) -> Iterable[dict[str, int]]:
    """Values of loaded variables at which the operations that stand for them have their values of ``env``."""
    free = sorted({n for _, op in p.atoms for n in op.symbols & p.data if n not in p.index.symbols})
    if not free:
        yield {}
        return
    if len(free) > 2:
        return
    near = {d for c in constants_of(q.index, (q.guard,)) for d in (c - 1, c, c + 1)} | {0}
    targets = {env[name] for name, _ in p.atoms}
    tries = sorted({t + d for t in targets for d in near} | near, key=lambda t: (t not in targets, abs(t)))
    for values in product(tries, repeat=len(free)):
        trial = dict(zip(free, values, strict=True))
        if all(_value(op, {**env, **trial}) == env[name] for name, op in p.atoms):
            yield trial


def _value(op: Op, env: Mapping[str, int]) -> int | None:
    try:
        value: int = evaluate(Expr({(op,): 1}), env)
    except (KeyError, ValueError, ZeroDivisionError):
        return None
    return value


def check(q: Question, env: Mapping[str, int], sizes: Mapping[str, int]) -> Point | None:
    """The point, if it is an iteration at which the original expressions put the access outside."""
    values = {**sizes, **{v.name: env.get(v.name, 0) for v in q.variables}}
    try:
        for v in q.variables:
            x = values[v.name]
            if v.extent is not None and not 0 <= x < evaluate(v.extent, values):
                return None
            if v.extent is None and ((v.lo is not None and x < v.lo) or (v.hi is not None and x > v.hi)):
                return None
        if not evaluate_cond(q.guard, values):
            return None
        index = evaluate(q.index, values)
        at = index + evaluate(q.offset, sizes)
        available = evaluate(q.capacity, sizes)
    except (KeyError, ValueError, ZeroDivisionError):
        return None
    return Point(values, index, available) if at < 0 or at >= available else None
