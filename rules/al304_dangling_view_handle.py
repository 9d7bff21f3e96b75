"""AL304: the raw handle of a temporary tensor is used after its statement."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..analyzer.model.findings import Finding
from .registry import Rule
from .state_messages import empty_handle

if TYPE_CHECKING:
    from ..analyzer.analysis import Analysis


def check(analysis: Analysis) -> Iterator[Finding]:
    yield from empty_handle(analysis, RULE, ("dangling",), "lost its owner, a temporary of one statement,")


RULE = Rule(
    code="AL304",
    name="dangling-view-handle",
    severity="error",
    summary="The raw handle of a temporary view is kept and used after the statement that made it.",
    explanation="""
    reinterpret_tensor_wrapper and the like return an owner. Where the owner is a temporary, it is destroyed at the
    end of the statement, and its tensor with it: a raw handle taken from it points to freed memory from then on,
    whatever becomes of the storage. Within one statement, as an argument of a call, the same is fine.
    """,
    bad="""
    AtenTensorHandle v = reinterpret_tensor_wrapper(buf0, 1, int_array_0, int_array_1, 0L);
    aoti_torch_mps_set_arg_tensor(handle, 1, v);
    """,
    good="""
    auto v = reinterpret_tensor_wrapper(buf0, 1, int_array_0, int_array_1, 0L);
    aoti_torch_mps_set_arg_tensor(handle, 1, v);
    """,
    since="0.1.0",
    check=check,
    help="Keep the owner: declare the variable as auto or RAIIAtenTensorHandle.",
)
