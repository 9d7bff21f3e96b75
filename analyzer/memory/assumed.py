"""Which of a body's own checks hold where: everywhere, or only for what runs after them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..model.program import Alloc, Assert, Branch, Call, Check, Event, Launch, View, nested
from ..symbolic import Cond, Expr


def fresh_checks(events: Iterable[Event]) -> tuple[Cond, ...]:
    """Checks on the way of everything whose symbols nothing before them uses: they may be taken to hold everywhere.

    Such a check says nothing of what ran before it, as that does not depend on its symbols.
    """
    used: set[str] = set()
    out = []
    for e in events:
        if isinstance(e, Check):
            if used.isdisjoint(e.cond.symbols):
                out.append(e.cond)
        else:
            used.update(*(x.symbols for inner in nested([e]) for x in _numbers(inner)))
    return tuple(out)


def straight_checks(events: Iterable[Event]) -> tuple[Cond, ...]:
    """Checks that stand in no branch and no loop."""
    return tuple(e.cond for e in events if isinstance(e, Check))


def _numbers(e: Event) -> Iterator[Expr | Cond]:
    if isinstance(e, (Alloc, View, Assert)):
        yield from e.sizes or ()
        yield from e.strides or ()
    if isinstance(e, View):
        yield e.offset
    elif isinstance(e, Launch):
        yield from (x for _, x in e.scalars)
    elif isinstance(e, Call):
        yield from _arguments(e.args)
    elif isinstance(e, Check):
        yield e.cond
    elif isinstance(e, Branch):
        yield from (c for c in e.conds if c is not None)


def _arguments(args: object) -> Iterator[Expr]:
    if isinstance(args, Expr):
        yield args
    elif isinstance(args, tuple):
        for a in args:
            yield from _arguments(a)
