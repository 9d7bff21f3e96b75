"""``--format gitlab``: a GitLab Code Quality report."""

from __future__ import annotations

import json
from typing import Any

from ..findings import Report, Severity, fingerprint
from . import Context, shown

_SEVERITY: dict[Severity, str] = {"error": "critical", "warning": "major", "note": "info"}


def render(report: Report, context: Context) -> str:
    issues: list[dict[str, Any]] = []
    for file in report.files:
        path = shown(file.path, context.root)
        if file.status == "failed":
            text = f"aoti-lint could not analyse this file: {file.error}"
            issues.append(_issue("aoti-lint", text, "blocker", path, 1, fingerprint(path, "failed")))
        for f in file.findings:
            # A finding's fingerprint is unique in its file only; GitLab wants it unique in the report.
            identity = fingerprint(path, f.fingerprint)
            where = shown(f.loc.path, context.root)
            check = f"{f.code} {f.name}"
            issues.append(_issue(check, f.message, _SEVERITY[f.severity], where, f.loc.line, identity))
    return json.dumps(_unique(issues), indent=1) + "\n"


def _issue(check: str, text: str, severity: str, path: str, line: int, identity: str) -> dict[str, Any]:
    return {
        "check_name": check,
        "description": text,
        "severity": severity,
        "fingerprint": identity,
        "location": {"path": path, "lines": {"begin": line}},
    }


def _unique(issues: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The issues without those of a file that was named twice."""
    return list({issue["fingerprint"]: issue for issue in issues}.values())
