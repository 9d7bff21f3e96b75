"""AL405: a copy between tensors that the runtime can't copy between."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..analyzer.memory.storage import Tensor
from ..analyzer.memory.trace import CallFact
from ..analyzer.model.findings import Finding
from ..analyzer.model.record import replace
from . import common
from .outcomes import Refusal, refusal
from .registry import Rule

if TYPE_CHECKING:
    from ..analyzer.analysis import Analysis


def check(analysis: Analysis) -> Iterator[Finding]:
    for fact in analysis.facts(CallFact):
        if fact.event.op != "aoti_torch_copy_" or len(fact.args) < 2:
            continue
        dst, src = fact.args[:2]
        if (
            not isinstance(dst, Tensor)
            or not isinstance(src, Tensor)
            or dst.layout is None
            or src.layout is None
        ):
            continue
        outcome = analysis.profile.copy(dst.layout, src.layout, analysis.ranges)
        refused = refusal(outcome)
        if outcome.slow:
            refused = Refusal(outcome.reason, "warning", None, False)
        if refused is not None:
            yield _finding(fact, dst, src, refused)


def _finding(fact: CallFact, dst: Tensor, src: Tensor, refused: Refusal) -> Finding:
    event = fact.event
    return RULE.finding(
        f"copying {common.named(src)} {common.braces(src.sizes)}/{common.braces(src.strides)} to "
        f"{common.named(dst)} {common.braces(dst.sizes)}/{common.braces(dst.strides)}: {refused.reason}",
        event.loc, severity=refused.severity, related=[*common.origin(dst), *common.origin(src)],
        storage=dst.storage.root.name, tensor=dst.label, base=dst.base, op=event.op,
        source_nodes=event.source_nodes, evidence=replace(common.layout_evidence(dst), witness=refused.sizes),
        stops=refused.stops,
    )  # fmt: skip


RULE = Rule(
    code="AL405",
    name="unsupported-copy",
    severity="error",
    summary="The runtime can't copy between tensors of these layouts, dtypes or shapes.",
    explanation="""
    `aoti_torch_copy_` broadcasts, converts and permutes under libtorch. Other runtimes copy bytes: they refuse
    different strides, dtypes or shapes when the copy is run, or, worse, put elements in the wrong place. It
    matters wherever the wrapper writes a mutated buffer back, and at the edge to the caller. A copy that is right
    but done one element at a time is a warning.
    """,
    bad="""
    // buf0 is {1, 8, 16, 16} with strides {2048, 1, 128, 8}, arg0_1 is contiguous
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_copy_(arg0_1, buf0, 0));
    """,
    good="""
    // both are contiguous
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_copy_(arg0_1, buf0, 0));
    """,
    since="0.1.0",
    check=check,
    help="Make source and target equal in dtype, shape and strides before the copy (x.contiguous(), x.to(dtype), "
    "x.expand_as(y).clone() in the model).",
)
