"""AL306: a tensor that is never freed: the runtime holds on to it, or no handle owns it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..analyzer.memory.storage import Storage, Tensor
from ..analyzer.memory.trace import StateFact, ViewFact
from ..analyzer.model.findings import Finding, Related
from ..analyzer.runtimes.predicates import numel
from . import common
from .registry import Rule

if TYPE_CHECKING:
    from ..analyzer.analysis import Analysis

#: Storages a runtime counts references of: constants are only wrapped, and live as long as the model.
_OWNED = ("allocation", "result", "input", "copy")


def check(analysis: Analysis) -> Iterator[Finding]:
    leaked: dict[Storage, list[ViewFact]] = {}
    for fact in analysis.facts(ViewFact):
        if fact.outcome.leaks and fact.outcome.kind == "alias" and fact.source.storage.kind in _OWNED:
            leaked.setdefault(fact.source.storage, []).append(fact)
    for storage, views in leaked.items():
        yield _finding(analysis, storage, views)
    for state in analysis.facts(StateFact):
        if state.kind == "leaked" and state.tensor is not None:
            yield _unowned(analysis, state, state.tensor)


def _unowned(analysis: Analysis, state: StateFact, tensor: Tensor) -> Finding:
    kept = f"nor what it holds on to, {tensor.storage.name}" if tensor.view else "nor its memory"
    return RULE.finding(
        f"the tensor object behind {state.name} is never freed, {kept}: no owner takes the handle, and it is neither "
        "handed out nor deleted; each run leaks another",
        state.loc, related=common.origin(tensor), storage=tensor.storage.root.name, tensor=tensor.label, base=tensor.base,
        source_nodes=common.source_nodes(analysis, tensor), evidence=common.layout_evidence(tensor),
        help="Let an owner take the handle: RAIIAtenTensorHandle name(handle).",
    )  # fmt: skip


def _finding(analysis: Analysis, storage: Storage, views: list[ViewFact]) -> Finding:
    first = views[0]
    more = f" and {len(views) - 1} more" if len(views) > 1 else ""
    size = f" ({storage.capacity} elements of {storage.dtype})" if storage.capacity is not None else ""
    also = "".join(f"; {text}" for text in _besides(first, views))
    return RULE.finding(
        f"{analysis.profile.name} never frees {storage.name}{size}: {common.named(first.tensor)}, a view at offset "
        f"{first.event.offset}{more}, holds on to it; each run leaks another{also}",
        first.event.loc,
        related=[
            *common.origin(first.source),
            *(Related(f"another view at offset {v.event.offset}", v.event.loc) for v in views[1:4]),
        ],
        storage=storage.root.name, tensor=first.tensor.label, base=first.tensor.base, op=first.event.op,
        source_nodes=common.source_nodes(analysis, first.tensor), evidence=common.layout_evidence(first.tensor),
    )  # fmt: skip


def _besides(first: ViewFact, views: list[ViewFact]) -> Iterator[str]:
    """What else becomes of views that have a buffer object of their own."""
    if first.tensor.storage.device == "cpu":
        yield first.outcome.reason
    for other in views[1:]:
        same = other.tensor.offset == first.tensor.offset and other.tensor.sizes != first.tensor.sizes
        if same and numel(other.tensor.sizes or ()) != numel(first.tensor.sizes or ()):
            yield (
                f"from line {other.event.loc.line} on {common.named(first.tensor)} is bound with the length of "
                f"{common.named(other.tensor)}, {numel(other.tensor.sizes or ())} elements"
            )
            return


RULE = Rule(
    code="AL306",
    name="runtime-leak",
    severity="warning",
    summary="A tensor is never freed: no handle owns it, or this runtime holds on to it for a view at an offset.",
    explanation="""
    A call that returns a tensor through a raw handle gives the object away: an RAIIAtenTensorHandle must take it, or
    it must be handed out or deleted. A ConstantHandle only borrows.

    ExecuTorch's Metal runtime leaks by itself. It counts the references to a buffer and adds one for every view at an offset, which nothing takes
    away again. The results are right; memory grows with every run until the model is unloaded.
    """,
    bad="""
    auto buf1 = wrap_with_raii_handle_if_needed(reinterpret_tensor_wrapper(buf0, 2, {6L, 16L}, {16L, 1L}, 96L));
    buf0.reset();      // the count stays at 1
    """,
    good="""
    auto buf1 = wrap_with_raii_handle_if_needed(reinterpret_tensor_wrapper(buf0, 2, {6L, 16L}, {16L, 1L}, 0L));
    buf0.reset();
    """,
    since="0.1.0",
    check=check,
    help="Let kernels index into the buffer themselves (the pointwise slices of one fused kernel do), or use a "
    "runtime version that binds views as buffer and offset.",
)
