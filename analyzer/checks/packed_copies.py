"""What kernels do with the packed copies a runtime makes of views.

A generated kernel indexes with the strides it was compiled for.  In the copy, position ``p`` holds the
element the view has at row-major position ``p``; the kernel means the element ``p`` of the view's memory.
"""

from __future__ import annotations

from itertools import islice, product
from math import prod
from typing import TYPE_CHECKING, Any, TypeAlias

from ..bounds.footprint import Elements, elements
from ..memory.byte_map import Cells
from ..memory.storage import Storage, Tensor
from ..memory.trace import CallFact, Fact, LaunchFact, OutputFact, Verdict, ViewFact
from ..model.kernel import Var
from ..model.record import record
from ..symbolic import evaluate, evaluate_cond

if TYPE_CHECKING:
    from ..analysis import Analysis, Body

#: Sizes and strides of a view, in elements.
_Layout: TypeAlias = tuple[list[int], list[int]]

#: Points of an iteration space looked at when a misread is searched for.
POINTS = 1 << 21
#: Points looked at one by one before that.
FIRST = 256


@record(frozen=True)
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


def misread(v: Verdict, analysis: Analysis) -> Misread | None:
    """A point at which a load from a copy is in bounds and gives the wrong element, re-evaluated; or None.

    What an earlier launch stored into the copy is what was meant: it was indexed with the same strides.
    """
    of, ranges = v.storage.of, analysis.ranges
    if of is None or v.index is None or of.sizes is None or of.meant_strides is None:
        return None
    stores = _stores_before(v, analysis)
    if stores is None:
        return None
    names = (
        v.index.symbols | v.guard.symbols | _symbols(v.vars) | _layout_symbols(of)
    ) & ranges.bounds.keys()
    for sizes in ranges.samples(names) if names else [{}]:
        found = _misread_at(v, of, stores, sizes)
        if found is not None:
            return found
    return None


def _stores_before(v: Verdict, analysis: Analysis) -> list[Verdict] | None:
    """Stores into the copy by launches before this one, or in one loop with it; None when not all are known."""
    found: list[Verdict] = []
    for body in analysis.bodies:

        def before(fact: LaunchFact, body: Body = body) -> bool:
            ends = sorted((fact.seq, v.launch.seq))
            return fact.seq < v.launch.seq or any(a <= ends[0] and ends[1] < b for a, b in body.loops)

        for fact in body.facts:
            if isinstance(fact, LaunchFact) and any(t.storage is v.storage for t in fact.args.values()):
                unread = fact.kernel is None or fact.event.reason or fact.kernel.unmodelled
                if unread and before(fact):
                    return None
        found += [
            w
            for w in body.verdicts
            if w.storage is v.storage and w.access.kind != "load" and before(w.launch)
        ]
    return found


def _symbols(vars_: tuple[Var, ...]) -> frozenset[str]:
    return frozenset().union(*(v.extent.symbols for v in vars_ if v.extent is not None))


def _layout_symbols(t: Tensor) -> frozenset[str]:
    return frozenset().union(*(e.symbols for e in (*(t.sizes or ()), *(t.meant_strides or ()))))


def _replaced(stores: list[Verdict], size: int, env: dict[str, int]) -> Cells | None:
    """1 where a store went, among at least ``size`` elements; None when that depends on data."""
    sets: list[Elements] = []
    for w in stores:
        found = None if w.index is None else elements(w.index, w.vars, w.guard, env)
        if found is None:
            return None
        found = found.shifted(int(evaluate(w.start, env)))
        if not found.empty:
            sets.append(found)
    if not sets:
        return Cells(size)
    ends = [e.ends for e in sets]
    last = max(size - 1, *(hi for _, hi in ends))
    if last >= POINTS or any(lo < 0 for lo, _ in ends):
        return None
    cells = Cells(last + 1)
    for e in sets:
        cells.set(e, 1)
    return cells


def _misread_at(v: Verdict, of: Tensor, stores: list[Verdict], env: dict[str, int]) -> Misread | None:
    assert v.index is not None and of.sizes is not None and of.meant_strides is not None
    extents: dict[str, int] = {}
    for var in v.vars:
        if var.extent is None:
            return None
        extents[var.name] = max(int(evaluate(var.extent, env)), 0)
    start = int(evaluate(v.start, env))
    layout = [int(evaluate(s, env)) for s in of.sizes], [int(evaluate(s, env)) for s in of.meant_strides]
    try:
        replaced = _replaced(stores, prod(layout[0]), env)
        if replaced is None:
            return None
        return _at_first(v, layout, start, replaced, extents, env) or _anywhere(
            v, layout, start, replaced, extents, env
        )
    except (ValueError, ZeroDivisionError, KeyError):
        return None  # the guard or the index depends on data


def _at(v: Verdict, layout: _Layout, start: int, replaced: Cells, point: dict[str, int]) -> Misread | None:
    assert v.index is not None
    position = int(evaluate(v.index, point)) + start
    if not 0 <= position < prod(layout[0]) or replaced[position]:
        return None
    holds = int(_element(position, *layout))
    return Misread(point, position, holds) if holds != position else None


def _at_first(
    v: Verdict, layout: _Layout, start: int, replaced: Cells, extents: dict[str, int], env: dict[str, int]
) -> Misread | None:
    """Among the first iterations, where most misreads show."""
    for values in islice(product(*map(range, extents.values())), FIRST):
        point = {**env, **dict(zip(extents, values, strict=True))}
        if evaluate_cond(v.guard, point) and (found := _at(v, layout, start, replaced, point)) is not None:
            return found
    return None


def _anywhere(
    v: Verdict, layout: _Layout, start: int, replaced: Cells, extents: dict[str, int], env: dict[str, int]
) -> Misread | None:
    import numpy as np

    assert v.index is not None
    grid = _grid(extents, env)
    index, inside = np.broadcast_arrays(
        np.asarray(evaluate(v.index, grid)) + start, np.asarray(evaluate_cond(v.guard, grid))
    )
    inside = inside & (index >= 0) & (index < prod(layout[0]))
    wrong = inside & (_element(index, *layout) != index)
    wrong &= replaced.at(np.where(inside, index, 0)) == 0
    if not wrong.any():
        return None
    at = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
    point = dict(env)
    for name in extents:
        point[name] = int(np.broadcast_to(grid[name], wrong.shape)[at])
    return _at(v, layout, start, replaced, point)


def _element(position: Any, sizes: list[int], strides: list[int]) -> Any:
    """Element of the view's memory that a row-major position (or array of positions) of its copy holds."""
    out = position * 0
    for size, stride in zip(reversed(sizes), reversed(strides), strict=True):
        if size > 0:
            out = out + (position % size) * stride
            position = position // size
    return out


def _grid(extents: dict[str, int], env: dict[str, int]) -> dict[str, Any]:
    """Every variable as a broadcastable range; a long one is cut, as any point will do."""
    import numpy as np

    budget = POINTS
    grid: dict[str, Any] = dict(env)
    for axis, (name, n) in enumerate(extents.items()):
        rest = prod(min(m, 64) for m in list(extents.values())[axis + 1 :])
        take = min(n, max(64, budget // max(rest, 1)))
        budget //= max(take, 1)
        shape = [1] * len(extents)
        shape[axis] = take
        grid[name] = np.arange(take, dtype=np.int64).reshape(shape)
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
    from ..memory.ops import writes

    out: list[tuple[LaunchFact | CallFact, Tensor, Verdict | None]] = []
    seen: set[tuple[int, str]] = set()
    for v in body.verdicts:
        key = (id(v.launch), v.param.name)
        if v.storage is storage and v.access.kind != "load" and key not in seen:
            seen.add(key)
            out.append((v.launch, v.tensor, v))
    for fact in body.facts:
        if isinstance(fact, CallFact):
            for t in writes(fact.event, fact.args) or ():
                if t.storage is storage:
                    out.append((fact, t, None))
    return out
