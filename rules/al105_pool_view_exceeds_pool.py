"""AL105: a member of a memory pool reaches past the pool."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..analyzer.checks.pools import Member, member
from ..analyzer.memory.trace import ViewFact
from ..analyzer.model.findings import Evidence, Finding
from . import common
from .registry import Rule

if TYPE_CHECKING:
    from ..analyzer.analysis import Analysis


def check(analysis: Analysis) -> Iterator[Finding]:
    for fact in analysis.facts(ViewFact):
        if fact.event.how != "pool":
            continue
        found = member(fact, analysis.ranges)
        if found is not None and found.decision.status == "fault":
            yield _finding(analysis, fact, found)


def _finding(analysis: Analysis, fact: ViewFact, found: Member) -> Finding:
    view, pool, d = fact.tensor, fact.source.storage, found.decision
    sizes = {k: v for k, v in (d.witness or {}).items() if k in analysis.ranges.bounds}
    at = f" at {common.witness_text(sizes)}" if sizes else ""
    return RULE.finding(
        f"{common.named(view)} takes bytes {found.first} to {found.last} of {pool.name}, "
        f"which has {d.available}{at}",
        fact.event.loc, related=common.origin(fact.source), storage=pool.root.name, tensor=view.label,
        base=view.base, op=fact.event.op, source_nodes=common.source_nodes(analysis, view),
        evidence=Evidence(
            min=found.first, max=found.last, available=common.number(found.capacity), unit="bytes",
            witness=d.witness, sizes=common.numbers(view.sizes), strides=common.numbers(view.meant_strides),
            offset=common.number(found.start),
        ),
    )  # fmt: skip


RULE = Rule(
    code="AL105",
    name="pool-view-exceeds-pool",
    severity="error",
    summary="A tensor placed in a memory pool takes bytes that the pool does not have.",
    explanation="""
    Memory planning puts several tensors into one allocation, each at an offset in bytes that was worked out
    when the wrapper was generated. The call that places a tensor checks nothing: one whose last byte lies past
    the end of the pool makes every kernel that uses it read or write foreign memory.
    """,
    bad="""
    // pool0 has 4096 bytes; {16, 48} floats take 3072 of them from byte 2048 on
    aoti_torch__alloc_from_pool(pool0, 2048L, cached_torch_dtype_float32, 2, int_array_1, int_array_2, &tmp_tensor_handle_1);
    """,
    good="""
    // pool0 has 5120 bytes
    aoti_torch__alloc_from_pool(pool0, 2048L, cached_torch_dtype_float32, 2, int_array_1, int_array_2, &tmp_tensor_handle_1);
    """,
    since="0.1.0",
    check=check,
    help="Export with torch._inductor.config.memory_planning = False, and report the plan as a generator bug.",
)
