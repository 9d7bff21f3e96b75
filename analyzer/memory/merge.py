"""The state of a handle after alternative paths."""

from __future__ import annotations

from collections.abc import Sequence

from ..model.location import Loc
from .storage import Slot, Storage, Tensor


def join(name: str, slots: Sequence[Slot], old: Slot, at: Loc) -> tuple[Slot, Storage | None]:
    """The state after alternatives: what all agree on, otherwise a storage that may be any of them."""
    live = [s for s in slots if s.state == "live" and s.tensor is not None]
    if not live:
        return (slots[0] if slots else old), None
    first = live[0]
    tensors = [s.tensor for s in live if s.tensor is not None]
    if all(t == tensors[0] for t in tensors):
        return first, None
    head = tensors[0]
    same = all(
        t.sizes == head.sizes and t.strides == head.strides and t.offset == head.offset and t.dtype == head.dtype
        and t.storage.capacity == head.storage.capacity
        for t in tensors
    )  # fmt: skip
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
