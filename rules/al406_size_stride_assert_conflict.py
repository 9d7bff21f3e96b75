"""AL406: the wrapper asserts a layout that the tensor can't have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..analyzer.checks.layout_conflicts import Conflict, conflicts
from ..analyzer.model.findings import Evidence, Finding, Related
from . import common
from .registry import Rule

if TYPE_CHECKING:
    from ..analyzer.analysis import Analysis


def check(analysis: Analysis) -> Iterator[Finding]:
    for found in conflicts(analysis):
        yield _finding(analysis, found)


def _finding(analysis: Analysis, found: Conflict) -> Finding:
    tensor, event = found.fact.tensor, found.fact.event
    real = common.braces(found.sizes)
    if found.strides is not None:
        real += f"/{common.braces(found.strides)}"
    source = f"{found.made_by.event.op} returns {real}" if found.made_by else f"it is {real}"
    where = f"the {found.what} of dim {found.dim}" if found.dim >= 0 else f"the {found.what}"
    related = common.origin(tensor)
    if found.made_by is not None:
        related = [Related("the op is called here", found.made_by.event.loc)]
    return RULE.finding(
        f"the wrapper asserts {common.named(tensor)} to be {common.braces(event.sizes)}/{common.braces(event.strides)}, "
        f"but {source}: {where} differs",
        event.loc, related=related, storage=tensor.storage.root.name, tensor=event.name, base=tensor.base,
        op=found.made_by.event.op if found.made_by else None,
        source_nodes=common.source_nodes(analysis, tensor),
        evidence=Evidence(
            sizes=common.numbers(event.sizes), strides=common.numbers(event.strides),
            available=common.number(tensor.storage.capacity),
        ),
    )  # fmt: skip


RULE = Rule(
    code="AL406",
    name="size-stride-assert-conflict",
    severity="error",
    summary="An assert_size_stride states a layout that the tensor provably does not have.",
    explanation="""
    The wrapper states the layout that everything after this line was compiled for. Where that differs from how
    the tensor was made, from what an op returns for these operands, or from an earlier statement about the same
    tensor, the run stops here when checks are on (AOTI_RUNTIME_CHECK_INPUTS=1), and the kernels read wrong
    elements when they are off. Strides of dims of one element don't matter and are not compared.
    """,
    bad="""
    // a 3x3 convolution of {1, 8, 16, 16} without padding returns {1, 8, 14, 14}
    assert_size_stride(buf1, {1L, 8L, 16L, 16L}, {2048L, 256L, 16L, 1L}, "torch.ops.aten.convolution.default");
    """,
    good="""
    assert_size_stride(buf1, {1L, 8L, 14L, 14L}, {1568L, 196L, 14L, 1L}, "torch.ops.aten.convolution.default");
    """,
    since="0.1.0",
    check=check,
    help="Export again: the wrapper and the op (often a custom op's meta function) disagree about the result.",
)
