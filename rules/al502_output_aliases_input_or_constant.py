"""AL502: an output shares memory with an input, a constant or another output."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..analyzer.checks.shared_outputs import Shared, shared_outputs
from ..analyzer.model.findings import Finding, Related
from . import common
from .registry import Rule

if TYPE_CHECKING:
    from ..analyzer.analysis import Analysis


def check(analysis: Analysis) -> Iterator[Finding]:
    if analysis.program.dialect != "aoti":
        return  # what torch.compile generates is called by code that knows which results are inputs
    if analysis.profile.output_facts.copied:
        return
    for found in shared_outputs(analysis):
        yield _finding(analysis, found)


def _finding(analysis: Analysis, found: Shared) -> Finding:
    tensor, event = found.tensor, found.fact.event
    related = common.origin(tensor)
    if found.other is not None:
        with_what = f"output {found.other.event.index}"
        related.append(Related(f"output {found.other.event.index} is handed out here", found.other.event.loc))
    else:
        with_what = f"{found.kind} {tensor.storage.name}"
    return RULE.finding(
        f"output {event.index} ({common.named(tensor)}) shares memory with {with_what}: "
        "a change of one shows in the other",
        event.loc, related=related, storage=tensor.storage.root.name, tensor=tensor.label, base=tensor.base,
        source_nodes=common.source_nodes(analysis, tensor), evidence=common.layout_evidence(tensor),
    )  # fmt: skip


RULE = Rule(
    code="AL502",
    name="output-aliases-input-or-constant",
    severity="warning",
    summary="An output is not memory of its own: it shares bytes with an input, a constant or another output.",
    explanation="""
    The caller gets a view of memory that somebody else uses. Writing to it changes the model's weights, the
    caller's own input, or a second output; freeing or reusing the input takes the result away. Inputs that the
    wrapper itself writes are returned on purpose and are not reported, nor is one handle that fills two places.
    """,
    bad="""
    auto var_0 = wrap_with_raii_handle_if_needed(reinterpret_tensor_wrapper(lin_weight, 2, {8L, 4L}, {1L, 8L}, 0L));
    output_handles[0] = var_0.release();
    """,
    good="""
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_clone(lin_weight, &output_handles[0]));
    """,
    since="0.1.0",
    check=check,
    help="Return a copy (x.clone()) from the model where the caller may write to the result.",
)
