"""What is to be checked: one wrapper, under which runtimes, at which sizes."""

from __future__ import annotations

from collections.abc import Mapping

from ..model.record import record
from .model import Failure, WrapperSource


@record(frozen=True)
class Task:
    """One wrapper to check, once under each runtime; everything needed travels to another process.

    ``sizes`` narrows symbols to inclusive intervals, None where open.
    """

    source: WrapperSource | Failure
    runtimes: tuple[str, ...]
    sizes: Mapping[str, tuple[int | None, int | None]]
