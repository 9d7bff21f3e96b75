"""Which runtimes take a wrapper: what a report on several of them says of each, in a row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal, TypeAlias

from ..model.findings import SEVERITIES, FileReport, Finding, Report, Severity
from ..model.record import record, replace

#: From good to bad; ``wrong`` is wrong data or foreign memory, ``stops`` an abort or an error, ``failed`` not analysed.
Verdict: TypeAlias = Literal["takes", "warnings", "wrong", "stops", "failed"]
VERDICTS: tuple[Verdict, ...] = ("takes", "warnings", "wrong", "stops", "failed")


@record(frozen=True)
class Reason:
    """All findings of one code and severity in a wrapper; ``message`` is that of the first."""

    code: str
    name: str
    severity: Severity
    stops: bool
    count: int
    message: str


@record(frozen=True)
class Row:
    """One wrapper under one runtime. ``reasons`` are what decides the verdict first, then the most frequent."""

    file: FileReport
    verdict: Verdict
    reasons: tuple[Reason, ...]

    def count(self, severity: Severity) -> int:
        return sum(r.count for r in self.reasons if r.severity == severity)

    def to_json(self) -> dict[str, Any]:
        return {
            "path": self.file.path,
            "runtime": {
                "name": self.file.runtime, "date": self.file.runtime_date, "releases": list(self.file.releases),
            },
            "verdict": self.verdict,
            "errors": self.count("error"), "warnings": self.count("warning"), "notes": self.count("note"),
            "unknown": self.file.counts.unknown + self.file.counts.unmodelled_statements,
            "reasons": [
                {"code": r.code, "name": r.name, "severity": r.severity, "count": r.count, "message": r.message}
                for r in self.reasons
            ],
        }  # fmt: skip


def compared(report: Report) -> bool:
    """Whether a wrapper is in the report under several runtimes."""
    seen: dict[str, str] = {}
    return any(f.runtime and seen.setdefault(f.path, f.runtime) != f.runtime for f in report.files)


def rows(report: Report) -> list[Row]:
    """One for each entry of the report, in its order."""
    return [row(file) for file in report.files]


def row(file: FileReport) -> Row:
    groups: dict[tuple[str, Severity], list[Finding]] = {}
    for f in file.findings:
        groups.setdefault((f.code, f.severity), []).append(f)
    reasons = [
        Reason(code, fs[0].name, severity, any(f.stops for f in fs), len(fs), _first(fs).message)
        for (code, severity), fs in groups.items()
    ]
    reasons.sort(key=lambda r: (SEVERITIES.index(r.severity), not r.stops, -r.count, r.code))
    return Row(file, _verdict(file, reasons), tuple(reasons))


def _first(findings: list[Finding]) -> Finding:
    return next((f for f in findings if f.stops), findings[0])


def _verdict(file: FileReport, reasons: Iterable[Reason]) -> Verdict:
    if file.status == "failed":
        return "failed"
    errors = [r for r in reasons if r.severity == "error"]
    if any(r.stops for r in errors):
        return "stops"
    if errors:
        return "wrong"
    return "warnings" if any(r.severity == "warning" for r in reasons) else "takes"


def merged(report: Report) -> Report:
    """For services that show a place once: one entry for each wrapper, with every finding once, under the first
    runtime that has it, and how many more do."""
    if not compared(report):
        return report
    files: dict[str, list[FileReport]] = {}
    for file in report.files:
        files.setdefault(file.path, []).append(file)
    return Report([_merge(same) for same in files.values()], report.version)


def _merge(files: list[FileReport]) -> FileReport:
    found: dict[tuple[str, str], list[tuple[Finding, FileReport]]] = {}
    for file in files:
        for f in file.findings:
            found.setdefault((f.fingerprint, f.severity), []).append((f, file))
    findings = [replace(same[0][0], message=_on(same)) for same in found.values()]
    findings.sort(key=lambda f: (f.loc.line, f.loc.column, f.code))
    lines = {place: text for file in files for place, text in file.lines.items()}
    failed = next((file for file in files if file.status == "failed"), None)
    return replace(failed or files[0], findings=list(_apart(findings)), lines=lines)


def _on(same: list[tuple[Finding, FileReport]]) -> str:
    (finding, file), *others = same
    return f"{finding.message} [{file.runtime}" + (f" and {len(others)} more]" if others else "]")


def _apart(findings: list[Finding]) -> Iterator[Finding]:
    """One fingerprint may have several severities, one for each runtime; the report has each once."""
    from ..model.findings import fingerprint

    seen: set[str] = set()
    for f in findings:
        same = f.fingerprint in seen
        seen.add(f.fingerprint)
        yield replace(f, fingerprint=fingerprint(f.fingerprint, f.severity)) if same else f
