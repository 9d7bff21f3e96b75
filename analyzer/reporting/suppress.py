"""Findings that a project has accepted: ``[[suppress]]`` entries and the baseline.

Generated files cannot carry comments that last, so both live outside them.  What no longer matches anything
is itself reported, as AL903.
"""

from __future__ import annotations

import collections
import json
import os
from collections.abc import Sequence
from datetime import date
from fnmatch import fnmatchcase
from pathlib import Path

from ..config import ConfigError, Settings, Suppression, parse_codes
from ..model.codes import CODES
from ..model.findings import FileReport, Finding, Report, fingerprint
from ..model.location import Loc
from .selection import harden
from .words import plural, shown

SCHEMA = "aoti-lint-baseline/1"
_STALE = "AL903"


def accept(
    report: Report, settings: Settings, new_baseline: Path | None, *, complete: bool = True
) -> list[str]:
    """Applies suppressions and the baseline, writing a new one first when asked; says what was left out.

    ``complete`` is false when the run sees a part of the inputs it was given: then nothing can be called stale.
    """
    said = []
    if dropped := suppress(report, settings, complete=complete):
        said.append(f"{plural(dropped, 'finding')} suppressed by {_short(settings.file)}")
    if new_baseline is not None:
        count = write_baseline(report, new_baseline)
        said.append(f"{plural(count, 'finding')} written to {_short(new_baseline)}")
    known = new_baseline or settings.baseline
    if known is not None and (dropped := apply_baseline(report, known, settings, complete=complete)):
        said.append(f"{plural(dropped, 'finding')} known from {_short(known)}")
    return said


def _short(path: Path | None) -> str:
    return shown(str(path), str(Path.cwd()))


def suppress(report: Report, settings: Settings, *, complete: bool = True, today: date | None = None) -> int:
    """Drops the findings that ``[[suppress]]`` entries cover and returns how many; an expired one covers nothing."""
    day = today or date.today()
    live = [s for s in settings.suppress if s.expires is None or s.expires >= day]
    used: set[Suppression] = set()
    dropped = 0
    for file in report.files:
        kept = []
        for finding in file.findings:
            entry = next((s for s in live if _covers(s, finding, file, settings.root)), None)
            if entry is None:
                kept.append(finding)
            else:
                used.add(entry)
                dropped += 1
        file.findings = kept
    for entry in settings.suppress:
        if entry not in live:
            _report_stale(report, settings, entry, f"expired on {entry.expires} and no longer applies")
        elif complete and entry not in used and any(settings.wants(c) for c in parse_codes([entry.code])):
            _report_stale(report, settings, entry, "matches no finding any more")
    return dropped


def _covers(entry: Suppression, finding: Finding, file: FileReport, root: Path) -> bool:
    if finding.code not in parse_codes([entry.code]) or not _on_path(entry, file, root, finding.loc.path):
        return False
    if entry.fingerprint is not None and finding.fingerprint != entry.fingerprint:
        return False
    if entry.kernel is not None and not fnmatchcase(finding.kernel or "", entry.kernel):
        return False
    names = (finding.tensor, finding.base, finding.storage)
    return entry.buffer is None or any(name and fnmatchcase(name, entry.buffer) for name in names)


def _on_path(entry: Suppression, file: FileReport, root: Path, *more: str) -> bool:
    """Whether the entry's pattern fits the wrapper (or the file the finding is in), relative to the root."""
    if entry.path is None:
        return True
    for path in (file.path, *more):
        full = Path(os.path.realpath(path))
        inside = full.relative_to(root).as_posix() if full.is_relative_to(root) else full.as_posix()
        # "./" lets a leading **/ match nothing, as people expect of it.
        names = (inside, f"./{inside}", full.name) if "/" not in entry.path else (inside, f"./{inside}")
        if any(fnmatchcase(name, entry.path) for name in names):
            return True
    return False


def _report_stale(report: Report, settings: Settings, entry: Suppression, why: str) -> None:
    # An entry for files that this run did not look at says nothing about itself.
    file = next(
        (f for f in report.files if f.status == "analysed" and _on_path(entry, f, settings.root)), None
    )
    if file is not None and settings.wants(_STALE):
        where = Loc(str(settings.file or ""), entry.line)
        message = f"the suppression of {entry.code} ({entry.reason}) {why}"
        file.findings.append(harden(_stale(message, where, entry.code, entry.reason), settings))


def _stale(message: str, loc: Loc, *what: str) -> Finding:
    name, severity = CODES[_STALE]
    help = "remove it, or correct what it says"
    return Finding(_STALE, name, severity, message, loc, help=help, fingerprint=fingerprint(_STALE, *what))


# -- baseline ---------------------------------------------------------------------------------------


def write_baseline(report: Report, path: Path) -> int:
    """Writes the fingerprints of all findings with their numbers of times; returns how many findings."""
    found = [f for file in report.files for f in file.findings if f.code != _STALE]
    counts = collections.Counter(f.fingerprint for f in found)
    texts = {f.fingerprint: (f.code, f.message) for f in found}
    rows = [
        {"fingerprint": fp, "code": code, "count": counts[fp], "message": message}
        for fp, (code, message) in sorted(texts.items(), key=lambda row: (row[1], row[0]))
    ]
    try:
        path.write_text(json.dumps({"schema": SCHEMA, "findings": rows}, indent=1) + "\n", encoding="utf-8")
    except OSError as e:
        raise ConfigError(f"cannot write baseline {path}: {e.strerror}") from None
    return len(found)


def apply_baseline(report: Report, path: Path, settings: Settings, *, complete: bool = True) -> int:
    """Drops the findings the baseline knows, each as often as it was counted; returns how many."""
    left = read_baseline(path)
    dropped = 0
    for file in report.files:
        kept = []
        for f in file.findings:
            if left.get(f.fingerprint, 0) > 0:
                left[f.fingerprint] -= 1
                dropped += 1
            else:
                kept.append(f)
        file.findings = kept
    stale = sum(left.values())
    first = next((f for f in report.files if f.status == "analysed"), None)
    if stale and complete and first is not None and settings.wants(_STALE):
        message = f"{stale} of the findings in the baseline no longer occur; --write-baseline takes them out"
        first.findings.append(harden(_stale(message, Loc(str(path), 1), "baseline"), settings))
    return dropped


def read_baseline(path: Path) -> dict[str, int]:
    """Counts by fingerprint. Raises :class:`ConfigError` for anything but a baseline."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if data["schema"] != SCHEMA:
            raise ValueError(data["schema"])
        rows: Sequence[dict[str, object]] = data["findings"]
        return {str(row["fingerprint"]): int(str(row["count"])) for row in rows}
    except OSError as e:
        raise ConfigError(f"cannot read baseline {path}: {e.strerror}") from None
    except (ValueError, KeyError, TypeError):
        raise ConfigError(f"{path} is not a baseline; --write-baseline {path} writes one") from None
