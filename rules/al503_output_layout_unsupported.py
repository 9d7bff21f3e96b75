"""AL503: the runtime can't hand an output of this layout to the caller."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..analyzer.memory.storage import Tensor
from ..analyzer.memory.trace import OutputFact
from ..analyzer.model.findings import Finding
from ..analyzer.model.record import replace
from . import common
from .outcomes import Refusal, refusal
from .registry import Rule

if TYPE_CHECKING:
    from ..analyzer.analysis import Analysis


def check(analysis: Analysis) -> Iterator[Finding]:
    for fact in analysis.facts(OutputFact):
        refused = None if fact.outcome is None else refusal(fact.outcome)
        if fact.tensor is None or refused is None or fact.outcome is None:
            continue
        if analysis.profile.output_facts.copied and fact.outcome.error == "NotImplemented":
            # The copy fails unless the caller's tensor happens to have the same strides, which no wrapper says.
            refused = replace(refused, severity="warning")
        yield _finding(analysis, fact, fact.tensor, refused)


def _finding(analysis: Analysis, fact: OutputFact, tensor: Tensor, refused: Refusal) -> Finding:
    return RULE.finding(
        f"output {fact.event.index} ({common.named(tensor)}, {common.braces(tensor.sizes)}/"
        f"{common.braces(tensor.strides)}): {refused.reason}",
        fact.event.loc, severity=refused.severity, related=common.origin(tensor),
        storage=tensor.storage.root.name, tensor=tensor.label, base=tensor.base,
        source_nodes=common.source_nodes(analysis, tensor),
        evidence=replace(common.layout_evidence(tensor), witness=refused.sizes), stops=refused.stops,
    )  # fmt: skip


RULE = Rule(
    code="AL503",
    name="output-layout-unsupported",
    severity="error",
    summary="The runtime can't return an output that is laid out like this.",
    explanation="""
    Every kernel has run and the result is right, but the runtime's own check at the end of the call insists on
    contiguous outputs that start their storage, and the whole run fails with an error code. A channels-last
    result, a transposed one or the second half of a chunk is enough. Where the output is copied into the caller's
    tensor instead, and the copy can't change strides, it fails unless that tensor has the same strides: a warning.
    """,
    bad="""
    // starts at element 48 of buf0's storage
    auto var_0 = wrap_with_raii_handle_if_needed(reinterpret_tensor_wrapper(buf0, 1, {48L, }, {1L, }, 48L));
    output_handles[0] = var_0.release();
    """,
    good="""
    output_handles[0] = buf1.release();      // a buffer of its own
    """,
    since="0.1.0",
    check=check,
    help="Return x.contiguous() or x.clone(memory_format=torch.contiguous_format) from the model.",
)
