"""The program model: what a generated wrapper does, in order, without its syntax.

Sizes, strides and offsets are :class:`~..symbolic.Expr` in elements of the tensor's dtype unless a field
says bytes.  Symbols in expressions are the wrapper's size symbols (``s77``, ``u0``), kernel iteration
variables, and kernel scalars that a launch binds.  Nothing here knows C++, Metal or Triton.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, TypeAlias

from ..symbolic import Cond, Expr
from .kernel import Kernel
from .location import Loc
from .record import field, record


@record(frozen=True)
class Symbol:
    """A dynamic size and the range the wrapper's own checks admit (``hi`` None: unbounded)."""

    name: str
    lo: int
    hi: int | None
    loc: Loc | None = None
    backed: bool = True


# -- wrapper events -----------------------------------------------------------------------------


@record(frozen=True)
class Tensor:
    """An operand: the name of a handle. Views written inside a call get an own :class:`View` event
    and a name starting with ``%``."""

    name: str


#: Arguments of calls and launches. ``str``: text of a constant that is no integer (dtype, string, float).
Arg: TypeAlias = "Tensor | Expr | str | tuple[Arg, ...] | None"


@record(frozen=True)
class Alloc:
    """``empty_strided``: a fresh storage. ``op`` is the C symbol called."""

    result: str
    sizes: tuple[Expr, ...]
    strides: tuple[Expr, ...]
    dtype: str
    device: str
    loc: Loc
    op: str = "aoti_torch_empty_strided"


ViewHow: TypeAlias = Literal["reinterpret", "as_strided", "alias", "dtype", "pool", "arrayref"]


@record(frozen=True)
class View:
    """A view of ``base``.

    ``reinterpret``: ``offset`` (elements) is relative to the base's own offset.  ``as_strided``: the base's
    offset is kept.  ``alias``: same layout.  ``dtype``: same bytes seen as ``dtype``.  ``pool``: ``offset`` in
    BYTES from the start of the pool.  ``arrayref``: what a stack array is copied into for a call, other tensors
    as they are.
    """

    result: str
    base: str
    sizes: tuple[Expr, ...] | None
    strides: tuple[Expr, ...] | None
    offset: Expr
    how: ViewHow
    loc: Loc
    op: str = "reinterpret_tensor_wrapper"
    dtype: str | None = None
    note: str = ""


@record(frozen=True)
class Move:
    """``auto result = std::move(source)``: the binding moves, ``source`` is empty after it."""

    result: str
    source: str
    loc: Loc


@record(frozen=True)
class Own:
    """``RAIIAtenTensorHandle result(handle)``: ``result`` takes ownership of a raw handle."""

    result: str
    handle: str
    loc: Loc


@record(frozen=True)
class Reset:
    """``name.reset()``, or the declaration of ``name`` without a value: it holds nothing from here on.

    ``temporary``: ``name`` is a raw handle and its owner a temporary, which ends with the statement.  ``deleted``: the
    tensor object behind the handle is deleted, whoever owns it.
    ``unbound``: the name itself ends (Python's ``del``); the tensor may live on under another.
    """

    name: str
    loc: Loc
    temporary: bool = False
    deleted: bool = False
    unbound: bool = False


@record(frozen=True)
class Output:
    """``output_handles[index]`` is given ``name`` (None when it repeats output ``same_as``)."""

    index: int
    name: str | None
    loc: Loc
    same_as: int | None = None
    released: bool = True


@record(frozen=True)
class Writes:
    """Positions of the arguments that an op changes; None where that is not known. ``whole``: all of them, unread."""

    positions: tuple[int, ...] | None
    whole: bool = False


@record(frozen=True)
class Call:
    """A library op: ``args`` in order, ``results`` the handles it creates. ``op``: a C symbol, or a name in Python.

    ``writes``: which arguments it changes; None for C symbols, whose names say it.
    """

    op: str
    args: tuple[Arg, ...]
    results: tuple[str | None, ...]
    loc: Loc
    text: str = ""
    source_nodes: tuple[str, ...] = ()
    writes: Writes | None = None


@record(frozen=True)
class Launch:
    """A kernel launch: ``tensors`` binds pointer parameters, ``scalars`` binds scalars and grid symbols.

    ``empty_grid_launches``: nothing skips the launch when its grid is empty.
    """

    kernel: str
    tensors: tuple[tuple[str, str], ...]
    scalars: tuple[tuple[str, Expr], ...]
    loc: Loc
    arg_locs: tuple[tuple[str, Loc], ...] = ()
    source_nodes: tuple[str, ...] = ()
    reason: str | None = None
    empty_grid_launches: bool = False


@record(frozen=True)
class Assert:
    """``assert_size_stride``: what the wrapper takes the layout of ``name`` to be."""

    name: str
    sizes: tuple[Expr, ...]
    strides: tuple[Expr, ...]
    loc: Loc
    dtype: str | None = None
    what: str = ""


@record(frozen=True)
class Check:
    """A run-time check of sizes: the rest of the program runs only where ``cond`` holds."""

    cond: Cond
    loc: Loc


@record(frozen=True)
class Branch:
    """Alternatives; exactly one arm runs. ``conds``: what is known to hold in each; None where nothing is."""

    arms: tuple[tuple[Event, ...], ...]
    loc: Loc
    conds: tuple[Cond | None, ...] = ()


@record(frozen=True)
class Loop:
    """A loop: the body runs any number of times. ``least``: at least so often; ``endless``: until it is left."""

    body: tuple[Event, ...]
    loc: Loc
    least: int = 0
    endless: bool = False


@record(frozen=True)
class Exit:
    """Nothing after it in its arm or body runs: ``leave`` the function, or ``break`` or ``continue`` the loop around."""

    how: Literal["leave", "break", "continue"]
    loc: Loc


@record(frozen=True)
class Unmodelled:
    """A statement that was not understood. ``names`` are handles it mentions: it may do anything to them.

    ``everything``: it may do anything at all, to any handle.
    """

    text: str
    loc: Loc
    names: tuple[str, ...] = ()
    reason: str = ""
    everything: bool = False


Event: TypeAlias = "Alloc | View | Move | Own | Reset | Output | Call | Launch | Assert | Check | Branch | Loop | Exit | Unmodelled"


def nested(events: Iterable[Event]) -> Iterator[Event]:
    """Every event, those of inner scopes after the statement they are in."""
    for e in events:
        yield e
        if isinstance(e, Branch):
            for arm in e.arms:
                yield from nested(arm)
        elif isinstance(e, Loop):
            yield from nested(e.body)


@record(frozen=True)
class Input:
    """A graph input; sizes or strides are None where the wrapper does not state them.

    ``unread`` are dynamic dimensions the wrapper never reads: they may equal another input's size, or not.
    ``aligned``: the wrapper copies it when it does not start at a multiple of 16 bytes.
    ``read``: of an input the wrapper checks nothing of, those whose sizes it takes; rank and strides are not known.
    """

    name: str
    index: int
    sizes: tuple[Expr, ...] | None
    strides: tuple[Expr, ...] | None
    dtype: str | None
    loc: Loc
    strides_checked: bool = True
    unread: tuple[int, ...] = ()
    aligned: bool = False
    read: tuple[int, ...] = ()


@record(frozen=True)
class Constant:
    """A row of the constants table: ``offset`` in elements, ``data_size`` in bytes."""

    name: str
    index: int
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str
    offset: int
    data_size: int
    loc: Loc
    device: str | None = None
    folded: bool = False


@record(frozen=True)
class Function:
    """One graph body (``run_impl``, ``_const_run_impl``, a minimal interface): names restart in each."""

    name: str
    inputs: tuple[Input, ...]
    constants: tuple[tuple[str, int], ...]
    events: tuple[Event, ...]
    loc: Loc


@record(frozen=True)
class Program:
    """All of one wrapper. ``example``: sizes that it was generated for, of symbols whose range it does not state."""

    path: str
    device: str
    dialect: Literal["aoti", "cpp_wrapper", "python"]
    torch: str | None
    constants: tuple[Constant, ...]
    functions: tuple[Function, ...]
    kernels: dict[str, Kernel]
    symbols: tuple[Symbol, ...]
    checks: tuple[Cond, ...] = ()
    unmodelled: tuple[Unmodelled, ...] = field(default=())
    example: tuple[tuple[str, int], ...] = ()
