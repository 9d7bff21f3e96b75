"""AL210: a launch does not do all of its work, or can't be launched."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import TYPE_CHECKING

from ..analyzer.checks import contents
from ..analyzer.memory.trace import LaunchFact
from ..analyzer.model.findings import Evidence, Finding, Related
from ..analyzer.symbolic import Expr, const, evaluate, product
from . import common
from .content_messages import finding
from .registry import Rule

if TYPE_CHECKING:
    from ..analyzer.analysis import Analysis
    from ..analyzer.symbolic.assumptions import Ranges

#: Programs of a CUDA grid in each dimension (CUDA C++ Programming Guide, compute capabilities).
_CUDA_GRID = (2**31 - 1, 65535, 65535)
#: Threads of a Metal threadgroup (Metal Feature Set Tables, every family since Apple4 and Mac2).
_METAL_GROUP = 1024


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
        yield from _too_large(analysis, fact)


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


def _too_large(analysis: Analysis, fact: LaunchFact) -> Iterator[Finding]:
    """A grid or group beyond what the device can launch, at some admitted size."""
    scalars = fact.scalars
    wanted: list[tuple[str, Expr, int]] = []
    if fact.kernel is not None and fact.kernel.dialect == "triton":
        grid = [scalars.get(f"grid.{i}", const(1)) for i in range(3)]
        wanted = [(f"programs in {'xyz'[i]}", e, _CUDA_GRID[i]) for i, e in enumerate(grid)]
    elif fact.kernel is not None and fact.kernel.dialect == "metal":
        group = product([scalars.get(f"group.{i}", const(1)) for i in range(3)])
        wanted = [("threads in a group", group, _METAL_GROUP)]
    for what, e, limit in wanted:
        sizes = _beyond(e, limit, analysis.ranges)
        if sizes is None:
            continue
        event, at = fact.event, f" at {common.witness_text(sizes)}" if sizes else ""
        yield RULE.finding(
            f"{event.kernel} is launched with {evaluate(e, sizes)} {what}{at}, and the device takes {limit}: that is an invalid launch",
            event.loc, related=[Related("the grid is computed here", loc) for n, loc in event.arg_locs if n == "grid"],
            kernel=event.kernel, launch_line=event.loc.line, source_nodes=event.source_nodes,
            evidence=Evidence(max=common.number(e), available=limit, witness=sizes or None),
            help="Spread the work over another dimension of the grid.", stops=True,
        )  # fmt: skip


def _beyond(e: Expr, limit: int, ranges: Ranges) -> dict[str, int] | None:
    """The least of a few sizes at which ``e`` is over a limit; sizes no tensor in memory has are not tried."""
    if not e.symbols <= ranges.bounds.keys():
        return None
    for exponent in range(32):
        sizes = {}
        for name in sorted(e.symbols):
            lo, hi = ranges.bounds[name]
            size = max(2**exponent, lo or 0)
            sizes[name] = size if hi is None else min(size, hi)
        if prod(sizes.values()) >= 2**31:
            return None
        if evaluate(e, sizes) > limit and ranges.admits(sizes):
            return sizes
    return None


RULE = Rule(
    code="AL210",
    name="launch-mismatch",
    severity="error",
    summary="The grid of a launch leaves part of its output undone, or is one that can't be launched.",
    explanation="""
    The launch writes a tensor, but its grid (or the loop bounds of the kernel) stops short: some elements of
    that tensor are never written and are used later. On Metal the dispatch size is the iteration domain, there
    is no mask that would show the mistake. A grid that is empty or larger than the device takes (65535 in y and
    z on CUDA, groups of 1024 threads on Metal) can't be launched at all.
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
