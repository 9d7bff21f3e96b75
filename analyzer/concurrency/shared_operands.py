"""One tensor twice in a call of an op that is there for what it changes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..memory.storage import Storage, Tensor
from ..memory.trace import CallFact
from ..model.record import record

if TYPE_CHECKING:
    from ..analysis import Analysis

_PROXY = "aoti_torch_proxy_executor_call_function"
_RESULT = "aoti_torch_new_uninitialized_tensor"


@record(frozen=True)
class SharedOperand:
    """Operands ``first`` and ``second`` (positions among the tensors of ``fact``) are the elements of one ``tensor``."""

    fact: CallFact
    tensor: Tensor
    first: int
    second: int


def shared_operands(analysis: Analysis) -> Iterator[SharedOperand]:
    """Calls through the proxy executor that are given no place for a result: one of the operands is changed.

    Which one is, the wrapper does not say.
    """
    for body in analysis.bodies:
        empty: set[Storage] = set()
        for fact in body.facts:
            if not isinstance(fact, CallFact):
                continue
            if fact.event.op == _RESULT:
                empty.update(t.storage for t in fact.results if t is not None)
            elif fact.event.op == _PROXY:
                if not any(t.storage in empty for t in fact.operands):
                    yield from _twice(fact)
                empty.difference_update(t.storage for t in fact.operands)


def _twice(fact: CallFact) -> Iterator[SharedOperand]:
    seen: dict[tuple[object, ...], int] = {}
    for i, t in enumerate(fact.operands):
        key = (t.storage, t.offset, t.sizes, t.strides)
        if key in seen:
            yield SharedOperand(fact, t, seen[key], i)
            return
        seen[key] = i
