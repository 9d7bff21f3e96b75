"""Conditions on vectors: from one lane to "some lane", and from one lane to another.

``mask.all_zero()`` asks all lanes of a vector.  Masks are comparisons of ``start + lane`` with bounds, so
"some lane" is found by eliminating the lane from linear inequalities, which is exact for unit steps.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...symbolic import Cond, Expr, compare, const, floordiv
from .values import LANE


def some_lane(c: Cond, width: int, varying: frozenset[str]) -> Cond | None:
    """The condition that ``c`` holds for one of the lanes ``0 .. width-1``; None when not expressible.

    ``varying`` are the symbols and opaque names, other than the lane itself, that differ between lanes.
    """
    if not _varies(c, varying):
        return c
    if c.kind == "or":
        parts = [some_lane(a, width, varying) for a in c.args]
        return None if None in parts else Cond.join("or", [p for p in parts if p is not None])
    fixed = [a for a in c.conjuncts() if not _varies(a, varying)]
    moving = [a for a in c.conjuncts() if _varies(a, varying)]
    for i, a in enumerate(moving):
        if a.kind == "or" and len(a.args) <= 4:
            rest = moving[:i] + moving[i + 1 :]
            parts = [some_lane(Cond.join("and", [x, *rest]), width, varying) for x in a.args]
            if None in parts:
                return None
            return Cond.join("and", [*fixed, Cond.join("or", [p for p in parts if p is not None])])
    found = _eliminate(moving, width, varying)
    return None if found is None else Cond.join("and", [*fixed, found])


def _eliminate(conds: Iterable[Cond], width: int, varying: frozenset[str]) -> Cond | None:
    """Fourier-Motzkin elimination of the lane from a conjunction."""
    lows: list[Expr] = [const(0)]
    highs: list[Expr] = [const(width - 1)]
    for c in conds:
        if c.kind not in ("ge", "eq") or c.expr is None or c.symbols & varying:
            return None
        split = _linear(c.expr)
        if split is None:
            return None
        k, rest = split
        # k*lane + rest >= 0
        if k > 0:
            lows.append(-floordiv(rest, k))
        else:
            highs.append(floordiv(rest, -k))
        if c.kind == "eq":
            if abs(k) != 1:
                return None
            highs.append(-rest) if k > 0 else lows.append(rest)
    return Cond.join("and", [compare("<=", a, b) for a in lows for b in highs])


def _linear(e: Expr) -> tuple[int, Expr] | None:
    """(factor of the lane, the rest) when the lane occurs once, outside operations."""
    rest = {m: c for m, c in e.terms.items() if m != (LANE,)}
    out = Expr(rest)
    if LANE in out.symbols:
        return None
    return e.terms[(LANE,)], out


def _varies(c: Cond, varying: frozenset[str]) -> bool:
    if LANE in c.symbols or c.symbols & varying:
        return True
    return any(n in varying for n in opaque_names(c))


def opaque_names(c: Cond) -> list[str]:
    """Names of the opaque parts of a condition, those inside selections of its expressions excluded."""
    if c.kind == "opaque":
        return [c.name]
    return [n for a in c.args for n in opaque_names(a)] if c.args else []


def within(number: Expr, n: Expr, then: Cond, beyond: Cond) -> Cond:
    """``number < n ? then : beyond``."""
    below = compare("<", number, n)
    if beyond.kind == "const" and beyond.truth:
        return then | ~below
    return (below & then) | (~below & beyond)


def implied(cond: Cond, facts: Iterable[Cond]) -> bool:
    """Whether every conjunct of ``cond`` is among ``facts``."""
    have = set(facts)
    return all(c in have for c in cond.conjuncts())
