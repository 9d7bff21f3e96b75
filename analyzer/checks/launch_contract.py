"""What a launch owes its kernel: an argument of the right kind for each parameter, on the kernel's device, and sizes
that can be computed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from ..memory.storage import Tensor
from ..memory.trace import AllocFact, LaunchFact
from ..model.kernel import Param
from ..model.record import record
from ..symbolic import Expr, Op, evaluate
from ..symbolic.assumptions import Ranges

if TYPE_CHECKING:
    from ..analysis import Analysis

#: Where the kernels of a dialect run; None: wherever their storages are.
_DEVICES = {"cpp": ("cpu",), "triton": ("cuda", "xpu", "hip"), "metal": None}


@record(frozen=True)
class WrongArgument:
    """``param`` is a number and given a tensor, or the other way round, or (``unbound``) given nothing."""

    fact: LaunchFact
    param: Param
    kind: Literal["number", "tensor", "unbound"]


def wrong_arguments(fact: LaunchFact) -> Iterator[WrongArgument]:
    """Arguments of a C++ or Metal launch that are of the wrong kind; slots of a Metal launch that are left empty."""
    kernel = fact.kernel
    if kernel is None or kernel.dialect == "triton" or fact.event.reason:
        return
    tensors, scalars = dict(fact.event.tensors), dict(fact.event.scalars)
    given = {name for name, _ in fact.event.arg_locs}
    touched = {a.param for a in kernel.accesses}
    for p in kernel.params:
        if p.pointer and p.name in scalars and p.name in touched:
            yield WrongArgument(fact, p, "number")
        elif not p.pointer and p.name in tensors:
            yield WrongArgument(fact, p, "tensor")
        elif kernel.dialect == "metal" and p.pointer and p.name in touched and p.name not in given:
            yield WrongArgument(fact, p, "unbound")


@record(frozen=True)
class Elsewhere:
    """``tensor`` is in memory that the kernel, which runs on ``device``, cannot reach."""

    fact: LaunchFact
    param: Param
    tensor: Tensor
    device: str


def elsewhere(fact: LaunchFact) -> Iterator[Elsewhere]:
    """Arguments in the memory of another device, where the wrapper says which it is."""
    devices = _DEVICES[fact.kernel.dialect] if fact.kernel is not None else None
    for name, tensor in fact.args.items():
        param = fact.kernel.param(name) if fact.kernel is not None else None
        root = tensor.storage.root
        stated = root.kind == "allocation" and not root.pinned
        known = root.device in ("cpu", "cuda", "mps", "xpu")
        if devices is not None and param is not None and stated and known and root.device not in devices:
            yield Elsewhere(fact, param, tensor, devices[0])


@record(frozen=True)
class ZeroDivisor:
    """A size is divided by ``divisor``, which is 0 at the admitted ``sizes``."""

    fact: AllocFact | LaunchFact
    divisor: Expr
    sizes: dict[str, int]


def zero_divisors(analysis: Analysis) -> Iterator[ZeroDivisor]:
    """The first place where each divisor is used in a size."""
    seen: set[Expr] = set()
    for body in analysis.bodies:
        for fact in body.facts:
            if not isinstance(fact, (AllocFact, LaunchFact)):
                continue
            for e in _sizes(fact):
                for divisor in _divisors(e):
                    sizes = None if divisor in seen else _zero(divisor, analysis.ranges)
                    seen.add(divisor)
                    if sizes is not None:
                        yield ZeroDivisor(fact, divisor, sizes)


def _sizes(fact: AllocFact | LaunchFact) -> Iterator[Expr]:
    if isinstance(fact, AllocFact):
        yield from (*(fact.tensor.sizes or ()), *(fact.tensor.strides or ()))
        return
    yield from fact.scalars.values()
    for access in fact.kernel.accesses if fact.kernel is not None else ():
        for v in access.vars:
            if v.extent is not None and v.kind in ("loop", "parallel"):
                yield v.extent.substitute(fact.scalars)


def _divisors(e: Expr) -> Iterator[Expr]:
    for atom in e.atoms():
        if isinstance(atom, Op):
            if atom.kind in ("floordiv", "mod", "tdiv", "tmod"):
                yield atom.args[1]
            for a in atom.args:
                yield from _divisors(a)


def _zero(divisor: Expr, ranges: Ranges) -> dict[str, int] | None:
    if divisor.value is not None or ranges.positive(divisor) is True:
        return None
    if not divisor.symbols or not divisor.symbols <= ranges.bounds.keys():
        return None
    for sizes in _small(sorted(divisor.symbols), ranges):
        if evaluate(divisor, sizes) == 0 and ranges.admits(sizes):
            return sizes
    return None


def _small(names: Sequence[str], ranges: Ranges) -> Iterator[dict[str, int]]:
    """Sizes with the least value of each symbol, and those the samples give."""
    least = {n: ranges.bounds[n][0] for n in names}
    if None not in least.values():
        yield {n: v for n, v in least.items() if v is not None}
    yield from ranges.samples(frozenset(names))
