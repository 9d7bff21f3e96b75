"""AL207: a kernel writes elements of a storage that another of its iterations uses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..analyzer.concurrency.aliased_parameters import Hazard, hazards
from ..analyzer.concurrency.conflicts import Meeting
from ..analyzer.concurrency.shared_operands import SharedOperand, shared_operands
from ..analyzer.memory.trace import Verdict
from ..analyzer.model.findings import Evidence, Finding, Related, Severity
from . import common
from .pair_messages import at, differing, witness
from .registry import Rule

if TYPE_CHECKING:
    from ..analyzer.analysis import Analysis


def check(analysis: Analysis) -> Iterator[Finding]:
    for h in hazards(analysis):
        if h.meeting is not None:
            yield _finding(analysis, h, _order(h, h.meeting), _severity(h), h.meeting)
        else:
            word = "__restrict__" if h.use.param.restrict or h.write.param.restrict else "constant"
            message = (
                f"{h.use.launch.event.kernel} uses {h.use.storage.name} through {h.use.param.name} and writes it "
                f"through {h.write.param.name}, although a parameter promises ({word}) that nothing else does"
            )
            yield _finding(analysis, h, message, "warning", None)

    for shared in shared_operands(analysis):
        yield _operand(analysis, shared)


def _operand(analysis: Analysis, shared: SharedOperand) -> Finding:
    """A warning: which operand is changed is not in the wrapper, and the model may have passed the tensor twice."""
    tensor, event = shared.tensor, shared.fact.event
    return RULE.finding(
        f"{event.op} is given {common.named(tensor)} twice (tensors {shared.first} and {shared.second}) and has no "
        "result, so it changes an operand: what it reads through the other may be changed already",
        event.loc, severity="warning", related=common.origin(tensor), storage=tensor.storage.root.name,
        tensor=tensor.label, base=tensor.base, op=event.op, source_nodes=event.source_nodes,
        evidence=common.layout_evidence(tensor),
        help="Compare with the model: where it passes a clone, the clone was removed. Declare what the op changes "
        "(mutates_args) as it is.",
    )  # fmt: skip


def _severity(h: Hazard) -> Severity:
    """What two stores leave may be the same; what a load gives depends on the order."""
    doubt = h.meeting is not None and h.meeting.doubt
    return "error" if h.use.access.kind == "load" and not doubt else "warning"


def _order(h: Hazard, m: Meeting) -> str:
    kernel, storage = h.use.launch.event.kernel, h.use.storage.name
    verb = "reads" if h.use.access.kind == "load" else "writes"
    first, second = differing(m.first, m.second)
    when = "writes at the same time" if m.concurrent else "has already overwritten"
    return (
        f"{kernel} {verb} element {m.element} of {storage} through {h.use.param.name} ({first}), which it {when} "
        f"through {h.write.param.name} ({second}){at(m.sizes)}{f'; {m.doubt}' if m.doubt else ''}"
    )


def _finding(analysis: Analysis, h: Hazard, message: str, severity: Severity, m: Meeting | None) -> Finding:
    use, launch = h.use, h.use.launch
    related = common.origin(use.tensor)
    related += [Related(f"{v.param.name}[{v.access.text}]", v.access.loc) for v in (use, h.write)]
    return RULE.finding(
        message, launch.event.loc, severity=severity, related=related, storage=use.storage.root.name,
        tensor=use.tensor.label, base=use.tensor.base, kernel=launch.event.kernel, parameter=use.param.name,
        launch_line=launch.event.loc.line, source_nodes=common.source_nodes(analysis, use.tensor, launch),
        evidence=_evidence(use, m),
    )  # fmt: skip


def _evidence(use: Verdict, m: Meeting | None) -> Evidence:
    return Evidence(
        access=common.access_word(use.access.kind),
        min=None if m is None else m.element, max=None if m is None else m.element,
        available=common.number(use.capacity),
        witness=None if m is None else witness(m.sizes, m.first, m.second),
        sizes=common.numbers(use.tensor.sizes),
        strides=common.numbers(use.tensor.meant_strides or use.tensor.strides), offset=common.number(use.start),
    )  # fmt: skip


RULE = Rule(
    code="AL207",
    name="aliased-arguments",
    severity="error",
    summary="A kernel writes elements that another iteration reads, through one pointer or two to one storage.",
    explanation="""
    A kernel that works in place is right when each iteration touches its own elements only. When it reads what
    another iteration writes, through the same pointer or through two that are given one storage, the result depends
    on their order: the iterations of a grid or a parallel loop have none, and those of an ordinary loop read what was
    already overwritten. Views of one buffer that share no element are fine, and so is the same map for both.

    Threads of one group or program are ordered by a barrier between the two accesses. Without one, a thread of
    another SIMD group or warp may read before or after the write. That is so too where every thread of a group
    reads and writes one element, as a running statistic.

    An op that is called for what it changes, and given one tensor twice, is a warning: it may read through one
    operand what it has changed through the other.

    A pointer that is `__restrict__`, or `constant` in Metal, promises that its memory is not written through
    another one. When it is, by the same map, that is a warning: the compiler may keep or move loads. Metal kernels
    that work in place load from such a pointer before they store, which gives the right value in any case; only
    a load after the store is reported.
    """,
    bad="""
    cpp_fused_add_flip_0((const float*)(arg0_1.data_ptr()), (float*)(arg0_1.data_ptr()));
    // auto tmp1 = in_ptr0[24L + x1 + ((-8L)*x0)];       row 3 - x0, overwritten once x0 is 2
    // out_ptr0[x1 + 8L*x0] = tmp0 + tmp1;
    """,
    good="""
    cpp_fused_add_flip_0((const float*)(arg0_1.data_ptr()), (float*)(buf0.data_ptr()));
    """,
    since="0.1.0",
    check=check,
    help="Give the kernel a buffer of its own to write (clone the input before it is changed in place), or put a "
    "barrier between the two accesses where threads of one group exchange values.",
)
