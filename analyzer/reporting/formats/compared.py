"""Several runtimes in text: a table for a wrapper, or one over all wrappers."""

from __future__ import annotations

from collections import Counter

from ...model.findings import Report
from ..compare import Reason, Row, Verdict, rows
from ..words import plural, shown
from . import Context
from .table import table

#: How verdicts read, and in the summary of many wrappers.
WORDS: dict[Verdict, str] = {
    "takes": "takes it", "warnings": "warnings", "wrong": "wrong results", "stops": "stops", "failed": "not analysed",
}  # fmt: skip

#: Codes of a row, the gravest first.
_CODES = 4


def tables(report: Report, context: Context) -> str:
    """Runtimes down; for several wrappers how many each takes, and with ``verbose`` each wrapper's own table."""
    found: dict[str, list[Row]] = {}
    for row in rows(report):
        found.setdefault(row.file.path, []).append(row)
    parts = [_wrapper(mine, context) for mine in found.values()] if len(found) == 1 or context.verbose else []
    if len(found) > 1:
        parts.append(_summary([row for mine in found.values() for row in mine], len(found)))
    return "\n".join(parts)


def _wrapper(mine: list[Row], context: Context) -> str:
    """A row for each runtime, and below them each reason once, with the runtimes it is about."""
    file = mine[0].file
    about = ", ".join(filter(None, [file.device, f"torch {file.torch}" if file.torch else ""]))
    head = ("runtime", "verdict", "errors", "warnings", "undecided", "why")
    lines = [
        (
            r.file.runtime, WORDS[r.verdict], r.count("error"), r.count("warning"),
            r.file.counts.unknown + r.file.counts.unmodelled_statements, r.file.error or _codes(r),
        )
        for r in mine
    ]  # fmt: skip
    return f"{shown(file.path, context.root)}  {about}".rstrip() + f"\n{table(head, lines)}{_reasons(mine)}"


def _said(row: Row) -> list[Reason]:
    """What the verdict rests on."""
    return [r for r in row.reasons if r.severity != "note"][:_CODES]


def _codes(row: Row) -> str:
    return ", ".join(r.code + (f" ({r.count})" if r.count > 1 else "") for r in _said(row))


def _reasons(mine: list[Row]) -> str:
    about: dict[tuple[str, str], list[str]] = {}
    for row in mine:
        for reason in _said(row):
            message = reason.message.replace(row.file.runtime, "it")
            about.setdefault((f"{reason.code} {reason.name}", message), []).append(row.file.runtime)
    lines = [
        f"{title} on {names[0]}{f' and {len(names) - 1} more' if names[1:] else ''}: {message}\n"
        for (title, message), names in sorted(about.items())
    ]
    return "".join(["\n", *lines]) if lines else ""


def _summary(found: list[Row], wrappers: int) -> str:
    """For each runtime the number of wrappers with each verdict, and the codes of most of those it does not take."""
    by_runtime: dict[str, list[Row]] = {}
    for row in found:
        by_runtime.setdefault(row.file.runtime, []).append(row)
    unread = by_runtime.pop("", [])
    head = ("runtime", "wrappers", "takes", "of these with warnings", "wrong results", "stops", "most often")
    lines = []
    for runtime, mine in by_runtime.items():
        n = Counter(row.verdict for row in mine)
        why = [f"{code} in {count}" for code, count in refused(mine)[:4]]
        if n["failed"]:
            why.insert(0, f"not analysed {n['failed']}")
        lines.append(
            (
                runtime, len(mine), n["takes"] + n["warnings"], n["warnings"], n["wrong"], n["stops"],
                ", ".join(why),
            )
        )  # fmt: skip
    text = f"{plural(wrappers, 'wrapper')}\n{table(head, lines)}"
    return text + (f"{plural(len(unread), 'wrapper')} not analysed\n" if unread else "")


def refused(found: list[Row]) -> list[tuple[str, int]]:
    """Codes of errors with the number of wrappers that have them, the most frequent first."""
    count = Counter(r.code for row in found for r in row.reasons if r.severity == "error")
    return sorted(count.items(), key=lambda item: (-item[1], item[0]))
