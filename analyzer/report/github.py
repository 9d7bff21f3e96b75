"""``--format github``: workflow commands that GitHub shows as annotations on a change."""

from __future__ import annotations

from ..findings import SEVERITIES, Finding, Report, Severity
from . import Context, plural, shown

#: GitHub shows ten annotations of a level and step; the tenth is kept for the number of the others.
LIMIT = 9
_LEVEL: dict[Severity, str] = {"error": "error", "warning": "warning", "note": "notice"}


def render(report: Report, context: Context) -> str:
    """The most severe first, at most :data:`LIMIT` of a level and one line for the rest of it."""
    commands: dict[str, list[str]] = {_LEVEL[s]: [] for s in SEVERITIES}
    for file in report.files:
        if file.status == "failed":
            where = {"file": shown(file.path, context.root), "title": "aoti-lint: not analysed"}
            commands["error"].append(_command("error", where, file.error or ""))
        for finding in file.findings:
            level = _LEVEL[finding.severity]
            commands[level].append(_command(level, _where(finding, context), _text(finding)))
    lines: list[str] = []
    for level, found in commands.items():
        lines += found[:LIMIT]
        rest = len(found) - LIMIT
        if rest > 0:
            message = f"{plural(rest, level)} more; the text, JSON and SARIF reports have them all"
            lines.append(_command(level, {"title": "aoti-lint"}, message))
    return "".join(line + "\n" for line in lines)


def _where(finding: Finding, context: Context) -> dict[str, str]:
    loc = finding.loc
    where = {"file": shown(loc.path, context.root), "line": str(loc.line), "col": str(loc.column)}
    # GitHub refuses a column range that spans lines.
    if loc.end_line > loc.line:
        where["endLine"] = str(loc.end_line)
        del where["col"]
    elif loc.end_column > loc.column:
        where["endColumn"] = str(loc.end_column)
    where["title"] = f"{finding.code} {finding.name}"
    return where


def _text(finding: Finding) -> str:
    return finding.message + (f"\nhelp: {finding.help}" if finding.help else "")


def _command(level: str, properties: dict[str, str], message: str) -> str:
    listed = ",".join(f"{k}={_property(v)}" for k, v in properties.items())
    return f"::{level} {listed}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
