"""Tensors a body is given: inputs and constants, each in a storage of its own."""

from __future__ import annotations

from collections.abc import Mapping

from ..model.location import Loc
from ..model.program import Constant, Input
from ..runtimes.predicates import extent
from ..symbolic import ZERO, Expr, const
from ..symbolic.assumptions import Ranges
from .storage import Storage, Tensor


def input_tensor(
    i: Input, device: str, fixed: Mapping[str, Expr], ranges: Ranges, pointed: str | None = None
) -> Tensor:
    """An input: its storage holds what the declared sizes and strides need, no more.

    ``pointed``: the type of elements its kernels take it to have, for one whose dtype the wrapper does not state.
    """
    dtype = i.dtype or pointed or "float32"
    sizes = None if i.sizes is None else tuple(e.substitute(fixed) for e in i.sizes)
    strides = None if i.strides is None else tuple(e.substitute(fixed) for e in i.strides)
    capacity, reason = None, ""
    if any(f"{i.name}_size_{d}" not in fixed for d in i.unread):
        listed = ", ".join(map(str, i.unread))
        reason = (
            f"the wrapper does not read dynamic size {listed} of {i.name}; it may be tied to another size"
        )
    elif sizes is not None and strides is not None:
        capacity = extent(sizes, strides, ranges)
    elif i.read:
        listed = ", ".join(map(str, i.read))
        reason = f"the wrapper reads size {listed} of {i.name} but states neither its rank nor its strides"
    else:
        reason = f"the wrapper states no sizes of {i.name}"
    storage = Storage(
        i.name, "input", capacity, dtype, i.loc, device=device, reason=reason, guessed=i.dtype is None
    )
    return Tensor(i.name, storage, ZERO, dtype, sizes, strides, i.loc)


def constant_tensor(name: str, row: Constant | None, device: str, loc: Loc, ranges: Ranges) -> Tensor:
    """A constant: its storage holds its own elements, whatever else shares the blob."""
    if row is None:
        storage = Storage(
            name, "unknown", None, "float32", loc, reason="not in the constants table", guessed=True
        )
        return Tensor(name, storage, ZERO, "float32", None, None, loc)
    sizes, strides = tuple(map(const, row.sizes)), tuple(map(const, row.strides))
    capacity = extent(sizes, strides, ranges) + row.offset
    storage = Storage(name, "constant", capacity, row.dtype, row.loc, device=row.device or device)
    return Tensor(name, storage, const(row.offset), row.dtype, sizes, strides, row.loc)
