"""AL107: a tensor starts at a byte that its dtype or a kernel can't work with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..analyzer.checks.alignment import (
    Misaligned,
    Unaligned,
    inside_an_element,
    promises,
    unaligned_inputs,
)
from ..analyzer.memory.trace import LaunchFact, ViewFact
from ..analyzer.model.findings import Evidence, Finding, Related
from . import common
from .registry import Rule

if TYPE_CHECKING:
    from ..analyzer.analysis import Analysis


def check(analysis: Analysis) -> Iterator[Finding]:
    for view in analysis.facts(ViewFact):
        found = inside_an_element(view, analysis.ranges)
        if found is not None:
            dropped = f"which is inside an element of {view.tensor.dtype}: the remainder is dropped"
            yield _finding(
                analysis, found, f"is placed at byte {found.byte} of {view.event.base}, {dropped}", []
            )
    broken: dict[tuple[object, object], list[Misaligned]] = {}
    for launch in analysis.facts(LaunchFact):
        for found in promises(launch, analysis.ranges):
            key = (found.tensor.storage, found.tensor.loc)
            broken.setdefault(key, []).append(found)
    for unaligned in unaligned_inputs(analysis):
        yield _unaligned(unaligned)
    for uses in broken.values():
        first = uses[0]
        assert isinstance(first.fact, LaunchFact)
        text = (
            f"starts {first.byte} bytes into {first.tensor.storage.name}, but {first.fact.event.kernel} was compiled "
            f"for {first.parameter} to be aligned to {first.needed}"
        )
        yield _finding(analysis, first, text, uses)


def _unaligned(found: Unaligned) -> Finding:
    """A warning: the caller may always hand over aligned tensors."""
    event, name = found.fact.event, found.input.name
    return RULE.finding(
        f"{event.kernel} was compiled for {found.parameter} to be aligned to {found.needed} bytes, but the wrapper takes "
        f"{name} as it comes, which may be a view that starts elsewhere",
        event.loc, severity="warning", related=[Related(f"{name} is an input", found.input.loc)],
        storage=name, tensor=name, kernel=event.kernel, parameter=found.parameter, launch_line=event.loc.line,
        source_nodes=event.source_nodes,
        help="Export again: newer generators copy an input that is not aligned. Otherwise pass tensors that are.",
    )  # fmt: skip


def _finding(analysis: Analysis, found: Misaligned, what: str, uses: list[Misaligned]) -> Finding:
    """An error where no size makes it right; where only some break it, a warning."""
    tensor = found.tensor
    launch = found.fact if isinstance(found.fact, LaunchFact) else None
    launches = [u.fact.event for u in uses if isinstance(u.fact, LaunchFact)]
    at = "" if found.always else f" at {common.witness_text(found.sizes)}"
    layout = common.layout_evidence(tensor)
    return RULE.finding(
        f"{common.named(tensor)} {what}{at}",
        tensor.loc,
        severity="error" if found.always else "warning",
        related=[*common.origin(tensor), *(Related(f"{e.kernel} is launched here", e.loc) for e in launches[:4])],
        storage=tensor.storage.root.name, tensor=tensor.label, base=tensor.base,
        kernel=launch.event.kernel if launch else None, parameter=found.parameter,
        launch_line=launch.event.loc.line if launch else None,
        op=found.fact.event.op if isinstance(found.fact, ViewFact) else None,
        source_nodes=common.source_nodes(analysis, tensor, launch),
        evidence=Evidence(
            min=common.number(found.byte), unit="bytes", witness=found.sizes or None, sizes=layout.sizes,
            strides=layout.strides, offset=layout.offset,
        ),
    )  # fmt: skip


RULE = Rule(
    code="AL107",
    name="view-misaligned",
    severity="error",
    summary="A tensor starts at a byte that breaks the alignment its dtype or a kernel was compiled for.",
    explanation="""
    Triton kernels are compiled with the promise that certain pointers are divisible by 16 and then load several
    elements at once; a view that starts elsewhere makes such a load fail with a misaligned address. So does an input
    that the caller took out of a larger tensor, unless the wrapper copies it first. A member of
    a memory pool at a byte that is no multiple of its element size is worse: the call divides the offset by the
    element size, so the tensor silently starts a few bytes early.
    """,
    bad="""
    // element 2 of a float32 buffer: byte 8
    auto buf1 = wrap_with_raii_handle_if_needed(reinterpret_tensor_wrapper(buf0, 1, {64L, }, {1L, }, 2L));
    call_triton_poi_fused_add_0(buf1, …);      // tt.divisibility 16 on in_ptr0
    """,
    good="""
    // element 4: byte 16
    auto buf1 = wrap_with_raii_handle_if_needed(reinterpret_tensor_wrapper(buf0, 1, {64L, }, {1L, }, 4L));
    """,
    since="0.1.0",
    check=check,
    help="Start the view at a multiple of 16 bytes, or compile the kernel without tt.divisibility on this pointer.",
)
