"""Blocks in another shape or order: which element of the old block stands at each place of the new one.

Block axes have a symbol each (``@0`` is the last one).  A block in a new shape is the old one with each of its axes
as an expression over the new axes; where that can't be said, its elements are data in the range of the old ones.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ...model.record import replace
from ...symbolic import ONE, ZERO, Expr, compare, const, floordiv, mod, sym, total
from .arith import binary, extreme, rearrange, select, unknown
from .state import State
from .typed import join as narrow_of
from .typed import meeting, settled
from .values import Bool, Num, Shape, Static, Unsupported, Value, axis, broadcast


def reshape(state: State, v: Value, shape: Shape, node: ast.AST, label: str) -> Value:
    """The elements of ``v`` in order, in another shape."""
    places = _places(v.shape, shape)
    return (
        scrambled(state, [v], shape, node, label)
        if places is None
        else rearrange(state, v, places, shape, node)
    )


def _places(old: Shape, new: Shape) -> dict[str, Expr] | None:
    """Each axis of ``old`` over the axes of ``new``; None where the extents are not numbers that go together."""
    kept = [i for i, n in enumerate(old) if n != ONE]
    slots = [i for i, n in enumerate(new) if n != ONE]
    if [old[i] for i in kept] == [new[i] for i in slots]:
        return {_axis(old, a): sym(_axis(new, b)) for a, b in zip(kept, slots, strict=True)}
    groups = _groups([old[i].value for i in kept], [new[i].value for i in slots])
    if groups is None:
        return None
    out: dict[str, Expr] = {}
    for olds, news in groups:
        inner = [slots[j] for j in news]
        flat = total(
            sym(_axis(new, i)) * s for i, s in zip(inner, _strides([new[i] for i in inner]), strict=True)
        )
        outer = [kept[j] for j in olds]
        for k, (i, stride) in enumerate(zip(outer, _strides([old[i] for i in outer]), strict=True)):
            place = floordiv(flat, stride)
            out[_axis(old, i)] = place if k == 0 else mod(place, old[i])
    return out


def _axis(shape: Shape, i: int) -> str:
    return axis(len(shape) - 1 - i)


def _strides(extents: Sequence[Expr]) -> list[Expr]:
    out, stride = [], ONE
    for n in reversed(extents):
        out.append(stride)
        stride = stride * n
    return out[::-1]


def _groups(old: Sequence[int | None], new: Sequence[int | None]) -> list[tuple[list[int], list[int]]] | None:
    """Runs of axes on both sides that hold the same number of elements, as short as possible."""
    out: list[tuple[list[int], list[int]]] = []
    i = j = 0
    while i < len(old) or j < len(new):
        olds: list[int] = []
        news: list[int] = []
        a = b = 1
        while not olds or a != b:
            if (a <= b and i < len(old)) or j >= len(new):
                n = old[i] if i < len(old) else None
                olds.append(i)
                i += 1
                a *= n or 0
            else:
                n = new[j]
                news.append(j)
                j += 1
                b *= n or 0
            if not n:
                return None
        out.append((olds, news))
    return out


def join(state: State, a: Value, b: Value, node: ast.AST) -> Value:
    """``tl.join``: a new last axis of two, ``a`` at 0 and ``b`` at 1."""
    shape = broadcast((a.shape, b.shape))
    deeper = {axis(i): sym(axis(i + 1)) for i in range(len(shape))}
    a, b = (rearrange(state, replace(v, shape=shape), deeper, (*shape, ONE), node) for v in (a, b))
    last = sym(axis(0))
    two = (*(ONE for _ in shape), const(2))
    if isinstance(a, Num) and isinstance(b, Num):
        x, y = settled(state, a, node), settled(state, b, node)
        if (y.expr - x.expr).value is not None:
            like = unknown(x, y)
            deps = like.deps | {axis(0)}
            t = meeting(x, y)
            return replace(
                x, expr=x.expr + (y.expr - x.expr) * last, bits=t.bits, signed=t.signed, fits=True,
                shape=broadcast((like.shape, two)), deps=deps, feeds=like.feeds, weak=False,
                narrow=narrow_of(x, y),
            )  # fmt: skip
    first = Bool(cond=compare("==", last, 0), shape=two, deps=frozenset({axis(0)}))
    return select(state, first, a, b, node)


def interleave(state: State, a: Value, b: Value, node: ast.AST, label: str) -> Value:
    """``tl.interleave``: the elements of both in turn, along the last axis."""
    both = join(state, a, b, node)
    if len(both.shape) < 2:
        return both
    return reshape(state, both, (*both.shape[:-2], both.shape[-2] * both.shape[-1]), node, label)


def cat(state: State, a: Value, b: Value, node: ast.AST) -> Value:
    """``tl.cat``: ``b`` after ``a``. In another order, which it may choose, the elements are the same."""
    if len(a.shape) != 1 or len(b.shape) != 1:
        raise Unsupported(f"blocks one after the other: {ast.unparse(node)[:80]}")
    n, place = a.shape[0], sym(axis(0))
    shape = (n + b.shape[0],)
    a = rearrange(state, a, {axis(0): place}, shape, node)
    b = rearrange(state, b, {axis(0): place - n}, shape, node)
    if isinstance(a, Num) and isinstance(b, Num) and a.expr == b.expr and a.bits == b.bits:
        return replace(a, narrow=narrow_of(a, b))
    first = Bool(cond=compare("<", place, n), shape=shape, deps=frozenset({axis(0)}))
    return select(state, first, a, b, node)


def split(state: State, v: Value, node: ast.AST) -> Value:
    """``tl.split``: the two blocks along a last axis of two."""
    if not v.shape or v.shape[-1] != const(2):
        raise Unsupported(f"split of a block whose last axis is not 2: {ast.unparse(node)[:80]}")
    places: dict[str, Expr] = {axis(i + 1): sym(axis(i)) for i in range(len(v.shape) - 1)}
    return Static(
        obj=tuple(rearrange(state, v, {**places, axis(0): const(k)}, v.shape[:-1], node) for k in (0, 1))
    )


def flip(state: State, v: Value, dim: int | None, node: ast.AST) -> Value:
    """``tl.flip``: backwards along one axis, the last one unless it is said."""
    at = _axis(v.shape, (len(v.shape) - 1 if dim is None else dim) % max(len(v.shape), 1))
    n = v.shape[(len(v.shape) - 1 if dim is None else dim) % max(len(v.shape), 1)]
    return rearrange(state, v, {at: n - 1 - sym(at)}, v.shape, node)


def swizzle(state: State, args: Sequence[Num], node: ast.AST) -> Value:
    """``tl.swizzle2d(i, j, size_i, size_j, size_g)``: columns of a group of rows before the next group."""
    i, j, rows, columns, group = args

    def op(kind: ast.operator, a: Num, b: Num) -> Num:
        value = binary(state, kind, a, b, node)
        assert isinstance(value, Num)
        return value

    flat = op(ast.Add(), op(ast.Mult(), i, columns), j)
    size = op(ast.Mult(), group, columns)
    start = op(ast.Mult(), op(ast.FloorDiv(), flat, size), group)
    height = extreme(state, False, op(ast.Sub(), rows, start), group, node)
    assert isinstance(height, Num)
    inside = op(ast.Mod(), flat, size)
    return Static(
        obj=(op(ast.Add(), start, op(ast.Mod(), inside, height)), op(ast.FloorDiv(), inside, height))
    )


# -- elements in an order that is not followed ----------------------------------------------------


def scrambled(state: State, values: Sequence[Value], shape: Shape, node: ast.AST, label: str) -> Value:
    """Elements of ``values`` in another order: every axis matters, and no relation to the place is kept."""
    v = unknown(*values)
    axes = frozenset(axis(i) for i in range(len(shape)))
    deps = frozenset(d for d in v.deps if not d.startswith("@")) | (axes if v.shape else frozenset())
    out = replace(v, shape=shape, deps=deps, feeds={k: (cond, False) for k, (cond, _) in v.feeds.items()})
    numbers = [x for x in values if isinstance(x, Num)]
    if len(numbers) < len(values) or not numbers:
        return replace(out, dtype=getattr(values[0], "dtype", None) if values else None)
    ends = [_ends(state, x, node) for x in numbers]
    lows, highs = [lo for lo, _ in ends if lo is not None], [hi for _, hi in ends if hi is not None]
    return in_range(
        state, replace(numbers[0], narrow=narrow_of(*numbers)), out, node, label,
        min(lows) if len(lows) == len(ends) else None, max(highs) if len(highs) == len(ends) else None,
    )  # fmt: skip


def in_range(
    state: State, like: Num, where: Value, node: ast.AST, label: str, low: int | None, high: int | None
) -> Num:
    """An integer of the type of ``like`` of which only a range is known."""
    n = state.data(node, label, where, low, high)
    return replace(n, bits=like.bits, signed=like.signed, fits=True, narrow=like.narrow)


def _ends(state: State, v: Num, node: ast.AST) -> tuple[int | None, int | None]:
    v = settled(state, v, node)
    return state.ranges(v.shape).interval(v.expr)


def reduced(
    state: State, name: str, v: Num, removed: Sequence[Expr], like: Value, node: ast.AST, label: str
) -> Value:
    """A reduction of integers: extremes in the range of the elements, sums in that many times it."""
    count: int | None = 1
    for n in removed:
        count = None if count is None or n.value is None else count * n.value
    if name in ("argmax", "argmin"):
        where = in_range(state, Num(expr=ZERO), like, node, label, 0, None if count is None else count - 1)
        return replace(where, narrow=())
    low, high = _ends(state, v, node)
    if name in ("max", "min"):
        return in_range(state, v, like, node, label, low, high)
    limit = 1 << (max(v.bits, 32) - 1)
    if name == "sum" and None not in (low, high, count) and v.signed:
        low, high = count * low, count * high  # type: ignore[operator]
        if -limit <= low and high < limit:
            return in_range(state, replace(v, bits=max(v.bits, 32)), like, node, label, low, high)
    return in_range(state, replace(v, bits=max(v.bits, 32)), like, node, label, None, None)


def taken(state: State, v: Value, index: Value, node: ast.AST, label: str) -> Value:
    """``tl.gather``: elements of ``v``, at places that are loaded or computed."""
    out = scrambled(state, [v], index.shape, node, label)
    both = unknown(out, index)
    return replace(out, deps=both.deps, feeds=both.feeds)
