"""From what was found to what is reported: strictness, selection, and the exit code."""

from __future__ import annotations

from collections.abc import Iterator

from ..config import Settings
from ..model.codes import CODES
from ..model.findings import SEVERITIES, FileReport, Finding, Report, Severity, fingerprint
from ..model.location import Loc
from ..model.record import replace
from .fingerprint import number, unnumbered

#: Codes that say what the analysis could not do; errors under ``--strict``.
UNDECIDED = frozenset({"AL901", "AL902", "AL903", "AL904"})


def failing(settings: Settings) -> tuple[Severity, ...]:
    """The severities that make the run fail."""
    if settings.fail_on == "never":
        return ()
    return SEVERITIES[: SEVERITIES.index(settings.fail_on) + 1]


def exit_code(report: Report, settings: Settings) -> int:
    """3 when an input could not be analysed, 1 when a finding is severe enough, else 0."""
    if any(file.status == "failed" for file in report.files):
        return 3
    fails = failing(settings)
    return int(any(f.severity in fails for file in report.files for f in file.findings))


def select(report: Report, settings: Settings) -> None:
    """Leaves the findings that are asked for; under ``--strict`` what is undecided becomes an error."""
    for file in report.files:
        found = list(file.findings)
        if settings.strict:
            found = number([*found, *_undecided(file)])
        file.findings = [harden(f, settings) for f in found if settings.wants(f.code)]


def harden(finding: Finding, settings: Settings) -> Finding:
    """The finding with the severity it has under ``--strict``."""
    if settings.strict and finding.code in UNDECIDED:
        return replace(finding, severity="error")
    return finding


def _undecided(file: FileReport) -> Iterator[Finding]:
    """A finding for each unknown that no other finding explains."""
    said = {(f.loc.path, f.loc.line) for f in file.findings if f.code in UNDECIDED}
    for u in file.unknowns:
        loc = Loc(u.path or file.path, u.line)
        if (loc.path, loc.line) not in said:
            yield _strict_finding(f"{u.what} is undecided: {u.reason}", loc, u.what, u.reason)
    open_ends = file.counts.unknown + file.counts.unmodelled_statements
    if open_ends and not said and not file.unknowns:
        yield _strict_finding(f"{open_ends} accesses or statements are undecided", Loc(file.path, 1))


def _strict_finding(message: str, loc: Loc, *what: str) -> Finding:
    code = "AL904"
    name, severity = CODES[code]
    identity = fingerprint(code, *(unnumbered(w) for w in what))
    help = "read the reason; accept it with a [[suppress]] entry, or check without --strict"
    return Finding(code, name, severity, message, loc, help=help, fingerprint=identity)
