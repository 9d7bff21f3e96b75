"""Where in its storage a tensor lies, in bytes, and whether two tensors share any of it."""

from __future__ import annotations

from ..model.dtypes import itemsize
from ..model.record import record
from ..runtimes.predicates import extent, has_negative, numel, self_overlapping
from ..symbolic import Expr
from ..symbolic.assumptions import Ranges
from .storage import Storage, Tensor


@record(frozen=True)
class Region:
    """Bytes ``start`` to ``end`` (excluded) of a storage. ``dense``: every byte in between belongs to it."""

    storage: Storage
    start: Expr
    end: Expr
    dense: bool


def region(tensor: Tensor, ranges: Ranges) -> Region | None:
    """From the first to the last element as the wrapper meant the layout; None when it is not known."""
    strides = tensor.meant_strides if tensor.meant_strides is not None else tensor.strides
    if tensor.sizes is None or strides is None or has_negative(strides, ranges) is not False:
        return None
    size, count = itemsize(tensor.dtype), extent(tensor.sizes, strides, ranges)
    start = tensor.offset * size
    dense = (
        ranges.equal(count, numel(tensor.sizes)) is True
        and self_overlapping(tensor.sizes, strides, ranges) is False
    )
    return Region(tensor.storage, start, start + count * size, dense)


def apart(a: Region, b: Region, ranges: Ranges) -> bool | None:
    """True: no byte in common, whatever the size; None: neither this nor :func:`share` is known."""
    if a.storage is not b.storage:
        return True if a.storage.root is not b.storage.root else None
    before, after = ranges.nonneg(b.start - a.end), ranges.nonneg(a.start - b.end)
    if before is True or after is True:
        return True
    return False if share(a, b, ranges) else None


def share(a: Region, b: Region, ranges: Ranges) -> bool:
    """Whether an end of one certainly lies in the other, which has no gaps. Layouts that interleave don't."""

    def inside(byte: Expr, whole: Region) -> bool:
        return ranges.nonneg(byte - whole.start) is True and ranges.positive(whole.end - byte) is True

    if a.storage is not b.storage:
        return False
    return any(
        whole.dense and ranges.positive(part.end - part.start) is True and inside(byte, whole)
        for whole, part in ((a, b), (b, a))
        for byte in (part.start, part.end - 1)
    )
