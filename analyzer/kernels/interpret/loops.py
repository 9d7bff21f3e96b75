"""Loops: counted ones exactly, carried values by their recurrence, others by what they change.

The loop runs once for an iteration ``k``. A variable that every iteration moves by the same amount, once and whatever
happens, is ``start + step * k``; the test then says how many iterations there are. Everything else the body changes
is not known at its start. What an iteration does happens only if no earlier one has left the loop.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...model.kernel import Narrow, Var
from ...model.record import record, replace
from ...symbolic import TRUE, ZERO, Cond, Expr, compare, floordiv, maximum, opaque, sym
from .. import ir
from . import integers
from .integers import Int, int_type
from .values import ANYTHING, Value, integer, merged

if TYPE_CHECKING:
    from .statements import Flow, Walker


@record(frozen=True)
class Move:
    """``cell`` goes from ``start`` by ``by`` elements or ones an iteration."""

    cell: str
    start: Value
    by: Int


@record(frozen=True)
class Count:
    """How many iterations the test admits; None: not known. ``exact``: the test says nothing else."""

    extent: Expr | None
    exact: bool


def run_loop(w: Walker, s: ir.Loop) -> Flow:
    """Run a loop's body for an iteration of it, and leave behind what holds after the last."""
    x, r = w.x, w.r
    cells = _changed(w, s)
    first = {c: x.env[c] for c in cells}
    moves = _moves(w, s, set(cells))
    name = _counter(s, moves)
    count = _count(w, s, moves)
    if _wraps(w, moves, count.extent):
        moves, count = {}, Count(None, False)
    var = _variable(w, name, count.extent)
    k = sym(var.name)
    _enter(w, first, moves, k)
    path, taken = r.path, r.path_taken
    start = len(r.drafts)
    r.loops = (*r.loops, var)
    r.path_taken = integers.both(taken, _fits_at_end(w, moves, count.extent))
    x.masks += 1
    if count.extent is None:
        r.path = r.path & opaque(f"the loop over {name} goes on (line {r.source.loc(s.at[0]).line})")
    flow = _iteration(w, s, count)
    x.masks -= 1
    r.path, r.path_taken = path, taken
    r.loops = r.loops[:-1]
    _left_earlier(w, s, flow, var, start)
    left = flow.stays != TRUE or flow.runs != TRUE
    _after(w, first, moves, var, None if left else count.extent)
    return _outside(w, s, flow, var)


def _changed(w: Walker, s: ir.Loop) -> list[str]:
    """Cells and arrays whose value an iteration may change, those behind pointers to variables included."""
    x = w.x
    cells = [c for c in ir.changed(s) if c in x.env]
    through = ir.stored(s)
    cells += [c for c in through if c in x.contents and c not in cells]
    if any(c not in x.contents for c in through):
        pointed = (t.base for v in x.env.values() for t in v.targets)
        cells += [c for c in dict.fromkeys(pointed) if (c in x.env and c not in cells) and _own(w, c)]
    return cells


def _own(w: Walker, c: str) -> bool:
    """Whether a cell is a variable or an array of the kernel, not a pointer."""
    return c in w.x.contents or not w.x.env[c].targets


def _iteration(w: Walker, s: ir.Loop, count: Count) -> Flow:
    """The test, the body and the step, in their order."""
    x, r = w.x, w.r
    if s.test is not None and not s.first:
        cond, c = x.condition(s.test)
        r.sink(c)
        if not count.exact:
            r.path, r.path_taken = r.path & cond, integers.both(r.path_taken, c.taken)
    flow = w.run(s.body)
    r.path = r.path & flow.runs & flow.stays
    for e in s.step:
        r.sink(x.value(e))
    if s.test is not None and s.first:
        _, c = x.condition(s.test)
        r.sink(c)
    return flow


def _variable(w: Walker, name: str, extent: Expr | None) -> Var:
    r = w.r
    same = r.all_loops.get(name)
    if name in r.ranges.bounds and (same is None or same.extent != extent or same in r.loops):
        name = r.fresh(name)
    var = Var(name, extent, "loop") if extent is not None else Var(name, None, "data", 0, None)
    r.declare(var)
    r.all_loops[name] = var
    return var


def _counter(s: ir.Loop, moves: dict[str, Move]) -> str:
    """The variable a reader would call the loop by: the moving one of its test, or any."""
    mentioned = [n.name for n in ir.walk(s.test) if isinstance(n, ir.Cell)] if s.test is not None else []
    found = next((c for c in mentioned if c in moves), None) or next(iter(moves), "iteration")
    return found.split("#")[0]


# -- recurrences


def _moves(w: Walker, s: ir.Loop, cells: set[str]) -> dict[str, Move]:
    """Cells that each iteration moves by the same amount."""
    writes = _writes(s)
    leaves = any(isinstance(n, ir.Leave) and n.what == "continue" for n in ir.walk(s.body))
    top = s.body.body if isinstance(s.body, ir.Block) else (s.body,)
    sure = [*([] if leaves else [t.value for t in top if isinstance(t, ir.Evaluate)]), *s.step]
    out: dict[str, Move] = {}
    for e in _parts(sure):
        found = _update(e)
        if found is None:
            continue
        cell, op, by = found
        start = w.x.env.get(cell)
        if writes.get(cell) != 1 or start is None or cell in w.x.shared or not _invariant(by, cells):
            continue
        step = integer(w.x.value(by))
        if step is None or step.ring is None:
            continue
        here = integer(start)
        known = w.r.known()
        if start.targets:
            step = integers.cast(step, integers.INT64, known)
        elif here is None or here.ring is None:
            continue
        else:
            step = integers.cast(step, here.type, known)
        value = integers.settle(step, known).expr
        if value is None:
            continue
        signed = -value if op == "-" else value
        out[cell] = Move(cell, start, replace(step, ring=signed, fits=True))
    return out


def _parts(expressions: list[ir.Expr]) -> Iterator[ir.Expr]:
    """``++i, --j`` one by one."""
    for e in expressions:
        if isinstance(e, ir.Sequence):
            yield from _parts(list(e.parts))
        else:
            yield e


def _writes(s: ir.Loop) -> dict[str, int]:
    """How often each cell may be written in one iteration; what is not plain counts as often."""
    out: dict[str, int] = {}
    for n in ir.walk(s):
        if isinstance(n, ir.Set) and isinstance(n.place, ir.Cell):
            out[n.place.name] = out.get(n.place.name, 0) + 1
        elif isinstance(n, ir.AddressOf) and isinstance(n.place, ir.Cell):
            out[n.place.name] = out.get(n.place.name, 0) + 2
        elif isinstance(n, ir.Unknown | ir.Opaque):
            for c in n.writes if isinstance(n, ir.Unknown) else n.touches:
                out[c] = out.get(c, 0) + 2
        elif isinstance(n, ir.Declare):
            out[n.cell] = out.get(n.cell, 0) + 2
    return out


def _update(e: ir.Expr) -> tuple[str, str, ir.Expr] | None:
    """``x += e``, ``x = x + e``, ``++x``: the cell, the sign and the amount."""
    if not isinstance(e, ir.Set) or not isinstance(e.place, ir.Cell):
        return None
    if e.op in ("+", "-"):
        return e.place.name, e.op, e.value
    v = e.value
    while isinstance(v, ir.Cast):
        v = v.x
    if e.op or not isinstance(v, ir.Binary) or v.op not in ("+", "-"):
        return None
    if isinstance(v.a, ir.Cell) and v.a.name == e.place.name:
        return e.place.name, v.op, v.b
    if v.op == "+" and isinstance(v.b, ir.Cell) and v.b.name == e.place.name:
        return e.place.name, "+", v.a
    return None


def _invariant(e: ir.Expr, changed: set[str]) -> bool:
    """Whether an expression has the same value in every iteration and no effect."""
    return all(
        isinstance(
            n, ir.Const | ir.Unary | ir.Binary | ir.Cast | ir.Call | ir.CommonCast | ir.Compare | ir.Logic
        )
        or (isinstance(n, ir.Cell) and n.name not in changed)
        for n in ir.walk(e)
    )


def _at(move: Move, k: Expr, start: Value) -> Value:
    """The moving value after k iterations."""
    assert move.by.ring is not None
    if start.targets:
        moved = tuple(
            replace(t, offset=replace(t.offset, ring=None if t.offset.ring is None else t.offset.ring + move.by.ring * k),
                    moved=True)
            for t in start.targets
        )  # fmt: skip
        return replace(start, targets=moved)
    i = integer(start)
    assert i is not None and i.ring is not None
    narrow = integers.both(i.narrow, move.by.narrow)
    return replace(start, int=Int(i.type, i.ring + move.by.ring * k, i.type.low, i.type.high, narrow, move.cell.split("#")[0]),
                   cond=None, loaded=False)  # fmt: skip


def _enter(w: Walker, first: dict[str, Value], moves: dict[str, Move], k: Expr) -> None:
    """What cells hold at the start of an iteration."""
    x = w.x
    (name,) = k.symbols
    for c, old in first.items():
        if c in x.contents:
            x.contents[c] = replace(x.contents[c], deps=x.contents[c].deps | {ANYTHING})
        elif c in moves:
            v = _at(moves[c], k, old)
            if v.int is not None:  # each test has found it within its type
                v = replace(v, int=replace(v.int, fits=True))
            x.env[c] = replace(v, deps=v.deps | {name})
        elif old.targets:
            for t in old.targets:
                if not t.cell:
                    unknown = replace(t, offset=integers.unknown(integers.INT64), moved=True)
                    x.env[c] = replace(old, targets=(unknown,))
        else:
            x.env[c] = x.named(c.split("#")[0], Value(old.dtype, deps=old.deps | {ANYTHING}, live=old.live))


# -- how many iterations


def _count(w: Walker, s: ir.Loop, moves: dict[str, Move]) -> Count:
    """The number of iterations, from the test on what moves."""
    if s.test is None or not _plain(s.test):
        return Count(None, False)
    x, r = w.x, w.r
    name = r.fresh("%k")
    r.ranges.bounds[name] = (0, None)
    k = sym(name)
    saved = dict(x.env)
    unstable = [c for c in ir.changed(s) if c in x.env and c not in moves]
    for c in unstable:
        x.env[c] = Value(x.env[c].dtype)
    for m in moves.values():
        v = _at(m, k + 1 if s.first else k, m.start)
        x.env[m.cell] = replace(v, int=replace(v.int, fits=True)) if v.int is not None else v
    cond, _ = x.condition(s.test)
    x.env = saved
    parts = cond.conjuncts()
    extents = [e for p in parts if (e := _extent(w, p, name)) is not None]
    if cond.kind == "const" and not cond.truth:
        extents = [ZERO]
    if not extents:
        return Count(None, False)
    exact = len(extents) == len(parts) == 1
    most = extents[0]
    return Count(most + 1 if s.first and exact and r.ranges.nonneg(most) is True else maximum(most, 0) + 1 if s.first else most, exact)  # fmt: skip


def _plain(e: ir.Expr) -> bool:
    """Whether evaluating an expression has no effect and touches no memory."""
    return not any(
        isinstance(n, ir.Set | ir.Atomic | ir.Unknown | ir.Combined | ir.AddressOf)
        or (isinstance(n, ir.Load) and not isinstance(n.place, ir.Cell))
        for n in ir.walk(e)
    )


def _extent(w: Walker, c: Cond, k: str) -> Expr | None:
    """For how many of ``k = 0, 1, …`` a condition holds before it first does not."""
    if c.expr is None or k not in c.expr.symbols:
        return None
    factor = c.expr.terms.get((k,), 0)
    rest = c.expr - sym(k) * factor
    if not factor or k in rest.symbols or (rest.symbols & w.r.computed):
        return None
    if c.kind == "ge" and factor < 0:
        return floordiv(rest, -factor) + 1
    if c.kind == "ne" and abs(factor) == 1:
        n = rest * -factor
        return n if w.r.ranges.nonneg(n) is True else None
    return None


def _wraps(w: Walker, moves: dict[str, Move], extent: Expr | None) -> bool:
    """Whether a counter goes beyond its type before the test ends the loop: it starts again, and may never end."""
    for m in moves.values():
        i = integer(m.start)
        if extent is None or m.start.targets or i is None or i.ring is None or m.by.ring is None:
            continue
        step = m.by.ring.value
        if step is not None and abs(step) == 1:
            continue
        last = replace(i, ring=i.ring + m.by.ring * extent, fits=False)
        if integers.settle(last, w.r.known()).expr != last.ring:
            return True
    return False


def _fits_at_end(w: Walker, moves: dict[str, Move], extent: Expr | None) -> tuple[Narrow, ...]:
    """That counters do not wrap before the test ends the loop: what they are after the last iteration fits."""
    taken: tuple[Narrow, ...] = ()
    for m in moves.values():
        i = integer(m.start)
        if m.start.targets or i is None or i.ring is None or m.by.ring is None:
            continue
        if extent is None:
            continue  # its test or its exits bound it, where anything does
        step = m.by.ring.value
        if step is not None and abs(step) == 1:
            continue  # the bound itself is of the type
        last = replace(i, ring=i.ring + m.by.ring * extent, fits=False)
        taken = integers.both(taken, integers.settle(last, w.r.known()).narrow)
    return taken


# -- leaving


def _left_earlier(w: Walker, s: ir.Loop, flow: Flow, var: Var, start: int) -> None:
    """An iteration runs only if none before it left the loop: part of the guard of what stands before the exit."""
    if flow.stays == TRUE:
        return
    exits = [n.at[0] for n in ir.walk(s.body) if isinstance(n, ir.Leave) and n.what == "break"]
    first = min(exits, default=s.at[0])
    k = sym(var.name)
    lasting = _lasting(~flow.stays, var.name)
    before = compare("==", k, 0) | flow.stays.substitute({var.name: k - 1})
    doubt = opaque(f"an earlier iteration may leave the loop over {var.name}")
    for d in w.r.drafts[start:]:
        if not lasting:
            d.guard = d.guard & doubt
        elif d.at[0] < first:
            d.guard = d.guard & before


def _lasting(c: Cond, k: str) -> bool:
    """Whether a condition that holds at an iteration holds at all later ones."""
    if c.kind in ("and", "or"):
        return all(_lasting(a, k) for a in c.args)
    if c.kind == "const":
        return True
    if c.expr is None:
        return False
    if k not in c.expr.symbols:
        return True
    factor = c.expr.terms.get((k,), 0)
    return c.kind == "ge" and factor > 0 and k not in (c.expr - sym(k) * factor).symbols


def _after(w: Walker, first: dict[str, Value], moves: dict[str, Move], var: Var, extent: Expr | None) -> None:
    """What the loop changed: what moves is where its last iteration put it; the rest is not known."""
    x = w.x
    flows = [x.contents[n] if n in x.contents else x.env[n] for n in first]
    deps = frozenset().union(*(v.deps for v in (*first.values(), *flows))) - {ANYTHING, var.name}
    for n, old in first.items():
        if n in x.contents:
            x.contents[n] = replace(x.contents[n], deps=deps)
        elif n in moves and extent is not None:
            times = extent if w.r.ranges.nonneg(extent) is True else maximum(extent, 0)
            end = _at(moves[n], times, old)
            x.env[n] = replace(end, deps=end.deps | deps)
        elif old.targets:
            x.env[n] = replace(x.env[n], targets=tuple(
                replace(t, offset=integers.unknown(integers.INT64), moved=True)
                for t in dict.fromkeys((*old.targets, *x.env[n].targets))
            ))  # fmt: skip
        else:
            both = merged(old.dtype, old, x.env[n])
            v = replace(both, deps=deps)
            x.env[n] = v if int_type(old.dtype) is None else x.named(n.split("#")[0], v)


def _outside(w: Walker, s: ir.Loop, flow: Flow, var: Var) -> Flow:
    """What follows the loop runs if no iteration returned."""
    from .statements import ON, Flow

    if flow.runs == TRUE:
        return ON
    if var.name in flow.runs.symbols or flow.runs.kind == "opaque":
        return Flow(
            runs=opaque(f"leaves the loop over {var.name} (line {w.r.source.loc(s.body.at[0]).line})")
        )
    return Flow(runs=flow.runs, taken=flow.taken)
