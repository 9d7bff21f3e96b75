"""How variables change around a loop of a Triton kernel.

A loop body is read twice: once with a symbol for every variable the body changes, to see what a round adds to
it, and once with the variables as functions of the round, to record its accesses.  A variable that does not
grow by the same amount each round is data from then on.
"""

from __future__ import annotations

import ast
from collections.abc import Container
from typing import TypeAlias

from ...model.record import replace
from ...symbolic import TRUE, ZERO, Cond, Expr, Op, const, floordiv, maximum, minimum, sym
from ...symbolic.assumptions import Ranges
from .arith import unknown
from .state import State
from .typed import join, meeting
from .values import BlockPtr, Feeds, Num, Ptr, Real, Static, Value

#: What a round adds: to the integer or pointer offset, or to each offset of a block pointer; None: not constant.
Step: TypeAlias = "tuple[Expr, ...] | None"


def carry(name: str, v: Value) -> Value:
    """``v`` at the start of an unknown round."""
    if isinstance(v, Num):
        return replace(v, expr=_symbol(name, 0), fits=False, weak=False)
    if isinstance(v, Ptr):
        return replace(v, offset=_symbol(name, 0))
    if isinstance(v, BlockPtr):
        return replace(v, dims=tuple(replace(d, offset=_symbol(name, i)) for i, d in enumerate(v.dims)))
    return v if isinstance(v, Static) else _blurred(v)


def _symbol(name: str, i: int) -> Expr:
    return sym(f"@carry:{name}:{i}")


def _offsets(v: Value) -> tuple[Expr, ...] | None:
    if isinstance(v, Num):
        return (v.expr,)
    if isinstance(v, Ptr):
        return (v.offset,)
    return tuple(d.offset for d in v.dims) if isinstance(v, BlockPtr) else None


def _with_offsets(v: Value, offsets: tuple[Expr, ...], fits: bool = False) -> Value:
    if isinstance(v, Num):
        return replace(v, expr=offsets[0], fits=fits, weak=False)
    if isinstance(v, Ptr):
        return replace(v, offset=offsets[0])
    assert isinstance(v, BlockPtr)
    return replace(v, dims=tuple(replace(d, offset=o) for d, o in zip(v.dims, offsets, strict=True)))


def _same_kind(a: Value, b: Value) -> bool:
    if isinstance(a, Ptr) and isinstance(b, Ptr):
        return (a.param, a.size, a.base) == (b.param, b.size, b.base)
    if isinstance(a, BlockPtr) and isinstance(b, BlockPtr):
        same_layout = [replace(d, offset=ZERO) for d in a.dims] == [replace(d, offset=ZERO) for d in b.dims]
        return a.ptr.param == b.ptr.param and a.ptr.offset == b.ptr.offset and same_layout
    return isinstance(a, Num) and isinstance(b, Num)


def solve(name: str, before: Value, after: Value, outer: set[str]) -> Step:
    """What one round adds to a variable, in terms of what does not change in the loop."""
    new = _offsets(after)
    if new is None or not _same_kind(before, after):
        return None
    steps = tuple(e - _symbol(name, i) for i, e in enumerate(new))
    return steps if all(s.symbols <= outer for s in steps) else None


def _blunt(feeds: Feeds) -> Feeds:
    return dict.fromkeys(feeds, (TRUE, False))


def _blurred(*values: Value) -> Real:
    v = unknown(*values)
    return replace(v, feeds=_blunt(v.feeds), fn=None)


def changed(
    state: State, node: ast.stmt, name: str, before: Value, after: Value, step: Step, symbol: Expr
) -> Value:
    """The variable at the start of round ``symbol``."""
    if isinstance(before, Static):
        return before if isinstance(after, Static) and before.obj == after.obj else Real()
    both = _blurred(before, after)
    both = replace(both, deps=both.deps | symbol.symbols)
    start = _offsets(before)
    if start is None or not _same_kind(before, after):
        return both
    if step is None:
        fresh = tuple(state.data(node, f"{name}{i or ''}", both).expr for i in range(len(start)))
        value = _with_offsets(before, fresh, fits=True)
    elif all(s == ZERO for s in step):
        return before
    else:
        value = _with_offsets(before, tuple(a + s * symbol for a, s in zip(start, step, strict=True)))
    value = replace(value, shape=both.shape, deps=both.deps, feeds=both.feeds)
    if isinstance(value, Num) and isinstance(before, Num) and isinstance(after, Num):
        t = meeting(before, after)
        return replace(value, bits=t.bits, signed=t.signed, narrow=join(before, after))
    return replace(value, narrow=join(before, after)) if isinstance(value, Ptr) else value


def settle(
    state: State, node: ast.stmt, name: str, before: Value | None, step: Step, last: Value,
    symbol: Expr, rounds: Expr | None,
) -> Value:  # fmt: skip
    """The variable after the loop."""
    start = _offsets(before) if before is not None else None
    if step is not None and start is not None and before is not None:
        if all(s == ZERO for s in step):
            return before
        if rounds is not None:
            value = _with_offsets(before, tuple(a + s * rounds for a, s in zip(start, step, strict=True)))
            return replace(value, shape=last.shape)
    if isinstance(last, Static):
        return last if before is None or (isinstance(before, Static) and before.obj == last.obj) else Real()
    both = _blurred(last) if before is None else _blurred(before, last)
    both = replace(both, deps=both.deps - symbol.symbols)
    ends = _offsets(last)
    if ends is None or not (before is None or _same_kind(before, last)):
        return both
    fresh = tuple(state.data(node, f"{name}_after{i or ''}", both).expr for i in range(len(ends)))
    value = _with_offsets(last, fresh, fits=True)
    return replace(value, shape=both.shape, deps=both.deps, feeds=both.feeds)


def at_least(e: Expr) -> Cond:
    """``e >= 0``, said of every operand where ``e`` adds a minimum."""
    for mono, c in e.terms.items():
        if c > 0 and len(mono) == 1 and isinstance(mono[0], Op) and mono[0].kind == "min":
            rest = e - Expr({mono: c})
            return Cond.join("and", [at_least(rest + a * c) for a in mono[0].args])
    return Cond.of("ge", e)


def upper_bound(e: Expr, inner: Container[str], ranges: Ranges) -> Expr | None:
    """Something that ``e`` never exceeds and that mentions no symbol of ``inner``; None when none is found."""
    high = ranges.interval(e)[1]
    if high is not None:
        return const(high)
    for mono, c in e.terms.items():
        if c > 0 and len(mono) == 1 and isinstance(mono[0], Op) and mono[0].kind == "min":
            rest = e - Expr({mono: c})
            found = [upper_bound(rest + a * c, inner, ranges) for a in mono[0].args]
            bounds = [b for b in found if b is not None]
            return minimum(*bounds) if bounds else None
    out = ZERO
    for mono, c in e.terms.items():
        term = Expr({mono: c})
        if any(s in inner for s in term.symbols):
            high = ranges.interval(term)[1]
            if high is None:
                return None
            term = const(high)
        out = out + term
    return out


def rounds_while(test: Cond, symbol: str, inner: Container[str]) -> Expr | None:
    """How often a loop runs whose test is ``r - s*round >= 0`` with s > 0; None for another test."""
    step = -test.expr.terms.get((symbol,), 0) if test.kind == "ge" and test.expr is not None else 0
    if step <= 0 or test.expr is None:
        return None
    rest = test.expr + sym(symbol) * step
    if any(s in inner for s in rest.symbols):
        return None
    return maximum(floordiv(rest, step) + 1, 0)
