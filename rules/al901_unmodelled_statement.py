"""AL901: a statement of the wrapper that is not understood."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..analyzer.analysis import unmodelled_statements
from ..analyzer.model.findings import Finding, Severity
from ..analyzer.model.program import Unmodelled
from .registry import Rule

if TYPE_CHECKING:
    from ..analyzer.analysis import Analysis


#: What the C++ parser says of a buffer or an input that is used and was never declared.
_UNDECLARED = re.compile(r"undeclared identifier '((?:buf|arg)\d\w*)'")


def check(analysis: Analysis) -> Iterator[Finding]:
    events = unmodelled_statements(analysis)
    for event in events:
        text = event.text if len(event.text) <= 90 else event.text[:87] + "..."
        why = f": {event.reason}" if event.reason else ""
        severity: Severity | None = "warning" if _names_nothing(event, events) else None
        yield RULE.finding(f"not understood: {text}{why}", event.loc, severity=severity)


def _names_nothing(event: Unmodelled, events: list[Unmodelled]) -> bool:
    """Whether a statement names a buffer that the wrapper never makes: such a wrapper does not compile.

    Not where a statement before it that is not understood may be what makes it.
    """
    missing = _UNDECLARED.search(event.reason)
    if missing is None:
        return False
    name = re.compile(rf"\b{missing[1]}\b")
    earlier = (
        e
        for e in events
        if e is not event and (e.loc.line, e.loc.column) < (event.loc.line, event.loc.column)
    )
    return not any(name.search(e.text) for e in earlier)


RULE = Rule(
    code="AL901",
    name="unmodelled-statement",
    severity="note",
    summary="A statement of the wrapper is not understood, so nothing is claimed about what it does.",
    explanation="""
    The analysis knows the statements the generator is known to emit. Anything else is listed here and counted;
    what depends on it is unknown, never proved. With --strict it is an error. A statement that uses a buffer which
    nothing has made is a warning: such a wrapper does not compile.
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
