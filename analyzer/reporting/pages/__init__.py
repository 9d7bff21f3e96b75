"""Pictures of an analysis: the report page, and the alias graph as a drawing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from .... import __version__
from ...config import Settings
from ...model.findings import Report
from ...pipeline import Rules, Task, analyses, check_source, graph_texts
from ...sources import Failure, WrapperSource, load
from ...symbolic.assumptions import Interval
from .. import selection, suppress
from ..alias_graph import alias_graph
from .markup import tag
from .memory_map import Map, maps
from .page import Subject, document, render

if TYPE_CHECKING:
    from ...analysis import Analysis
    from ...model.findings import Finding


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


def graph_text(
    path: str, format: str, runtime: str = "auto", sizes: Mapping[str, Interval] | None = None
) -> tuple[str, list[Failure]]:
    """The alias graphs of every wrapper at ``path`` in any format, and what could not be read.

    Raises :class:`ConfigError` when a drawing is asked for and the library that lays it out is not installed.
    """
    if format not in ("svg", "html"):
        texts, failures = graph_texts(path, format, runtime, sizes)
        return "".join(texts), failures
    from .drawing import drawing

    found = list(analyses(path, runtime, sizes))
    svg = drawing([alias_graph(a) for a in found if not isinstance(a, Failure)])
    text = (
        str(svg) + "\n"
        if format == "svg"
        else document(f"Alias graph of {path}", tag("div", svg, class_="scroll"))
    )
    return text, [a for a in found if isinstance(a, Failure)]


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
