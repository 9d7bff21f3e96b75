"""AL106: two members of a memory pool share bytes while both are in use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..analyzer.checks import contents
from ..analyzer.memory.trace import ViewFact
from ..analyzer.model.dtypes import ITEMSIZE
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
        if fault.kind != "clobbered" or not isinstance(taker, ViewFact) or taker.event.how != "pool":
            continue
        dtype = (fault.access.param.dtype if fault.access else None) or fault.tensor.dtype
        size = ITEMSIZE.get(dtype, 1)
        first, last = fault.first * size, (fault.last + 1) * size - 1
        found = finding(
            analysis, RULE, fault,
            f"{common.named(taker.tensor)} and {common.named(fault.tensor)} share bytes {first} to {last} of "
            f"{fault.tensor.storage.name}; {common.named(fault.tensor)} is read after {common.named(taker.tensor)} was written",
        )  # fmt: skip
        yield replace(
            found, loc=taker.event.loc, tensor=taker.tensor.label, base=taker.event.base,
            related=(*found.related, Related(f"{common.named(fault.tensor)} is placed here", fault.tensor.loc)),
            evidence=replace(found.evidence, min=first, max=last, unit="bytes", available=fault.capacity * size),
        )  # fmt: skip


RULE = Rule(
    code="AL106",
    name="pool-lifetimes-overlap",
    severity="error",
    summary="The memory planner gave two tensors the same bytes of a pool while both are still needed.",
    explanation="""
    Members of a pool may share bytes only when the first is dead before the second is written. Here the first
    is read after the second was written over it.
    """,
    bad="""
    aoti_torch__alloc_from_pool(pool0, 0, cached_torch_dtype_float32, 2, {32L, 64L}, …, &tmp_tensor_handle_0);     // bytes 0 to 8191
    aoti_torch__alloc_from_pool(pool0, 4096L, cached_torch_dtype_float32, 2, {32L, 64L}, …, &tmp_tensor_handle_1);
    """,
    good="""
    aoti_torch__alloc_from_pool(pool0, 8192L, cached_torch_dtype_float32, 2, {32L, 64L}, …, &tmp_tensor_handle_1);
    """,
    since="0.1.0",
    check=check,
    help="Export with torch._inductor.config.memory_planning = False and report the plan to the generator.",
)
