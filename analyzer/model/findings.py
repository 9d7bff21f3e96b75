"""What a check produces: findings with evidence, verdict counts, and the report of a run.

Formatters read these and nothing else.  ``to_json`` of :class:`Report` is schema ``aoti-lint/1``.
"""

from __future__ import annotations

import hashlib
from typing import Any, Literal, TypeAlias

from .location import Loc
from .record import field, record

Severity: TypeAlias = Literal["error", "warning", "note"]
#: Most severe first.
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")


@record(frozen=True)
class Related:
    """Another place that belongs to a finding: the allocation, the kernel line, the launch."""

    message: str
    loc: Loc


@record(frozen=True)
class Evidence:
    """The numbers of a finding, relative to the start of the storage the runtime gives the access.

    ``min``/``max``/``available`` are in ``unit`` (elements of the accessed type, or bytes); expressions over
    size symbols are given as text.  ``witness`` maps iteration variables and sizes to values.
    """

    access: Literal["read", "write", "atomic"] | None = None
    min: int | str | None = None
    max: int | str | None = None
    available: int | str | None = None
    unit: Literal["elements", "bytes"] = "elements"
    witness: dict[str, int] | None = None
    sizes: tuple[int | str, ...] | None = None
    strides: tuple[int | str, ...] | None = None
    offset: int | str | None = None
    expected_offset: int | str | None = None

    def to_json(self) -> dict[str, Any]:
        out: dict[str, Any] = {
            "access": self.access, "min": self.min, "max": self.max, "available": self.available,
            "unit": self.unit, "witness": self.witness,
            "sizes": None if self.sizes is None else list(self.sizes),
            "strides": None if self.strides is None else list(self.strides),
            "offset": self.offset,
        }  # fmt: skip
        if self.expected_offset is not None:
            out["expected_offset"] = self.expected_offset
        return out


@record(frozen=True)
class Finding:
    """One fault, warning or note, with a primary location and its evidence.

    ``stops``: the load or the run ends here, by an abort or an error; otherwise it goes on, with wrong data if this is
    an error.
    """

    code: str
    name: str
    severity: Severity
    message: str
    loc: Loc
    related: tuple[Related, ...] = ()
    storage: str | None = None
    tensor: str | None = None
    base: str | None = None
    kernel: str | None = None
    parameter: str | None = None
    launch_line: int | None = None
    op: str | None = None
    source_nodes: tuple[str, ...] = ()
    evidence: Evidence = field(default_factory=Evidence)
    help: str = ""
    fingerprint: str = ""
    stops: bool = False
    #: What is behind it, in a few words: equal for all findings of a file with one root.
    cause: str = ""

    def to_json(self) -> dict[str, Any]:
        return {
            "code": self.code, "name": self.name, "severity": self.severity, "message": self.message,
            "location": loc_json(self.loc),
            "related": [{"message": r.message, "location": loc_json(r.loc)} for r in self.related],
            "storage": self.storage, "tensor": self.tensor, "base": self.base, "kernel": self.kernel,
            "parameter": self.parameter, "launch_line": self.launch_line, "op": self.op,
            "source_nodes": list(self.source_nodes), "evidence": self.evidence.to_json(),
            "help": self.help, "fingerprint": self.fingerprint, "cause": self.cause,
        }  # fmt: skip


def loc_json(loc: Loc) -> dict[str, Any]:
    return {
        "path": loc.path, "line": loc.line, "column": loc.column,
        "end_line": loc.end_line or loc.line, "end_column": loc.end_column or loc.column,
    }  # fmt: skip


@record(frozen=True)
class Unknown:
    """Something that could not be decided, and why. Never a fault, never counted as proved."""

    what: str
    reason: str
    line: int
    path: str = ""


@record
class Counts:
    """Verdict counts of a file."""

    storages: int = 0
    views: int = 0
    launches: int = 0
    extern_calls: int = 0
    unmodelled_statements: int = 0
    proved: int = 0
    fault: int = 0
    unknown: int = 0

    @property
    def accesses(self) -> dict[str, int]:
        return {
            "total": self.proved + self.fault + self.unknown,
            "proved": self.proved, "fault": self.fault, "unknown": self.unknown,
        }  # fmt: skip

    def to_json(self) -> dict[str, Any]:
        return {
            "storages": self.storages, "views": self.views, "launches": self.launches,
            "extern_calls": self.extern_calls, "unmodelled_statements": self.unmodelled_statements,
            "accesses": self.accesses,
        }  # fmt: skip


@record
class FileReport:
    """The result for one wrapper. ``status`` failed: ``error`` is the one-line reason, nothing was proved."""

    path: str
    status: Literal["analysed", "failed"]
    error: str | None = None
    device: str = ""
    torch: str | None = None
    dialect: str = "aoti"
    runtime: str = ""
    runtime_date: str | None = None
    #: Releases that ship this version of the runtime.
    releases: tuple[str, ...] = ()
    counts: Counts = field(default_factory=Counts)
    symbols: list[tuple[str, int, int | None]] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    unknowns: list[Unknown] = field(default_factory=list)
    #: Lines of the analysed text that findings point at, for excerpts: (path, line) -> text.
    lines: dict[tuple[str, int], str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return {
            "path": self.path, "device": self.device, "torch": self.torch,
            "runtime": {"name": self.runtime, "date": self.runtime_date, "releases": list(self.releases)},
            "dialect": self.dialect, "status": self.status, "error": self.error,
            "counts": self.counts.to_json(),
            "symbols": [{"name": n, "min": lo, "max": hi} for n, lo, hi in self.symbols],
            "findings": [f.to_json() for f in self.findings],
            "unknowns": [{"what": u.what, "reason": u.reason, "line": u.line} for u in self.unknowns],
        }  # fmt: skip


@record
class Report:
    """The result of a run over any number of files."""

    files: list[FileReport]
    version: str
    #: Inputs that were not looked at because the user ended the run.
    left: int = 0

    def count(self, severity: Severity) -> int:
        return sum(f.severity == severity for r in self.files for f in r.findings)

    def to_json(self) -> dict[str, Any]:
        accesses = {"total": 0, "proved": 0, "fault": 0, "unknown": 0}
        for r in self.files:
            for k, v in r.counts.accesses.items():
                accesses[k] += v
        return {
            "schema": "aoti-lint/1",
            "tool": {"name": "aoti-lint", "version": self.version},
            "files": [r.to_json() for r in self.files],
            "summary": {
                "files": len(self.files),
                "analysed": sum(r.status == "analysed" for r in self.files),
                "failed": sum(r.status == "failed" for r in self.files),
                "errors": self.count("error"), "warnings": self.count("warning"), "notes": self.count("note"),
                "accesses": accesses,
            },
        }  # fmt: skip


def fingerprint(*parts: object) -> str:
    """A short digest of what identifies a finding; callers leave out lines and buffer numbers."""
    return hashlib.sha256("\x1f".join(str(p) for p in parts).encode()).hexdigest()[:16]
