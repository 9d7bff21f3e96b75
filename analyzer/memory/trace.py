"""What a replay observed, event by event. Rules query these; nothing here judges."""

from __future__ import annotations

from typing import Literal, TypeAlias

from ..bounds.model import Decision
from ..model.kernel import Access, Kernel, Param, Var
from ..model.location import Loc
from ..model.program import Alloc, Assert, Call, Launch, Move, Output, Unmodelled, View
from ..model.record import record
from ..runtimes.profile import AllocOutcome, Outcome, ViewOutcome
from ..symbolic import Cond, Expr
from .storage import Storage, Tensor


@record(frozen=True)
class AllocFact:
    """An allocation and what the runtime made of it."""

    seq: int
    event: Alloc
    outcome: AllocOutcome
    tensor: Tensor


@record(frozen=True)
class ViewFact:
    """A view: ``source`` the tensor it was taken from, ``tensor`` what the runtime gave."""

    seq: int
    event: View
    outcome: ViewOutcome
    source: Tensor
    tensor: Tensor


@record(frozen=True)
class LaunchFact:
    """A launch with every pointer parameter bound. ``scalars`` binds scalars and the grid.

    ``assumed``: what the body has checked by then, on the way here.
    """

    seq: int
    event: Launch
    kernel: Kernel | None
    args: dict[str, Tensor]
    scalars: dict[str, Expr]
    assumed: tuple[Cond, ...] = ()


@record(frozen=True)
class CallFact:
    """An extern op: ``tensors`` are the tensor operands by argument position (lists flattened in ``operands``)."""

    seq: int
    event: Call
    operands: tuple[Tensor, ...]
    args: tuple[object, ...]
    results: tuple[Tensor | None, ...]


@record(frozen=True)
class AssertFact:
    """What the wrapper states about a tensor; sizes that are fixed are put into ``event``."""

    seq: int
    event: Assert
    tensor: Tensor


@record(frozen=True)
class OutputFact:
    """An output: ``tensor`` is None when an earlier output is repeated."""

    seq: int
    event: Output
    tensor: Tensor | None
    outcome: Outcome | None


@record(frozen=True)
class StateFact:
    """A handle used in a state in which it holds nothing. ``since`` is where it got into it.

    ``double-release``: ``name`` and ``use`` are one object, and both free it.  ``leaked``: nobody frees it.
    """

    seq: int
    kind: Literal["reset", "moved", "unbound", "released", "null", "double-release", "dangling", "leaked"]
    name: str
    use: str
    loc: Loc
    since: Loc
    tensor: Tensor | None
    does: Literal["takes", "deletes"] = "takes"


@record(frozen=True)
class UnmodelledFact:
    seq: int
    event: Unmodelled
    tensors: tuple[Tensor, ...]


@record(frozen=True)
class ResetFact:
    """A storage may be freed here: the handle ``name`` let go of ``tensor``."""

    seq: int
    name: str
    tensor: Tensor
    loc: Loc


@record(frozen=True)
class MoveFact:
    """``tensor`` is from here on bound to another handle."""

    seq: int
    event: Move
    tensor: Tensor


Fact: TypeAlias = "AllocFact | ViewFact | MoveFact | LaunchFact | CallFact | AssertFact | OutputFact | StateFact | UnmodelledFact | ResetFact"


@record(frozen=True)
class Verdict:
    """One access of one launch, bound and decided.

    ``index``, ``vars`` and ``guard`` have the launch's scalars in them.  ``start`` (offset of the pointer) and
    ``capacity`` of the storage are in elements of the parameter's type.
    """

    launch: LaunchFact
    access: Access
    param: Param
    tensor: Tensor
    index: Expr | None
    vars: tuple[Var, ...]
    guard: Cond
    start: Expr
    capacity: Expr | None
    decision: Decision

    @property
    def storage(self) -> Storage:
        return self.tensor.storage
