"""``aoti-lint kernels``: what every launch touches through every pointer."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..analyzer.pipeline import analyses
from ..analyzer.reporting.footprints import rows
from ..analyzer.reporting.formats.table import kernel_report
from ..analyzer.sources import Failure
from ..analyzer.symbolic.assumptions import Interval
from . import session
from .outcome import Outcome, of_text


def kernels(
    path: str, runtime: str | None, size: list[str] | None, format: str, output: Path | None
) -> Outcome:
    found, failures = kernel_rows(path, *session.scope(runtime, size))
    return of_text(kernel_report(found, format), output, failures)


def kernel_rows(
    path: str, runtime: str = "auto", sizes: Mapping[str, Interval] | None = None
) -> tuple[list[dict[str, Any]], list[Failure]]:
    """One row for each launch and pointer parameter, and what could not be read.

    Ends are element indices relative to the pointer, over everything the launch can touch; None: unknown.
    """
    found: list[dict[str, Any]] = []
    failures: list[Failure] = []
    for analysis in analyses(path, runtime, sizes):
        if isinstance(analysis, Failure):
            failures.append(analysis)
        else:
            found += rows(analysis)
    return found, failures
