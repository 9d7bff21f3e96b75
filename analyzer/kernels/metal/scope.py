"""Names of a Metal kernel: each declaration is a cell of its own, and a reference is no new one."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ...cxx.nodes import Node
from .. import ir


class Scope:
    """Names in scope, and texts of nodes, relative to the kernel's own text."""

    def __init__(self, text: str, base: int) -> None:
        self.text, self.base = text, base
        self._stack: list[dict[str, str]] = [{}]
        self._made: dict[str, int] = {}
        #: Names whose value can't be followed at all, wherever they stand.
        self.distrusted: set[str] = set()
        #: Cells that hold a pointer to what their name stands for.
        self.through: set[str] = set()
        #: Lengths of the dimensions of arrays; none where they are not known.
        self.dims: dict[str, list[ir.Expr]] = {}
        #: The last cell of each name that has had several.
        self.shown: dict[str, str] = {}

    def parameter(self, name: str) -> None:
        self._stack[0][name] = name
        self._made[name] = 1

    def enter(self) -> None:
        self._stack.append({})

    def leave(self) -> None:
        self._stack.pop()

    def declare(self, name: str) -> str:
        n = self._made[name] = self._made.get(name, 0) + 1
        cell = name if n == 1 else f"{name}#{n}"
        self._stack[-1][name] = cell
        if n > 1:
            self.shown[name] = cell
        return cell

    def alias(self, name: str, of: str) -> None:
        found = self.find(of)
        assert found is not None
        self._stack[-1][name] = found

    def find(self, name: str) -> str | None:
        for names in reversed(self._stack):
            if name in names:
                return names[name]
        return None

    def mentioned(self, text: str) -> Iterable[str]:
        """Cells that a text names."""
        words = dict.fromkeys(re.findall(r"[A-Za-z_]\w*", text))
        return [c for w in words if (c := self.find(w)) is not None]

    def distrust_all(self) -> None:
        """No variable can be followed; parameters are not changed by anything."""
        self.distrusted.update(n for n in self._made if n not in self._stack[0])

    def cells_named(self, names: set[str]) -> Iterable[str]:
        for name in sorted(names & self._made.keys()):
            yield name
            yield from (f"{name}#{i}" for i in range(2, self._made[name] + 1))

    # -- text
    def span(self, n: Node) -> ir.Span:
        return n.start - self.base, n.end - self.base

    def slice(self, n: Node) -> str:
        return self.text[n.start - self.base : n.end - self.base]

    def head(self, n: Node) -> str:
        """The text in front of a node."""
        at = n.start - self.base
        return self.text[max(0, at - 24) : at].rstrip()
