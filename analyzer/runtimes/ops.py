"""What a library op of a runtime does with the layouts it is given."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..model.record import record
from ..symbolic.assumptions import Ranges
from . import predicates as p
from .model import Judgement, Layout, OpArg, constant_number, shape
from .op_checks import CHECKS, PAIR_CHECKS
from .predicates import Exprs, Tri

#: More arguments than any C call here has; positions past the end count as null.
MAX_ARGS = 24


@record(frozen=True)
class ArgPolicy:
    """A tensor argument. ``at`` counts the arguments of the C call from 0; a list is two, pointer and length.

    ``error`` is what a layout outside ``policy`` does: "" reads or writes the wrong elements in silence.
    ``dims`` are sizes the op insists on, by dim.  ``dense-or-channels-last`` looks at 4-D operands only and
    takes others for dense in silence.
    """

    name: str
    at: int
    policy: str = "honoured"
    role: str = "in"
    error: str = ""
    ranks: tuple[int, ...] = ()
    min_rank: int = 0
    dtypes: tuple[str, ...] = ()
    dims: tuple[tuple[int, tuple[int, ...]], ...] = ()
    note: str = ""
    bug: str = ""


@record(frozen=True)
class ParamPolicy:
    """A number argument and the ``values`` (or the ``minimum``) that work; ``error`` "" is a wrong result."""

    name: str
    at: int
    values: tuple[float, ...] = ()
    minimum: int | None = None
    error: str = ""
    why: str = ""
    bug: str = ""


@record(frozen=True)
class OpPolicy:
    """One op. ``results`` names the layout of each tensor it returns (:data:`RESULTS`).

    ``rank_error`` and ``dtype_error`` are what other ranks and dtypes do, ``size_error`` what a size outside ``dims``
    does ("": the first).  ``dtypes_equal``: all operands must share one dtype, else ``unequal_error`` ("": the second).  ``checks`` names relations between operands (:mod:`.op_checks`).  ``unmodelled`` says
    why nothing is known about layouts.  ``row_major_where``: where the results are row-major whatever ``results`` says.
    """

    name: str
    symbols: tuple[str, ...]
    source: str
    args: tuple[ArgPolicy, ...] = ()
    params: tuple[ParamPolicy, ...] = ()
    results: tuple[str, ...] = ()
    dtypes_equal: bool = False
    rank_error: str = "InvalidArgument"
    dtype_error: str = "InvalidArgument"
    size_error: str = ""
    unequal_error: str = ""
    checks: tuple[str, ...] = ()
    pair_checks: tuple[str, ...] = ()
    unmodelled: str = ""
    row_major_where: str = ""
    note: str = ""

    def judge(self, args: Sequence[OpArg], ranges: Ranges) -> tuple[Judgement, ...]:
        """What is wrong, or not decided, with these arguments; nothing when all is well."""
        if self.unmodelled:
            return (Judgement("", -1, "unknown", self.unmodelled),)
        args = (*args, *(None for _ in range(len(args), MAX_ARGS)))
        out: list[Judgement] = []
        for arg in self.args:
            operand = args[arg.at]
            if isinstance(operand, Layout):
                out.extend(self._operand(arg, operand, ranges))
        for param in self.params:
            out.extend(_number(param, args[param.at]))
        if self.dtypes_equal:
            out.extend(self._dtypes(args))
        for name in self.checks:
            out.extend(CHECKS[name](args, ranges))
        return tuple(out)

    def judge_after(self, args: Sequence[OpArg], earlier: Sequence[OpArg]) -> list[Judgement]:
        """What is wrong with these arguments after a call with ``earlier`` ones."""
        both = [(*a, *(None for _ in range(len(a), MAX_ARGS))) for a in (args, earlier)]
        return [found for name in self.pair_checks for found in PAIR_CHECKS[name](*both)]

    def result_strides(self, index: int, sizes: Exprs, args: Sequence[OpArg], ranges: Ranges) -> Exprs | None:
        """Strides of result ``index`` of these sizes, or None when that is not known."""
        if index >= len(self.results):
            return None
        rule = _RESULT_RULES.get(self.results[index])
        if rule is not None:
            return rule(sizes, args, ranges)
        if self.results[index] == "dense" or len(sizes) != 4:
            return p.contiguous_strides(sizes, ranges)
        formats = [memory_format(a, ranges) for a in args[:2] if isinstance(a, Layout)]
        if "channels-last" in formats:
            return p.channels_last_strides(sizes, ranges)
        return p.contiguous_strides(sizes, ranges) if set(formats) == {"contiguous"} else None

    def _operand(self, arg: ArgPolicy, t: Layout, ranges: Ranges) -> list[Judgement]:
        def verdict(kind: str, reason: str, error: str, fact: str) -> Judgement:
            return Judgement(arg.name, arg.at, kind, reason, error, f"op.{self.name}.{fact}", arg.bug)

        if arg.ranks and len(t.sizes) not in arg.ranks:
            wanted = " or ".join(f"{r}-D" for r in arg.ranks)
            return [
                verdict("reject", f"{arg.name} is {len(t.sizes)}-D, not {wanted}", self.rank_error, "rank")
            ]
        if len(t.sizes) < arg.min_rank:
            reason = f"{arg.name} is {len(t.sizes)}-D, at least {arg.min_rank}-D is needed"
            return [verdict("reject", reason, self.rank_error, "rank")]
        out: list[Judgement] = []
        if arg.dtypes and t.dtype is not None and t.dtype not in arg.dtypes:
            reason = f"{arg.name} is {t.dtype}, not {' or '.join(arg.dtypes)}"
            out.append(verdict("reject", reason, self.dtype_error, "dtype"))
        for dim, values in arg.dims:
            if all(ranges.equal(t.sizes[dim], v) is False for v in values):
                listed = ", ".join(map(str, values))
                reason = f"size {t.sizes[dim]} in dim {dim} of {arg.name} is none of {listed}"
                out.append(verdict("reject", reason, self.size_error or self.rank_error, "size"))
        if t.gathered:
            if arg.role != "in":
                reason = f"{arg.name} is a view with gaps, which this op can't write"
                out.append(verdict("reject", reason, "Internal", "write"))
            return out
        answer, wanted = accepts(arg.policy, t, ranges)
        error = arg.error if len(t.sizes) == 4 or arg.policy != "dense-or-channels-last" else ""
        if answer is not True:
            layout = f"{shape(t.sizes)}/{shape(t.strides)}"
            if answer is None:
                reason = f"it is not decided whether {layout} of {arg.name} is {wanted}"
                out.append(verdict("unknown", reason, error, "layout"))
            else:
                verb = "writes" if arg.role == "out" else "reads"
                what = f"takes {arg.name} only if {wanted}" if error else f"{verb} {arg.name} as {wanted}"
                reason = f"{what}, its layout is {layout}"
                out.append(verdict("reject" if error else "misread", reason, error, "layout"))
        return out

    def _dtypes(self, args: Sequence[OpArg]) -> list[Judgement]:
        operands = [(a.name, args[a.at]) for a in self.args]
        seen = {(n, t.dtype) for n, t in operands if isinstance(t, Layout) and t.dtype is not None}
        if len({d for _, d in seen}) < 2:
            return []
        listed = ", ".join(f"{n} {d}" for n, d in sorted(seen))
        reason = f"operands differ in dtype: {listed}"
        error = self.unequal_error or self.dtype_error
        return [Judgement("", -1, "reject", reason, error, f"op.{self.name}.dtype")]


def _as_suggested(sizes: Exprs, args: Sequence[OpArg], ranges: Ranges) -> Exprs | None:
    """PyTorch's convolutions of 4-D tensors: channels-last when the input or the weight suggests it."""
    operands = [a for a in args[:2] if isinstance(a, Layout)]
    if len(sizes) != 4 or len(operands) < 2 or any(len(a.sizes) != 4 for a in operands):
        return None
    last = p.any_of(p.looks_channels_last(a.sizes, a.strides, ranges) for a in operands)
    if last is None:
        return None
    return p.channels_last_strides(sizes, ranges) if last else p.contiguous_strides(sizes, ranges)


def _as_cudnn(sizes: Exprs, args: Sequence[OpArg], ranges: Ranges) -> Exprs | None:
    """As suggested, for the convolutions that cuDNN is sure to do: one group, and not in float64."""
    groups = constant_number(args[12]) if len(args) > 12 else None
    doubles = any(isinstance(a, Layout) and a.dtype in (None, "float64") for a in args[:2])
    return None if groups != 1 or doubles else _as_suggested(sizes, args, ranges)


def _heads_inside(sizes: Exprs, args: Sequence[OpArg], ranges: Ranges) -> Exprs | None:
    """Attention that works on [batch, position, head, dim] and returns heads before positions."""
    if len(sizes) != 4:
        return None
    b, h, m, d = sizes
    dense = p.contiguous_strides((b, m, h, d), ranges)
    return dense[0], dense[2], dense[1], dense[3]


_RESULT_RULES: dict[str, Callable[[Exprs, Sequence[OpArg], Ranges], Exprs | None]] = {
    "as-suggested": _as_suggested,
    "as-cudnn": _as_cudnn,
    "heads-inside": _heads_inside,
}
#: Layouts of results: row-major, that of 4-D operands, or by a rule of the op's own.
RESULTS = ("dense", "as-operands", *_RESULT_RULES)


def memory_format(t: Layout, ranges: Ranges) -> str | None:
    """``contiguous``, ``channels-last``, ``neither``, or None when not decided."""
    dense = p.contiguous(t.sizes, t.strides, ranges)
    last = p.channels_last(t.sizes, t.strides, ranges)
    if t.gathered:
        return "contiguous"
    if dense is None or last is None:
        return None
    if dense and last:
        looks = p.looks_channels_last(t.sizes, t.strides, ranges)
        return None if looks is None else "channels-last" if looks else "contiguous"
    return "contiguous" if dense else "channels-last" if last else "neither"


def _dense_or_channels_last(t: Layout, ranges: Ranges) -> Tri:
    return p.any_of(f(t.sizes, t.strides, ranges) for f in (p.contiguous, p.channels_last))


def _unit_last(t: Layout, ranges: Ranges) -> Tri:
    return ranges.equal(t.strides[-1], 1) if t.strides else True


#: policy -> (which layouts it handles right, what it takes the layout to be)
POLICIES: dict[str, tuple[Callable[[Layout, Ranges], Tri], str]] = {
    "honoured": (lambda t, r: True, "any layout"),
    "dense": (lambda t, r: p.contiguous(t.sizes, t.strides, r), "dense row-major"),
    "contiguous": (lambda t, r: p.contiguous(t.sizes, t.strides, r), "contiguous"),
    "row-major": (
        lambda t, r: p.row_major(t.sizes, t.strides, r),
        "exactly row-major, dims of size 1 included",
    ),
    "transpose-only": (
        lambda t, r: p.mm_second_operand_read_right(t.sizes, t.strides, r),
        "dense row-major or its transpose",
    ),
    "unit-last-stride": (_unit_last, "of stride 1 in the last dim"),
    "dense-or-channels-last": (_dense_or_channels_last, "contiguous or channels-last"),
}


def accepts(policy: str, t: Layout, ranges: Ranges) -> tuple[Tri, str]:
    """Whether an op with this policy handles the layout right, and the layout it assumes."""
    test, wanted = POLICIES[policy]
    return test(t, ranges), wanted


def _number(param: ParamPolicy, value: OpArg) -> list[Judgement]:
    number = constant_number(value)
    if number is None:
        return []
    fine = number in param.values if param.values else param.minimum is None or number >= param.minimum
    if fine:
        return []
    wanted = ", ".join(f"{v:g}" for v in param.values) or f"at least {param.minimum}"
    reason = param.why or f"{param.name} is {number:g}, accepted is {wanted}"
    kind = "reject" if param.error else "misread"
    return [Judgement(param.name, param.at, kind, reason, param.error, f"param.{param.name}", param.bug)]
