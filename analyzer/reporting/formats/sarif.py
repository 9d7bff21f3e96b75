"""``--format sarif``: SARIF 2.1.0, as code scanning services read it."""

from __future__ import annotations

import json
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from ...model.codes import CODES
from ...model.findings import FileReport, Finding, Report, Severity
from ...model.location import Loc
from ..words import shown
from . import Context, RuleText

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"

_LEVEL: dict[Severity, str] = {"error": "error", "warning": "warning", "note": "note"}
#: Faults that corrupt or disclose memory outside the tensor: CVSS-like score and weakness class.
_SECURITY: dict[str, tuple[str, str]] = {
    "AL201": ("6.5", "cwe-125"),
    "AL202": ("8.1", "cwe-787"),
    "AL301": ("7.0", "cwe-416"),
    "AL302": ("7.0", "cwe-416"),
    "AL303": ("7.0", "cwe-415"),
    "AL304": ("7.0", "cwe-416"),
}


def render(report: Report, context: Context) -> str:
    codes = sorted({*context.rules, *(f.code for file in report.files for f in file.findings)})
    index = {code: n for n, code in enumerate(codes)}
    run = {
        "tool": {
            "driver": {
                "name": "aoti-lint",
                "semanticVersion": report.version,
                "informationUri": "https://pypi.org/project/aoti-lint/",
                "rules": [_rule(code, context.rules.get(code)) for code in codes],
            }
        },
        "columnKind": "unicodeCodePoints",
        "invocations": [_invocation(report, context)],
        "results": [_result(f, index, context) for file in report.files for f in file.findings],
        "properties": {"summary": report.to_json()["summary"]},
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1) + "\n"


def _rule(code: str, rule: RuleText | None) -> dict[str, Any]:
    name, severity = CODES[code]
    out: dict[str, Any] = {
        "id": code,
        "name": "".join(word.capitalize() for word in name.split("-")),
        "defaultConfiguration": {"level": _LEVEL[severity]},
        "shortDescription": {"text": rule.summary if rule else name},
    }
    if rule:
        out["fullDescription"] = {"text": rule.explanation}
        out["help"] = {"text": f"{rule.explanation}\n\n{rule.help}", "markdown": _markdown(rule)}
    tags = ["correctness"]
    properties: dict[str, Any] = {"tags": tags, "precision": "very-high" if severity == "error" else "high"}
    if code in _SECURITY:
        properties["security-severity"], cwe = _SECURITY[code]
        tags += ["security", f"external/cwe/{cwe}"]
    else:
        properties["problem.severity"] = "recommendation" if severity == "note" else severity
    return {**out, "properties": properties}


def _markdown(rule: RuleText) -> str:
    return (
        f"{rule.explanation}\n\n**What to do.** {rule.help}\n\n"
        f"Bad:\n```cpp\n{rule.bad}\n```\nGood:\n```cpp\n{rule.good}\n```\n"
    )


def _result(f: Finding, index: dict[str, int], context: Context) -> dict[str, Any]:
    primary = _location(f.loc, context)
    out: dict[str, Any] = {
        "ruleId": f.code,
        "ruleIndex": index[f.code],
        "level": _LEVEL[f.severity],
        "message": {"text": f.message + (f"\n{f.help}" if f.help else "")},
        "locations": [_named(primary, f)],
        "partialFingerprints": {"aotiLint/v1": f.fingerprint},
        "properties": {
            "evidence": f.evidence.to_json(),
            "kernel": f.kernel, "parameter": f.parameter, "op": f.op, "tensor": f.tensor, "base": f.base,
            "storage": f.storage, "sourceNodes": list(f.source_nodes),
        },
    }  # fmt: skip
    if f.related:
        chain = [{**_location(r.loc, context), "message": {"text": r.message}} for r in f.related]
        out["relatedLocations"] = [{"id": n, **step} for n, step in enumerate(chain, 1)]
        end = {**primary, "message": {"text": f.message}}
        steps = [{"location": step} for step in [*chain, end]]
        out["codeFlows"] = [{"threadFlows": [{"locations": steps}]}]
    return out


def _named(location: dict[str, Any], f: Finding) -> dict[str, Any]:
    """The location with the kernel, op or tensor it is about, when the finding names one."""
    for name, kind in ((f.kernel, "function"), (f.op, "function"), (f.tensor, "variable")):
        if name:
            return {**location, "logicalLocations": [{"name": name, "kind": kind}]}
    return location


def _location(loc: Loc, context: Context) -> dict[str, Any]:
    region = {"startLine": loc.line, "startColumn": max(loc.column, 1)}
    if loc.end_line > loc.line or (loc.end_line == loc.line and loc.end_column > loc.column):
        region |= {"endLine": loc.end_line, "endColumn": max(loc.end_column, 1)}
    return {"physicalLocation": {"artifactLocation": _artifact(loc.path, context), "region": region}}


def _artifact(path: str, context: Context) -> dict[str, str]:
    short = shown(path, context.root)
    if PurePath(short).is_absolute():
        return {"uri": PurePath(short).as_uri()}
    return {"uri": quote(short, safe="/!"), "uriBaseId": "%SRCROOT%"}


def _invocation(report: Report, context: Context) -> dict[str, Any]:
    failed = [file for file in report.files if file.status == "failed"]
    out: dict[str, Any] = {"executionSuccessful": not failed}
    if failed:
        out["toolExecutionNotifications"] = [_notification(file, context) for file in failed]
    return out


def _notification(file: FileReport, context: Context) -> dict[str, Any]:
    return {
        "level": "error",
        "message": {"text": f"{shown(file.path, context.root)}: {file.error}"},
        "locations": [{"physicalLocation": {"artifactLocation": _artifact(file.path, context)}}],
    }
