"""Results kept in a folder, so that what has not changed is not checked again.

An entry is named for everything the result depends on: the texts, where they are, the runtimes asked for, the
sizes, and the files of this tool.  Entries hold nothing but findings: one that would make anything else, or can't
be read, counts as not there.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import pickle
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..model.record import record
from ..sources import WrapperSource

if TYPE_CHECKING:
    from ..model.findings import FileReport
    from ..pipeline import Task

#: What an entry may be made of.
_ALLOWED = {
    "aoti_lint.analyzer.model.findings": {
        "FileReport",
        "Finding",
        "Related",
        "Evidence",
        "Unknown",
        "Counts",
    },
    "aoti_lint.analyzer.model.location": {"Loc"},
    "aoti_lint.analyzer.model.record": {"_restored"},
}


@record(frozen=True)
class Results:
    """The results kept in ``folder``."""

    folder: Path

    def get(self, task: Task) -> list[FileReport] | None:
        """The reports of a task, if they were kept and nothing has changed since."""
        try:
            data = self._path(task).read_bytes()
            found = _Reader(io.BytesIO(data)).load()
        except Exception:  # a damaged entry can raise anything
            return None
        return found if isinstance(found, list) else None

    def put(self, task: Task, reports: list[FileReport]) -> None:
        """Keep the reports of a task, unless something failed. A folder that can't be written keeps nothing."""
        if any(r.error is not None for r in reports):
            return
        path = self._path(task)
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=path.parent)
            with os.fdopen(handle, "wb") as file:
                file.write(pickle.dumps(reports))
            Path(name).replace(path)

    def _path(self, task: Task) -> Path:
        digest = hashlib.sha256(_tool().encode())
        for part in _inputs(task):
            digest.update(f"{len(part)}:{part}".encode("utf-8", "surrogatepass"))
        name = digest.hexdigest()
        return self.folder / name[:2] / name[2:]


def _inputs(task: Task) -> list[str]:
    assert isinstance(task.source, WrapperSource)
    source = task.source
    texts = [x for t in (source.wrapper, *source.kernels) for x in (t.path, str(t.first_line), t.text)]
    profiles = [Path(name).read_text() for name in task.runtimes if Path(name).is_file()]
    rest = [
        source.extern_nodes or "",
        repr(sorted(source.metadata.items())),
        repr(sorted(task.sizes.items())),
    ]
    return [*texts, *rest, *task.runtimes, *profiles]


@cache
def _tool() -> str:
    """This version of the tool: names, sizes and times of its files."""
    root = Path(__file__).parent.parent.parent
    files = [f for folder in ("analyzer", "rules") for f in (root / folder).rglob("*") if f.suffix != ".pyc"]
    return repr([(str(f), f.stat().st_size, f.stat().st_mtime_ns) for f in sorted(files) if f.is_file()])


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if name in _ALLOWED.get(module, ()):
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"{module}.{name} is no part of a result")
