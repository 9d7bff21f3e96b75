"""Sizes, layouts and values that a wrapper leaves open."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from aoti_lint.analyzer.model.program import Branch, Call, Check, Event, Loop, Program
from aoti_lint.analyzer.symbolic import Cond, Expr, evaluate_cond

from .results import NotRun
from .rewrite import Runnable
from .script import Place, row_major

#: Bytes of the element types that kernels name.
ELEMENT_BYTES = {
    "float": 4, "double": 8, "bool": 1, "half": 2, "bfloat": 2, "at::Half": 2, "at::BFloat16": 2,
    "at::Float8_e4m3fn": 1, "at::Float8_e5m2": 1, "at::complex<float>": 8, "c10::complex<float>": 8, "float2": 8,
    "int8_t": 1, "uint8_t": 1, "int16_t": 2, "uint16_t": 2, "int32_t": 4, "uint32_t": 4, "int64_t": 8, "uint64_t": 8,
    "int1": 1, "int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4, "int64": 8, "uint64": 8,
    "float16": 2, "bfloat16": 2, "float32": 4, "float64": 8, "float8e4nv": 1, "float8e5": 1, "long": 8, "ulong": 8, "int": 4, "uint": 4, "short": 2, "ushort": 2, "char": 1, "uchar": 1,
}  # fmt: skip


def choose_sizes(program: Program, given: Mapping[str, int]) -> dict[str, int]:
    """A value for every size symbol that the wrapper's own checks admit. Raises NotRun."""
    free = [s for s in program.symbols if s.name not in given]
    checks = [*program.checks, *(c for f in program.functions for c in _checks(f.events))]
    for value in (5, 7, 4, 8, 3, 16, 6, 2, 12, 32, 1):
        sizes = dict(given)
        for s in free:
            sizes[s.name] = max(s.lo, min(value, s.hi if s.hi is not None else value))
        try:
            if all(evaluate_cond(c, sizes) for c in checks):
                return sizes
        except (KeyError, ValueError, ZeroDivisionError):
            continue
    raise NotRun("no sizes found that the wrapper's checks admit")


def _checks(events: Sequence[Event]) -> Iterator[Cond]:
    for e in events:
        if isinstance(e, Check):
            yield e.cond
        for inner in e.arms if isinstance(e, Branch) else (e.body,) if isinstance(e, Loop) else ():
            yield from _checks(inner)


def index_limit(kernels: Sequence[Runnable]) -> int:
    """Largest value for integer inputs that every bounds check of the kernels lets pass."""
    bounds = [
        int(m)
        for k in kernels
        for m in re.findall(r"\btmp\w+ (?:<|>=) (?:\w+::\w+::\w+<[^>]*>\()?(\d+)L?\)", k.code)
    ]
    return max(0, min([b for b in bounds if b > 0], default=2) - 1)


def result_layout(
    e: Call, name: str, operands: Sequence[Place], number: Callable[[Expr], int]
) -> tuple[Sequence[int], Sequence[int]] | None:
    """Sizes and strides of a result the wrapper does not state; None when they are not known here."""
    if "_scaled_dot_product_" in e.op and len(operands) > 2:
        return attention(e, name, [at.sizes for at in operands])
    if e.op.endswith("_convolution") and len(operands) > 1:
        x, w = operands[0], operands[1]
        lists = [
            tuple(number(v) for v in e.args[i] if isinstance(v, Expr))
            for i in (3, 5, 7)
            if isinstance(e.args[i], tuple)
        ]
        if len(lists) == 3 and isinstance(e.args[9], Expr) and number(e.args[9]) == 0:
            return convolution(x, w, *lists)
    return None


def convolution(
    x: Place, w: Place, stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int]
) -> tuple[Sequence[int], Sequence[int]]:
    """A forward convolution, with channels last when an operand has them last."""
    spatial = [
        (n + 2 * p - d * (k - 1) - 1) // s + 1
        for n, k, s, p, d in zip(x.sizes[2:], w.sizes[2:], stride, padding, dilation, strict=True)
    ]
    sizes = (x.sizes[0], w.sizes[0], *spatial)
    if any(at.strides[1] == 1 and at.sizes[1] > 1 and at.strides != row_major(at.sizes) for at in (x, w)):
        last = row_major((sizes[0], *spatial, sizes[1]))
        return sizes, (last[0], last[-1], *last[1:-1])
    return sizes, row_major(sizes)


def attention(
    e: Call, name: str, operands: Sequence[tuple[int, ...]]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Sizes and strides of what attention returns: the output as heads x rows, with heads stored inside rows on
    CPU, and a second result of one number per row (CPU) or per pair of rows (MPS). Four dimensions each."""
    (*batch, heads, rows, _), (*_, keys, _), (*_, width) = operands[:3]
    first = name == e.results[0]
    if "_for_cpu" in e.op:
        inner = (rows * heads * width, width, heads * width, 1) if first else (rows * heads, 1, heads)
        return ((*batch, heads, rows, width) if first else (*batch, heads, rows)), inner
    sizes = (*batch, heads, rows, width if first else keys)
    return sizes, row_major(sizes)
