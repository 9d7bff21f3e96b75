"""AL401: an op takes its operand for another layout than it has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..analyzer.memory.storage import Tensor
from ..analyzer.memory.trace import CallFact, ViewFact
from ..analyzer.model.findings import Finding
from ..analyzer.runtimes.predicates import same_strides_where_it_matters
from . import common
from .op_messages import judged
from .registry import Rule

if TYPE_CHECKING:
    from ..analyzer.analysis import Analysis


def check(analysis: Analysis) -> Iterator[Finding]:
    yield from judged(analysis, RULE, "misread")
    replaced = {view.tensor: view for view in analysis.facts(ViewFact) if _replaced(analysis, view)}
    for call in analysis.facts(CallFact):
        for tensor in dict.fromkeys(call.operands):
            if tensor in replaced:
                yield _misread(analysis, call, tensor)


def _replaced(analysis: Analysis, view: ViewFact) -> bool:
    """Whether the runtime made the view in place, but with other strides than it was asked for."""
    sizes, asked, made = view.tensor.sizes, view.tensor.meant_strides, view.outcome.strides
    if view.outcome.kind != "alias" or sizes is None or asked is None or len(asked) != len(made):
        return False
    return same_strides_where_it_matters(sizes, asked, made, analysis.ranges) is False


def _misread(analysis: Analysis, call: CallFact, tensor: Tensor) -> Finding:
    event = call.event
    return RULE.finding(
        f"{event.op}: uses {common.named(tensor)} with strides {common.braces(tensor.strides)}, by which "
        f"{analysis.profile.name} has replaced {common.braces(tensor.meant_strides)}; the result is wrong without notice",
        event.loc, related=common.origin(tensor), storage=tensor.storage.root.name, tensor=tensor.label,
        base=tensor.base, op=event.op, source_nodes=event.source_nodes, evidence=common.layout_evidence(tensor),
    )  # fmt: skip


RULE = Rule(
    code="AL401",
    name="stride-blind-op",
    severity="error",
    summary="A library op does not look at the strides of an operand that is not laid out as it assumes.",
    explanation="""
    The op describes its operand by sizes alone, as dense in a fixed order, and the operand is laid out
    otherwise (channels-last, transposed, padded). Nothing fails; every result is wrong. The same comes of a view whose
    strides the runtime has replaced, negative ones by dense ones, and of calls whose numbers an op gets wrong.
    """,
    bad="""
    // buf0 is {1, 8, 16, 16} with strides {2048, 1, 128, 8}; the op reads it as {2048, 256, 16, 1}
    aoti_torch_mps_convolution(buf0, weight, …, &buf1_handle);
    """,
    good="""
    // buf0 is {1, 8, 16, 16} with strides {2048, 256, 16, 1}
    aoti_torch_mps_convolution(buf0, weight, …, &buf1_handle);
    """,
    since="0.1.0",
    check=check,
    help="Export with torch._inductor.config.layout_optimization = False so that the operand stays contiguous, "
    "or use a runtime whose op reads strides.",
)
