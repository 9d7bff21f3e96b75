"""Alignment: where tensors start in their storage, against what kernels and dtypes need.

Storages themselves are taken to be aligned as every allocator here aligns them (16 bytes or more); inputs
are cloned by the wrapper when they are not.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..memory.storage import Tensor
from ..memory.trace import LaunchFact, ViewFact
from ..model.dtypes import itemsize
from ..model.record import record
from ..symbolic import Expr, evaluate, mod
from ..symbolic.assumptions import Ranges


@record(frozen=True)
class Misaligned:
    """``tensor`` starts ``byte`` bytes into its storage, which is no multiple of ``needed`` at ``sizes``.

    ``always``: at every admitted size.  ``parameter`` is the kernel parameter that promises it; None where the
    dtype alone needs it.
    """

    tensor: Tensor
    fact: LaunchFact | ViewFact
    byte: Expr
    needed: int
    always: bool
    sizes: dict[str, int]
    parameter: str | None = None


def promises(fact: LaunchFact, ranges: Ranges) -> Iterator[Misaligned]:
    """Arguments of a launch that break an alignment the kernel was compiled for."""
    if fact.kernel is None:
        return
    touched = {a.param for a in fact.kernel.accesses}
    for name, needed in fact.kernel.alignments:
        tensor = fact.args.get(name)
        if tensor is None or name not in touched:
            continue
        byte = tensor.offset * itemsize(tensor.dtype)
        found = _remainder(byte, needed, ranges)
        if found is not None:
            yield Misaligned(tensor, fact, byte, needed, *found, name)


def inside_an_element(fact: ViewFact, ranges: Ranges) -> Misaligned | None:
    """A pool member that is asked for at a byte inside an element of its dtype."""
    if fact.event.how != "pool":
        return None
    needed = itemsize(fact.tensor.dtype)
    byte = fact.event.offset
    found = _remainder(byte, needed, ranges)
    return None if found is None else Misaligned(fact.tensor, fact, byte, needed, *found)


def _remainder(byte: Expr, needed: int, ranges: Ranges) -> tuple[bool, dict[str, int]] | None:
    """Whether ``byte`` is never a multiple, with sizes at which it is not; None when there are none known."""
    rest = mod(byte, needed)
    aligned = ranges.equal(rest, 0)
    if aligned is not None:
        return None if aligned else (True, {})
    for sizes in ranges.samples(rest.symbols):
        if evaluate(rest, sizes) != 0:
            return False, sizes
    return None
