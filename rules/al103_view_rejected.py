"""AL103: the runtime refuses a layout it is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..analyzer.checks.constants import refused
from ..analyzer.memory.trace import AllocFact, ViewFact
from ..analyzer.model.findings import Evidence, Finding
from . import common
from .outcomes import effect, ends_run
from .registry import Rule

if TYPE_CHECKING:
    from ..analyzer.analysis import Analysis


def check(analysis: Analysis) -> Iterator[Finding]:
    profile = analysis.profile.name
    for fact in analysis.facts(ViewFact):
        if fact.outcome.kind == "reject":
            view = fact.tensor
            yield RULE.finding(
                f"{profile} refuses the view {common.braces(view.sizes)}/{common.braces(view.meant_strides)} of "
                f"{view.base}: {fact.outcome.reason}; {effect(fact.outcome)}",
                fact.event.loc, related=common.origin(fact.source), storage=view.storage.root.name,
                tensor=view.label, base=view.base, op=fact.event.op,
                source_nodes=common.source_nodes(analysis, view), evidence=common.layout_evidence(view),
                stops=ends_run(fact.outcome),
            )  # fmt: skip
    for made in analysis.facts(AllocFact):
        if made.outcome.kind == "reject" and not made.outcome.fact.endswith("dtype"):
            t = made.tensor
            yield RULE.finding(
                f"{profile} refuses to allocate {t.name} {common.braces(t.sizes)}/{common.braces(t.meant_strides)}: "
                f"{made.outcome.reason}; {effect(made.outcome)}",
                made.event.loc, storage=t.name, tensor=t.name, op=made.event.op,
                source_nodes=common.source_nodes(analysis, t), evidence=common.layout_evidence(t),
                stops=ends_run(made.outcome),
            )  # fmt: skip
    for row, outcome in refused(analysis):
        yield RULE.finding(
            f"{profile} refuses the constant {row.name}: {outcome.reason}; the model does not load",
            row.loc, storage=row.name, tensor=row.name,
            evidence=Evidence(sizes=row.sizes, strides=row.strides, offset=row.offset), stops=True,
        )  # fmt: skip


RULE = Rule(
    code="AL103",
    name="view-rejected",
    severity="error",
    summary="The runtime aborts or fails on a layout or offset the wrapper asks for.",
    explanation="""
    The runtime accepts only some layouts for allocations, constants and views: dense ones, offset zero, no
    overlap, at least one element, whatever its version insists on. The wrapper was generated without knowing
    that; it fails at this line the first time it runs, or when the model is loaded.
    """,
    bad="""
    // overlapping rows whose extent happens to equal their number of elements
    auto buf1 = wrap_with_raii_handle_if_needed(reinterpret_tensor_wrapper(buf0, 2, {3L, 3L}, {2L, 2L}, 0L));
    """,
    good="""
    auto buf1 = wrap_with_raii_handle_if_needed(reinterpret_tensor_wrapper(buf0, 2, {3L, 3L}, {3L, 1L}, 0L));
    """,
    since="0.1.0",
    check=check,
    help="Make the layout dense in the model (contiguous(), no padding of strides at export), or use a runtime "
    "version that accepts it; 'aoti-lint runtimes' lists what each version takes.",
)
