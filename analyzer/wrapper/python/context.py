"""What the functions that read one Python graph body share: values in scope, and the events so far."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TypeAlias

from ...model.kernel import Kernel
from ...model.location import Loc
from ...model.program import (
    Alloc,
    Arg,
    Assert,
    Call,
    Check,
    Event,
    Launch,
    Output,
    Reset,
    Symbol,
    Tensor,
    View,
)
from ...model.record import field, record
from ...symbolic import Expr, sym
from ..host import Handle, NotUnderstood, SizesOf, Text_
from .module import Module

SYMBOL = re.compile(r"z?[su][uf]?\d+")
_COMMENT = re.compile(
    r"#\s*(?:Topologically )?(?:Uns|S)(?:orted|ource)[^\[\n]*\[([^\]\n]*)\](?:, Original ATen: \[([^\]\n]*)\])?"
)


@record
class Items:
    """A list or tuple; a list can be changed, and ``name`` is what its elements are called."""

    values: list[Value]
    name: str = ""


@record
class Results:
    """What an op returned, not taken apart yet: ``names[i]`` is the tensor that item ``i`` is bound to."""

    names: dict[int, str]


@record(frozen=True)
class Lost:
    """A value that is not known, and why."""

    reason: str


Value: TypeAlias = "Expr | Handle | SizesOf | Text_ | Items | Results | Arguments | Lost | None"


@record(frozen=True)
class Arguments:
    """The list of arguments a graph is called with."""


@record
class Frame:
    """The local names of one function: values, and the handle each variable has.

    ``gone``: names that were deleted. ``returned``: what the return statement gave.
    """

    names: dict[str, Value] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    returned: Value = None
    ended: bool = False
    #: Conditions around the call of the function.
    nested: int = 0


class Context:
    """One graph body being read. Output: events, symbols, dims of inputs, layouts asserted of inputs in time."""

    def __init__(self, module: Module, kernels: Mapping[str, Kernel]) -> None:
        self.module = module
        self.kernels = kernels
        self.frame = Frame()
        self.events: list[Event] = []
        self.symbols: dict[str, Symbol] = {}
        #: Inputs by handle: position and place.
        self.inputs: dict[str, tuple[int, Loc]] = {}
        #: Symbols read from inputs: (handle, strides?, dim) -> value.
        self.dims: dict[tuple[str, bool, int], Expr] = {}
        #: The layout asserted of an input before its first use.
        self.asserted: dict[str, Assert] = {}
        #: Example values of symbols.
        self.example: dict[str, int] = {}
        self.used: set[str] = set()
        self.called: set[str] = set()
        self.depth = 0
        self.nested = 0
        #: Handles in use, those whose variable ended, and those a function returned that no variable holds yet.
        self._taken: set[str] = set()
        self._free: set[str] = set()
        self._loose: set[str] = set()
        self._count = 0

    # -- the text
    def loc(self, node: ast.AST) -> Loc:
        line, end = node.lineno, getattr(node, "end_lineno", 0) or 0  # type: ignore[attr-defined]
        return Loc(
            self.module.path, line, self._column(line, node.col_offset),  # type: ignore[attr-defined]
            end, self._column(end, getattr(node, "end_col_offset", 0) or 0),
        )  # fmt: skip

    def _column(self, line: int, offset: int) -> int:
        row = self.module.rows[line - 1] if 0 < line <= len(self.module.rows) else ""
        return offset + 1 if row.isascii() else len(row.encode()[:offset].decode("utf-8", "replace")) + 1

    def text(self, node: ast.AST) -> str:
        return self.module.source(node)

    def comment(self, node: ast.stmt) -> str:
        """What the comment at the end of a statement's line says of its memory."""
        row = self.module.rows[(node.end_lineno or node.lineno) - 1]
        m = re.search(r"#\s*(reuse|alias)\b", row)
        return m.group(1) if m else ""

    def source_nodes(self, node: ast.AST) -> tuple[str, ...]:
        """Model operations named in the comment above a statement."""
        line = node.lineno - 1  # type: ignore[attr-defined]
        for row in reversed(self.module.rows[max(0, line - 6) : line]):
            m = _COMMENT.search(row)
            if m:
                return tuple(x.strip() for g in m.groups() if g for x in g.split(",") if x.strip())
            if not re.match(r"\s*(?:#|\w+ = (?:get_raw_stream|[\d\w]))", row):
                break
        return ()

    # -- names
    def value(self, name: str) -> Value:
        if name not in self.frame.names:
            raise NotUnderstood(f"{name} is not known")
        value = self.frame.names[name]
        if name in self.frame.gone and isinstance(value, Handle) and value.name not in self._free:
            raise NotUnderstood(f"{name} was deleted")
        return value

    def own(self, name: str, holding: str = "") -> str:
        """The handle of a variable: called as it is, or otherwise where a variable of another function has that name.

        ``holding``: the handle that is to be bound to it, which is kept where nothing else holds it.
        """
        label = self.frame.labels.get(name)
        if label is None or label in self._loose:
            label = name
            while label in self._taken and label not in self._free and not label == holding in self._loose:
                label += "'"
        self.frame.labels[name] = label
        self._taken.add(label)
        self._free.discard(label)
        self._loose.discard(label)
        return label

    def define(self, name: str, value: Value) -> None:
        self.frame.names[name] = value
        self.frame.gone.discard(name)

    def delete(self, name: str) -> None:
        """A variable ends; what it held is remembered, so that a later use is seen."""
        value = self.frame.names.get(name)
        if isinstance(value, Handle):
            self.frame.gone.add(name)
            self._free.add(value.name)
        else:
            self.frame.names.pop(name, None)

    def state(self) -> tuple[set[str], set[str]]:
        """Names that are gone and handles that are free, which branches change apart."""
        return set(self.frame.gone), set(self._free)

    def restore(self, state: tuple[set[str], set[str]]) -> None:
        self.frame.gone, self._free = set(state[0]), set(state[1])

    def join(self, a: tuple[set[str], set[str]], b: tuple[set[str], set[str]]) -> None:
        """After a branch: gone on either path, free on both."""
        self.frame.gone, self._free = a[0] | b[0], a[1] & b[1]

    def leave(self, frame: Frame) -> None:
        """A function ends: its handles are free, but for those it returned."""
        kept = set(handles(frame.returned))
        for label in frame.labels.values():
            (self._loose if label in kept else self._free).add(label)

    def temporary(self) -> str:
        self._count += 1
        return f"%{self._count}"

    # -- output
    def emit(self, event: Event) -> None:
        if isinstance(event, (Alloc, View, Assert)):
            sizes, strides = event.sizes, event.strides
            if sizes is not None and strides is not None and len(sizes) != len(strides):
                raise NotUnderstood(f"{len(sizes)} sizes and {len(strides)} strides")
        if isinstance(event, Assert) and event.name in self.inputs:
            if event.name not in self.used and not self.nested:
                self.asserted.setdefault(event.name, event)
        else:
            self.used.update(_mentions(event))
        self.events.append(event)

    @contextmanager
    def captured(self) -> Iterator[list[Event]]:
        """Events of an inner scope, apart from those of this one."""
        outer, self.events = self.events, []
        self.nested += 1
        try:
            yield self.events
        finally:
            self.events = outer
            self.nested -= 1

    def symbol(
        self, name: str, node: ast.AST, lo: int | None, backed: bool = True, hi: int | None = None
    ) -> Expr:
        if name not in self.symbols:
            self.symbols[name] = Symbol(name, -(2**63) if lo is None else lo, hi, self.loc(node), backed)
        return sym(name)


def _mentions(event: Event) -> Iterator[str]:
    """Handles that an event uses."""
    if isinstance(event, View):
        yield event.base
    elif isinstance(event, Launch):
        yield from (name for _, name in event.tensors)
    elif isinstance(event, Call):
        yield from _tensors(event.args)
    elif isinstance(event, Output) and event.name is not None:
        yield event.name
    elif not isinstance(event, (Alloc, Assert, Check, Reset)):
        yield from getattr(event, "names", ())


def _tensors(args: tuple[Arg, ...]) -> Iterator[str]:
    for a in args:
        if isinstance(a, Tensor):
            yield a.name
        elif isinstance(a, tuple):
            yield from _tensors(a)


def handles(value: Value) -> list[str]:
    """Every tensor in a value."""
    if isinstance(value, Handle):
        return [value.name]
    if isinstance(value, Items):
        return [n for v in value.values for n in handles(v)]
    return list(value.names.values()) if isinstance(value, Results) else []
