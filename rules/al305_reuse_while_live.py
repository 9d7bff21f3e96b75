"""AL305: memory was given to another tensor while an older one is still read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..analyzer.checks import contents
from ..analyzer.memory.trace import CallFact, LaunchFact, MoveFact, ViewFact
from ..analyzer.model.findings import Finding, Related
from ..analyzer.model.record import replace
from . import common
from .content_messages import finding
from .registry import Rule

if TYPE_CHECKING:
    from ..analyzer.analysis import Analysis


def check(analysis: Analysis) -> Iterator[Finding]:
    for fault in contents.faults(analysis):
        taker = fault.other
        if fault.kind == "dropped":
            yield _dropped(analysis, fault)
        if fault.kind != "clobbered" or not isinstance(taker, (ViewFact, MoveFact)) or _pool(taker):
            continue
        found = finding(
            analysis, RULE, fault,
            f"{common.named(fault.tensor)} is read after {taker.tensor.name} took over its memory and wrote elements "
            f"{fault.first} to {fault.last}",
        )  # fmt: skip
        where = Related(f"{taker.tensor.name} takes the memory over here", taker.event.loc)
        yield replace(found, related=(*found.related, where))


def _pool(taker: ViewFact | MoveFact) -> bool:
    return isinstance(taker, ViewFact) and taker.event.how == "pool"


def _dropped(analysis: Analysis, fault: contents.Fault) -> Finding:
    """The caller's input was changed for the caller to see, and the change is gone."""
    storage, change = fault.tensor.storage, fault.other
    assert isinstance(change, (LaunchFact, CallFact))
    found = finding(
        analysis, RULE, fault,
        f"{fault.tensor.name} takes over the memory of input {storage.name} and overwrites elements {fault.first} to "
        f"{fault.last}, which the wrapper has changed for the caller to see",
        severity="warning",
    )  # fmt: skip
    where = Related(f"{storage.name} is changed here", change.event.loc)
    return replace(found, related=(*found.related, where), evidence=replace(found.evidence, access="write"))


RULE = Rule(
    code="AL305",
    name="reuse-while-live",
    severity="error",
    summary="A buffer was reused for another tensor, and the tensor that was there before is read again.",
    explanation="""
    Memory is reused when its tensor is dead. Here a view or handle of the old tensor is read after the new one
    was written over it: it finds the new tensor's values. It does not matter how the memory changed hands, by a view
    or by the handle itself, nor how the old tensor is reached: a view, the same bytes as another dtype, an output.

    An input that the wrapper has changed belongs to the caller, who is to see the change. Where another tensor
    takes its memory over and overwrites the change without using it, that is a warning: the caller may have given
    the input away.
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
