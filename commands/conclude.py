"""From a finished report to what a run writes and how it exits."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..analyzer.config import Settings
from ..analyzer.model.findings import Report
from ..analyzer.model.record import replace
from ..analyzer.reporting import selection, suppress
from ..analyzer.reporting.formats import Context, render
from ..analyzer.reporting.words import plural
from ..rules.registry import load_rules
from .outcome import Outcome

#: Width of text that goes to no terminal, characters.
WIDE = 160


def conclude(
    report: Report,
    settings: Settings,
    *,
    new_baseline: Path | None = None,
    complete: bool = True,
    terminal: tuple[bool, int] = (False, WIDE),
    said: Sequence[str] = (),
) -> Outcome:
    """Takes out what the project accepts; every output with its text, and the exit code.

    ``complete`` is false when the run sees only a part of its inputs.  ``terminal`` says whether standard output
    takes colour, and its width; files are plain and wide.
    """
    selection.select(report, settings)
    notes = suppress.accept(report, settings, new_baseline, complete=complete and not report.left)
    notes += _elsewhere(report, settings)
    context = Context(
        root=str(Path.cwd()), width=WIDE, quiet=settings.quiet, verbose=settings.verbose,
        statistics=settings.statistics, fails=selection.failing(settings), notes=notes,
        rules={rule.code: rule for rule in load_rules()},
    )  # fmt: skip
    color, width = terminal
    on_screen = replace(context, color=color and not settings.no_color, width=width)
    texts = [(render(o.format, report, context if o.file else on_screen), o.file) for o in settings.outputs]
    if report.left:
        told = f"interrupted: {plural(report.left, 'input')} not looked at, what follows is about the others"
        return Outcome(texts, 130, [*said, told])
    return Outcome(texts, selection.exit_code(report, settings), list(said))


def _elsewhere(report: Report, settings: Settings) -> list[str]:
    """That another runtime may be meant, where nobody said which."""
    if settings.runtimes != ("auto",) or not any(
        f.device == "cuda" and f.dialect == "aoti" and f.runtime.startswith("libtorch@") for f in report.files
    ):
        return []
    return [
        "this is for libtorch; under ExecuTorch view offsets, copies, dtypes and outputs differ: --runtime executorch-cuda"
    ]
