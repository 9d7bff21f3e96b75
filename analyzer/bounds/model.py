"""What is asked about an access and what is answered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from ..model.record import record
from ..symbolic import Cond, Expr, Op
from ..symbolic.assumptions import Ranges

#: First and last value of a variable, both included; None where it is not bounded.
Ends: TypeAlias = "tuple[Expr | None, Expr | None]"


@record(frozen=True)
class IndexRange:
    """Smallest and largest index over all iterations in which the guard holds.

    An end is None where it is unbounded or not determined.  ``exact``: both ends are reached, for every
    admitted size at which there is any iteration.  ``empty``: there is no iteration, whatever the size.
    ``reason`` says why an end is missing or not exact.
    """

    min: Expr | None
    max: Expr | None
    exact: bool
    empty: bool
    reason: str | None = None


@record(frozen=True)
class Decision:
    """The verdict on ``0 <= offset + index < capacity``.

    ``witness`` (of a fault) gives a value to every iteration variable and size symbol; ``index`` is the
    original index expression evaluated there, without the offset, and ``available`` the capacity there.
    """

    status: Literal["proved", "fault", "unknown"]
    range: IndexRange
    witness: dict[str, int] | None = None
    index: int | None = None
    available: int | None = None
    reason: str | None = None


@record(frozen=True)
class End:
    """One end of a range: ``value`` bounds the index; ``exact`` when ``point`` reaches it."""

    value: Expr | None
    point: Mapping[str, Expr] | None
    exact: bool
    reason: str | None = None


@record(frozen=True)
class Piece:
    """A part of the iteration space: a box of variables, and the guards the box doesn't express.

    The variables need not be those of the kernel: ``steps`` says, in the order of replacement, what each
    replaced variable is in terms of those that came after it.  ``sizes`` knows what must hold for this
    piece to have any iteration.  ``data`` names the variables that stand for values loaded from memory;
    ``atoms`` are those of them that stand for an operation on loaded values.  ``folded``: several iterations
    may have become one point.
    """

    index: Expr
    box: dict[str, Ends]
    guards: tuple[Cond, ...]
    steps: tuple[tuple[str, Expr], ...]
    sizes: Ranges
    data: frozenset[str] = frozenset()
    atoms: tuple[tuple[str, Op], ...] = ()
    folded: bool = False
