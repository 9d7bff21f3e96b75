"""Do the findings about what memory holds (lost, misplaced and missing values) name what execution sees?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from aoti_lint.analyzer.analysis import Analysis
from aoti_lint.analyzer.model.findings import Finding
from aoti_lint.analyzer.pipeline import analyse
from aoti_lint.analyzer.sources import WrapperSource
from aoti_lint.rules.registry import run_rules

from .results import Execution, Touched
from .run import execute
from .script import Memory

#: What the rule claims, as the count of :class:`~.results.Touched` that shows it.
SHOWN_BY = {"AL203": ("stale",), "AL204": ("misread",), "AL205": ("unwritten",)}
#: Rules any of which explains a use of a place that holds no value or an old one.
EXPLAINED_BY = ("AL1", "AL2", "AL3", "AL4")


@dataclass(slots=True)
class Contents:
    """Claims that happened, claims that did not, and uses of wrong contents in files without a finding."""

    happened: int = 0
    wrong: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)


def contents(source: WrapperSource, runtime: str, memory: Memory) -> Contents:
    """Compare one wrapper under one runtime. Raises NotRun, NotBuilt."""
    analysis = analyse(source, runtime, {})
    findings = run_rules(analysis)
    symbols = {s.name for s in analysis.program.symbols}
    result = Contents()
    runs: dict[tuple[tuple[str, int], ...], Execution] = {}

    def run(sizes: Mapping[str, int]) -> Execution:
        key = tuple(sorted(sizes.items()))
        if key not in runs:
            runs[key] = execute(source, memory, sizes)
        return runs[key]

    for f in findings:
        if f.severity == "error" and f.code in SHOWN_BY and emulated(f, analysis):
            sizes = {n: v for n, v in (f.evidence.witness or {}).items() if n in symbols}
            seen = [t for line, t in uses(run(sizes)) if line in lines(f)]
            if any(getattr(t, kind) for t in seen for kind in SHOWN_BY[f.code]):
                result.happened += 1
            elif reached(f, run(sizes)):
                result.wrong.append(f"{f.loc.path}:{f.loc.line} {f.code} {f.message}")
    if (
        run({}).skipped
        or any(r.failed for r in run({}).ran)
        or any(f.severity != "note" and f.code.startswith(EXPLAINED_BY) for f in findings)
    ):
        return result  # a step that was left out proves nothing, and later uses follow from the first
    for line, t in uses(run({})):
        if t.unwritten or t.stale or t.misread:
            result.missed.append(
                f"{source.wrapper.path}:{line} {t.name}: {t.unwritten} unwritten, {t.stale} stale, {t.misread} misread"
            )
    return result


def emulated(f: Finding, analysis: Analysis) -> bool:
    """Whether execution can show the claim: all its tensors are on one device, and its ops write what they are given."""
    if f.code != "AL203":
        return True
    devices = {s.root.name: s.device for body in analysis.bodies for s in body.storages}
    return f.kernel is not None and devices.get(f.storage or "") == analysis.program.device


def reached(f: Finding, run: Execution) -> bool:
    """Whether the run got to where the claim would show: not when that is in the other arm, or was left out."""
    left_out = {event.loc.line for event, _ in run.skipped}
    used = {r.loc.line for r in f.related if "used here" in r.message} or {f.launch_line or f.loc.line}
    return not left_out & lines(f) and bool(used & {ran.event.loc.line for ran in run.ran})


def lines(f: Finding) -> set[int]:
    return {f.loc.line, f.launch_line or f.loc.line, *(r.loc.line for r in f.related)}


def uses(run: Execution) -> Iterator[tuple[int, Touched]]:
    """Everything that was touched, with the wrapper's line."""
    for ran in run.ran:
        for t in ran.touched:
            yield ran.event.loc.line, t
