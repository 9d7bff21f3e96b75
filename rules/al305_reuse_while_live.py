"""AL305: memory was given to another tensor while an older one is still read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..analyzer.checks import contents
from ..analyzer.memory.trace import ViewFact
from ..analyzer.model.findings import Finding
from .content_messages import finding
from .registry import Rule

if TYPE_CHECKING:
    from ..analyzer.analysis import Analysis


def check(analysis: Analysis) -> Iterator[Finding]:
    for fault in contents.faults(analysis):
        if (
            fault.kind != "clobbered"
            or not isinstance(fault.other, ViewFact)
            or fault.other.event.how == "pool"
        ):
            continue
        taker = fault.other.tensor.name
        yield finding(
            analysis, RULE, fault,
            f"{fault.tensor.name} is read after {taker} took over its memory and wrote elements {fault.first} "
            f"to {fault.last}",
        )  # fmt: skip


RULE = Rule(
    code="AL305",
    name="reuse-while-live",
    severity="error",
    summary="A buffer was reused for another tensor, and the tensor that was there before is read again.",
    explanation="""
    Memory is reused when its tensor is dead. Here a view or handle of the old tensor is read after the new one
    was written over it: it finds the new tensor's values.
    """,
    bad="""
    auto buf1 = wrap_with_raii_handle_if_needed(reinterpret_tensor_wrapper(buf0, …)); buf0.reset();  // reuse
    kernel_writing((float*)(buf1.data_ptr()));
    kernel_reading((const float*)(an_older_view_of_buf0.data_ptr()), …);
    """,
    good="""
    kernel_reading((const float*)(an_older_view_of_buf0.data_ptr()), …);
    auto buf1 = wrap_with_raii_handle_if_needed(reinterpret_tensor_wrapper(buf0, …)); buf0.reset();  // reuse
    """,
    since="0.1.0",
    check=check,
    help="Report it to the generator: the last use of the old tensor comes after the reuse.",
)
