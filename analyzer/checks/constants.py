"""The constants table: what a constant's layout needs, what is stored for it, what a runtime makes of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..model.dtypes import itemsize
from ..model.program import Constant
from ..model.record import record
from ..runtimes.profile import AllocOutcome
from ..symbolic import const

if TYPE_CHECKING:
    from ..analysis import Analysis


@record(frozen=True)
class Shortage:
    """Elements ``first`` to ``last`` of its storage are needed, ``available`` are there."""

    constant: Constant
    first: int
    last: int
    available: int


def shortage(row: Constant) -> Shortage | None:
    """None where the bytes suffice; ``data_size`` may be rounded up, so elements past the end may go unseen."""
    if 0 in row.sizes:
        return None
    steps = [(s - 1) * t for s, t in zip(row.sizes, row.strides, strict=True)]
    first = row.offset + sum(x for x in steps if x < 0)
    last = row.offset + sum(x for x in steps if x > 0)
    available = row.data_size // itemsize(row.dtype)
    return Shortage(row, first, last, available) if first < 0 or last >= available else None


def refused(analysis: Analysis) -> Iterator[tuple[Constant, AllocOutcome]]:
    """Constants that the runtime can't load in their layout."""
    for row in analysis.program.constants:
        sizes, strides = tuple(map(const, row.sizes)), tuple(map(const, row.strides))
        device = row.device or analysis.program.device
        outcome = analysis.profile.constant(sizes, strides, row.dtype, device, analysis.ranges)
        if outcome.kind == "reject":
            yield row, outcome
