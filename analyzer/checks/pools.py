"""Members of a memory pool: the bytes each takes, decided like a kernel access."""

from __future__ import annotations

from ..bounds import decide
from ..bounds.model import Decision
from ..memory.storage import scaled
from ..memory.trace import ViewFact
from ..model.dtypes import itemsize
from ..model.kernel import Var
from ..model.record import record
from ..symbolic import TRUE, Expr, const, sym
from ..symbolic.assumptions import Ranges
from ..symbolic.terms import plain
from .views import dims


@record(frozen=True)
class Member:
    """Bytes ``first`` to ``last`` of a pool of ``capacity`` bytes; texts where they depend on sizes."""

    decision: Decision
    first: int | str | None
    last: int | str | None
    start: Expr
    capacity: Expr


def member(fact: ViewFact, ranges: Ranges) -> Member | None:
    """What a pool view covers; None when its layout or the size of the pool is not known."""
    view, pool = fact.tensor, fact.source.storage
    capacity = scaled(pool.capacity, pool.dtype, "uint8")
    if view.sizes is None or view.meant_strides is None or capacity is None:
        return None
    size = itemsize(view.dtype)
    index, vars_ = dims(view.sizes, view.meant_strides)
    start = fact.outcome.offset * size
    bytes_, vars_ = index * size + sym("byte"), (*vars_, Var("byte", const(size), "lane"))
    decision = decide(bytes_, vars_, TRUE, start, capacity, ranges)
    lo, hi = decision.range.min, decision.range.max
    return Member(
        decision,
        None if lo is None else plain(lo + start),
        None if hi is None else plain(hi + start),
        start,
        capacity,
    )
