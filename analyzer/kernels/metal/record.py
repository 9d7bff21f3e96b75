"""What the Metal reader keeps while it walks a kernel: variables in scope, conditions, accesses."""

from __future__ import annotations

import re
from typing import Literal

from ...cxx.nodes import Node, Text
from ...model.kernel import Access, Var
from ...model.location import Loc
from ...model.record import field, record
from ...symbolic import TRUE, Cond, Expr, opaque, sym
from ...symbolic.assumptions import Ranges
from .values import ANYTHING, INTEGERS, Value

_WORD = re.compile(r"[A-Za-z_]\w*")
#: Index variables of reduction dimensions: all threads of a group differ in these alone.
REDUCTION_INDEX = re.compile(r"r\d+_index\Z")

Kind = Literal["load", "store", "atomic"]


@record
class Draft:
    """An access whose later uses are still to be seen."""

    param: str
    kind: Kind
    index: Value
    guard: Cond
    loops: tuple[Var, ...]
    loc: Loc
    text: str
    names: tuple[tuple[str, Expr], ...]
    value_vars: frozenset[str] | None
    reason: str | None
    narrow: tuple[tuple[str, bool], ...] = ()
    used: Cond | None = None
    barriers: int = 0


@record
class Record:
    """State of one kernel's walk. Locations are relative to the kernel's own text."""

    source: Text
    base: int
    elements: dict[str, str] = field(default_factory=dict)
    grid: list[Var] = field(default_factory=list)
    ranges: Ranges = field(default_factory=Ranges)
    env: dict[str, Value] = field(default_factory=dict)
    shared: set[str] = field(default_factory=set)
    path: Cond = TRUE
    loops: tuple[Var, ...] = ()
    masks: int = 0
    #: Barriers of the group, those inside its reductions too.
    barriers: int = 0
    data: dict[str, Var] = field(default_factory=dict)
    #: Those of ``data`` that were computed, not loaded.
    computed: set[str] = field(default_factory=set)
    #: What holds because the kernel would have returned: the generator's checks of an index.
    checks: set[Cond] = field(default_factory=set)
    drafts: list[Draft] = field(default_factory=list)
    unmodelled: list[tuple[str, Loc]] = field(default_factory=list)
    seen: list[tuple[int, int]] = field(default_factory=list)
    _numbers: dict[tuple[Kind, int, int], int] = field(default_factory=dict)

    # -- text
    def loc(self, node: Node) -> Loc:
        return self.source.loc(node.start - self.base, node.end - self.base)

    def slice(self, node: Node) -> str:
        return self.source.text[node.start - self.base : node.end - self.base]

    def head(self, node: Node) -> str:
        """The text in front of a node."""
        at = node.start - self.base
        return self.source.text[max(0, at - 24) : at].rstrip()

    def give_up(self, node: Node) -> None:
        self.account(node)
        self.unmodelled.append((self.slice(node), self.loc(node)))

    def account(self, node: Node) -> None:
        """Pointers named in this node are dealt with."""
        self.seen.append((node.start - self.base, node.end - self.base))

    def check_nothing_lost(self) -> None:
        """Every mention of a pointer in the text must have become an access, or be reported."""
        if not self.elements:
            return
        text = self.source.text
        body = text.find("{")
        mention = re.compile(rf"//[^\n]*|/\*.*?\*/|\b(?:{'|'.join(self.elements)})\b", re.S)
        spans = sorted(self.seen)
        for m in mention.finditer(text, body):
            if not m.group().startswith("/") and not any(a <= m.start() < b for a, b in spans):
                end = text.find(";", m.end())
                self.unmodelled.append((text[m.start() : end], self.source.loc(m.start(), end)))

    # -- variables
    def declare(self, var: Var) -> Expr:
        """Bring a variable into being; only its smallest value matters for signs."""
        self.ranges.bounds[var.name] = (var.lo, var.hi) if var.kind == "data" else (0, None)
        return sym(var.name)

    def unknown(self, name: str, type_: str, loaded: bool) -> Expr:
        """A value that is data: a fresh symbol in the range of its type (64 bits are no bound).

        Memory can hold any of these values; one that was computed in a way that is not followed may never come.
        """
        bits, signed = INTEGERS[type_]
        low = -(1 << (bits - 1)) if signed else 0
        wide = bits == 64
        e = self._data(name, None if wide and signed else low, None if wide else low + (1 << bits) - 1)
        if not loaded:
            self.computed |= e.symbols
        return e

    def noise(self, low: int, high: int) -> Expr:
        """What rounding adds to an index, where it was not followed."""
        return self._data("rounding", low, high)

    def _data(self, name: str, low: int | None, high: int | None) -> Expr:
        unique, n = name, 2
        while unique in self.data or unique in self.ranges.bounds:
            unique, n = f"{name}#{n}", n + 1
        var = Var(unique, None, "data", low, high)
        self.data[unique] = var
        return self.declare(var)

    # -- accesses
    def access(self, kind: Kind, pointer: Value, node: Node, index: Node | None, stored: Value | None) -> int:
        """Note an access; one occurrence in the text is one access, however often it is evaluated."""
        assert pointer.base is not None
        number = self._numbers.setdefault((kind, node.start, node.end), len(self.drafts))
        if number < len(self.drafts):
            return number
        self.account(node)
        text = self.slice(index) if index is not None else "0"
        names = tuple(
            (w, e)
            for w in dict.fromkeys(_WORD.findall(text))
            if (e := self._tracked(w)) is not None and e.value is None
        )
        deps = None if stored is None or ANYTHING in stored.deps else stored.deps
        reason = None if pointer.expr is not None else f"the index {text} is not an integer expression"
        types = {n: INTEGERS.get(self.env[n].type, (64, True)) for n, _ in names}
        narrow = tuple((n, signed) for n, (bits, signed) in types.items() if bits == 32)
        self.drafts.append(
            Draft(
                pointer.base, kind, pointer, self.path, self.loops, self.loc(node), text, names, deps, reason,
                narrow, barriers=self.barriers,
            )
        )  # fmt: skip
        self.sink(pointer)
        if stored is not None:
            self.sink(stored)
        return number

    def _tracked(self, name: str) -> Expr | None:
        v = self.env.get(name)
        return v.expr if v is not None and v.base is None else None

    def sink(self, v: Value) -> None:
        """The value has an effect: the loads behind it are used."""
        for number, cond in v.live.items():
            draft = self.drafts[number]
            draft.used = cond if draft.used is None else draft.used | cond

    def accesses(self) -> tuple[Access, ...]:
        return tuple(self._finish(d) for d in self.drafts)

    def _finish(self, d: Draft) -> Access:
        used = TRUE if d.used is None else d.used
        symbols = d.guard.symbols | used.symbols | (d.index.expr.symbols if d.index.expr else frozenset())
        data = tuple(v for name, v in self.data.items() if name in symbols)
        decides = set(d.index.expr.symbols if d.index.expr else ())
        decides.update(*(c.symbols for c in d.guard.conjuncts() if c not in self.checks))
        doubts = [opaque(f"{name} is computed") for name in sorted(decides & self.computed)]
        bits, signed = INTEGERS.get(d.index.type, (64, True))
        return Access(
            param=d.param,
            kind=d.kind,
            index=d.index.expr,
            vars=(*self.grid, *d.loops, *data),
            guard=Cond.join("and", [d.guard, *doubts]),
            loc=d.loc,
            text=d.text,
            reason=d.reason,
            names=d.names,
            value_vars=d.value_vars,
            used=used,
            index_bits=32 if bits <= 32 else 64,
            index_signed=signed or bits < 32,
            narrow=d.narrow,
            barriers=(0, d.barriers),
        )
