"""From an access to pieces of its iteration space that are boxes, as far as that goes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..model.kernel import Var
from ..model.record import replace
from ..symbolic import FALSE, TRUE, ZERO, Atom, Cond, Expr, Op, compare, const, sym
from ..symbolic.assumptions import Ranges
from .corner import extreme
from .model import Ends, Piece
from .reshape import alternatives, merge, rotate, split
from .simplify import simplify, tidy, tidy_size
from .tighten import tighten

#: More disjuncts or cut-off digits than this stay a guard.
MAX_PIECES = 24


def without_opaque(c: Cond, value: Cond) -> Cond:
    """The condition with its data-dependent parts replaced by ``value`` (TRUE: weaker, FALSE: stronger)."""
    if not c.has_opaque():
        return c
    if c.kind == "opaque":
        return value
    return Cond.join(c.kind, [without_opaque(a, value) for a in c.args])


def pieces(
    index: Expr,
    variables: Sequence[Var],
    guard: Cond,
    ranges: Ranges,
    typed: bool = True,
    partition: bool = True,
) -> list[Piece]:
    """Pieces that together cover every iteration in which ``guard`` may hold.

    ``typed``: let loaded values have the bounds of their type, not only those of the guards.  Without
    ``partition`` there is at most one piece, possibly with guards that a partition would have resolved.
    """
    box: dict[str, Ends] = {}
    data = set()
    for v in variables:
        if v.extent is not None:
            box[v.name] = (ZERO, tidy_size(v.extent, ranges) - 1)
            continue
        data.add(v.name)
        box[v.name] = (
            None if v.lo is None or not typed else const(v.lo),
            None if v.hi is None or not typed else const(v.hi),
        )
    guard = without_opaque(guard, TRUE) & _dependent_extents(variables, box, ranges)
    p = tidy(Piece(index, box, (guard,), (), ranges, frozenset(data)))
    if data and (simpler := simplify(p)) is not None:  # before checked operations become variables
        p = simpler
    guard = _opened(Cond.join("and", p.guards), p)
    atoms = _checked_atoms(guard, p)
    if atoms:
        new: dict[Atom, Expr] = {}
        for op in atoms:
            name = f"@{len(new)}"
            ends = _type_ends(op, box, ranges) if typed else (None, None)
            new[op], box[name] = sym(name), ends
            data.add(name)
        names = tuple((f"@{i}", op) for i, op in enumerate(atoms))
        p = replace(p, index=p.index.replace(new), data=frozenset(data), atoms=names)
        guard = guard.replace(new)
    out: list[Piece] = []
    for conj in _disjuncts(guard) if partition else [guard]:
        out.extend(_normalised(replace(p, guards=conj.conjuncts()), MAX_PIECES - len(out), partition))
    return out


def _dependent_extents(variables: Sequence[Var], box: dict[str, Ends], ranges: Ranges) -> Cond:
    """The condition that loops whose extent depends on other variables stay within it; their box gets wider."""
    conds = []
    for v in variables:
        if v.extent is None or box.keys().isdisjoint(v.extent.symbols):
            continue
        conds.append(compare("<", sym(v.name), v.extent))
        others = {n: e for n, e in box.items() if n != v.name}
        last = extreme(v.extent - 1, True, others, ranges).value
        box[v.name] = (ZERO, None if last is None or not box.keys().isdisjoint(last.symbols) else last)
    return Cond.join("and", conds)


def _checked_atoms(guard: Cond, p: Piece) -> list[Op]:
    """Operations on loaded values whose own range a guard states: they become variables."""
    if not p.data:
        return []
    found: dict[Op, None] = {}
    for g in guard.conjuncts():
        if g.expr is None or g.kind not in ("ge", "eq"):
            continue
        moving = [m for m in g.expr.terms if any(not _names(a).isdisjoint(p.box) for a in m)]
        if len(moving) == 1 and len(moving[0]) == 1:
            atom = moving[0][0]
            if isinstance(atom, Op) and not atom.symbols.isdisjoint(p.data):
                found[atom] = None
    return list(found)


def _names(a: Atom) -> frozenset[str]:
    return frozenset((a,)) if isinstance(a, str) else a.symbols


def _type_ends(op: Op, box: dict[str, Ends], ranges: Ranges) -> Ends:
    known = {}
    for name in op.symbols & box.keys():
        lo, hi = box[name]
        known[name] = (None if lo is None else lo.value, None if hi is None else hi.value)
    lo_n, hi_n = ranges.with_bounds(known).atom_interval(op)
    return None if lo_n is None else const(lo_n), None if hi_n is None else const(hi_n)


def _opened(c: Cond, p: Piece) -> Cond:
    """``min(a, b) >= e`` as two conditions, ``max(a, b) >= e`` as two alternatives."""
    if c.kind in ("and", "or"):
        return Cond.join(c.kind, [_opened(a, p) for a in c.args])
    if c.kind != "ge" or c.expr is None:
        return c
    for mono, k in c.expr.terms.items():
        op = mono[0] if len(mono) == 1 else None
        if isinstance(op, Op) and op.kind in ("min", "max") and not p.box.keys().isdisjoint(op.symbols):
            kind = "and" if (op.kind == "min") == (k > 0) else "or"
            return Cond.join(kind, [_opened(Cond.of("ge", c.expr.replace({op: a})), p) for a in op.args])
    return c


def _disjuncts(c: Cond) -> list[Cond]:
    """Conjunctions whose union is ``c``; ``c`` itself where that would be too many."""
    if c == FALSE:
        return []
    out = [TRUE]
    for part in c.conjuncts():
        if part.kind == "or" and len(out) * len(part.args) <= 8:
            inner = [d for a in part.args for d in _disjuncts(a)]
            out = [o & d for o in out for d in inner]
        else:
            out = [o & part for o in out]
    return [o for o in dict.fromkeys(out) if o != FALSE]


def _normalised(p: Piece, room: int, partition: bool) -> Iterator[Piece]:
    """Tighten, merge, split and simplify until nothing changes."""
    work: list[tuple[Piece, int]] = [(p, 0)]
    done = 0
    while work:
        q, depth = work.pop()
        tight = tighten(q)
        if tight is None:
            continue
        if depth < 24 and _has_structure(tight):
            merged = merge(tight)
            if merged is not None:
                work.append((merged, depth + 1))
                continue
            parts = (alternatives(tight) if partition else None) or split(tight, partition)
            if parts is not None and done + len(work) + len(parts) <= room:
                work.extend((part, depth + 1) for part in parts)
                continue
            simpler = rotate(tight) or simplify(tight)
            if simpler is not None:
                work.append((simpler, depth + 1))
                continue
        done += 1
        yield tight


def _has_structure(p: Piece) -> bool:
    return bool(p.guards) or any(not isinstance(a, str) for a in p.index.atoms())
