"""AL203: what is written into a copy never reaches the buffer it was taken from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..analyzer.checks import packed_copies
from ..analyzer.memory.storage import Tensor
from ..analyzer.memory.trace import CallFact, LaunchFact, OutputFact, Verdict, ViewFact
from ..analyzer.model.findings import Evidence, Finding, Related
from ..analyzer.reporting.footprints import ends
from . import common
from .op_messages import kernel_args
from .registry import Rule

if TYPE_CHECKING:
    from ..analyzer.analysis import Analysis, Body


def check(analysis: Analysis) -> Iterator[Finding]:
    for body in analysis.bodies:
        for fact in body.facts:
            if isinstance(fact, ViewFact) and _copied(fact):
                yield from _lost(analysis, body, fact)
            elif isinstance(fact, LaunchFact):
                yield from _by_value(analysis, body, fact)


def _copied(fact: ViewFact) -> bool:
    """Whether the runtime copies the view, when it is made or each time a kernel is given it."""
    return fact.outcome.kind == "copy" or (
        fact.outcome.kind == "alias" and fact.outcome.binding == "by-value"
    )


def _lost(analysis: Analysis, body: Body, fact: ViewFact) -> Iterator[Finding]:
    root = fact.tensor.storage.root
    for writer, tensor, verdict in packed_copies.writers(body, fact.tensor.storage):
        if fact.outcome.kind != "copy" and (tensor.loc != fact.tensor.loc or isinstance(writer, CallFact)):
            continue  # only launches are given their own copy, and only of this view
        later = packed_copies.used_later(body, root, writer.seq)
        if later is not None:
            yield _finding(analysis, body, fact, writer, tensor, verdict, later)


def _by_value(analysis: Analysis, body: Body, launch: LaunchFact) -> Iterator[Finding]:
    """What a GPU kernel writes to a tensor that the runtime hands it as a copy."""
    for tensor, outcome in kernel_args(analysis, launch):
        stores = [
            v for v in body.verdicts if v.launch is launch and v.tensor == tensor and v.access.kind != "load"
        ]
        later = packed_copies.used_later(body, tensor.storage, launch.seq) if stores else None
        if outcome.kind == "copied" and later is not None:
            yield _finding(analysis, body, None, launch, tensor, stores[0], later)


def _finding(
    analysis: Analysis,
    body: Body,
    fact: ViewFact | None,
    writer: LaunchFact | CallFact,
    tensor: Tensor,
    verdict: Verdict | None,
    later: LaunchFact | CallFact | OutputFact | object,
) -> Finding:
    root = tensor.storage.root
    kernel = writer.event.kernel if isinstance(writer, LaunchFact) else None
    name = kernel or (writer.event.op if isinstance(writer, CallFact) else "")
    through = f" through {verdict.param.name}" if verdict else ""
    related = common.origin(fact.source if fact is not None else tensor)
    related.append(Related(f"{name} writes the copy here", writer.event.loc))
    if verdict:
        related.append(Related(f"{verdict.param.name}[{verdict.access.text}]", verdict.access.loc))
    if isinstance(later, (LaunchFact, CallFact, OutputFact)):
        related.append(Related(f"{root.name} is used here, without what was written", later.event.loc))
    copy = "packed copy" if fact is not None and fact.outcome.kind == "copy" else "copy it is given"
    return RULE.finding(
        f"what {name} writes{through} into the {copy} of {common.named(tensor)} never reaches {root.name}, "
        f"which is used later",
        fact.event.loc if fact is not None else writer.event.loc, related=related, storage=root.name,
        tensor=tensor.label, base=tensor.base,
        kernel=kernel, parameter=verdict.param.name if verdict else None,
        launch_line=writer.event.loc.line if kernel else None,
        op=None if kernel else name, source_nodes=common.source_nodes(analysis, tensor),
        evidence=_evidence(analysis, body, tensor, writer, verdict),
    )  # fmt: skip


def _evidence(
    analysis: Analysis, body: Body, tensor: Tensor, writer: object, verdict: Verdict | None
) -> Evidence:
    layout = common.layout_evidence(tensor)
    if verdict is None:
        return layout
    mine = [
        v for v in body.verdicts
        if v.launch is writer and v.param is verdict.param and v.access.kind != "load"
    ]  # fmt: skip
    span = ends(mine, analysis.ranges, verdict.start) or {}
    return Evidence(
        access="write", min=span.get("min"), max=span.get("max"), available=common.number(verdict.capacity),
        sizes=layout.sizes, strides=layout.strides, offset=layout.offset,
    )  # fmt: skip


RULE = Rule(
    code="AL203",
    name="lost-write",
    severity="error",
    summary="A write goes into a packed copy, and the buffer it was meant for is used later without it.",
    explanation="""
    The wrapper fills part of a buffer through a view (the slice of a cat, say). The runtime gave it a copy
    instead; so it does with a CPU tensor that a GPU kernel writes. The buffer keeps what it held before, usually nothing, and is read as if it had been filled:
    silent wrong results.
    """,
    bad="""
    auto buf52 = wrap_with_raii_handle_if_needed(reinterpret_tensor_wrapper(buf55, 4, sizes, strides_with_holes, 32L));  // alias
    launch(kernel_writing_its_slice, buf52);
    convolution(buf55, …);                               // the slice was never written
    """,
    good="""
    launch(kernel_writing_the_whole_cat, buf55);
    convolution(buf55, …);
    """,
    since="0.1.0",
    check=check,
    help="Export so that the slices of a cat are dense (torch._inductor.config.layout_optimization = False), "
    "or use a runtime that keeps views in place.",
)
