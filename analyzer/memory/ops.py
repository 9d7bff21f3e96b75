"""Shapes of what library ops return, where the wrapper does not state them.

Only facts of the ops themselves: what a runtime does with layouts is in its profile.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TypeAlias

from ..model.program import Call
from ..runtimes.predicates import channels_last_strides, contiguous_strides, looks_channels_last
from ..symbolic import ONE, Expr, const, floordiv
from ..symbolic.assumptions import Ranges
from .storage import Tensor

#: Sizes, strides (elements) and dtype of one result; None when it is not known.
Shape: TypeAlias = "tuple[tuple[Expr, ...], tuple[Expr, ...], str] | None"

_NAME = re.compile(r"aoti_torch_(?:cpu|cuda|mps|xpu)_(\w+)")


def base_name(op: str) -> str:
    """The op without prefix and device: ``convolution`` of ``aoti_torch_mps_convolution``."""
    m = _NAME.match(op)
    return m.group(1) if m else op.removeprefix("aoti_torch_")


#: Arguments that an op changes although its name does not say so.
_CHANGED = {"gated_delta_rule": (5,)}


def writes(call: Call, args: Sequence[object]) -> tuple[Tensor, ...] | None:
    """Operands an op writes; None when that is not known.

    Source: the shim's calling convention: ``…_out`` ops take the output first, ops whose name ends in an
    underscore change their first operand.
    """
    if call.writes is not None:
        at_ = call.writes.positions
        return (
            None
            if at_ is None
            else tuple(a for i, a in enumerate(args) if i in at_ and isinstance(a, Tensor))
        )
    name = base_name(call.op)
    tensors = [a for a in args if isinstance(a, Tensor)]
    if name.startswith("proxy_executor") or name.startswith("call_dispatcher"):
        return None
    if (
        re.search(r"_out(?:_v\d+)?$", name)
        or name in ("copy_", "zero_", "fill_")
        or re.search(r"_$|__\w+$|^zero_|_inplace", name)
    ):
        return tuple(tensors[:1])
    return tuple(a for at, a in enumerate(args) if at in _CHANGED.get(name, ()) and isinstance(a, Tensor))


def result_layouts(op: str, args: Sequence[object], ranges: Ranges) -> list[Shape]:
    """Layouts of the results under libtorch, in order; empty when the op is not known here."""
    rule = _RULES.get(base_name(op))
    return rule(args, ranges) if rule is not None else []


def _convolution(args: Sequence[object], ranges: Ranges) -> list[Shape]:
    """``convolution(x, w, bias, stride, n, padding, n, dilation, n, transposed, output_padding, n, groups)``."""
    x, w = args[0], args[1]
    if not isinstance(x, Tensor) or not isinstance(w, Tensor) or x.sizes is None or w.sizes is None:
        return []
    stride, padding, dilation, out_padding = (args[i] if len(args) > i else None for i in (3, 5, 7, 10))
    transposed = args[9] if len(args) > 9 else None
    groups = args[12] if len(args) > 12 else None
    if not all(isinstance(v, tuple) for v in (stride, padding, dilation)) or not isinstance(transposed, Expr):
        return []
    spatial = len(w.sizes) - 2
    if spatial < 1 or len(x.sizes) not in (len(w.sizes), len(w.sizes) - 1):
        return []
    batched = len(x.sizes) == len(w.sizes)
    head = x.sizes[:-spatial]

    def at(values: object, i: int) -> Expr:
        items = values if isinstance(values, tuple) and values else (const(0),)
        v = items[i] if i < len(items) else items[0]
        return v if isinstance(v, Expr) else const(0)

    out: list[Expr] = []
    for i in range(spatial):
        size, k = x.sizes[len(head) + i], w.sizes[2 + i]
        reach = at(dilation, i) * (k - 1)
        if transposed.value == 0:
            out.append(floordiv(size + at(padding, i) * 2 - reach - 1, at(stride, i)) + 1)
        else:
            out.append((size - 1) * at(stride, i) - at(padding, i) * 2 + reach + at(out_padding, i) + 1)
    channels = (
        w.sizes[0] if transposed.value == 0 else w.sizes[1] * (groups if isinstance(groups, Expr) else ONE)
    )
    sizes = (*((head[0],) if batched else ()), channels, *out)
    last = any(
        t.strides is not None
        and t.sizes is not None
        and len(t.sizes) == 4
        and looks_channels_last(t.sizes, t.strides, ranges)
        for t in (x, w)
    )
    strides = (
        channels_last_strides(sizes, ranges)
        if last and len(sizes) == 4
        else contiguous_strides(sizes, ranges)
    )
    return [(sizes, strides, x.dtype)]


def _efficient_attention(args: Sequence[object], ranges: Ranges) -> list[Shape]:
    """``_scaled_dot_product_efficient_attention(q, k, v, bias, compute_log_sumexp, …)`` on CUDA.

    The output is allocated as [batch, queries, heads, value dim] and returned with heads before queries;
    seed and offset are scalars.
    """
    q, v = args[0], args[2] if len(args) > 2 else None
    if not isinstance(q, Tensor) or not isinstance(v, Tensor) or q.sizes is None or v.sizes is None:
        return []
    if len(q.sizes) != 4 or len(v.sizes) != 4:
        return []
    (b, h, m, _), d = q.sizes, v.sizes[3]
    logsumexp = args[4] if len(args) > 4 else None
    rows = floordiv(m + 31, 32) * 32 if isinstance(logsumexp, Expr) and logsumexp.value == 1 else const(0)
    lse = (b, h, rows)
    scalar: Shape = ((), (), "int64")
    out: Shape = ((b, h, m, d), (m * h * d, d, h * d, ONE), q.dtype)
    return [out, (lse, contiguous_strides(lse, ranges), "float32"), scalar, scalar]


def _cpu_flash_attention(args: Sequence[object], ranges: Ranges) -> list[Shape]:
    """``_scaled_dot_product_flash_attention_for_cpu(q, k, v, …)``: made with queries before heads, returned the other way."""
    q = args[0]
    if not isinstance(q, Tensor) or q.sizes is None or len(q.sizes) != 4:
        return []
    b, h, m, d = q.sizes
    out: Shape = ((b, h, m, d), (m * h * d, d, h * d, ONE), q.dtype)
    wide = "float64" if q.dtype == "float64" else "float32"
    return [out, ((b, h, m), (m * h, ONE, h), wide)]


def _cat(args: Sequence[object], ranges: Ranges) -> list[Shape]:
    """``cat(tensors, n, dim)``: channels-last where every tensor is, else contiguous."""
    tensors, dim = args[0], args[-1]
    if not isinstance(tensors, tuple) or not tensors or not isinstance(dim, Expr) or dim.value is None:
        return []
    sizes: list[tuple[Expr, ...]] = []
    last = True
    for t in tensors:
        if not isinstance(t, Tensor) or t.sizes is None or t.strides is None:
            return []
        sizes.append(t.sizes)
        last = last and len(t.sizes) == 4 and looks_channels_last(t.sizes, t.strides, ranges) is True
    rank = len(sizes[0])
    if not rank or any(len(s) != rank for s in sizes) or rank > 4:
        return []
    at = dim.value % rank
    total = sum((s[at] for s in sizes), const(0))
    out = (*sizes[0][:at], total, *sizes[0][at + 1 :])
    strides = channels_last_strides(out, ranges) if last else contiguous_strides(out, ranges)
    first = tensors[0]
    assert isinstance(first, Tensor)
    return [(out, strides, first.dtype)] if all(t.dtype == first.dtype for t in tensors) else []


def _clone(args: Sequence[object], ranges: Ranges) -> list[Shape]:
    """A copy keeps the strides of a dense tensor; only of a contiguous one is that known here."""
    x = args[0] if args else None
    if not isinstance(x, Tensor) or x.sizes is None or x.strides is None:
        return []
    dense = contiguous_strides(x.sizes, ranges)
    return [(x.sizes, dense, x.dtype)] if tuple(x.strides) == tuple(dense) else []


_RULES: dict[str, Callable[[Sequence[object], Ranges], list[Shape]]] = {
    "clone": _clone,
    "convolution": _convolution,
    "cat": _cat,
    "_scaled_dot_product_flash_attention_for_cpu": _cpu_flash_attention,
    "_scaled_dot_product_efficient_attention": _efficient_attention,
}
