"""What an execution tells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from aoti_lint.analyzer.model.program import Event, Launch, Output


class NotRun(Exception):
    """This wrapper, or what follows in it, can't be executed; the message says why."""


@dataclass(frozen=True, slots=True)
class Touched:
    """What a launch did through one pointer. Indices are elements from the pointer; None: not at all.

    Counted: accesses outside of the storage, reads of places never written, of places whose newer value was lost in
    a copy, and of another element than the one meant (in a copy with another layout).  ``available`` is the number of elements from the pointer to the end of its storage.
    """

    name: str
    reads: tuple[int, int] | None
    writes: tuple[int, int] | None
    available: int
    bad_reads: int = 0
    bad_writes: int = 0
    unwritten: int = 0
    stale: int = 0
    misread: int = 0
    first: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Ran:
    """One event that was executed; ``failed`` is the kernel's own check that stopped it."""

    event: Event
    touched: tuple[Touched, ...]
    failed: str = ""
    hash: str = ""


@dataclass(frozen=True, slots=True)
class Execution:
    """``ran`` in order; ``skipped`` are events that could not be executed, with the reason."""

    ran: tuple[Ran, ...]
    skipped: tuple[tuple[Event, str], ...]
    sizes: Mapping[str, int]

    def launches(self) -> list[Ran]:
        return [r for r in self.ran if isinstance(r.event, Launch)]

    def outputs(self) -> dict[int, str]:
        """A value that depends on every element of each result."""
        return {r.event.index: r.hash for r in self.ran if isinstance(r.event, Output)}


@dataclass(frozen=True, slots=True)
class Asked:
    """A line that is answered: the names and item sizes of its pointers, in order."""

    event: Event
    names: tuple[str, ...]
    items: tuple[int, ...]


def result(asked: Asked, answer: Mapping[str, Any]) -> Ran:
    """The machine's answer to a line."""
    touched = []
    for name, item, a in zip(asked.names, asked.items, answer["args"], strict=True):
        ends = [
            (a["rmin"], a["rmax"]) if "rmin" in a else None,
            (a["wmin"], a["wmax"]) if "wmin" in a else None,
        ]
        counts = {k: a.get(k, 0) for k in ("bad_reads", "bad_writes", "unwritten", "stale", "misread")}
        first = {k.removeprefix("first_"): v for k, v in a.items() if k.startswith("first_")}
        touched.append(Touched(name, *ends, (a["bytes"] - a["start"]) // item, **counts, first=first))
    return Ran(asked.event, tuple(touched), str(answer.get("failed", "")), str(answer.get("hash", "")))
