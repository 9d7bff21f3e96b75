"""What is known about size symbols, and proofs of inequalities from it.

:class:`Ranges` answers ``e >= 0`` for every admitted size with True, False (it fails for every size) or
None (not decided).  Proofs are by interval arithmetic and, failing that, from facts (:mod:`~.inequalities`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from . import Atom, Cond, Expr, Op, as_expr, evaluate, evaluate_cond
from .inequalities import inequalities, prove

T = TypeVar("T")

Interval = tuple[int | None, int | None]

#: Proofs within proofs.
NESTED = 2


class Ranges:
    """Ranges of symbols. A symbol that is not listed is any integer."""

    def __init__(self, bounds: Mapping[str, Interval] | None = None, facts: Iterable[Cond] = ()) -> None:
        self.bounds: dict[str, Interval] = dict(bounds or {})
        #: Every fact as given: a size is admitted when all of them hold.
        self.checks: tuple[Cond, ...] = tuple(p for c in facts for p in c.conjuncts())
        #: The facts that proofs use beyond the bounds, as expressions that are not negative.
        self.facts: tuple[Expr, ...] = tuple(
            e for e in dict.fromkeys(e for c in self.checks for e in inequalities(c)) if not self._bound(e)
        )
        #: Results that hold for these ranges, kept by those who compute them.
        self.memo: dict[Hashable, Any] = {}
        self._cache: dict[Expr, bool | None] = {}
        self._interval_cache: dict[Expr, Interval] = {}
        self._remembered: dict[tuple[Callable[..., Any], tuple[Hashable, ...]], Any] = {}
        self._depth = 0

    def remember(self, compute: Callable[..., T], *args: Hashable) -> T:
        """``compute(*args, self)``, worked out once for these ranges. ``compute`` must depend on nothing else."""
        key = (compute, args)
        if key not in self._remembered:
            self._remembered[key] = compute(*args, self)
        found: T = self._remembered[key]
        return found

    def _bound(self, e: Expr) -> bool:
        """Put ``e >= 0`` into the bounds, if it is about one symbol alone."""
        terms = [(m, c) for m, c in e.terms.items() if m]
        if len(terms) != 1 or len(terms[0][0]) != 1 or not isinstance(terms[0][0][0], str):
            return False
        name, c = terms[0][0][0], terms[0][1]
        lo, hi = self.bounds.get(name, (None, None))
        if c > 0:
            least = -(e.constant // c)
            self.bounds[name] = (least if lo is None else max(lo, least), hi)
        else:
            most = e.constant // -c
            self.bounds[name] = (lo, most if hi is None else min(hi, most))
        return True

    def with_bounds(self, extra: Mapping[str, Interval], facts: Iterable[Cond] = ()) -> Ranges:
        return Ranges({**self.bounds, **extra}, (*self.checks, *facts))

    def assuming(self, terms: Iterable[Expr]) -> Ranges:
        """These ranges where all of ``terms`` are not negative as well.

        Single symbols get tighter bounds from it: ``s*t >= 1`` with neither negative gives ``s >= 1`` and
        ``t >= 1``; ``s // 4 >= 2`` gives ``s >= 8``.
        """
        new = [e for e in dict.fromkeys(terms) if self.nonneg(e) is not True]
        if not new:
            return self
        return self.remember(_assuming, tuple(new))

    def narrowed(self, terms: Iterable[Expr]) -> Ranges:
        """As :meth:`assuming`, for terms that do not follow already."""
        lows: dict[str, int] = {}
        facts = [Cond.of("ge", e) for e in terms if not self._implied_lows(e, lows)]
        bounds = {}
        for name, low in lows.items():
            lo, hi = self.bounds.get(name, (None, None))
            bounds[name] = (low if lo is None else max(lo, low), hi)
        return self.with_bounds(bounds, facts)

    def _implied_lows(self, e: Expr, lows: dict[str, int]) -> bool:
        """Lower bounds of symbols that ``e >= 0`` implies; whether they say all that it does."""
        terms = [(m, c) for m, c in e.terms.items() if m]
        if len(terms) != 1 or terms[0][1] < 0:
            return False
        mono, c = terms[0]
        need = -(e.constant // c)  # mono >= need
        if len(mono) > 1:
            lowest = [self.atom_interval(a)[0] for a in mono]
            if need < 1 or any(lo is None or lo < 0 for lo in lowest):
                return False
            for a in mono:
                self._implied_lows(Expr({(a,): 1, (): -1}), lows)
            return need == 1 and all(isinstance(a, str) for a in mono)
        atom = mono[0]
        if isinstance(atom, str):
            lows[atom] = max(need, lows.get(atom, need))
            return True
        if atom.kind == "floordiv" and (d := atom.args[1].value) is not None and d > 0:
            return self._implied_lows(atom.args[0] - need * d, lows)
        return False

    @property
    def impossible(self) -> bool:
        """Whether a symbol has no value left."""
        return any(lo is not None and hi is not None and lo > hi for lo, hi in self.bounds.values())

    # -- intervals
    def interval(self, e: Expr) -> Interval:
        """Bounds of ``e`` by interval arithmetic; None where unbounded or not known."""
        v = e.value
        if v is not None:
            return v, v
        hit = self._interval_cache.get(e)
        if hit is not None:
            return hit
        lo: int | None = 0
        hi: int | None = 0
        for mono, c in e.terms.items():
            a, b = 1, 1
            tl: int | None = a
            th: int | None = b
            for atom in mono:
                tl, th = _mul((tl, th), self.atom_interval(atom))
            if len(mono) == 2 and mono[0] == mono[1]:
                tl = max(tl, 0) if tl is not None else 0
            tl, th = _mul((tl, th), (c, c))
            lo = None if lo is None or tl is None else lo + tl
            hi = None if hi is None or th is None else hi + th
        self._interval_cache[e] = (lo, hi)
        return lo, hi

    def atom_interval(self, atom: Atom) -> Interval:
        if isinstance(atom, str):
            return self.bounds.get(atom, (None, None))
        return self._op_interval(atom)

    def _op_interval(self, op: Op) -> Interval:
        if op.kind == "where":
            (al, ah), (bl, bh) = self.interval(op.args[0]), self.interval(op.args[1])
            return (
                None if al is None or bl is None else min(al, bl),
                None if ah is None or bh is None else max(ah, bh),
            )
        if op.kind in ("min", "max"):
            ivs = [self.interval(a) for a in op.args]
            los, his = [i[0] for i in ivs], [i[1] for i in ivs]
            if op.kind == "min":
                lo = None if None in los else min(x for x in los if x is not None)
                known = [x for x in his if x is not None]
                return lo, min(known) if known else None
            hi = None if None in his else max(x for x in his if x is not None)
            known = [x for x in los if x is not None]
            return (max(known) if known else None), hi
        a, b = op.args
        (al, ah), (bl, bh) = self.interval(a), self.interval(b)
        if bl is None or bl <= 0:
            return None, None
        if op.kind in ("floordiv", "tdiv"):
            lo = None if al is None else (al // bl if al < 0 else (0 if bh is None else al // bh))
            hi = None if ah is None else (ah // bl if ah >= 0 else (-1 if bh is None else ah // bh))
            if op.kind == "tdiv":
                if al is None:
                    lo = None
                elif al < 0:
                    lo = -((-al) // bl)
                if ah is not None and ah < 0:
                    hi = 0
            return lo, hi
        # remainder
        top = None if bh is None else bh - 1
        if op.kind == "mod" or (al is not None and al >= 0):
            if al is not None and al >= 0 and ah is not None:
                if ah < bl:
                    return al, ah
                top = ah if top is None else min(top, ah)
            return 0, top
        return (None if top is None else -top), (top if ah is None or ah > 0 else 0)

    # -- proofs
    def nonneg(self, e: Expr | int) -> bool | None:
        """Whether ``e >= 0`` for every admitted value: True, False (never holds), None (not decided)."""
        e = as_expr(e)
        v = e.value
        if v is not None:
            return v >= 0
        if e in self._cache:
            return self._cache[e]
        lo, hi = self.interval(e)
        result: bool | None = None
        if lo is not None and lo >= 0:
            result = True
        elif hi is not None and hi < 0:
            result = False
        elif self._depth == NESTED:
            return None  # a proof about a part of a part: only what is plain to see
        else:
            self._cache[e] = None  # proofs about the parts of e may come back to it
            self._depth += 1
            seen = self._signs(e)
            if False not in seen and prove(e, self):
                result = True
            elif True not in seen and prove(-e - 1, self):
                result = False
            self._depth -= 1
        self._cache[e] = result
        return result

    def _signs(self, e: Expr) -> set[bool]:
        """The truth of ``e >= 0`` at some admitted sizes: what it is there it can't be proved not to be."""
        if not e.symbols <= self.bounds.keys():
            return set()
        out = set()
        for env in self.remember(_points, e.symbols):
            try:
                out.add(evaluate(e, env) >= 0)
            except (ValueError, ZeroDivisionError):
                continue
        return out

    def positive(self, e: Expr | int) -> bool | None:
        e = as_expr(e)
        v = e.value
        return v > 0 if v is not None else self.nonneg(e - 1)

    def equal(self, a: Expr | int, b: Expr | int) -> bool | None:
        """True when equal for every size, False when different for every size, else None."""
        d = as_expr(a) - as_expr(b)
        v = d.value
        if v is not None:
            return v == 0
        if self.nonneg(d - 1) is True or self.nonneg(-d - 1) is True:
            return False
        return None

    def truth(self, c: Cond) -> bool | None:
        """Whether a condition holds for every admitted value (True), for none (False), or neither is known."""
        if c.kind == "const":
            return c.truth
        if c.kind == "opaque":
            return None
        if c.expr is not None:
            if c.kind == "ge":
                return self.nonneg(c.expr)
            eq = self.equal(c.expr, 0)
            return eq if c.kind == "eq" or eq is None else not eq
        parts = [self.truth(a) for a in c.args]
        if c.kind == "and":
            return False if False in parts else (None if None in parts else True)
        return True if True in parts else (None if None in parts else False)

    def admits(self, env: Mapping[str, int]) -> bool:
        """Whether sizes are within the ranges and pass every check that they decide."""
        for name, v in env.items():
            lo, hi = self.bounds.get(name, (None, None))
            if (lo is not None and v < lo) or (hi is not None and v > hi):
                return False
        try:
            return all(
                evaluate_cond(c, env) for c in self.checks if c.symbols <= env.keys() and not c.has_opaque()
            )
        except ZeroDivisionError:
            return False

    def related(self, names: frozenset[str]) -> frozenset[str]:
        """``names`` and all symbols that checks tie to them."""
        grown = set(names)
        while True:
            more = {n for c in self.checks if c.symbols & grown for n in c.symbols} - grown
            if not more:
                return frozenset(grown)
            grown |= more

    def _repaired(self, env: dict[str, int]) -> dict[str, int]:
        """``env`` changed, where that is easy, so that equations between sizes hold."""
        for c in self.checks:
            if c.kind == "eq" and c.expr is not None and c.symbols <= env.keys():
                try:
                    if evaluate(c.expr, env) != 0:
                        env = _solved(c.expr, env) or env
                except ZeroDivisionError:
                    continue
        return env

    def samples(self, names: Iterable[str], limit: int = 64) -> list[dict[str, int]]:
        """Admitted sizes worth trying: lower bounds, a little above, middles, upper bounds."""
        names = sorted(names)
        picks: list[list[int]] = []
        for n in names:
            lo, hi = self.bounds.get(n, (0, None))
            lo = 0 if lo is None else lo
            cand = [lo, lo + 1, lo + 3, 7, 16, 33, 64, 129]
            if hi is not None:
                cand += [hi, hi - 1, (lo + hi) // 2]
            else:
                cand += [1024]
            picks.append(list(dict.fromkeys(c for c in cand if c >= lo and (hi is None or c <= hi))))
        if not all(picks):
            return []
        seen: dict[tuple[int, ...], dict[str, int]] = {}
        for values in _combinations(picks):
            env = self._repaired(dict(zip(names, values, strict=True)))
            key = tuple(env.values())
            if key not in seen and self.admits(env):
                seen[key] = env
                if len(seen) == limit:
                    break
        return list(seen.values())


def _combinations(picks: list[list[int]]) -> Iterator[tuple[int, ...]]:
    """Some choices of one value from each list: all at the same place first, then each list on its own."""
    for k in range(max((len(p) for p in picks), default=0)):
        yield tuple(p[min(k, len(p) - 1)] for p in picks)
    for i, p in enumerate(picks):
        for v in p:
            yield tuple(v if j == i else other[0] for j, other in enumerate(picks))


def _solved(e: Expr, env: Mapping[str, int]) -> dict[str, int] | None:
    """``env`` with one symbol changed so that ``e == 0``."""
    for mono, c in e.terms.items():
        if len(mono) != 1:
            continue
        a = mono[0]
        if isinstance(a, str):
            rest = e - Expr({mono: c})
            if abs(c) == 1 and a not in rest.symbols:
                return {**env, a: -c * evaluate(rest, env)}
        elif a.kind == "mod" and len(e.terms) == 1:
            step = evaluate(e, env) * c
            for m, k in a.args[0].terms.items():
                if len(m) == 1 and isinstance(m[0], str) and abs(k) == 1:
                    return {**env, m[0]: env[m[0]] - k * step}
    return None


def _mul(a: Interval, b: Interval) -> Interval:
    if a == (0, 0) or b == (0, 0):
        return 0, 0
    (al, ah), (bl, bh) = a, b
    if al is not None and al >= 0 and bl is not None and bl >= 0:
        return al * bl, (None if ah is None or bh is None else ah * bh)
    if bl is not None and bl == bh:
        if bl >= 0:
            return (None if al is None else al * bl), (None if ah is None else ah * bl)
        return (None if ah is None else ah * bl), (None if al is None else al * bl)
    if None in (al, ah, bl, bh):
        return None, None
    assert al is not None and ah is not None and bl is not None and bh is not None
    c = (al * bl, al * bh, ah * bl, ah * bh)
    return min(c), max(c)


def _assuming(terms: tuple[Expr, ...], ranges: Ranges) -> Ranges:
    return ranges.narrowed(terms)


def _points(names: frozenset[str], ranges: Ranges) -> list[dict[str, int]]:
    return ranges.samples(ranges.related(names), 8)
