"""Alignment: where tensors start in their storage, against what kernels and dtypes need.

Storages themselves are taken to be aligned as every allocator here aligns them (16 bytes or more). An input may
start anywhere, unless the wrapper copies it when it is not aligned.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..memory.storage import Tensor
from ..memory.trace import LaunchFact, ViewFact
from ..model.dtypes import itemsize
from ..model.program import Input
from ..model.record import record
from ..symbolic import Expr, evaluate, mod
from ..symbolic.assumptions import Ranges

if TYPE_CHECKING:
    from ..analysis import Analysis


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


@record(frozen=True)
class Unaligned:
    """Nothing makes ``input`` start at a multiple of ``needed`` bytes, as ``fact`` promises of ``parameter``."""

    input: Input
    fact: LaunchFact
    parameter: str
    needed: int


def unaligned_inputs(analysis: Analysis) -> Iterator[Unaligned]:
    """The first launch of each such input. Other runtimes than libtorch hand over memory of their own, and the caller of a
    compiled function aligns its inputs itself."""
    program = analysis.program
    if program.dialect != "aoti" or not analysis.profile.family.startswith("libtorch"):
        return
    functions = {f.name: f for f in program.functions}
    for body in analysis.bodies:
        left = {i.name: i for i in functions[body.name].inputs if not i.aligned}
        for fact in body.facts:
            if isinstance(fact, LaunchFact) and fact.kernel is not None:
                yield from _unaligned(fact, dict(fact.kernel.alignments), left)


def _unaligned(fact: LaunchFact, promised: dict[str, int], left: dict[str, Input]) -> Iterator[Unaligned]:
    touched = {a.param for a in fact.kernel.accesses} if fact.kernel is not None else set()
    for parameter, tensor in fact.args.items():
        storage = tensor.storage
        if (
            storage.kind == "input"
            and storage.name in left
            and parameter in promised
            and parameter in touched
        ):
            yield Unaligned(left.pop(storage.name), fact, parameter, promised[parameter])


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
