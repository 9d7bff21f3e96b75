"""From a path to named texts: wrappers with the kernels, metadata and extern nodes that belong to them.

Nothing here knows C++: files are told apart by name, by a few fixed lines of the generator, and kernels are
matched to wrappers by the names they define and call.  Limits are in :mod:`.model`.
"""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path
from typing import TextIO

from .archive import from_package
from .disk import Disk, from_file, from_folder_file, from_library, from_python, reason, walk, without_copies
from .model import MAX_TEXT, Failure, SourceError, SourceText, WrapperSource
from .text import check_wrapper, decode, looks_like_python

__all__ = ["Failure", "SourceError", "SourceText", "WrapperSource", "load"]

_LIBRARIES = (".so", ".dylib", ".pyd", ".dll")
_LIBRARY_MAGIC = (b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"MZ")


def load(path: str, stdin: TextIO | None = None) -> list[WrapperSource | Failure]:
    """Everything at ``path``: a wrapper, JIT ``.py``, package, library, folder, or ``-`` for standard input.

    Never empty and never raises for what the input holds: what can't be read is a :class:`Failure`.
    """
    try:
        if path == "-":
            return list(_from_stdin(stdin if stdin is not None else sys.stdin))
        return _from_path(Path(path))
    except SourceError as e:
        return [Failure(path, str(e))]


def _from_path(path: Path) -> list[WrapperSource | Failure]:
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            return _from_folder(path)
        if not stat.S_ISREG(mode):
            raise SourceError("not a regular file")
        with path.open("rb") as f:
            magic = f.read(4)
    except (OSError, ValueError) as e:
        raise SourceError(reason(e)) from None
    if path.suffix == ".pt2" or magic in (b"PK\x03\x04", b"PK\x05\x06"):
        return from_package(path)
    if path.suffix in _LIBRARIES or magic.startswith(_LIBRARY_MAGIC):
        return list(from_library(path, {}))
    return list(from_file(path, {}))


def _from_folder(root: Path) -> list[WrapperSource | Failure]:
    found: list[WrapperSource | Failure] = []
    known: dict[Path, Disk] = {}
    libraries = False
    denied: list[OSError] = []
    for path in walk(root, denied):
        if path.suffix == ".pt2":
            found += load(str(path))
        else:
            libraries = libraries or path.suffix in _LIBRARIES
            found += from_folder_file(path, known)
    found += [Failure(str(e.filename), reason(e)) for e in denied if e.filename != str(root)]
    if not found:
        hint = " (compiled libraries only; their sources are not there)" if libraries else ""
        raise SourceError(f"no AOTInductor wrapper found in {root}{os.sep}{hint}")
    return without_copies(found)


def _from_stdin(stdin: TextIO) -> list[WrapperSource]:
    name = "<stdin>"
    try:
        text = stdin.read(MAX_TEXT + 1)
    except UnicodeDecodeError as e:
        raise SourceError(
            f"standard input is not UTF-8 text (byte 0x{e.object[e.start]:02x} at offset {e.start})"
        ) from None
    text = decode(text.encode("utf-8", "surrogatepass"))
    if "cpp_wrapper_src = (" in text or looks_like_python(text):
        return from_python(name, text)
    check_wrapper(text)
    return [WrapperSource(SourceText(name, text), ())]
