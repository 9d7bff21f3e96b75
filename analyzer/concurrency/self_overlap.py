"""Writes through tensors whose own elements share memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..checks.views import dims
from ..memory.ops import base_name, writes
from ..memory.storage import Tensor
from ..memory.trace import CallFact
from ..model.record import record
from ..runtimes.predicates import self_overlapping
from ..symbolic import TRUE, Expr
from ..symbolic.assumptions import Ranges
from ..symbolic.sampling import sizes_to_try
from .injective import injective
from .pairs import clashes, points
from .write_races import Race, launches, rivals

if TYPE_CHECKING:
    from ..analysis import Analysis

#: Ops that write one value everywhere.
_UNIFORM = ("fill_", "zero_")


@record(frozen=True)
class Overlap:
    """Places ``first`` and ``second`` of a tensor (an index for each dimension) are both ``element`` of its storage.

    ``expanded``: a dimension of several elements has stride 0, at every size.
    """

    first: tuple[int, ...]
    second: tuple[int, ...]
    element: int
    sizes: dict[str, int]
    expanded: bool


def overlap(tensor: Tensor, ranges: Ranges) -> Overlap | None:
    """Two places of a tensor that share memory; None when there are none, or none is known."""
    if tensor.sizes is None or tensor.strides is None or tensor.storage.kind == "copy":
        return None
    key = ("overlap", tensor.sizes, tensor.strides, tensor.offset)
    if key not in ranges.memo:
        ranges.memo[key] = _overlap(tensor.sizes, tensor.strides, tensor.offset, ranges)
    found: Overlap | None = ranges.memo[key]
    return found


def _overlap(
    sizes: tuple[Expr, ...], strides: tuple[Expr, ...], offset: Expr, ranges: Ranges
) -> Overlap | None:
    index, variables = dims(sizes, strides)
    names = [v.name for v in variables]
    if injective(index, variables, TRUE, ranges, frozenset(names)) is True:
        return None
    for env in sizes_to_try(ranges):
        p = points(index + offset, variables, TRUE, env, names)
        if p is None:
            return None
        for i, j in clashes(p, names, names):
            a, b = p.point(i), p.point(j)
            expanded = self_overlapping(sizes, strides, ranges) is True
            return Overlap(tuple(a.values()), tuple(b.values()), int(p.element[i]), env, expanded)
    return None


def overlapping_ops(analysis: Analysis) -> Iterator[tuple[CallFact, Tensor, Overlap]]:
    """Ops that write different values through such a tensor."""
    for fact in analysis.facts(CallFact):
        if base_name(fact.event.op) in _UNIFORM:
            continue
        for target in writes(fact.event, fact.args) or ():
            found = overlap(target, analysis.ranges)
            if found is not None:
                yield fact, target, found


def overlapping_stores(analysis: Analysis) -> Iterator[tuple[Race, Overlap]]:
    """Kernels that write an element twice through such a tensor, in whatever order; one for each parameter."""
    for _, group in launches(analysis):
        seen: set[str] = set()
        for v in group:
            if v.access.kind != "store" or v.param.name in seen:
                continue
            found = overlap(v.tensor, analysis.ranges)
            race = None if found is None else rivals(v, group, analysis.ranges, everything=True)
            if race is not None and found is not None:
                seen.add(v.param.name)
                yield race, found
