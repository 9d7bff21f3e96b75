"""What the functions that read one graph body share: the text, the names in scope, and the events so far."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..cxx.clang_unit import Unit
from ..cxx.comments import source_nodes
from ..cxx.nodes import Node
from ..model.kernel import Kernel
from ..model.location import Loc
from ..model.program import Alloc, Assert, Event, Symbol, View
from ..symbolic import Expr, sym
from .host import Constants, NotUnderstood, Scope, Text_, Value

if TYPE_CHECKING:  # only launches of its dialect need the reader behind it
    from ..kernels.triton.reader import TritonLauncher


class Context:
    """One body being read. Tables: names in scope, kernels, launchers; output: events, symbols, inputs, constants."""

    def __init__(
        self,
        unit: Unit,
        original: str,
        kernels: Mapping[str, Kernel],
        launchers: Mapping[str, TritonLauncher],
        diagnostics: list[tuple[int, str]],
        macros: frozenset[str] = frozenset(),
    ) -> None:
        self.unit = unit
        self.original = original
        self.kernels = kernels
        self.launchers = launchers
        #: Words that a macro of the file itself may turn into anything.
        self.macros = macros
        #: Where the calls begin that have been read.
        self.accounted: set[int] = set()
        #: Handles whose use in the statement being read needs no event.
        self.covered: set[str] = set()
        #: Kernels by the variable they are loaded into.
        self.loaded: dict[str, str] = {}
        #: Where the lambdas begin whose bodies are being read.
        self.running: set[int] = set()
        self.scope = Scope()
        self.events: list[Event] = []
        self.symbols: dict[str, Symbol] = {}
        self.inputs: dict[int, tuple[str, Loc]] = {}
        self.constants: list[tuple[str, int]] = []
        self.aligned: set[str] = set()
        self.dims: dict[tuple[str, bool, int], Expr] = {}
        self._broken = sorted(o for o, _ in diagnostics)
        self._messages = dict(diagnostics)
        self._count = 0
        self.scope.define("constants_", Constants())

    # -- the text
    def loc(self, node: Node) -> Loc:
        return self.unit.loc(node)

    def text(self, node: Node) -> str:
        return " ".join(self.original[node.start : node.end].split())

    def source_nodes(self, node: Node) -> tuple[str, ...]:
        return source_nodes(self.original, node.start)

    def problem(self, start: int, end: int) -> str | None:
        """Why the text between two offsets is no valid C++; None where it is."""
        i = bisect_left(self._broken, start)
        if i < len(self._broken) and self._broken[i] < end:
            return f"not valid C++: {self._messages[self._broken[i]]}"
        return None

    def account(self, node: Node) -> None:
        """A call has been read, or it is part of a statement that has."""
        self.accounted.add(node.start)

    # -- names
    def value(self, name: str) -> Value:
        try:
            return self.scope.get(name)
        except KeyError:
            return None

    def is_pending(self, name: str) -> bool:
        """Whether a variable was declared and never given a value."""
        value = self.value(name)
        return isinstance(value, Text_) and value.text == "?"

    @contextmanager
    def inner_scope(self) -> Iterator[None]:
        outer = self.scope
        self.scope = Scope(outer)
        try:
            yield
        finally:
            self.scope = outer

    def dim(self, name: str, strides: bool, index: int, loc: Loc) -> Expr:
        """The symbol for a size or stride of a tensor that is read at run time."""
        key = (name, strides, index)
        if key not in self.dims:
            label = f"{name}_{'stride' if strides else 'size'}_{index}"
            self.dims[key] = sym(label)
            self.symbols[label] = Symbol(label, 0, None, loc)
        return self.dims[key]

    def bind_symbol(self, name: str, loc: Loc, lo: int | None = 0, hi: int | None = None) -> None:
        label = name.removesuffix("_raw")
        self.symbols[label] = Symbol(label, -(2**63) if lo is None else lo, hi, loc, backed=False)
        self.scope.assign(name, sym(label))

    # -- events
    def emit(self, event: Event) -> None:
        self.events.append(_consistent(event))

    def temporary(self) -> str:
        self._count += 1
        return f"%{self._count}"

    @contextmanager
    def capture(self) -> Iterator[list[Event]]:
        """Events of an inner scope go into a list of their own."""
        outer, self.events = self.events, []
        try:
            yield self.events
        finally:
            self.events = outer


def _consistent(event: Event) -> Event:
    """The event, if its layout has as many sizes as strides."""
    if isinstance(event, (Alloc, Assert, View)):
        sizes, strides = event.sizes, event.strides
        if sizes is not None and strides is not None and len(sizes) != len(strides):
            raise NotUnderstood(f"{len(sizes)} sizes and {len(strides)} strides")
    return event
