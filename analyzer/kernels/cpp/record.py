"""Accesses of a kernel: the loops and guards around a place, and what is noted there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal, TypeAlias

from ...cxx.nodes import Node
from ...model.dtypes import ITEMSIZE, from_cxx, itemsize
from ...model.kernel import Access, Array, Narrow, Var
from ...model.record import replace
from ...symbolic import TRUE, Cond, Expr, as_expr, floordiv, sym
from ...symbolic.assumptions import Interval
from .lanes import implied
from .scope import Datum, Guard, Scope
from .state import State
from .values import ANY_TYPE, LANE, PART, ROW, Flag, Local, Ptr, Value

#: Lanes of a vector of the narrowest type in the widest register.
MOST_LANES = 64

AccessKind: TypeAlias = Literal["load", "store", "atomic"]


class Recorder(State):
    """Notes accesses under the loops and guards in force."""

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
        """Inside a loop over ``var`` in which the source variable ``name`` is ``value``.

        A loop of one iteration has no variable.
        """
        top = var.extent.value if var.extent is not None else None
        own: Interval = (0 if var.extent is not None else None, None if top is None else max(top - 1, 0))
        n = len(self.vars)
        if var.extent != 1:
            self.loops += 1
            self.vars.append(replace(var, loop=self.loops))
        self.names.append((name, value))
        self._ranges.append(self._ranges[-1].with_bounds({var.name: own, **(bounds or {})}))
        try:
            yield
        finally:
            del self.vars[n:]
            self.names.pop()
            self._ranges.pop()

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
        self, ptr: Ptr, kind: AccessKind, node: Node, *, lanes: tuple[Var, ...] = (), index: Expr | None = None,
        mask: Cond = TRUE, reason: str | None = None, stored: Value | None = None, used: Cond = TRUE,
        text: Node | None = None,
    ) -> None:  # fmt: skip
        """Note an access to a parameter, or to a local array whose length is known.

        ``index`` defaults to the pointer's offset plus the lane.
        """
        self._open.account(ptr)
        if isinstance(stored, (Ptr, Local)):  # a pointer in memory: whoever loads it may use it
            self._stored_pointer(stored, node)
        array = ptr.base if isinstance(ptr.base, Local) else None
        if array is not None and (array.length is None or ptr.dtype is not None or reason is not None):
            return
        if index is None and reason is None:
            index = ptr.offset + sym(LANE) if any(v.name == LANE for v in lanes) else ptr.offset
        if ptr.dtype is not None and reason is None:
            index, lanes, reason = self._recast_index(ptr, index, lanes)
        guard = self._guard(index, lanes, mask)
        found = _Finished(self, index, guard, used, (*self.vars, *lanes))
        known = {v.name for v in found.vars}
        value_vars = self.deps_of(stored) & known if stored is not None else None
        (self.accesses if array is None else array.accesses).append(
            Access(
                ptr.base if isinstance(ptr.base, str) else ptr.base.name,
                kind,
                found.index,
                found.vars,
                found.guard,
                self.source.loc(node.start, node.end),
                self.text(text or node),
                reason,
                found.names,
                frozenset(found.renamed.get(n, n) for n in value_vars) if value_vars is not None else None,
                found.used,
                taken=self._taken(found),
            )
        )

    def _taken(self, found: _Finished) -> tuple[Narrow, ...]:
        """Values computed in few bits here that the index, the guard or an extent may be made of."""
        symbols = set(found.guard.symbols) | (found.index.symbols if found.index is not None else set())
        for v in found.vars:
            symbols |= v.extent.symbols if v.extent is not None else frozenset()
        active = {v.name: v.loop for v in self.vars}
        known = self.params.keys() | {v.name for v in found.vars} | active.keys()
        out = []
        for n in self.assumed:
            then = {v.name: v.loop for v in n.vars if v.name in n.value.symbols}
            same = all(active.get(name) == loop for name, loop in then.items())
            if not same or not n.value.symbols & symbols:
                continue
            here = {v.name for v in found.vars}
            lanes = [x for x in (LANE, ROW) if x in n.value.symbols and x not in known]
            if not n.value.symbols <= {*known, *lanes}:
                continue
            path = Cond.join("and", [c for c in n.path.conjuncts() if c.symbols <= known])
            more = (v for v in self.vars if v.name not in here)
            wide = (lane_var(self.width() or MOST_LANES, x) for x in lanes)
            out.append(replace(n, path=path, vars=(*more, *wide)))
        return tuple(out)

    def _recast_index(
        self, ptr: Ptr, index: Expr | None, lanes: tuple[Var, ...]
    ) -> tuple[Expr | None, tuple[Var, ...], str | None]:
        """Index, lanes and reason of an access through a pointer to another element type, in the memory's own."""
        param = self.params.get(str(ptr.base))
        own = param.dtype if param else None
        plain = ptr.offset + sym(LANE) if any(v.name == LANE for v in lanes) else ptr.offset
        if own is None or ptr.dtype in (None, ANY_TYPE) or index != plain:
            return None, lanes, "the size of what the pointer points to is not known"
        assert ptr.dtype is not None
        wide, narrow = itemsize(ptr.dtype), itemsize(own)
        if wide < narrow:
            return floordiv(plain, narrow // wide), lanes, None
        steps = wide // narrow
        index = ptr.offset + sym(PART) + (sym(LANE) * steps if plain != ptr.offset else 0)
        return index, (*lanes, lane_var(steps, PART)), None

    def measured(self, array: Local, length: Expr | None) -> Local:
        """An array of its own with its length, if that is one of the launch alone."""
        if length is not None and array.dtype is not None and length.symbols <= self.params.keys():
            array.length = length
            self.locals.append(array)
        return array

    def own_arrays(self) -> tuple[Array, ...]:
        """Local arrays with their accesses. One whose address went astray may have been made anew."""
        return tuple(
            Array(a.name, a.dtype, a.length, accesses=tuple(a.accesses))
            for a in self.locals
            if a.accesses and not a.escaped
        )

    def _stored_pointer(self, v: Ptr | Local, node: Node) -> None:
        base = v.base if isinstance(v, Ptr) else v
        if isinstance(base, Local):
            base.content, base.escaped = None, True
            return
        for kind in ("load", "store"):
            self.record(Ptr(base, as_expr(0)), kind, node, reason="the pointer itself is stored")

    def never(self, *nodes: Node) -> None:
        """Text that can't run where it stands."""
        self.unreached.extend((n.start, n.end) for n in nodes)

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
        if self.names and self.names[-1][0] in self._lane_vars and self.names[-1][1].value is not None:
            numbers.append(self.names[-1][1])
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
        self, state: Recorder, index: Expr | None, guard: Cond, used: Cond, vars_: tuple[Var, ...]
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
    m = re.search(r"<\s*([\w:]+)\s*(?:,\s*(\d+)\s*)?>\s*(?:::\w+)?\s*\Z", type_text)
    size = ITEMSIZE.get(from_cxx(m.group(1)) or "", 4) if m else 4
    return vector_bytes // size * int(m.group(2) or 1 if m else 1)


def lane_var(count: Expr | int, name: str = LANE) -> Var:
    return Var(name, as_expr(count), "lane")
