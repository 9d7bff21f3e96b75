"""Names, guards and data of a kernel: the parts of :class:`~.state.State`."""

from __future__ import annotations

from ...model.record import record
from ...symbolic import TRUE, Cond
from ..interpret.integers import IntType
from .values import Value


class Scope:
    """Names of one block, inside those of another."""

    __slots__ = ("names", "parent", "references", "types")

    def __init__(self, parent: Scope | None = None) -> None:
        self.names: dict[str, Value] = {}
        #: References: the variable a name is another name of.
        self.references: dict[str, tuple[Scope, str]] = {}
        #: Declared integer types, to which assignments convert.
        self.types: dict[str, IntType] = {}
        self.parent = parent

    def resolve(self, name: str) -> tuple[Scope, str] | None:
        """The scope and the name of the variable that a name stands for, through references."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.references:
                scope, name = scope.references[name]
            elif name in scope.names:
                return scope, name
            else:
                scope = scope.parent
        return None

    def get(self, name: str) -> Value | None:
        found = self.resolve(name)
        return found[0].names[found[1]] if found else None

    def set(self, name: str, value: Value) -> None:
        """Assign to the variable where it was declared."""
        scope, own = self.resolve(name) or (self, name)
        scope.names[own] = value

    def declare(self, name: str, value: Value) -> None:
        """A new variable of this block."""
        self.references.pop(name, None)
        self.types.pop(name, None)
        self.names[name] = value

    def refer(self, name: str, to: tuple[Scope, str]) -> None:
        """Another name for a variable."""
        if to != (self, name):
            self.names.pop(name, None)
            self.references[name] = to


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
