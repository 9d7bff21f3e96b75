"""Rewriting an access until it is as simple as its guard allows.

``xindex = pid * XBLOCK + lane`` uses a program number and a lane only together; both are replaced by the one
variable ``xindex`` that runs over ``XBLOCK * programs``.  An index that was loaded and wrapped
(``t < 0 ? t + n : t``) becomes one data variable with the range that was asserted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from ...model.kernel import Narrow
from ...model.record import field, record, replace
from ...symbolic import FALSE, TRUE, Atom, Cond, Expr, ceildiv, const, floordiv, make, mod, sym, where
from ...symbolic import Op as Operation
from ...symbolic.assumptions import Interval, Ranges
from .state import VarInfo, variable_interval


@record
class Draft:
    """An access being rewritten: its expressions and the symbols they range over."""

    index: Expr | None
    guard: Cond
    used: Cond
    names: dict[str, Expr]
    deps: frozenset[str] | None
    vars: dict[str, VarInfo] = field(default_factory=dict)
    #: What is taken not to wrap; variables of it that are no longer those of the access stay in ``spare``.
    taken: tuple[Narrow, ...] = ()
    spare: dict[str, VarInfo] = field(default_factory=dict)

    def substitute(self, env: Mapping[str, Expr]) -> Draft:
        return replace(
            self,
            index=self.index.substitute(env) if self.index is not None else None,
            guard=self.guard.substitute(env),
            used=self.used.substitute(env),
            names={k: e.substitute(env) for k, e in self.names.items()},
            taken=tuple(
                replace(n, value=n.value.substitute(env), path=n.path.substitute(env)) for n in self.taken
            ),
        )

    @property
    def index_symbols(self) -> frozenset[str]:
        return self.index.symbols if self.index is not None else frozenset()

    def mentions(self, name: str) -> bool:
        return name in self.index_symbols or name in self.guard.symbols or name in self.used.symbols

    def bounds(self) -> dict[str, Interval]:
        out: dict[str, Interval] = {n: variable_interval(v) for n, v in self.vars.items()}
        return out | {f"grid.{k}": (1, None) for k in range(3)}


# -- one variable for a program number and a lane -------------------------------------------------


def split_round_robin(draft: Draft) -> Draft:
    """Under ``pid % n == k`` the program number is ``n*q + k``."""
    for c in draft.guard.conjuncts():
        for name, v in draft.vars.items():
            found = _remainder_of(c, name) if v.kind == "grid" else None
            if found is None or v.extent is None:
                continue
            n, rest = found
            out = draft.substitute({name: sym(name) * n + rest})
            info = replace(v, extent=ceildiv(v.extent - rest, n), label=f"{v.label}_{n}")
            out.vars = {**draft.vars, name: info}
            return out
    return draft


def _remainder_of(c: Cond, name: str) -> tuple[int, int] | None:
    """(n, k) when ``c`` says ``name % n == k``."""
    if c.kind != "eq" or c.expr is None or len(c.expr.terms) > 2:
        return None
    for atom in c.expr.atoms():
        if isinstance(atom, Operation) and atom.kind in ("mod", "tmod") and atom.args[0] == sym(name):
            n, rest = atom.args[1].value, (Expr({(atom,): 1}) - c.expr).value
            if n is not None and rest is not None and 0 <= rest < n:
                return n, rest
    return None


def combine(draft: Draft) -> Draft:
    """Merge pairs of variables that are used only as ``u + extent(u) * v``."""
    again = True
    while again:
        again = False
        for u, v in _pairs(draft.vars):
            merged = _merged(draft, u, v)
            if merged is not None:
                draft, again = merged, True
                break
    return draft


def _pairs(variables: Mapping[str, VarInfo]) -> list[tuple[str, str]]:
    """(fast, slow) variables that can be parts of one index: a lane within a round within a program."""
    rank = {"lane": 0, "loop": 1, "grid": 2}
    names = [n for n, v in variables.items() if v.kind in rank]
    return [
        (u, v) for u in names for v in names if u != v and rank[variables[u].kind] <= rank[variables[v].kind]
    ]


def _merged(draft: Draft, u: str, v: str) -> Draft | None:
    uv, vv = draft.vars[u], draft.vars[v]
    if uv.extent is None or vv.extent is None:
        return None
    if not draft.mentions(u) or not draft.mentions(v):
        return None
    if not _may_merge(draft.index, u, uv.extent.value, v):
        return None
    whole = f"{u}+{v}"
    out = draft.substitute({u: sym(whole) - uv.extent * sym(v)})
    out.guard = _said_of_whole(out.guard, v, whole, uv.extent)
    offset = sym(v) * uv.extent  # ``xoffset``, not needed once there is ``xindex``
    out.names = {k: e for k, e in out.names.items() if e != offset}
    if out.mentions(v) or not out.mentions(whole) or any(v in e.symbols for e in out.names.values()):
        return None
    out.vars = {n: x for n, x in draft.vars.items() if n not in (u, v)}
    out.spare = {**draft.spare, v: vv}
    out.vars[whole] = VarInfo(
        vv.kind, uv.extent * vv.extent, source_name(out, whole) or f"{uv.label}_{vv.label}"
    )
    if out.deps is not None and out.deps & {u, v}:
        out.deps = (out.deps - {u, v}) | {whole}
    return out


def _may_merge(index: Expr | None, u: str, extent: int | None, v: str) -> bool:
    """False where the linear part of the index already shows that ``u`` and ``v`` do not belong together."""
    if (
        index is None
        or extent is None
        or any(u in a.symbols for a in index.atoms() if isinstance(a, Operation))
    ):
        return True
    return index.terms.get((v,), 0) == extent * index.terms.get((u,), 0)


def source_name(draft: Draft, symbol: str) -> str | None:
    """The source's own name for a variable, index names first."""
    found = [k for k, e in draft.names.items() if e == sym(symbol)]
    return next((k for k in found if k.endswith("index")), found[0] if found else None)


def _said_of_whole(guard: Cond, v: str, whole: str, size: Expr) -> Cond:
    """Conditions on ``v`` alone, said of ``whole = u + size*v`` with 0 <= u < size."""
    parts = []
    for c in guard.conjuncts():
        coefficient = c.expr.terms.get((v,)) if c.kind == "ge" and c.expr is not None else None
        if c.expr is not None and coefficient in (1, -1) and whole not in c.symbols:
            rest = c.expr - sym(v) * coefficient
            if v not in rest.symbols:
                # v + r >= 0 is whole + size*r >= 0;  r - v >= 0 is size*(r + 1) - 1 - whole >= 0
                e = sym(whole) + size * rest if coefficient == 1 else size * (rest + 1) - 1 - sym(whole)
                c = Cond.of("ge", e)
        parts.append(c)
    return Cond.join("and", parts)


# -- simplification -----------------------------------------------------------------------------


def simplify(draft: Draft) -> Draft:
    """Drop conditions that follow from the rest, and simplify operations under the guard."""
    bounds = draft.bounds()
    guard = _reduced(draft.guard, bounds)
    for n in draft.vars:
        lo, hi = _stated_range(guard, sym(n))
        low, high = _pick(max, lo, bounds[n][0]), _pick(min, hi, bounds[n][1])
        if low is not None and high is not None and low > high:
            return replace(draft, guard=FALSE)
        bounds[n] = low, high
    ranges = Ranges(bounds, guard.conjuncts())
    return replace(
        draft,
        guard=guard,
        index=resolve(draft.index, ranges) if draft.index is not None else None,
        used=Cond.join("and", _tightest(resolve_cond(draft.used, ranges).conjuncts())),
    )


def _reduced(guard: Cond, bounds: Mapping[str, Interval]) -> Cond:
    """``guard`` with each condition simplified under the others."""
    if guard.kind == "const":
        return guard
    parts = _tightest(guard.conjuncts())
    plain = Ranges(bounds)
    for i, c in enumerate(list(parts)):
        if c.expr is not None and all(isinstance(a, str) for a in c.expr.atoms()):
            lo, hi = plain.interval(c.expr)
            if c.kind == "ge" and ((lo is not None and lo >= 0) or (hi is not None and hi < 0)):
                parts[i] = TRUE if lo is not None and lo >= 0 else FALSE
            continue
        others = [x for j, p in enumerate(parts) if j != i for x in p.conjuncts()]
        parts[i] = resolve_cond(c, Ranges(bounds, others))
    return Cond.join("and", parts)


def _tightest(parts: Iterable[Cond]) -> list[Cond]:
    """Of inequalities that differ in their constant alone, the strongest."""
    out: dict[object, Cond] = {}
    for c in parts:
        if c.kind != "ge" or c.expr is None:
            out[c] = c
            continue
        key = ("ge", c.expr - c.expr.constant)
        old = out.get(key)
        if old is None or old.expr is None or c.expr.constant < old.expr.constant:
            out[key] = c
    return list(out.values())


def resolve_cond(c: Cond, ranges: Ranges) -> Cond:
    """``c`` with every part that the ranges decide replaced by its truth."""
    if c.kind in ("and", "or"):
        return Cond.join(c.kind, [resolve_cond(a, ranges) for a in c.args])
    if c.expr is None:
        return c
    truth = ranges.truth(c)
    if truth is not None:
        return TRUE if truth else FALSE
    return Cond.of(c.kind, resolve(c.expr, ranges))


def resolve(e: Expr, ranges: Ranges) -> Expr:
    """``e`` with every operation that the ranges decide replaced by its outcome."""
    atoms = [a for a in e.atoms() if not isinstance(a, str)]
    return e.replace({a: _resolved(a, ranges) for a in atoms}) if atoms else e


def _resolved(op: Operation, ranges: Ranges) -> Expr:
    args = tuple(resolve(a, ranges) for a in op.args)
    if op.kind == "where":
        assert op.cond is not None
        cond = resolve_cond(op.cond, ranges)
        return where(cond, *args)
    if op.kind in ("min", "max"):
        return _extreme(op.kind, args, ranges)
    a, b = args
    if ranges.nonneg(a) is True and ranges.nonneg(b - 1) is True:
        high, size = ranges.interval(a)[1], b.value
        small = high < size if high is not None and size is not None else ranges.nonneg(b - 1 - a) is True
        if op.kind in ("floordiv", "tdiv"):
            return const(0) if small else floordiv(a, b)
        return a if small else mod(a, b)
    return make(op.kind, args)


def _extreme(kind: str, args: tuple[Expr, ...], ranges: Ranges) -> Expr:
    kept = list(args)
    for a in args:
        others = [b for b in kept if b is not a]
        if others and any(ranges.nonneg(a - b if kind == "min" else b - a) is True for b in others):
            kept.remove(a)
    return make(kind, tuple(kept))


# -- loaded indices -----------------------------------------------------------------------------


def fold_data(draft: Draft) -> Draft:
    """Replace a wrapped loaded index by one data variable.

    Only where the variable can take every value of that range: the operation must give back each value of
    the range when it is what was loaded.
    """
    for atom in _data_operations(draft):
        lo, hi = _stated_range(draft.guard, Expr({(atom,): 1}))
        (t,) = atom.symbols
        inside = Ranges({t: (lo, hi)})
        if lo is None or hi is None or resolve(Expr({(atom,): 1}), inside) != sym(t):
            continue
        name = next((k for k, e in draft.names.items() if e == Expr({(atom,): 1})), f"{t}_wrapped")
        if name in draft.vars:
            continue
        env: dict[Atom, Expr] = {atom: sym(name)}
        out = replace(
            draft,
            index=draft.index.replace(env) if draft.index is not None else None,
            guard=draft.guard.replace(env),
            used=draft.used.replace(env),
            names={
                k: e.replace(env) for k, e in draft.names.items() if e.symbols != {t} or e.replace(env) != e
            },
        )
        if t in out.index_symbols | out.guard.symbols | out.used.symbols:
            continue
        info = replace(draft.vars[t], label=name)
        out.vars = {n: v for n, v in draft.vars.items() if n != t} | {name: info}
        draft = out
    return draft


def _data_operations(draft: Draft) -> list[Operation]:
    """Operations in the index on a single loaded value."""
    if draft.index is None:
        return []
    data = {n for n, v in draft.vars.items() if v.kind == "data"}
    found = [a for a in draft.index.atoms() if isinstance(a, Operation)]
    return [a for a in found if len(a.symbols) == 1 and a.symbols <= data]


def _stated_range(guard: Cond, e: Expr) -> Interval:
    """The range a guard states of exactly ``e``."""
    lo: int | None = None
    hi: int | None = None
    for c in guard.conjuncts():
        if c.kind != "ge" or c.expr is None:
            continue
        low, high = (e - c.expr).value, (e + c.expr).value
        if low is not None:
            lo = low if lo is None else max(lo, low)
        if high is not None:
            hi = high if hi is None else min(hi, high)
    return lo, hi


def tighten(draft: Draft) -> Draft:
    """Data variables with the range that the guard states of them."""
    out: dict[str, VarInfo] = {}
    for n, v in draft.vars.items():
        if v.kind == "data":
            lo, hi = _stated_range(draft.guard, sym(n))
            v = replace(v, lo=_pick(max, lo, v.lo), hi=_pick(min, hi, v.hi))
        out[n] = v
    return replace(draft, vars=out)


def _pick(best: Callable[[int, int], int], a: int | None, b: int | None) -> int | None:
    return a if b is None else b if a is None else best(a, b)


def known_parts(cond: Cond, keep: Iterable[str], data: Iterable[str]) -> Cond:
    """``cond`` for one access among those it talks about: parts on other iterations can be met by one of them."""
    keep, data = set(keep), set(data)
    if cond.kind in ("and", "or"):
        return Cond.join(cond.kind, [known_parts(a, keep, data) for a in cond.args])
    if cond.expr is None or cond.symbols <= keep or cond.symbols & data:
        return cond
    return TRUE
