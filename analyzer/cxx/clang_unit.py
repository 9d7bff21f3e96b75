"""C++ text to a small syntax tree, through libclang.

libclang decides what the text means; :mod:`.convert` turns its cursors into :class:`Node` objects that hold
just what the dialect readers need, without implicit conversions, casts to the same thing, and templates.
Cursors are slow to walk from Python, so only the functions asked for are converted.
"""

from __future__ import annotations

from typing import Any

from ..model.location import Loc
from .convert import Converter
from .cursors import Parsed, prelude_words
from .nodes import Node

__all__ = ["Unit", "prelude_words"]


class Unit(Parsed):
    """A parsed text: find functions by name and convert them to nodes."""

    def functions(self) -> list[tuple[str, Any]]:
        """(name, cursor) of every function, method and function template with a body in the text."""
        out: list[tuple[str, Any]] = []
        todo = list(self.children(self.cursor))
        while todo:
            c = todo.pop(0)
            kind = c._kind_id
            if kind not in (1, 22, 23, 8, 21, 24, 30):
                continue
            if self.extent(c)[1] <= 0:
                continue
            if kind in (1, 22, 23):  # extern "C" blocks and namespaces
                todo = self.children(c) + todo
            else:
                out.append((self.spelling(c), c))
        return out

    def parameters(self, function: Any) -> list[tuple[str, str]]:
        """(name, declaration text) of the parameters."""
        out = []
        for c in self.children(function):
            if c._kind_id == 10:
                a, b = self.extent(c)
                out.append((self.spelling(c), self.text[a:b]))
        return out

    def body(self, function: Any) -> Node | None:
        for c in self.children(function):
            if c._kind_id == 202:
                return self.node(c)
        return None

    def body_cursors(self, function: Any) -> list[Any]:
        for c in self.children(function):
            if c._kind_id == 202:
                return self.children(c)
        return []

    def node(self, cursor: Any) -> Node:
        return Converter(self).node(cursor)

    def slice(self, node: Node) -> str:
        return self.text[node.start : node.end]

    def loc(self, node: Node) -> Loc:
        return self.source.loc(node.start, node.end)
