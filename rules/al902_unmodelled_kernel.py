"""AL902: a kernel, or part of one, that is not understood."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..analyzer.memory.trace import LaunchFact
from ..analyzer.model.findings import Finding, Related
from .registry import Rule

if TYPE_CHECKING:
    from ..analyzer.analysis import Analysis


def check(analysis: Analysis) -> Iterator[Finding]:
    said: set[str] = set()
    for fact in analysis.facts(LaunchFact):
        kernel, event = fact.kernel, fact.event
        if event.kernel in said:
            continue
        said.add(event.kernel)
        why = event.reason or (None if kernel else "its source is not there")
        if why:
            yield RULE.finding(
                f"{event.kernel} is not understood: {why}", event.loc, kernel=event.kernel,
                launch_line=event.loc.line, source_nodes=event.source_nodes,
            )  # fmt: skip
        for text, loc in kernel.unmodelled if kernel else ():
            yield RULE.finding(
                f"{event.kernel}: not understood: {text[:90]}", event.loc, kernel=event.kernel,
                launch_line=event.loc.line, related=[Related("in the kernel", loc)],
            )  # fmt: skip


RULE = Rule(
    code="AL902",
    name="unmodelled-kernel",
    severity="note",
    summary="A kernel or a statement in it is not understood, so its accesses are unknown.",
    explanation="""
    Some launches carry no source (precompiled libraries, kernels chosen at run time), and a kernel may hold a
    form that is not known yet. Its accesses are counted as unknown, never as proved. With --strict it is an
    error.
    """,
    bad="""
    kernels.cuda_fused_0((const half*)(arg0_1.data_ptr()), …);        // the kernel lives in another library
    """,
    good="""
    call_triton_poi_fused_add_0(arg0_1, buf0, 1024L, …);               // its source is in the wrapper
    """,
    since="0.1.0",
    check=check,
    help="Check the kernel by other means, or report the form with the torch version that emitted it.",
)
