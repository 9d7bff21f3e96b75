"""Parts of the Triton reader: host arithmetic, indices computed in floating point, finding the sources."""

from __future__ import annotations

import numpy as np
import pytest
from aoti_lint.analyzer.kernels.triton import floats
from aoti_lint.analyzer.kernels.triton.host import host_expression
from aoti_lint.analyzer.kernels.triton.reader import find_launchers
from aoti_lint.analyzer.kernels.triton.values import Unsupported
from aoti_lint.analyzer.symbolic import Expr, evaluate, floordiv, sym


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("((xnumel + (512 - 1)) / (512))", -(-1000 // 512)),
        ("std::max(1L, xnumel / 3UL)", 333),
        ("static_cast<int64_t>(xnumel) % 7", 1000 % 7),
        ("(int64_t)(xnumel) - 0x10", 984),
        ("xnumel > 999 && n != 2 ? 5LL : (n == 2 ? 6 : 7)", 6),
        ("!(xnumel < 10) ? min(n, 1) : 0", 1),
        ("(n + xnumel) * -1", -1002),
    ],
)
def test_host_arithmetic(text: str, value: int) -> None:
    assert evaluate(host_expression(text, {}), {"xnumel": 1000, "n": 2}) == value


@pytest.mark.parametrize("text", ["", "f(x)", "x +", "x.y", "a b", '"text"', "x.size(0)"])
def test_host_text_that_is_no_integer_arithmetic(text: str) -> None:
    with pytest.raises(Unsupported):
        host_expression(text, {})


F = np.float32


def resize(scale: float, half: bool) -> tuple[floats.FloatFn, np.ndarray]:
    """The source index of a resize by ``scale`` and the single-precision value it has at 0..63."""
    x = np.arange(64, dtype=np.float32)
    fn: floats.FloatFn | None = floats.FloatFn(sym("x"))
    if half:
        for op, c in (("add", 0.5), ("mul", scale), ("sub", 0.5), ("max", 0.0)):
            assert fn is not None
            fn = floats.binary(op, fn, floats.constant(c))
        out = np.maximum((x + F(0.5)) * F(scale) - F(0.5), F(0))
    else:
        fn = floats.binary("mul", floats.FloatFn(sym("x")), floats.constant(scale))
        out = x * F(scale)
    assert fn is not None
    return fn, out


@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize("scale", [0.5, 2 / 3, 0.25, 1.5, 2.0, 0.6])
def test_a_resize_index_becomes_an_integer_formula_that_agrees_everywhere(scale: float, half: bool) -> None:
    fn, expected = resize(scale, half)
    whole = floats.truncated(fn, 0, 63)
    values = np.trunc(expected).astype(int)
    if isinstance(whole, Expr):
        assert [evaluate(whole, {"x": x}) for x in range(64)] == values.tolist()
    else:  # rounding decides some value: only the range is known
        assert whole[0] is not None and whole[1] is not None
        assert whole[0] <= values.min() and values.max() <= whole[1]


def test_exact_scales_give_a_formula() -> None:
    for scale, half in ((0.5, False), (0.25, True), (2 / 3, True), (2.0, True)):
        assert isinstance(floats.truncated(resize(scale, half)[0], 0, 63), Expr)


def test_a_scale_that_rounding_decides_gives_a_range() -> None:
    # x/3 - 1 near a whole number: what truncation gives depends on whether the product is rounded first
    third = floats.binary("mul", floats.FloatFn(sym("x")), floats.constant(1 / 3))
    assert third is not None
    shifted = floats.binary("sub", third, floats.constant(1.0))
    assert shifted is not None
    whole = floats.truncated(shifted, 0, 60)
    x = np.arange(61, dtype=np.float32)
    values = np.trunc(x * F(1 / 3) - F(1)).astype(int)
    if isinstance(whole, Expr):
        assert [evaluate(whole, {"x": i}) for i in range(61)] == values.tolist()
    else:
        assert whole == (int(values.min()), int(values.max()))
    assert floats.truncated(third, 0, None) == (None, None)
    assert floats.truncated(third, 0, 1_000_000) == (0, int(np.trunc(F(1_000_000) * F(1 / 3))))


def test_constants_fold() -> None:
    half = floats.constant(15.5)
    down = floats.unary("floor", half)
    assert down is not None and down.value == 15.0
    assert floats.compare("<", down, floats.constant(32.0)) is True
    assert floats.truncated(down, None, None) == 15
    assert floats.unary("sin", half) is None and floats.truncated(
        floats.constant(float("nan")), None, None
    ) == (None, None)


GRID_SAMPLE = """
    xnumel = 64
    xindex = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    x3 = xindex // 16
    tmp0 = tl.full([1], 15.5, tl.float32)
    tmp1 = libdevice.floor(tmp0)
    tmp2 = tl.full([1], 0.0, tl.float32)
    tmp3 = tmp1 >= tmp2
    tmp4 = tl.full([1], 32.0, tl.float32)
    tmp5 = tmp1 < tmp4
    tmp6 = tmp3 & tmp5
    tmp9 = tmp1.to(tl.int32)
    tmp10 = tl.full([1], 0, tl.int64)
    tmp11 = tl.where(tmp6, tmp9, tmp10)
    tmp12 = tl.load(in_ptr0 + (33*tmp11 + 1024*x3), xmask)
    tmp13 = (xindex % 16).to(tl.float32)
    tmp14 = tl.full([1], 0.5, tl.float32)
    tmp15 = (tmp13 * tmp14).to(tl.int32)
    tmp16 = tl.load(in_ptr0 + (tmp15), xmask)
    tl.store(out_ptr0 + (xindex), tmp12 + tmp16, xmask)
"""
SOURCE = """
@triton_heuristics.pointwise(
    size_hints={{'x': 64}},
    triton_meta={{'signature': {{'in_ptr0': '*fp32', 'out_ptr0': '*fp32', 'xnumel': 'i32', 'XBLOCK': 'constexpr'}}, 'constants': {{}}}},
    inductor_meta={{'grid_type': 'Grid1D', 'kernel_name': 'triton_poi_0'}},
)
@triton.jit
def triton_poi_0(in_ptr0, out_ptr0, xnumel, XBLOCK : tl.constexpr):
{body}"""
LAZY = """static CUfunction triton_poi_0 = nullptr;
static const char* triton_poi_0_source = R"TRITON({source}
)TRITON";
static LazyKernelCompileResult triton_poi_0_result;
template <typename in_ptr0_type_, typename out_ptr0_type_>
static __attribute__((noinline)) void call_triton_poi_0(
    const in_ptr0_type_& in_ptr0,
    const out_ptr0_type_& out_ptr0,
    int64_t xnumel,
    int32_t device_idx_,
    cudaStream_t stream_
){{
    if (triton_poi_0 == nullptr) {{
        triton_poi_0_result = runTritonKernelWithAutotune(_module_pending_kernels, "triton_poi_0", stream_, in_ptr0, out_ptr0, xnumel);
        return;
    }}
    uint32_t grid_0 = ((xnumel + (triton_poi_0_result.xblocks[0] - 1)) / (triton_poi_0_result.xblocks[0]));
    uint32_t grid_1 = 1;
    uint32_t grid_2 = 1;
    if (grid_0 == 0) return;
    launchKernel(triton_poi_0, grid_0, grid_1, grid_2,
        triton_poi_0_result.num_warps, triton_poi_0_result.shared_mem, kernel_args_, stream_);
}}
"""


def test_a_kernel_that_is_compiled_when_first_run() -> None:
    text = LAZY.format(source=SOURCE.format(body=GRID_SAMPLE.strip("\n")))
    (k,) = find_launchers(text, "w.cpp").values()
    assert k.reason is None and "XBLOCK is not in the text" in k.assumption
    assert (
        k.grid is not None and evaluate(k.grid[0], {"xnumel": 64}) == 1
    )  # the largest block the hint allows
    constant, scaled, store = k.kernel.accesses
    assert constant.index == 495 + 1024 * floordiv(sym("xindex"), 16)
    assert scaled.index is not None and [evaluate(scaled.index, {"xindex": x}) for x in range(64)] == [
        x % 16 // 2 for x in range(64)
    ]
    assert "tl.store(out_ptr0" in text.split("\n")[store.loc.line - 1]


def test_a_launcher_without_source_says_so() -> None:
    text = LAZY.format(source="").replace('R"TRITON(\n)TRITON"', "nullptr")
    (k,) = find_launchers(text, "w.cpp").values()
    assert k.reason == "the text holds no source of this kernel"
    assert k.params == ("in_ptr0", "out_ptr0", "xnumel") and k.kernel.accesses == ()
    (note,) = k.kernel.unmodelled
    assert "call_triton_poi_0(" in text.split("\n")[note[1].line - 1]


def test_source_that_does_not_parse_says_so() -> None:
    (k,) = find_launchers(LAZY.format(source=SOURCE.format(body="    x = = 1")), "w.cpp").values()
    assert k.reason is not None and "does not parse" in k.reason


def test_one_function_compiled_twice_gives_two_kernels() -> None:
    source = SOURCE.format(body=GRID_SAMPLE.strip("\n"))
    second = (
        LAZY.format(source=source)
        .replace("call_triton_poi_0", "call_triton_poi_1")
        .replace("triton_poi_0_source", "triton_poi_1_source")
    )
    found = find_launchers(LAZY.format(source=source) + second, "w.cpp")
    assert {n: k.kernel.name for n, k in found.items()} == {
        "call_triton_poi_0": "triton_poi_0",
        "call_triton_poi_1": "triton_poi_1",
    }


def test_alignments_and_signatures_of_older_versions() -> None:
    source = """
@triton_heuristics.pointwise(
    size_hints=[64],
    triton_meta={'signature': {0: '*bf16', 1: '*i64', 2: 'i32'}, 'constants': {}, 'configs': [AttrsDescriptor.from_dict({'arg_properties': {'tt.divisibility': (0, 2), 'tt.equal_to': ()}, 'cls': 'AttrsDescriptor'})]},
    inductor_meta={'kernel_name': 'triton_poi_fused_sum_3'},
)
@triton.jit
def triton_(in_ptr0, out_ptr0, xnumel, XBLOCK : tl.constexpr):
    xindex = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)[:]
    tl.store(out_ptr0 + (xindex), tl.load(in_ptr0 + (xindex), xindex < xnumel), xindex < xnumel)
"""
    (k,) = find_launchers(LAZY.format(source=source), "w.cpp").values()
    assert k.kernel.name == "triton_poi_fused_sum_3" and k.kernel.alignments == (("in_ptr0", 16),)
    assert [(p.name, p.dtype) for p in k.kernel.params] == [
        ("in_ptr0", "bfloat16"),
        ("out_ptr0", "int64"),
        ("xnumel", "int32"),
    ]
    assert dict(k.constants)["XBLOCK"] == 64
