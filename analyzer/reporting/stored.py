"""Reports of wrappers as JSON and back, exactly: what a kept result is made of.

The public JSON leaves out what only excerpts and tables need, so it can't be read back.
"""

from __future__ import annotations

from typing import Any

from ..model.findings import Counts, Evidence, FileReport, Finding, Related, Unknown
from ..model.location import Loc

#: Raised in all its forms by data that is no stored report.
DAMAGED = (KeyError, TypeError, ValueError, AttributeError)


def to_data(report: FileReport) -> dict[str, Any]:
    """JSON data of a report; nothing of it is lost."""
    data = _fields(report)
    data["counts"] = _fields(report.counts)
    data["findings"] = [_finding_data(f) for f in report.findings]
    data["unknowns"] = [_fields(u) for u in report.unknowns]
    data["lines"] = [[path, line, text] for (path, line), text in report.lines.items()]
    return data


def from_data(data: Any) -> FileReport:
    """The report that :func:`to_data` made ``data`` of. Raises one of :data:`DAMAGED` for anything else."""
    return FileReport(
        **{
            **data,
            "releases": tuple(data["releases"]),
            "counts": Counts(**data["counts"]),
            "symbols": [(str(name), lo, hi) for name, lo, hi in data["symbols"]],
            "findings": [_finding(f) for f in data["findings"]],
            "unknowns": [Unknown(**u) for u in data["unknowns"]],
            "lines": {(str(path), int(line)): str(text) for path, line, text in data["lines"]},
        }
    )


def _fields(instance: Any) -> dict[str, Any]:
    return {name: getattr(instance, name) for name in instance.__match_args__}


def _finding_data(finding: Finding) -> dict[str, Any]:
    data = _fields(finding)
    data["loc"] = _fields(finding.loc)
    data["related"] = [{"message": r.message, "loc": _fields(r.loc)} for r in finding.related]
    data["evidence"] = _fields(finding.evidence)
    return data


def _finding(data: dict[str, Any]) -> Finding:
    evidence = dict(data["evidence"])
    for name in ("sizes", "strides"):
        evidence[name] = None if evidence[name] is None else tuple(evidence[name])
    return Finding(
        **{
            **data,
            "loc": Loc(**data["loc"]),
            "related": tuple(Related(r["message"], Loc(**r["loc"])) for r in data["related"]),
            "source_nodes": tuple(data["source_nodes"]),
            "evidence": Evidence(**evidence),
        }
    )
