"""What is known while a Triton kernel body is read: iteration symbols and their ranges, path conditions,
device assertions, and the memory accesses seen so far."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Literal

from ...model.kernel import Barriers, Narrow, VarKind
from ...model.record import field, record
from ...symbolic import FALSE, ONE, TRUE, ZERO, Cond, Expr, opaque, sym
from ...symbolic.assumptions import Interval, Ranges
from .accounting import Lost
from .meta import KernelText
from .values import Bool, Num, Ptr, Shape, Value, axis, restrict

#: Size arguments of generated kernels: never negative.
_SIZE_NAME = re.compile(r"ks\d+|[xyzr]\d*_?numel(_\d+)?")


@record(frozen=True)
class VarInfo:
    """An iteration symbol. ``label``: the name to show.  ``axes``: block axes a loaded value varies along.

    ``guard`` bounds an iteration whose number of rounds is itself data.  ``computed``: data that was not loaded but
    computed in a way that is not followed, so that some of its range may never come.
    """

    kind: VarKind
    extent: Expr | None
    label: str
    lo: int | None = None
    hi: int | None = None
    axes: frozenset[str] = frozenset()
    guard: Cond = TRUE
    computed: bool = False


@record(frozen=True)
class RawAccess:
    """An access as it stands in the kernel, in block-axis and program symbols."""

    kind: Literal["load", "store", "atomic"]
    ptr: Ptr
    shape: Shape
    mask: Cond
    path: tuple[Cond, ...]
    loops: tuple[str, ...]
    facts: tuple[Cond, ...]
    node: ast.AST
    text: str
    names: tuple[tuple[str, Expr], ...]
    deps: frozenset[str] | None
    load_id: int | None
    #: What was taken not to wrap in the pointer, and in mask and path.
    narrow: tuple[Narrow, ...] = ()
    doubtful: tuple[Narrow, ...] = ()
    barriers: Barriers = (0, 0)
    #: The pointer that a spin lock around the access is at.
    lock: Ptr | None = None


@record(frozen=True)
class Acquired:
    """A spin lock that was acquired: where, and how many accesses came before."""

    ptr: Ptr
    path: tuple[Cond, ...]
    loops: tuple[str, ...]
    accesses: int


@record
class State:
    """Mutable; one per kernel."""

    kernel: KernelText
    grid: tuple[Expr, Expr, Expr] | None
    vars: dict[str, VarInfo] = field(default_factory=dict)
    path: list[Cond] = field(default_factory=list)
    #: What conditions of the path take for granted.
    path_narrow: list[Narrow] = field(default_factory=list)
    facts: list[Cond] = field(default_factory=list)
    loops: list[str] = field(default_factory=list)
    programs: dict[int, Expr] = field(default_factory=dict)
    accesses: list[RawAccess] = field(default_factory=list)
    acquired: Acquired | None = None
    lost: list[Lost] = field(default_factory=list)
    #: Names that were evaluated, or stand where nothing runs; and those that ever led to memory.
    seen: set[int] = field(default_factory=set)
    pointers: dict[str, frozenset[str]] = field(default_factory=dict)
    barriers: Barriers = (0, 0)
    #: Where the value of each load is used, by load.
    used: dict[int, Cond] = field(default_factory=dict)
    #: Above 0 while a loop body is read only to learn how its variables change.
    dry: int = 0
    #: Nodes made for source forms that are read as another form, by the source node.
    synthetic: dict[int, ast.expr] = field(default_factory=dict)
    #: Calls being inlined, as part of the identity of what is read.
    calls: tuple[int, ...] = ()
    _names: dict[tuple[object, ...], str] = field(default_factory=dict)
    _taken: set[str] = field(default_factory=set)
    _ids: dict[tuple[object, ...], int] = field(default_factory=dict)
    _ranges: dict[tuple[object, ...], Ranges] = field(default_factory=dict)

    # -- symbols
    def fresh(self, node: ast.AST, label: str, info: VarInfo) -> Expr:
        """A symbol for what ``node`` computes, the same one each time the node is read."""
        key = (id(node), self.calls, label)
        name = self._names.get(key)
        if name is None:
            name = self._free(label)
            self._names[key] = name
        self.vars[name] = info
        return sym(name)

    def _free(self, label: str) -> str:
        name, n = label, 1
        while name in self._taken or any(p.name == name for p in self.kernel.params):
            n += 1
            name = f"{label}_{n}"
        self._taken.add(name)
        return name

    def data(
        self,
        node: ast.AST,
        label: str,
        like: Value,
        lo: int | None = None,
        hi: int | None = None,
        loaded: bool = False,
    ) -> Num:
        """An integer nothing else is known about: a loaded value, or the result of an operation on data."""
        axes = frozenset(d for d in like.deps if d.startswith("@"))
        e = self.fresh(node, label, VarInfo("data", None, label, lo, hi, axes, computed=not loaded))
        return Num(expr=e, shape=like.shape, deps=like.deps, feeds=like.feeds, bits=64, fits=True)

    def program_id(self, dim: int) -> Expr:
        """The program's position along a grid dimension; 0 where the grid has just one program."""
        if self.grid is not None and self.grid[dim] == ONE:
            return ZERO
        name = f"pid{dim}"
        if dim not in self.programs:
            name = self._free(name)
            self.vars[name] = VarInfo("grid", self.programs_along(dim), name)
            self.programs[dim] = sym(name)
        return self.programs[dim]

    def programs_along(self, dim: int) -> Expr:
        """Programs along a grid dimension: a number where the launcher fixes it."""
        size = self.grid[dim] if self.grid is not None else None
        return size if size is not None and size.value is not None else sym(f"grid.{dim}")

    def load_id(self, node: ast.AST) -> int:
        return self._ids.setdefault((id(node), self.calls), len(self._ids))

    def opaque(self, node: ast.AST) -> Cond:
        """A condition on data, named by its text."""
        key = (id(node), self.calls, "?")
        if key not in self._names:
            self._names[key] = self._free(ast.unparse(node))
        return opaque(self._names[key])

    def source(self, node: ast.AST) -> str:
        """The text of a node as it stands."""
        lines = self.kernel.lines
        at = node.lineno if isinstance(node, ast.expr) and node.end_lineno == node.lineno else len(lines) + 1
        if isinstance(node, ast.expr) and node.end_col_offset is not None and at <= len(lines):
            return lines[at - 1].encode()[node.col_offset : node.end_col_offset].decode()
        return ast.unparse(node)

    # -- ranges
    def ranges(self, shape: Shape = (), when: Cond = TRUE) -> Ranges:
        """What is known about symbols inside a block of ``shape``, at this place of the kernel, where ``when`` holds."""
        key = (shape, tuple(self.path), len(self.vars), tuple(self.loops), tuple(self.facts), when)
        hit = self._ranges.get(key)
        if hit is None:
            guards = [g for n in self.loops for g in self.vars[n].guard.conjuncts()]
            said = [c for p in [*self.path, *self.facts, when] for c in p.conjuncts()]
            hit = self._ranges[key] = Ranges(dict(self._bounds(shape)), said + guards)
        return hit

    def _bounds(self, shape: Shape) -> Iterator[tuple[str, Interval]]:
        for p in self.kernel.params:
            if _SIZE_NAME.fullmatch(p.name):
                yield p.name, (0, None)
        for k in range(3):
            yield f"grid.{k}", (1, None)
        for name, v in self.vars.items():
            yield name, variable_interval(v)
        for i, n in enumerate(reversed(shape)):
            yield axis(i), (0, None if n.value is None else max(n.value - 1, 0))

    def on_data(self, symbols: Iterable[str]) -> bool:
        """Whether any of the symbols is a loaded value."""
        return any(s in self.vars and self.vars[s].kind == "data" for s in symbols)

    def decide(self, cond: Cond, shape: Shape) -> Cond:
        """``cond``, or a constant where it is decided for every lane and program."""
        if cond.kind in ("const", "opaque"):
            return cond
        truth = self.ranges(shape).truth(cond)
        return cond if truth is None else TRUE if truth else FALSE

    # -- recording
    @contextmanager
    def under(self, cond: Cond) -> Iterator[None]:
        """Read what runs only where ``cond`` holds."""
        self.path.append(cond)
        said = len(self.facts)
        try:
            yield
        finally:
            self.path.pop()
            del self.facts[said:]  # what was asserted there says nothing of other paths

    def barrier(self, grid: bool = False) -> None:
        """The lanes of a program, or all programs, wait for each other."""
        programs, lanes = self.barriers
        self.barriers = (programs + grid, lanes + 1)

    def lose(self, node: ast.AST, params: Iterable[str], reason: str) -> None:
        """A part of the text that was not understood and may touch ``params`` (none: whatever the kernel has)."""
        self.skip(node)
        if not self.dry:
            self.lost.append(Lost(node, frozenset(params), reason))

    def skip(self, *nodes: ast.AST) -> None:
        """Nothing in ``nodes`` is left to be read."""
        self.seen.update(id(n) for node in nodes for n in ast.walk(node) if isinstance(n, ast.Name))

    def use(self, values: Iterable[Value], where: Cond = TRUE) -> None:
        """``values`` matter to memory or control flow: the loads behind them are used."""
        if self.dry:
            return
        for v in values:
            for k, (cond, _) in restrict(v.feeds, where).items():
                old = self.used.get(k, FALSE)
                self.used[k] = TRUE if TRUE in (old, cond) else old | cond

    def assume(self, c: Bool, mask: Cond = TRUE) -> None:
        """A device assertion: what follows on this path only runs where it holds, or its mask is off."""
        for cond in c.cond.conjuncts():
            said = cond if mask == TRUE else cond | ~mask
            if said not in self.facts:
                self.facts.append(said)


def variable_interval(v: VarInfo) -> Interval:
    if v.kind == "data":
        return v.lo, v.hi
    n = v.extent.value if v.extent is not None else None
    return 0, None if n is None else max(n - 1, 0)
