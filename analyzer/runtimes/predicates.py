"""What runtimes test a layout for, on symbolic sizes.

Sizes and strides are tuples of :class:`~..symbolic.Expr` in elements.  Every test answers True (it holds
for all admitted sizes), False (for none) or None (not decided, or different from size to size).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import TypeAlias

from ..model.record import record
from ..symbolic import ONE, ZERO, Cond, Expr, compare, const, maximum, total, where
from ..symbolic.assumptions import Ranges

Tri: TypeAlias = "bool | None"
Exprs: TypeAlias = "tuple[Expr, ...]"


def all_of(answers: Iterable[Tri]) -> Tri:
    """True if all are, False if one is False, else None."""
    seen = list(answers)
    return False if False in seen else None if None in seen else True


def any_of(answers: Iterable[Tri]) -> Tri:
    """True if one is, False if all are False, else None."""
    seen = list(answers)
    return True if True in seen else None if None in seen else False


def negate(answer: Tri) -> Tri:
    return None if answer is None else not answer


def equal(a: Expr, b: Expr | int, ranges: Ranges) -> Tri:
    """:meth:`Ranges.equal`, quick on constants."""
    x, y = a.value, b if isinstance(b, int) else b.value
    return ranges.equal(a, b) if x is None or y is None else x == y


def at_least(a: Expr, b: Expr | int, ranges: Ranges) -> Tri:
    """Whether ``a >= b``, quick on constants."""
    x, y = a.value, b if isinstance(b, int) else b.value
    return ranges.nonneg(a - b) if x is None or y is None else x >= y


def times(a: Expr, b: Expr) -> Expr:
    """``a * b``, quick on constants."""
    x, y = a.value, b.value
    return a * b if x is None or y is None else const(x * y)


# -- amounts ------------------------------------------------------------------------------------


def numel(sizes: Exprs) -> Expr:
    """Number of elements."""
    return reduce(times, sizes, ONE)


def span(sizes: Exprs, strides: Exprs) -> Expr:
    """Elements from the first to the last one, both included, if no size is 0 and no stride negative."""
    pairs = [(s.value, t.value) for s, t in zip(sizes, strides, strict=True)]
    steps = [(s - 1) * t for s, t in pairs if s is not None and t is not None]
    if len(steps) == len(pairs):
        return const(1 + sum(steps))
    return total([ONE, *((s - 1) * t for s, t in zip(sizes, strides, strict=True))])


def extent(sizes: Exprs, strides: Exprs, ranges: Ranges) -> Expr:
    """Elements a storage must hold for this layout: 0 when a size is 0, else :func:`span`."""
    reach, count = span(sizes, strides), numel(sizes)
    if reach == count or all(at_least(s, 1, ranges) is True for s in sizes):
        return reach
    if any(equal(s, 0, ranges) is True for s in sizes):
        return ZERO
    return where(Cond.join("or", [compare("==", s, 0) for s in sizes]), ZERO, reach)


def _factor(size: Expr, ranges: Ranges) -> Expr:
    """``max(size, 1)``: what a dim contributes to the strides of the dims outside it."""
    if at_least(size, 1, ranges) is True:
        return size
    return ONE if at_least(ONE, size, ranges) is True else maximum(size, 1)


def contiguous_strides(sizes: Exprs, ranges: Ranges) -> Exprs:
    """Row-major strides; a size of 0 counts as 1."""
    out: list[Expr] = []
    run = ONE
    for s in reversed(sizes):
        out.append(run)
        run = times(run, _factor(s, ranges))
    return tuple(reversed(out))


def channels_last_strides(sizes: Exprs, ranges: Ranges) -> Exprs:
    """Strides of (N, C, H, W) with C innermost; a size of 0 counts as 1."""
    _, c, h, w = (_factor(s, ranges) for s in sizes)
    return c * w * h, ONE, w * c, c


# -- tests of one layout ------------------------------------------------------------------------


def is_one(size: Expr, ranges: Ranges) -> Tri:
    return equal(size, 1, ranges)


def is_empty(sizes: Exprs, ranges: Ranges) -> Tri:
    """Whether some size is 0."""
    return any_of(equal(s, 0, ranges) for s in sizes)


def has_negative(values: Iterable[Expr], ranges: Ranges) -> Tri:
    return any_of(negate(at_least(v, 0, ranges)) for v in values)


def row_major(sizes: Exprs, strides: Exprs, ranges: Ranges) -> Tri:
    """Strides equal to the row-major ones in every dim, dims of size 1 included."""
    return all_of(
        equal(t, c, ranges) for t, c in zip(strides, contiguous_strides(sizes, ranges), strict=True)
    )


def contiguous(sizes: Exprs, strides: Exprs, ranges: Ranges) -> Tri:
    """Reading the memory as dense row-major finds every element: dims of size 1 don't matter."""
    return _matches(sizes, strides, contiguous_strides(sizes, ranges), ranges)


def channels_last(sizes: Exprs, strides: Exprs, ranges: Ranges) -> Tri:
    """Reading the memory as dense (N, H, W, C) finds every element; only for 4 dims."""
    if len(sizes) != 4:
        return False
    return _matches(sizes, strides, channels_last_strides(sizes, ranges), ranges)


def _matches(sizes: Exprs, strides: Exprs, wanted: Exprs, ranges: Ranges) -> Tri:
    dims = (
        any_of((equal(t, c, ranges), is_one(s, ranges)))
        for s, t, c in zip(sizes, strides, wanted, strict=True)
    )
    return any_of((all_of(dims), is_empty(sizes, ranges)))


def looks_channels_last(sizes: Exprs, strides: Exprs, ranges: Ranges) -> Tri:
    """PyTorch's own choice between the two memory formats where dims of size 1 leave both open.

    Strides must not decrease along C, W, H, N, each step counting the size passed; a stride 0 in C, or a
    batch dim that only repeats the stride of C, makes it contiguous.
    """
    if len(sizes) != 4:
        return False
    least: Expr = ZERO
    steps: list[Tri] = [negate(is_empty(sizes, ranges)), negate(equal(strides[1], 0, ranges))]
    for d in (1, 3, 2, 0):
        steps.append(at_least(strides[d], least, ranges))
        if d == 0:
            steps.append(negate(equal(least, strides[1], ranges)))
        least = strides[d] * _factor(sizes[d], ranges)
    return all_of(steps)


def packed_m2(sizes: Exprs, strides: Exprs, ranges: Ranges) -> Tri:
    """ExecuTorch Metal's test for a view it need not copy: as many elements as its extent.

    Blind to overlap ({3, 3}/{2, 2} passes) and to any stride when there is at most one element.
    With two elements or more no size is 0, so the dims of size 1 drop out of the sum by themselves.
    """
    count = numel(sizes)
    return any_of((at_least(ONE, count, ranges), equal(span(sizes, strides), count, ranges)))


@record(frozen=True)
class Canon:
    """Whether a layout is a permutation of a dense one, and the strides an ExecuTorch tensor then carries.

    ``strides`` is None when the order of the dims is not decided.
    """

    ok: Tri
    strides: Exprs | None


def et_canon(sizes: Exprs, strides: Exprs, ranges: Ranges, ones_last: bool = False) -> Canon:
    """ExecuTorch's reading of strides as an order of dims.

    Dims are sorted by stride, largest first, equal strides in index order (``ones_last``: those of size 1
    after the others).  Dense strides are dealt out along that order; each must equal the given one unless
    its dim has size 1.
    """
    order = _dim_order(sizes, strides, ranges, range(len(sizes)), ones_last)
    known = order is not None
    if order is None:  # where a dim of size 1 stands has no effect on the others
        rest = [d for d, s in enumerate(sizes) if is_one(s, ranges) is not True]
        order = _dim_order(sizes, strides, ranges, rest, ones_last)
    if order is None:
        return Canon(None, None)
    dense = list(strides)
    run = ONE
    for d in reversed(order):
        dense[d] = run
        run = times(run, _factor(sizes[d], ranges))
    ok = all_of(any_of((equal(strides[d], dense[d], ranges), is_one(sizes[d], ranges))) for d in order)
    return Canon(ok, tuple(dense) if known else None)


def _dim_order(
    sizes: Exprs, strides: Exprs, ranges: Ranges, dims: Iterable[int], ones_last: bool
) -> list[int] | None:
    """``dims`` by descending stride, or None when some pair can't be compared."""
    place = dict.fromkeys(dims, 0)
    for i in place:
        for j in place:
            if i < j:
                first = _comes_first(sizes, strides, ranges, i, j, ones_last)
                if first is None:
                    return None
                place[j if first else i] += 1
    return sorted(place, key=place.__getitem__)


def _comes_first(sizes: Exprs, strides: Exprs, ranges: Ranges, i: int, j: int, ones_last: bool) -> Tri:
    """Whether dim ``i`` is sorted before dim ``j``, for i < j."""
    first = at_least(strides[i], strides[j], ranges)
    if not ones_last or first is not True or at_least(strides[i], strides[j] + 1, ranges) is True:
        return first
    yields = all_of((is_one(sizes[i], ranges), negate(is_one(sizes[j], ranges))))
    if yields is False:
        return True
    return False if yields is True and equal(strides[i], strides[j], ranges) is True else None


def in_bounds(sizes: Exprs, strides: Exprs, offset: Expr, capacity: Expr, ranges: Ranges) -> Tri:
    """Whether a layout with strides >= 0 that starts at element ``offset`` stays inside ``capacity`` elements."""
    end = offset + span(sizes, strides)
    inside = all_of((at_least(offset, 0, ranges), at_least(capacity, end, ranges)))
    return any_of((inside, is_empty(sizes, ranges)))


def self_overlapping(sizes: Exprs, strides: Exprs, ranges: Ranges) -> Tri:
    """Expanded: a dim of more than one element with stride 0."""
    return any_of(
        all_of((equal(t, 0, ranges), at_least(s, 2, ranges))) for s, t in zip(sizes, strides, strict=True)
    )


# -- matrix operands ----------------------------------------------------------------------------


def mm_transposed(strides: Exprs, ranges: Ranges) -> Tri:
    """The Metal matrix products' test for a column-major second operand."""
    return all_of((equal(strides[0], 1, ranges), negate(equal(strides[1], 1, ranges))))


def mm_second_operand_read_right(sizes: Exprs, strides: Exprs, ranges: Ranges) -> Tri:
    """Whether a (K, N) operand is read right by a product that only tells row- from column-major."""
    if len(sizes) != 2:
        return None
    k, n = sizes
    as_rows = contiguous(sizes, strides, ranges)
    as_columns = any_of((equal(strides[1], k, ranges), is_one(n, ranges), is_empty(sizes, ranges)))
    by_column = mm_transposed(strides, ranges)
    if by_column is None:
        return as_rows if as_rows == as_columns else None
    return as_columns if by_column else as_rows


# -- tests of two layouts -----------------------------------------------------------------------


def same(a: Exprs, b: Exprs, ranges: Ranges) -> Tri:
    """Equal length and equal values."""
    if len(a) != len(b):
        return False
    return all_of(equal(x, y, ranges) for x, y in zip(a, b, strict=True))


def same_strides_where_it_matters(sizes: Exprs, a: Exprs, b: Exprs, ranges: Ranges) -> Tri:
    """Equal strides in every dim of more than one element."""
    if not len(sizes) == len(a) == len(b):
        return False
    return _matches(sizes, a, b, ranges)


def broadcastable(source: Exprs, target: Exprs, ranges: Ranges) -> Tri:
    """Whether sizes ``source`` expand to ``target``."""
    if len(source) > len(target):
        return False
    tail = target[len(target) - len(source) :]
    return all_of(any_of((equal(s, t, ranges), is_one(s, ranges))) for s, t in zip(source, tail, strict=True))
