"""One storage reached in two ways by a launch: what one access writes the other uses."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from typing import TYPE_CHECKING, Literal

from ..memory.storage import Storage
from ..memory.trace import Verdict
from ..model.record import record
from ..symbolic.assumptions import Ranges
from .conflicts import Meeting, common, disjoint, loops, meet
from .within_program import exchange
from .write_races import launches

if TYPE_CHECKING:
    from ..analysis import Analysis


@record(frozen=True)
class Hazard:
    """``use`` (a load, or another store) and ``write`` of one storage in one launch.

    ``order``: what is read or left depends on the order of two iterations, or is already overwritten (``meeting``
    names them).  ``promise``: both do the same elements in the same iterations, but a parameter promises that
    nothing else writes its memory (see :func:`promised`).
    """

    kind: Literal["order", "promise"]
    use: Verdict
    write: Verdict
    meeting: Meeting | None = None


def hazards(analysis: Analysis) -> Iterator[Hazard]:
    """At most one for each launch and storage, the worst."""
    for _, group in launches(analysis):
        by_storage: dict[Storage, list[Verdict]] = {}
        for v in group:
            if v.index is not None:
                by_storage.setdefault(v.storage, []).append(v)
        for mine in by_storage.values():
            if any(v.access.kind != "load" for v in mine) and len(mine) > 1:
                yield from _of_storage(mine, analysis.ranges)


def _of_storage(accesses: list[Verdict], ranges: Ranges) -> Iterator[Hazard]:
    pairs = [
        (use, write) for use, write in permutations(accesses, 2)
        if use.param.name != write.param.name and write.access.kind != "load"
    ]  # fmt: skip
    for use, write in sorted(pairs, key=lambda p: p[0].access.kind != "load"):
        loads = use.access.kind == "load"
        for m in meet(use, write, ranges, in_order=loads):
            yield Hazard("order", use, write, m)
            return
    for use, write in permutations(accesses, 2):
        if use.param.name == write.param.name and use.access.kind == "load" and write.access.kind == "store":
            for m in _one_pointer(use, write, accesses, ranges):
                yield Hazard("order", use, write, m)
                return
    for use, write in pairs:
        if promised(use, write) and _same_map(use, write) and not disjoint(use, write, ranges):
            yield Hazard("promise", use, write)
            return


def _one_pointer(use: Verdict, write: Verdict, accesses: list[Verdict], ranges: Ranges) -> list[Meeting]:
    """Meetings of a load and a store through one pointer, the compiler keeping the order they have in the text.

    In an ordinary loop a load is of what was there before only where it stands in front of every store: memory that
    each round fills anew is read as it was written.  Kernels that use atomics have ways to wait that are not followed.
    """
    kernel = use.launch.kernel
    if kernel is None or any(a.kind == "atomic" for a in kernel.accesses):
        return []
    first = _position(use) < _position(write)
    if kernel.dialect == "cpp":
        shared = common(use, write)
        if not shared or not first:
            return []
        refilled = any(
            v.access.kind == "store" and _position(v) < _position(use) and shared[0] in loops(v)
            for v in accesses
        )
        return [] if refilled else meet(use, write, ranges, in_order=True)
    if _same_map(use, write) and not first:
        return []  # every thread reads back what it has stored
    return meet(use, write, ranges, in_order=False) or ([] if first else exchange(write, use, ranges))


def promised(use: Verdict, write: Verdict) -> bool:
    """Whether a compiler may take it that ``write`` leaves what ``use`` touches as it is, and that matters.

    A load of ``constant`` memory in front of the store gives what was there before in any case: Metal kernels that
    work in place are generated so.
    """
    kernel = use.launch.kernel
    if kernel is not None and kernel.dialect == "metal" and use.param.readonly:
        return _position(write) < _position(use)
    return use.param.restrict or write.param.restrict


def _position(v: Verdict) -> int:
    """Where an access stands among those of its kernel."""
    kernel = v.launch.kernel
    assert kernel is not None
    return next(n for n, a in enumerate(kernel.accesses) if a is v.access)


def _same_map(a: Verdict, b: Verdict) -> bool:
    return a.index is not None and b.index is not None and a.index + a.start == b.index + b.start
