"""Exact answers from integer sets (islpy), under a limit on the operations they may take."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..symbolic import Cond, Expr, Op

#: Operations of the set library: about a tenth of a second.
OPERATIONS = 200_000

#: First and last value a variable may have.
Spans = Mapping[str, tuple[int | None, int | None]]


_RELATION = {"ge": ">=", "eq": "=", "ne": "!="}


class _NotAffine(Exception):
    """An expression that integer sets can't hold."""


class _Writer:
    """Text of a set over ``names``; operations become further variables with their definition."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = {n: f"v{i}" for i, n in enumerate(names)}
        self.ops: dict[Op, str] = {}
        self.constraints: list[str] = []

    def expr(self, e: Expr) -> str:
        out = []
        for mono, c in e.terms.items():
            if len(mono) > 1:
                raise _NotAffine
            if not mono:
                out.append(str(c))
                continue
            atom = mono[0]
            name = self.names.get(atom) if isinstance(atom, str) else self.op(atom)
            if name is None:
                raise _NotAffine
            out.append(f"{c}*{name}")
        return " + ".join(out) or "0"

    def op(self, op: Op) -> str:
        if op not in self.ops:
            args = [self.expr(a) for a in op.args]
            name = f"t{len(self.ops)}"
            self.ops[op] = name
            self.constraints.append(self._definition(op, name, args))
        return self.ops[op]

    def _definition(self, op: Op, name: str, args: list[str]) -> str:
        if op.kind in ("min", "max"):
            order = "<=" if op.kind == "min" else ">="
            one = " or ".join(f"{name} = {a}" for a in args)
            return f"({one}) and " + " and ".join(f"{name} {order} {a}" for a in args)
        if op.cond is not None:
            yes, no = self.cond(op.cond), self.cond(~op.cond)
            return f"(({yes}) and {name} = {args[0]}) or (({no}) and {name} = {args[1]})"
        n = op.args[1].value
        if n is None or n <= 0:
            raise _NotAffine
        a = args[0]
        q, neg = f"floor(({a})/{n})", f"(-floor((-({a}))/{n}))"
        if op.kind == "floordiv":
            return f"{name} = {q}"
        if op.kind == "mod":
            return f"{name} = {a} - {n}*{q}"
        value = (q, neg) if op.kind == "tdiv" else (f"({a} - {n}*{q})", f"({a} - {n}*{neg})")
        return f"({a} >= 0 and {name} = {value[0]}) or ({a} < 0 and {name} = {value[1]})"

    def cond(self, c: Cond) -> str:
        if c.kind == "const":
            return "0 = 0" if c.truth else "1 = 0"
        if c.expr is not None:
            return f"{self.expr(c.expr)} {_RELATION[c.kind]} 0"
        if c.kind == "opaque":
            raise _NotAffine
        return "(" + f" {c.kind} ".join(f"({self.cond(a)})" for a in c.args) + ")"


def _set(first: Expr, guards: Iterable[Cond], spans: Spans, operations: int) -> Any:
    """The set ``[first, variables...]`` of all points."""
    import islpy as isl

    w = _Writer(spans)
    value = w.expr(first)
    where = [f"i = {value}", *(w.cond(g) for g in guards), *w.constraints]
    for n, (lo, hi) in spans.items():
        where += [] if lo is None else [f"{w.names[n]} >= {lo}"]
        where += [] if hi is None else [f"{w.names[n]} <= {hi}"]
    dims = ", ".join(("i", *w.names.values()))
    inner = f"exists ({', '.join(w.ops.values())} : {{}})" if w.ops else "{}"
    text = f"{{ [{dims}] : {inner.format(' and '.join(f'({x})' for x in where))} }}"
    ctx = isl.Context()
    ctx.set_max_operations(operations)
    return isl.Set.read_from_str(ctx, text)


def ends(
    e: Expr, guards: Iterable[Cond], spans: Spans, operations: int = OPERATIONS
) -> tuple[dict[str, int], dict[str, int]] | bool | None:
    """Points at which ``e`` is smallest and largest; False when no point passes the guards, None if not found."""
    import islpy as isl

    try:
        points = _set(e, guards, spans, operations)
        if points.is_empty():
            return False
        line = points.project_out(isl.dim_type.set, 1, len(spans))
        found = []
        for value in (line.dim_min_val(0), line.dim_max_val(0)):
            if not value.is_int():
                return None
            at = points.fix_val(isl.dim_type.set, 0, value).sample_point()
            found.append(_values(at, spans))
    except (_NotAffine, isl.Error):
        return None
    return found[0], found[1]


def never_negative(
    slack: Iterable[Expr], guards: Iterable[Cond], spans: Spans, operations: int = OPERATIONS
) -> bool:
    """Whether none of ``slack`` is negative at any point that passes the guards; False when that isn't found out."""
    import islpy as isl

    outside = Cond.join("or", [Cond.of("ge", -e - 1) for e in slack])
    try:
        return bool(_set(Expr({}), [*guards, outside], spans, operations).is_empty())
    except (_NotAffine, isl.Error):
        return False


def _values(point: Any, spans: Spans) -> dict[str, int]:
    import islpy as isl

    return {n: point.get_coordinate_val(isl.dim_type.set, i + 1).to_python() for i, n in enumerate(spans)}
