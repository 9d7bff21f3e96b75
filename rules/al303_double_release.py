"""AL303: two owners for one tensor handle, or one output handed out twice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..analyzer.memory.trace import OutputFact, StateFact
from ..analyzer.model.findings import Finding, Related
from .registry import Rule

if TYPE_CHECKING:
    from ..analyzer.analysis import Analysis


def check(analysis: Analysis) -> Iterator[Finding]:
    for fact in analysis.facts(StateFact):
        if fact.kind == "double-release":
            what = (
                f"{fact.name} takes {fact.use}, but that raw handle has an owner already"
                if fact.does == "takes"
                else f"{fact.use} is deleted here, but {fact.name} owns it"
            )
            yield RULE.finding(
                f"{what}: both will free it",
                fact.loc, related=[Related("the first owner takes it here", fact.since)],
                storage=fact.tensor.storage.root.name if fact.tensor else None, tensor=fact.name,
            )  # fmt: skip
    if analysis.profile.output_facts.duplicates != "double-release":
        return
    outputs = {f.event.index: f for f in analysis.facts(OutputFact)}
    for output in outputs.values():
        same = outputs.get(output.event.same_as) if output.event.same_as is not None else None
        if same is not None:
            tensor = same.tensor
            yield RULE.finding(
                f"outputs {same.event.index} and {output.event.index} are one handle, and {analysis.profile.name} "
                f"deletes each output on its own: it is freed twice",
                output.event.loc, related=[Related("the handle is handed out here", same.event.loc)],
                storage=tensor.storage.root.name if tensor else None, tensor=tensor.label if tensor else None,
            )  # fmt: skip


RULE = Rule(
    code="AL303",
    name="double-release",
    severity="error",
    summary="One tensor handle is freed twice.",
    explanation="""
    A raw handle that two RAII objects own, one that is deleted although an RAII object owns it, or an output given
    out twice to a runtime that deletes every output, is released twice: the second time it frees memory that may already belong to another tensor.
    """,
    bad="""
    RAIIAtenTensorHandle buf0(buf0_handle);
    RAIIAtenTensorHandle buf1(buf0_handle);
    """,
    good="""
    RAIIAtenTensorHandle buf0(buf0_handle);
    auto buf1 = std::move(buf0);
    """,
    since="0.1.0",
    check=check,
    help="Return a clone for the second output in the model (x.clone()), or use a runtime that allows it.",
)
