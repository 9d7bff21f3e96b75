"""Storages and the tensors that live in them, as a runtime sees them while a program runs."""

from __future__ import annotations

from typing import Literal, TypeAlias

from ..model.dtypes import ITEMSIZE
from ..model.location import Loc
from ..model.record import record
from ..runtimes.model import Layout
from ..symbolic import ZERO, Expr

StorageKind: TypeAlias = Literal["allocation", "input", "constant", "result", "copy", "joined", "unknown"]


@record(eq=False)
class Storage:
    """A block of memory. ``capacity`` in elements of ``dtype``; None when it is not known, with ``reason``.

    ``copy``: the packed copy a runtime made of a view; ``of`` is the tensor it was copied from, as the
    wrapper meant it.  ``joined``: either of several storages, after a branch.  ``guessed``: the wrapper does not
    state ``dtype``.  ``stack``: an array of the function itself.  ``pinned``: host memory that a GPU can reach.
    """

    name: str
    kind: StorageKind
    capacity: Expr | None
    dtype: str
    loc: Loc
    of: Tensor | None = None
    device: str = "cpu"
    reason: str = ""
    parts: tuple[Storage, ...] = ()
    guessed: bool = False
    stack: bool = False
    pinned: bool = False

    def elements(self, dtype: str | None) -> Expr | None:
        """Capacity in elements of another dtype."""
        return scaled(self.capacity, self.dtype, dtype)

    @property
    def root(self) -> Storage:
        """The storage behind a chain of copies."""
        return self.of.storage.root if self.of is not None else self


@record(frozen=True)
class Tensor:
    """A tensor bound to a handle: ``offset`` in elements of ``dtype`` from the start of its storage.

    ``base`` is the handle a view was taken from, ``loc`` where this tensor was made.  ``strides`` are those
    the runtime carries; ``meant_strides`` those the wrapper wrote (kernels use them).  ``gathered``: as in
    :class:`~.runtimes.model.Layout`.
    """

    name: str
    storage: Storage
    offset: Expr
    dtype: str
    sizes: tuple[Expr, ...] | None
    strides: tuple[Expr, ...] | None
    loc: Loc
    base: str | None = None
    meant_strides: tuple[Expr, ...] | None = None
    view: bool = False
    second_buffer: bool = False
    #: The pool member or reused buffer this tensor belongs to: the view or the handle that took the memory over.
    member: str = ""
    gathered: bool = False

    @property
    def label(self) -> str | None:
        """Name for messages; None for a view written inside a call."""
        return None if self.name.startswith("%") else self.name

    @property
    def layout(self) -> Layout | None:
        """The layout the runtime is asked about; None when sizes are not known."""
        if self.sizes is None or self.strides is None:
            return None
        return Layout(
            self.sizes,
            self.strides,
            self.offset,
            self.storage.elements(self.dtype),
            self.dtype,
            self.storage.device,
            copied=self.storage.kind == "copy",
            gathered=self.gathered,
        )


@record
class Slot:
    """State of one handle variable. ``at`` is where it got into this state.

    ``raw``: it owns nothing itself; ``owner`` does. ``unowned``: a call has put a new tensor object into it.
    """

    state: Literal["live", "null", "moved", "reset", "unbound", "released", "dangling"]
    tensor: Tensor | None
    at: Loc
    owner: str | None = None
    raw: bool = False
    unowned: bool = False


def scaled(count: Expr | None, old: str, new: str | None) -> Expr | None:
    """``count`` elements of ``old`` in whole elements of ``new``."""
    if count is None or new is None:
        return count
    a, b = ITEMSIZE.get(old, 1), ITEMSIZE.get(new, 1)
    if a == b:
        return count
    from ..symbolic import floordiv

    return floordiv(count * a, b)


def seen_as(layout: Layout, dtype: str) -> tuple[tuple[Expr, ...], tuple[Expr, ...]]:
    """Sizes and strides of the same bytes in elements of ``dtype``: those of the last dim are split or joined."""
    old = layout.dtype or dtype
    if not layout.sizes or ITEMSIZE.get(old, 1) == ITEMSIZE.get(dtype, 1):
        return layout.sizes, layout.strides

    def count(e: Expr) -> Expr:
        return scaled(e, old, dtype) or ZERO

    sizes = (*layout.sizes[:-1], count(layout.sizes[-1]))
    return sizes, (*map(count, layout.strides[:-1]), layout.strides[-1])


def start_of(tensor: Tensor, dtype: str | None) -> Expr:
    """Offset of a tensor in its storage, in elements of ``dtype``."""
    return scaled(tensor.offset, tensor.dtype, dtype) or ZERO
