"""Accesses, as the interpreter meets them: index, guard, the loops around, and what becomes of a loaded value."""

from __future__ import annotations

import re
from typing import Literal

from ...cxx.nodes import Text
from ...model.kernel import Access, Narrow, Var
from ...model.record import field, record, replace
from ...symbolic import TRUE, Cond, Expr, opaque, sym
from ...symbolic.assumptions import Ranges
from . import integers
from .integers import Int, IntType, Known
from .values import ANYTHING, Value

Kind = Literal["load", "store", "atomic"]
Span = tuple[int, int]


@record
class Draft:
    """An access whose later uses are still to be seen."""

    param: str
    kind: Kind
    index: Expr | None
    type: IntType
    guard: Cond
    loops: tuple[Var, ...]
    at: Span
    text: str
    names: tuple[tuple[str, Expr], ...]
    value_vars: frozenset[str] | None
    reason: str | None
    narrow: tuple[tuple[str, bool], ...]
    taken: tuple[Narrow, ...]
    used: Cond | None = None
    barriers: int = 0


@record
class Recorder:
    """What one run through a kernel leaves behind, and the condition and the loops around the place it is at."""

    source: Text
    ranges: Ranges = field(default_factory=Ranges)
    grid: list[Var] = field(default_factory=list)
    path: Cond = TRUE
    #: What was taken not to wrap in the conditions of the path.
    path_taken: tuple[Narrow, ...] = ()
    loops: tuple[Var, ...] = ()
    #: Barriers of the group so far, those inside its reductions too.
    barriers: int = 0
    #: Every loop variable there has been, for values that outlive their loop.
    all_loops: dict[str, Var] = field(default_factory=dict)
    data: dict[str, Var] = field(default_factory=dict)
    #: Those of ``data`` that were computed, not loaded.
    computed: set[str] = field(default_factory=set)
    #: What holds because the kernel would have returned: checks of an index.
    checks: set[Cond] = field(default_factory=set)
    drafts: list[Draft] = field(default_factory=list)
    #: What was not understood: place and text.
    unread: list[tuple[Span, str]] = field(default_factory=list)
    #: Places in the text whose pointers are dealt with.
    seen: list[Span] = field(default_factory=list)
    _numbers: dict[tuple[Kind, Span, int], int] = field(default_factory=dict)

    def known(self) -> Known:
        return Known(self.ranges, self.path)

    # -- variables
    def declare(self, var: Var) -> Expr:
        """Bring a variable into being; of a grid or a loop only the smallest value is known before a launch."""
        last = None if var.extent is None else var.extent.value
        if var.kind == "data":
            self.ranges.bounds[var.name] = (var.lo, var.hi)
        else:
            self.ranges.bounds[var.name] = (0, None if last is None else max(last - 1, 0))
        return sym(var.name)

    def fresh(self, name: str) -> str:
        unique, n = name, 2
        while unique in self.data or unique in self.ranges.bounds:
            unique, n = f"{name}#{n}", n + 1
        return unique

    def unknown(self, name: str, like: Int, loaded: bool) -> Int:
        """A symbol for an integer of which only the range is known (64 bits are no bound).

        Memory can hold any of these values; one that was computed in a way that is not followed may never come.
        """
        t = like.type
        low = None if t.bits == 64 and like.low == t.low and t.signed else like.low
        high = None if t.bits == 64 and like.high == t.high else like.high
        unique = self.fresh(name)
        if not loaded:
            self.computed.add(unique)
        return Int(t, self._data(unique, low, high), t.low, t.high, like.narrow, name, True)

    def noise(self, low: int, high: int) -> Expr:
        """What rounding adds to an index, where it was not followed."""
        return self._data(self.fresh("rounding"), low, high)

    def _data(self, unique: str, low: int | None, high: int | None) -> Expr:
        var = Var(unique, None, "data", low, high)
        self.data[unique] = var
        return self.declare(var)

    # -- accesses
    def access(
        self, kind: Kind, base: str, index: Int | None, when: Cond, at: Span, text: str,
        names: tuple[tuple[str, Int], ...], stored: Value | None, which: int, deps: Value,
    ) -> int:  # fmt: skip
        """Note an access; one occurrence in the text is one access, however often it is evaluated."""
        number = self._numbers.setdefault((kind, at, which), len(self.drafts))
        if number < len(self.drafts):
            return number
        self.seen.append(at)
        known = self.known()
        settled = None if index is None else integers.settle(index, known)
        expr = None if settled is None else settled.expr
        taken = self.path_taken if settled is None else integers.both(self.path_taken, settled.narrow)
        value_vars = None if stored is None or ANYTHING in stored.deps else stored.deps
        shown = tuple((n, i.ring) for n, i in names if i.ring is not None and i.ring.value is None)
        narrow = tuple((n, i.type.signed) for n, i in names if i.ring is not None and i.type.bits == 32)
        self.drafts.append(Draft(
            base, kind, expr, index.type if index is not None else integers.INT64, self.path & when, self.loops, at,
            text, shown, value_vars, None if expr is not None else f"the index {text} is not an integer expression",
            tuple(n for n in narrow if n[0] in dict(shown)), taken, barriers=self.barriers,
        ))  # fmt: skip
        self.sink(deps)
        if stored is not None:
            self.sink(stored)
        return number

    def lose(self, base: str, at: Span, readonly: bool, reason: str) -> None:
        """An access that can't be followed."""
        key: tuple[Kind, Span, int] = ("load" if readonly else "store", at, hash(base))
        if self._numbers.setdefault(key, len(self.drafts)) < len(self.drafts):
            return
        text = " ".join(self.source.text[at[0] : at[1]].split())[:120]
        self.drafts.append(Draft(
            base, key[0], None, integers.INT64, self.path, self.loops, at, text, (), None, reason, (), (),
        ))  # fmt: skip

    def sink(self, v: Value) -> None:
        """The value has an effect: the loads behind it are used."""
        for number, cond in v.live.items():
            draft = self.drafts[number]
            draft.used = cond if draft.used is None else draft.used | cond

    def accesses(self, params: set[str]) -> tuple[Access, ...]:
        return tuple(self._finish(d) for d in self.drafts if d.param in params)

    def _finish(self, d: Draft) -> Access:
        used = TRUE if d.used is None else d.used
        symbols = d.guard.symbols | used.symbols | (d.index.symbols if d.index else frozenset())
        own = {v.name for v in (*self.grid, *d.loops)}
        outer = tuple(v for name, v in self.all_loops.items() if name in symbols and name not in own)
        data = tuple(v for name, v in self.data.items() if name in symbols)
        decides = set(d.index.symbols if d.index else ())
        decides.update(*(c.symbols for c in d.guard.conjuncts() if c not in self.checks))
        doubts = [opaque(f"{name} is computed") for name in sorted(decides & self.computed)]
        vars_ = (*self.grid, *d.loops, *outer, *data)
        return Access(
            param=d.param,
            kind=d.kind,
            index=d.index,
            vars=vars_,
            guard=Cond.join("and", [d.guard, *doubts]),
            loc=self.source.loc(*d.at),
            text=d.text,
            reason=d.reason,
            names=d.names,
            value_vars=d.value_vars,
            used=used,
            index_bits=32 if d.type.bits <= 32 else 64,
            index_signed=d.type.signed or d.type.bits < 32,
            narrow=d.narrow,
            barriers=(0, d.barriers),
            taken=tuple(self._placed(n, vars_) for n in d.taken),
        )

    def _placed(self, n: Narrow, vars_: tuple[Var, ...]) -> Narrow:
        """With the variables it needs beyond those of the access."""
        here = {v.name for v in vars_}
        everything = {**{v.name: v for v in self.grid}, **self.all_loops, **self.data}
        missing = (n.value.symbols | n.path.symbols) - here
        more = tuple(everything[m] for m in sorted(missing) if m in everything)
        return replace(n, vars=more) if more else n


_WORD = re.compile(r"[A-Za-z_]\w*")


def words(text: str) -> list[str]:
    """The names in a text, each once."""
    return list(dict.fromkeys(_WORD.findall(text)))
