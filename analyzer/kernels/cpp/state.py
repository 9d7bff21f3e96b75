"""Data in the walk through a kernel: symbols for values from memory, lanes of vectors, dependences."""

from __future__ import annotations

from collections.abc import Iterable

from ...cxx.nodes import Node, Text
from ...model.kernel import Access, Narrow, Param, Var
from ...model.location import Loc
from ...model.record import replace
from ...symbolic import Cond, Expr, opaque, sym
from ...symbolic.assumptions import Interval, Ranges
from ..interpret import integers
from ..interpret.integers import Known, Settled, settle
from ..reals import Real
from ..reals import substitute as substitute_real
from .lanes import opaque_names
from .pointers import Pointers
from .scope import Datum, Guard, Scope
from .values import LANE, ROW, Flag, Int, Local, Opaque, Ptr, Value, int_bounds


class State:
    """What is known at one point of a kernel."""

    def __init__(self, source: Text, params: Iterable[Param], vector_bytes: int | None) -> None:
        self.source = source
        self.params = {p.name: p for p in params}
        self.vector_bytes = vector_bytes
        self.scope = Scope()
        self.vars: list[Var] = []
        self.names: list[tuple[str, Expr]] = []
        self.guards: list[Guard] = []
        self.steps: list[int] = []
        self.accesses: list[Access] = []
        self.unmodelled: list[tuple[str, Loc]] = []
        #: Arrays of the kernel's own whose length is known.
        self.locals: list[Local] = []
        self.label = ""
        self.aliases: dict[str, str] = {}
        self.depth = 0
        self.loops = 0
        self._data: dict[str, Datum] = {}
        self._moved: dict[tuple[str, str, Expr], str] = {}
        self._opaque_deps: dict[str, frozenset[str]] = {}
        self._varying: set[str] = set()
        self._lane_vars: set[str] = set()
        #: Pointers in the expression being evaluated that no access has accounted for yet.
        self._open = Pointers()
        #: Where names of the text were evaluated, and parts of it that can't run or that are not evaluated.
        self.seen: set[int] = set()
        self.unreached: list[tuple[int, int]] = []
        #: Values that are taken not to wrap in their type, for a launch to say.
        self.assumed: dict[Narrow, None] = {}
        #: What each name that holds a pointer was bound to, with where in the text.
        self.held: dict[str, set[str]] = {}
        #: Lambdas that were written, and those whose bodies were run, by where they start.
        self.written: dict[int, Node] = {}
        self.entered: set[int] = set()
        self._ranges: list[Ranges] = [Ranges()]

    # -- text
    def text(self, node: Node) -> str:
        return " ".join(self.source.text[node.start : node.end].replace("static_cast<int64_t>", "").split())

    def skip(self, node: Node, why: str = "") -> None:
        """Note a statement that is not understood."""
        line = self.text(node)
        loc = self.source.loc(node.start, node.end)
        self.unmodelled.append((f"{line[:160]}{f' ({why})' if why else ''}", loc))

    # -- data symbols
    def fresh(
        self, dtype: str | None, deps: frozenset[str], *, label: str = "", varying: bool = False,
        lo: int | None = None, hi: int | None = None,
    ) -> Expr:  # fmt: skip
        """A new symbol for an integer that comes from memory; it may be anything its type holds."""
        low, high = int_bounds(dtype)
        name = f"{label or self.label or 'value'}@{len(self._data)}"
        self._data[name] = Datum(
            name.split("@")[0], low if lo is None else lo, high if hi is None else hi, deps
        )
        if varying:
            self._varying.add(name)
        return sym(name)

    def bounded(
        self, low: Expr, high: Expr, *, choice: bool = False, deps: frozenset[str] = frozenset()
    ) -> Expr:
        """A new symbol for an integer between two expressions, or (``choice``) equal to one of them."""
        deps = deps | self.deps_of(Int(low)) | self.deps_of(Int(high))
        (lo, low_hi), (high_lo, hi) = self.interval(low), self.interval(high)
        if choice:
            lo = None if lo is None or high_lo is None else min(lo, high_lo)
            hi = None if hi is None or low_hi is None else max(hi, low_hi)
        e = self.fresh(None, deps, varying=LANE in deps, lo=lo, hi=hi)
        (name,) = e.symbols
        if choice:
            fact = Cond.of("eq", e - low) | Cond.of("eq", e - high)
        else:
            fact = Cond.of("ge", e - low) & Cond.of("ge", high - e)
        self._data[name] = replace(self._data[name], fact=fact)
        return e

    def computed(self, dtype: str | None, deps: frozenset[str]) -> Expr:
        """A new symbol for an integer that was computed in a way that is not followed (a logarithm, say).

        Unlike a loaded one it can't have any value of its type: that it has one is a condition on data.
        """
        e = self.fresh(dtype, deps, varying=LANE in deps)
        (name,) = e.symbols
        happens = opaque(f"{self._data[name].label} is computed")
        self._data[name] = replace(self._data[name], fact=happens)
        return e

    def from_memory(self, e: Expr) -> bool:
        """Whether the expression holds values from memory or chosen at run time."""
        return any(s in self._data for s in e.symbols)

    def unknown_cond(self, node: Node, deps: frozenset[str]) -> Cond:
        """A condition that depends on data, named by its text and line."""
        name = f"{self.text(node)[:60]} (line {self.source.line_of(node.start)})"
        self._opaque_deps[name] = self._opaque_deps.get(name, frozenset()) | deps
        if LANE in deps:
            self._varying.add(name)
        return opaque(name)

    @property
    def varying(self) -> frozenset[str]:
        return frozenset(self._varying)

    def deps_of(self, v: Value | None) -> frozenset[str]:
        """Loop and lane variables a value can depend on, through memory too."""
        if v is None:
            return frozenset()
        if isinstance(v, (Opaque, Local)):
            return v.deps
        if isinstance(v, Flag):
            out = self._symbol_deps(v.cond.symbols)
            return out.union(*(self._opaque_deps.get(n, frozenset()) for n in opaque_names(v.cond)))
        if isinstance(v, Int):
            return self._symbol_deps(v.expr.symbols)
        if isinstance(v, Real):
            return self._symbol_deps(v.num.symbols | v.den.symbols)
        if isinstance(v, Ptr):
            own = v.base.deps if isinstance(v.base, Local) else frozenset()
            return self._symbol_deps(v.offset.symbols) | own
        return frozenset()

    def _symbol_deps(self, symbols: Iterable[str]) -> frozenset[str]:
        out: set[str] = set()
        for s in symbols:
            out.add(s)
            datum = self._data.get(s)
            if datum is not None:
                out |= datum.deps
        return frozenset(out)

    # -- lanes
    def at_lane(self, v: Value, number: Expr) -> Value:
        """Lane ``number`` of a vector."""
        if number == sym(LANE):
            return v
        if len(number.terms) == 1 and not number.constant:
            self._lane_vars |= number.symbols
        elif self.names and self.names[-1][1] == number:
            self._lane_vars.add(self.names[-1][0])  # the counter of a loop of one iteration
        return self.moved(v, LANE, number)

    def moved(self, v: Value, name: str, number: Expr) -> Value:
        """The value with ``number`` in place of the variable ``name``."""
        if isinstance(v, Int):
            return Int(v.expr.substitute(self._env(v.expr.symbols, name, number)))
        if isinstance(v, Flag):
            return Flag(v.cond.substitute(self._env(v.cond.symbols, name, number)))
        if isinstance(v, Real):
            return substitute_real(v, {name: number})
        if isinstance(v, Opaque) and name in v.deps:
            return Opaque((v.deps - {name}) | number.symbols)
        return v

    def _env(self, symbols: frozenset[str], name: str, number: Expr) -> dict[str, Expr]:
        """Substitution of a variable; data bounded in terms of it are other data after it."""
        env = {name: number}
        for s in symbols:
            datum = self._data.get(s)
            if datum is None or name not in datum.fact.symbols:
                continue
            key = (s, name, number)
            if key not in self._moved:
                deps = (datum.deps - {name}) | number.symbols
                e = self.fresh(None, deps, label=datum.label, varying=LANE in deps, lo=datum.lo, hi=datum.hi)
                (new,) = e.symbols
                self._data[new] = replace(self._data[new], fact=datum.fact.substitute({name: number, s: e}))
                self._moved[key] = new
            env[s] = sym(self._moved[key])
        return env

    def to_lanes(self, v: Value, var: str) -> Value:
        """What a loop over ``var`` leaves in an array, as a vector."""
        self._varying |= {s for s in self.deps_of(v) if s in self._data}
        return self.moved(v, var, sym(LANE))

    # -- typed integers
    def knowledge(self, a: Int | Flag, *others: Int | Flag) -> Known:
        """What is known here of the symbols of some values."""
        symbols: set[str] = set()
        for v in (a, *others):
            symbols |= v.cond.symbols if isinstance(v, Flag) else v.expr.symbols
            if isinstance(v, Int) and v.ring is not None:
                symbols |= v.ring.symbols
        return Known(self._ranges_with(symbols))

    def settled(self, a: integers.Int, known: Known, node: Node) -> Int:
        """The value of a typed operation; what a launch must say fits is noted."""
        s = settle(a, known)
        if s.narrow and a.ring is not None and self.from_memory(a.ring):  # data: it may be any value
            s = Settled(None, a.type.low, a.type.high, ())
        for n in s.narrow:
            path = Cond.join("and", [g.cond for g in self.guards if g.lanes is None])
            self.assumed[replace(n, text=self.text(node)[:80], path=path, vars=tuple(self.vars))] = None
        if s.expr is None:
            deps = frozenset() if a.ring is None else self.deps_of(Int(a.ring))
            return Int(self.fresh(None, deps, varying=LANE in deps, lo=s.low, hi=s.high), a.type)
        ring = a.ring if a.ring is not None and a.ring != s.expr else None
        return Int(s.expr, a.type, ring)

    # -- bounds
    def _ranges_with(self, symbols: Iterable[str]) -> Ranges:
        extra: dict[str, Interval] = {
            s: (d.lo, d.hi) for s in symbols if (d := self._data.get(s)) is not None
        }
        extra.update({s: (0, None) for s in (LANE, ROW) if s in symbols})
        ranges = self._ranges[-1]
        return ranges.with_bounds(extra) if extra else ranges

    def interval(self, e: Expr) -> Interval:
        """Bounds of an expression from the loops around it and from the types of data in it."""
        return self._ranges_with(e.symbols).interval(e)

    def nonneg(self, e: Expr) -> bool:
        low = self.interval(e)[0]
        return low is not None and low >= 0

    def datum(self, name: str) -> Datum | None:
        return self._data.get(name)
