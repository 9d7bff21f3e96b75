"""``--format junit``: one suite per wrapper, one failed case per finding that makes the run fail.

A wrapper without such findings is one passed case; findings below the threshold are in its output.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections import Counter

from ...model.findings import FileReport, Finding, Report
from ..words import shown
from . import Context


def render(report: Report, context: Context) -> str:
    root = ET.Element("testsuites", name="aoti-lint")
    for file in report.files:
        root.append(_suite(file, context))
    for count in ("tests", "failures", "errors"):
        root.set(count, str(sum(int(suite.get(count, "0")) for suite in root)))
    ET.indent(root, " ")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _suite(file: FileReport, context: Context) -> ET.Element:
    path = _clean(shown(file.path, context.root))
    failing = [f for f in file.findings if f.severity in context.fails]
    suite = ET.Element("testsuite", name=path, tests=str(len(failing) or 1))
    suite.set("failures", str(len(failing)))
    suite.set("errors", str(int(file.status == "failed")))
    suite.set("skipped", "0")
    named: Counter[str] = Counter()
    for f in failing:
        name = f"{f.code} {f.name} at line {f.loc.line}"
        named[name] += 1
        if named[name] > 1:
            name += f" ({named[name]})"
        case = ET.SubElement(suite, "testcase", name=name, classname=path)
        case.set("file", _clean(shown(f.loc.path, context.root)))
        case.set("line", str(f.loc.line))
        failure = ET.SubElement(case, "failure", message=_clean(f.message), type=f.code)
        failure.text = _clean(_detail(f, context))
    if not failing:
        case = ET.SubElement(suite, "testcase", name="check", classname=path)
        if file.status == "failed":
            ET.SubElement(case, "error", message=_clean(file.error or "not analysed"), type="failed")
    others = [_clean(_detail(f, context)) for f in file.findings if f not in failing]
    ET.SubElement(suite, "system-out").text = "\n\n".join([_verdicts(file), *others])
    return suite


def _verdicts(file: FileReport) -> str:
    a = file.counts.accesses
    return (
        f"accesses: {a['total']}, proved {a['proved']}, fault {a['fault']}, unknown {a['unknown']}; "
        f"unmodelled statements: {file.counts.unmodelled_statements}"
    )


def _detail(f: Finding, context: Context) -> str:
    lines = [
        f"{shown(f.loc.path, context.root)}:{f.loc.line}:{f.loc.column}: {f.severity}[{f.code}]: {f.message}"
    ]
    lines += [f"  {shown(r.loc.path, context.root)}:{r.loc.line}: {r.message}" for r in f.related]
    return "\n".join([*lines, *([f"  help: {f.help}"] if f.help else [])])


def _clean(text: str) -> str:
    """Without the characters that XML 1.0 cannot carry, not even escaped."""
    return re.sub(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "?", text)
