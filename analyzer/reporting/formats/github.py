"""``--format github``: workflow commands that GitHub shows as annotations on a change."""

from __future__ import annotations

from ...model.findings import SEVERITIES, Finding, Report, Severity
from ...model.location import Loc
from ..words import plural
from . import Context, place

#: GitHub shows ten annotations of a level and step; the tenth is kept for the number of the others.
LIMIT = 9
_LEVEL: dict[Severity, str] = {"error": "error", "warning": "warning", "note": "notice"}


def render(report: Report, context: Context) -> str:
    """The most severe first, at most :data:`LIMIT` of a level and one line for the rest of it."""
    commands: dict[str, list[str]] = {_LEVEL[s]: [] for s in SEVERITIES}
    for file in report.files:
        if file.status == "failed":
            path, _, inside = place(Loc(file.path, 1), context.root)
            where = {"file": path, "title": "aoti-lint: not analysed"}
            commands["error"].append(_command("error", where, inside + (file.error or "")))
        for finding in file.findings:
            level = _LEVEL[finding.severity]
            commands[level].append(_annotation(level, finding, context))
    lines: list[str] = []
    for level, found in commands.items():
        lines += found[:LIMIT]
        rest = len(found) - LIMIT
        if rest > 0:
            message = f"{plural(rest, level)} more; the text, JSON and SARIF reports have them all"
            lines.append(_command(level, {"title": "aoti-lint"}, message))
    return "".join(line + "\n" for line in lines)


def _annotation(level: str, finding: Finding, context: Context) -> str:
    loc = finding.loc
    path, line, inside = place(loc, context.root)
    where = {"file": path, "line": str(line)}
    # GitHub takes columns only of a range within one line.
    if loc.end_line > loc.line and not inside:
        where["endLine"] = str(loc.end_line)
    elif not inside:
        where["col"] = str(loc.column)
        if loc.end_column > loc.column:
            where["endColumn"] = str(loc.end_column)
    where["title"] = f"{finding.code} {finding.name}"
    help = f"\nhelp: {finding.help}" if finding.help else ""
    return _command(level, where, inside + finding.message + help)


def _command(level: str, properties: dict[str, str], message: str) -> str:
    listed = ",".join(f"{k}={_property(v)}" for k, v in properties.items())
    return f"::{level} {listed}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
