"""AL403: an op or allocator rejects what it is given."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..analyzer.checks.launch_contract import Elsewhere, elsewhere
from ..analyzer.memory.trace import AllocFact, LaunchFact
from ..analyzer.model.findings import Finding
from . import common
from .op_messages import judged, kernel_args
from .outcomes import effect, ends_run
from .registry import Rule

if TYPE_CHECKING:
    from ..analyzer.analysis import Analysis


def check(analysis: Analysis) -> Iterator[Finding]:
    yield from judged(analysis, RULE, "reject")
    for launch in analysis.facts(LaunchFact):
        for tensor, outcome in kernel_args(analysis, launch):
            if outcome.kind == "reject":
                yield RULE.finding(
                    f"{launch.event.kernel} is given {common.named(tensor)}: {outcome.reason}; {effect(outcome)}",
                    launch.event.loc, related=common.origin(tensor), storage=tensor.storage.root.name,
                    tensor=tensor.label, base=tensor.base, kernel=launch.event.kernel, launch_line=launch.event.loc.line,
                    source_nodes=common.source_nodes(analysis, tensor, launch),
                    evidence=common.layout_evidence(tensor), stops=ends_run(outcome),
                )  # fmt: skip
        for found in elsewhere(launch):
            yield _elsewhere(analysis, found)
    for fact in analysis.facts(AllocFact):
        if fact.outcome.kind == "reject" and fact.outcome.fact.endswith("dtype"):
            t = fact.tensor
            yield RULE.finding(
                f"{analysis.profile.name} cannot allocate {t.name}: {fact.outcome.reason}; {effect(fact.outcome)}",
                fact.event.loc, storage=t.name, tensor=t.name, op=fact.event.op,
                source_nodes=common.source_nodes(analysis, t), evidence=common.layout_evidence(t),
                stops=ends_run(fact.outcome),
            )  # fmt: skip


def _elsewhere(analysis: Analysis, found: Elsewhere) -> Finding:
    tensor, event = found.tensor, found.fact.event
    return RULE.finding(
        f"{event.kernel} runs on {found.device} and is given {common.named(tensor)} as {found.param.name}, which is in "
        f"memory of {tensor.storage.root.device}; the process ends",
        event.loc, related=common.origin(tensor), storage=tensor.storage.root.name, tensor=tensor.label,
        base=tensor.base, kernel=event.kernel, parameter=found.param.name, launch_line=event.loc.line,
        source_nodes=common.source_nodes(analysis, tensor, found.fact), evidence=common.layout_evidence(tensor),
        help="Allocate the tensor on the device whose kernel uses it, or copy it there first.", stops=True,
    )  # fmt: skip


RULE = Rule(
    code="AL403",
    name="unsupported-operand",
    severity="error",
    summary="The runtime's op rejects the dtype, rank, size or layout of an operand.",
    explanation="""
    The op exists but does not take this operand: a dtype it has no code for, a rank it does not handle, strides
    it compares literally. It returns an error or aborts when the model first runs. So does a kernel that is given
    memory of another device.
    """,
    bad="""
    aoti_torch_empty_strided(1, sizes, strides, cached_torch_dtype_float16, …);     // only float32, bfloat16, …
    """,
    good="""
    aoti_torch_empty_strided(1, sizes, strides, cached_torch_dtype_bfloat16, …);
    """,
    since="0.1.0",
    check=check,
    help="Change the model at this op (dtype, contiguous()), or use a runtime version that takes the operand.",
)
