"""AL108: the runtime puts a view at another place than the wrapper means."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..analyzer.memory.trace import ViewFact
from ..analyzer.model.findings import Finding
from ..analyzer.model.record import replace
from ..analyzer.symbolic import evaluate
from . import common
from .registry import Rule

if TYPE_CHECKING:
    from ..analyzer.analysis import Analysis


def check(analysis: Analysis) -> Iterator[Finding]:
    for fact in analysis.facts(ViewFact):
        if fact.outcome.kind == "alias":
            sizes = _differs(analysis, fact)
            if sizes is not None:
                yield _finding(analysis, fact, sizes)


def _differs(analysis: Analysis, fact: ViewFact) -> dict[str, int] | None:
    """Sizes at which the view lands elsewhere ({}: at every size), or None."""
    shift = fact.outcome.offset - fact.outcome.expected_offset
    equal = analysis.ranges.equal(shift, 0)
    if equal is not None:
        return None if equal else {}
    return next((s for s in analysis.ranges.samples(shift.symbols) if evaluate(shift, s) != 0), None)


def _finding(analysis: Analysis, fact: ViewFact, sizes: dict[str, int]) -> Finding:
    view, outcome = fact.tensor, fact.outcome
    at = f" at {common.witness_text(sizes)}" if sizes else ""
    evidence = replace(
        common.layout_evidence(view),
        expected_offset=common.number(outcome.expected_offset),
        witness=sizes or None,
    )
    return RULE.finding(
        f"{common.named(view)} starts at element {outcome.offset} of {view.storage.name}; the wrapper means element "
        f"{outcome.expected_offset}, as {fact.source.label or view.base} starts at {fact.source.offset}{at}",
        fact.event.loc, related=common.origin(fact.source), storage=view.storage.root.name, tensor=view.label,
        base=view.base, op=fact.event.op, source_nodes=common.source_nodes(analysis, view), evidence=evidence,
    )  # fmt: skip


RULE = Rule(
    code="AL108",
    name="view-offset-misread",
    severity="error",
    summary="The runtime takes the offset of a view from the start of the storage, the wrapper from its base.",
    explanation="""
    A wrapper gives the offset of a view relative to the tensor it is taken from. This runtime takes it for the
    offset in the storage, so a view of a view lands too early, inside the same allocation: no bound is broken,
    one slice is overwritten and another is never filled.
    """,
    bad="""
    auto buf2 = wrap_with_raii_handle_if_needed(reinterpret_tensor_wrapper(buf3, 2, {1L, 48L}, {48L, 1L}, 48L));  // alias
    auto buf1 = wrap_with_raii_handle_if_needed(reinterpret_tensor_wrapper(buf2, 2, {4L, 12L}, {12L, 1L}, 0L));   // lands on 0
    """,
    good="""
    auto buf1 = wrap_with_raii_handle_if_needed(reinterpret_tensor_wrapper(buf3, 2, {4L, 12L}, {12L, 1L}, 48L));
    """,
    since="0.1.0",
    check=check,
    help="Avoid nested cat and split in the model so that every view is taken from the buffer itself, or use a "
    "runtime that adds the offset to that of the base.",
)
