"""Outputs that share memory with the caller's inputs, with constants, or with each other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from ..memory.byte_span import Region, region, share
from ..memory.storage import Tensor
from ..memory.trace import OutputFact
from ..model.record import record
from .packed_copies import writers

if TYPE_CHECKING:
    from ..analysis import Analysis, Body


@record(frozen=True)
class Shared:
    """Output ``fact`` lies in an input, in a constant, or overlaps an earlier output ``other``."""

    fact: OutputFact
    tensor: Tensor
    kind: Literal["input", "constant", "output"]
    other: OutputFact | None = None


def shared_outputs(analysis: Analysis) -> Iterator[Shared]:
    """Nothing for inputs that the wrapper writes (a mutated input is meant to be returned), nor for one handle
    given out twice."""
    for body in analysis.bodies:
        if body.name.startswith("_const"):
            continue  # folded constants: the model keeps them
        yield from _of_body(analysis, body)


def _of_body(analysis: Analysis, body: Body) -> Iterator[Shared]:
    earlier: list[tuple[OutputFact, Region]] = []
    for fact in body.facts:
        if not isinstance(fact, OutputFact) or fact.tensor is None:
            continue
        tensor, here = fact.tensor, region(fact.tensor, analysis.ranges)
        overlapped = None
        if here is not None:
            overlapped = next((f for f, r in earlier if share(here, r, analysis.ranges)), None)
            earlier.append((fact, here))
        if tensor.storage.kind == "constant":
            yield Shared(fact, tensor, "constant")
        elif tensor.storage.kind == "input" and not writers(body, tensor.storage):
            yield Shared(fact, tensor, "input")
        elif overlapped is not None:
            yield Shared(fact, tensor, "output", overlapped)
