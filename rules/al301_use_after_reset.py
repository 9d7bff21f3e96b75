"""AL301: a handle is used after it was reset."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..analyzer.model.findings import Finding
from .registry import Rule
from .state_messages import empty_handle

if TYPE_CHECKING:
    from ..analyzer.analysis import Analysis


def check(analysis: Analysis) -> Iterator[Finding]:
    yield from empty_handle(analysis, RULE, ("reset",), "was reset")


RULE = Rule(
    code="AL301",
    name="use-after-reset",
    severity="error",
    summary="A tensor is used after its handle let go of it.",
    explanation="""
    reset() frees the tensor as soon as no other handle holds it. Whatever uses the handle afterwards gets a
    null tensor or memory that belongs to someone else by now.
    """,
    bad="""
    buf0.reset();
    cpp_fused_add_1((const float*)(buf0.data_ptr()), (float*)(buf1.data_ptr()));
    """,
    good="""
    cpp_fused_add_1((const float*)(buf0.data_ptr()), (float*)(buf1.data_ptr()));
    buf0.reset();
    """,
    since="0.1.0",
    check=check,
    help="Report it to the generator: a reset stands before the last use.",
)
