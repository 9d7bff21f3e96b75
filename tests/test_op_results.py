"""Tensors that ops return, and sizes that the wrapper computes: what is stated is used, what is not is no guess."""

from __future__ import annotations

from fractions import Fraction

import pytest
from aoti_lint.analyzer.checks.launch_contract import _divisors, _zero
from aoti_lint.analyzer.cxx.nodes import Node
from aoti_lint.analyzer.model.findings import FileReport
from aoti_lint.analyzer.pipeline import Task, check_source
from aoti_lint.analyzer.symbolic import evaluate, floordiv, mod, sym
from aoti_lint.analyzer.symbolic.assumptions import Ranges
from aoti_lint.analyzer.wrapper.fractions import NotExact, rational
from aoti_lint.rules.registry import run_rules

from .execution.texts import empty, wrapper

KERNEL = """extern "C"  void  cpp_fused_add_0(const {type}* in_ptr0, float* out_ptr0)
{{
    for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>({count}L); x0+=static_cast<int64_t>(1L))
    {{
        out_ptr0[static_cast<int64_t>(x0)] = in_ptr0[static_cast<int64_t>(x0)];
    }}
}}
"""
#: An op whose result has a type of its own; the wrapper states sizes and strides of the result and nothing else.
OP = """    AtenTensorHandle buf1_handle;
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_cpu_{op}, &buf1_handle));
    RAIIAtenTensorHandle buf1(buf1_handle);
    if (_check_aoti_runtime_check_inputs_env()) {{ assert_size_stride(buf1, {{{sizes}}}, {{{strides}}}, "torch.ops.aten"); }}
"""
LAUNCH = "    cpp_fused_add_0((const {type}*)({name}.data_ptr()), (float*)(buf9.data_ptr()));\n"


def report(body: str, type_: str, count: int, name: str = "buf1") -> FileReport:
    source = wrapper(
        "cpu",
        f'extern "C"  void  cpp_fused_add_0(const {type_}* in_ptr0, float* out_ptr0);\n',
        [("arg0_1", (4, 6), (6, 1))],
        empty("buf9", (count,), (1,), "cpu") + body + LAUNCH.format(type=type_, name=name),
        kernel_file=KERNEL.format(type=type_, count=count),
    )
    (found,) = check_source(Task(source, ("libtorch",), {}), run_rules)
    return found


@pytest.mark.parametrize(("count", "verdict"), [(24, "proved"), (25, "fault")])
@pytest.mark.parametrize("type_", ["int64_t", "float", "bool"])
def test_elements_of_a_result_are_of_the_type_its_kernels_point_to(
    type_: str, count: int, verdict: str
) -> None:
    """24 elements, however many bytes each has: not 12 of 8 bytes nor 96 of one."""
    body = OP.format(
        op="searchsorted_Tensor(arg0_1, arg0_1, 0, 1, nullptr, nullptr", sizes="4L, 6L", strides="6L, 1L"
    )
    found = report(body, type_, count)
    assert not found.counts.unmodelled_statements
    assert found.counts.accesses[verdict] >= 1
    errors = {f.code for f in found.findings if f.severity == "error"}
    assert errors == (set() if verdict == "proved" else {"AL201"})


def test_so_are_those_of_its_views() -> None:
    body = OP.format(op="nonzero(arg0_1", sizes="24L, 2L", strides="1L, 24L")
    body += "    auto buf2 = std::move(buf1);  // reuse\n"
    assert not [f for f in report(body, "int64_t", 48, "buf2").findings if f.severity == "error"]


@pytest.mark.parametrize(
    ("dtype", "sizes", "strides", "type_", "count"),
    [("int16", "4L, 12L", "12L, 1L", "int16_t", 48), ("float64", "4L, 3L", "3L, 1L", "double", 12)],
)
def test_bytes_seen_as_another_type_split_or_join_the_last_dim(
    dtype: str, sizes: str, strides: str, type_: str, count: int
) -> None:
    """Four rows of six floats are 24 bytes each."""
    body = OP.format(op=f"view_dtype(arg0_1, cached_torch_dtype_{dtype}", sizes=sizes, strides=strides)
    for surplus, errors in ((0, []), (1, ["AL201"])):
        found = report(body, type_, count + surplus)
        assert [f.code for f in found.findings if f.severity == "error"] == errors


def _product(p: float, q: float) -> Node:
    quotient = Node("bin", "/", [Node("float", str(p), [], 0, 0), Node("float", str(q), [], 0, 0)], 0, 0)
    return Node("bin", "*", [quotient, Node("name", "n", [], 0, 0)], 0, 0)


@pytest.mark.parametrize("divisor", range(2, 200))
def test_a_factor_in_floating_point_is_taken_only_where_doubles_give_the_exact_quotient(divisor: int) -> None:
    """Compared with the arithmetic itself, for the multiples of the divisor that fit 16 bits."""
    right = all(int((1.0 / divisor) * n) == n // divisor for n in range(divisor, 1 << 16, divisor))
    try:
        numerator, denominator = rational(_product(1.0, float(divisor)), lambda _: sym("n"))
    except NotExact:
        assert not right
        return
    assert right and Fraction(evaluate(numerator, {"n": 98}), denominator) == Fraction(98, divisor)


def test_the_known_divisor_that_misses() -> None:
    """1/49 is stored too small: 49 times it is less than 1."""
    assert int((1.0 / 49.0) * 49) == 0
    with pytest.raises(NotExact):
        rational(_product(1.0, 49.0), lambda _: sym("n"))


@pytest.mark.parametrize(("offset", "verdict"), [("align(100L)", "proved"), ("align(129L)", "fault")])
def test_pieces_of_a_pool_are_aligned_to_64_bytes(offset: str, verdict: str) -> None:
    """A pool of 128 + 96 bytes: 24 floats fit from byte 128 on, not from byte 192 on."""
    body = empty("pool0", (224,), (1,), "cpu", "uint8")
    body += (
        "    static constexpr int64_t int_array_7[] = {24L, };\n    static constexpr int64_t int_array_8[] = {1L, };\n"
        "    AtenTensorHandle tmp_tensor_handle_0;\n    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch__alloc_from_pool("
        f"pool0, {offset}, cached_torch_dtype_float32, 1, int_array_7, int_array_8, &tmp_tensor_handle_0));\n"
        "    auto buf1 = RAIIAtenTensorHandle(tmp_tensor_handle_0);\n"
    )
    found = report(body, "float", 24)
    assert not found.counts.unmodelled_statements and found.counts.accesses[verdict] >= 1
    assert bool(found.counts.accesses["fault"]) is (verdict == "fault")


CONVOLUTION = (
    "    AtenTensorHandle buf1_handle;\n    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_{device}_convolution(arg0_1, arg1_1, nullptr, "
    "{pair}, 2, {none}, 2, {pair}, 2, 0, {none}, 2, {groups}L, &buf1_handle));\n    RAIIAtenTensorHandle buf1(buf1_handle);\n"
    '    if (_check_aoti_runtime_check_inputs_env()) {{{{ assert_size_stride(buf1, {{{{1L, 8L, 5L, 6L}}}}, {{{{{stated}}}}}, "conv"); }}}}\n'
)
NCHW, NHWC = "240L, 30L, 6L, 1L", "240L, 1L, 48L, 8L"


def convolution(
    device: str,
    x: tuple[int, ...],
    w: tuple[int, ...],
    stated: str,
    groups: int = 1,
    severity: str = "error",
) -> list[str]:
    """A 1x1 convolution of {1, 4, 5, 6} to 8 channels."""
    pair, none = (f"std::array<int64_t, 2>{{{n}L, {n}L}}.cbegin()" for n in (1, 0))
    body = CONVOLUTION.format(device=device, pair=pair, none=none, groups=groups, stated=stated)
    inputs = [("arg0_1", (1, 4, 5, 6), x), ("arg1_1", (8, 4 // groups, 1, 1), w)]
    source = wrapper(device, "", inputs, body.replace("{{", "{").replace("}}", "}"))
    (found,) = check_source(Task(source, ("libtorch",), {}), run_rules)
    return [f.code for f in found.findings if f.severity == severity]


@pytest.mark.parametrize("device", ["cpu", "mps"])
@pytest.mark.parametrize(
    ("x", "w", "last"),
    [
        ((120, 30, 6, 1), (4, 1, 1, 1), False),
        ((120, 1, 24, 4), (4, 1, 1, 1), True),
        # the same bytes, but these strides say channels-last: torch 2.13 was asked
        ((120, 30, 6, 1), (4, 1, 4, 4), True),
        # four channels of a channels-last tensor of six
        ((180, 1, 36, 6), (4, 1, 1, 1), True),
    ],
)
def test_a_convolution_keeps_the_layout_its_operands_suggest(
    device: str, x: tuple[int, ...], w: tuple[int, ...], last: bool
) -> None:
    assert convolution(device, x, w, NHWC if last else NCHW) == []
    # Before macOS 15 a Metal convolution may be row-major whatever its operands are: no proof, so a warning.
    severity = "warning" if device == "mps" and last else "error"
    assert convolution(device, x, w, NCHW if last else NHWC, severity=severity) == ["AL404"]
    if severity == "warning":
        assert convolution(device, x, w, NCHW) == []


def test_what_cudnn_may_leave_to_another_kernel_is_not_said() -> None:
    last, w = (120, 1, 24, 4), (4, 1, 1, 1)
    assert convolution("cuda", last, w, NCHW, groups=4) == []


def test_a_size_that_is_divided_by_one_that_may_be_zero() -> None:
    size = floordiv(10 * sym("s0"), sym("s1")) + mod(sym("s0"), 4)
    assert sym("s1") in set(_divisors(size))
    assert _zero(sym("s1"), Ranges({"s1": (0, None)})) == {"s1": 0}
    assert _zero(sym("s1"), Ranges({"s1": (1, None)})) is None
