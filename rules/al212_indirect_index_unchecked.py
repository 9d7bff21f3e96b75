"""AL212: an index read from memory is used without a check."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..analyzer.checks.indirect import unchecked
from ..analyzer.memory.trace import Verdict
from ..analyzer.model.findings import Evidence, Finding, Related
from . import common
from .registry import Rule

if TYPE_CHECKING:
    from ..analyzer.analysis import Analysis


def check(analysis: Analysis) -> Iterator[Finding]:
    """One note for each launch and parameter."""
    for _, _, _, verdicts in common.by_parameter(analysis, ("load", "store", "atomic")):
        for v in verdicts:
            names = unchecked(v, analysis.ranges)
            if names:
                yield _finding(analysis, v, names)
                break


def _finding(analysis: Analysis, v: Verdict, names: tuple[str, ...]) -> Finding:
    launch, tensor, access = v.launch, v.tensor, v.access
    word = common.access_word(access.kind)
    verb = {"read": "reads", "write": "writes"}.get(word, "updates")
    holds = f"; {tensor.storage.name} holds {v.capacity}" if v.capacity is not None else ""
    return RULE.finding(
        f"{launch.event.kernel} {verb} {v.param.name}[{access.text}], and no check bounds {', '.join(names)}, "
        f"which {'is' if len(names) == 1 else 'are'} loaded from memory{holds}",
        launch.event.loc,
        related=[*common.origin(tensor), Related(f"{v.param.name}[{access.text}]", access.loc)],
        storage=tensor.storage.root.name, tensor=tensor.label, base=tensor.base, kernel=launch.event.kernel,
        parameter=v.param.name, launch_line=launch.event.loc.line,
        source_nodes=common.source_nodes(analysis, tensor, launch),
        evidence=Evidence(
            access=word, available=common.number(v.capacity), sizes=common.numbers(tensor.sizes),
            strides=common.numbers(tensor.meant_strides or tensor.strides), offset=common.number(v.start),
        ),
    )  # fmt: skip


RULE = Rule(
    code="AL212",
    name="indirect-index-unchecked",
    severity="note",
    summary="An index is loaded from memory and used as it is, without a check that it is in range.",
    explanation="""
    For gathers, embeddings and scatters the generator emits a bounds check on the loaded index. Where it is
    missing, switched off or never true, the values in memory decide what is read or written: with wrong input
    data that is any address. Nothing is wrong as long as the data is right, so this is a note.
    """,
    bad="""
    auto tmp0 = in_ptr0[x0];
    auto tmp1 = in_ptr1[x1 + 24*tmp0];                          // tmp0 is any integer
    """,
    good="""
    auto tmp0 = in_ptr0[x0];
    if ((tmp0 < 0) || (tmp0 >= 50)) return;
    auto tmp1 = in_ptr1[x1 + 24*tmp0];                          // 0 <= tmp0 < 50
    """,
    since="0.1.0",
    check=check,
    help="Check or clamp the index in the model (torch.clamp, torch._check), and leave "
    "torch._inductor.config.assert_indirect_indexing switched on.",
)
