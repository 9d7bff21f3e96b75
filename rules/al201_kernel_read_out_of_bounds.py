"""AL201: a kernel reads outside the storage behind an argument."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..analyzer.model.findings import Finding
from .bounds_messages import out_of_bounds
from .registry import Rule

if TYPE_CHECKING:
    from ..analyzer.analysis import Analysis


def check(analysis: Analysis) -> Iterator[Finding]:
    yield from out_of_bounds(analysis, RULE, ("load",), "reads")


RULE = Rule(
    code="AL201",
    name="kernel-read-out-of-bounds",
    severity="error",
    summary="A kernel reads elements that its argument's storage does not have.",
    explanation="""
    The index of the load, over every iteration in which its guards hold, leaves the storage the runtime puts
    behind the argument. The kernel reads whatever lies there, or the process is killed. The witness is an
    iteration at which it happens.
    """,
    bad="""
    auto buf1 = wrap_with_raii_handle_if_needed(reinterpret_tensor_wrapper(buf0, 1, {64L, }, {1L, }, 0L));
    kernel_reading_4480_elements((const float*)(buf1.data_ptr()), …);      // buf0 holds 64
    """,
    good="""
    kernel_reading_64_elements((const float*)(buf1.data_ptr()), …);
    """,
    since="0.1.0",
    check=check,
    help="Compare the kernel's strides with the view it is given; where the runtime copies a view, keep the "
    "view dense or use a runtime that keeps it in place.",
)
