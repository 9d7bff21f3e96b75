"""What several commands begin with: settings, and the engine's report under them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..analyzer.config import Range, Settings
    from ..analyzer.model.findings import Report
    from ..analyzer.reporting.cache import Results


def settings_of(file: Path | None, **options: Any) -> Settings:
    """The configuration file's settings with the options over them."""
    from ..analyzer.config import find, load, override

    return override(load(file or find(Path.cwd())), **options)


def scope(runtime: str | None, sizes: list[str] | None) -> tuple[str, dict[str, Range]]:
    """What --runtime and --size say."""
    from ..analyzer.config import parse_runtime, parse_size

    return parse_runtime(runtime or "auto"), dict(map(parse_size, sizes or []))


def analyse(
    paths: Sequence[str],
    settings: Settings,
    shard: tuple[int, int] | None = None,
    stdin_name: str | None = None,
) -> tuple[Report, list[str]]:
    """The engine's report and warnings about it, with a progress bar when it takes more than a moment."""
    from ..analyzer.pipeline import check_paths
    from ..analyzer.reporting.formats.progress import Bar
    from ..rules.registry import run_rules

    with Bar(sys.stderr, wanted=not settings.quiet) as progress:
        report = check_paths(
            paths, run_rules, runtime=settings.runtimes, sizes=settings.sizes, jobs=settings.jobs, shard=shard,
            progress=progress, results=_kept(settings.cache_dir), exclude=settings.exclude, stdin_name=stdin_name,
        )  # fmt: skip
    said = list(_warnings(report, settings))
    if settings.cache_dir is not None and not os.access(settings.cache_dir, os.W_OK):
        said.append(f"warning: {settings.cache_dir} cannot be written, so no results are kept")
    return report, said


def _warnings(report: Report, settings: Settings) -> Iterator[str]:
    from ..analyzer.runtimes.catalog import devices

    known = {name for file in report.files for name, _, _ in file.symbols}
    for name in sorted(settings.sizes.keys() - known):
        yield f"warning: no input has a free size called {name}, so --size {name} does nothing"
    other = {
        (f.runtime, f.device): f.path
        for f in report.files
        if f.runtime and f.device not in (None, *devices(f.runtime))
    }
    for (runtime, device), path in other.items():
        if made_for := " or ".join(devices(runtime)):
            yield f"warning: {runtime} is for {made_for} wrappers; {path} is for {device}"


def _kept(folder: Path | None) -> Results | None:
    if folder is None:
        return None
    from ..analyzer.reporting.cache import Results

    return Results(folder)
