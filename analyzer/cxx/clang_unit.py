"""C++ text to a small syntax tree, through libclang.

libclang decides what the text means; this module turns its cursors into :class:`Node` objects that hold
just what the dialect readers need, without implicit conversions, casts to the same thing, and templates.
Cursors are slow to walk from Python, so only the functions asked for are converted.
"""

from __future__ import annotations

import atexit
import re
from collections.abc import Iterable
from ctypes import byref, c_uint, py_object
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..model.location import Loc
from .convert import Converter
from .nodes import Node, Text

_PRELUDES = Path(__file__).parent


class Unit:
    """A parsed text: find functions by name and convert them to nodes."""

    def __init__(self, source: Text, prelude: str, extra: str = "", args: Iterable[str] = ()) -> None:
        import clang.cindex as ci

        self.source = source
        self.text = source.text
        head = _prelude(prelude) + extra
        # One character must be one byte, and one line must stay one line, for offsets to hold.
        body = source.text.encode("ascii", "replace").decode("ascii")
        self._shift = len(head) + 1
        name = "/unit.cpp"
        index = _index(ci)
        target = "arm64-apple-macos14" if re.search(r"\dLL\b", body) else "x86_64-unknown-linux-gnu"
        self._tu = index.parse(
            name,
            ["-x", "c++", "-std=c++20", "-target", target, "-nostdinc", "-nostdinc++", "-w",
             "-ferror-limit=0", *args],
            unsaved_files=[(name, head + "\n" + body)],
            options=0x200,  # keep going after an error
        )  # fmt: skip
        self._lib = ci.conf.lib
        self._found: list[Any] = []
        self._visitor = ci.callbacks["cursor_visit"](self._visit)
        self._number = c_uint()
        self._number_ref = byref(self._number)
        self._nothing = py_object(None)
        self._origin: int | None = None
        self.cursor = self._tu.cursor

    def diagnostics(self) -> list[tuple[int, str]]:
        """Errors inside the text: (offset, message). Errors of a prelude are programming errors and raise."""
        out: list[tuple[int, str]] = []
        for d in self._tu.diagnostics:
            if d.severity >= 3:
                offset = d.location.offset - self._shift
                if offset < 0:
                    raise RuntimeError(f"prelude does not parse: {d.spelling} (line {d.location.line})")
                out.append((offset, d.spelling))
        return out

    # -- cursors
    def children(self, cursor: Any) -> list[Any]:
        found: list[Any] = []
        self._found = found
        self._lib.clang_visitChildren(cursor, self._visitor, self._nothing)
        return found

    def _visit(self, child: Any, _parent: Any, _data: Any) -> int:
        child._tu = self._tu
        self._found.append(child)
        return 1

    def extent(self, cursor: Any) -> tuple[int, int]:
        lib = self._lib
        r = lib.clang_getCursorExtent(cursor)
        # Locations outside macros are numbers that count characters from the same origin.
        a, b = r.begin_int_data, r.end_int_data
        if self._origin is not None and 0 < a < _IN_MACRO and 0 < b < _IN_MACRO:
            return a - self._origin, b - self._origin
        start, end = self._offset(lib.clang_getRangeStart(r)), self._offset(lib.clang_getRangeEnd(r))
        if 0 < a < _IN_MACRO and start > -self._shift:
            self._origin = a - start
        return start, end

    def _offset(self, location: Any) -> int:
        self._lib.clang_getFileLocation(location, None, None, None, self._number_ref)
        return self._number.value - self._shift

    def spelling(self, cursor: Any) -> str:
        return str(self._lib.clang_getCursorSpelling(cursor) or "")

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


@lru_cache(maxsize=8)
def _prelude(name: str) -> str:
    parts = [(_PRELUDES / n).read_text() for n in name.split("+")]
    return "\n".join(parts)


@lru_cache(maxsize=8)
def prelude_words(name: str) -> frozenset[str]:
    """Every word of a prelude (file names joined by ``+``)."""
    return frozenset(re.findall(r"\w+", _prelude(name)))


@lru_cache(maxsize=1)
def _index(ci: Any) -> Any:
    # Its destructor needs the library, which is gone when the interpreter ends.
    atexit.register(_index.cache_clear)
    return ci.Index.create()


_IN_MACRO = 1 << 31
