"""``aoti-lint check``: lint wrappers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from . import session
from .conclude import conclude
from .outcome import Outcome


def check(
    paths: list[str],
    *,
    config: Path | None,
    shard: str | None,
    stdin_filename: str | None,
    write_baseline: Path | None,
    terminal: tuple[bool, int],
    **options: Any,
) -> Outcome:
    """Every output the settings ask for; ``options`` as :func:`.config.override` names them."""
    from ..analyzer.config import parse_shard

    settings = session.settings_of(config, **options)
    part = parse_shard(shard) if shard else None
    report, said = session.analyse(paths, settings, part, stdin_filename)
    return conclude(
        report, settings, new_baseline=write_baseline, complete=part is None, terminal=terminal, said=said
    )
