"""Element types: those of pointers against those of the tensors they are given."""

from __future__ import annotations

from collections.abc import Iterator

from ..memory.storage import Tensor
from ..memory.trace import LaunchFact
from ..model.dtypes import itemsize
from ..model.kernel import Param
from ..model.record import record

#: Types that hold the same bytes under several names: masks, quantised weights, scratch memory.
_ONE_BYTE = frozenset(("bool", "uint8", "int8"))


@record(frozen=True)
class Mismatch:
    """``param`` points to elements of ``pointer_bytes``, those of ``tensor`` have ``tensor_bytes``."""

    param: Param
    tensor: Tensor
    pointer_bytes: int
    tensor_bytes: int


def mismatches(fact: LaunchFact) -> Iterator[Mismatch]:
    """Arguments of a launch whose element type is known and is not that of the pointer."""
    for name, tensor in fact.args.items():
        param = fact.kernel.param(name) if fact.kernel else None
        if param is None or param.dtype is None or not param.pointer or not known(tensor):
            continue
        if param.dtype != tensor.dtype and not {param.dtype, tensor.dtype} <= _ONE_BYTE:
            yield Mismatch(param, tensor, itemsize(param.dtype), itemsize(tensor.dtype))


def known(tensor: Tensor) -> bool:
    """Whether the wrapper states the dtype, of the storage or of a view of it in another one."""
    return not tensor.storage.guessed or tensor.dtype != tensor.storage.dtype
