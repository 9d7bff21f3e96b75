"""Accesses that a runtime does not order: one memory reached through several buffer objects.

A runtime that gives a view at an offset a buffer object of its own, over the same memory, tracks hazards by
buffer object: what is written through one may not have arrived when it is read through another.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .facts import CallFact, Fact, LaunchFact, Verdict, ViewFact
from .memory import Tensor
from .ops import writes
from .regions import Region, apart, itemsize, region

if TYPE_CHECKING:
    from .analysis import Analysis, Body


@dataclass(frozen=True, slots=True)
class Touch:
    """A read or write of one tensor; ``where`` the bytes, None when they are not known."""

    fact: LaunchFact | CallFact
    tensor: Tensor
    where: Region | None
    parameter: str | None = None


@dataclass(frozen=True, slots=True)
class Unordered:
    """``reader`` reads through one buffer object what ``writers`` wrote through others."""

    reader: Touch
    writers: tuple[Touch, ...]


def unordered(analysis: Analysis) -> Iterator[Unordered]:
    """Reads that the runtime does not make wait for writes before them; one for each operand."""
    for body in analysis.bodies:
        if any(isinstance(f, ViewFact) and f.outcome.binding == "second-buffer" for f in body.facts):
            yield from _of_body(analysis, body)


def _of_body(analysis: Analysis, body: Body) -> Iterator[Unordered]:
    state = _State(analysis, _by_launch(body))
    for fact in body.facts:
        if isinstance(fact, (LaunchFact, CallFact)):
            reads, written = state.touches(fact)
            for read in reads:
                found = tuple(w for w in state.pending if state.races(w, read))
                if found:
                    yield Unordered(read, found)
            state.pending += written
        if _waits(fact):
            state.pending.clear()


def _by_launch(body: Body) -> dict[int, list[Verdict]]:
    out: dict[int, list[Verdict]] = {}
    for v in body.verdicts:
        out.setdefault(id(v.launch), []).append(v)
    return out


def _waits(fact: Fact) -> bool:
    """Whether the runtime waits for all queued work here: to copy elements on the CPU."""
    if isinstance(fact, ViewFact):
        return fact.outcome.kind == "copy" and fact.outcome.ordered
    if isinstance(fact, CallFact) and fact.event.op == "aoti_torch_copy_" and len(fact.operands) == 2:
        dst, src = fact.operands
        return dst.storage.device == "cpu" != src.storage.device
    return False


@dataclass(slots=True)
class _State:
    """Writes that nothing has waited for."""

    analysis: Analysis
    verdicts: dict[int, list[Verdict]]
    pending: list[Touch] = field(default_factory=list)

    def races(self, write: Touch, read: Touch) -> bool:
        """Other buffer object, same storage, and not provably other bytes."""
        a, b = write.tensor, read.tensor
        if a.storage is not b.storage or not (a.second_buffer or b.second_buffer):
            return False
        ranges = self.analysis.ranges
        if ranges.equal(a.offset * itemsize(a.dtype), b.offset * itemsize(b.dtype)) is True:
            return False  # buffer objects are found by their address
        if write.where is None or read.where is None:
            return True
        return apart(write.where, read.where, ranges) is not True

    def touches(self, fact: LaunchFact | CallFact) -> tuple[list[Touch], list[Touch]]:
        """(reads, writes) of a launch or call."""
        if isinstance(fact, CallFact):
            written = writes(fact.event.op, fact.args) or ()
            new = [Touch(fact, t, self._region(t)) for t in written]
            return [Touch(fact, t, self._region(t)) for t in fact.operands if t not in written], new
        mine = self.verdicts.get(id(fact), [])
        reads = [v for v in mine if v.access.kind != "store"]
        stores = [v for v in mine if v.access.kind != "load"]
        return self._launch(fact, reads), self._launch(fact, stores)

    def _launch(self, fact: LaunchFact, verdicts: list[Verdict]) -> list[Touch]:
        params = dict.fromkeys(v.param.name for v in verdicts)
        return [
            Touch(fact, fact.args[p], self._footprint([v for v in verdicts if v.param.name == p]), p)
            for p in params
        ]

    def _footprint(self, verdicts: list[Verdict]) -> Region | None:
        """The bytes between the first and the last element touched; those of the tensor if that is not known."""
        first = verdicts[0]
        size = itemsize(first.param.dtype or first.tensor.dtype)
        ends = [v.decision.range for v in verdicts if not v.decision.range.empty]
        if len(ends) != 1 or ends[0].min is None or ends[0].max is None:
            return self._region(first.tensor)
        start, stop = (first.start + ends[0].min) * size, (first.start + ends[0].max + 1) * size
        return Region(first.storage, start, stop, False)

    def _region(self, tensor: Tensor) -> Region | None:
        return region(tensor, self.analysis.ranges)
