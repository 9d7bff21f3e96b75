"""The exact set of elements an access touches, at concrete sizes.

A set is a union of boxes (a start and (count, stride) pairs) where the index is linear over a box of
iterations, and of enumerated points otherwise.  Everything is in elements of the accessed type.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..model.kernel import Var
from ..model.record import field, record
from ..symbolic import Cond, Expr, const, evaluate, evaluate_cond
from ..symbolic.assumptions import Ranges
from .pieces import pieces

if TYPE_CHECKING:
    import numpy as np

#: Points one access may have to be enumerated.
POINTS = 1 << 23


@record(frozen=True)
class Box:
    """Elements ``start + sum(k_i * stride_i)`` for ``0 <= k_i < count_i``; strides are positive."""

    start: int
    dims: tuple[tuple[int, int], ...]

    @property
    def last(self) -> int:
        return self.start + sum((n - 1) * s for n, s in self.dims)


@record
class Elements:
    """A set of element indices."""

    boxes: list[Box] = field(default_factory=list)
    points: list[np.ndarray] = field(default_factory=list)

    @property
    def empty(self) -> bool:
        return not self.boxes and not any(p.size for p in self.points)

    def shifted(self, by: int) -> Elements:
        return Elements([Box(b.start + by, b.dims) for b in self.boxes], [p + by for p in self.points])

    def spread(self, by: int) -> Elements:
        """The same memory in units that are ``by`` times smaller."""
        if by == 1:
            return self
        import numpy as np

        boxes = [
            b for x in self.boxes if (b := normal(x.start * by, [*((n, s * by) for n, s in x.dims), (by, 1)]))
        ]
        points = [(p[:, None] * by + np.arange(by, dtype=p.dtype)).reshape(-1) for p in self.points]
        return Elements(boxes, points)

    def fits(self, size: int) -> bool:
        return all(b.start >= 0 and b.last < size for b in self.boxes) and all(
            not p.size or (int(p.min()) >= 0 and int(p.max()) < size) for p in self.points
        )

    @property
    def ends(self) -> tuple[int, int]:
        """First and last element. Raises ValueError when the set is empty."""
        points = [p for p in self.points if p.size]
        return (
            min([b.start for b in self.boxes] + [int(p.min()) for p in points]),
            max([b.last for b in self.boxes] + [int(p.max()) for p in points]),
        )


def normal(start: int, dims: list[tuple[int, int]]) -> Box | None:
    """A box with positive strides, adjoining dimensions merged; None when a count is zero."""
    kept: list[tuple[int, int]] = []
    for n, s in dims:
        if n <= 0:
            return None
        if n == 1 or s == 0:
            continue
        if s < 0:
            start, s = start + (n - 1) * s, -s
        kept.append((n, s))
    kept.sort(key=lambda d: d[1])
    out: list[tuple[int, int]] = []
    for n, s in kept:
        if out and s == out[-1][0] * out[-1][1]:
            out[-1] = (out[-1][0] * n, out[-1][1])
        elif out and s <= out[-1][0] * out[-1][1] and s % out[-1][1] == 0:
            # overlapping steps of one run make one longer run
            m, t = out[-1]
            out[-1] = (m + (n - 1) * (s // t), t)
        else:
            out.append((n, s))
    return Box(start, tuple(reversed(out)) or ((1, 1),))


def elements(index: Expr, variables: tuple[Var, ...], guard: Cond, env: Mapping[str, int]) -> Elements | None:
    """The elements touched at the sizes of ``env``; None when they depend on data or are too many."""
    if guard.has_opaque():
        return None
    fixed = {n: const(x) for n, x in env.items()}
    index, guard = index.substitute(fixed), guard.substitute(fixed)
    if guard.kind == "const" and not guard.truth:
        return Elements()
    if not (index.symbols | guard.symbols) <= {v.name for v in variables}:
        return None  # a scalar the launch does not give
    bound: list[Var] = []
    for v in variables:
        extent = None if v.extent is None else v.extent.substitute(fixed).value
        if extent is None:
            if v.name in index.symbols or v.name in guard.symbols:
                return None
            continue
        if extent <= 0:
            return Elements()
        if v.name in index.symbols or v.name in guard.symbols:
            bound.append(Var(v.name, const(extent), v.kind))
    out = Elements()
    for p in pieces(index, tuple(bound), guard, Ranges()):
        box = None if p.guards else _box(p.index, p.box)
        if box is None:
            points = _enumerate(index, bound, guard)
            return None if points is None else Elements([], [points])
        if box is not _NOTHING:
            out.boxes.append(box)
    return out


_NOTHING = Box(0, ())


def _box(index: Expr, ends: Mapping[str, tuple[Expr | None, Expr | None]]) -> Box | None:
    """The box of a linear index over a box of variables; ``_NOTHING`` when a range is empty."""
    start, dims = index.constant, []
    linear = {m[0]: c for m, c in index.terms.items() if len(m) == 1 and isinstance(m[0], str)}
    if len(linear) + bool(index.constant) != len(index.terms) or not linear.keys() <= ends.keys():
        return None
    for name, (lo, hi) in ends.items():
        a, b = (None if lo is None else lo.value), (None if hi is None else hi.value)
        if a is None or b is None:
            return None
        if b < a:
            return _NOTHING
        c = linear.get(name, 0)
        start += c * a
        dims.append((b - a + 1, c))
    return normal(start, dims)


def grid_of(variables: list[Var], limit: int) -> dict[str, object] | None:
    """Every variable as a broadcastable array over its extent; None when the space is larger than ``limit``."""
    import numpy as np

    counts = [v.extent.value or 0 for v in variables if v.extent is not None]
    total = 1
    for n in counts:
        total *= n
    if total > limit:
        return None
    grid: dict[str, object] = {}
    for axis, (v, n) in enumerate(zip(variables, counts, strict=True)):
        shape = [1] * len(variables)
        shape[axis] = n
        grid[v.name] = np.arange(n, dtype=np.int64).reshape(shape)
    return grid


def _enumerate(index: Expr, variables: list[Var], guard: Cond) -> np.ndarray | None:
    import numpy as np

    grid = grid_of(variables, POINTS)
    if grid is None:
        return None
    try:
        values, inside = np.broadcast_arrays(evaluate(index, grid), evaluate_cond(guard, grid))
    except (ZeroDivisionError, ValueError, OverflowError):
        return None
    found: np.ndarray = values[inside]
    if not found.size:
        return found
    least, spread = int(found.min()), int(found.max()) - int(found.min()) + 1
    if spread > 8 * found.size:
        return np.unique(found)
    seen = np.zeros(spread, dtype=bool)  # much faster than sorting
    seen[found - least] = True
    return np.flatnonzero(seen) + least


def point_at(
    index: Expr, variables: tuple[Var, ...], guard: Cond, env: Mapping[str, int], target: int
) -> dict[str, int] | None:
    """Values of the variables at which the access touches ``target``; None when none was found."""
    import numpy as np

    fixed = {n: const(x) for n, x in env.items()}
    bound = [Var(v.name, v.extent.substitute(fixed), v.kind) for v in variables if v.extent is not None]
    index, guard = index.substitute(fixed), guard.substitute(fixed)
    used = [v for v in bound if v.name in index.symbols or v.name in guard.symbols]
    grid = grid_of(used, POINTS)
    if grid is None:
        return None
    try:
        values, inside = np.broadcast_arrays(evaluate(index, grid), evaluate_cond(guard, grid))
    except (ZeroDivisionError, ValueError, OverflowError):
        return None
    hits = np.argwhere((values == target) & inside)
    if not len(hits):
        return None
    return {v.name: int(x) for v, x in zip(used, hits[0], strict=True)}
