"""The finding for a handle that is used while it holds nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..analyzer.memory.trace import StateFact
from ..analyzer.model.findings import Finding, Related

if TYPE_CHECKING:
    from ..analyzer.analysis import Analysis
    from .registry import Rule


def empty_handle(analysis: Analysis, rule: Rule, kinds: tuple[str, ...], what: str) -> Iterator[Finding]:
    """One finding for each name and place it was emptied; later uses are related places."""
    groups: dict[tuple[str, int], list[StateFact]] = {}
    for fact in analysis.facts(StateFact):
        if fact.kind in kinds:
            groups.setdefault((fact.name, fact.since.line), []).append(fact)
    for uses in groups.values():
        first = uses[0]
        related = [Related(f"{first.name} {what} here", first.since)]
        related += [Related(f"used again: {u.use}", u.loc) for u in uses[1:4]]
        kernel, _, parameter = first.use.partition(" ") if " " in first.use else ("", "", "")
        yield rule.finding(
            f"{first.name} is used ({first.use}) after it {what}",
            first.loc, related=related, storage=first.tensor.storage.root.name if first.tensor else None,
            tensor=first.name, kernel=kernel or None, parameter=parameter or None,
            launch_line=first.loc.line if kernel else None,
        )  # fmt: skip
