"""From accesses as read to accesses of the program model."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from ...model.dtypes import ITEMSIZE
from ...model.kernel import Access, Lock, Narrow, Var
from ...model.location import Loc
from ...model.record import replace
from ...symbolic import FALSE, ONE, TRUE, Cond, const, opaque, render_cond, sym
from .memory import element_index
from .rewrite import (
    Draft,
    combine,
    fold_data,
    known_parts,
    simplify,
    source_name,
    split_round_robin,
    tighten,
)
from .state import RawAccess, State, VarInfo
from .values import axis, is_axis

#: Among the names of a draft, the element of the lock: what becomes of the variables holds for it as well.
_LOCK = "the lock"


def build(state: State, raw: RawAccess, loc: Loc) -> Access:
    """The access of the program model for one access as read."""
    draft, part = _draft(state, raw)
    _collect(state, raw, draft, part)
    draft = tighten(simplify(fold_data(combine(split_round_robin(draft)))))
    draft = _rename(state, draft)
    taken = tuple(dict.fromkeys(_taken(draft, n) for n in draft.taken))
    own = draft.index_symbols | draft.guard.symbols
    doubts = [opaque(f"{n} is computed") for n, v in draft.vars.items() if v.computed and n in own]
    draft.guard = Cond.join("and", [draft.guard, *doubts])
    unknown = _unknown_names(state, draft)
    reason: str | None = None
    if unknown:
        reason = state.kernel.unknown[unknown[0]]
    elif draft.index is None:
        reason = "the pointer is reinterpreted and its element size is not known"
    at = draft.names.pop(_LOCK, None)
    lock = Lock(raw.lock.param, at) if raw.lock is not None and at is not None else None
    names = tuple((k, e) for k, e in draft.names.items() if e != sym(k))
    return Access(
        raw.ptr.param, raw.kind, None if unknown else draft.index,
        tuple(Var(n, v.extent, v.kind, v.lo, v.hi, computed=v.computed) for n, v in draft.vars.items()), draft.guard, loc,
        raw.text, reason, names,
        None if draft.deps is None else frozenset(draft.deps & draft.vars.keys()), draft.used,
        taken=taken, barriers=raw.barriers, lock=lock,
    )  # fmt: skip


def _taken(draft: Draft, n: Narrow) -> Narrow:
    """With the variables in it, and what holds where it is computed."""
    spare = sorted(s for s in n.value.symbols | n.path.symbols if s in draft.spare and s not in draft.vars)
    vars_ = (
        Var(s, draft.spare[s].extent, draft.spare[s].kind, draft.spare[s].lo, draft.spare[s].hi)
        for s in spare
    )
    return replace(n, vars=tuple(vars_))


def _plain(guard: Cond, data: set[str]) -> Cond:
    """Those conditions of a guard that compare a loaded value itself with something the launch fixes."""
    kept = [
        c for c in guard.conjuncts()
        if c.kind == "ge" and c.expr is not None and len(c.expr.symbols & data) == 1
        and all(c.expr.terms.get((s,)) in (1, -1) for s in c.expr.symbols & data)
        and all(isinstance(a, str) and not is_axis(a) for a in c.expr.atoms())
    ]  # fmt: skip
    return Cond.join("and", kept)


def _draft(state: State, raw: RawAccess) -> tuple[Draft, tuple[str, int] | None]:
    itemsize = next(
        (ITEMSIZE.get(p.dtype or "") for p in state.kernel.params if p.name == raw.ptr.param), None
    )
    index, part = element_index(raw.ptr, itemsize)
    used = state.used.get(raw.load_id, FALSE) if raw.load_id is not None else TRUE
    guard = Cond.join("and", [*raw.path, raw.mask, *(state.vars[n].guard for n in raw.loops)])
    names = dict(raw.names) if raw.lock is None else {**dict(raw.names), _LOCK: raw.lock.offset}
    draft = Draft(index, guard, used, names, raw.deps)
    data = {n for n, v in state.vars.items() if v.kind == "data"}
    draft.guard = _with_facts(draft, raw.facts, data)
    own_guard, apart = draft.guard, _plain(draft.guard, data)
    doubtful = {n.value for n in raw.doubtful}
    draft.taken = (
        *(replace(n, path=own_guard) for n in raw.narrow if n.value not in doubtful),
        *(replace(n, path=apart) for n in raw.doubtful),
    )
    for n in draft.taken:
        draft.spare.update((s, state.vars[s]) for s in n.value.symbols | n.path.symbols if s in state.vars)
    draft.guard = _opaque_data(draft.guard, _kept_symbols(draft, data))
    own = draft.guard.symbols | draft.index_symbols
    draft.used = _opaque_data(known_parts(draft.used, own, data - own), (draft.used.symbols - data) | own)
    return draft, part


def _with_facts(draft: Draft, facts: Iterable[Cond], data: set[str]) -> Cond:
    """The guard together with the device assertions about the data in it."""
    guard = draft.guard
    wanted = (draft.index_symbols | guard.symbols) & data
    for fact in facts:
        if not fact.symbols & wanted:
            continue
        known = set(guard.conjuncts())
        if fact.kind == "or":  # (asserted) | ~(mask): the mask holds here
            fact = Cond.join("or", [a for a in fact.args if not set((~a).conjuncts()) <= known])
        guard = guard & fact
        wanted |= fact.symbols & data
    return guard


def _kept_symbols(draft: Draft, data: set[str]) -> frozenset[str]:
    """Symbols that stay in the guard: all but data that nothing relates to the index."""
    wanted = set(draft.index_symbols & data)
    for _ in range(4):
        for c in draft.guard.conjuncts():
            if c.symbols & wanted:
                wanted |= c.symbols & data
    return frozenset(wanted) | (draft.guard.symbols - data) | draft.index_symbols


def _opaque_data(cond: Cond, keep: frozenset[str]) -> Cond:
    """Conditions over symbols outside ``keep`` become opaque: they hold or not, nothing follows."""
    if cond.kind in ("and", "or"):
        return Cond.join(cond.kind, [_opaque_data(a, keep) for a in cond.args])
    return cond if cond.symbols <= keep else opaque(render_cond(cond))


def _collect(state: State, raw: RawAccess, draft: Draft, part: tuple[str, int] | None) -> None:
    """The variables of an access: programs, enclosing loops, lanes of its block, data it uses."""
    symbols = draft.index_symbols | draft.guard.symbols | draft.used.symbols
    programs = [s for e in state.programs.values() for s in e.symbols]
    for n in [*programs, *raw.loops, *sorted(symbols)]:
        if n in state.vars:
            draft.vars[n] = state.vars[n]
    if state.grid is not None:  # programs that all do the same still run
        for k, size in enumerate(state.grid):
            if k not in state.programs and size != ONE:
                draft.vars[f"pid{k}"] = VarInfo("grid", state.programs_along(k), f"pid{k}")
    for i, extent in enumerate(reversed(raw.shape)):
        if extent != ONE:
            draft.vars[axis(i)] = VarInfo("lane", extent, f"lane{len(raw.shape) - 1 - i}")
    for n in sorted(symbols):
        if is_axis(n) and n not in draft.vars:
            draft.vars[n] = VarInfo("lane", None, f"lane{n[1:]}")
    if part is not None:
        draft.vars[part[0]] = VarInfo("lane", const(part[1]), part[0])


def _rename(state: State, draft: Draft) -> Draft:
    """Symbols by their final names: those of the source where it has one."""
    taken = {p.name for p in state.kernel.params}
    final: dict[str, str] = {}
    for n, v in draft.vars.items():
        label = n if v.kind == "data" else v.label
        known = source_name(draft, n)
        if known is not None and (v.kind == "lane" or known.endswith("index")):
            label = known
        while label in taken:
            label += "_"
        taken.add(label)
        final[n] = label
    out = draft.substitute({a: sym(b) for a, b in final.items()})
    out.vars = {final[n]: v for n, v in draft.vars.items()}
    out.deps = None if draft.deps is None else frozenset(final.get(d, d) for d in draft.deps)
    seen = taken | {f"grid.{k}" for k in range(3)}
    out.names = {k: e for k, e in out.names.items() if e.symbols <= seen}
    out.spare = {final.get(n, n): v for n, v in draft.spare.items() if final.get(n, n) not in out.vars}
    return out


def _unknown_names(state: State, draft: Draft) -> list[str]:
    """Compile-time arguments in the access that the text gives no value for."""
    extents = [v.extent.symbols for v in draft.vars.values() if v.extent is not None]
    symbols = frozenset().union(draft.index_symbols, draft.guard.symbols, *extents)
    return [n for n in state.kernel.unknown if n in symbols]


def location(state: State, node: ast.AST, path: str) -> Loc:
    """The place of a node in the wrapper file."""
    python = state.kernel.python
    line = getattr(node, "lineno", 1)
    end = getattr(node, "end_lineno", None) or line
    return Loc(
        path, python.line + line - 1, _column(state, line, getattr(node, "col_offset", 0)),
        python.line + end - 1, _column(state, end, getattr(node, "end_col_offset", None) or 0),
    )  # fmt: skip


def _column(state: State, line: int, offset: int) -> int:
    lines = state.kernel.lines
    text = lines[line - 1].encode()[:offset].decode() if line <= len(lines) else ""
    return len(text) + state.kernel.python.indent + 1
