"""``aoti-lint witness``: a program that repeats an access outside its storage."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ..analyzer.config import ConfigError
from ..analyzer.pipeline import Rules, analyses
from ..analyzer.reporting.witness_program import CODES, witness_program
from ..analyzer.sources import Failure
from ..analyzer.symbolic.assumptions import Interval
from . import session
from .outcome import Outcome, of_text

if TYPE_CHECKING:
    from ..analyzer.analysis import Analysis
    from ..analyzer.model.findings import Finding


def witness(
    path: str, finding: int, output: Path | None, runtime: str | None, size: list[str] | None
) -> Outcome:
    from ..rules.registry import run_rules

    text, failures = program_for(path, run_rules, finding, *session.scope(runtime, size))
    return of_text(text, output, failures)


def program_for(
    path: str, rules: Rules, number: int, runtime: str = "auto", sizes: Mapping[str, Interval] | None = None
) -> tuple[str, list[Failure]]:
    """The program for the ``number``-th finding of :data:`CODES` at ``path``, and what could not be analysed.

    Raises ConfigError when there are not so many.
    """
    found: list[tuple[Analysis, Finding]] = []
    failures: list[Failure] = []
    for analysis in analyses(path, runtime, sizes):
        if isinstance(analysis, Failure):
            failures.append(analysis)
        else:
            found += [(analysis, f) for f in rules(analysis) if f.code in CODES]
    if number <= len(found):
        return witness_program(*found[number - 1]), failures
    if failures:
        return "", failures
    many = f"{len(found)} finding{'s' * (len(found) != 1)}" if found else "no finding"
    raise ConfigError(f"--finding {number}: {path} has {many} of {' or '.join(CODES)}")
