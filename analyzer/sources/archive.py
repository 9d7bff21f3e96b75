"""``.pt2`` packages: a zip with one or several models. Nothing is ever unpacked to disk."""

from __future__ import annotations

import stat
import struct
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from .disk import EXPORT_HINT, reason
from .model import MAX_FILES, MAX_PACKAGE, MAX_RATIO, MAX_TEXT, Failure, SourceError, WrapperSource
from .pairing import KERNEL, WRAPPER, Folder, Index, wrapper_source
from .text import decode, looks_like_wrapper

#: Largest list of members that is read, bytes.
MAX_DIRECTORY = 32 << 20
_CHUNK = 1 << 20


class Package:
    """An open package: members by folder, and how much of it has been read."""

    def __init__(self, path: str, zf: zipfile.ZipFile) -> None:
        self.path = path
        self._zip = zf
        self._left = MAX_PACKAGE
        self._texts: dict[str, str] = {}
        self.folders: dict[str, dict[str, zipfile.ZipInfo]] = {}
        members = zf.infolist()
        if len(members) > MAX_FILES:
            raise SourceError(f"a package with more than {MAX_FILES} members")
        for info in members:
            _check_name(info.filename)
            folder, _, name = info.filename.rpartition("/")
            if not name:
                continue
            files = self.folders.setdefault(folder, {})
            if name in files and name.endswith((".cpp", ".json")):
                raise SourceError(f"the package has {info.filename} twice")
            files[name] = info

    def read(self, info: zipfile.ZipInfo) -> str:
        """Text of a member. Raises :class:`SourceError`."""
        if info.filename not in self._texts:
            self._texts[info.filename] = decode(self._bytes(info))
        return self._texts[info.filename]

    def _bytes(self, info: zipfile.ZipInfo) -> bytes:
        if info.flag_bits & 1:
            raise SourceError("encrypted")
        if stat.S_ISLNK(info.external_attr >> 16):
            raise SourceError("a symbolic link in the package")
        if info.file_size > MAX_TEXT:
            raise SourceError(f"larger than {MAX_TEXT >> 20} MiB, the most that is read of one file")
        if info.file_size > _CHUNK and info.file_size > MAX_RATIO * max(1, info.compress_size):
            raise SourceError(f"grows more than {MAX_RATIO} times when unpacked: refused")
        data = bytearray()
        try:
            with self._zip.open(info) as f:
                while chunk := f.read(_CHUNK):
                    data += chunk
                    if len(data) > info.file_size:
                        raise SourceError("larger than the package declares: damaged")
        except SourceError:
            raise
        except Exception as e:  # zipfile and the decompressors raise a dozen kinds on damaged data
            raise SourceError(f"damaged in the package ({_line(e)})") from None
        self._left -= len(data)
        if self._left < 0:
            raise SourceError(f"a package with more than {MAX_PACKAGE >> 20} MiB of sources")
        return bytes(data)


class Inside:
    """A folder of a package."""

    def __init__(self, package: Package, folder: str) -> None:
        self._package = package
        self._folder = folder
        self._index = Index(self)

    def names(self) -> list[str]:
        return sorted(self._package.folders[self._folder])

    def read(self, name: str) -> str:
        return self._package.read(self._package.folders[self._folder][name])

    def display(self, name: str) -> str:
        return (
            f"{self._package.path}!{self._folder}/{name}" if self._folder else f"{self._package.path}!{name}"
        )

    def index(self) -> Index:
        return self._index

    def elsewhere(self) -> Iterable[Folder]:
        return ()


def from_package(path: Path) -> list[WrapperSource | Failure]:
    """All wrappers of a package, in the order of their names. Raises :class:`SourceError` for the package itself."""
    try:
        with path.open("rb") as f:
            _check_directory(f)
            with zipfile.ZipFile(f) as zf:
                return _wrappers(Package(str(path), zf))
    except SourceError:
        raise
    except OSError as e:
        raise SourceError(reason(e)) from None
    except Exception as e:  # as above: zipfile is not written for hostile input
        raise SourceError(f"not a readable package: damaged or truncated zip ({_line(e)})") from None


def _wrappers(package: Package) -> list[WrapperSource | Failure]:
    found: list[WrapperSource | Failure] = []
    for folder in sorted(package.folders):
        inside = Inside(package, folder)
        for name in inside.names():
            if not name.endswith(".cpp") or name.endswith(KERNEL):
                continue
            try:
                if name.endswith(WRAPPER) or looks_like_wrapper(inside.read(name)):
                    found.append(wrapper_source(inside, name))
            except SourceError as e:
                found.append(Failure(inside.display(name), str(e)))
    if not found:
        names = [n for files in package.folders.values() for n in files]
        if any(n.endswith((".pt2", ".zip")) for n in names):
            raise SourceError("no AOTInductor wrapper in the package (packages inside it are not opened)")
        if any(n.endswith((".so", ".dylib", ".pyd", ".dll")) for n in names):
            raise SourceError(f"the package holds compiled code and no wrapper source: {EXPORT_HINT}")
        raise SourceError("no AOTInductor wrapper in the package")
    return found


def _check_name(name: str) -> None:
    """Refuse names that would leave the folder if unpacked, or that would forge output lines."""
    if name.startswith(("/", "\\")) or name[1:2] == ":" or ".." in name.replace("\\", "/").split("/"):
        raise SourceError(f"refused: the member name {name[:80]!r} leads out of the package")
    if not name.isprintable():
        raise SourceError(f"refused: the member name {name[:80]!r} has control characters")


def _check_directory(f: BinaryIO) -> None:
    """Refuse a list of members so long that reading it alone would take minutes. Raises :class:`SourceError`."""
    f.seek(0, 2)
    size = f.tell()
    f.seek(max(0, size - 65_600))
    tail = f.read()
    at = tail.rfind(b"PK\x05\x06")
    if at < 0 or len(tail) < at + 22:
        raise SourceError("not a zip package, or a truncated one (it has no end record)")
    declared = struct.unpack_from("<L", tail, at + 12)[0]
    wide = tail.rfind(b"PK\x06\x06", 0, at)
    if declared == 0xFFFFFFFF and wide >= 0 and len(tail) >= wide + 48:
        declared = struct.unpack_from("<Q", tail, wide + 40)[0]
    if declared > MAX_DIRECTORY:
        raise SourceError(f"the package's list of members is larger than {MAX_DIRECTORY >> 20} MiB")
    f.seek(0)


def _line(e: Exception) -> str:
    text = " ".join(str(e).split())[:120]
    return text if text.isprintable() and text else type(e).__name__
