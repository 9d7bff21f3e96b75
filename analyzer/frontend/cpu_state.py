"""State of the walk through a kernel: scopes, loop variables, guards, and the accesses found so far."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from ..expr import TRUE, Cond, Expr, as_expr, opaque, sym
from ..program import Access, Param, Var, VarKind
from ..ranges import Interval, Ranges
from .cpu_lanes import implied, opaque_names
from .cpu_real import Real
from .cpu_real import substitute as substitute_real
from .cpu_values import LANE, ROW, Flag, Int, Local, Opaque, Ptr, Value, int_bounds
from .cxx import Node, Text

#: Kernels nest helper calls two or three deep; more is recursion.
MAX_DEPTH = 12


class Scope:
    """Names of one block, inside those of another."""

    __slots__ = ("names", "parent")

    def __init__(self, parent: Scope | None = None) -> None:
        self.names: dict[str, Value] = {}
        self.parent = parent

    def find(self, name: str) -> Scope | None:
        scope: Scope | None = self
        while scope is not None and name not in scope.names:
            scope = scope.parent
        return scope

    def get(self, name: str) -> Value | None:
        scope = self.find(name)
        return scope.names[name] if scope else None

    def set(self, name: str, value: Value) -> None:
        """Assign to the variable where it was declared."""
        (self.find(name) or self).names[name] = value


@dataclass(frozen=True, slots=True)
class Guard:
    """A condition under which what follows runs.

    ``lanes``: the condition says that some lane satisfies this one.  ``check``: a bounds check, which ends
    the program where it fails; it holds for every lane.
    """

    cond: Cond
    lanes: Cond | None = None
    check: bool = False


@dataclass(frozen=True, slots=True)
class Datum:
    """A symbol that stands for a value from memory, or for one known only within bounds (``fact``)."""

    label: str
    lo: int | None
    hi: int | None
    deps: frozenset[str]
    fact: Cond = TRUE


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
        self.unmodelled: list[tuple[str, Node]] = []
        self.label = ""
        self.depth = 0
        self._data: dict[str, Datum] = {}
        self._moved: dict[tuple[str, str, Expr], str] = {}
        self._opaque_deps: dict[str, frozenset[str]] = {}
        self._varying: set[str] = set()
        self._lane_vars: set[str] = set()
        self._ranges: list[Ranges] = [Ranges()]

    # -- text
    def text(self, node: Node) -> str:
        return " ".join(self.source.text[node.start : node.end].replace("static_cast<int64_t>", "").split())

    def skip(self, node: Node, why: str = "") -> None:
        """Note a statement that is not understood."""
        line = self.text(node)
        self.unmodelled.append((f"{line[:160]}{f' ({why})' if why else ''}", node))

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

    def bounded(self, low: Expr, high: Expr) -> Expr:
        """A new symbol for an integer between two expressions."""
        deps = self.deps_of(Int(low)) | self.deps_of(Int(high))
        lo, hi = self.interval(low)[0], self.interval(high)[1]
        e = self.fresh(None, deps, varying=LANE in deps, lo=lo, hi=hi)
        (name,) = e.symbols
        fact = Cond.of("ge", e - low) & Cond.of("ge", high - e)
        self._data[name] = replace(self._data[name], fact=fact)
        return e

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

    # -- loops
    def unique(self, name: str) -> str:
        taken = {v.name for v in self.vars} | self.params.keys() | {LANE, ROW}
        out, n = name, 2
        while out in taken:
            out, n = f"{name}.{n}", n + 1
        return out

    @contextmanager
    def iteration(
        self, var: Var, name: str, value: Expr, bounds: dict[str, Interval] | None = None
    ) -> Iterator[None]:
        """Inside a loop over ``var`` in which the source variable ``name`` is ``value``."""
        top = var.extent.value if var.extent is not None else None
        own: Interval = (0 if var.extent is not None else None, None if top is None else max(top - 1, 0))
        self.vars.append(var)
        self.names.append((name, value))
        self._ranges.append(self._ranges[-1].with_bounds({var.name: own, **(bounds or {})}))
        try:
            yield
        finally:
            self.vars.pop()
            self.names.pop()
            self._ranges.pop()

    def interval(self, e: Expr) -> Interval:
        """Bounds of an expression from the loops around it and from the types of data in it."""
        extra = {s: (d.lo, d.hi) for s in e.symbols if (d := self._data.get(s)) is not None}
        extra.update({s: (0, None) for s in (LANE, ROW) if s in e.symbols})
        ranges = self._ranges[-1]
        return (ranges.with_bounds(extra) if extra else ranges).interval(e)

    def nonneg(self, e: Expr) -> bool:
        low = self.interval(e)[0]
        return low is not None and low >= 0

    def extents(self) -> dict[str, int]:
        """Constant extents of the loop variables, and of the lane when the width is known."""
        out = {v.name: n for v in self.vars if v.extent is not None and (n := v.extent.value) is not None}
        width = self.width()
        if width is not None:
            out[LANE] = width
        return out

    def width(self, type_text: str = "") -> int | None:
        """Lanes of a vector of a type, else of the vectors of the loop around; None when not known."""
        if type_text and self.vector_bytes is not None:
            return vector_width(type_text, self.vector_bytes)
        if self.steps and not self.depth and self.steps[-1] & (self.steps[-1] - 1) == 0:
            return self.steps[-1]
        return vector_width("", self.vector_bytes) if self.vector_bytes is not None else None

    # -- guards
    @contextmanager
    def given(self, *guards: Guard) -> Iterator[None]:
        n = len(self.guards)
        self.guards.extend(guards)
        try:
            yield
        finally:
            del self.guards[n:]

    @contextmanager
    def block(self, parent: Scope | None = None) -> Iterator[None]:
        """A scope; checks made in it stop holding at its end."""
        outer, n = self.scope, len(self.guards)
        self.scope = Scope(parent or outer)
        try:
            yield
        finally:
            self.scope = outer
            del self.guards[n:]

    @property
    def mask(self) -> Cond:
        """The lanes for which the innermost masked body around this point computes."""
        return next((g.lanes for g in reversed(self.guards) if g.lanes is not None), TRUE)

    # -- accesses
    def record(
        self, ptr: Ptr, kind: str, node: Node, *, lanes: tuple[Var, ...] = (), index: Expr | None = None,
        mask: Cond = TRUE, reason: str | None = None, stored: Value | None = None, used: Cond = TRUE,
        text: Node | None = None,
    ) -> None:  # fmt: skip
        """Note an access to a parameter; accesses to local arrays leave no trace.

        ``index`` defaults to the pointer's offset plus the lane.
        """
        if isinstance(ptr.base, Local):
            return
        if index is None and reason is None:
            index = ptr.offset + sym(LANE) if any(v.name == LANE for v in lanes) else ptr.offset
        guard = self._guard(index, lanes, mask)
        found = _Finished(self, index, guard, used, (*self.vars, *lanes))
        known = {v.name for v in found.vars}
        value_vars = self.deps_of(stored) & known if stored is not None else None
        self.accesses.append(
            Access(
                ptr.base,
                kind,  # type: ignore[arg-type]
                found.index,
                found.vars,
                found.guard,
                self.source.loc(node.start, node.end),
                self.text(text or node),
                reason,
                found.names,
                frozenset(found.renamed.get(n, n) for n in value_vars) if value_vars is not None else None,
                found.used,
            )
        )

    def _guard(self, index: Expr | None, lanes: tuple[Var, ...], mask: Cond) -> Cond:
        own = [c for c in mask.conjuncts() if not self._trivial(c)]
        path = [
            c
            for g in self.guards
            if not g.check and g.lanes is None
            for c in g.cond.conjuncts()
            if not self._trivial(c)
        ]
        have = [*mask.conjuncts(), *path]
        numbers = [sym(v.name) for v in self.vars if v.name in self._lane_vars]
        if any(v.name == LANE for v in lanes):
            numbers.append(sym(LANE))
        for g in self.guards:
            if g.lanes is not None and not any(implied(self._cond_at(g.lanes, n), have) for n in numbers):
                path.append(g.cond)
        conds = [*own, *path]
        return Cond.join("and", [*conds, *self._checks(index, conds, numbers, lanes)])

    def _checks(
        self, index: Expr | None, conds: list[Cond], numbers: list[Expr], lanes: tuple[Var, ...]
    ) -> list[Cond]:
        """Bounds checks that say something about this access."""
        about = {s for s in index.symbols if s in self._data} if index is not None else set()
        for c in conds:
            about |= {s for s in c.symbols if s in self._data}
        out = []
        for g in self.guards:
            if not g.check:
                continue
            varies = LANE in g.cond.symbols or bool(g.cond.symbols & self._varying)
            for c in [self._cond_at(g.cond, n) for n in numbers] if varies else [g.cond]:
                data = {s for s in c.symbols if s in self._data}
                if LANE in c.symbols and sym(LANE) not in numbers:
                    continue
                if (data & about or not data) and not self._trivial(c):
                    out.append(_possible(c, (*self.vars, *lanes)))
        return out

    def _cond_at(self, c: Cond, number: Expr) -> Cond:
        v = self.at_lane(Flag(c), number)
        assert isinstance(v, Flag)
        return v.cond

    def _trivial(self, c: Cond) -> bool:
        return c.kind == "ge" and c.expr is not None and self.nonneg(c.expr)

    def datum(self, name: str) -> Datum | None:
        return self._data.get(name)


def _possible(c: Cond, vars_: tuple[Var, ...]) -> Cond:
    """A disjunction without the alternatives ``var >= its extent`` (lanes beyond the end of a tail)."""
    if c.kind != "or":
        return c
    return Cond.join("or", [a for a in c.args if not any(_beyond(a, v) for v in vars_)])


def _beyond(c: Cond, v: Var) -> bool:
    if c.kind != "ge" or c.expr is None or v.extent is None:
        return False
    rest = (c.expr - sym(v.name) + v.extent).value
    return rest is not None and rest <= 0


class _Finished:
    """The expressions of an access with its data variables declared, bounded and given short names."""

    def __init__(
        self, state: State, index: Expr | None, guard: Cond, used: Cond, vars_: tuple[Var, ...]
    ) -> None:
        self.renamed: dict[str, str] = {}
        symbols = (
            set(guard.symbols) | set(used.symbols) | (set(index.symbols) if index is not None else set())
        )
        for v in vars_:
            symbols |= v.extent.symbols if v.extent is not None else frozenset()
        data: dict[str, Datum] = {}
        todo = sorted(symbols)
        while todo:
            s = todo.pop(0)
            datum = state.datum(s)
            if datum is None or s in data:
                continue
            data[s] = datum
            guard = guard & datum.fact
            todo.extend(sorted(datum.fact.symbols))
        taken = {v.name for v in vars_} | state.params.keys()
        for s, d in data.items():
            name, n = d.label, 2
            while name in taken:
                name, n = f"{d.label}.{n}", n + 1
            taken.add(name)
            self.renamed[s] = name
        env = {s: sym(n) for s, n in self.renamed.items()}
        self.index = index.substitute(env) if index is not None else None
        self.guard, self.used = guard.substitute(env), used.substitute(env)
        self.names = tuple((n, e.substitute(env)) for n, e in state.names)
        loops = tuple(
            replace(v, extent=v.extent.substitute(env)) if env and v.extent is not None else v for v in vars_
        )
        self.vars = tuple(Var(self.renamed[s], None, "data", d.lo, d.hi) for s, d in data.items()) + loops


def vector_width(type_text: str, vector_bytes: int) -> int:
    """Lanes of ``Vectorized<T>``, ``VectorizedN<T,N>`` or ``VecMask<T,N>``; of floats when not stated."""
    import re

    from ..program import ITEMSIZE
    from .cpu_values import dtype_of

    m = re.search(r"<\s*([\w:]+)\s*(?:,\s*(\d+)\s*)?>\s*(?:::\w+)?\s*\Z", type_text)
    size = ITEMSIZE.get(dtype_of(m.group(1)) or "", 4) if m else 4
    return vector_bytes // size * int(m.group(2) or 1 if m else 1)


def lane_var(count: Expr | int, name: str = LANE) -> Var:
    kind: VarKind = "lane"
    return Var(name, as_expr(count), kind)
