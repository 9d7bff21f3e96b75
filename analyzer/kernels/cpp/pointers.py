"""Pointers on their way through an expression: each must end in an access, or be passed on.

Every evaluation of an expression opens a :class:`Pointers`. The pointers its operands are go in; an access
made of them, or a name they are bound to, accounts for them, and so does a result that still points to the
same memory. What is left when the evaluation ends went where nobody follows it.
"""

from __future__ import annotations

from collections.abc import Iterator

from .values import Address, Closure, Local, Ptr, Value


class Pointers:
    """The pointers (and lambdas, which may hold pointers) among the operands of one expression."""

    __slots__ = ("accounted", "operands")

    def __init__(self) -> None:
        self.operands: list[Ptr | Local | Closure | Address] = []
        self.accounted: set[object] = set()

    def account(self, *values: Value | str) -> None:
        """These are followed: an access was recorded, or they have a name now."""
        self.accounted.update(_target(v) for v in values)

    def left(self, result: Value) -> Iterator[Ptr | Local | Closure | Address]:
        """Operands that neither an access nor the result accounts for, each once."""
        done = self.accounted | {_target(result)}
        for p in self.operands:
            target = _target(p)
            if target not in done:
                done.add(target)
                yield p


def _target(v: Value | str) -> object:
    """What is pointed to: a parameter's name, a local array, a lambda."""
    if isinstance(v, Address):
        return id(v.scope), v.name
    base = v.base if isinstance(v, Ptr) else v
    return base if isinstance(base, str) else id(base)
