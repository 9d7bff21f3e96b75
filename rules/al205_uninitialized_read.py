"""AL205: elements are read that nothing has written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..analyzer.checks import contents
from ..analyzer.model.findings import Finding
from .content_messages import finding, lost_in_copies
from .registry import Rule

if TYPE_CHECKING:
    from ..analyzer.analysis import Analysis


def check(analysis: Analysis) -> Iterator[Finding]:
    for fault in contents.faults(analysis):
        if fault.kind == "unwritten" and fault.partial is None and not lost_in_copies(analysis, fault):
            yield finding(
                analysis, RULE, fault,
                f"elements {fault.first} to {fault.last} of {fault.tensor.storage.name} are read, "
                f"but nothing has written them since it was allocated",
                severity=None if fault.certain else "warning",
            )  # fmt: skip


RULE = Rule(
    code="AL205",
    name="uninitialized-read",
    severity="error",
    summary="A kernel, an op or the caller reads elements of a buffer that nothing wrote.",
    explanation="""
    empty_strided leaves memory as it is. Every element that is read must have been written before, through
    whichever view; all writes are added up exactly. The usual cause is a slice of a concatenation that nobody
    fills. Where the value read is always discarded by a later select, this is a warning.
    """,
    bad="""
    // buf2 has 32 elements; only the alias at 0 is written
    auto buf0 = wrap_with_raii_handle_if_needed(reinterpret_tensor_wrapper(buf2, 2, {2L, 8L}, {8L, 1L}, 0L));  // alias
    kernel_writing_16_elements((float*)(buf0.data_ptr()));
    kernel_reading_32_elements((const float*)(buf2.data_ptr()), …);
    """,
    good="""
    kernel_writing_16_elements((float*)(buf0.data_ptr()));
    kernel_writing_16_elements((float*)(buf1.data_ptr()));             // the alias at 16
    """,
    since="0.1.0",
    check=check,
    help="Find who should have written these elements: a missing launch, a view with a wrong offset, or an op "
    "that returns memory of its own.",
)
