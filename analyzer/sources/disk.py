"""Files and folders: wrappers, Inductor caches, exports, and shared libraries with sources beside them."""

from __future__ import annotations

import contextlib
import getpass
import mmap
import os
import re
import stat
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from .model import MAX_FILES, MAX_TEXT, Failure, SourceError, SourceText, WrapperSource
from .pairing import KERNEL, WRAPPER, Index, wrapper_source
from .text import decode, embedded, looks_like_python, looks_like_wrapper

#: How much of a shared library is searched for the name of its source, bytes.
MAX_SCAN = 256 << 20
_CACHE_FOLDER = re.compile(r"[a-z0-9]{2}")
EXPORT_HINT = (
    "export with torch._inductor.aoti_compile_and_package (the .pt2 keeps the sources), or give the "
    "Inductor cache folder (TORCHINDUCTOR_CACHE_DIR) of the export"
)


def read_bytes(path: Path) -> bytes:
    """Content of an ordinary file of at most ``MAX_TEXT`` bytes. Raises :class:`SourceError`."""
    try:
        info = path.stat()
        if not stat.S_ISREG(info.st_mode):
            raise SourceError("not a regular file")
        if info.st_size > MAX_TEXT:
            raise SourceError(f"larger than {MAX_TEXT >> 20} MiB, the most that is read of one file")
        with path.open("rb") as f:
            return f.read(MAX_TEXT + 1)
    except (OSError, ValueError) as e:
        raise SourceError(reason(e)) from None


def reason(e: OSError | ValueError) -> str:
    text = e.strerror if isinstance(e, OSError) and e.strerror else str(e)
    return text[:1].lower() + text[1:]


class Disk:
    """A folder on disk, shown as the user wrote it. ``known`` shares folders within one search."""

    def __init__(self, path: Path, known: dict[Path, Disk]) -> None:
        self.path = path
        self._known = known
        self._index = Index(self)
        self._names: list[str] | None = None

    @classmethod
    def at(cls, path: Path, known: dict[Path, Disk]) -> Disk:
        return known.setdefault(path, cls(path, known))

    def names(self) -> list[str]:
        if self._names is None:
            try:
                self._names = sorted(
                    e.name for e in os.scandir(self.path) if not e.is_dir(follow_symlinks=False)
                )
            except OSError:
                self._names = []
        return self._names

    def read(self, name: str) -> str:
        return decode(read_bytes(self.path / name))

    def display(self, name: str) -> str:
        return str(self.path / name)

    def index(self) -> Index:
        return self._index

    def elsewhere(self) -> Iterable[Disk]:
        """A cache keeps ``cxyz….kernel.cpp`` in the folder ``xy``: the wrapper's kernels may be in a neighbour."""
        if not _CACHE_FOLDER.fullmatch(self.path.name):
            return
        with contextlib.suppress(OSError):
            for e in sorted(os.scandir(self.path.parent), key=lambda e: e.name):
                if (
                    _CACHE_FOLDER.fullmatch(e.name)
                    and e.name != self.path.name
                    and e.is_dir(follow_symlinks=False)
                ):
                    yield Disk.at(self.path.parent / e.name, self._known)


def from_file(path: Path, known: dict[Path, Disk]) -> list[WrapperSource]:
    """The wrappers of one source file. Raises :class:`SourceError`."""
    if path.name.endswith(KERNEL):
        twin = path.with_name(path.name.removesuffix(KERNEL) + WRAPPER)
        raise SourceError(
            f"a kernel file, not a wrapper: give {twin if twin.exists() else 'the *.wrapper.cpp that calls it'}"
        )
    if path.suffix == ".py":
        return from_python(str(path), decode(read_bytes(path)))
    return [wrapper_source(Disk.at(path.parent, known), path.name)]


def from_python(path: str, text: str) -> list[WrapperSource]:
    """The wrappers of a Python file: C++ in strings, or the file itself. Raises :class:`SourceError`."""
    found = [WrapperSource(w, k) for w, k in embedded(path, text)]
    if not found and looks_like_python(text):
        found = [WrapperSource(SourceText(path, text), python=True)]
    if not found:
        raise SourceError(
            "a Python file that is no Inductor wrapper; what a script compiles or exports is linted by "
            f"aoti-lint run -- python {Path(path).name}"
        )
    return found


#: Folders that hold no exports of the user's own.
_OTHERS = (".git", "node_modules")


def walk(root: Path, denied: list[OSError] | None = None) -> Iterator[Path]:
    """All files below a folder in sorted order, links to folders not followed. Raises :class:`SourceError`.

    ``denied`` gets what kept a folder below from being read.
    Virtual environments are left out: no export writes there, and installed packages hold wrappers of their own.
    """
    count = 0
    for folder, below, files in os.walk(root, onerror=None if denied is None else denied.append):
        below[:] = sorted(b for b in below if b not in _OTHERS and not Path(folder, b, "pyvenv.cfg").exists())
        count += len(files)
        if count > MAX_FILES:
            raise SourceError(f"more than {MAX_FILES} files in the folder: give a smaller one")
        yield from (Path(folder, f) for f in sorted(files))


def from_folder_file(path: Path, known: dict[Path, Disk]) -> list[WrapperSource | Failure]:
    """What a file met in a folder holds: nothing unless it is, or says it is, a wrapper."""
    name = path.name
    try:
        if name.endswith(WRAPPER):
            return list(from_file(path, known))
        if name.endswith((".cpp", ".py")) and not name.endswith(KERNEL):
            text = decode(read_bytes(path))
            if name.endswith(".py"):
                return (
                    list(from_python(str(path), text))
                    if "cpp_wrapper_src" in text or looks_like_python(text)
                    else []
                )
            return list(from_file(path, known)) if looks_like_wrapper(text) else []
    except SourceError as e:
        # Other people's unreadable C++ or Python files are no concern of ours.
        return [Failure(str(path), str(e))] if name.endswith(WRAPPER) or _claims(path) else []
    return []


def _claims(path: Path) -> bool:
    """Whether a file that can't be read as a wrapper has the text of one."""
    try:
        with path.open("rb") as f:
            data = f.read(MAX_TEXT)
    except OSError:
        return False
    return re.search(rb"^cpp_wrapper_src = \(", data, re.MULTILINE) is not None or looks_like_wrapper(
        data.decode("latin-1")
    )


def from_library(path: Path, known: dict[Path, Disk]) -> list[WrapperSource]:
    """Sources of a compiled model: beside it, or where the library says they were. Raises :class:`SourceError`."""
    stem = path.name.removesuffix(path.suffix)
    for name in (stem + ".cpp", stem.removesuffix(".wrapper") + WRAPPER):
        if path.with_name(name).is_file():
            return from_file(path.with_name(name), known)
    for source in _named_sources(path):
        if source.is_file():
            return from_file(source, known)
    raise SourceError(f"a compiled library and no sources beside it: {EXPORT_HINT}")


def _named_sources(path: Path) -> Iterator[Path]:
    """Places where the wrapper that a library names (in its error messages) may be."""
    try:
        with path.open("rb") as f, mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ) as data:
            at = data.find(WRAPPER.encode(), 0, MAX_SCAN)
            raw = data[max(0, at - 1000) : at + len(WRAPPER)] if at > 0 else b""
    except (OSError, ValueError):
        return
    m = re.search(rb"[\x20-\x7e]+\Z", raw)
    if m is None:
        return
    written = Path(m[0].decode("ascii"))
    yield path.with_name(written.name)
    yield written
    cache = Path(
        os.environ.get("TORCHINDUCTOR_CACHE_DIR") or Path(tempfile.gettempdir()) / f"torchinductor_{_user()}"
    )
    yield cache / written.parent.name / written.name


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return ""


def without_copies(found: list[WrapperSource | Failure]) -> list[WrapperSource | Failure]:
    """Every wrapper of a folder once.

    A cache keeps a compiled copy of a wrapper that stands in a Python file there, and an export that is given no
    file name puts its package beside the wrapper in it.
    """
    sources = [f for f in found if isinstance(f, WrapperSource)]
    bodies = {s.wrapper.text.strip() for s in sources if s.wrapper.path.endswith(".py")}
    loose = {(Path(s.wrapper.path).parent, s.texts) for s in sources if not _package(s)}

    def copied(s: WrapperSource) -> bool:
        if package := _package(s):
            return (Path(package).parent, s.texts) in loose
        return not s.wrapper.path.endswith(".py") and any(b in s.wrapper.text for b in bodies)

    return [f for f in found if isinstance(f, Failure) or not copied(f)]


def _package(source: WrapperSource) -> str:
    """The package it is a member of, or nothing."""
    package, inside, _ = source.wrapper.path.partition(".pt2!")
    return package if inside else ""
