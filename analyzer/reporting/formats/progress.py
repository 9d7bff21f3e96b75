"""A progress bar that appears when work takes more than a moment."""

from __future__ import annotations

import time
from types import TracebackType
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

#: Seconds of work before the bar is worth its space.
PATIENCE = 0.7


class Bar:
    """Call it with (done, total); it draws on ``stream`` when that is a terminal, else nothing."""

    def __init__(self, stream: TextIO, *, wanted: bool = True, patience: float = PATIENCE) -> None:
        self._stream = stream
        self._wanted = wanted and stream.isatty()
        self._patience = patience
        self._start = time.monotonic()
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Bar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, done: int, total: int) -> None:
        if not self._wanted or time.monotonic() - self._start < self._patience:
            return
        if self._bar is None:
            self._bar = self._show()
        if self._task is None:
            self._task = self._bar.add_task("checking", total=total, rate="")
        rate = f"{done / (time.monotonic() - self._start):.1f}/s,"
        self._bar.update(self._task, completed=done, total=total, rate=rate)

    def _show(self) -> Progress:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        bar = Progress(
            TextColumn("checking"), BarColumn(), MofNCompleteColumn(), TextColumn("files, {task.fields[rate]}"),
            TimeRemainingColumn(), TextColumn("left"), console=Console(file=self._stream), transient=True,
        )  # fmt: skip
        bar.start()
        return bar
