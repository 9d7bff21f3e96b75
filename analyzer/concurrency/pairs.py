"""Iterations that reach one element, found by enumeration at concrete sizes.

An enumeration may be cut: pairs that are found are real, pairs that are not found prove nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from math import prod
from typing import TYPE_CHECKING

from ..bounds.enumerate import grid
from ..model.kernel import Var
from ..model.record import record
from ..symbolic import Cond, Expr, const

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

#: Iterations of one access that are enumerated.
POINTS = 1 << 20
#: Elements at which pairs are looked for.
PAIRS = 64
#: Points of one space can be numbered.
SAFE = 1 << 62


@record(frozen=True)
class Points:
    """Iterations of one access: the element each reaches, and what its variables (``at``) are there."""

    element: Ints
    at: dict[str, Ints]
    extents: dict[str, int]

    def point(self, i: int) -> dict[str, int]:
        return {n: int(x[i]) for n, x in self.at.items()}

    def rank(self, names: Iterable[str]) -> Ints:
        """A number that orders the points by ``names``, the first one first."""
        import numpy as np

        out = np.zeros(self.element.shape, dtype=np.int64)
        for n in names:
            out = out * self.extents[n] + self.at[n]
        return out


def points(
    index: Expr, variables: Sequence[Var], guard: Cond, env: Mapping[str, int], wanted: Iterable[str] = ()
) -> Points | None:
    """Iterations at the sizes of ``env`` with the variables of the index, of the guard and of ``wanted``.

    None when index or guard depend on data, or the length of a loop on another one.  Of long loops only the first and the
    last iterations are looked at.
    """
    import numpy as np

    fixed = {n: const(x) for n, x in env.items()}
    index, guard = index.substitute(fixed), guard.substitute(fixed)
    used = index.symbols | guard.symbols | frozenset(wanted)
    extents: dict[str, int] = {}
    for v in variables:
        n = None if v.extent is None else v.extent.substitute(fixed).value
        if n is not None and n <= 0:
            return Points(np.zeros(0, dtype=np.int64), {}, {})
        if v.name in used:
            if n is None:
                return None
            extents[v.name] = n
    if prod(extents.values()) > SAFE:
        return None
    values = _cut(extents)
    found = grid(index, [guard], values)
    if found is None:
        return None
    element, inside = found
    where = np.flatnonzero(inside) if inside is not None else np.arange(element.size)
    place = np.unravel_index(where, element.shape) if values else ()
    at = {n: np.asarray(x)[k] for (n, x), k in zip(values.items(), place, strict=True)}
    return Points(element.reshape(-1)[where], at, extents)


def _cut(extents: Mapping[str, int]) -> dict[str, Sequence[int]]:
    """The values of every variable; of the longest ones only the two ends, so that there are few points."""
    counts = dict(extents)
    while prod(counts.values()) > POINTS:
        longest = max(counts, key=lambda n: counts[n])
        counts[longest] = (counts[longest] + 1) // 2
    out: dict[str, Sequence[int]] = {}
    for name, n in extents.items():
        tail = counts[name] // 2 if counts[name] < n else 0
        head = range(counts[name] - tail)
        out[name] = [*head, *range(n - tail, n)] if tail else head
    return out


def clashes(
    p: Points, apart: Sequence[str], values: Sequence[str], within: Sequence[str] = ()
) -> list[tuple[int, int]]:
    """Pairs of points with one element that agree on ``within`` and differ in ``apart`` and in ``values``.

    Neighbours come first.  An element that has such a pair has one among its first and last points by either.
    """
    import numpy as np

    if not len(p.element):
        return []
    home, a, v = p.rank(within), p.rank(apart), p.rank(values)
    tries: list[tuple[Ints, Ints]] = []
    ends: list[Ints] = []
    for keys in ((a, v), (v, a)):
        order = np.lexsort((*keys, home, p.element))
        e, h = p.element[order], home[order]
        new = np.flatnonzero((e[1:] != e[:-1]) | (h[1:] != h[:-1])) + 1
        same = np.setdiff1d(np.arange(1, len(order)), new, assume_unique=True)
        tries.append((order[same - 1], order[same]))
        ends += [order[np.concatenate([[0], new])], order[np.concatenate([new - 1, [len(order) - 1]])]]
    out: dict[tuple[int, int], None] = {}
    for i, j in (*tries, *combinations(ends, 2)):
        hit = np.flatnonzero((a[i] != a[j]) & (v[i] != v[j]))[:PAIRS]
        first, second = np.minimum(i[hit], j[hit]), np.maximum(i[hit], j[hit])
        out.update(dict.fromkeys(zip(first.tolist(), second.tolist(), strict=True)))
    return list(out)


def meetings(a: Points, b: Points, names: Sequence[str], both: bool) -> list[tuple[int, int]]:
    """Pairs of a point of ``a`` and one of ``b`` with one element, where that of ``b`` is earlier by ``names``.

    ``both``: earlier or later.
    """
    import numpy as np

    if not len(a.element) or not len(b.element):
        return []
    mine, theirs = a.rank(names), b.rank(names)
    order = np.lexsort((theirs, b.element))
    sorted_ = b.element[order]
    first = np.searchsorted(sorted_, a.element, side="left")
    last = np.searchsorted(sorted_, a.element, side="right") - 1
    shared = np.flatnonzero(last >= first)
    out: list[tuple[int, int]] = []
    for place, later in ((first, False), (last, True)):
        other = order[place[shared]]
        hit = theirs[other] > mine[shared] if later else theirs[other] < mine[shared]
        if both or not later:
            out += [(int(x), int(y)) for x, y in zip(shared[hit][:PAIRS], other[hit][:PAIRS], strict=True)]
    return out
