"""Exact sets of elements: what an access, or a strided layout, touches.

Sets are sorted runs, so that a dense write of a whole buffer is one run however large it is.  Sizes are
numbers here, except for :func:`dense_cover`, which shows for every size that nothing is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .bounds.corner import extreme
from .bounds.enumerate import count, grid
from .bounds.model import Piece
from .bounds.pieces import pieces
from .bounds.solve import Component, components
from .expr import Cond, Expr, exact_div
from .program import Var
from .ranges import Ranges

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

#: Runs or points a set may take to build.
LIMIT = 1 << 22
_FAR = 1 << 61


@dataclass(frozen=True, slots=True, eq=False)
class Footprint:
    """A set of integers as runs ``starts[i] .. ends[i]`` (both included): sorted, disjoint, not adjacent."""

    starts: Ints
    ends: Ints

    @staticmethod
    def span(first: int, last: int) -> Footprint:
        """``first .. last``; nothing when ``last < first``."""
        return _runs([first], [last]) if first <= last else _runs([], [])

    @staticmethod
    def layout(sizes: Sequence[int], strides: Sequence[int], offset: int = 0) -> Footprint | None:
        """The elements of a strided tensor; None when they take too many runs."""
        if 0 in sizes:
            return _runs([], [])
        return _sum([_Steps(s, n) for s, n in zip(strides, sizes, strict=True)], offset, LIMIT)

    @property
    def empty(self) -> bool:
        return not len(self.starts)

    @property
    def min(self) -> int:
        """The first element. Raises IndexError when there is none."""
        return int(self.starts[0])

    @property
    def max(self) -> int:
        """The last element. Raises IndexError when there is none."""
        return int(self.ends[-1])

    @property
    def count(self) -> int:
        """How many elements there are."""
        return int((self.ends - self.starts).sum()) + len(self.starts)

    @property
    def dense(self) -> bool:
        """Whether nothing is missing between the first and the last element."""
        return len(self.starts) <= 1

    def __contains__(self, element: int) -> bool:
        i = int(self.starts.searchsorted(element, side="right")) - 1
        return i >= 0 and element <= int(self.ends[i])

    def union(self, other: Footprint) -> Footprint:
        import numpy as np

        return _normal(np.concatenate([self.starts, other.starts]), np.concatenate([self.ends, other.ends]))

    def intersection(self, other: Footprint) -> Footprint:
        return _both(self, other, 3)

    def minus(self, other: Footprint) -> Footprint:
        return _both(self, other, 1)

    def intersects(self, other: Footprint) -> bool:
        return not self.intersection(other).empty

    def missing(self, other: Footprint) -> int | None:
        """The first element of ``other`` that is not in this set, None when all are."""
        left = other.minus(self)
        return None if left.empty else left.min

    def contains(self, other: Footprint) -> bool:
        return self.missing(other) is None

    def shifted(self, by: int) -> Footprint:
        return Footprint(self.starts + by, self.ends + by)

    def scaled(self, by: int) -> Footprint:
        """The bytes of these elements when each takes ``by`` bytes."""
        return _normal(self.starts * by, self.ends * by + (by - 1))


def _runs(starts: Sequence[int], ends: Sequence[int]) -> Footprint:
    import numpy as np

    return Footprint(np.asarray(starts, dtype=np.int64), np.asarray(ends, dtype=np.int64))


def _normal(starts: Ints, ends: Ints) -> Footprint:
    """Runs in any order, overlapping or not, as a footprint."""
    import numpy as np

    if len(starts) < 2:
        return Footprint(starts, ends)
    order = np.argsort(starts, kind="stable")
    starts, ends = starts[order], np.maximum.accumulate(ends[order])
    first = np.concatenate([[True], starts[1:] > ends[:-1] + 1])
    last = np.concatenate([first[1:], [True]])
    return Footprint(starts[first], ends[last])


def _both(a: Footprint, b: Footprint, keep: int) -> Footprint:
    """Where membership (1: in a, plus 2: in b) is ``keep``."""
    import numpy as np

    at = np.concatenate([a.starts, a.ends + 1, b.starts, b.ends + 1])
    step = np.repeat([1, -1, 2, -2], [len(a.starts), len(a.ends), len(b.starts), len(b.ends)])
    order = np.argsort(at, kind="stable")
    at, code = at[order], np.cumsum(step[order])
    inside = np.flatnonzero((code[:-1] == keep) & (at[1:] > at[:-1]))
    return _normal(at[inside], at[inside + 1] - 1)


# -- sums of independent parts


@dataclass(frozen=True, slots=True)
class _Steps:
    """``0, step, ..., (count-1)*step``"""

    step: int
    count: int


def _sum(parts: Sequence[_Steps | Ints], base: int, limit: int) -> Footprint | None:
    """All sums of ``base`` and one value of each part; None when they take more than ``limit`` runs."""
    import numpy as np

    progressions: list[_Steps] = []
    others: list[Ints] = []
    for p in parts:
        if isinstance(p, _Steps):
            base += min(p.step, 0) * (p.count - 1)
            progressions.append(_Steps(abs(p.step), p.count))
        else:
            others.append(p)
    if abs(base) + sum(p.step * p.count for p in progressions) > _FAR:
        return None
    out = Footprint.span(base, base)
    for s in sorted((p for p in progressions if p.step and p.count > 1), key=lambda p: p.step):
        if out.dense and s.step <= out.count:
            out = Footprint.span(out.min, out.max + s.step * (s.count - 1))
            continue
        grown = _moved(out, s.step * np.arange(s.count, dtype=np.int64) if s.count <= limit else None, limit)
        if grown is None:
            return None
        out = grown
    for values in others:
        grown = _moved(out, values, limit)
        if grown is None:
            return None
        out = grown
    return out


def _moved(a: Footprint, by: Ints | None, limit: int) -> Footprint | None:
    """The union of ``a`` moved by each value."""
    if by is None or len(by) * len(a.starts) > limit:
        return None
    return _normal((by[:, None] + a.starts).ravel(), (by[:, None] + a.ends).ravel())


# -- accesses


def footprint(index: Expr, vars: tuple[Var, ...], guard: Cond, limit: int = LIMIT) -> Footprint | None:
    """Exactly the elements that ``index`` reaches where ``guard`` holds.

    None when that is not exactly known: a size is not a number, the guard or the index depends on data, or
    the set takes more than ``limit`` runs or points.
    """
    data = {v.name for v in vars if v.extent is None}
    if guard.has_opaque() or data & (index.symbols | guard.symbols):
        return None
    names = {v.name for v in vars}
    if any(v.extent is not None and not v.extent.symbols <= names for v in vars):
        return None
    if not (index.symbols | guard.symbols) <= names:
        return None
    out = Footprint.span(0, -1)
    for p in pieces(index, vars, guard, Ranges()):
        part = _of_piece(p, limit)
        if part is None:
            return None
        out = out.union(part)
    return out


def _of_piece(p: Piece, limit: int) -> Footprint | None:
    constant, parts = components(p)
    base = constant.value
    values: list[_Steps | Ints] = []
    for c in parts:
        steps = _steps(c, p)
        if steps is not None:
            values.append(_Steps(steps.step, steps.count))
            base = None if base is None else base + steps.first
            continue
        found = _values(c, p, limit)
        if found is None:
            return None
        if not len(found):
            return Footprint.span(0, -1)
        values.append(found)
    return None if base is None else _sum(values, base, limit)


@dataclass(frozen=True, slots=True)
class _Line:
    first: int
    step: int
    count: int


def _steps(c: Component, p: Piece) -> _Line | None:
    """A component that is one variable times a number, without guards."""
    if c.guards or len(c.names) != 1 or len(c.part.terms) != 1:
        return None
    ((mono, step),) = c.part.terms.items()
    lo, hi = p.box[c.names[0]]
    if mono != c.names or lo is None or hi is None or lo.value is None or hi.value is None:
        return None
    return _Line(step * lo.value, step, hi.value - lo.value + 1)


def _values(c: Component, p: Piece, limit: int) -> Ints | None:
    """The values of a component, by enumeration."""
    import numpy as np

    spans = {}
    points = 1
    for v in c.names:
        lo, hi = p.box[v]
        if lo is None or hi is None or lo.value is None or hi.value is None:
            return None
        spans[v] = range(lo.value, hi.value + 1)
        points *= count(spans[v])
    if points > limit:
        return None
    found = grid(c.part, c.guards, spans)
    if found is None:
        return None
    index, mask = found
    return np.unique(index if mask is None else index[mask])


# -- coverage for every size


def dense_cover(index: Expr, vars: tuple[Var, ...], guard: Cond, ranges: Ranges) -> tuple[Expr, Expr] | None:
    """``(first, last)`` when every element from first to last is touched and no other, whatever the size.

    At sizes without any iteration ``last < first``.  None when that can't be shown.
    """
    if guard.has_opaque() or any(v.extent is None and v.name in index.symbols | guard.symbols for v in vars):
        return None
    found = pieces(index, vars, guard, ranges)
    covers = [_cover(p, ranges) for p in found]
    if not covers or covers[0] is None:
        return None
    lo, hi = covers[0]
    if all(
        c is not None and ranges.equal(c[0], lo) is True and ranges.equal(c[1], hi) is True for c in covers
    ):
        return lo, hi
    exact = footprint(index, vars, guard)
    if exact is None or exact.empty or not exact.dense:
        return None
    zero = Expr({})
    return zero + exact.min, zero + exact.max


def _cover(p: Piece, ranges: Ranges) -> tuple[Expr, Expr] | None:
    constant, parts = components(p)
    digits = [_digit(c, p) for c in parts]
    first = constant
    left: list[tuple[Expr, Expr]] = []
    for d in digits:
        if d is None:
            return None
        first = first + d[0]
        left.append((d[1], d[2]))
    span = Expr({})
    while left:
        # the smallest step must not be longer than what is covered so far
        fits = next((d for d in left if p.sizes.nonneg(span + 1 - d[0]) is True), None)
        if fits is None:
            return None
        left.remove(fits)
        span = span + fits[0] * fits[1]
    if not all(_vanishes(span + 1, need, ranges) for need in p.needs):
        return None
    return first, first + span


def _vanishes(count: Expr, need: Expr, ranges: Ranges) -> bool:
    """Whether ``count`` is 0 at every size at which ``need >= 0`` fails."""
    if ranges.nonneg(need) is True:
        return True
    if ranges.nonneg(need + 1) is True and exact_div(count, need + 1) is not None:
        return True
    return ranges.assuming([-need - 1]).nonneg(-count) is True


def _digit(c: Component, p: Piece) -> tuple[Expr, Expr, Expr] | None:
    """``(least, step, steps)`` of a component whose values are evenly spaced."""
    if c.guards or len(c.names) != 1:
        return None
    (v,) = c.names
    lo, hi = p.box[v]
    if lo is None or hi is None or any(m.count(v) != 1 for m in c.part.terms):
        return None
    step = Expr({tuple(a for a in m if a != v): k for m, k in c.part.terms.items()})
    if v in step.symbols:
        return None
    low = extreme(c.part, False, p.box, p.sizes).value
    if p.sizes.nonneg(step) is not True:
        step = -step
    if low is None or p.sizes.nonneg(step) is not True:
        return None
    return low, step, hi - lo
