"""AL104: a write through a view whose elements share memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..analyzer.concurrency.self_overlap import Overlap, overlapping_ops, overlapping_stores
from ..analyzer.concurrency.write_races import Race
from ..analyzer.memory.storage import Tensor
from ..analyzer.memory.trace import CallFact
from ..analyzer.model.findings import Evidence, Finding, Related
from ..analyzer.model.record import replace
from . import common
from .outcomes import Refusal, refusal
from .pair_messages import at, differing, witness
from .registry import Rule

if TYPE_CHECKING:
    from ..analyzer.analysis import Analysis


def check(analysis: Analysis) -> Iterator[Finding]:
    for fact, tensor, found in overlapping_ops(analysis):
        yield _op(analysis, fact, tensor, found)
    for race, found in overlapping_stores(analysis):
        yield _store(analysis, race, found)


def _places(found: Overlap) -> tuple[dict[str, int], dict[str, int]]:
    """Both places, by dimension."""
    first, second = ({f"d{i}": k for i, k in enumerate(p)} for p in (found.first, found.second))
    return first, second


def _shared(tensor: Tensor, found: Overlap) -> str:
    return (
        f"{common.named(tensor)} {common.braces(tensor.sizes)}/{common.braces(tensor.strides)} has element "
        f"{found.element} of {tensor.storage.name} at {found.first} and at {found.second}"
    )


def _op(analysis: Analysis, fact: CallFact, tensor: Tensor, found: Overlap) -> Finding:
    event, refused = fact.event, _refused(analysis, fact) if found.expanded else None
    why = f": {refused.reason}" if refused is not None else ": what is written last stays"
    related = [Related(f"{event.op} writes it here", event.loc), *common.origin(tensor)]
    return RULE.finding(
        f"{event.op} writes a tensor that overlaps itself ({_shared(tensor, found)}){at(found.sizes)}{why}",
        tensor.loc if tensor.view else event.loc, severity="warning" if refused is None else refused.severity,
        related=related, storage=tensor.storage.root.name, tensor=tensor.label, base=tensor.base, op=event.op,
        source_nodes=event.source_nodes,
        evidence=replace(
            common.layout_evidence(tensor), access="write", min=found.element, max=found.element,
            witness=witness(found.sizes, *_places(found)),
        ),
        stops=refused is not None and refused.stops,
    )  # fmt: skip


def _refused(analysis: Analysis, fact: CallFact) -> Refusal | None:
    """The runtime's answer to a copy, if it does not do it."""
    dst, src = (*fact.args, None, None)[:2]
    if fact.event.op != "aoti_torch_copy_" or not isinstance(dst, Tensor) or not isinstance(src, Tensor):
        return None
    if dst.layout is None or src.layout is None:
        return None
    return refusal(analysis.profile.copy(dst.layout, src.layout, analysis.ranges))


def _store(analysis: Analysis, race: Race, found: Overlap) -> Finding:
    v, event = race.store, race.store.launch.event
    first, second = differing(race.first, race.second)
    doubt = f"; {race.doubt}" if race.doubt else ""
    related = [
        Related(f"{event.kernel} is launched here", event.loc),
        Related(f"{v.param.name}[{v.access.text}]", v.access.loc),
        *common.origin(v.tensor),
    ]
    return RULE.finding(
        f"{event.kernel} stores element {race.element} of {v.storage.name} through {v.param.name} for {first} and for "
        f"{second}{at(race.sizes)}: {_shared(v.tensor, found)}{doubt}",
        v.tensor.loc if v.tensor.view else event.loc, severity=None if race.certain else "warning",
        related=related, storage=v.storage.root.name, tensor=v.tensor.label, base=v.tensor.base,
        kernel=event.kernel, parameter=v.param.name, launch_line=event.loc.line,
        source_nodes=common.source_nodes(analysis, v.tensor, v.launch),
        evidence=Evidence(
            access="write", min=race.element, max=race.element, available=common.number(v.capacity),
            witness=witness(race.sizes, race.first, race.second), sizes=common.numbers(v.tensor.sizes),
            strides=common.numbers(v.tensor.strides), offset=common.number(v.start),
        ),
    )  # fmt: skip


RULE = Rule(
    code="AL104",
    name="overlapping-view-written",
    severity="error",
    summary="An op or a kernel writes through a view in which several places are one element of memory.",
    explanation="""
    An expanded view has stride 0 in a dimension of several elements; a sliding window has strides that are too
    short for its sizes. Different places of such a tensor are one element in memory. What is written to one of
    them changes the others, and only what is written last stays. libtorch refuses to copy into an expanded view.

    It is an error when the runtime refuses the write, or when a kernel stores to one element in two iterations
    what it read from different ones; otherwise a warning. A kernel that writes each element once, by an index of
    its own, and ops that write one value everywhere are fine.
    """,
    bad="""
    static constexpr int64_t int_array_2[] = {4L, 4L};
    static constexpr int64_t int_array_3[] = {0L, 1L};    // four rows that are one row
    aoti_torch_copy_(wrap_with_raii_handle_if_needed(reinterpret_tensor_wrapper(buf0, 2, int_array_2, int_array_3, 0L)), arg0_1, 0);
    """,
    good="""
    static constexpr int64_t int_array_3[] = {4L, 1L};
    aoti_torch_copy_(wrap_with_raii_handle_if_needed(reinterpret_tensor_wrapper(buf0, 2, int_array_2, int_array_3, 0L)), arg0_1, 0);
    """,
    since="0.1.0",
    check=check,
    help="Make the tensor contiguous before it is written (x = x.clone() in the model).",
)
