"""``aoti-lint run``: lint whatever an export command generates."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

from ..analyzer.config import ConfigError, parse_runtime, parse_shard
from ..analyzer.model.record import replace
from ..integrations import exporter
from . import session
from .conclude import conclude
from .outcome import Outcome


def run(
    command: list[str],
    *,
    cache: Path | None,
    config: Path | None,
    shard: str | None,
    write_baseline: Path | None,
    terminal: tuple[bool, int],
    **options: Any,
) -> Outcome:
    """The command's outcome and the lint of what it generated; its own exit code when it fails."""
    settings = session.settings_of(config, **options)
    part = parse_shard(shard) if shard else None
    for_machines = any(o.format != "text" and o.file is None for o in settings.outputs)
    folder = cache or Path(tempfile.mkdtemp(prefix="aoti-lint-"))
    code, release = exporter.run(command, folder, to_stderr=for_machines)
    said = [f"the command failed with exit code {code}"] if code else []
    if release is not None and settings.runtimes == ("auto",):
        runtime, told = _of_release(release)
        settings = replace(settings, runtimes=(runtime,))
        said.append(told)
    report, warned = session.analyse([str(folder)], settings, part)
    nothing = exporter.nothing_generated(report, folder)
    exporter.point_at_script(report, command)
    outcome = conclude(
        report,
        settings,
        new_baseline=write_baseline,
        complete=False,
        terminal=terminal,
        said=[*said, *warned],
    )
    if cache is None and (nothing or not any(file.findings or file.error for file in report.files)):
        shutil.rmtree(folder, ignore_errors=True)
    outcome.code = code or outcome.code
    return outcome


def _of_release(release: str) -> tuple[str, str]:
    """The runtime of an installed release of ExecuTorch, and what to say about that."""
    try:
        if not release:
            raise ConfigError("it can't be told")
        return parse_runtime(
            f"executorch@{release}"
        ), f"the command uses ExecuTorch {release}: checked for that"
    except ConfigError:
        installed = f"ExecuTorch {release}" if release else "ExecuTorch, its release unknown"
        return "executorch", f"the command uses {installed}: checked for the newest release that is known"
