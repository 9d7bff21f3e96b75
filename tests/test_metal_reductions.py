"""Reductions in Metal kernels: loops, threads of a group, and what they store."""

from __future__ import annotations

import pytest
from aoti_lint.analyzer.symbolic import evaluate
from iterations import points
from metal_cases import REDUCTION, lower


def test_multistage_reduction_with_a_last_partial_step() -> None:
    k = lower(
        f"device float* out_ptr0, constant float* in_ptr0, {REDUCTION}",
        """
        auto xindex = thread_pos.x;
        auto r0_index = thread_pos.y;
        int x0 = xindex;
        threadgroup float tmp_acc_0[32];
        float tmp_acc_1 = 0;
        for(auto r0__cnt = 0; r0__cnt < 6; ++r0__cnt) {
            int r0__linear_idx = 6 * r0_index + r0__cnt;
            if (r0__linear_idx >= 50) break;
            int r0_1 = r0__linear_idx;
            auto tmp0 = in_ptr0[r0_1 + 50*x0];
            tmp_acc_1 += tmp0;
            out_ptr0[2 + r0_1] = static_cast<float>(tmp_acc_1);
        }
        auto tmp1 = c10::metal::threadgroup_sum(tmp_acc_0, tmp_acc_1, r0_index * 1, 9);
        if (r0_index == 0) out_ptr0[x0] = static_cast<float>(tmp1);
        auto tmp2 = tmp1 / x0;
        out_ptr0[1] = static_cast<float>(tmp2);""",
    )
    load, inside, first, every = k.accesses
    size = {"grid.0": 2, "grid.1": 9}
    assert sorted(points(load, **size)) == list(range(100))
    assert [v.kind for v in load.vars] == ["grid", "grid", "loop"]
    assert inside.value_vars is None  # a running sum
    assert points(first, **size) == [0, 1]
    assert first.value_vars == {"xindex"}  # the same in every thread of the group
    assert every.value_vars == {"xindex"} and len(points(every, **size)) == 18


@pytest.mark.parametrize("n", [1, 1023, 1024, 1025, 3000])
def test_symbolic_loop_bound_written_in_floats(n: int) -> None:
    k = lower(
        f"device float* out_ptr0, constant float* in_ptr0, constant long& r0_numel, {REDUCTION}",
        """
        auto xindex = thread_pos.x;
        auto r0_index = thread_pos.y;
        float tmp_acc_1 = 0;
        for(auto r0__cnt = 0; r0__cnt < static_cast<int>(metal::floor(static_cast<float>(0.999023437500000 + 0.000976562500000000*r0_numel))); ++r0__cnt) {
            int r0__linear_idx = 1024 * r0__cnt + r0_index;
            if (r0__linear_idx >= r0_numel) break;
            auto tmp0 = in_ptr0[r0__linear_idx];
            tmp_acc_1 += tmp0;
        }
        if (r0_index == 0) out_ptr0[xindex] = static_cast<float>(tmp_acc_1);""",
    )
    load = k.accesses[0]
    assert evaluate(load.vars[-1].extent, {"r0_numel": n}) == -(-n // 1024)
    got = points(load, **{"grid.0": 1, "grid.1": min(n, 1024), "r0_numel": n})
    assert sorted(got) == list(range(n))


def test_group_results_are_the_same_in_every_thread() -> None:
    k = lower(
        f"device float* out_ptr0, device long* out_ptr1, device bool* out_ptr2, constant float* in_ptr0, {REDUCTION}",
        """
        auto xindex = thread_pos.x;
        auto r0_index = thread_pos.y;
        int r0_1 = r0_index;
        int x0 = xindex;
        threadgroup float3 tmp_acc_0[24];
        threadgroup float tmp_acc_1[24];
        threadgroup long tmp_acc_2[24];
        threadgroup bool tmp_acc_3;
        tmp_acc_3 = false;
        threadgroup_barrier(metal::mem_flags::mem_threadgroup);
        auto tmp0 = in_ptr0[r0_1 + 24*x0];
        tmp_acc_0[r0_index * 1] = float3(tmp0, 0.0, 1.0);
        auto tmp1 = c10::metal::threadgroup_welford_combine(tmp_acc_0, r0_index * 1, 24);
        auto tmp2 = c10::metal::threadgroup_argmax(tmp_acc_1, tmp_acc_2, tmp0, static_cast<long>(r0_index * 1), r0_index * 1, 24);
        auto tmp3 = tmp0 == 0;
        if (tmp3) { tmp_acc_3 = true; }
        threadgroup_barrier(metal::mem_flags::mem_threadgroup);
        auto tmp4 = tmp0 - tmp1.x;
        out_ptr0[x0] = static_cast<float>(tmp1.y);
        out_ptr0[r0_1 + 24*x0] = static_cast<float>(tmp4);
        out_ptr1[x0] = static_cast<long>(tmp2);
        auto tmp5 = tmp_acc_3 == 0;
        out_ptr2[x0] = static_cast<bool>(tmp5);
        out_ptr1[x0] = 7;
        auto tmp6 = in_ptr0[tmp2];
        out_ptr0[0] = tmp6;""",
    )
    stores = [a for a in k.accesses if a.kind == "store"]
    assert [a.value_vars for a in stores] == [
        {"xindex"}, {"xindex", "r0_index"}, {"xindex"}, {"xindex"}, set(), {"xindex"},
    ]  # fmt: skip
    by_argmax = next(a for a in k.accesses if a.text == "tmp2")
    assert [v.name for v in by_argmax.vars if v.kind == "data"] == ["tmp2"]


def test_older_reduction_forms() -> None:
    k = lower(
        f"device long* out_ptr0, constant float* in_ptr0, {REDUCTION}",
        """
        auto xindex = thread_pos.x;
        auto r0_index = thread_pos.y;
        threadgroup float tmp_acc_0[24];
        threadgroup long tmp_acc_1[24];
        for(auto r0_1_cnt = 0; r0_1_cnt < 3; ++r0_1_cnt) {
            int r0_1 = 3 * r0_index + r0_1_cnt;
            if (r0_1 >= 7) break;
            for(auto r1_2_cnt = 0; r1_2_cnt < 2; ++r1_2_cnt) {
                auto tmp0 = in_ptr0[r1_2_cnt + 2*r0_1];
                tmp_acc_0[r0_index] = tmp0;
                tmp_acc_1[r0_index] = r0_1;
            }
        }
        auto tmp1 = tmp_acc_1[c10::metal::threadgroup_argmax(tmp_acc_0, 24)];
        out_ptr0[xindex] = static_cast<long>(tmp1);""",
    )
    load, store = k.accesses
    assert sorted(points(load, **{"grid.0": 1, "grid.1": 3})) == list(range(14))
    assert store.value_vars == frozenset()
