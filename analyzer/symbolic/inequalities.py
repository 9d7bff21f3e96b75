"""Proofs that a polynomial is not negative, from facts about its atoms.

Every atom is replaced by its lower bound plus something that is not negative.  A polynomial in those whose
coefficients are all positive is not negative.  A negative term is cancelled by a multiple of a fact that
has the same term: ``e = m*f + rest`` with ``m >= 0`` and ``f >= 0`` leaves only ``rest`` to be shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import gcd
from typing import Protocol, TypeAlias

from . import Atom, Cond, Expr, Mono, Op, const

#: A monomial as the sorted numbers of its atoms, and a polynomial of them.
Powers: TypeAlias = "tuple[int, ...]"
Terms: TypeAlias = "dict[Powers, int]"

#: Cancellations in a row, and tried in all, before a proof is given up.
DEPTH, STEPS = 7, 400
#: Alternatives of ``min``, ``max`` and ``?:`` nested in one proof.
CASES = 3
#: Atoms whose facts are used.
ATOMS = 12


class Ranges(Protocol):
    """What a proof asks about atoms and simpler expressions."""

    @property
    def facts(self) -> Iterable[Expr]:
        """Expressions that are not negative."""

    def interval(self, e: Expr) -> tuple[int | None, int | None]: ...
    def atom_interval(self, atom: Atom) -> tuple[int | None, int | None]: ...
    def nonneg(self, e: Expr) -> bool | None: ...
    def positive(self, e: Expr) -> bool | None: ...


def prove(e: Expr, ranges: Ranges) -> bool:
    """Whether ``e >= 0`` follows from the bounds and facts of ``ranges``."""
    return _prove(e, ranges, (), CASES, [STEPS])


def _prove(e: Expr, ranges: Ranges, extra: tuple[Expr, ...], cases: int, steps: list[int]) -> bool:
    if _cancel(e, ranges, extra, steps):
        return True
    choice = next((a for a in sorted_ops(e) if a.kind in ("min", "max", "where")), None)
    if choice is None or cases == 0 or steps[0] <= 0:
        return False
    return all(
        _prove(e.replace({choice: value}), ranges, (*extra, *facts), cases - 1, steps)
        for value, facts in _alternatives(choice)
    )


def sorted_ops(e: Expr) -> list[Op]:
    return sorted((a for a in e.atoms() if isinstance(a, Op)), key=repr)


def _alternatives(op: Op) -> Iterator[tuple[Expr, tuple[Expr, ...]]]:
    """Every value an operation can have, with what is known when it has it."""
    if op.cond is not None:
        yield op.args[0], inequalities(op.cond)
        yield op.args[1], inequalities(~op.cond)
        return
    for x in op.args:
        yield x, tuple(y - x if op.kind == "min" else x - y for y in op.args if y is not x)


def inequalities(c: Cond) -> tuple[Expr, ...]:
    """Expressions that are not negative where ``c`` holds."""
    if c.kind == "and":
        return tuple(e for a in c.args for e in inequalities(a))
    if c.expr is None:
        return ()
    return {"ge": (c.expr,), "eq": (c.expr, -c.expr)}.get(c.kind, ())


def _cancel(e: Expr, ranges: Ranges, extra: tuple[Expr, ...], steps: list[int]) -> bool:
    facts, lows = _knowledge(e, ranges, extra)
    number = {a: i for i, a in enumerate(sorted(lows, key=repr))}
    start = _numbered(_shifted(e, lows), number)
    shifted = [_numbered(_shifted(f, lows), number) for f in facts]
    shifted = [f for f in shifted if any(c < 0 for c in f.values())]
    free = {number[a] for a, lo in lows.items() if lo is None}
    seen: set[frozenset[tuple[Powers, int]]] = set()

    def search(terms: Terms, depth: int) -> bool:
        bad = [m for m, c in terms.items() if c < 0 or (free and not free.isdisjoint(m))]
        if not bad:
            return True
        key = frozenset(terms.items())
        if depth == 0 or key in seen:
            return False
        seen.add(key)
        m = max(bad, key=lambda b: (len(b), b))
        left = []
        for f in shifted:
            for term, rest in _multiples(m, terms[m], f):
                steps[0] -= 1
                if not free or free.isdisjoint(rest):
                    left.append(_reduce(terms, m, f, term, rest))
        left.sort(key=lambda t: (sum(c < 0 for c in t.values()), len(t)))
        return any(steps[0] > 0 and search(t, depth - 1) for t in left)

    return search(start, DEPTH)


def _numbered(terms: Mapping[Mono, int], number: Mapping[Atom, int]) -> Terms:
    return {tuple(sorted(number[a] for a in m)): c for m, c in terms.items()}


def _multiples(m: Powers, c: int, fact: Terms) -> Iterator[tuple[Powers, Powers]]:
    """Terms of ``fact`` with the sign of ``c`` that divide ``m``, and what they must be multiplied by."""
    for term, k in fact.items():
        if (k < 0) == (c < 0) and (term or not m) and len(term) <= len(m):
            rest = list(m)
            for a in term:
                if a not in rest:
                    break
                rest.remove(a)
            else:
                yield term, tuple(rest)


def _reduce(terms: Terms, m: Powers, fact: Terms, term: Powers, rest: Powers) -> Terms:
    """``terms`` scaled, minus the multiple of ``fact`` that cancels its term ``m``.

    ``s*e >= 0`` follows from ``s*e + s - 1 >= 0`` as e is an integer, so scaling by s leaves s - 1 to spare.
    """
    c, k = abs(terms[m]), abs(fact[term])
    g = gcd(c, k)
    out = {n: v * (k // g) for n, v in terms.items()}
    if k > g:
        out[()] = out.get((), 0) + k // g - 1
    for n, v in fact.items():
        whole = tuple(sorted(n + rest)) if rest else n
        left = out.get(whole, 0) - v * (c // g)
        if left:
            out[whole] = left
        else:
            out.pop(whole, None)
    return out


def _shifted(e: Expr, lows: Mapping[Atom, int | None]) -> dict[Mono, int]:
    """``e`` as a polynomial in ``atom - lower bound``; the atoms keep their names."""
    moved = {a: Expr({(a,): 1, (): lo}) for a, lo in lows.items() if lo}
    if not moved or not any(a in moved for m in e.terms for a in m):
        return e.terms
    out = const(0)
    for mono, c in e.terms.items():
        term = const(c)
        for a in mono:
            term = term * (moved[a] if a in moved else Expr({(a,): 1}))
        out = out + term
    return out.terms


# -- what is known about the atoms


def _knowledge(e: Expr, ranges: Ranges, extra: Iterable[Expr]) -> tuple[list[Expr], dict[Atom, int | None]]:
    """Facts about the atoms of ``e`` and about those the facts mention, and their lower bounds."""
    given = [*extra, *ranges.facts]
    facts: dict[Expr, None] = {}
    lows: dict[Atom, int | None] = {}
    work = [e]
    while work and len(lows) < ATOMS:
        new = sorted((a for a in work.pop().atoms() if a not in lows), key=repr)
        for a in new:
            lo, hi = ranges.atom_interval(a)
            lows[a] = lo
            about = list(_facts_of(a, ranges)) if isinstance(a, Op) else []
            about += [f for b in lows if isinstance(a, Op) and isinstance(b, Op) for f in _pair(a, b, ranges)]
            about += [f for f in given if a in f.atoms()]
            if hi is not None:
                about.append(const(hi) - Expr({(a,): 1}))
            work += [f for f in about if f not in facts]
            facts.update(dict.fromkeys(about))
    for f in facts:
        for a in f.atoms():
            if a not in lows:
                lows[a] = ranges.atom_interval(a)[0]
    return list(facts), lows


def _facts_of(op: Op, ranges: Ranges) -> Iterator[Expr]:
    """Non-negative expressions that define an operation or bound it."""
    x = Expr({(op,): 1})
    if op.kind == "min":
        yield from (a - x for a in op.args)
    elif op.kind == "max":
        yield from (x - a for a in op.args)
    elif op.kind != "where":
        a, b = op.args
        if ranges.positive(b) is not True:
            return
        natural = ranges.nonneg(a) is True
        if op.kind in ("tdiv", "tmod") and not natural:
            return
        if op.kind in ("floordiv", "tdiv"):
            yield a - b * x
            yield b * x + b - 1 - a
        else:
            yield b - 1 - x
            if natural:
                yield a - x


def _pair(p: Op, q: Op, ranges: Ranges) -> Iterator[Expr]:
    """Bounds of the difference of two quotients by the same divisor; what quotient and remainder make up."""
    if {p.kind, q.kind} == {"floordiv", "mod"} and p.args == q.args:
        a, b = p.args
        quotient, rest = (p, q) if p.kind == "floordiv" else (q, p)
        whole = a - b * Expr({(quotient,): 1}) - Expr({(rest,): 1})
        yield whole
        yield -whole
    if p is q or p.kind != "floordiv" or q.kind != "floordiv" or p.args[1] != q.args[1]:
        return
    b = p.args[1]
    n = b.value
    x = Expr({(p,): 1}) - Expr({(q,): 1})
    d = p.args[0] - q.args[0]
    lo, hi = ranges.interval(d)
    if n is not None and n > 0:
        if lo is not None:
            yield x - lo // n
        if hi is not None:
            yield const(-(-hi // n)) - x
    elif ranges.positive(b) is True:
        if lo is not None and lo >= 0:
            yield x
        if hi is not None and hi <= 0:
            yield -x
