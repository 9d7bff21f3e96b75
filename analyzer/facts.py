"""What a replay observed, event by event. Rules query these; nothing here judges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from .bounds.model import Decision
from .expr import Cond, Expr
from .memory import Storage, Tensor
from .program import (
    Access,
    Alloc,
    Assert,
    Call,
    Kernel,
    Launch,
    Loc,
    Move,
    Output,
    Param,
    Unmodelled,
    Var,
    View,
)
from .runtimes.profile import AllocOutcome, Outcome, ViewOutcome


@dataclass(frozen=True, slots=True)
class AllocFact:
    """An allocation and what the runtime made of it."""

    seq: int
    event: Alloc
    outcome: AllocOutcome
    tensor: Tensor


@dataclass(frozen=True, slots=True)
class ViewFact:
    """A view: ``source`` the tensor it was taken from, ``tensor`` what the runtime gave."""

    seq: int
    event: View
    outcome: ViewOutcome
    source: Tensor
    tensor: Tensor


@dataclass(frozen=True, slots=True)
class LaunchFact:
    """A launch with every pointer parameter bound. ``scalars`` binds scalars and the grid."""

    seq: int
    event: Launch
    kernel: Kernel | None
    args: dict[str, Tensor]
    scalars: dict[str, Expr]


@dataclass(frozen=True, slots=True)
class CallFact:
    """An extern op: ``tensors`` are the tensor operands by argument position (lists flattened in ``operands``)."""

    seq: int
    event: Call
    operands: tuple[Tensor, ...]
    args: tuple[object, ...]
    results: tuple[Tensor | None, ...]


@dataclass(frozen=True, slots=True)
class AssertFact:
    """What the wrapper states about a tensor; sizes that are fixed are put into ``event``."""

    seq: int
    event: Assert
    tensor: Tensor


@dataclass(frozen=True, slots=True)
class OutputFact:
    """An output: ``tensor`` is None when an earlier output is repeated."""

    seq: int
    event: Output
    tensor: Tensor | None
    outcome: Outcome | None


@dataclass(frozen=True, slots=True)
class StateFact:
    """A handle used in a state in which it holds nothing. ``since`` is where it got into it."""

    seq: int
    kind: Literal["reset", "moved", "released", "null", "double-release", "dangling"]
    name: str
    use: str
    loc: Loc
    since: Loc
    tensor: Tensor | None


@dataclass(frozen=True, slots=True)
class UnmodelledFact:
    seq: int
    event: Unmodelled
    tensors: tuple[Tensor, ...]


@dataclass(frozen=True, slots=True)
class ResetFact:
    """A storage may be freed here: the handle ``name`` let go of ``tensor``."""

    seq: int
    name: str
    tensor: Tensor
    loc: Loc


@dataclass(frozen=True, slots=True)
class MoveFact:
    """``tensor`` is from here on bound to another handle."""

    seq: int
    event: Move
    tensor: Tensor


Fact: TypeAlias = "AllocFact | ViewFact | MoveFact | LaunchFact | CallFact | AssertFact | OutputFact | StateFact | UnmodelledFact | ResetFact"


@dataclass(frozen=True, slots=True)
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
