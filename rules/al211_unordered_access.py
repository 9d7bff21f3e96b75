"""AL211: what is read may not have been written yet, as the runtime does not order the two."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..analyzer.concurrency.runtime_order import Touch, Unordered, unordered
from ..analyzer.memory.trace import LaunchFact, ViewFact
from ..analyzer.model.findings import Finding, Related
from . import common
from .registry import Rule

if TYPE_CHECKING:
    from ..analyzer.analysis import Analysis


def check(analysis: Analysis) -> Iterator[Finding]:
    for found in unordered(analysis):
        yield _finding(analysis, found)


def _name(touch: Touch) -> str:
    fact = touch.fact
    if isinstance(fact, ViewFact):
        return "the copy of this view"
    return fact.event.kernel if isinstance(fact, LaunchFact) else fact.event.op


def _finding(analysis: Analysis, found: Unordered) -> Finding:
    reader, writer = found.reader, found.writers[-1]
    tensor = reader.tensor
    view = writer.tensor if writer.tensor.second_buffer and not tensor.second_buffer else tensor
    launch = reader.fact if isinstance(reader.fact, LaunchFact) else None
    more = f" and {len(found.writers) - 1} before" if len(found.writers) > 1 else ""
    related = [
        *(
            Related(f"{_name(w)} writes {common.named(w.tensor)} here", w.fact.event.loc)
            for w in found.writers[-4:]
        ),
        *common.origin(view),
    ]
    why = f"the view at element {view.offset} of {tensor.storage.name} is a second buffer over the same memory, and "
    if found.copied:
        why = "the CPU copies the elements, and "
    return RULE.finding(
        f"{_name(reader)} reads {common.named(tensor)} after {_name(writer)} wrote {common.named(writer.tensor)}{more}; "
        f"{why}{analysis.profile.name} does not make the read wait",
        reader.fact.event.loc, related=related, storage=tensor.storage.root.name, tensor=tensor.label,
        base=tensor.base, kernel=launch.event.kernel if launch else None, parameter=reader.parameter,
        launch_line=launch.event.loc.line if launch else None,
        op=None if isinstance(reader.fact, LaunchFact) else reader.fact.event.op,
        source_nodes=common.source_nodes(analysis, tensor, launch), evidence=common.layout_evidence(view),
    )  # fmt: skip


RULE = Rule(
    code="AL211",
    name="unordered-access",
    severity="warning",
    summary="A buffer is read in a way that the runtime does not order after the writes before it.",
    explanation="""
    This runtime binds a view at an offset as a second buffer object over the same memory. The GPU driver tracks
    hazards by buffer object, so a kernel or op that reads through the view may run before the one that wrote
    through the parent has finished (and the other way round). Copies that the CPU makes, of a
    view with gaps at an offset or to host memory, may not wait for queued work either. Whether it goes wrong
    depends on timing: stale values now and then, or always.
    """,
    bad="""
    aoti_torch_mps_set_arg_tensor(handle, 0, buf1);                      // the kernel writes buf1
    aoti_torch_mps_mm_out(buf2, reinterpret_tensor_wrapper(buf1, 2, {6L, 16L}, {16L, 1L}, 96L), …);
    """,
    good="""
    // offset 0: the view has the address, and so the buffer object, of buf1
    aoti_torch_mps_mm_out(buf2, reinterpret_tensor_wrapper(buf1, 2, {6L, 16L}, {16L, 1L}, 0L), …);
    """,
    since="0.1.0",
    check=check,
    help="Make the part that is read a buffer of its own (.clone() or .contiguous() in the model), or use a runtime "
    "version that binds views as buffer and offset.",
)
