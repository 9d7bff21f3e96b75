"""AL202: a kernel writes outside the storage behind an argument."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..analyzer.memory.trace import ViewFact
from ..analyzer.model.findings import Finding
from ..analyzer.model.record import replace
from ..analyzer.runtimes.predicates import numel
from . import common
from .bounds_messages import out_of_bounds
from .registry import Rule

if TYPE_CHECKING:
    from ..analyzer.analysis import Analysis


def check(analysis: Analysis) -> Iterator[Finding]:
    yield from out_of_bounds(analysis, RULE, ("store", "atomic"), "writes")
    for fact in analysis.facts(ViewFact):
        if fact.event.how == "arrayref":
            yield from _stack_copy(analysis, fact)


def _stack_copy(analysis: Analysis, fact: ViewFact) -> Iterator[Finding]:
    """A view of a stack array that is copied by the number of elements its array has, not by its own."""
    t = fact.source
    if t.storage.capacity is None or t.sizes is None:
        return
    count, room = t.storage.capacity - t.offset, numel(t.sizes)
    if analysis.ranges.nonneg(count - room - 1) is not True:
        return
    yield RULE.finding(
        f"{common.named(t)} is copied into a tensor of its own {common.braces(t.sizes)}: {count} elements are written, "
        f"as many as {t.storage.name} has from there on, and {room} fit",
        fact.event.loc, related=common.origin(t), storage=t.storage.root.name, tensor=t.label, base=t.base,
        source_nodes=common.source_nodes(analysis, t),
        evidence=replace(
            common.layout_evidence(t), access="write", min=0, max=common.number(count - 1), available=common.number(room)
        ),
        help="Copy the view's elements into an array of its own first (x.clone() in the model).",
    )  # fmt: skip


RULE = Rule(
    code="AL202",
    name="kernel-write-out-of-bounds",
    severity="error",
    summary="A kernel writes elements that its argument's storage does not have.",
    explanation="""
    The index of the store, over every iteration in which its guards hold, leaves the storage the runtime puts
    behind the argument. Other buffers are overwritten, or the GPU driver crashes. The common cause is a view
    with holes that the runtime replaced by a packed copy, while the kernel goes on with the strides of the
    view.
    """,
    bad="""
    // {1, 32, 80, 80} with strides {819200, 1, 10240, 128}: the copy has 204800 elements
    auto buf52 = wrap_with_raii_handle_if_needed(reinterpret_tensor_wrapper(buf55, 4, sizes, strides, 32L));  // alias
    out_ptr0[y0 + 128*x1] = v;                            // y0 < 32, x1 < 6400: up to element 819103
    """,
    good="""
    out_ptr0[y0 + 32*x1] = v;                             // a buffer of its own, concatenated by a kernel
    """,
    since="0.1.0",
    check=check,
    help="Export so that the view is dense (for the Metal backend: torch._inductor.config.layout_optimization "
    "= False), or use a runtime that keeps such views in place.",
)
