"""Relations between the arguments of an op that no single argument shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..symbolic.assumptions import Ranges
from . import predicates as p
from .model import Judgement, Layout, OpArg, constant_number, shape


def conv_bias(args: Sequence[OpArg], ranges: Ranges) -> list[Judgement]:
    """The Metal convolution adds its bias without reshaping it, so it lines up with the last axis."""
    weight, bias = args[1], args[2]
    if not isinstance(weight, Layout) or not isinstance(bias, Layout) or not weight.sizes:
        return []
    one = p.is_one(weight.sizes[0], ranges)
    if one is True:
        return []
    kind = "misread" if one is False else "unknown"
    reason = (
        f"adds the bias {shape(bias.sizes)} along the last axis, not along the {weight.sizes[0]} channels"
    )
    return [Judgement("bias", 2, kind, reason, "", "op.convolution.bias", "MET-CONV-BIAS")]


def conv_bias_unless_4d(args: Sequence[OpArg], ranges: Ranges) -> list[Judgement]:
    """:func:`conv_bias`, put right for 4-D input."""
    operand = args[0]
    return [] if isinstance(operand, Layout) and len(operand.sizes) == 4 else conv_bias(args, ranges)


def conv_padding(args: Sequence[OpArg], ranges: Ranges) -> list[Judgement]:
    """A one-element padding list pads H only in the 2-D case."""
    weight, padding = args[1], args[5]
    if not isinstance(weight, Layout) or len(weight.sizes) < 4 or not isinstance(padding, tuple):
        return []
    if len(padding) != 1 or constant_number(padding[0]) == 0:
        return []
    reason = f"pads height by {padding[0]} and width by 0: the list has one element"
    return [Judgement("padding", 5, "misread", reason, "", "op.convolution.padding", "MET-CONV-PAD1")]


def sdpa_value_head(args: Sequence[OpArg], ranges: Ranges) -> list[Judgement]:
    """The head size of the value is taken to be the query's."""
    query, value = args[0], args[2]
    if not isinstance(query, Layout) or not isinstance(value, Layout):
        return []
    if not query.sizes or not value.sizes or ranges.equal(query.sizes[-1], value.sizes[-1]) is not False:
        return []
    reason = f"takes the head size of value for that of query: {value.sizes[-1]} for {query.sizes[-1]}"
    return [Judgement("value", 2, "misread", reason, "", "op.sdpa.value", "MET-SDPA-SHAPE")]


def sdpa_mask(args: Sequence[OpArg], ranges: Ranges) -> list[Judgement]:
    """The mask is indexed by ``batch*heads + head`` times its head stride, which is 0 if that dim has size 1."""
    query, mask = args[0], args[3]
    if not isinstance(query, Layout) or not isinstance(mask, Layout) or len(query.sizes) != 4:
        return []

    def verdict(kind: str, reason: str) -> list[Judgement]:
        return [Judgement("attn_mask", 3, kind, reason, "", "op.sdpa.mask", "MET-SDPA-MASK")]

    if mask.dtype == "bool" or (mask.dtype and query.dtype and mask.dtype != query.dtype):
        return verdict("misread", f"reads the {mask.dtype} mask as {query.dtype or 'floats'}")
    batch, heads = query.sizes[0], query.sizes[1]
    if len(mask.sizes) < 3 or p.is_one(batch, ranges) is True:
        return []
    per_head = p.negate(p.is_one(mask.sizes[-3], ranges))
    per_batch = False if len(mask.sizes) == 3 else p.negate(p.is_one(mask.sizes[-4], ranges))
    if per_head is False and per_batch is False:
        return []
    if per_head and per_batch and ranges.equal(mask.strides[-4], heads * mask.strides[-3]) is True:
        return []
    text = f"mask {shape(mask.sizes)}/{shape(mask.strides)} for {batch} batches of {heads} heads"
    if None in (per_head, per_batch, p.is_one(batch, ranges)):
        return verdict("unknown", f"it is not decided how {text} is read")
    if per_batch and not per_head:
        return verdict("misread", f"reads the mask of batch 0 for every batch: {text}")
    if per_head and not per_batch:
        return verdict("misread", f"reads past the end of the {text}")
    if ranges.equal(mask.strides[-4], heads * mask.strides[-3]) is None:
        return verdict("unknown", f"it is not decided how {text} is read")
    return verdict("misread", f"steps from batch to batch by heads times the head stride: {text}")


def sdpa_dropout_mask(args: Sequence[OpArg], ranges: Ranges) -> list[Judgement]:
    """A dropout mask is refused."""
    mask, reason = args[6], "a dropout mask is not supported"
    if mask is None:
        return []
    kind = "reject" if isinstance(mask, Layout) else "unknown"
    return [Judgement("dropout_mask", 6, kind, reason, "NotImplemented", "op.sdpa.dropout_mask")]


def randint_out(args: Sequence[OpArg], ranges: Ranges) -> list[Judgement]:
    """Writes one int64 for each element of the size list, whatever the tensor holds."""
    out, size = args[0], args[3]
    if not isinstance(out, Layout) or not isinstance(size, tuple):
        return []
    wanted = [constant_number(x) for x in size]
    numbers = [int(x) for x in wanted if x is not None]
    if len(numbers) < len(wanted):
        return []
    count = 1
    for n in numbers:
        count *= n
    if ranges.equal(p.numel(out.sizes), count) is not False:
        return []
    reason = f"writes {count} elements into out, which has {p.numel(out.sizes)}"
    return [Judgement("out", 0, "misread", reason, "", "op.randint_low_out.size", "CUD-RANDINT")]


def conv_cache(args: Sequence[OpArg], earlier: Sequence[OpArg]) -> list[Judgement]:
    """A compiled graph is kept under the shapes; having a bias and the output padding are no part of its key."""
    if _key(args) != _key(earlier):
        return []
    bias, kept = args[2] is not None, earlier[2] is not None
    if bias != kept:
        reason = "runs the graph kept from an earlier call of these shapes, which " + (
            "has a bias" if kept else "has no bias: this one is dropped"
        )
    elif args[10] != earlier[10]:
        reason = "runs the graph kept from an earlier call of these shapes, which has another output padding"
    else:
        return []
    return [Judgement("", -1, "misread", reason, "", "op.convolution.cache", "MET-CONV-CACHE")]


def _key(args: Sequence[OpArg]) -> list[object]:
    """What a convolution's graph is kept under: shapes of input and weight, and the numbers but output padding."""
    shapes = [(a.sizes, a.dtype) if isinstance(a, Layout) else None for a in args[:2]]
    return [*shapes, *args[3:10], *args[12:]]


#: Checks of a call against an earlier one of the same op.
PAIR_CHECKS: dict[str, Callable[[Sequence[OpArg], Sequence[OpArg]], list[Judgement]]] = {
    "conv-cache": conv_cache
}
CHECKS: dict[str, Callable[[Sequence[OpArg], Ranges], list[Judgement]]] = {
    "conv-bias": conv_bias,
    "conv-bias-unless-4d": conv_bias_unless_4d,
    "conv-padding": conv_padding,
    "sdpa-value-head": sdpa_value_head,
    "sdpa-mask": sdpa_mask,
    "sdpa-dropout-mask": sdpa_dropout_mask,
    "randint-out": randint_out,
}
