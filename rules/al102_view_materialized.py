"""AL102: the runtime replaces a view by a packed copy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..analyzer.checks import packed_copies
from ..analyzer.memory.trace import ViewFact
from ..analyzer.model.findings import Finding, Severity
from . import common
from .registry import Rule

if TYPE_CHECKING:
    from ..analyzer.analysis import Analysis, Body


def check(analysis: Analysis) -> Iterator[Finding]:
    for body in analysis.bodies:
        for fact in body.facts:
            if isinstance(fact, ViewFact) and fact.outcome.kind == "copy":
                yield _finding(analysis, body, fact)


def _finding(analysis: Analysis, body: Body, fact: ViewFact) -> Finding:
    view, event = fact.tensor, fact.event
    layout = f"{common.braces(view.sizes)}/{common.braces(view.meant_strides)}"
    return RULE.finding(
        f"{common.named(view)}, a view of {view.base} with {layout}, is replaced by a packed copy of "
        f"{fact.outcome.capacity} elements: {fact.outcome.reason}",
        event.loc,
        severity=_severity(analysis, body, fact),
        related=common.origin(fact.source),
        storage=view.storage.root.name,
        tensor=view.label,
        base=view.base,
        op=event.op,
        source_nodes=common.source_nodes(analysis, view),
        evidence=common.layout_evidence(view),
    )


def _severity(analysis: Analysis, body: Body, fact: ViewFact) -> Severity:
    """A note when nothing writes the copy and no kernel reads it where it differs."""
    storage = fact.tensor.storage
    if packed_copies.writers(body, storage):
        return "warning"
    for v in body.verdicts:
        if v.storage is storage and (
            v.decision.status != "proved" or packed_copies.misread(v, analysis) is not None
        ):
            return "warning"
    return "note"


RULE = Rule(
    code="AL102",
    name="view-materialized",
    severity="warning",
    summary="The runtime gives the wrapper a packed copy where it asked for a view.",
    explanation="""
    The layout is not dense, and this runtime keeps only dense views in place. The copy is a snapshot: writes
    through it do not reach the buffer it was taken from, later writes to that buffer are not seen, and kernels
    compiled for the strides of the view walk past its end. Where only ops that read sizes and strides use the
    copy, nothing is wrong but the time it takes, and this is a note.
    """,
    bad="""
    // every fourth group of 32 of the parent: 204800 elements spread over 819104
    auto buf52 = wrap_with_raii_handle_if_needed(reinterpret_tensor_wrapper(buf55, 4, {1, 32, 80, 80}, {819200, 1, 10240, 128}, 32L));
    """,
    good="""
    auto buf52 = wrap_with_raii_handle_if_needed(reinterpret_tensor_wrapper(buf55, 4, {1, 32, 80, 80}, {204800, 6400, 80, 1}, 32L));
    """,
    since="0.1.0",
    check=check,
    help="Export so that chunk, split and cat give dense views (torch._inductor.config.layout_optimization = "
    "False), or use a runtime that keeps such views in place.",
)
