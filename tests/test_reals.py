"""C++ kernels: indices computed in floating point, against float arithmetic done by numpy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from aoti_lint.analyzer.kernels import reals as real
from aoti_lint.analyzer.model.record import replace
from aoti_lint.analyzer.pipeline import analyse
from aoti_lint.analyzer.sources import WrapperSource, load
from aoti_lint.analyzer.symbolic import Expr, evaluate, sym
from cpu_cases import lower, only
from hypothesis import given
from hypothesis import strategies as st
from iterations import points

X = sym("x")


def resampled(scale: str, half: bool, n: int) -> str:
    shift = (
        "auto tmp3 = float(tmp1 + tmp2);\nauto tmp5 = float(tmp3 * tmp4);\nauto tmp6 = float(tmp5 - tmp2);"
        if half
        else "auto tmp6 = float(tmp1 * tmp4);"
    )
    return f"""
        for(int64_t x1=static_cast<int64_t>(0L); x1<static_cast<int64_t>({n}L); x1+=static_cast<int64_t>(1L))
        {{
            auto tmp0 = x1;
            auto tmp1 = c10::convert<float>(tmp0);
            auto tmp2 = static_cast<float>(0.5);
            auto tmp4 = static_cast<float>({scale});
            {shift}
            auto tmp7 = static_cast<float>(0.0);
            auto tmp8 = max_propagate_nan(tmp6, tmp7);
            auto tmp9 = c10::convert<int64_t>(tmp8);
            auto tmp10 = in_ptr0[static_cast<int64_t>(tmp9)];
        }}"""


def computed(scale: float, half: bool, n: int) -> list[int]:
    x = np.arange(n).astype(np.float32)
    s, h = np.float32(scale), np.float32(0.5)
    v = (x + h) * s - h if half else x * s
    return [int(i) for i in np.maximum(v, np.float32(0)).astype(np.int64)]


@pytest.mark.parametrize(
    ("scale", "half", "n"),
    [
        ("0.5", False, 16),
        ("0.6153846153846154", True, 13),
        ("0.47058823529411764", True, 17),
        ("0.25", True, 64),
    ],
)
def test_source_indices_are_those_of_the_hardware(scale: str, half: bool, n: int) -> None:
    a = only(lower("const float* in_ptr0", resampled(scale, half, n)), "in_ptr0", "load")
    assert points(a) == computed(float(scale), half, n)
    assert all(v.kind != "data" for v in a.vars)


def test_a_printed_ratio_is_the_ratio_it_was_printed_for() -> None:
    """15/31 of 31 is 15 in float, though the float nearest 15/31 is below it."""
    a = only(lower("const float* in_ptr0", resampled("0.4838709677419355", False, 32)), "in_ptr0", "load")
    assert points(a) == computed(15 / 31, False, 32)
    assert points(a)[31] == 15 and all(v.kind != "data" for v in a.vars)


def test_over_an_open_range_rounding_may_decide_so_the_index_is_bounded() -> None:
    body = (
        resampled("0.7", False, 0)
        .replace("static_cast<int64_t>(0L);\n", "")
        .replace("x1<static_cast<int64_t>(0L)", "x1<static_cast<int64_t>(ks0)")
    )
    a = only(lower("const float* in_ptr0, const int64_t ks0", body), "in_ptr0", "load")
    (index,) = (v for v in a.vars if v.kind == "data")
    assert (index.lo, index.hi) == (0, None)
    got = points(a, {index.name: range(40)}, ks0=50)
    assert set(computed(0.7, False, 50)) <= set(got) and max(got) == 34  # floor(0.7 * 49)
    assert 50 <= len(got) <= 60  # one value of each x, two where 0.7 * x is nearly whole


def test_vector_indices_keep_their_lane() -> None:
    k = lower(
        "const float* in_ptr0",
        """
        for(int64_t x2=static_cast<int64_t>(0L); x2<static_cast<int64_t>(17L); x2+=static_cast<int64_t>(16L))
        {
            if(C10_UNLIKELY(x2 >= static_cast<int64_t>(16L) && x2 < static_cast<int64_t>(17L)))
            {
                auto tmp11 = c10::convert<float>(x2);
                auto tmp12 = at::vec::Vectorized<float>::arange(tmp11, 1);
                auto tmp13 = at::vec::Vectorized<float>(static_cast<float>(0.5));
                auto tmp14 = tmp12 + tmp13;
                auto tmp17 = tmp14 * at::vec::Vectorized<float>(static_cast<float>(0.47058823529411764));
                auto tmp18 = tmp17 - tmp13;
                auto tmp20 = at::vec::maximum(tmp18, at::vec::Vectorized<float>(static_cast<float>(0.0)));
                auto tmp21 = at::vec::convert<int64_t,2,float,1>(tmp20);
                auto tmp22 = [&]
                {
                    __at_align__ std::array<int64_t, 16> tmpbuf;
                    tmp21.store(tmpbuf.data(), static_cast<int64_t>(1L));
                    return tmpbuf;
                }
                ();
                for (long x2_inner = 0; x2_inner < static_cast<int64_t>(1L); x2_inner++)
                {
                    auto tmp23 = in_ptr0[static_cast<int64_t>(tmp22[x2_inner])];
                }
            }
        }""",
    )
    assert points(only(k, "in_ptr0", "load")) == [computed(0.47058823529411764, True, 17)[16]]


def test_dynamic_scales() -> None:
    k = lower(
        "const float* in_ptr0, const int64_t ks1",
        """
        for(int64_t x1=static_cast<int64_t>(0L); x1<static_cast<int64_t>(2L*ks1); x1+=static_cast<int64_t>(1L))
        {
            auto tmp0 = ((static_cast<double>(ks1)) / (2.0000000000000000*static_cast<double>(ks1)));
            auto tmp1 = c10::convert<float>(tmp0);
            auto tmp3 = c10::convert<float>(x1);
            auto tmp4 = float(tmp3 * tmp1);
            auto tmp5 = c10::convert<int64_t>(tmp4);
            auto tmp6 = in_ptr0[static_cast<int64_t>(tmp5)];
        }""",
    )
    assert points(only(k, "in_ptr0", "load"), ks1=5) == [x // 2 for x in range(10)]


def test_floor_of_what_may_be_negative() -> None:
    k = lower(
        "const float* in_ptr0",
        """
        for(int64_t x1=static_cast<int64_t>(0L); x1<static_cast<int64_t>(12L); x1+=static_cast<int64_t>(1L))
        {
            auto tmp1 = c10::convert<float>(x1);
            auto tmp5 = float(float(tmp1 + static_cast<float>(0.5)) * static_cast<float>(0.6666666666666666));
            auto tmp7 = std::floor(float(tmp5 - static_cast<float>(0.5)));
            auto tmp8 = c10::convert<int64_t>(tmp7);
            auto tmp9 = static_cast<int64_t>(1);
            auto tmp10 = int64_t(static_cast<std::make_unsigned_t<int64_t>>(tmp8) - static_cast<std::make_unsigned_t<int64_t>>(tmp9));
            auto tmp11 = in_ptr0[static_cast<int64_t>(tmp10)];
        }""",
    )
    x = np.arange(12).astype(np.float32)
    v = np.floor((x + np.float32(0.5)) * np.float32(2 / 3) - np.float32(0.5))
    assert points(only(k, "in_ptr0", "load")) == [int(i) - 1 for i in v]


steps = st.lists(
    st.tuples(st.sampled_from("+-*"), st.sampled_from([0.5, 0.25, 2.0, 0.1, 1 / 3, 0.7, 1.5, 15 / 31])),
    min_size=1,
    max_size=4,
)


@given(steps, st.sampled_from(["trunc", "floor", "ceil", "round"]), st.integers(1, 200), st.booleans())
def test_whole_numbers_hold_what_float_arithmetic_gives(
    ops: list[tuple[str, float]], mode: str, n: int, known: bool
) -> None:
    value: real.Real | None = real.from_int(X, False)
    x = np.arange(n).astype(np.float32)
    for op, c in ops:
        other = real.constant(c, False)
        assert value is not None and other is not None
        value = real.binary(op, value, other)
        x = {"+": np.add, "-": np.subtract, "*": np.multiply}[op](x, np.float32(c))
    assert value is not None
    expected = {"trunc": np.trunc, "floor": np.floor, "ceil": np.ceil, "round": np.rint}[mode](x)
    found = real.whole(value, mode, {"x": n} if known else {})
    for i in range(n):
        if isinstance(found, Expr):
            assert evaluate(found, {"x": i}) == expected[i]
        else:
            low, high = (evaluate(e, {"x": i}) for e in found)
            assert low <= expected[i] <= high


def test_an_index_by_a_logarithm_is_reached_for_no_certain_value() -> None:
    """Buckets of distances: one more head than the table has leaves it at distances past 64 only, which the
    logarithm decides. A bound of its value proves; what it allows is no fault."""
    path = Path(__file__).parent.parent / "fixtures/wrappers/cpu/t5_rel_bias_dynamic.wrapper.cpp"
    (source,) = load(str(path))
    assert isinstance(source, WrapperSource)
    (kernel,) = source.kernels
    old, new = "x0<static_cast<int64_t>(4L)", "x0<static_cast<int64_t>(5L)"
    assert kernel.text.count(old) == 1
    more = replace(source, kernels=(replace(kernel, text=kernel.text.replace(old, new)),))
    for s, expected in ((source, {"in_ptr0": "proved", "out_ptr0": "proved"}),
                        (more, {"in_ptr0": "unknown", "out_ptr0": "fault"})):  # fmt: skip
        found = {v.param.name: v.decision.status for v in analyse(s, "libtorch", {}).verdicts}
        assert found == expected
