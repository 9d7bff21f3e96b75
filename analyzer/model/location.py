"""Places in the user's files."""

from __future__ import annotations

from .record import record


@record(frozen=True)
class Loc:
    """A place in the user's file. Lines and columns are 1-based; ``end_*`` 0 when unknown."""

    path: str
    line: int
    column: int = 1
    end_line: int = 0
    end_column: int = 0
