"""AL302: a handle is used after its tensor was moved or handed out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..analyzer.model.findings import Finding
from .registry import Rule
from .state_messages import empty_handle

if TYPE_CHECKING:
    from ..analyzer.analysis import Analysis


def check(analysis: Analysis) -> Iterator[Finding]:
    yield from empty_handle(analysis, RULE, ("moved", "released"), "gave its tensor away")
    yield from empty_handle(analysis, RULE, ("unbound",), "was deleted")


RULE = Rule(
    code="AL302",
    name="use-after-move",
    severity="error",
    summary="A tensor is used through a handle it was moved out of.",
    explanation="""
    std::move and release() leave the handle empty. The buffer lives on under another name, so the text still
    looks right, but this name holds nothing. In a Python wrapper a name ends with del: what uses it afterwards raises
    NameError.
    """,
    bad="""
    auto buf1 = std::move(buf0);  // reuse
    cpp_fused_add_1((const float*)(buf0.data_ptr()), (float*)(buf2.data_ptr()));
    """,
    good="""
    auto buf1 = std::move(buf0);  // reuse
    cpp_fused_add_1((const float*)(buf1.data_ptr()), (float*)(buf2.data_ptr()));
    """,
    since="0.1.0",
    check=check,
    help="Report it to the generator: a later use should name the new handle.",
)
