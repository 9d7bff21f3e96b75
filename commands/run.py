"""``aoti-lint run``: lint whatever an export command generates."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

from ..integrations import exporter
from . import session
from .conclude import conclude
from .outcome import Outcome


def run(
    command: list[str], *, cache: Path | None, config: Path | None, terminal: tuple[bool, int], **options: Any
) -> Outcome:
    """The command's outcome and the lint of what it generated; its own exit code when it fails."""
    settings = session.settings_of(config, **options)
    folder = cache or Path(tempfile.mkdtemp(prefix="aoti-lint-"))
    code = exporter.run(command, folder)
    said = [f"the command failed with exit code {code}"] if code else []
    report, warned = session.analyse([str(folder)], settings)
    nothing = exporter.nothing_generated(report, folder)
    exporter.point_at_script(report, command)
    outcome = conclude(report, settings, complete=False, terminal=terminal, said=[*said, *warned])
    if cache is None and (nothing or not any(file.findings or file.error for file in report.files)):
        shutil.rmtree(folder, ignore_errors=True)
    outcome.code = code or outcome.code
    return outcome
