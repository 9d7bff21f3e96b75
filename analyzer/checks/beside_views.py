"""Kernels that read, through a view with gaps, what is in the gaps."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import TYPE_CHECKING

from ..bounds.footprint import Elements, elements, normal
from ..memory.byte_map import Cells, those
from ..memory.storage import Tensor
from ..memory.trace import Verdict
from ..model.record import record
from ..symbolic import Expr, evaluate
from ..symbolic.sampling import sizes_to_try

if TYPE_CHECKING:
    from ..analysis import Analysis

#: Largest storage that is looked at, elements.
_MOST = 1 << 22


@record(frozen=True)
class Beside:
    """``verdict`` reads elements ``first`` to ``last`` of the storage, which the view it was given does not have."""

    verdict: Verdict
    first: int
    last: int
    sizes: dict[str, int]


def reads_beside(analysis: Analysis) -> Iterator[Beside]:
    """The first such load of each launch and parameter, at small sizes; Triton kernels only: others get no view."""
    seen: set[tuple[int, str]] = set()
    for v in analysis.verdicts:
        kernel, key = v.launch.kernel, (id(v.launch), v.param.name)
        if v.access.kind != "load" or v.index is None or kernel is None or kernel.dialect != "triton":
            continue
        if key in seen or not v.tensor.view or v.decision.status != "proved":
            continue
        for env in sizes_to_try(analysis.ranges):
            found = _beside(v, env)
            if found is not None:
                seen.add(key)
                yield found
                break


def _beside(v: Verdict, env: dict[str, int]) -> Beside | None:
    view, size, start = _elements(v.tensor, env), _number(v.capacity, env), _number(v.start, env)
    if view is None or size is None or start is None or not 0 < size <= _MOST or not view.fits(size):
        return None
    assert v.index is not None
    read = elements(v.index, v.vars, v.guard & v.access.used.substitute(v.launch.scalars), env)
    if read is None or not read.shifted(start).fits(size):
        return None
    inside = Cells(size)
    inside.set(view, 1)
    ends = inside.ends(read.shifted(start), those(0))
    return None if ends is None else Beside(v, *ends, dict(env))


def _elements(t: Tensor, env: dict[str, int]) -> Elements | None:
    """The elements of a tensor that has gaps; None for others, and where the layout is not known."""
    strides = t.meant_strides or t.strides
    if t.sizes is None or strides is None or len(strides) != len(t.sizes):
        return None
    sizes = [_number(x, env) for x in t.sizes]
    steps = [_number(x, env) for x in strides]
    offset = _number(t.offset, env)
    if offset is None:
        return None
    dims = [(n, s) for n, s in zip(sizes, steps, strict=True) if n is not None and s is not None]
    if len(dims) != len(sizes) or prod(n for n, _ in dims) == 0:
        return None
    box = normal(offset, dims)
    return None if box is None or box.dims == ((box.last - box.start + 1, 1),) else Elements([box])


def _number(e: Expr | None, env: dict[str, int]) -> int | None:
    try:
        return None if e is None else int(evaluate(e, env))
    except (KeyError, ZeroDivisionError, ValueError):
        return None
