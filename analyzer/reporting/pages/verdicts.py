"""Which runtimes take which wrapper, as a table that leads to the parts of the page."""

from __future__ import annotations

from collections.abc import Sequence

from ..compare import Row, Verdict
from ..formats.compared import WORDS
from .markup import Markup, join, tag

_PILL: dict[Verdict, str] = {
    "takes": "none", "warnings": "warning", "wrong": "error", "stops": "error", "failed": "error"
}  # fmt: skip


def verdicts(rows: Sequence[Row], addresses: Sequence[str]) -> Markup:
    """A row for each wrapper under each runtime; ``addresses`` are those of their sections."""
    head = tag(
        "tr",
        (tag("th", word, scope="col") for word in ("Wrapper", "Runtime", "Verdict", "Errors", "Warnings", "Why")),
    )  # fmt: skip
    body = (_row(row, address) for row, address in zip(rows, addresses, strict=True))
    return tag(
        "section",
        tag("h2", "Which runtime takes what"),
        tag("div", tag("table", tag("thead", head), tag("tbody", *body), class_="verdicts"), class_="scroll"),
    )


def _row(row: Row, address: str) -> Markup:
    reasons = [r for r in row.reasons if r.severity != "note"][:3]
    why = [tag("div", f"{r.code} {r.name} ({r.count}): {r.message}") for r in reasons]
    return tag(
        "tr",
        tag("td", row.file.path),
        tag("td", tag("a", row.file.runtime or "any", href=f"#{address}")),
        tag("td", tag("span", WORDS[row.verdict], class_=f"pill {_PILL[row.verdict]}")),
        tag("td", row.count("error")),
        tag("td", row.count("warning")),
        tag("td", row.file.error or join(*why)),
    )
