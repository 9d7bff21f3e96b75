"""The table of rule codes: every code a report can hold, its name and its default severity.

A code keeps its meaning for ever, so the table is complete even where a rule is still to be written;
options and configuration are checked against it.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import NamedTuple

from .findings import Severity


class Code(NamedTuple):
    """What a code stands for: the rule's name and the severity its findings have unless they say otherwise."""

    name: str
    severity: Severity


class UnknownCode(ValueError):
    """A code or prefix that names no rule; the message offers the nearest right ones."""


#: Headings of the groups that the first digit of a code makes.
FAMILIES: dict[str, str] = {
    "AL1": "Views and storage",
    "AL2": "Kernel accesses",
    "AL3": "Lifetime",
    "AL4": "Library ops",
    "AL5": "Boundary",
    "AL9": "Analysis",
}

CODES: dict[str, Code] = {
    "AL101": Code("view-exceeds-storage", "error"),
    "AL102": Code("view-materialized", "warning"),
    "AL103": Code("view-rejected", "error"),
    "AL104": Code("overlapping-view-written", "error"),
    "AL105": Code("pool-view-exceeds-pool", "error"),
    "AL106": Code("pool-lifetimes-overlap", "error"),
    "AL107": Code("view-misaligned", "error"),
    "AL108": Code("view-offset-misread", "error"),
    "AL201": Code("kernel-read-out-of-bounds", "error"),
    "AL202": Code("kernel-write-out-of-bounds", "error"),
    "AL203": Code("lost-write", "error"),
    "AL204": Code("copied-view-misread", "error"),
    "AL205": Code("uninitialized-read", "error"),
    "AL206": Code("write-write-race", "error"),
    "AL207": Code("aliased-arguments", "error"),
    "AL208": Code("index-overflow", "error"),
    "AL209": Code("dtype-mismatch", "error"),
    "AL210": Code("launch-mismatch", "error"),
    "AL211": Code("unordered-access", "warning"),
    "AL212": Code("indirect-index-unchecked", "note"),
    "AL301": Code("use-after-reset", "error"),
    "AL302": Code("use-after-move", "error"),
    "AL303": Code("double-release", "error"),
    "AL304": Code("dangling-view-handle", "error"),
    "AL305": Code("reuse-while-live", "error"),
    "AL306": Code("runtime-leak", "warning"),
    "AL401": Code("stride-blind-op", "error"),
    "AL402": Code("missing-symbol", "error"),
    "AL403": Code("unsupported-operand", "error"),
    "AL404": Code("output-layout-mismatch", "error"),
    "AL405": Code("unsupported-copy", "error"),
    "AL406": Code("size-stride-assert-conflict", "error"),
    "AL501": Code("constant-exceeds-blob", "error"),
    "AL502": Code("output-aliases-input-or-constant", "warning"),
    "AL503": Code("output-layout-unsupported", "error"),
    "AL504": Code("input-contract", "note"),
    "AL901": Code("unmodelled-statement", "note"),
    "AL902": Code("unmodelled-kernel", "note"),
    "AL903": Code("unused-suppression", "note"),
    "AL904": Code("undecided-access", "note"),
}


def nearest(word: str, known: Iterable[str], count: int = 3) -> str:
    """``; did you mean 'a', 'b'?`` for the known words closest to ``word``, or nothing."""
    # Case-blind: `al202` should find AL202, `SARIF` should find sarif.
    by_fold = {k.casefold(): k for k in known}
    close = difflib.get_close_matches(word.casefold(), list(by_fold), n=count, cutoff=0.6)
    return f"; did you mean {', '.join(repr(by_fold[c]) for c in close)}?" if close else ""


def expand(prefixes: Iterable[str]) -> frozenset[str]:
    """The codes that the given codes, prefixes (``AL2``) or rule names stand for, ``ALL`` being every code.

    Raises :class:`UnknownCode` for one that stands for none.
    """
    found: set[str] = set()
    for prefix in prefixes:
        word = prefix.strip()
        if not word:
            continue
        hits = {c for c in CODES if c.startswith(word.upper())} if word.upper().startswith("AL") else set()
        if word.upper() in ("ALL", "AL"):
            hits = set(CODES)
        hits |= {c for c, info in CODES.items() if info.name == word}
        if not hits:
            names = (*CODES, *FAMILIES, *(c.name for c in CODES.values()))
            raise UnknownCode(f"no rule has the code or prefix {prefix!r}{nearest(word, names)}")
        found |= hits
    return frozenset(found)


def family(code: str) -> str:
    """The heading a code belongs under."""
    return FAMILIES[code[:3]]
