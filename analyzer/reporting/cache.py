"""Results kept in a folder, so that what has not changed is not checked again.

An entry is named for everything the result depends on: the texts, where they are, the runtimes asked for, the
sizes, and the files of this tool.  An entry that is no list of reports counts as not there.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from functools import cache
from pathlib import Path

from ..model.findings import FileReport
from ..model.record import record
from ..sources import WrapperSource
from ..sources.task import Task
from .stored import DAMAGED, from_data, to_data


@record(frozen=True)
class Results:
    """The results kept in ``folder``."""

    folder: Path

    def get(self, task: Task) -> list[FileReport] | None:
        """The reports of a task, if they were kept and nothing has changed since."""
        try:
            entries = json.loads(self._path(task).read_text("utf-8"))
            return [from_data(data) for data in entries] if isinstance(entries, list) else None
        except (OSError, RecursionError, *DAMAGED):
            return None

    def put(self, task: Task, reports: list[FileReport]) -> None:
        """Keep the reports of a task, unless something failed. A folder that can't be written keeps nothing."""
        if any(r.error is not None for r in reports):
            return
        path = self._path(task)
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=path.parent)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump([to_data(report) for report in reports], file)
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
