"""The kernel language: what every dialect is lowered to, and what :mod:`.interpret` gives a meaning.

Expressions and statements are small trees. A variable is a *cell*: lowering gives each declaration a name of its own,
so that a reference, or a capture by reference, is the same cell under another name. Types are dtypes as torch names
them (``int32``); ``""`` is a type that is not known. A result has the type that :attr:`Program.result_type` gives for
those of its operands; casts, constants and declarations state theirs. Pointers are values: a base and an offset in
elements. ``at`` is the place in :attr:`Program.text`, for messages and for accounting: a mention of a pointer that no
access covers is an unknown access.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal, TypeAlias

from ..model.kernel import Param, Var
from ..model.record import record
from ..symbolic import Expr as Index

#: Start and end in the text of the kernel.
Span: TypeAlias = "tuple[int, int]"


# -- expressions


@record(frozen=True)
class Const:
    """An integer (a bool is 0 or 1), or a float literal as it is written."""

    value: int | str
    dtype: str
    at: Span


@record(frozen=True)
class Cell:
    """What a variable holds. ``part`` is a component of a vector (``x``)."""

    name: str
    at: Span


@record(frozen=True)
class Unary:
    """``-`` ``~`` ``!``."""

    op: str
    x: Expr
    at: Span


@record(frozen=True)
class Binary:
    """Arithmetic, on pointers too: ``+ - * / % << >> & | ^``, and ``//``, ``mod`` that round down."""

    op: str
    a: Expr
    b: Expr
    at: Span


@record(frozen=True)
class Compare:
    op: str
    a: Expr
    b: Expr
    at: Span


@record(frozen=True)
class Logic:
    """``&&`` and ``||``: the second operand is evaluated only where the first leaves it open."""

    op: str
    a: Expr
    b: Expr
    at: Span


@record(frozen=True)
class Cast:
    x: Expr
    dtype: str
    at: Span


@record(frozen=True)
class CommonCast:
    """Conversion to the type that ``types`` (never evaluated) have in common: ``decltype(a + b)``."""

    x: Expr
    types: tuple[Expr, ...]
    at: Span


@record(frozen=True)
class Select:
    """``cond ? a : b``. ``guards``: an arm is evaluated only where it is picked; else both always are."""

    cond: Expr
    a: Expr
    b: Expr
    guards: bool
    at: Span


@record(frozen=True)
class Element:
    """``base[index]`` as a place: the element of what a pointer points to, or of an array."""

    base: Expr
    index: Expr
    at: Span


@record(frozen=True)
class Deref:
    """``*pointer`` as a place."""

    pointer: Expr
    at: Span


Place: TypeAlias = "Cell | Element | Deref"


@record(frozen=True)
class Load:
    """The value at a place. ``mask``: where it does not hold nothing is touched, and the value is ``other``."""

    place: Place
    at: Span
    mask: Expr | None = None
    other: Expr | None = None


@record(frozen=True)
class AddressOf:
    place: Place
    at: Span


@record(frozen=True)
class Set:
    """``place = value``, an expression whose value is what was stored (what was there before, with ``before``).

    ``op`` is that of a compound assignment (``+`` for ``+=``), computed in the common type and converted.
    """

    place: Place
    value: Expr
    at: Span
    op: str = ""
    before: bool = False


@record(frozen=True)
class Atomic:
    """A read-modify-write of ``pointer[index]``; its value is not known."""

    pointer: Expr
    index: Expr
    value: Expr
    at: Span


@record(frozen=True)
class Call:
    """A pure function of values, by the name :mod:`.interpret.calls` has it under; ``dtype`` where it is stated."""

    name: str
    args: tuple[Expr, ...]
    at: Span
    dtype: str | None = None


@record(frozen=True)
class Combined:
    """A result over all threads of a group (or lanes of a block): the same for all that differ in ``over`` alone.

    ``reads`` are the operands it uses; of a pointer among them every element may be read and written.
    """

    reads: tuple[Expr, ...]
    dtype: str | None
    over: Expr | None
    at: Span


@record(frozen=True)
class Sequence:
    """Expressions in order; the value is that of the last."""

    parts: tuple[Expr, ...]
    at: Span


@record(frozen=True)
class Unknown:
    """A value that is not followed. Pointers among ``reads`` are lost: unknown accesses of what they point to.

    ``writes`` are cells it may change. A ``pure`` one only computes: its operands flow into the value.
    """

    reason: str
    reads: tuple[Expr, ...]
    at: Span
    dtype: str = ""
    writes: tuple[str, ...] = ()
    pure: bool = False


Expr: TypeAlias = (
    "Const | Cell | Unary | Binary | Compare | Logic | Cast | CommonCast | Select | Load | AddressOf | Set | Atomic"
    " | Call | Combined | Sequence | Unknown"
)


# -- statements


@record(frozen=True)
class Declare:
    """A variable. ``dtype`` None takes that of the value; ``pointer`` makes it another name of what that points to.

    ``length`` makes it an array: a storage of so many elements (None: not an array). ``shared``: one for all
    threads of a group.
    """

    cell: str
    name: str
    dtype: str | None
    value: Expr | None
    at: Span
    length: Expr | None = None
    shared: bool = False
    array: bool = False


@record(frozen=True)
class Evaluate:
    value: Expr
    at: Span


@record(frozen=True)
class Block:
    body: tuple[Statement, ...]
    at: Span


@record(frozen=True)
class If:
    cond: Expr
    then: Statement
    other: Statement | None
    at: Span


@record(frozen=True)
class Loop:
    """``init; while (test) { body; step }``; with ``first`` the body runs before the first test (``do``)."""

    test: Expr | None
    step: tuple[Expr, ...]
    body: Statement
    at: Span
    first: bool = False


@record(frozen=True)
class Leave:
    """``break``, ``continue`` or ``return``."""

    what: Literal["break", "continue", "return"]
    at: Span
    value: Expr | None = None


@record(frozen=True)
class Assume:
    """What holds afterwards on the path where it stands, because the kernel would have stopped."""

    cond: Expr
    at: Span


@record(frozen=True)
class Barrier:
    scope: str
    at: Span


@record(frozen=True)
class Opaque:
    """A statement that is not understood: what it may touch is not known after it."""

    text: str
    at: Span
    touches: tuple[str, ...] = ()


Statement: TypeAlias = "Declare | Evaluate | Block | If | Loop | Leave | Assume | Barrier | Opaque"


@record(frozen=True)
class Axis:
    """A cell that runs over ``var``: a thread's place, an iteration, a lane.

    ``within``: threads of one group differ in it alone (a reduction runs over it).
    """

    cell: str
    var: Var
    dtype: str
    within: bool = False


@record(frozen=True)
class Program:
    """A kernel in the language.

    ``pointers`` are the element types of its pointer parameters by cell, ``scalars`` the types of the others;
    integer ones are sizes, not negative. ``names`` are cells whose name in the text differs.
    """

    text: str
    params: tuple[Param, ...]
    pointers: tuple[tuple[str, str], ...]
    scalars: tuple[tuple[str, str], ...]
    axes: tuple[Axis, ...]
    body: Statement
    result_type: Callable[[str, str], str]
    names: tuple[tuple[str, str], ...] = ()
    #: Cells that can't be trusted to hold what the text seems to put there.
    distrusted: tuple[str, ...] = ()


def children(node: Expr | Statement | Place) -> Iterator[Expr | Statement | Place]:
    """The nodes directly below one."""
    for name in node.__match_args__:
        x = getattr(node, name)
        if isinstance(x, tuple):
            yield from (y for y in x if hasattr(y, "at"))
        elif hasattr(x, "at"):
            yield x


def walk(node: Expr | Statement | Place) -> Iterator[Expr | Statement | Place]:
    todo = [node]
    while todo:
        n = todo.pop()
        yield n
        todo.extend(children(n))


def changed(node: Expr | Statement | Place) -> list[str]:
    """Cells that running a node may change, in order of the text, without those it declares itself.

    A store through a pointer changes no cell by name: :func:`stored` has the names it goes through.
    """
    declared: set[str] = set()
    found: dict[str, int] = {}
    for n in walk(node):
        if isinstance(n, Declare):
            declared.add(n.cell)
        elif (isinstance(n, Set) and isinstance(n.place, Cell)) or (
            isinstance(n, AddressOf) and isinstance(n.place, Cell)
        ):
            found.setdefault(n.place.name, n.at[0])
        elif isinstance(n, Unknown):
            found.update((w, n.at[0]) for w in n.writes if w not in found)
        elif isinstance(n, Opaque):
            found.update((w, n.at[0]) for w in n.touches if w not in found)
    return sorted((c for c in found if c not in declared), key=lambda c: found[c])


def stored(node: Expr | Statement | Place) -> list[str]:
    """Cells whose memory a node may change: arrays, and pointers it stores through (``""`` for no plain one)."""
    out: dict[str, None] = {}
    for n in walk(node):
        if isinstance(n, Set) and not isinstance(n.place, Cell):
            out[_root(n.place) or ""] = None
        elif isinstance(n, Combined | Atomic | Call | Unknown):
            out.update((k.name, None) for k in children(n) if isinstance(k, Cell))
    return list(out)


def _root(place: Place) -> str | None:
    """The array or the pointer's own cell that a store goes through."""
    node: Expr | Place = place
    while True:
        if isinstance(node, Cell):
            return node.name
        if isinstance(node, Element):
            node = node.base
        elif isinstance(node, Load):
            node = node.place
        else:
            return None


__all__ = [
    "AddressOf", "Assume", "Atomic", "Axis", "Barrier", "Binary", "Block", "Call", "Cast", "Cell", "Combined",
    "CommonCast", "Compare", "Const", "Declare", "Deref", "Element", "Evaluate", "Expr", "If", "Index", "Leave",
    "Load", "Logic", "Loop", "Opaque", "Place", "Program", "Select", "Sequence", "Set", "Span", "Statement", "Unary",
    "Unknown", "changed", "children", "stored", "walk",
]  # fmt: skip
