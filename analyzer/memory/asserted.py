"""What a wrapper says of the tensors that ops return: their layout, and the type of their elements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..model.kernel import Kernel
from ..model.location import Loc
from ..model.program import Assert, Event, Launch, Move, Own, View, nested
from ..model.record import record


@record(frozen=True)
class Said:
    """``layouts`` by handle, in order; ``pointers``: the element types that kernels take a handle's memory to have."""

    layouts: Mapping[str, list[Assert]]
    pointers: Mapping[str, set[str]]

    def layout(self, name: str, after: Loc) -> Assert | None:
        """The layout stated for the result ``name`` of a call made at ``after``."""
        for candidate in (name, name.removesuffix("_handle")):
            for a in self.layouts.get(candidate, ()):
                if (a.loc.line, a.loc.column) > (after.line, after.column):
                    return a
        return None

    def dtype(self, name: str) -> str | None:
        """The type of the elements of ``name`` as its kernels point to it, when they agree."""
        types = self.pointers.get(name, set())
        return next(iter(types)) if len(types) == 1 else None


def said(events: Iterable[Event], kernels: Mapping[str, Kernel]) -> Said:
    """Everything a function states. Handles stand for what they were moved or viewed from."""
    layouts: dict[str, list[Assert]] = {}
    pointers: dict[str, set[str]] = {}
    origin: dict[str, str] = {}
    same: dict[str, str] = {}
    for e in nested(events):
        if isinstance(e, Assert):
            layouts.setdefault(e.name, []).append(e)
            if e.name in same:
                layouts.setdefault(same[e.name], []).append(e)
        elif isinstance(e, View) and e.how in ("reinterpret", "as_strided", "alias"):
            origin.setdefault(e.result, origin.get(e.base, e.base))
            if e.how == "alias":
                same.setdefault(e.result, same.get(e.base, e.base))
        elif isinstance(e, (Move, Own)):
            source = e.source if isinstance(e, Move) else e.handle
            origin.setdefault(e.result, origin.get(source, source))
        elif isinstance(e, Launch) and e.kernel in kernels:
            for parameter, name in e.tensors:
                param = kernels[e.kernel].param(parameter)
                if param is not None and param.dtype is not None:
                    pointers.setdefault(origin.get(name, name), set()).add(param.dtype)
    return Said(layouts, pointers)
