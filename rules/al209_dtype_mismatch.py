"""AL209: a kernel takes the elements of a tensor for another type than they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..analyzer.checks.launch_contract import WrongArgument, wrong_arguments
from ..analyzer.checks.pointer_types import Mismatch, mismatches
from ..analyzer.memory.trace import LaunchFact
from ..analyzer.model.findings import Finding, Related
from . import common
from .registry import Rule

if TYPE_CHECKING:
    from ..analyzer.analysis import Analysis


def check(analysis: Analysis) -> Iterator[Finding]:
    for fact in analysis.facts(LaunchFact):
        for found in mismatches(fact):
            yield _finding(analysis, fact, found)
        for wrong in wrong_arguments(fact):
            if wrong.kind != "unbound":
                yield _kind(analysis, wrong)


def _kind(analysis: Analysis, wrong: WrongArgument) -> Finding:
    """A tensor where the kernel takes a number, or a number for a pointer."""
    event, param = wrong.fact.event, wrong.param
    tensor = wrong.fact.args.get(param.name)
    given = f"the tensor {common.named(tensor)}" if tensor is not None else f"a {wrong.kind}"
    takes = f"a pointer to {param.dtype}" if param.pointer else f"a number ({param.dtype})"
    where = [Related("it is given here", loc) for name, loc in event.arg_locs if name == param.name]
    return RULE.finding(
        f"{event.kernel} takes {takes} as {param.name}, but is given {given}",
        event.loc, related=[*where, *(common.origin(tensor) if tensor is not None else ())],
        storage=tensor.storage.root.name if tensor is not None else None,
        tensor=tensor.label if tensor is not None else None, kernel=event.kernel, parameter=param.name,
        launch_line=event.loc.line, source_nodes=event.source_nodes,
        help="Pass what the kernel's signature says: a tensor for a pointer, an integer for a size.",
    )  # fmt: skip


def _finding(analysis: Analysis, fact: LaunchFact, found: Mismatch) -> Finding:
    tensor, param, event = found.tensor, found.param, fact.event
    effect = (
        f"elements of {found.pointer_bytes} and {found.tensor_bytes} bytes"
        if found.pointer_bytes != found.tensor_bytes
        else "the bits of one taken for the other"
    )
    kernel = fact.kernel
    return RULE.finding(
        f"{event.kernel} takes {param.name} for {param.dtype}, but {common.named(tensor)} is {tensor.dtype}: {effect}",
        event.loc,
        related=[
            *common.origin(tensor),
            *([Related(f"{param.name} is declared here", kernel.loc)] if kernel else []),
        ],
        storage=tensor.storage.root.name, tensor=tensor.label, base=tensor.base, kernel=event.kernel,
        parameter=param.name, launch_line=event.loc.line,
        source_nodes=common.source_nodes(analysis, tensor, fact), evidence=common.layout_evidence(tensor),
    )  # fmt: skip


RULE = Rule(
    code="AL209",
    name="dtype-mismatch",
    severity="error",
    summary="The element type of a kernel's pointer is not that of the tensor it is given.",
    explanation="""
    A launch passes addresses; nobody compares element types. A kernel that reads float32 bytes through a
    bfloat16 pointer touches half of them and takes each half for a number: in bounds, and every value wrong.
    Types that share one byte (bool, uint8, int8) may stand for each other. A tensor in the place of a number, or a
    number in that of a pointer, is taken for what the kernel's signature says.
    """,
    bad="""
    // arg0_1 is checked to be float32
    triton_meta={'signature': {'in_ptr0': '*bf16', 'out_ptr0': '*fp32', 'xnumel': 'i32'}, …}
    call_triton_poi_fused_add_0(arg0_1, buf0, 256L, …);
    """,
    good="""
    triton_meta={'signature': {'in_ptr0': '*fp32', 'out_ptr0': '*fp32', 'xnumel': 'i32'}, …}
    call_triton_poi_fused_add_0(arg0_1, buf0, 256L, …);
    """,
    since="0.1.0",
    check=check,
    help="Pass the tensor the kernel was compiled for, or a view of it in the kernel's dtype (aoti_torch_*_view_dtype).",
)
