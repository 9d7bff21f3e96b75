"""A program under a runtime: facts, storages and the verdict on every access."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

from .bounds import decide
from .bounds.model import Decision, IndexRange
from .bounds.narrow import wrapping
from .memory.assumed import fresh_checks, straight_checks
from .memory.replay import Replay
from .memory.storage import Storage, Tensor, start_of
from .memory.trace import Fact, LaunchFact, UnmodelledFact, Verdict
from .model.findings import Unknown
from .model.kernel import Access, Array, Param, Var
from .model.program import Program, Unmodelled
from .model.record import field, record, replace
from .runtimes.profile import Profile
from .symbolic import TRUE, ZERO, Cond, Expr, const, sym
from .symbolic.assumptions import Interval, Ranges

F = TypeVar("F")


@record
class Body:
    """The replay of one function. ``loops``: ranges of ``Fact.seq`` that run any number of times.

    ``own`` are the accesses of arrays of a kernel's own that are not proved to stay inside them.
    """

    name: str
    facts: list[Fact]
    storages: list[Storage]
    loops: list[tuple[int, int]]
    verdicts: list[Verdict]
    own: list[Verdict] = field(default_factory=list)


@record
class Analysis:
    """Everything rules can ask about one program under one profile."""

    program: Program
    profile: Profile
    ranges: Ranges
    symbols: tuple[tuple[str, int, int | None], ...]
    bodies: list[Body]
    unknowns: list[Unknown] = field(default_factory=list)
    cache: dict[str, object] = field(default_factory=dict)

    def facts(self, kind: type[F]) -> Iterator[F]:
        """All facts of one type, in program order."""
        for body in self.bodies:
            for f in body.facts:
                if isinstance(f, kind):
                    yield f

    @property
    def verdicts(self) -> Iterator[Verdict]:
        for body in self.bodies:
            yield from body.verdicts

    @property
    def all_verdicts(self) -> Iterator[Verdict]:
        """Those of arrays of the kernels' own with them."""
        for body in self.bodies:
            yield from body.verdicts
            yield from body.own


def analyze(
    program: Program,
    profile: Profile,
    sizes: Mapping[str, Interval] | None = None,
    decisions: dict[object, Decision] | None = None,
) -> Analysis:
    """Replay every body under ``profile`` and decide every access.

    ``sizes`` narrows symbols (``{"s77": (8, 8)}``). ``decisions`` are what is known from this program, at these sizes,
    under other profiles. Raises KeyError for a symbol the program does not have.
    """
    sizes = sizes or {}
    everywhere = (*program.checks, *(c for f in program.functions for c in fresh_checks(f.events)))
    checks = (*everywhere, *(c for f in program.functions for c in straight_checks(f.events)))
    fixed = _equalities(program, sizes, everywhere)
    ranges, symbols = _sizes(program, sizes, checks, fixed)
    bodies = []
    for f in program.functions:
        replay = Replay(program, f, profile, ranges, fixed)
        bodies.append(Body(f.name, replay.facts, replay.storages, replay.loops, []))
    analysis = Analysis(program, profile, ranges, symbols, bodies)
    decisions = {} if decisions is None else decisions
    known = {frozenset(checks): ranges}
    guarded = program.dialect == "cpp_wrapper"  # the guards of torch.compile run before it
    for body in bodies:
        for fact in body.facts:
            if isinstance(fact, LaunchFact):
                here = frozenset((*everywhere, *fact.assumed))
                if here not in known:
                    known[here] = _sizes(program, sizes, (*everywhere, *fact.assumed), fixed)[0]
                body.verdicts.extend(_verdicts(fact, known[here], decisions, guarded))
                body.own.extend(_own_verdicts(fact, known[here]))
    _unknowns(analysis)
    return analysis


def _equalities(program: Program, sizes: Mapping[str, Interval], checks: Sequence[Cond]) -> dict[str, Expr]:
    """Symbols that checks which hold everywhere make equal to others. Raises KeyError for sizes that are none."""
    known = {s.name for s in program.symbols}
    unknown = sizes.keys() - known
    if unknown:
        raise KeyError(", ".join(sorted(unknown)))
    fixed: dict[str, Expr] = {}
    for c in checks:
        if c.kind == "eq" and c.expr is not None:
            _solve(c.expr, known - sizes.keys(), fixed)
    alone = {name: const(lo) for name, (lo, hi) in _bounds(program, sizes, checks, fixed) if lo == hi}
    fixed.update(alone)
    return {n: e.substitute(fixed) for n, e in fixed.items()}


def _bounds(
    program: Program, sizes: Mapping[str, Interval], checks: Sequence[Cond], fixed: Mapping[str, Expr]
) -> Iterator[tuple[str, tuple[int, int | None]]]:
    """The range of every symbol that is not equal to others."""
    for s in program.symbols:
        lo, hi = s.lo, s.hi
        if s.name in sizes:
            a, b = sizes[s.name]
            lo = lo if a is None else max(lo, a)
            hi = b if hi is None else hi if b is None else min(hi, b)
        for c in checks:
            lo, hi = _narrow(c, s.name, lo, hi)
        if s.name not in fixed or lo == hi:
            yield s.name, (lo, hi)


def _sizes(
    program: Program, sizes: Mapping[str, Interval], checks: Sequence[Cond], fixed: Mapping[str, Expr]
) -> tuple[Ranges, tuple[tuple[str, int, int | None], ...]]:
    """What is known of the symbols where ``checks`` hold, and the list to report."""
    bounds = dict(_bounds(program, sizes, checks, fixed))
    report = tuple((name, lo, hi) for name, (lo, hi) in bounds.items())
    return Ranges(bounds, [c.substitute(fixed) for c in checks]), report


def _solve(e: Expr, names: set[str], fixed: dict[str, Expr]) -> None:
    """``e == 0`` where one symbol stands alone with coefficient 1 or -1: that symbol is the rest."""
    for (mono), c in e.terms.items():
        if len(mono) != 1 or c not in (1, -1) or not isinstance(mono[0], str):
            continue
        name = mono[0]
        rest = (e - sym(name) * c) * -c
        if (
            name in names
            and name not in fixed
            and name not in rest.symbols
            and not (rest.symbols & fixed.keys())
        ):
            fixed[name] = rest
            return


def _narrow(c: Cond, name: str, lo: int, hi: int | None) -> tuple[int, int | None]:
    for p in c.conjuncts():
        if p.kind != "ge" or p.expr is None or p.expr.symbols != {name}:
            continue
        a, b = p.expr.terms.get((name,), 0), p.expr.constant
        if p.expr != sym(name) * a + b or a == 0:
            continue
        if a > 0:
            lo = max(lo, -(b // a))
        else:
            hi = b // -a if hi is None else min(hi, b // -a)
    return lo, hi


# -- accesses -----------------------------------------------------------------------------------


def _verdicts(
    fact: LaunchFact, ranges: Ranges, decisions: dict[object, Decision], guarded: bool
) -> Iterator[Verdict]:
    """One verdict for each access of a launch; one unknown access for each pointer of a kernel that is not known.

    ``guarded``: what calls the wrapper keeps sizes out that the wrapper itself lets in.
    """
    if fact.kernel is None or (fact.event.reason and not fact.kernel.accesses):
        for name, tensor in fact.args.items():
            yield _unknown_access(fact, name, tensor)
        return
    params = {p.name: p for p in fact.kernel.params}
    reached = {a.param for a in fact.kernel.accesses}
    env = {**fact.scalars}
    for n, access in enumerate(fact.kernel.accesses):
        param, given = params.get(access.param), fact.args.get(access.param)
        if param is not None and given is not None:
            yield _verdict(fact, access, param, given, env, ranges, decisions, n, guarded)
    for name, tensor in fact.args.items():
        if fact.event.reason and name not in reached:
            yield _unknown_access(fact, name, tensor)


def _unknown_access(fact: LaunchFact, name: str, tensor: Tensor) -> Verdict:
    """Whatever a launch that is not understood does through one pointer."""
    known = fact.kernel.param(name) if fact.kernel else None
    param = known or Param(name, True, None)
    reason = fact.event.reason or f"no source for kernel {fact.event.kernel}"
    access = Access(name, "load" if param.readonly else "store", None, (), TRUE, fact.event.loc, "?", reason)
    start, capacity = start_of(tensor, param.dtype), tensor.storage.elements(param.dtype)
    unknown = Decision("unknown", _NOTHING, reason=reason)
    return Verdict(fact, access, param, tensor, None, (), TRUE, start, capacity, unknown)


def _others(
    fact: LaunchFact,
    access: Access,
    env: Mapping[str, Expr],
    start: Expr,
    capacity: Expr | None,
    tensor: Tensor,
    ranges: Ranges,
) -> Iterator[tuple[str, Decision | None]]:
    """The decisions on an access under other compile-time choices; None where it is not made."""
    for a in access.alternatives:
        if a.access is None:
            yield a.given, None
            continue
        index, vars_, guard = bind(a.access, env)
        decision = _decide(fact, a.access, index, vars_, guard, start, capacity, tensor, ranges)
        yield a.given, _unless_wrapped(decision, a.access, vars_, env, ranges)


def _whatever_is_chosen(first: Decision, others: Iterator[tuple[str, Decision | None]]) -> Decision:
    """Proved if it is for every choice, a fault if it is one for every choice, else unknown."""
    for given, other in others:
        status = "proved" if other is None else other.status
        if status == "unknown":
            why = "not decided" if other is None or other.reason is None else other.reason
            return Decision("unknown", first.range, reason=f"with {given}: {why}")
        if status != first.status and first.status != "unknown":
            where = "outside only with another choice than" if status == "proved" else "outside with"
            return Decision(
                "unknown", first.range, reason=f"{where} {given}, and the text does not say which is taken"
            )
    return first


def _own_verdicts(fact: LaunchFact, ranges: Ranges) -> Iterator[Verdict]:
    for array in fact.kernel.arrays if fact.kernel is not None else ():
        yield from _own(fact, array, {**fact.scalars}, ranges)


def _own(fact: LaunchFact, array: Array, env: Mapping[str, Expr], ranges: Ranges) -> Iterator[Verdict]:
    """Accesses of an array of the kernel's own that are not proved to stay inside it."""
    length = None if array.length is None else array.length.substitute(env)
    dtype = array.dtype or "uint8"
    where = array.accesses[0].loc if array.accesses else fact.event.loc
    storage = Storage(
        array.name, "allocation", length, dtype, where, reason="its length is not known", stack=True
    )
    tensor = Tensor(array.name, storage, ZERO, dtype, None, None, where)
    param = Param(array.name, True, dtype)
    for access in array.accesses:
        index, vars_, guard = bind(access, env)
        decision = _decide(fact, access, index, vars_, guard, ZERO, length, tensor, ranges)
        decision = _unless_wrapped(decision, access, vars_, env, ranges)
        if decision.status != "proved":
            yield Verdict(fact, access, param, tensor, index, vars_, guard, ZERO, length, decision)


#: Sizes at which a fault has to be one for it not to be a matter of sizes.
_ORDINARY = (2, 3, 8)


def _unless_guarded(
    decision: Decision,
    index: Expr | None,
    vars_: tuple[Var, ...],
    guard: Cond,
    start: Expr,
    capacity: Expr | None,
    ranges: Ranges,
) -> Decision:
    """A fault at some sizes alone is none where guards that are not in the text may exclude those sizes."""
    own = {v.name for v in vars_}
    used = (index.symbols if index is not None else frozenset()) | guard.symbols | start.symbols
    used |= (capacity.symbols if capacity is not None else frozenset()).union(
        *(v.extent.symbols for v in vars_ if v.extent is not None)
    )
    sizes = sorted(used - own)
    if not sizes or index is None or capacity is None:
        return decision
    for size in _ORDINARY:
        at = {name: const(size) for name in sizes}
        fixed = tuple(v if v.extent is None else replace(v, extent=v.extent.substitute(at)) for v in vars_)
        there = decide(
            index.substitute(at),
            fixed,
            guard.substitute(at),
            start.substitute(at),
            capacity.substitute(at),
            ranges,
        )
        if there.status != "fault":
            named = ", ".join(sizes)
            reason = f"outside at sizes ({named}) that the guards of torch.compile may exclude"
            return Decision("unknown", decision.range, reason=reason)
    return decision


def _unless_wrapped(
    decision: Decision, access: Access, vars_: tuple[Var, ...], env: Mapping[str, Expr], ranges: Ranges
) -> Decision:
    """A proof holds only if what it takes for granted does: that values of few bits do not wrap around."""
    if decision.status != "proved" or not access.taken:
        return decision
    n = wrapping(access.taken, vars_, env, ranges)
    if n is None:
        return decision
    if n.rounds:
        reason = f"{n.text} may be so large that rounding in float arithmetic moves the index"
        return Decision("unknown", decision.range, reason=reason)
    kind = f"{'' if n.signed else 'u'}int{n.bits}"
    return Decision("unknown", decision.range, reason=f"{n.text} may not fit {kind}, and wrap around")


def _verdict(
    fact: LaunchFact,
    access: Access,
    param: Param,
    tensor: Tensor,
    env: Mapping[str, Expr],
    ranges: Ranges,
    decisions: dict[object, Decision],
    n: int,
    guarded: bool,
) -> Verdict:
    dtype = param.dtype or tensor.dtype
    start, capacity = start_of(tensor, dtype), tensor.storage.elements(dtype)
    open_end = tensor.storage.reason if capacity is None else None
    key = (
        fact.event.kernel,
        n,
        fact.event.scalars,
        start,
        capacity,
        open_end,
        fact.assumed,
        fact.event.reason,
    )
    index, vars_, guard = bind(access, env)
    decision = decisions.get(key)
    if decision is None:
        decision = _decide(fact, access, index, vars_, guard, start, capacity, tensor, ranges)
        decision = _unless_wrapped(decision, access, vars_, env, ranges)
        if access.alternatives and not (access.widest and decision.status == "proved"):
            others = _others(fact, access, env, start, capacity, tensor, ranges)
            decision = _whatever_is_chosen(decision, others)
        if decision.status == "fault" and guarded:
            decision = _unless_guarded(decision, index, vars_, guard, start, capacity, ranges)
        decisions[key] = decision
    return Verdict(fact, access, param, tensor, index, vars_, guard, start, capacity, decision)


def bind(access: Access, env: Mapping[str, Expr]) -> tuple[Expr | None, tuple[Var, ...], Cond]:
    """Index, variables and guard with a launch's scalars put in."""
    index = None if access.index is None else access.index.substitute(env)
    vars_ = tuple(
        v if v.extent is None else Var(v.name, v.extent.substitute(env), v.kind, v.lo, v.hi, v.loop)
        for v in access.vars
    )
    return index, vars_, access.guard.substitute(env)


_NOTHING = IndexRange(None, None, False, False)


def _decide(
    fact: LaunchFact,
    access: Access,
    index: Expr | None,
    vars_: tuple[Var, ...],
    guard: Cond,
    start: Expr,
    capacity: Expr | None,
    tensor: Tensor,
    ranges: Ranges,
) -> Decision:
    def unknown(reason: str, rng: IndexRange = _NOTHING) -> Decision:
        return Decision("unknown", rng, reason=reason)

    if fact.event.reason:
        return unknown(fact.event.reason)
    if index is None:
        return unknown(access.reason or "index not understood")
    free = (
        index.symbols
        | guard.symbols
        | frozenset().union(*(v.extent.symbols for v in vars_ if v.extent is not None))
    )
    unbound = sorted(free - {v.name for v in vars_} - ranges.bounds.keys())
    if unbound:
        return unknown(f"no value for {', '.join(unbound)} at this launch")
    if capacity is None:
        from .bounds import index_range

        reason = tensor.storage.reason or "the size of its storage is not known"
        return unknown(reason, index_range(index, vars_, guard, ranges))
    return decide(index, vars_, guard, start, capacity, ranges)


def _unknowns(analysis: Analysis) -> None:
    """List everything that could not be decided, with the reason."""
    out = analysis.unknowns
    path = analysis.program.path
    for v in analysis.all_verdicts:
        if v.decision.status == "unknown":
            what = f"{v.launch.event.kernel} {v.access.kind} {v.param.name}[{v.access.text}]"
            out.append(Unknown(what, v.decision.reason or "", v.launch.event.loc.line, v.access.loc.path))
    for fact in analysis.facts(LaunchFact):
        missing = fact.event.reason or (None if fact.kernel else f"no source for kernel {fact.event.kernel}")
        if missing and not fact.args:
            out.append(Unknown(f"launch of {fact.event.kernel}", missing, fact.event.loc.line, path))
        for text, loc in fact.kernel.unmodelled if fact.kernel else ():
            out.append(
                Unknown(f"{fact.event.kernel}: {text[:80]}", "statement not understood", loc.line, loc.path)
            )
    for e in unmodelled_statements(analysis):
        out.append(Unknown(e.text[:120], e.reason or "statement not understood", e.loc.line, path))


def unmodelled_statements(analysis: Analysis) -> list[Unmodelled]:
    return [*analysis.program.unmodelled, *(f.event for f in analysis.facts(UnmodelledFact))]


def bind_names(v: Verdict) -> tuple[tuple[str, Expr], ...]:
    """The source's own index variables of an access, with the launch's scalars put in."""
    return tuple((n, e.substitute(v.launch.scalars)) for n, e in v.access.names)
