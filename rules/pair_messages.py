"""Two iterations in a message, and in the evidence."""

from __future__ import annotations

from collections.abc import Mapping

from . import common


def witness(sizes: Mapping[str, int], first: Mapping[str, int], second: Mapping[str, int]) -> dict[str, int]:
    """Sizes and both iterations; the variables of the second one have a prime: ``xindex'``."""
    return {**sizes, **first, **{f"{n}'": x for n, x in second.items()}}


def differing(first: Mapping[str, int], second: Mapping[str, int]) -> tuple[str, str]:
    """Both iterations as text, by the variables in which they differ."""
    names = [n for n in first if first[n] != second.get(n)]
    names += [n for n in second if n not in first]
    return _text(first, names), _text(second, names)


def at(sizes: Mapping[str, int]) -> str:
    """The sizes a statement is for, at the end of a message."""
    return f" at {common.witness_text(dict(sizes))}" if sizes else ""


def _text(point: Mapping[str, int], names: list[str]) -> str:
    return common.witness_text({n: point[n] for n in names if n in point})
