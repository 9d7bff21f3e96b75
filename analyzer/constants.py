"""The constants table: what a constant's layout needs against what is stored for it."""

from __future__ import annotations

from dataclasses import dataclass

from .program import Constant
from .regions import itemsize


@dataclass(frozen=True, slots=True)
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
