"""Index arithmetic in 32 bits: where its value does not fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..bounds import decide, index_range
from ..bounds.model import Decision
from ..bounds.narrow import endless, variables
from ..memory.trace import Verdict
from ..model.kernel import Var
from ..model.record import record, replace
from ..symbolic import Cond, Expr, Op, const, evaluate, sym
from ..symbolic.assumptions import Ranges


@record(frozen=True)
class Wrap:
    """``text`` (the index itself or a variable in it) is ``value`` at ``witness``; its type ends at ``limit``.

    ``witness`` is the first iteration that wraps, dim by dim in the order of the kernel's variables.
    """

    verdict: Verdict
    text: str
    value: int
    limit: int
    witness: dict[str, int]


@record(frozen=True)
class _Typed:
    """A value that must be in ``low .. high`` wherever ``guard`` holds."""

    text: str
    value: Expr
    low: int
    high: int
    vars: tuple[Var, ...]
    guard: Cond


def wraps(v: Verdict, ranges: Ranges) -> Wrap | None:
    """The first value of an access that wraps around; None where all fit, or none is known not to.

    A dynamic size without an upper bound is taken to be small enough.
    """
    for typed in _narrow(v):
        found = _wrap(v, typed, ranges)
        if found is not None:
            return found
    return None


def _narrow(v: Verdict) -> Iterator[_Typed]:
    """What is computed in few bits."""

    def whole(text: str, value: Expr, signed: bool) -> _Typed:
        limit = 1 << 31 if signed else 1 << 32
        return _Typed(text, value, -limit, limit - 1, v.vars, v.guard)

    if v.index is not None and v.access.index_bits <= 32:
        yield whole(v.access.text, v.index, v.access.index_signed)
    values = dict(v.access.names)
    env = v.launch.scalars
    for name, signed in v.access.narrow:
        yield whole(name, values[name].substitute(env), signed)
    for n in v.access.taken:
        if n.rounds:
            continue
        used = variables(n, v.vars, env)
        yield _Typed(n.text, n.value.substitute(env), n.low, n.high, used, n.path.substitute(env))


def _any_data(t: _Typed, ranges: Ranges) -> bool:
    """Whether the value holds loaded data that nothing bounds, or that is cut to a width: no such value need be stored."""
    data = {x.name for x in t.vars if x.extent is None}
    if any(op.kind == "mod" and op.symbols & data for op in _operations(t.value)):
        return True
    for name in data & t.value.symbols:
        ends = index_range(sym(name), t.vars, t.guard, ranges)
        low, high = (None if e is None else e.value for e in (ends.min, ends.max))
        if low is None or high is None or low <= -(1 << 31) or high >= (1 << 31) - 1:
            return True
    return False


def _operations(e: Expr) -> Iterator[Op]:
    for a in e.atoms():
        if isinstance(a, Op):
            yield a
            for x in a.args:
                yield from _operations(x)


def _wrap(v: Verdict, t: _Typed, ranges: Ranges) -> Wrap | None:
    found = index_range(t.value, t.vars, t.guard, ranges)
    above = found.max is not None and ranges.nonneg(const(t.high) - found.max) is not True
    below = found.min is not None and ranges.nonneg(found.min - t.low) is not True
    if not (above or below) or endless(t.value, t.vars, ranges) or _any_data(t, ranges):
        return None
    search = _Search(t, ranges)
    decision = search.decide({})
    if decision.status != "fault":
        return None
    witness = search.first(decision.witness or {})
    reached = int(evaluate(t.value, witness))
    return None if t.low <= reached <= t.high else Wrap(v, t.text, reached, t.high + 1, witness)


@record(frozen=True)
class _Search:
    typed: _Typed
    ranges: Ranges

    def decide(self, fixed: Mapping[str, Expr], shortened: Mapping[str, int] | None = None) -> Decision:
        """Whether the value fits, with some symbols fixed and some variables cut short."""
        cut = shortened or {}
        t = self.typed
        variables = tuple(
            replace(
                x, extent=const(cut[x.name]) if x.name in cut else x.extent and x.extent.substitute(fixed)
            )
            for x in t.vars
            if x.name not in fixed
        )
        return decide(
            t.value.substitute(fixed), variables, t.guard.substitute(fixed),
            const(-t.low), const(t.high - t.low + 1), self.ranges,
        )  # fmt: skip

    def first(self, witness: Mapping[str, int]) -> dict[str, int]:
        """The smallest values, variable by variable, at which it still does not fit."""
        names = {x.name for x in self.typed.vars}
        out = {n: n_value for n, n_value in witness.items() if n not in names}
        fixed = {n: const(x) for n, x in out.items()}
        for x in self.typed.vars:
            if x.extent is None:
                out[x.name] = witness[x.name]
            else:
                out[x.name] = self._smallest(x, fixed, witness[x.name])
            fixed[x.name] = const(out[x.name])
            at = self.decide(fixed)
            witness = {**witness, **(at.witness or {})}
        return out

    def _smallest(self, x: Var, fixed: Mapping[str, Expr], known: int) -> int:
        """Halving: cutting a variable short can only take failures away."""
        good, bad = 0, known + 1  # extents
        while bad - good > 1:
            middle = (good + bad) // 2
            if self.decide(fixed, {x.name: middle}).status == "fault":
                bad = middle
            else:
                good = middle
        return bad - 1
