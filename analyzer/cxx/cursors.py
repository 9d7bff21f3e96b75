"""A text parsed by libclang: its diagnostics, and cursors walked without the cost of its own Python classes."""

from __future__ import annotations

import atexit
import re
from collections.abc import Iterable
from ctypes import byref, c_uint, py_object
from functools import lru_cache
from pathlib import Path
from typing import Any

from .nodes import Text

_PRELUDES = Path(__file__).parent


class Parsed:
    """A text after a prelude; offsets count from the start of the text."""

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

    def operator(self, cursor: Any) -> int:
        """libclang's number of a binary operator."""
        return int(self._lib.clang_getCursorBinaryOperatorKind(cursor))

    def place(self, cursor: Any) -> int:
        """The offset of the name a declaration declares."""
        return self._offset(self._lib.clang_getCursorLocation(cursor))


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
