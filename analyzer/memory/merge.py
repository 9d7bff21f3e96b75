"""The state of a handle after alternative paths."""

from __future__ import annotations

from collections.abc import Sequence

from ..model.location import Loc
from ..model.record import replace
from ..symbolic import const
from .storage import Slot, Storage, Tensor


def join(name: str, slots: Sequence[Slot], old: Slot, at: Loc) -> tuple[Slot, Storage | None]:
    """The state after alternatives: what all agree on, otherwise a storage that may be any of them."""
    live = [s for s in slots if s.state == "live" and s.tensor is not None]
    if not live:
        return (slots[0] if slots else old), None
    first = live[0]
    gone = next((s for s in slots if s.state in ("reset", "moved", "released")), None)
    if gone is not None:
        return _gone(name, first, gone, at)
    tensors = [s.tensor for s in live if s.tensor is not None]
    if all(t == tensors[0] for t in tensors):
        return first, None
    head = tensors[0]
    same = all(
        t.sizes == head.sizes and t.strides == head.strides and t.offset == head.offset and t.dtype == head.dtype
        and t.storage.capacity == head.storage.capacity
        for t in tensors
    )  # fmt: skip
    if not same and (shared := _smallest(name, tensors, at)) is not None:
        return Slot("live", shared, at), shared.storage
    storage = Storage(
            head.storage.name if same else name, "joined", head.storage.capacity if same else None, head.dtype, at,
            device=head.storage.device, reason="" if same else "differs between branches",
            parts=tuple(dict.fromkeys(t.storage for t in tensors)),
            guessed=any(t.storage.guessed for t in tensors),
        )  # fmt: skip
    joined = Tensor(
        name, storage, head.offset, head.dtype, head.sizes if same else None, head.strides if same else None, at,
        head.base, head.meant_strides, head.view, gathered=head.gathered,
    )  # fmt: skip
    return Slot("live", joined, at), storage


def _gone(name: str, first: Slot, gone: Slot, at: Loc) -> tuple[Slot, Storage | None]:
    """A handle that holds nothing after one of the paths: nothing is known of what it is used for."""
    tensor = first.tensor
    assert tensor is not None
    storage = Storage(
        name, "unknown", None, tensor.dtype, at, device=tensor.storage.device,
        reason=f"{name} holds nothing after one of the paths (line {gone.at.line})", parts=(tensor.storage,),
    )  # fmt: skip
    return Slot("live", replace(tensor, storage=storage, sizes=None, strides=None), at), storage


def _smallest(name: str, tensors: Sequence[Tensor], at: Loc) -> Tensor | None:
    """Tensors of one layout at different places: what there is of memory from the pointer on, in any of them."""
    head = tensors[0]
    if any((t.sizes, t.strides, t.dtype) != (head.sizes, head.strides, head.dtype) for t in tensors):
        return None
    left: list[int] = []
    for t in tensors:
        capacity = t.storage.elements(t.dtype)
        rest = None if capacity is None else (capacity - t.offset).value
        if rest is None:
            return None
        left.append(rest)
    storage = Storage(
        name, "joined", const(min(left)), head.dtype, at, device=head.storage.device,
        parts=tuple(dict.fromkeys(t.storage for t in tensors)), guessed=any(t.storage.guessed for t in tensors),
    )  # fmt: skip
    return Tensor(
        name, storage, const(0), head.dtype, head.sizes, head.strides, at, head.base, head.meant_strides,
        head.view, gathered=head.gathered,
    )  # fmt: skip
