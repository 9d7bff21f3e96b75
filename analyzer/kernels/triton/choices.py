"""One kernel under several compile-time choices: block sizes that tuning picks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from ...model.kernel import Access, Alternative
from ...model.record import replace

#: An access by its place in the text: the same one under every choice.
_Place: TypeAlias = "tuple[object, ...]"


def with_alternatives(
    first: Sequence[Access], others: Sequence[tuple[str, Sequence[Access]]], widest: bool
) -> tuple[Access, ...]:
    """The accesses of the first choice, each with what it is under the others, and those that only others make."""
    by_place = [(given, dict(_places(accesses))) for given, accesses in others]
    seen = dict(_places(first))
    out = [
        replace(
            a, widest=widest,
            alternatives=tuple(Alternative(given, found.get(place)) for given, found in by_place),
        )
        for place, a in seen.items()
    ]  # fmt: skip
    for given, found in by_place:
        for place, a in found.items():
            if place not in seen:
                seen[place] = a
                absent = Alternative(f"another choice than {given}", None)
                out.append(replace(a, alternatives=(absent,)))
    return tuple(out)


def _places(accesses: Iterable[Access]) -> Iterable[tuple[_Place, Access]]:
    count: Counter[_Place] = Counter()
    for a in accesses:
        place = (a.param, a.kind, a.loc)
        yield (*place, count[place]), a
        count[place] += 1
