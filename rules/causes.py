"""What is behind a finding: a few words that are equal for all findings with one root."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..analyzer.memory.trace import ViewFact
from ..analyzer.model.findings import Finding
from ..analyzer.model.record import replace

if TYPE_CHECKING:
    from ..analyzer.analysis import Analysis

#: Codes of what follows when a view is not where its kernel takes it to be.
_OF_COPIES = frozenset({"AL102", "AL201", "AL202", "AL203", "AL204", "AL205", "AL401"})
#: Codes of ops that take a layout for another one, and return it.
_OF_LAYOUTS = frozenset({"AL401", "AL404"})


def with_causes(analysis: Analysis, findings: Iterable[Finding]) -> list[Finding]:
    """The findings, each with its cause."""
    copied = {
        (fact.event.loc.path, fact.event.loc.line)
        for fact in analysis.facts(ViewFact)
        if fact.outcome.kind == "copy"
    }
    return [replace(f, cause=_cause(f, copied)) for f in findings]


def _cause(f: Finding, copied: set[tuple[str, int]]) -> str:
    if f.code in _OF_COPIES and (f.loc.path, f.loc.line) in copied:
        return "views with gaps are replaced by packed copies, and kernels go on with the strides of the view"
    if f.code in _OF_LAYOUTS and f.op:
        return f"{f.op} takes the layout of a tensor for another one"
    if f.code == "AL402":
        return f"the runtime has no working {f.op}"
    about = f.kernel or f.op or f.tensor or f.storage
    return f"{f.name} in {about}" if about else f.name
