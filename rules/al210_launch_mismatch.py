"""AL210: a launch does not do all of its work, or can't be launched."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import TYPE_CHECKING

from ..analyzer.checks import contents
from ..analyzer.checks.launch_contract import (
    WrongArgument,
    ZeroDivisor,
    wrong_arguments,
    zero_divisors,
)
from ..analyzer.concurrency.idle_lanes import IdleLanes, idle_lanes
from ..analyzer.memory.storage import Storage
from ..analyzer.memory.trace import LaunchFact
from ..analyzer.model.findings import Evidence, Finding, Related
from ..analyzer.model.program import Launch
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
            certain = fault.certain and not _stops_nowhere(analysis, fault.partial, fault.tensor.storage)
            yield finding(
                analysis, RULE, fault,
                f"{kernel} leaves elements {fault.first} to {fault.last} of {fault.tensor.storage.name} "
                f"unwritten, and they are used later",
                at=fault.partial, severity=None if certain else "warning",
            )  # fmt: skip
    for fact in analysis.facts(LaunchFact):
        if fact.event.empty_grid_launches:
            yield from _empty(analysis, fact)
        yield from _too_large(analysis, fact)
        for wrong in wrong_arguments(fact):
            if wrong.kind == "unbound":
                yield _unbound(wrong)
    for idle in idle_lanes(analysis):
        yield _idle(idle)
    for zero in zero_divisors(analysis):
        yield _zero_divisor(zero)


def _stops_nowhere(analysis: Analysis, launch: LaunchFact, written: Storage) -> bool:
    """Whether a C++ kernel writes a storage outside of all loops only: what stops short is a loop or a grid.

    A statement that writes one element does all that its text says; that more was meant is a guess.
    """
    if launch.kernel is None or launch.kernel.dialect != "cpp":
        return False
    stores = [
        v
        for body in analysis.bodies
        for v in body.verdicts
        if v.launch is launch and v.storage is written and v.access.kind != "load"
    ]
    return not any(x.kind != "data" for v in stores for x in v.vars)


def _idle(idle: IdleLanes) -> Finding:
    """A warning: what a masked load leaves in the other lanes may be harmless to add."""
    v, event = idle.atomic, idle.atomic.launch.event
    at = f" at {common.witness_text(idle.sizes)}" if idle.sizes else ""
    return RULE.finding(
        f"{event.kernel} does its atomic on {v.param.name} in all {idle.lanes} lanes{at}, but {idle.load.param.name} has "
        f"elements for {idle.filled} of them: the others add what their masked load left",
        event.loc, severity="warning", kernel=event.kernel, parameter=v.param.name, launch_line=event.loc.line,
        related=[Related(f"{x.param.name}[{x.access.text}]", x.access.loc) for x in (v, idle.load)],
        storage=v.storage.root.name, tensor=v.tensor.label, source_nodes=event.source_nodes,
        evidence=Evidence(access="atomic", max=idle.lanes, available=idle.filled, witness=idle.sizes or None),
        help="Give the atomic the mask of the loads.",
    )  # fmt: skip


def _unbound(wrong: WrongArgument) -> Finding:
    event = wrong.fact.event
    return RULE.finding(
        f"nothing is bound to {wrong.param.name} of {event.kernel}, which the kernel uses",
        event.loc, kernel=event.kernel, parameter=wrong.param.name, launch_line=event.loc.line,
        source_nodes=event.source_nodes, help="Set every argument of the kernel before it is dispatched.",
    )  # fmt: skip


def _zero_divisor(zero: ZeroDivisor) -> Finding:
    """Sizes that can't be computed where a divisor is 0. A warning: such inputs may never come."""
    event = zero.fact.event
    kernel = event.kernel if isinstance(event, Launch) else None
    what = (
        f"the loops of {event.kernel}" if isinstance(event, Launch) else f"the sizes of {event.result}"
    ).removesuffix("_handle")
    return RULE.finding(
        f"{what} are divided by {zero.divisor}, which is 0 at {common.witness_text(zero.sizes)}: no check keeps such inputs away",
        event.loc, severity="warning", kernel=kernel, launch_line=event.loc.line if kernel else None,
        evidence=Evidence(min=0, witness=zero.sizes),
        help="Export with a lower bound on the size (Dim(min=1) or torch._check), so that the wrapper checks it.",
    )  # fmt: skip


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
    is no mask that would show the mistake. A C++ kernel that writes single elements outside of any loop is a
    warning: nothing in it stops short. A grid that is empty or larger than the device takes (65535 in y and
    z on CUDA, groups of 1024 threads on Metal) can't be launched at all. Nor can a kernel work of which a pointer
    that it uses was never set. Lanes beyond the last element that still take part in an atomic are a warning. A size that is divided by one that may be 0 is a warning: that input ends the process.
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
