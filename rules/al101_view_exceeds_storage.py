"""AL101: a view reaches past the storage it is a view of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..analyzer.checks.views import view_range
from ..analyzer.memory.trace import ViewFact
from ..analyzer.model.findings import Evidence, Finding
from . import common
from .registry import Rule

if TYPE_CHECKING:
    from ..analyzer.analysis import Analysis


def check(analysis: Analysis) -> Iterator[Finding]:
    for fact in analysis.facts(ViewFact):
        if fact.event.how == "pool":
            continue
        found = view_range(fact, analysis.ranges)
        if found is None or found.decision.status != "fault":
            continue
        d, view, source = found.decision, fact.tensor, fact.source
        sizes = {k: v for k, v in (d.witness or {}).items() if k in analysis.ranges.bounds}
        at = f" at {common.witness_text(sizes)}" if sizes else ""
        first, last = found.first, found.last
        yield RULE.finding(
            f"{common.named(view)} {common.braces(view.sizes)}/{common.braces(view.meant_strides)} "
            f"covers elements {first} to {last} of {source.storage.name}, which holds {d.available}{at}",
            fact.event.loc,
            related=common.origin(source),
            storage=source.storage.root.name,
            tensor=view.label,
            base=view.base,
            op=fact.event.op,
            source_nodes=common.source_nodes(analysis, view),
            evidence=Evidence(
                min=first, max=last, available=common.number(found.capacity), witness=d.witness,
                sizes=common.numbers(view.sizes), strides=common.numbers(view.meant_strides),
                offset=common.number(found.offset),
            ),
        )  # fmt: skip


RULE = Rule(
    code="AL101",
    name="view-exceeds-storage",
    severity="error",
    summary="A view covers elements that the storage under it does not have.",
    explanation="""
    Offset, sizes and strides of the view reach past the end (or before the start) of the storage it is taken
    from. No runtime checks this in release builds; whatever uses the view reads or writes foreign memory.
    """,
    bad="""
    // arg0_1 has 8 elements
    auto buf1 = wrap_with_raii_handle_if_needed(reinterpret_tensor_wrapper(arg0_1, 1, {1L, }, {1L, }, 8L));
    """,
    good="""
    auto buf1 = wrap_with_raii_handle_if_needed(reinterpret_tensor_wrapper(arg0_1, 1, {1L, }, {1L, }, 7L));
    """,
    since="0.1.0",
    check=check,
    help="The offset counts from the start of the view it is taken from; check sizes, strides and offset.",
)
