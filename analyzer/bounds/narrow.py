"""Whether values computed in few bits fit their type at a launch: what a proof about an index takes for granted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..model.kernel import Narrow, Var
from ..symbolic import TRUE, Cond, Expr, const
from ..symbolic.assumptions import Ranges
from .ladder import index_range


def wrapping(
    taken: Iterable[Narrow], vars_: tuple[Var, ...], env: Mapping[str, Expr], ranges: Ranges
) -> Narrow | None:
    """The first of ``taken`` that is not known to fit; ``vars_`` are bound, ``env`` binds the rest.

    A dynamic size without an upper bound is taken to be small enough.
    """
    return next((n for n in taken if not fits(n, vars_, env, ranges)), None)


def fits(n: Narrow, vars_: tuple[Var, ...], env: Mapping[str, Expr], ranges: Ranges) -> bool:
    value, path = n.value.substitute(env), n.path.substitute(env)
    used = variables(n, vars_, env)
    inside = [v for v in used if v.name in value.symbols]
    return (
        endless(value, inside, ranges)
        or _between(n, value, tuple(inside), TRUE, ranges)
        or (path != TRUE and _between(n, value, used, path, ranges))
    )


def variables(n: Narrow, vars_: tuple[Var, ...], env: Mapping[str, Expr]) -> tuple[Var, ...]:
    """The variables of the access it belongs to, and its own."""
    own = (
        v if v.extent is None else Var(v.name, v.extent.substitute(env), v.kind, v.lo, v.hi, v.loop)
        for v in n.vars
    )
    return (*vars_, *own)


def endless(value: Expr, vars_: Iterable[Var], ranges: Ranges) -> bool:
    """Whether a size in it has no upper bound."""
    extents = [v.extent.symbols for v in vars_ if v.extent is not None]
    symbols = value.symbols.union(*extents)
    return any(ranges.bounds[s][1] is None for s in symbols & ranges.bounds.keys())


def _between(n: Narrow, value: Expr, vars_: tuple[Var, ...], path: Cond, ranges: Ranges) -> bool:
    found = index_range(value, vars_, path, ranges)
    if found.empty:
        return True
    low, high = found.min, found.max
    return (
        low is not None
        and high is not None
        and ranges.nonneg(low - n.low) is True
        and ranges.nonneg(const(n.high) - high) is True
    )
