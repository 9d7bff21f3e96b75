"""One line of source cut to a width around the column of interest."""

from __future__ import annotations

from typing import NamedTuple

from ...model.location import Loc

_CUT = "..."


class Excerpt(NamedTuple):
    """The text to show, and where in it the marked part starts and how long it is."""

    text: str
    start: int
    length: int


def excerpt(line: str, loc: Loc, width: int) -> Excerpt:
    """``line`` without its indentation, at most ``width`` characters, with ``loc``'s columns inside."""
    line = line.rstrip().expandtabs(1)
    indent = len(line) - len(line.lstrip())
    text = line[indent:]
    start = min(max(loc.column - 1 - indent, 0), max(len(text) - 1, 0))
    end = len(text)
    if loc.end_line in (0, loc.line):
        end = max(min(loc.end_column - 1 - indent, end), start + 1)
    if len(text) > width:
        # Keep a third of the width before the column: what leads up to it says what it is.
        left = min(max(start - width // 3, 0), len(text) - width)
        head = _CUT if left else ""
        tail = _CUT if left + width < len(text) else ""
        text = head + text[left + len(head) : left + width - len(tail)] + tail
        start, end = start - left, min(end - left, width)
    return Excerpt(text, start, max(end - start, 1))
