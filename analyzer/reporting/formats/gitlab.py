"""``--format gitlab``: a GitLab Code Quality report."""

from __future__ import annotations

import json
from typing import Any

from ...model.findings import Report, Severity, fingerprint
from ...model.location import Loc
from ..words import shown
from . import Context, place

_SEVERITY: dict[Severity, str] = {"error": "critical", "warning": "major", "note": "info"}


def render(report: Report, context: Context) -> str:
    issues: list[dict[str, Any]] = []
    for file in report.files:
        name = shown(file.path, context.root)
        if file.status == "failed":
            text = f"not analysed: {file.error}"
            identity = fingerprint(name, "failed")
            issues.append(_issue("aoti-lint", text, "blocker", Loc(file.path, 1), identity, context))
        for f in file.findings:
            # A finding's fingerprint is unique in its file only; GitLab wants it unique in the report.
            identity = fingerprint(name, f.fingerprint)
            check = f"{f.code} {f.name}"
            issues.append(_issue(check, f.message, _SEVERITY[f.severity], f.loc, identity, context))
    return json.dumps(_unique(issues), indent=1) + "\n"


def _issue(check: str, text: str, severity: str, loc: Loc, identity: str, context: Context) -> dict[str, Any]:
    path, line, inside = place(loc, context.root)
    return {
        "check_name": check,
        "description": inside + text,
        "severity": severity,
        "fingerprint": identity,
        "location": {"path": path, "lines": {"begin": line}},
    }


def _unique(issues: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The issues without those of a file that was named twice."""
    return list({issue["fingerprint"]: issue for issue in issues}.values())
