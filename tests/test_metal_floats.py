"""Metal kernels that compute indices in single precision, against that arithmetic done by numpy."""

from __future__ import annotations

import numpy as np
import pytest
from aoti_lint.analyzer.kernels.metal.reader import find_kernels
from aoti_lint.analyzer.model.kernel import Access
from aoti_lint.analyzer.symbolic import Expr, evaluate
from metal_cases import ONE_D, lower

F = np.float32


def load_of(defs: str, index: str, params: str = "") -> Access:
    text = (
        'const char* mps_lib_0_source = (R"MTL(\n'
        f"kernel void generated_kernel(device float* out_ptr0, constant float* in_ptr0, {params}"
        "uint xindex [[thread_position_in_grid]]) {\n"
        f"{defs}\n auto tmp99 = in_ptr0[{index}];\n out_ptr0[xindex] = static_cast<float>(tmp99);\n}}\n"
        ')MTL");\n'
    )
    kernel = find_kernels(text, "w.cpp")["mps_lib_0"]
    assert kernel.unmodelled == ()
    return kernel.accesses[0]


def index_of(a: Access) -> Expr:
    assert a.index is not None
    return a.index


def test_halved_index() -> None:
    a = load_of(
        """
        int x0 = (xindex) % (16);
        auto tmp0 = x0;
        auto tmp1 = static_cast<float>(tmp0);
        auto tmp2 = 0.5;
        auto tmp3 = tmp1 * tmp2;
        auto tmp4 = static_cast<int>(tmp3);""",
        "tmp4",
    )
    assert [evaluate(index_of(a), {"xindex": x}) for x in range(32)] == [x % 16 // 2 for x in range(32)]
    assert [v.name for v in a.vars] == ["xindex"]


def test_half_pixel_centres_with_a_clamp() -> None:
    a = load_of(
        """
        int x1 = c10::metal::floor_divide(xindex, 8);
        auto tmp0 = x1;
        auto tmp1 = static_cast<float>(tmp0);
        auto tmp2 = 0.5;
        auto tmp3 = tmp1 + tmp2;
        auto tmp4 = 0.125;
        auto tmp5 = tmp3 * tmp4;
        auto tmp6 = tmp5 - tmp2;
        auto tmp7 = 0.0;
        auto tmp8 = c10::metal::max(static_cast<decltype(tmp6+tmp7)>(tmp6), static_cast<decltype(tmp6+tmp7)>(tmp7));
        auto tmp9 = static_cast<int>(tmp8);
        auto tmp10 = 1;
        auto tmp11 = tmp9 + tmp10;
        auto tmp12 = c10::metal::min(static_cast<decltype(tmp11+tmp10)>(tmp11), static_cast<decltype(tmp11+tmp10)>(tmp10));""",
        "tmp9 + 100*tmp12",
    )
    for x in range(0, 256, 8):
        low = int(max((F(x // 8) + F(0.5)) * F(0.125) - F(0.5), F(0)))
        assert evaluate(index_of(a), {"xindex": x}) == low + 100 * min(low + 1, 1)


ALIGNED = """
        int y0 = (xindex) % (64);
        int y1 = c10::metal::floor_divide(xindex, 64);
        auto tmp0 = {y};
        auto tmp1 = static_cast<float>(tmp0);
        auto tmp2 = 0.49206349206349204;
        auto tmp3 = tmp1 * tmp2;
        auto tmp4 = static_cast<int>(tmp3);"""


def test_scale_that_is_no_float_is_tried_at_every_value() -> None:
    a = load_of(ALIGNED.replace("{y}", "y0"), "tmp4")
    want = [int(F(y) * F(0.49206349206349204)) for y in range(64)]
    assert want[63] == 31  # 31/63 of 63: rounding must not lose the last row
    assert [evaluate(index_of(a), {"xindex": y}) for y in range(64)] == want
    assert all(v.kind == "grid" for v in a.vars)


def test_scale_over_an_open_range_is_exact_as_far_as_it_was_tried() -> None:
    a = load_of(ALIGNED.replace("{y}", "y1"), "tmp4")
    noise = next(v for v in a.vars if v.kind == "data")
    assert (noise.lo, noise.hi) == (-1, 1)
    for y in (0, 1, 63, 4095, 65535):
        for r in (-1, 0, 1):
            at = {"xindex": 64 * y, noise.name: r}
            assert evaluate(index_of(a), at) == int(F(y) * F(0.49206349206349204))
    far = {evaluate(index_of(a), {"xindex": 64 * 70000, noise.name: r}) for r in (-1, 0, 1)}
    assert int(F(70000) * F(0.49206349206349204)) in far and len(far) == 3


@pytest.mark.parametrize(("small", "large"), [(4, 7), (13, 29), (1, 5)])
def test_symbolic_scale_covers_what_rounding_may_give(small: int, large: int) -> None:
    a = load_of(
        """
        long x0 = (xindex) % (ks1);
        auto tmp0 = (((-1.00000000000000) + static_cast<float>(ks0)) / ((-1.00000000000000) + static_cast<float>(ks1)));
        auto tmp1 = static_cast<float>(tmp0);
        auto tmp2 = x0;
        auto tmp3 = static_cast<float>(tmp2);
        auto tmp4 = tmp3 * tmp1;
        auto tmp5 = static_cast<long>(tmp4);""",
        "tmp5",
        "constant long& ks0, constant long& ks1, ",
    )
    noise = next(v for v in a.vars if v.kind == "data")
    assert noise.lo is not None and noise.hi is not None
    for x in range(large):
        scale = (F(-1) + F(small)) / (F(-1) + F(large))
        can_be = {
            evaluate(index_of(a), {"xindex": x, "ks0": small, "ks1": large, noise.name: r})
            for r in range(noise.lo, noise.hi + 1)
        }
        assert int(F(x) * scale) in can_be
        assert can_be <= {int(F(x) * scale) + d for d in (-1, 0, 1)}


def test_float_from_memory_is_data_in_an_index() -> None:
    a = load_of(
        """
        auto tmp0 = out_ptr0[xindex];
        auto tmp1 = tmp0 * 2.0;
        auto tmp2 = static_cast<int>(tmp1);""",
        "tmp2",
    )
    assert a.param == "out_ptr0"
    text = 'const char* m_source = (R"MTL(kernel void k(constant float* p, uint x [[thread_position_in_grid]]) { int i = static_cast<int>(p[x]); p[i]; })MTL");'
    second = find_kernels(text, "w.cpp")["m"].accesses[1]
    assert [(v.name, v.kind, v.lo, v.hi) for v in second.vars] == [
        ("x", "grid", None, None),
        ("i", "data", -(2**31), 2**31 - 1),
    ]


@pytest.mark.parametrize(
    ("index", "certain"),
    [
        ("in_ptr0[xindex]", True),
        ("static_cast<int>(in_ptr0[xindex])", True),
        ("static_cast<int>(metal::log(in_ptr1[xindex]))", False),
        ("static_cast<int>(in_ptr1[xindex] * 2.0)", False),
        ("in_ptr0[xindex] ^ in_ptr0[0]", False),
    ],
)
def test_memory_can_hold_any_index_but_a_computed_one_may_never_come(index: str, certain: bool) -> None:
    kernel = lower(
        f"device float* out_ptr0, constant long* in_ptr0, constant float* in_ptr1, constant float* in_ptr2, {ONE_D}",
        f"auto tmp0 = {index};\nauto tmp1 = in_ptr2[tmp0];\nout_ptr0[xindex] = tmp1;",
    )
    (a,) = (a for a in kernel.accesses if a.param == "in_ptr2")
    assert a.guard.has_opaque() != certain
    assert any(v.kind == "data" for v in a.vars)


def test_a_check_of_a_computed_index_leaves_other_accesses_certain() -> None:
    kernel = lower(
        f"device float* out_ptr0, constant float* in_ptr0, constant float* in_ptr1, {ONE_D}",
        """auto tmp0 = static_cast<int>(metal::log(in_ptr0[xindex]));
        if ((tmp0 < 0 || tmp0 >= 8)) return;
        auto tmp1 = in_ptr1[tmp0];
        out_ptr0[xindex + 7] = tmp1;
        if (tmp0 < 5) { out_ptr0[xindex] = tmp1; }""",
    )
    certain = [(a.param, not a.guard.has_opaque()) for a in kernel.accesses]
    assert certain == [("in_ptr0", True), ("in_ptr1", False), ("out_ptr0", True), ("out_ptr0", False)]
