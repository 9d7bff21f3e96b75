"""Linting what a block of code makes Inductor generate, inside the same process."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..analyzer.config import Settings
    from ..analyzer.model.findings import Report

#: Where Inductor is told to write; it reads this at every export.
CACHE = "TORCHINDUCTOR_CACHE_DIR"

#: Caches to remove when the process ends.
_temporary: set[Path] = set()


class LintError(Exception):
    """Something generated has findings, or could not be analysed; the message lists them."""

    def __init__(self, message: str, report: Report) -> None:
        super().__init__(message)
        self.report = report


class Watched:
    """A watched block: its Inductor cache ``folder``; ``report`` is None until the block ends, or when it exports nothing."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.report: Report | None = None


@contextmanager
def watch(runtime: str | Iterable[str] = "auto", fail_on: str = "error") -> Iterator[Watched]:
    """Lints every wrapper generated in the block; raises :class:`LintError` at its end for what is found.

    The block gets a fresh Inductor cache, which stays until the process ends, and longer when something is found.
    ``fail_on`` is the least severity that raises: error, warning, note or never.  Warns when nothing was generated.
    Raises ConfigError for an unknown runtime or severity.
    """
    from ..analyzer.config import Settings, override

    settings = override(Settings(), runtimes=runtime, fail_on=fail_on)
    with fresh_cache() as watched:
        yield watched
    lint(watched, settings)
    if watched.report is None:
        warnings.warn("nothing was exported in the watched block, so nothing was linted", stacklevel=3)


@contextmanager
def fresh_cache() -> Iterator[Watched]:
    """An empty Inductor cache for a block; its packages may be in use after it, so it is not removed at once."""
    folder = Path(tempfile.mkdtemp(prefix="aoti-lint-"))
    _temporary.add(folder)
    before = os.environ.get(CACHE)
    os.environ[CACHE] = str(folder)
    try:
        yield Watched(folder)
    finally:
        if before is None:
            os.environ.pop(CACHE, None)
        else:
            os.environ[CACHE] = before


@atexit.register
def _clean() -> None:
    for folder in _temporary:
        shutil.rmtree(folder, ignore_errors=True)


def lint(watched: Watched, settings: Settings) -> None:
    """Fills ``watched.report`` when anything was generated; raises :class:`LintError` when it does not pass."""
    if not any(watched.folder.iterdir()):
        return
    from ..analyzer.pipeline import check_paths
    from ..analyzer.reporting import selection, suppress
    from ..analyzer.reporting.formats import Context, render
    from ..rules.registry import run_rules

    root = str(watched.folder)
    report = check_paths([root], run_rules, runtime=settings.runtimes, sizes=settings.sizes, jobs=1)
    if all(file.path == root for file in report.files):  # the folder itself: there is no wrapper in it
        return
    selection.select(report, settings)
    suppress.accept(report, settings, None, complete=False)
    watched.report = report
    if any(file.findings or file.error for file in report.files):
        _temporary.discard(watched.folder)
    if settings.fail_on != "never" and selection.exit_code(report, settings):
        text = render("text", report, Context(root=root, width=120, fails=selection.failing(settings)))
        raise LintError(f"aoti-lint on what was generated in {root}:\n{text}", report)
