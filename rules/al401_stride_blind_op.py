"""AL401: an op takes its operand for another layout than it has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..analyzer.findings import Finding
from .op_messages import judged
from .registry import Rule

if TYPE_CHECKING:
    from ..analyzer.analysis import Analysis


def check(analysis: Analysis) -> Iterator[Finding]:
    yield from judged(analysis, RULE, "misread")


RULE = Rule(
    code="AL401",
    name="stride-blind-op",
    severity="error",
    summary="A library op does not look at the strides of an operand that is not laid out as it assumes.",
    explanation="""
    The op describes its operand by sizes alone, as dense in a fixed order, and the operand is laid out
    otherwise (channels-last, transposed, padded). Nothing fails; every result is wrong.
    """,
    bad="""
    // buf0 is {1, 8, 16, 16} with strides {2048, 1, 128, 8}; the op reads it as {2048, 256, 16, 1}
    aoti_torch_mps_convolution(buf0, weight, …, &buf1_handle);
    """,
    good="""
    // buf0 is {1, 8, 16, 16} with strides {2048, 256, 16, 1}
    aoti_torch_mps_convolution(buf0, weight, …, &buf1_handle);
    """,
    since="0.1.0",
    check=check,
    help="Export with torch._inductor.config.layout_optimization = False so that the operand stays contiguous, "
    "or use a runtime whose op reads strides.",
)
