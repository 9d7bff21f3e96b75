"""``aoti-lint report``: findings and memory as one page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import __version__
from ..analyzer.config import ConfigError, Settings
from ..analyzer.model.findings import Report
from ..analyzer.pipeline import Rules, check_source
from ..analyzer.reporting import selection, suppress
from ..analyzer.reporting.pages.memory_map import Map, maps
from ..analyzer.reporting.pages.page import Subject, render
from ..analyzer.sources import Failure, WrapperSource, load
from ..analyzer.sources.task import Task
from . import session
from .outcome import Outcome, of_text

if TYPE_CHECKING:
    from ..analyzer.analysis import Analysis
    from ..analyzer.model.findings import Finding


def report(path: str, output: Path | None, on_terminal: bool, config: Path | None, **options: Any) -> Outcome:
    """The page. Raises ConfigError where it would fill a terminal."""
    from ..rules.registry import run_rules

    if output is None and on_terminal:
        raise ConfigError(f"a page is for a file: aoti-lint report {path} -o report.html")
    text, failures = report_page(path, run_rules, session.settings_of(config, **options))
    return of_text(text, output, failures)


def report_page(path: str, rules: Rules, settings: Settings) -> tuple[str, list[Failure]]:
    """The page about every wrapper at ``path`` without what the project accepts, and what could not be read."""
    subjects = [
        subject
        for source in load(path)
        for subject in _subjects(Task(source, settings.runtimes, settings.sizes), rules)
    ]
    report = Report([s.file for s in subjects], __version__)
    selection.select(report, settings)
    notes = suppress.accept(report, settings, None, complete=False)
    return render(report, subjects, notes), [Failure(f.path, f.error) for f in report.files if f.error]


def _subjects(task: Task, rules: Rules) -> list[Subject]:
    """A wrapper under each runtime."""
    drawn: dict[str, list[Map]] = {}

    def drawing_too(analysis: Analysis) -> list[Finding]:
        drawn[analysis.profile.name] = maps(analysis)
        return rules(analysis)

    files = check_source(task, drawing_too)
    if not isinstance(task.source, WrapperSource):
        return [Subject(file) for file in files]
    texts = {t.path: (t.text, t.first_line) for t in (task.source.wrapper, *task.source.kernels)}
    return [
        Subject(file) if file.status == "failed" else Subject(file, drawn[file.runtime], texts)
        for file in files
    ]
