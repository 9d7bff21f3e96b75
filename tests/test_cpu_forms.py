"""Forms of C++ kernels that parse without a remark, and the elements they touch."""

from __future__ import annotations

import pytest
from cpu_cases import lower, only
from iterations import points

FORMS = {
    "argmax over partial results of threads": """
        IndexValueVec<float, 1, 2> tmp_acc1_vec; IndexValueVec<float, 1, 2> tmp_acc1_vec_arr[4];
        for (int tid = 0; tid < 4; tid++)
        {
            tmp_acc1_vec = argmax_combine_vec<float, 1, 2>(tmp_acc1_vec, tmp_acc1_vec_arr[tid]);
        }
        out_ptr0[0] = in_ptr0[0];""",
    "blend of vectors by a constant mask": """
        auto tmp9 = at::vec::Vectorized<int8_t>::loadu(in_ptr0, 1);
        auto tmp10 = remainder_integral(tmp9, decltype(tmp9)::blend<255>(decltype(tmp9)(1), tmp9));
        tmp10.store(out_ptr0, 1);""",
    "a cast to double": "out_ptr0[0] = double(in_ptr0[0] * 2);",
    "heap memory made on demand": """
        std::unique_ptr<std::unique_ptr<float[]>[]> buffers;
        buffers.reset(new std::unique_ptr<float[]>[4]);
        if (buffers[0] == nullptr) { buffers[0].reset(new float[8]); }
        out_ptr0[0] = in_ptr0[0];""",
}


@pytest.mark.parametrize("name", FORMS)
def test_forms_are_understood(name: str) -> None:
    k = lower("const float* in_ptr0, float* out_ptr0", FORMS[name])
    assert not k.unmodelled
    assert [(a.kind, points(a)) for a in k.accesses if a.param in ("in_ptr0", "out_ptr0")] == [
        ("load", [0]),
        ("store", [0]),
    ]


def test_sizes_scaled_in_floating_point() -> None:
    """One and a half times 7, rounded to zero, is 10."""
    size = "static_cast<int64_t>(std::trunc(1.5000000000000000*static_cast<double>(ks0)))"
    body = f"""
        for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>({size}); x0+=static_cast<int64_t>(1L))
        {{
            out_ptr0[static_cast<int64_t>(3L*x0 + std::max(static_cast<int64_t>(1L), static_cast<int64_t>({size})))] = 1.0;
        }}"""
    k = lower("float* out_ptr0, const int64_t ks0", body)
    assert not k.unmodelled
    assert points(only(k, "out_ptr0", "store"), ks0=7) == [3 * x + 10 for x in range(10)]


def test_the_remainder_of_c_has_the_sign_of_the_dividend() -> None:
    body = """
        for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(9L); x0+=static_cast<int64_t>(1L))
        {
            out_ptr0[static_cast<int64_t>(mod(x0 - 4L, 3L))] = 1.0;
        }"""
    k = lower("float* out_ptr0", body)
    assert not k.unmodelled and sorted(set(points(only(k, "out_ptr0", "store")))) == [-2, -1, 0, 1, 2]
