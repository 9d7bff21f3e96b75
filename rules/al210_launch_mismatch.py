"""AL210: a launch does not do all of its work, or can't be launched."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..analyzer import contents
from ..analyzer.expr import evaluate
from ..analyzer.facts import LaunchFact
from ..analyzer.findings import Evidence, Finding, Related
from . import common
from .content_messages import finding
from .registry import Rule

if TYPE_CHECKING:
    from ..analyzer.analysis import Analysis


def check(analysis: Analysis) -> Iterator[Finding]:
    for fault in contents.faults(analysis):
        if fault.kind == "unwritten" and fault.partial is not None:
            kernel = fault.partial.event.kernel
            yield finding(
                analysis, RULE, fault,
                f"{kernel} leaves elements {fault.first} to {fault.last} of {fault.tensor.storage.name} "
                f"unwritten, and they are used later",
                at=fault.partial, severity=None if fault.certain else "warning",
            )  # fmt: skip
    for fact in analysis.facts(LaunchFact):
        if fact.event.empty_grid_launches:
            yield from _empty(analysis, fact)


def _empty(analysis: Analysis, fact: LaunchFact) -> Iterator[Finding]:
    """A grid that is empty at an admitted size, launched all the same."""
    for dim in range(3):
        grid = fact.scalars.get(f"grid.{dim}")
        if grid is None or analysis.ranges.nonneg(grid - 1) is True:
            continue
        for sizes in (
            analysis.ranges.samples(grid.symbols) if grid.symbols <= analysis.ranges.bounds.keys() else ()
        ):
            if evaluate(grid, sizes) != 0:
                continue
            event = fact.event
            yield RULE.finding(
                f"{event.kernel} is launched with an empty grid at {common.witness_text(sizes)}: that is an invalid launch",
                event.loc, related=[Related("the grid is computed here", loc) for n, loc in event.arg_locs if n == "grid"],
                kernel=event.kernel, launch_line=event.loc.line, source_nodes=event.source_nodes,
                evidence=Evidence(min=0, max=common.number(grid), witness=sizes),
                help="The launcher should return when a grid component is 0.", stops=True,
            )  # fmt: skip
            return


RULE = Rule(
    code="AL210",
    name="launch-mismatch",
    severity="error",
    summary="The grid of a launch leaves part of its output undone, or is one that can't be launched.",
    explanation="""
    The launch writes a tensor, but its grid (or the loop bounds of the kernel) stops short: some elements of
    that tensor are never written and are used later. On Metal the dispatch size is the iteration domain, there
    is no mask that would show the mistake.
    """,
    bad="""
    aoti_torch_mps_dispatch_single(handle, static_cast<uint64_t>(8L*s77));      // buf0 has 16*s77 elements
    """,
    good="""
    aoti_torch_mps_dispatch_single(handle, static_cast<uint64_t>(16L*s77));
    """,
    since="0.1.0",
    check=check,
    help="Compare the dispatch size with the number of elements of the output.",
)
