"""AL402: the wrapper calls a C symbol the runtime lacks, or one that always throws."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..analyzer.memory.trace import AllocFact, CallFact, ViewFact
from ..analyzer.model.findings import Finding, Related
from ..analyzer.model.location import Loc
from .registry import Rule

if TYPE_CHECKING:
    from ..analyzer.analysis import Analysis


def check(analysis: Analysis) -> Iterator[Finding]:
    uses: dict[str, list[tuple[Loc, tuple[str, ...]]]] = {}
    for fact in analysis.facts(CallFact):
        uses.setdefault(fact.event.op, []).append((fact.event.loc, fact.event.source_nodes))
    for made in analysis.facts(AllocFact):
        uses.setdefault(made.event.op, []).append((made.event.loc, ()))
    for view in analysis.facts(ViewFact):
        uses.setdefault(view.event.op, []).append((view.event.loc, ()))
    for symbol, places in uses.items():
        if not symbol.startswith("aoti_torch_"):
            continue
        state = analysis.profile.symbol(symbol)
        if state in ("absent", "throws"):
            what = (
                f"{analysis.profile.name} does not have {symbol}"
                if state == "absent"
                else (f"{symbol} is a stub that always throws in {analysis.profile.name}")
            )
            ends = (
                "the first call fails" if state == "throws" else "loading the model or the first call fails"
            )
            times = f", called {len(places)} times" if len(places) > 1 else ""
            yield RULE.finding(
                f"{what}{times}; {ends}", places[0][0], related=[Related("called here too", p) for p, _ in places[1:6]],
                op=symbol, source_nodes=places[0][1], stops=True,
            )  # fmt: skip


RULE = Rule(
    code="AL402",
    name="missing-symbol",
    severity="error",
    summary="The library that loads the wrapper has no such function, or only a stub that throws.",
    explanation="""
    Wrappers call into the runtime through C symbols. Where the library is opened lazily, a missing one shows at
    its first call, not when the model is loaded; a stub that throws shows at the same moment. All missing
    symbols of a wrapper are listed at once.
    """,
    bad="""
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_proxy_executor_call_function(proxy_executor, 0, …));
    """,
    good="""
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_mps_mm_out(buf0, arg0_1, weight));
    """,
    since="0.1.0",
    check=check,
    help="Decompose the op at export so that it becomes a generated kernel, or use a runtime that has it; "
    "'aoti-lint runtimes NAME' lists the symbols.",
)
