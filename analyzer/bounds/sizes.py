"""Verdicts that closed forms over size symbols leave open: sizes one by one, and integer sets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice, product

from ..model.record import record, replace
from ..symbolic import Cond, const, evaluate, sym
from ..symbolic.assumptions import Ranges
from .model import Decision, IndexRange
from .solve import Solved
from .witness import Question

#: Combinations of sizes that are tried one by one to prove an access.
ALL_SIZES = 100
#: Sizes at which a fault is looked for.
TRIES = 32
#: So many sizes without a verdict, and no other is tried.
GIVE_UP = 3
#: Unbounded sizes are tried up to here.
LARGEST = 1 << 40


@record(frozen=True)
class _Failure:
    sizes: dict[str, int]
    decision: Decision


def search(
    q: Question,
    undecided: list[Solved],
    found: IndexRange,
    names: frozenset[str],
    ranges: Ranges,
    decide: Callable[[Question], Decision],
) -> Decision:
    """A size at which the access is outside, or a proof for each of few sizes, or one by integer sets."""
    related = ranges.related(names)
    every = _all_sizes(related, ranges)
    reasons = []
    for env in every if every is not None else islice(_likely(q, undecided, related, ranges), TRIES):
        d = decide(at_sizes(q, env))
        if d.status == "fault":
            smallest = _smallest(_Failure(dict(env), d), ranges, lambda at: decide(at_sizes(q, at)))
            values = {**smallest.sizes, **(smallest.decision.witness or {})}
            return Decision("fault", found, values, smallest.decision.index, smallest.decision.available)
        if d.status == "unknown":
            reasons.append(d.reason)
            if len(reasons) == GIVE_UP:
                break
    if every is not None and not reasons:
        return Decision("proved", found)
    if all(_never_outside(q, s, related) for s in undecided):
        return Decision("proved", found)
    ends = [e.reason for s in undecided for e in (s.high, s.low)]
    reason = next((r for r in (*reasons, *ends) if r), None)
    return Decision("unknown", found, reason=reason or "not proved for every size")


def at_sizes(q: Question, env: Mapping[str, int]) -> Question:
    """The question at the given sizes."""
    fixed = {n: const(v) for n, v in env.items()}
    return Question(
        q.index.substitute(fixed),
        tuple(v if v.extent is None else replace(v, extent=v.extent.substitute(fixed)) for v in q.variables),
        q.guard.substitute(fixed),
        q.offset.substitute(fixed),
        q.capacity.substitute(fixed),
    )


def _all_sizes(names: Iterable[str], ranges: Ranges) -> list[dict[str, int]] | None:
    """All admitted sizes when there are only a few."""
    spans = []
    count = 1
    for n in sorted(names):
        lo, hi = ranges.bounds.get(n, (None, None))
        if lo is None or hi is None:
            return None
        count *= max(hi - lo + 1, 0)
        if count > ALL_SIZES:
            return None
        spans.append(range(lo, hi + 1))
    envs = (dict(zip(sorted(names), values, strict=True)) for values in product(*spans))
    return [e for e in envs if ranges.admits(e)]


def _likely(
    q: Question, undecided: list[Solved], names: frozenset[str], ranges: Ranges
) -> Iterator[dict[str, int]]:
    """Sizes worth a closer look: those at which a bound of the index is outside."""
    tries = ranges.samples(names)
    size = 2048
    while size <= LARGEST:
        env = {}
        for n in names:
            lo, hi = ranges.bounds.get(n, (None, None))
            env[n] = max(lo or 0, size if hi is None else min(hi, size))
        tries.append(env)
        tries += [{**tries[0], n: env[n]} for n in sorted(names)]
        size *= 4
    seen = set()
    for env in tries:
        key = tuple(sorted(env.items()))
        if key not in seen and ranges.admits(env) and any(_may_fail(q, s, env) for s in undecided):
            yield env
        seen.add(key)


def _may_fail(q: Question, s: Solved, env: Mapping[str, int]) -> bool:
    if s.low.value is None or s.high.value is None:
        return max(env.values(), default=0) < 2048
    try:
        low, high = evaluate(s.low.value, env), evaluate(s.high.value, env)
        offset, capacity = evaluate(q.offset, env), evaluate(q.capacity, env)
    except (KeyError, ZeroDivisionError):
        return True
    return bool(offset + low < 0 or offset + high >= capacity)


def _smallest(failure: _Failure, ranges: Ranges, decide: Callable[[Mapping[str, int]], Decision]) -> _Failure:
    """A failure at sizes as small as halving finds them, one symbol after the other."""
    for name in sorted(failure.sizes):
        lo = ranges.bounds[name][0] if name in ranges.bounds else None
        good = (lo if lo is not None else 0) - 1
        while failure.sizes[name] - good > 1:
            middle = (failure.sizes[name] + good) // 2
            env = {**failure.sizes, name: middle}
            d = decide(env) if ranges.admits(env) else None
            if d is not None and d.status == "fault":
                failure = _Failure(env, d)
            else:
                good = middle
    return failure


def _never_outside(q: Question, s: Solved, names: frozenset[str]) -> bool:
    """Whether integer sets show that no iteration of the piece, at no size, is outside."""
    p = s.piece
    if not (q.capacity.is_affine() and q.offset.is_affine() and p.index.is_affine()):
        return False
    from .sets import never_negative

    at = p.index + q.offset
    guards = list(p.guards)
    spans: dict[str, tuple[int | None, int | None]] = {n: p.sizes.bounds.get(n, (None, None)) for n in names}
    for v, (lo, hi) in p.box.items():
        spans[v] = (None, None)
        guards += [Cond.of("ge", sym(v) - lo)] if lo is not None else []
        guards += [Cond.of("ge", hi - sym(v))] if hi is not None else []
    guards += [c for c in p.sizes.checks if c.symbols <= names]
    return never_negative((at, q.capacity - 1 - at), guards, spans)
