"""Findings on operands of library ops, from what the runtime's op policy says about them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..analyzer.facts import CallFact
from ..analyzer.findings import Finding
from ..analyzer.memory import Tensor
from ..analyzer.runtimes.model import Judgement
from . import common
from .outcomes import effect, ends_run

if TYPE_CHECKING:
    from ..analyzer.analysis import Analysis
    from .registry import Rule


def judged(analysis: Analysis, rule: Rule, kind: str) -> Iterator[Finding]:
    """One finding for each judgement of ``kind`` on the arguments of every call."""
    for fact in analysis.facts(CallFact):
        policy = analysis.profile.op(fact.event.op)
        if policy is None:
            continue
        for verdict in judge(analysis, fact):
            if verdict.kind == kind:
                yield _finding(analysis, rule, fact, verdict)


def judge(analysis: Analysis, fact: CallFact) -> tuple[Judgement, ...]:
    """What the runtime's op policy says about a call; a tensor without a known layout is left out."""
    policy = analysis.profile.op(fact.event.op)
    if policy is None:
        return ()
    args = tuple(a.layout if isinstance(a, Tensor) else a for a in fact.args)
    return policy.judge(args, analysis.ranges)  # type: ignore[arg-type]


def _finding(analysis: Analysis, rule: Rule, fact: CallFact, verdict: Judgement) -> Finding:
    operand = fact.args[verdict.at] if 0 <= verdict.at < len(fact.args) else None
    tensor = operand if isinstance(operand, Tensor) else None
    event = fact.event
    what = f" ({common.named(tensor)})" if tensor else ""
    result = effect(verdict) if verdict.kind == "reject" else "the result is wrong without notice"
    return rule.finding(
        f"{event.op}: {verdict.reason}{what}; {result}",
        event.loc, related=common.origin(tensor) if tensor else (),
        storage=tensor.storage.root.name if tensor else None, tensor=tensor.label if tensor else None,
        base=tensor.base if tensor else None, op=event.op, source_nodes=event.source_nodes,
        evidence=common.layout_evidence(tensor) if tensor else None, stops=ends_run(verdict),
    )  # fmt: skip
