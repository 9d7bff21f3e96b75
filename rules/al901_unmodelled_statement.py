"""AL901: a statement of the wrapper that is not understood."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..analyzer.analysis import unmodelled_statements
from ..analyzer.model.findings import Finding
from .registry import Rule

if TYPE_CHECKING:
    from ..analyzer.analysis import Analysis


def check(analysis: Analysis) -> Iterator[Finding]:
    for event in unmodelled_statements(analysis):
        text = event.text if len(event.text) <= 90 else event.text[:87] + "..."
        why = f": {event.reason}" if event.reason else ""
        yield RULE.finding(f"not understood: {text}{why}", event.loc)


RULE = Rule(
    code="AL901",
    name="unmodelled-statement",
    severity="note",
    summary="A statement of the wrapper is not understood, so nothing is claimed about what it does.",
    explanation="""
    The analysis knows the statements the generator is known to emit. Anything else is listed here and counted;
    what depends on it is unknown, never proved. With --strict it is an error.
    """,
    bad="""
    some_new_helper(buf0, buf1);
    """,
    good="""
    auto buf1 = std::move(buf0);  // reuse
    """,
    since="0.1.0",
    check=check,
    help="Report the statement with the torch version that emitted it.",
)
