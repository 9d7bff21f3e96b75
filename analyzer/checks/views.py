"""The range of elements a view covers, decided like a kernel access."""

from __future__ import annotations

from ..bounds import decide
from ..bounds.model import Decision
from ..memory.storage import scaled
from ..memory.trace import ViewFact
from ..model.kernel import Var
from ..model.record import record
from ..symbolic import TRUE, Expr, sym, total
from ..symbolic.assumptions import Ranges


@record(frozen=True)
class ViewRange:
    """Elements of the source's storage that a view covers, in elements of the view's dtype.

    ``first``/``last`` are numbers, or texts over size symbols.
    """

    decision: Decision
    first: int | str | None
    last: int | str | None
    offset: Expr
    capacity: Expr


def dims(sizes: tuple[Expr, ...], strides: tuple[Expr, ...]) -> tuple[Expr, tuple[Var, ...]]:
    """The element offset of a strided layout as an expression over one variable for each dimension."""
    vars_ = tuple(Var(f"d{i}", s, "loop") for i, s in enumerate(sizes))
    index = total(sym(v.name) * t for v, t in zip(vars_, strides, strict=True))
    return index, vars_


def view_range(fact: ViewFact, ranges: Ranges) -> ViewRange | None:
    """What a view covers of the storage of its source; None when sizes or capacity are not known."""
    from ..symbolic.terms import plain

    view, storage = fact.tensor, fact.source.storage
    strides = view.meant_strides or view.strides
    capacity = scaled(storage.capacity, storage.dtype, view.dtype)
    if view.sizes is None or strides is None or capacity is None:
        return None
    offset = fact.outcome.expected_offset
    index, vars_ = dims(view.sizes, strides)
    decision = decide(index, vars_, TRUE, offset, capacity, ranges)
    r = decision.range
    first = None if r.min is None else plain(r.min + offset)
    last = None if r.max is None else plain(r.max + offset)
    return ViewRange(decision, first, last, offset, capacity)
