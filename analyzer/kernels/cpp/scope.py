"""Names, guards and data of a kernel: the parts of :class:`~.state.State`."""

from __future__ import annotations

from ...model.record import record
from ...symbolic import TRUE, Cond
from .values import Value


class Scope:
    """Names of one block, inside those of another."""

    __slots__ = ("names", "parent")

    def __init__(self, parent: Scope | None = None) -> None:
        self.names: dict[str, Value] = {}
        self.parent = parent

    def find(self, name: str) -> Scope | None:
        scope: Scope | None = self
        while scope is not None and name not in scope.names:
            scope = scope.parent
        return scope

    def get(self, name: str) -> Value | None:
        scope = self.find(name)
        return scope.names[name] if scope else None

    def set(self, name: str, value: Value) -> None:
        """Assign to the variable where it was declared."""
        (self.find(name) or self).names[name] = value


@record(frozen=True)
class Guard:
    """A condition under which what follows runs.

    ``lanes``: the condition says that some lane satisfies this one.  ``check``: a bounds check, which ends
    the program where it fails; it holds for every lane.
    """

    cond: Cond
    lanes: Cond | None = None
    check: bool = False


@record(frozen=True)
class Datum:
    """A symbol that stands for a value from memory, or for one known only within bounds (``fact``)."""

    label: str
    lo: int | None
    hi: int | None
    deps: frozenset[str]
    fact: Cond = TRUE
