"""Fingerprints: what makes a finding the same finding after the wrapper was generated again."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..model.findings import Finding, fingerprint
from ..model.record import replace


def identity(finding: Finding) -> str:
    """A fingerprint that survives moved lines and renumbered buffers, kernels and size symbols.

    Equal findings of one file share it until :func:`number` tells them apart.
    """
    e = finding.evidence
    kernel = re.sub(r"_?\d+$", "", finding.kernel or "")
    numbers = (e.access, e.min, e.max, e.available, e.unit, e.sizes, e.strides, e.offset, e.expected_offset)
    return fingerprint(finding.code, kernel, finding.parameter, finding.op, unnumbered(str(numbers)))


def unnumbered(text: str) -> str:
    """``text`` with the generator's counters left out: ``buf12`` and ``s77`` become ``buf#`` and ``s#``."""
    return re.sub(r"\b([a-z]+)\d+\b", r"\1#", text)


def number(findings: Iterable[Finding]) -> list[Finding]:
    """The findings with unique fingerprints: the second and later equal ones carry their ordinal."""
    seen: dict[str, int] = {}
    out = []
    for f in findings:
        n = seen[f.fingerprint] = seen.get(f.fingerprint, 0) + 1
        out.append(f if n == 1 else replace(f, fingerprint=fingerprint(f.fingerprint, n)))
    return out
