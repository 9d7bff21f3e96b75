"""AL404: an op returns other strides than the wrapper goes on with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..analyzer.memory.storage import Tensor
from ..analyzer.memory.trace import AssertFact, CallFact
from ..analyzer.model.findings import Evidence, Finding, Related
from ..analyzer.runtimes.predicates import contiguous_strides, same_strides_where_it_matters
from . import common
from .registry import Rule

if TYPE_CHECKING:
    from ..analyzer.analysis import Analysis


def check(analysis: Analysis) -> Iterator[Finding]:
    for fact in analysis.facts(CallFact):
        for tensor in fact.results:
            if tensor is None or tensor.sizes is None or not tensor.strides or not tensor.meant_strides:
                continue
            same = same_strides_where_it_matters(
                tensor.sizes, tensor.strides, tensor.meant_strides, analysis.ranges
            )
            if same is False:
                yield _finding(analysis, fact, tensor, _right_where(analysis, fact, tensor))


def _right_where(analysis: Analysis, fact: CallFact, tensor: Tensor) -> str:
    """Where the op does return what the wrapper goes on with: "" if nowhere."""
    policy = analysis.profile.op(fact.event.op)
    if policy is None or not policy.row_major_where or tensor.sizes is None or not tensor.meant_strides:
        return ""
    dense = contiguous_strides(tensor.sizes, analysis.ranges)
    same = same_strides_where_it_matters(tensor.sizes, dense, tensor.meant_strides, analysis.ranges)
    return "" if same is False else policy.row_major_where


def _finding(analysis: Analysis, fact: CallFact, tensor: Tensor, right_where: str) -> Finding:
    """A warning where the wrapper is right on some systems: nothing in its text says which one it will meet."""
    stated = [
        Related("the wrapper states the strides here", a.event.loc)
        for a in analysis.facts(AssertFact)
        if a.tensor.storage is tensor.storage and a.seq > fact.seq
    ][:1]
    return RULE.finding(
        f"{fact.event.op} returns {tensor.name} {common.braces(tensor.sizes)} with strides "
        f"{common.braces(tensor.strides)}, but the wrapper goes on with {common.braces(tensor.meant_strides)}"
        + (f", which it returns {right_where}" if right_where else ""),
        fact.event.loc, severity="warning" if right_where else None, related=stated, storage=tensor.storage.root.name, tensor=tensor.label,
        op=fact.event.op, source_nodes=fact.event.source_nodes,
        evidence=Evidence(
            sizes=common.numbers(tensor.sizes), strides=common.numbers(tensor.meant_strides),
            available=common.number(tensor.storage.capacity),
        ),
    )  # fmt: skip


RULE = Rule(
    code="AL404",
    name="output-layout-mismatch",
    severity="error",
    summary="An op's result has other strides than the rest of the wrapper was compiled for.",
    explanation="""
    The generator decided the strides of the result when it compiled the kernels that read it. This runtime's
    op returns another layout, and the kernels read the wrong elements. The wrapper's own check of the strides
    is only active with AOTI_RUNTIME_CHECK_INPUTS=1.

    A warning where other systems or releases do return what the wrapper states: a Metal convolution of
    channels-last operands whose result is stated row-major, as an export without a Metal device states it.
    """,
    bad="""
    aoti_torch_mps_convolution(…, &buf1_handle);           // returns {2048, 256, 16, 1}
    assert_size_stride(buf1, {1L, 8L, 16L, 16L}, {2048L, 1L, 128L, 8L}, "torch.ops.aten.convolution.default");
    """,
    good="""
    assert_size_stride(buf1, {1L, 8L, 16L, 16L}, {2048L, 256L, 16L, 1L}, "torch.ops.aten.convolution.default");
    """,
    since="0.1.0",
    check=check,
    help="Export with torch._inductor.config.layout_optimization = False, or use a runtime whose op returns "
    "the layout that was asked for.",
)
