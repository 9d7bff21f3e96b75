"""From a finished report to what a run writes and how it exits."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..config import Output, Settings
from ..model.findings import Report
from ..model.record import replace
from . import selection, suppress
from .formats import Context, RuleText, render

#: Width of text that goes to no terminal, characters.
WIDE = 160


def conclude(
    report: Report,
    settings: Settings,
    rules: Sequence[RuleText],
    *,
    new_baseline: Path | None = None,
    complete: bool = True,
    terminal: tuple[bool, int] = (False, WIDE),
) -> tuple[list[tuple[Output, str]], int]:
    """Takes out what the project accepts; returns every output with its text, and the exit code.

    ``complete`` is false when the run sees only a part of its inputs.  ``terminal`` says whether standard output
    takes colour, and its width; files are plain and wide.
    """
    selection.select(report, settings)
    notes = suppress.accept(report, settings, new_baseline, complete=complete)
    context = Context(
        root=str(Path.cwd()), width=WIDE, quiet=settings.quiet, verbose=settings.verbose,
        statistics=settings.statistics, fails=selection.failing(settings), notes=notes,
        rules={rule.code: rule for rule in rules},
    )  # fmt: skip
    color, width = terminal
    on_screen = replace(context, color=color and not settings.no_color, width=width)
    texts = [(o, render(o.format, report, context if o.file else on_screen)) for o in settings.outputs]
    return texts, selection.exit_code(report, settings)
