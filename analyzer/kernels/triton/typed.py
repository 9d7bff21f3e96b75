"""Integers of a kernel in the width they have.

``+ - *`` keep an expression up to multiples of ``2**bits``. Where the value itself matters (a pointer, a comparison,
a division, a wider type) it is settled: it fits its type, or it wraps, or a launch will say and the access keeps
what was taken for granted. Arithmetic in 64 bits is not taken to wrap.
"""

from __future__ import annotations

import ast

from ...model.kernel import Narrow
from ...model.record import replace
from ...symbolic import TRUE, Cond, Expr
from ..interpret import integers
from ..interpret.integers import Int, IntType, Known
from .state import State
from .values import Num, Value


def type_of(v: Num) -> IntType:
    return IntType(v.bits, v.signed)


def meeting(a: Num, b: Num) -> IntType:
    """The type in which two integers meet: a compile-time one takes the other's."""
    if a.weak != b.weak:
        strong, weak = (b, a) if a.weak else (a, b)
        t, n = type_of(strong), weak.expr.value
        return t if n is None or t.low <= n <= t.high else integers.widest(t, type_of(weak))
    return integers.widest(type_of(a), type_of(b))


def settled(state: State, v: Num, node: ast.AST, when: Cond = TRUE, address: bool = False) -> Num:
    """``v`` with its value as expression.

    In an ``address`` wrapping is never meant, so that data is taken to fit as well; elsewhere (a hash and the like) its
    wrapped value is the value.
    """
    if v.fits or v.bits >= 64 or v.weak:
        return v
    ranges = state.ranges(v.shape, when)
    t = type_of(v)
    low, high = ranges.interval(v.expr)
    if low is not None and high is not None and t.low <= low and high <= t.high:
        return replace(v, fits=True)
    if t.bits == 32 and t.signed and (address or not state.on_data(v.expr.symbols)):
        # programs and lanes: whether it fits is a matter of the launch and of the mask
        taken = Narrow(state.source(node), v.expr, t.bits, t.signed)
        return replace(v, fits=True, narrow=integers.both(v.narrow, (taken,)))
    s = integers.settle(_operand(state, v, node), Known(ranges))
    assert s.expr is not None
    return replace(v, expr=s.expr, narrow=s.narrow, fits=True)


def _operand(state: State, v: Num, node: ast.AST) -> Int:
    t = type_of(v)
    return Int(t, v.expr, t.low, t.high, v.narrow, state.source(node), v.fits)


def converted(state: State, v: Num, to: IntType, node: ast.AST) -> Num:
    """``v`` in another integer type: the low bits where it is narrower, its value where it is wider."""
    if to == type_of(v):
        return replace(v, weak=False)
    if v.weak and v.expr.value is not None and to.low <= v.expr.value <= to.high:
        return replace(v, bits=to.bits, signed=to.signed, weak=False)
    if to.bits <= v.bits and not (v.bits == 64 and to.bits == 64):
        return replace(v, bits=to.bits, signed=to.signed, fits=False, weak=False)
    v = settled(state, v, node)
    if to.bits == 64 and to.signed:
        return replace(v, bits=64, signed=True, weak=False)
    low = state.ranges(v.shape).interval(v.expr)[0]
    keeps = low is not None and low >= 0
    return replace(v, bits=to.bits, signed=to.signed, weak=False, fits=keeps or to.bits == 64)


def bitwise(state: State, op: str, a: Num, b: Num, like: Value, node: ast.AST, label: str = "bits") -> Num:
    """``a & b``, ``a | b``, ``a ^ b`` and shifts: exact for masks of low and high bits, else a range."""
    t = type_of(a) if op in ("<<", ">>") and not a.weak else meeting(a, b)
    known = Known(state.ranges(like.shape))
    a, b = settled(state, a, node), settled(state, b, node)
    x = integers.binary(op, _operand(state, a, node), _operand(state, b, node), t, known)
    if x.ring is None:
        n = state.data(node, label, like, x.low if t.bits < 64 or x.low >= 0 else None, _end(t, x.high))
        return replace(n, bits=t.bits, signed=t.signed, narrow=x.narrow)
    return Num(
        expr=x.ring, bits=t.bits, signed=t.signed, fits=x.fits, weak=a.weak and b.weak, narrow=x.narrow,
        shape=like.shape, deps=like.deps, feeds=like.feeds,
    )  # fmt: skip


def _end(t: IntType, high: int) -> int | None:
    return high if t.bits < 64 or high < t.high else None


def join(*values: Value) -> tuple[Narrow, ...]:
    """What the values take for granted."""
    out: tuple[Narrow, ...] = ()
    for v in values:
        out = integers.both(out, getattr(v, "narrow", ()))
    return out


def constant_fits(e: Expr, t: IntType) -> bool:
    return e.value is not None and t.low <= e.value <= t.high
