"""Findings on operands of library ops, from what the runtime's op policy says about them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeAlias

from ..analyzer.memory.storage import Tensor
from ..analyzer.memory.trace import CallFact, LaunchFact
from ..analyzer.model.findings import Finding
from ..analyzer.model.record import replace
from ..analyzer.runtimes.model import Judgement, OpArg
from ..analyzer.runtimes.ops import OpPolicy
from ..analyzer.runtimes.profile import Outcome
from . import common
from .outcomes import effect, ends_run

if TYPE_CHECKING:
    from ..analyzer.analysis import Analysis
    from .registry import Rule


#: Arguments of a C call; a tensor without a known layout is left out.
Args: TypeAlias = "tuple[OpArg, ...]"


def judged(analysis: Analysis, rule: Rule, kind: str) -> Iterator[Finding]:
    """One finding for each judgement of ``kind`` on the arguments of every call."""
    calls: dict[str, list[Args]] = {}
    for fact in analysis.facts(CallFact):
        policy = analysis.profile.op(fact.event.op)
        if policy is None:
            continue
        args: Args = tuple(_asked(a) for a in fact.args)
        earlier = calls.setdefault(policy.name, [])
        after = _after(policy, args, earlier)
        for verdict in (*policy.judge(args, analysis.ranges), *after):
            if verdict.kind == kind:
                yield _finding(analysis, rule, fact, verdict)
        if policy.pair_checks and not after:
            earlier.append(args)


def _asked(argument: object) -> OpArg:
    """An argument as an op policy is asked about it, without a dtype that the wrapper does not state."""
    if not isinstance(argument, Tensor):
        return argument  # type: ignore[return-value]
    layout = argument.layout
    return replace(layout, dtype=None) if layout is not None and argument.storage.guessed else layout


def _after(policy: OpPolicy, args: Args, earlier: list[Args]) -> list[Judgement]:
    """What is wrong after the earlier calls, of which none was wrong after another."""
    found = (policy.judge_after(args, before) for before in earlier)
    return next(filter(None, found), [])


def kernel_args(analysis: Analysis, launch: LaunchFact) -> Iterator[tuple[Tensor, Outcome]]:
    """Tensors of a Metal kernel's launch, each once, with how the runtime hands them over."""
    if launch.kernel is None or launch.kernel.dialect != "metal":
        return
    for tensor in dict.fromkeys(launch.args.values()):
        if tensor.layout is not None:
            yield tensor, analysis.profile.kernel_arg(tensor.layout, analysis.ranges)


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
