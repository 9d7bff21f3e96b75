"""Layouts the wrapper asserts, against what is known of the tensors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..memory.ops import result_layouts
from ..memory.trace import AssertFact, CallFact
from ..model.record import record
from ..symbolic import Expr
from ..symbolic.assumptions import Ranges

if TYPE_CHECKING:
    from ..analysis import Analysis, Body


@record(frozen=True)
class Conflict:
    """An assertion that can't hold: ``what`` is the size or stride of dim ``dim`` (-1: the number of dims).

    ``sizes`` and ``strides`` (None where they are not known) are those the tensor has, ``made_by`` the op that
    returns it where its sizes follow from the op.
    """

    fact: AssertFact
    what: str
    dim: int
    sizes: tuple[Expr, ...]
    strides: tuple[Expr, ...] | None
    made_by: CallFact | None = None


def conflicts(analysis: Analysis) -> Iterator[Conflict]:
    """Assertions that fail for every admitted size; strides of dims that may have one element are not compared."""
    ranges = analysis.ranges
    for body in analysis.bodies:
        for fact in body.facts:
            if not isinstance(fact, AssertFact):
                continue
            t, e = fact.tensor, fact.event
            if t.sizes is not None:
                strides = t.meant_strides if t.meant_strides is not None else t.strides
                found = _differ(e.sizes, e.strides, t.sizes, strides, ranges)
                if found is not None:
                    yield Conflict(fact, *found, t.sizes, strides)
                    continue
            yield from _against_the_op(body, fact, ranges)


def _against_the_op(body: Body, fact: AssertFact, ranges: Ranges) -> Iterator[Conflict]:
    """Sizes of a result, where they follow from the op's operands. Its strides depend on the runtime."""
    if fact.tensor.storage.kind != "result" or fact.tensor.view:
        return
    for call in body.facts:
        if not isinstance(call, CallFact):
            continue
        for i, result in enumerate(call.results):
            if result is None or result.storage is not fact.tensor.storage:
                continue
            layouts = result_layouts(call.event.op, call.args, ranges)
            known = layouts[i] if i < len(layouts) else None
            found = None if known is None else _differ(fact.event.sizes, (), known[0], None, ranges)
            if known is not None and found is not None:
                yield Conflict(fact, *found, known[0], None, call)


def _differ(
    sizes: Sequence[Expr],
    strides: Sequence[Expr],
    real: Sequence[Expr],
    real_strides: Sequence[Expr] | None,
    ranges: Ranges,
) -> tuple[str, int] | None:
    """The first dim whose size, or stride, differs for every admitted size."""
    if len(sizes) != len(real):
        return "number of dims", -1
    for d, (a, b) in enumerate(zip(sizes, real, strict=True)):
        if ranges.equal(a, b) is False:
            return "size", d
    if real_strides is None or len(real_strides) != len(strides):
        return None
    for d, (a, b) in enumerate(zip(strides, real_strides, strict=True)):
        if ranges.nonneg(real[d] - 2) is True and ranges.equal(a, b) is False:
            return "stride", d
    return None
