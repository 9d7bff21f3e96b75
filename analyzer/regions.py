"""Where in its storage a tensor lies, in bytes, and whether two tensors share any of it."""

from __future__ import annotations

from dataclasses import dataclass

from .expr import Expr
from .memory import Storage, Tensor
from .program import ITEMSIZE
from .ranges import Ranges
from .runtimes.predicates import extent, has_negative


@dataclass(frozen=True, slots=True)
class Region:
    """Bytes ``start`` to ``end`` (excluded) of a storage."""

    storage: Storage
    start: Expr
    end: Expr


def itemsize(dtype: str) -> int:
    """Bytes an element; 1 for a dtype that is not known."""
    return ITEMSIZE.get(dtype, 1)


def region(tensor: Tensor, ranges: Ranges) -> Region | None:
    """From the first to the last element as the wrapper meant the layout; None when it is not known."""
    strides = tensor.meant_strides if tensor.meant_strides is not None else tensor.strides
    if tensor.sizes is None or strides is None or has_negative(strides, ranges) is not False:
        return None
    size = itemsize(tensor.dtype)
    start = tensor.offset * size
    return Region(tensor.storage, start, start + extent(tensor.sizes, strides, ranges) * size)


def apart(a: Region | None, b: Region | None, ranges: Ranges) -> bool | None:
    """True: no byte in common, whatever the size; False: some for every size; None: neither is known."""
    if a is None or b is None:
        return None
    if a.storage is not b.storage:
        return True if a.storage.root is not b.storage.root else None
    first, second = ranges.nonneg(b.start - a.end), ranges.nonneg(a.start - b.end)
    if first is True or second is True:
        return True
    empty = ranges.positive(a.end - a.start) is not True or ranges.positive(b.end - b.start) is not True
    return False if first is False and second is False and not empty else None
