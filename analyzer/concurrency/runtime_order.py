"""Accesses that a runtime does not order.

A runtime that gives a view at an offset a buffer object of its own, over the same memory, tracks hazards by
buffer object: what is written through one may not have arrived when it is read through another.  And copies that
the CPU makes may not wait for the work that is queued.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..memory.byte_span import Region, apart, region
from ..memory.ops import writes
from ..memory.storage import Storage, Tensor
from ..memory.trace import CallFact, Fact, LaunchFact, Verdict, ViewFact
from ..model.dtypes import itemsize
from ..model.record import field, record
from ..symbolic import Expr

if TYPE_CHECKING:
    from ..analysis import Analysis, Body


@record(frozen=True)
class Touch:
    """A read or write of one tensor; ``where`` the bytes, None when they are not known. A view reads when the
    runtime copies it."""

    fact: LaunchFact | CallFact | ViewFact
    tensor: Tensor
    where: Region | None
    parameter: str | None = None


@record(frozen=True)
class Unordered:
    """``reader`` reads what ``writers`` may not have written yet: through another buffer object, or (``copied``) on
    the CPU."""

    reader: Touch
    writers: tuple[Touch, ...]
    copied: bool


def unordered(analysis: Analysis) -> Iterator[Unordered]:
    """Reads that the runtime does not make wait for writes before them; one for each operand."""
    for body in analysis.bodies:
        yield from _of_body(analysis, body)


def _of_body(analysis: Analysis, body: Body) -> Iterator[Unordered]:
    state = _State(analysis, _by_launch(body))
    for fact in body.facts:
        for read, copied in state.reads(fact):
            found = tuple(w for w in state.pending if state.races(w, read, copied))
            if found:
                yield Unordered(read, found, copied)
        if isinstance(fact, (LaunchFact, CallFact)):
            state.pending += state.writes(fact)
        state.settle(fact)


def _by_launch(body: Body) -> dict[int, list[Verdict]]:
    out: dict[int, list[Verdict]] = {}
    for v in body.verdicts:
        out.setdefault(id(v.launch), []).append(v)
    return out


def _address(tensor: Tensor) -> tuple[Storage, Expr]:
    """Storage and byte in it."""
    return tensor.storage, tensor.offset * itemsize(tensor.dtype)


@record
class _State:
    """``pending``: writes that nothing has waited for. ``known``: addresses inside a storage that have a buffer
    object, so that a copy from there waits."""

    analysis: Analysis
    verdicts: dict[int, list[Verdict]]
    pending: list[Touch] = field(default_factory=list)
    known: set[tuple[Storage, Expr]] = field(default_factory=set)

    def settle(self, fact: Fact) -> None:
        """Forget what is pending where the runtime waits for all queued work: to copy elements on the CPU."""
        if isinstance(fact, ViewFact):
            if fact.outcome.binding == "second-buffer":
                self.known.add(_address(fact.tensor))
            elif fact.outcome.kind == "copy" and self._waits(fact):
                self.pending.clear()
        elif isinstance(fact, CallFact) and fact.event.op == "aoti_torch_copy_" and len(fact.operands) == 2:
            dst, src = fact.operands
            if dst.storage.device == "cpu" != src.storage.device:
                self.pending.clear()

    def _waits(self, fact: ViewFact) -> bool:
        of = fact.tensor.storage.of
        return fact.outcome.ordered or (of is not None and _address(of) in self.known)

    def races(self, write: Touch, read: Touch, copied: bool) -> bool:
        """Same storage, not provably other bytes, and nothing orders the two."""
        a, b = write.tensor, read.tensor
        if a.storage is not b.storage or not (copied or a.second_buffer or b.second_buffer):
            return False
        ranges = self.analysis.ranges
        same = ranges.equal(_address(a)[1], _address(b)[1])
        if not copied and same is True:
            return False  # buffer objects are found by their address
        if write.where is None or read.where is None:
            return True
        return apart(write.where, read.where, ranges) is not True

    def reads(self, fact: Fact) -> Iterator[tuple[Touch, bool]]:
        """What is read, and whether it is by a copy that does not wait for queued work."""
        if isinstance(fact, ViewFact):
            of = fact.tensor.storage.of
            if fact.outcome.kind == "copy" and of is not None and not self._waits(fact):
                yield Touch(fact, of, self._region(of)), True
        elif isinstance(fact, CallFact):
            written = writes(fact.event, fact.args) or ()
            for t in fact.operands:
                if t not in written:
                    yield Touch(fact, t, self._region(t)), self._copies(fact)
        elif isinstance(fact, LaunchFact):
            loads = [v for v in self.verdicts.get(id(fact), []) if v.access.kind != "store"]
            yield from ((touch, False) for touch in self._launch(fact, loads))

    def writes(self, fact: LaunchFact | CallFact) -> list[Touch]:
        if isinstance(fact, CallFact):
            return [Touch(fact, t, self._region(t)) for t in writes(fact.event, fact.args) or ()]
        stores = [v for v in self.verdicts.get(id(fact), []) if v.access.kind != "load"]
        return self._launch(fact, stores)

    def _copies(self, fact: CallFact) -> bool:
        """Whether this is a copy that the runtime makes before it waits."""
        if fact.event.op != "aoti_torch_copy_" or len(fact.operands) != 2:
            return False
        dst, src = (t.layout for t in fact.operands)
        if dst is None or src is None:
            return False
        outcome = self.analysis.profile.copy(dst, src, self.analysis.ranges)
        return outcome.kind == "ok" and not outcome.ordered

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
