"""Syntax nodes and source texts, as the dialect readers see them."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Any

from ..model.location import Loc


class Node:
    """One statement or expression.

    ``kind`` is one of: int float str name call method member index bin assign un cond lambda init cast
    construct throw decl if for while block return break continue switch case null other.
    ``value``: the integer, name, operator or text; ``kids``: operands in source order; ``type``: source text of
    a declared or target type, what stands before the body of a lambda, or which statement one of kind other is (label, do,
    goto, try, catch, range-for); ``start``/``end``: offsets into the unit's text.
    """

    __slots__ = ("end", "kids", "kind", "start", "type", "value")

    def __init__(
        self, kind: str, value: Any, kids: list[Node], start: int, end: int, type_: str = ""
    ) -> None:
        self.kind, self.value, self.kids = kind, value, kids
        self.start, self.end, self.type = start, end, type_

    def __repr__(self) -> str:
        inner = " ".join(map(repr, self.kids))
        return f"({self.kind}{'' if self.value is None else f' {self.value}'}{' ' + inner if inner else ''})"


class Text:
    """A source text with a path and fast line lookup; ``first_line`` is the file line of its first line."""

    def __init__(self, path: str, text: str, first_line: int = 1) -> None:
        self.path, self.text, self.first_line = path, text, first_line
        self._starts = [0, *(m.end() for m in re.finditer("\n", text))]

    def loc(self, start: int, end: int = 0) -> Loc:
        i = bisect_right(self._starts, start) - 1
        j = bisect_right(self._starts, max(start, end)) - 1
        return Loc(
            self.path,
            i + self.first_line,
            start - self._starts[i] + 1,
            j + self.first_line if end else 0,
            end - self._starts[j] + 1 if end else 0,
        )

    def line_of(self, offset: int) -> int:
        return bisect_right(self._starts, offset) - 1 + self.first_line
