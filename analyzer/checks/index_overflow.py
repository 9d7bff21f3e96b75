"""Index arithmetic in 32 bits: where its value does not fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..bounds import decide, index_range
from ..bounds.model import Decision
from ..memory.trace import Verdict
from ..model.kernel import Var
from ..model.record import record, replace
from ..symbolic import Cond, Expr, const, evaluate
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


def wraps(v: Verdict, ranges: Ranges) -> Wrap | None:
    """The first 32-bit value of an access that wraps around; None where all fit, or none is known not to.

    A dynamic size without an upper bound is taken to be small enough.
    """
    for text, value, signed in _narrow(v):
        found = _wrap(v, text, value, signed, ranges)
        if found is not None:
            return found
    return None


def _narrow(v: Verdict) -> Iterator[tuple[str, Expr, bool]]:
    """(text, value, signed) of what is computed in 32 bits."""
    if v.index is not None and v.access.index_bits <= 32:
        yield v.access.text, v.index, v.access.index_signed
    values = dict(v.access.names)
    for name, signed in v.access.narrow:
        yield name, values[name].substitute(v.launch.scalars), signed


def _wrap(v: Verdict, text: str, value: Expr, signed: bool, ranges: Ranges) -> Wrap | None:
    limit = 1 << 31 if signed else 1 << 32
    most = index_range(value, v.vars, v.guard, ranges).max
    if most is None or ranges.nonneg(const(limit - 1) - most) is True or _endless(v, value, ranges):
        return None
    search = _Search(value, v.vars, v.guard, limit, ranges)
    decision = search.decide({})
    if decision.status != "fault":
        return None
    witness = search.first(decision.witness or {})
    reached = int(evaluate(value, witness))
    return Wrap(v, text, reached, limit, witness) if not -limit <= reached < limit else None


def _endless(v: Verdict, value: Expr, ranges: Ranges) -> bool:
    """Whether a size in it has no upper bound."""
    extents = [x.extent.symbols for x in v.vars if x.extent is not None]
    symbols = value.symbols.union(*extents)
    return any(ranges.bounds[n][1] is None for n in symbols & ranges.bounds.keys())


@record(frozen=True)
class _Search:
    value: Expr
    variables: tuple[Var, ...]
    guard: Cond
    limit: int
    ranges: Ranges

    def decide(self, fixed: Mapping[str, Expr], shortened: Mapping[str, int] | None = None) -> Decision:
        """Whether the value fits, with some symbols fixed and some variables cut short."""
        cut = shortened or {}
        variables = tuple(
            replace(
                x, extent=const(cut[x.name]) if x.name in cut else x.extent and x.extent.substitute(fixed)
            )
            for x in self.variables
            if x.name not in fixed
        )
        return decide(
            self.value.substitute(fixed), variables, self.guard.substitute(fixed),
            const(self.limit), const(2 * self.limit), self.ranges,
        )  # fmt: skip

    def first(self, witness: Mapping[str, int]) -> dict[str, int]:
        """The smallest values, variable by variable, at which it still does not fit."""
        names = {x.name for x in self.variables}
        out = {n: n_value for n, n_value in witness.items() if n not in names}
        fixed = {n: const(x) for n, x in out.items()}
        for x in self.variables:
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
