"""What a command comes to: texts to write, lines to say, an exit code."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ..analyzer.model.record import field, record
from ..analyzer.sources import Failure


@record
class Outcome:
    """``texts`` with the file each goes to (None: standard output); ``said`` is for the person at the terminal."""

    texts: list[tuple[str, Path | None]] = field(default_factory=list)
    code: int = 0
    said: list[str] = field(default_factory=list)


def of_text(text: str, file: Path | None, failures: Iterable[Failure] = ()) -> Outcome:
    """One text, none when it is empty; exit code 3 and a line for each input that could not be analysed."""
    said = [f"error: {failure.path}: {failure.error}" for failure in failures]
    return Outcome([(text, file)] if text else [], 3 if said else 0, said)
