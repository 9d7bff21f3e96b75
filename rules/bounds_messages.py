"""The finding for an access outside its storage, shared by the rules on reads and on writes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..analyzer.memory.trace import Verdict
from ..analyzer.model.findings import Evidence, Finding, Related
from ..analyzer.reporting.footprints import ends
from . import common

if TYPE_CHECKING:
    from ..analyzer.analysis import Analysis
    from .registry import Rule


def out_of_bounds(analysis: Analysis, rule: Rule, kinds: tuple[str, ...], verb: str) -> Iterator[Finding]:
    """One finding for each launch and parameter with an access outside, by its furthest access."""
    for _launch, _tensor, _param, verdicts in common.by_parameter(analysis, kinds):
        faults = [v for v in verdicts if v.decision.status == "fault"]
        if faults:
            yield _finding(analysis, rule, verb, common.extreme(faults), verdicts)


def _finding(analysis: Analysis, rule: Rule, verb: str, v: Verdict, verdicts: list[Verdict]) -> Finding:
    d, tensor, launch = v.decision, v.tensor, v.launch
    storage = tensor.storage
    where = (d.index or 0) + _at(v)
    side = "up to element" if where >= 0 else "element"
    holds = f"the packed copy of {common.named(tensor)}" if storage.kind == "copy" else storage.name
    message = (
        f"{launch.event.kernel} {verb} {side} {where} through {v.param.name}, but {holds} holds {d.available}"
    )
    sizes = {k: x for k, x in (d.witness or {}).items() if k in analysis.ranges.bounds}
    if sizes:
        message += f" at {common.witness_text(sizes)}"
    related = common.origin(tensor)
    if storage.kind == "copy" and storage.of is not None:
        related.insert(0, _why_copied(analysis, tensor))
    related.append(Related(f"{v.param.name}[{v.access.text}]", v.access.loc))
    loc = launch.event.loc
    if storage.kind == "copy" and v.access.kind != "load":
        loc = tensor.loc
        related.append(Related(f"{launch.event.kernel} is launched here", launch.event.loc))
    return rule.finding(
        message, loc, related=related, storage=storage.root.name, tensor=tensor.label, base=tensor.base,
        kernel=launch.event.kernel, parameter=v.param.name, launch_line=launch.event.loc.line,
        source_nodes=common.source_nodes(analysis, tensor, launch), evidence=_evidence(analysis, v, verdicts),
    )  # fmt: skip


def _at(v: Verdict) -> int:
    """Start of the pointer in its storage at the witness."""
    from ..analyzer.symbolic import evaluate

    return int(evaluate(v.start, v.decision.witness or {})) if v.start.value is None else v.start.value


def _why_copied(analysis: Analysis, tensor: object) -> Related:
    from ..analyzer.memory.trace import ViewFact

    for fact in analysis.facts(ViewFact):
        if fact.tensor is tensor or fact.tensor.storage is getattr(tensor, "storage", None):
            return Related(f"{analysis.profile.name} copies this view: {fact.outcome.reason}", fact.event.loc)
    raise AssertionError("a copy without a view")


def _evidence(analysis: Analysis, v: Verdict, verdicts: list[Verdict]) -> Evidence:
    sizes = {k: x for k, x in (v.decision.witness or {}).items() if k in analysis.ranges.bounds}
    span = ends(verdicts, analysis.ranges, v.start, at=sizes) or {}
    return Evidence(
        access=common.access_word(v.access.kind), min=span.get("min"), max=span.get("max"),
        available=common.number(v.capacity), witness=common.with_names(v, v.decision.witness),
        sizes=common.numbers(v.tensor.sizes), strides=common.numbers(v.tensor.meant_strides or v.tensor.strides),
        offset=common.number(v.start),
    )  # fmt: skip
