"""What kernels do with the packed copies a runtime makes of views.

A generated kernel indexes with the strides it was compiled for.  In the copy, position ``p`` holds the
element the view has at row-major position ``p``; the kernel means the element ``p`` of the view's memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .expr import evaluate, evaluate_cond
from .facts import CallFact, Fact, LaunchFact, OutputFact, Verdict, ViewFact
from .memory import Storage, Tensor
from .program import Var
from .ranges import Ranges

if TYPE_CHECKING:
    import numpy as np

    from .analysis import Analysis, Body

#: Points of an iteration space looked at when a misread is searched for.
POINTS = 1 << 21


@dataclass(frozen=True, slots=True)
class Misread:
    """An iteration at which a kernel reads another element than it means.

    ``index`` is the position in the copy, ``holds`` the element (relative to the view's start) found there.
    """

    witness: dict[str, int]
    index: int
    holds: int


def copies(analysis: Analysis) -> dict[Storage, ViewFact]:
    """Storages that are packed copies, with the view each was made for."""
    return {f.tensor.storage: f for f in analysis.facts(ViewFact) if f.outcome.kind == "copy"}


def misread(v: Verdict, ranges: Ranges) -> Misread | None:
    """A point at which a load from a copy is in bounds and gives the wrong element, re-evaluated; or None."""
    of = v.storage.of
    if of is None or v.index is None or of.sizes is None or of.meant_strides is None:
        return None
    names = (
        v.index.symbols | v.guard.symbols | _symbols(v.vars) | _layout_symbols(of)
    ) & ranges.bounds.keys()
    for sizes in ranges.samples(names) if names else [{}]:
        found = _misread_at(v, of, sizes)
        if found is not None:
            return found
    return None


def _symbols(vars_: tuple[Var, ...]) -> frozenset[str]:
    return frozenset().union(*(v.extent.symbols for v in vars_ if v.extent is not None))


def _layout_symbols(t: Tensor) -> frozenset[str]:
    return frozenset().union(*(e.symbols for e in (*(t.sizes or ()), *(t.meant_strides or ()))))


def _misread_at(v: Verdict, of: Tensor, env: dict[str, int]) -> Misread | None:
    import numpy as np

    assert v.index is not None and of.sizes is not None and of.meant_strides is not None
    grid = _grid(v.vars, env)
    if grid is None:
        return None
    try:
        index = np.asarray(evaluate(v.index, grid))
        inside = np.asarray(evaluate_cond(v.guard, grid))
    except (ValueError, ZeroDivisionError, KeyError):
        return None  # the guard or the index depends on data
    start = int(evaluate(v.start, env)) if v.start.symbols else v.start.value or 0
    index, inside = np.broadcast_arrays(index + start, inside)
    sizes = [int(evaluate(s, env)) for s in of.sizes]
    strides = [int(evaluate(s, env)) for s in of.meant_strides]
    count = int(np.prod(sizes)) if sizes else 1
    inside = inside & (index >= 0) & (index < count)
    wrong = inside & (_element(index, sizes, strides) != index)
    if not wrong.any():
        return None
    at = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
    point = dict(env)
    for name, values in grid.items():
        if name not in env:
            spread = np.broadcast_to(values, wrong.shape)
            point[name] = int(spread[at])
    position = int(evaluate(v.index, point)) + start
    holds = int(_element(np.asarray(position), sizes, strides))
    return Misread(point, position, holds) if holds != position else None


def _element(position: np.ndarray, sizes: list[int], strides: list[int]) -> np.ndarray:
    """Element of the view's memory that row-major position ``position`` of its copy holds."""
    import numpy as np

    out = np.zeros_like(position)
    for size, stride in zip(reversed(sizes), reversed(strides), strict=True):
        if size > 0:
            out = out + (position % size) * stride
            position = position // size
    return out


def _grid(vars_: tuple[Var, ...], env: dict[str, int]) -> dict[str, Any] | None:
    """Every variable as a broadcastable range; a long one is cut, as any point will do."""
    import numpy as np

    extents: list[int] = []
    for v in vars_:
        if v.extent is None:
            return None
        extents.append(max(int(evaluate(v.extent, env)), 0))
    budget = POINTS
    grid: dict[str, Any] = dict(env)
    for axis, (v, n) in enumerate(zip(vars_, extents, strict=True)):
        rest = int(np.prod([min(m, 64) for m in extents[axis + 1 :]])) if axis + 1 < len(extents) else 1
        take = min(n, max(64, budget // max(rest, 1)))
        budget //= max(take, 1)
        shape = [1] * len(vars_)
        shape[axis] = take
        grid[v.name] = np.arange(take, dtype=np.int64).reshape(shape)
    return grid


def used_later(body: Body, root: Storage, after: int) -> Fact | None:
    """The first fact after ``after`` that uses memory of ``root`` itself (not through a copy)."""
    for fact in body.facts:
        if fact.seq <= after:
            continue
        if isinstance(fact, LaunchFact):
            tensors = tuple(fact.args.values())
        elif isinstance(fact, CallFact):
            tensors = fact.operands
        elif isinstance(fact, OutputFact):
            tensors = () if fact.tensor is None else (fact.tensor,)
        else:
            continue
        if any(t.storage is root or root in t.storage.parts for t in tensors):
            return fact
    return None


def writers(body: Body, storage: Storage) -> list[tuple[LaunchFact | CallFact, Tensor, Verdict | None]]:
    """Launches and calls that write a storage: through which tensor, and for a launch by which access."""
    from .ops import writes

    out: list[tuple[LaunchFact | CallFact, Tensor, Verdict | None]] = []
    seen: set[tuple[int, str]] = set()
    for v in body.verdicts:
        key = (id(v.launch), v.param.name)
        if v.storage is storage and v.access.kind != "load" and key not in seen:
            seen.add(key)
            out.append((v.launch, v.tensor, v))
    for fact in body.facts:
        if isinstance(fact, CallFact):
            for t in writes(fact.event.op, fact.args) or ():
                if t.storage is storage:
                    out.append((fact, t, None))
    return out
