"""Random accesses for the property tests, and brute force over their iterations.

Everything is drawn from one :class:`random.Random`, so that a seed stands for a case.
"""

from __future__ import annotations

import itertools
import os
from dataclasses import dataclass
from random import Random

from aoti_lint.analyzer.model.kernel import Var
from aoti_lint.analyzer.model.record import replace
from aoti_lint.analyzer.symbolic import (
    FALSE,
    TRUE,
    Cond,
    Expr,
    compare,
    const,
    evaluate,
    evaluate_cond,
    floordiv,
    maximum,
    minimum,
    mod,
    opaque,
    sym,
    tdiv,
    tmod,
    where,
)  # fmt: skip
from aoti_lint.analyzer.symbolic.assumptions import Ranges

EXAMPLES = int(os.environ.get("BOUNDS_EXAMPLES", "100"))
NAMES = ("x0", "x1", "x2")
SIZES = ("s0", "s1")


@dataclass(frozen=True)
class Case:
    """A question to the bounds, and the sizes that brute force looks at."""

    index: Expr
    vars: tuple[Var, ...]
    guard: Cond
    offset: Expr
    capacity: Expr
    ranges: Ranges
    envs: tuple[dict[str, int], ...]


def linear(r: Random, names: tuple[str, ...]) -> Expr:
    e = const(r.randint(-9, 9))
    for n in r.choices(names, k=r.randint(0, 3)):
        e = e + sym(n) * r.choice([1, 1, 1, 2, 3, 4, 5, 6, 8, 12, -1, -2, -3, -6])
    return e


def condition(r: Random, names: tuple[str, ...], leaves: int = 3) -> Cond:
    if leaves > 1 and r.random() < 0.4:
        kind = r.choice(["and", "or"])
        return Cond.join(kind, [condition(r, names, leaves - 1), condition(r, names, leaves - 1)])
    form = linear(r, names) if r.random() < 0.8 else expression(r, names, (), 2)
    if names and r.random() < 0.2 and any(n in SIZES for n in names):
        form = form - sym(r.choice(SIZES))
    return compare(r.choice(["<", "<=", ">", ">=", "==", "!="]), form, r.randint(-6, 12))


def expression(r: Random, names: tuple[str, ...], sizes: tuple[str, ...] = (), depth: int = 3) -> Expr:
    """A tree of the operations an index can have."""
    if depth == 0 or r.random() < 0.25:
        e = linear(r, names)
        return e * sym(r.choice(sizes)) if sizes and r.random() < 0.3 else e

    def inner() -> Expr:
        return expression(r, names, sizes, depth - 1)

    kind = r.randrange(8)
    if kind < 3:
        by = const(r.choice([2, 3, 4, 5, 6, 12, 16]))
        if sizes and r.random() < 0.4:
            by = sym(r.choice(sizes)) * r.randint(1, 4)
        return r.choice([floordiv, mod, floordiv, mod, tdiv, tmod])(inner(), by)
    if kind == 3:
        return r.choice([minimum, maximum])(inner(), inner() if r.random() < 0.5 else r.randint(-4, 9))
    if kind == 4:
        return where(condition(r, names, 2), inner(), inner())
    return inner() + inner() * r.choice([1, 2, 3, 8, -1, -4])


def strided(r: Random, flat: Expr) -> Expr:
    """A strided view read through one flat index, some digits shifted, reversed, clamped or rolled."""
    e, weight = const(r.randint(-4, 4)), 1
    chain = [r.randint(1, 5) for _ in range(r.randint(1, 3))]
    for i, n in enumerate([*chain, 4]):
        d = mod(floordiv(flat, weight), n) if i < len(chain) else floordiv(flat, weight)
        weight *= n
        how = r.choice(["", "", "", "roll", "flip", "clamp", "skip"])
        if how == "roll":
            d = mod(d + r.randint(0, 6), n)
        elif how == "flip":
            d = n - 1 - d
        elif how == "clamp":
            d = minimum(n - 1, maximum(0, d - 1))
        elif how == "skip":
            continue
        e = e + d * r.choice([1, 2, 3, 4, 6, 12, 20, -2])
    return e


def concrete(r: Random) -> Case:
    count = r.randint(1, 3)
    vars = tuple(Var(n, const(r.randint(0, 9)), "grid") for n in NAMES[:count])
    names = NAMES[:count]
    guard = TRUE if r.random() < 0.4 else condition(r, names)
    return Case(
        expression(r, names), vars, guard, const(r.randint(-3, 12)), const(r.randint(0, 60)), Ranges(), ({},)
    )


def masked(r: Random) -> Case:
    """A concrete case under a condition on data."""
    case = concrete(r)
    mask = opaque("mask") if r.random() < 0.7 else ~opaque("mask")
    inner = condition(r, tuple(v.name for v in case.vars), 2)
    guard = r.choice(
        [mask, mask & inner, mask | inner, (mask | inner) & case.guard, (mask & inner) | case.guard]
    )
    return replace(case, guard=guard)


def mixed_radix(r: Random) -> Case:
    flat: Expr = sym("x0")
    vars: tuple[Var, ...] = (Var("x0", const(r.randint(0, 130)), "grid"),)
    if r.random() < 0.4:  # a flat index from two variables: blocks of a loop, or of a vector
        width, count = r.choice([2, 4, 6, 8, 16]), r.randint(0, 9)
        flat = width * sym("x0") + sym("x1")
        lanes = r.choice([width, width, width + 1, max(width - 1, 1)])
        vars = (Var("x0", const(count), "loop"), Var("x1", const(lanes), "lane"))
    index = strided(r, flat)
    guard = TRUE
    if r.random() < 0.6:
        limit = r.choice([strided(r, flat), flat, sym("x0")])
        guard = compare(r.choice(["<", ">=", "!=", "=="]), limit, r.randint(0, 40))
        if r.random() < 0.3:
            guard = guard & condition(r, tuple(v.name for v in vars), 2)
    return Case(index, vars, guard, const(0), const(r.randint(0, 200)), Ranges(), ({},))


def loaded(r: Random) -> Case:
    """An index with a value from memory, checked or clamped or neither."""
    n = r.randint(1, 9)
    t: Expr = sym("x1")
    if r.random() < 0.6:
        t = where(compare("<", t, 0), t + n, t)
    guard, use = TRUE, t
    how = r.choice(["check", "check", "raw", "low", "high", "clamp", "mod", "none"])
    if how in ("check", "low"):
        guard = guard & compare(">=", t, 0)
    if how in ("check", "high"):
        guard = guard & compare("<", t, n)
    if how == "raw":
        guard = compare(">=", sym("x1"), r.randint(-n, 0)) & compare("<", sym("x1"), n)
    if how == "clamp":
        use = minimum(n - 1, maximum(0, t))
    if how == "mod":
        use = mod(t, n)
    if r.random() < 0.2:
        guard = guard & condition(r, ("x0",), 2)
    lo, hi = r.choice([(None, None), (None, None), (0, 12), (-12, 12)])
    vars = (Var("x0", const(r.randint(1, 5)), "grid"), Var("x1", None, "data", lo, hi))
    index = use * r.choice([1, 2, 5, -3]) + sym("x0") * r.choice([1, 0, 2])
    return Case(index, vars, guard, const(r.randint(0, 3)), const(r.randint(0, 50)), Ranges(), ({},))


# -- symbolic sizes


def sized(r: Random) -> tuple[Ranges, tuple[dict[str, int], ...]]:
    """Ranges of two sizes, and the small sizes among them."""
    bounds = {n: r.choice([(0, 6), (1, 5), (2, 7), (0, None), (1, None), (2, None), (3, 3)]) for n in SIZES}
    s0, s1 = sym("s0"), sym("s1")
    facts = r.choice(
        [(), (), (), (compare(">=", s0, s1),), (compare("==", mod(s0, 2), 0),), (compare("==", s0, s1 * 2),)]
    )
    ranges = Ranges(bounds, facts)
    spans = [range(lo, (7 if hi is None else hi) + 1) for lo, hi in bounds.values()]
    envs = (dict(zip(SIZES, v, strict=True)) for v in itertools.product(*spans))
    return ranges, tuple(e for e in envs if ranges.admits(e))


def capacity(r: Random, *more: Expr) -> Expr:
    s0, s1 = sym("s0"), sym("s1")
    return r.choice([const(40), s0 * s1, s0 * 8, s0 * s1 * 4, s0 + 3, const(0), s1 * 3, *more, *more])


def symbolic(r: Random) -> Case:
    s0, s1 = sym("s0"), sym("s1")
    names = NAMES[: r.randint(1, 2)]
    extents = [
        const(1), const(3), const(8), s0, s1, s0 + 1, 2 * s0, s0 * s1, floordiv(s0, 2), floordiv(s0 + 3, 4), s0 - 2,
        3 * s0 * s1, s0 * floordiv(s1, 2), s0 - 4 * floordiv(s0, 4), minimum(s0, 4), minimum(s0 * s1, 8),
    ]  # fmt: skip
    vars = tuple(Var(n, r.choice(extents), "grid") for n in names)
    ranges, envs = sized(r)
    guard = TRUE if r.random() < 0.4 else condition(r, (*names, *names, *SIZES), 2)
    return Case(expression(r, names, SIZES), vars, guard, const(0), capacity(r), ranges, envs)


def symbolic_view(r: Random) -> Case:
    """A flat grid over symbolic dimensions, and its digits as a strided view."""
    s0, s1 = sym("s0"), sym("s1")
    dims = [
        r.choice([s0, s1, const(2), const(3), floordiv(s0, 2), 2 * s1, s0 + 1])
        for _ in range(r.randint(1, 3))
    ]
    x = sym("x0")
    weight, e, extent = const(1), const(r.randint(-1, 2)), const(1)
    for i, n in enumerate(dims):
        last = i == len(dims) - 1 and r.random() < 0.5
        d = floordiv(x, weight) if last else mod(floordiv(x, weight), n)
        if r.random() < 0.1:
            d = mod(d + 1, n)
        e = e + d * r.choice([weight, weight, weight, 2 * weight, const(1), s0])
        weight, extent = weight * n, extent * n
    whole = extent
    if r.random() < 0.2:
        extent = r.choice([extent + 1, 2 * extent, s0 * 3])
    guard = TRUE if r.random() < 0.7 else compare("<", x, r.choice([s0 * 2, s1, whole - 1, const(5)]))
    ranges, envs = sized(r)
    cap = capacity(r, whole, whole - 1, whole * 2, whole + 1, whole * 2)
    return Case(e, (Var("x0", extent, "grid"),), guard, const(0), cap, ranges, envs)


def symbolic_loop(r: Random) -> Case:
    """The loops of vectorised and of cooperative kernels over a symbolic size: main part, tail, blocks."""
    s0, s1 = sym("s0"), sym("s1")
    n = r.choice([s0, s1, s0 * s1, 2 * s0, s0 + 1])
    w = r.choice([2, 3, 4])
    k, lane = sym("x0"), sym("x1")
    flat = w * k + lane
    steps = floordiv(n + w - 1, w)
    form = r.randrange(4)
    if form == 0:
        lanes, guard = const(w), compare("<", w * k, w * floordiv(n, w))
    elif form == 1:
        lanes, guard = (
            n - w * floordiv(n, w),
            compare(">=", w * k, w * floordiv(n, w)) & compare("<", w * k, n),
        )
    elif form == 2:
        lanes, guard = minimum(n, w), compare("<", flat, n)
    else:
        lanes, guard = const(w), TRUE
    vars: tuple[Var, ...] = (Var("x0", steps, "loop"), Var("x1", lanes, "lane"))
    index = r.choice([flat, flat, mod(flat, s0), floordiv(flat, s0) + 2, flat + 1])
    whole = n
    if r.random() < 0.2:  # a triangular loop
        vars = (Var("x0", n, "grid"), Var("x1", sym("x0") + r.choice([0, 1]), "loop"))
        index, guard = r.choice([k + lane, n * k + lane, k - lane]), TRUE
    elif r.random() < 0.5:
        vars, index, whole = (*vars, Var("x2", s1, "grid")), index + n * sym("x2"), n * s1
    ranges, envs = sized(r)
    return Case(index, vars, guard, const(0), capacity(r, whole, whole, whole - 1), ranges, envs)


#: Kinds of cases.
KINDS = (concrete, masked, mixed_radix, loaded, symbolic, symbolic_view, symbolic_loop)


# -- brute force


def settled(c: Cond, data: Cond) -> Cond:
    """The condition when everything that depends on data is ``data``."""
    if c.kind == "opaque":
        return data
    return Cond.join(c.kind, [settled(a, data) for a in c.args]) if c.args else c


def points(case: Case, env: dict[str, int]) -> list[dict[str, int]]:
    """Every iteration that may happen at these sizes.

    Loaded values are taken from their type, or from -14 to 14; conditions on data may hold.
    """
    found = [env]
    for v in case.vars:
        grown = []
        for at in found:
            if v.extent is not None:
                span = range(max(evaluate(v.extent, at), 0))
            else:
                span = range(-14 if v.lo is None else v.lo, (14 if v.hi is None else v.hi) + 1)
            grown += [{**at, v.name: x} for x in span]
        found = grown
    guard = settled(case.guard, TRUE)
    return [at for at in found if evaluate_cond(guard, at)]


def divides_by_zero(case: Case) -> bool:
    try:
        for env in case.envs:
            for p in points(case, env):
                evaluate(case.index, p)
    except ZeroDivisionError:
        return True
    return False


def is_iteration(case: Case, at: dict[str, int]) -> bool:
    """Whether a point certainly is an iteration, at sizes that are admitted."""
    for v in case.vars:
        if v.extent is not None and not 0 <= at[v.name] < evaluate(v.extent, at):
            return False
    sizes = {n: at[n] for n in case.ranges.bounds if n in at}
    return bool(evaluate_cond(settled(case.guard, FALSE), at)) and case.ranges.admits(sizes)
