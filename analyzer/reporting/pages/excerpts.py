"""Pieces of source text for a page, each line with an address of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...model.location import Loc
from ..formats.excerpt import excerpt
from .markup import Markup, join, tag

#: Lines shown before and after the one that matters.
AROUND = 2
#: Characters shown of one line.
WIDTH = 200


class Excerpts:
    """Excerpts of one wrapper's texts. Every line is shown under its address once; links find it there."""

    def __init__(self, texts: Mapping[str, tuple[str, int]], prefix: str, path: str) -> None:
        self.lines = {p: (text.split("\n"), first) for p, (text, first) in texts.items()}
        self.prefix = prefix
        self.path = path
        self.known: dict[tuple[str, int], str] = {}

    def show(self, loc: Loc, messages: Sequence[str]) -> Markup:
        """The lines around a place; the place alone when its text is not at hand."""
        where = f"{'' if loc.path == self.path else loc.path + ' '}line {loc.line}"
        caption = tag("figcaption", ": ".join([where, "; ".join(messages)]) if messages else where)
        lines, first = self.lines.get(loc.path, ([], 1))
        if not 0 <= loc.line - first < len(lines):
            return tag("figure", caption)
        top = max(loc.line - AROUND, first)
        rows = [
            self._line(loc, n, lines[n - first])
            for n in range(top, min(loc.line + AROUND, first + len(lines) - 1) + 1)
        ]
        return tag("figure", caption, tag("pre", tag("code", *rows), tabindex=0))

    def _line(self, loc: Loc, number: int, text: str) -> Markup:
        key = (loc.path, number)
        address = None
        if key not in self.known:
            address = self.known[key] = f"{self.prefix}-{len(self.known)}"
        here = number == loc.line
        if here:
            cut = excerpt(text, loc, WIDTH)
            indent = " " * min(len(text) - len(text.lstrip()), 12)
            a, b = cut.start, cut.start + cut.length
            body = join(indent, cut.text[:a], tag("mark", cut.text[a:b]), cut.text[b:])
        else:
            body = join(text[:WIDTH] + ("..." if len(text) > WIDTH else ""))
        line = tag(
            "span",
            tag("span", f"{number:6} ", class_="quiet"),
            body,
            id=address,
            class_="here" if here else None,
        )
        return join(line, "\n")

    def link(self, loc: Loc) -> Markup:
        """The number of a line, leading to the line where the page shows it."""
        address = self.known.get((loc.path, loc.line))
        return tag("a", loc.line, href=f"#{address}") if address else join(loc.line)
