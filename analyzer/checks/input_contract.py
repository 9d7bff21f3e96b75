"""What the wrapper takes for granted about its inputs, against what it checks and what a runtime hands over."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..memory.storage import Tensor
from ..memory.trace import CallFact, Fact, LaunchFact, ViewFact
from ..model.program import Input
from ..model.record import record
from ..runtimes.profile import Outcome

if TYPE_CHECKING:
    from ..analysis import Analysis, Body


@record(frozen=True)
class Contract:
    """``input`` is assumed to be laid out as ``tensor``.

    ``refused``: what the runtime does with such an input.  Otherwise ``unchecked`` says what no check covers.
    """

    input: Input
    tensor: Tensor | None
    unchecked: str = ""
    refused: Outcome | None = None


def contracts(analysis: Analysis) -> Iterator[Contract]:
    """At most one for each input that is used."""
    functions = {f.name: f for f in analysis.program.functions}
    for body in analysis.bodies:
        for i in functions[body.name].inputs:
            tensor = _first_use(body, i.name)
            found = None if tensor is None else _contract(analysis, i, tensor)
            if found is not None:
                yield found


def _contract(analysis: Analysis, i: Input, tensor: Tensor) -> Contract | None:
    if tensor.layout is not None:
        outcome = analysis.profile.input(tensor.layout, analysis.ranges)
        if outcome.kind == "reject":
            return Contract(i, tensor, refused=outcome)
    if i.sizes is None:
        return Contract(i, tensor, "its sizes and strides")
    if i.unread:
        listed = " and ".join(map(str, i.unread))
        return Contract(i, tensor, f"its size in dim {listed}")
    return None if i.strides_checked else Contract(i, tensor, "its strides")


def _first_use(body: Body, name: str) -> Tensor | None:
    """The input as a kernel, op or view first sees it."""
    for fact in body.facts:
        for tensor in _operands(fact):
            if tensor.storage.kind == "input" and tensor.storage.name == name and not tensor.view:
                return tensor
    return None


def _operands(fact: Fact) -> tuple[Tensor, ...]:
    if isinstance(fact, LaunchFact):
        return tuple(fact.args.values())
    if isinstance(fact, CallFact):
        # Reading one element or handing over needs no layout.
        return () if fact.event.op.startswith("aoti_torch_item_") else fact.operands
    return (fact.source,) if isinstance(fact, ViewFact) else ()
