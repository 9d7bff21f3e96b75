"""Which kernel files, metadata and extern-node lists belong to a wrapper."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Protocol

from ..model.record import field, record
from .model import SourceError, SourceText, WrapperSource
from .text import check_kernels, check_wrapper, signatures, wanted_kernels

KERNEL = ".kernel.cpp"
WRAPPER = ".wrapper.cpp"
#: The first line of a kernel file names the wrapper it was generated with (torch 2.8 and later).
_MADE_WITH = re.compile(r"\A// Triton kernels are embedded as comments in (?:.*[/\\])?([^/\\\s]+)")


class Folder(Protocol):
    """Files of one folder, on disk or in a package."""

    def names(self) -> list[str]:
        """Names of the files in the folder, sorted."""

    def read(self, name: str) -> str:
        """Text of a file. Raises :class:`SourceError`."""

    def display(self, name: str) -> str:
        """The path to show for a file."""

    def index(self) -> Index:
        """Its kernel files (read once)."""

    def elsewhere(self) -> Iterable[Folder]:
        """Other folders where an Inductor cache may keep the kernels of a wrapper that is here."""


@record(frozen=True)
class KernelFile:
    """A kernel file: what it defines, with parameters; ``error`` why it can't be read."""

    folder: Folder
    name: str
    defines: dict[str, str]
    made_with: str | None = None
    body: int = 0
    error: str | None = None

    def text(self) -> SourceText:
        text = self.folder.read(self.name)
        check_kernels(text)
        return SourceText(self.folder.display(self.name), text)

    def fits(self, name: str, params: str | None) -> bool:
        return name in self.defines and params in (None, self.defines[name])


@record
class Index:
    """The kernel files of a folder, read at most once."""

    folder: Folder
    files: list[KernelFile] = field(default_factory=list)
    ready: bool = False

    def __iter__(self) -> Iterator[KernelFile]:
        if not self.ready:
            self.files = [kernel_file(self.folder, n) for n in self.folder.names() if n.endswith(KERNEL)]
            self.ready = True
        return iter(self.files)


def kernel_file(folder: Folder, name: str) -> KernelFile:
    try:
        text = folder.read(name)
    except SourceError as e:
        return KernelFile(folder, name, {}, error=str(e))
    made = _MADE_WITH.match(text)
    code = text[made.end() if made else 0 :].partition("\n// Compile cmd")[0]
    defines = {n: params for n, params, kind in signatures(text) if kind == "{"}
    return KernelFile(folder, name, defines, made[1] if made else None, hash(code))


def wrapper_source(folder: Folder, name: str) -> WrapperSource:
    """The wrapper ``name`` of a folder with what belongs to it. Raises :class:`SourceError`."""
    text = folder.read(name)
    check_wrapper(text)
    kernels = _kernels(folder, name, wanted_kernels(text))
    return WrapperSource(
        SourceText(folder.display(name), text),
        tuple(k.text() for k in kernels),
        _extern_nodes(folder) if "aoti_torch_proxy_executor_call_function" in text else None,
        _metadata(folder, name.removesuffix(".cpp") + "_metadata.json"),
    )


def _kernels(folder: Folder, wrapper: str, wanted: dict[str, str | None]) -> list[KernelFile]:
    """The kernel files that define what the wrapper calls. Raises :class:`SourceError` when two would do."""
    if not wanted:
        return []
    twin = wrapper.removesuffix(".cpp").removesuffix(".wrapper") + KERNEL
    if twin in folder.names():
        found = kernel_file(folder, twin)
        if found.error:
            raise SourceError(f"{folder.display(twin)}: {found.error}")
        if wanted.keys() <= found.defines.keys():
            return [found]
    chosen: dict[str, KernelFile] = {}
    broken: list[KernelFile] = []
    for index in _indexes(folder):
        files = [f for f in index if not _of_another(f, wrapper)]
        broken += [f for f in files if f.error]
        for name in [n for n in wanted if n not in chosen]:
            fitting = [f for f in files if f.fits(name, wanted[name])]
            own = [f for f in fitting if f.made_with == wrapper or f.name == twin]
            if choice := _one(name, own or fitting, wanted):
                chosen[name] = choice
        if len(chosen) == len(wanted):
            break
    else:
        if broken:
            raise SourceError(f"{broken[0].folder.display(broken[0].name)}: {broken[0].error}")
    return list({(id(f.folder), f.name): f for f in chosen.values()}.values())


def _of_another(file: KernelFile, wrapper: str) -> bool:
    """Whether a kernel file says, or its name says, that it goes with another wrapper of its folder."""
    owners = {file.made_with or "", file.name.removesuffix(KERNEL) + WRAPPER}
    return wrapper not in owners and not owners.isdisjoint(file.folder.names())


def _indexes(folder: Folder) -> Iterator[Index]:
    yield folder.index()
    for other in folder.elsewhere():
        yield other.index()


def _one(name: str, files: list[KernelFile], wanted: dict[str, str | None]) -> KernelFile | None:
    """The one of ``files`` that is meant: those that define more of what is wanted come first."""
    score = {id(f): sum(f.fits(n, p) for n, p in wanted.items()) for f in files}
    best = [f for f in files if score[id(f)] == max(score.values())]
    if len({f.body for f in best}) > 1:
        names = ", ".join(f.folder.display(f.name) for f in best[:3])
        raise SourceError(
            f"several kernel files define {name} ({names}): keep each wrapper and its kernels in a folder"
        )
    return best[0] if best else None


def _json(folder: Folder, name: str) -> tuple[str, object]:
    try:
        text = folder.read(name)
        return text, json.loads(text)
    except (SourceError, ValueError, RecursionError):
        return "", None


def _metadata(folder: Folder, name: str) -> dict[str, str]:
    data = _json(folder, name)[1] if name in folder.names() else None
    return {k: v for k, v in data.items() if isinstance(v, str)} if isinstance(data, dict) else {}


def _extern_nodes(folder: Folder) -> str | None:
    """The extern-node list of the folder; None when there is none, or more than one and so no telling which."""
    found = []
    for name in folder.names():
        if name.endswith(".json") and not name.endswith(("_metadata.json", "_flags.json")):
            text, data = _json(folder, name)
            if isinstance(data, dict) and isinstance(data.get("nodes"), list):
                found.append(text)
    return found[0] if len(set(found)) == 1 else None
