"""C++ kernels: masked bodies, masked loads, bounds checks, indices from memory. Expectations by hand."""

from __future__ import annotations

import pytest
from aoti_lint.analyzer.kernels.cpp.lanes import some_lane
from aoti_lint.analyzer.symbolic import FALSE, TRUE, Cond, compare, const, evaluate_cond, opaque, sym
from cpu_cases import lower, only, touched
from hypothesis import given
from hypothesis import strategies as st
from iterations import points

LANE = sym("lane")


def masked(body: str, mask: str = "tmp9") -> str:
    """The lambda around a masked body and its call, as generated."""
    return f"""
        auto tmp10 = [&]
        {{
            {body}
            return tmp11;
        }}
        ;
        auto tmp14 =
        [&]
        {{
            if ({mask}.all_zero())
            {{
                return at::vec::Vectorized<float>(static_cast<float>(0.0));
            }}
            else
            {{
                auto tmp12 = tmp10();
                auto tmp13 = at::vec::Vectorized<float>(static_cast<float>(0.0));
                return decltype(tmp12)::blendv(tmp13, tmp12, {mask}.template cast<float,1>());
            }}
        }}
        ()
        ;"""


PAD_MASK = """
        auto tmp0 = (-2L) + x1;
        auto tmp1 = c10::convert<int64_t>(tmp0);
        auto tmp2 = at::vec::VectorizedN<int64_t,2>::arange(tmp1, 1);
        auto tmp3 = static_cast<int64_t>(0);
        auto tmp4 = at::vec::VectorizedN<int64_t,2>(tmp3);
        auto tmp5 = at::vec::VecMask<int64_t,2>(tmp2 >= tmp4);
        auto tmp6 = static_cast<int64_t>(40);
        auto tmp7 = at::vec::VectorizedN<int64_t,2>(tmp6);
        auto tmp8 = at::vec::VecMask<int64_t,2>(tmp2 < tmp7);
        auto tmp9 = tmp5 & tmp8;"""


def in_loops(body: str, rows: int, columns: int, step: int) -> str:
    return f"""
    for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>({rows}L); x0+=static_cast<int64_t>(1L))
    {{
        for(int64_t x1=static_cast<int64_t>(0L); x1<static_cast<int64_t>({columns}L); x1+=static_cast<int64_t>({step}L))
        {{
            {body}
        }}
    }}"""


def test_a_masked_load_touches_the_lanes_of_its_mask() -> None:
    load = "auto tmp11 = tmp9.template cast<float,1>().template loadu<float,1>(in_ptr0 + static_cast<int64_t>((-2L) + x1 + 40L*x0));"
    store = "tmp14.store(out_ptr0 + static_cast<int64_t>(x1 + 48L*x0), static_cast<int64_t>(16));"
    k = lower("const float* in_ptr0, float* out_ptr0", in_loops(PAD_MASK + masked(load) + store, 3, 48, 16))
    # row x0 holds elements 40*x0 .. 40*x0+39, at columns 2 .. 41
    assert sorted(points(only(k, "in_ptr0", "load"))) == list(range(120))
    assert only(k, "in_ptr0", "load").used == TRUE
    assert touched(k, "out_ptr0", "store") == set(range(144))


def test_a_masked_bool_load_reads_what_its_mask_excludes() -> None:
    """As executed: a guarded buffer faults 2 bytes before its start and past its end."""
    load = "auto tmp11 = at::vec::VecMask<float,1>::from(in_ptr0 + static_cast<int64_t>((-2L) + x1 + 40L*x0), static_cast<int64_t>(8));"
    k = lower(
        "const bool* in_ptr0, float* out_ptr0",
        in_loops(PAD_MASK + masked(load), 4, 48, 8),
        vector_bytes=32,
    )
    a = only(k, "in_ptr0", "load")
    got = sorted(points(a))
    # the block at column 40 reads on to column 45, three elements into the next row
    assert (got[0], got[-1]) == (-2, 3 * 40 + 45)
    assert a.used == compare(">=", LANE + 8 * sym("x1.i") - 2, 0) & compare(
        "<", LANE + 8 * sym("x1.i") - 2, 40
    )


def test_a_body_is_not_entered_when_no_lane_is_set() -> None:
    mask = """
        auto tmp1 = at::vec::VectorizedN<int64_t,2>::arange(c10::convert<int64_t>(x1), 1);
        auto tmp9 = at::vec::VecMask<int64_t,2>(tmp1 < at::vec::VectorizedN<int64_t,2>(20L));"""
    load = "auto tmp11 = at::vec::VecMask<float,1>::from(in_ptr0 + static_cast<int64_t>(x1), static_cast<int64_t>(16));"
    k = lower("const bool* in_ptr0", in_loops(mask + masked(load), 1, 64, 16))
    assert set(points(only(k, "in_ptr0", "load"))) == set(range(32))  # blocks at 0 and 16


def test_a_mask_of_one_truth_value_loads_whole_registers() -> None:
    """Pooling over few channels, channels last: the count of the block does not reach the load."""
    body = """
        auto tmp0 = 1L + x0;
        auto tmp1 = c10::convert<int64_t>(tmp0);
        auto tmp2 = static_cast<int64_t>(6);
        auto tmp3 = tmp1 < tmp2;
        auto tmp4 = [&]
        {
            auto tmp5 = at::vec::VecMask<float,1>::from(tmp3).template loadu<float,1>(in_ptr0 + static_cast<int64_t>(4L + x1 + 4L*x0));
            return tmp5;
        }
        ;
        auto tmp6 = tmp3 ? tmp4() : at::vec::Vectorized<float>(-std::numeric_limits<float>::infinity());
        tmp6.store(out_ptr0 + static_cast<int64_t>(x1 + 4L*x0), static_cast<int64_t>(4L));"""
    k = lower("const float* in_ptr0, float* out_ptr0", in_loops(body, 6, 4, 8), vector_bytes=32)
    assert max(points(only(k, "in_ptr0", "load"))) == 4 + 4 * 4 + 7  # 24 elements in all: 4 too many
    assert max(points(only(k, "out_ptr0", "store"))) == 23


def test_scalar_masks_guard_the_call_of_the_body() -> None:
    k = lower(
        "const float* in_ptr0, float* out_ptr0",
        in_loops(
            """
        auto tmp0 = x0;
        auto tmp1 = c10::convert<int64_t>(tmp0);
        auto tmp2 = static_cast<int64_t>(1);
        auto tmp3 = tmp1 >= tmp2;
        auto tmp4 = x1;
        auto tmp5 = c10::convert<int64_t>(tmp4);
        auto tmp6 = tmp5 < static_cast<int64_t>(4);
        auto tmp7 = tmp3 & tmp6;
        auto tmp8 = [&]
        {
            auto tmp9 = in_ptr0[static_cast<int64_t>((-5L) + x1 + 5L*x0)];
            return tmp9;
        }
        ;
        auto tmp10 = tmp7 ? tmp8() : static_cast<decltype(tmp8())>(0.5);
        auto tmp11 = !tmp7 || tmp10 > static_cast<float>(1.0);
        out_ptr0[static_cast<int64_t>(x1 + 5L*x0)] = tmp11 ? tmp10 : static_cast<float>(0.0);""",
            3,
            5,
            1,
        ),
    )
    assert points(only(k, "in_ptr0", "load")) == [5 * (r - 1) + c for r in (1, 2) for c in range(4)]
    assert points(only(k, "out_ptr0", "store")) == list(range(15))


def gather(statement: str, count: int, mask: str = "") -> str:
    body = f"if ({mask}.is_masked(x1_inner)) {{ {statement} }}" if mask else statement
    return f"""
        auto tmp20 =
        [&]
        {{
            __at_align__ std::array<float, 16> tmpbuf;
            #pragma GCC unroll 16
            for (long x1_inner = 0; x1_inner < static_cast<int64_t>({count}); x1_inner++)
            {{
                {body}
            }}
            return at::vec::Vectorized<float>::loadu(tmpbuf.data(), static_cast<int64_t>({count}));
        }}
        ()
        ;"""


def test_masked_gathers_go_lane_by_lane() -> None:
    element = "tmpbuf[x1_inner] = in_ptr0[static_cast<int64_t>((-6L) + 3L*x1 + 3L*x1_inner)];"
    k = lower("const float* in_ptr0", in_loops(PAD_MASK + gather(element, 16, "tmp9"), 1, 48, 16))
    assert points(only(k, "in_ptr0", "load")) == [3 * c for c in range(40)]


WRAP = """
        auto tmp1 = 50L;
        auto tmp2 = c10::convert<int64_t>(tmp1);
        auto tmp3 = {add};
        auto tmp4 = tmp0 < 0;
        auto tmp5 = tmp4 ? tmp3 : tmp0;
        auto tmp6 = tmp5;
        auto tmp7 = c10::convert<int64_t>(tmp6);"""
CHECK = 'AOTI_TORCH_CHECK((0 <= tmp7) & (tmp7 < 50L), "index out of bounds: 0 <= tmp7 < 50L");'
ADDS = (
    "int64_t(static_cast<std::make_unsigned_t<int64_t>>(tmp0) + static_cast<std::make_unsigned_t<int64_t>>(tmp2))",
    "decltype(tmp0)(tmp0 + tmp2)",
)


@pytest.mark.parametrize("add", ADDS)
def test_a_checked_index_stays_inside_though_another_name_is_checked(add: str) -> None:
    k = lower(
        "const int64_t* in_ptr0, const float* in_ptr1, float* out_ptr0",
        in_loops(
            "auto tmp0 = in_ptr0[static_cast<int64_t>(x0)];"
            + WRAP.format(add=add)
            + CHECK
            + "auto tmp9 = in_ptr1[static_cast<int64_t>(x1 + 24L*tmp5)];"
            + "out_ptr0[static_cast<int64_t>(x1)] = tmp9;",
            1,
            24,
            1,
        ),
    )
    a = only(k, "in_ptr1", "load")
    assert sorted(set(points(a, {"tmp0": range(-70, 70)}))) == list(range(50 * 24))
    assert [(v.name, v.kind, v.lo, v.hi) for v in a.vars if v.kind == "data"] == [
        ("tmp0", "data", None, None)
    ]
    assert only(k, "out_ptr0", "store").guard == TRUE  # the check says nothing about this one
    assert only(k, "out_ptr0", "store").value_vars == {"x1"}


def test_an_unchecked_index_is_bounded_by_its_type_only() -> None:
    k = lower(
        "const uint8_t* in_ptr0, float* out_ptr0",
        "auto tmp0 = in_ptr0[static_cast<int64_t>(0L)];\n"
        "auto tmp1 = static_cast<int64_t>(tmp0);\n"
        "out_ptr0[static_cast<int64_t>(2L*tmp1)] = 1.0;",
    )
    a = only(k, "out_ptr0", "store")
    assert [(v.lo, v.hi) for v in a.vars] == [(0, 255)]
    assert points(a) == [2 * n for n in range(256)]


VECTOR_CHECK = """
        auto tmp0 = at::vec::VectorizedN<int64_t,2>::loadu(in_ptr0 + static_cast<int64_t>(x1), static_cast<int64_t>(3L));
        auto tmp1 =
        [&]
        {
            __at_align__ std::array<int64_t, 16> tmpbuf;
            tmp0.store(tmpbuf.data(), static_cast<int64_t>(3L));
            return tmpbuf;
        }
        ()
        ;
        auto tmp2 =
        [&]
        {
            __at_align__ std::array<int64_t, 16> tmpbuf;
            #pragma GCC unroll 16
            for (long x1_inner = 0; x1_inner < static_cast<int64_t>(3L); x1_inner++)
            {
                tmpbuf[x1_inner] = static_cast<int64_t>(tmp1[x1_inner]);
            }
            return at::vec::VectorizedN<int64_t,2>::loadu(tmpbuf.data(), static_cast<int64_t>(3L));
        }
        ()
        ;"""
IN_RANGE = "at::vec::VecMask<int64_t,2>((at::vec::VectorizedN<int64_t,2>(0) <= tmp2) & (tmp2 < at::vec::VectorizedN<int64_t,2>(8L)))"


@pytest.mark.parametrize("tail", [1, 2, 3])
def test_a_vector_check_of_a_tail_holds_for_its_lanes(tail: int) -> None:
    check = f'AOTI_TORCH_CHECK((at::vec::VecMask<int64_t,2>::set(at::vec::VecMask<int64_t,2>::from(1), ({IN_RANGE}), static_cast<int64_t>({tail}L))).all_masked(), "index out of bounds");'
    element = "tmpbuf[x1_inner] = in_ptr1[static_cast<int64_t>(tmp1[x1_inner] + 8L*x1_inner)];"
    k = lower(
        "const int64_t* in_ptr0, const float* in_ptr1",
        in_loops(VECTOR_CHECK.replace("3L", f"{tail}L") + check + gather(element, tail), 1, tail, 16),
    )
    a = only(k, "in_ptr1", "load")
    assert sorted(points(a, {"tmp0": range(-5, 20)})) == list(range(8 * tail))
    assert all(c.kind == "ge" for c in a.guard.conjuncts())  # the lanes beyond the tail are out of the way


def test_a_check_of_one_lane_says_nothing_of_the_others() -> None:
    check = f'AOTI_TORCH_CHECK((at::vec::VecMask<int64_t,2>::set(at::vec::VecMask<int64_t,2>::from(1), ({IN_RANGE}), static_cast<int64_t>(1L))).all_masked(), "index out of bounds");'
    element = "tmpbuf[x1_inner] = in_ptr1[static_cast<int64_t>(tmp1[x1_inner])];"
    k = lower(
        "const int64_t* in_ptr0, const float* in_ptr1",
        in_loops(VECTOR_CHECK + check + gather(element, 3), 1, 3, 16),
    )
    reached = points(only(k, "in_ptr1", "load"), {"tmp0": range(-5, 20)})
    assert {-5, 19} <= set(reached)  # lanes 1 and 2 are not checked


def test_a_masked_vector_check_holds_where_the_mask_is_set() -> None:
    mask = """
        auto tmp8 = at::vec::VectorizedN<int64_t,2>::arange(c10::convert<int64_t>(x1), 1);
        auto tmp9 = at::vec::VecMask<int64_t,2>(tmp8 < at::vec::VectorizedN<int64_t,2>(2L));"""
    check = f'AOTI_TORCH_CHECK((({IN_RANGE}) | ~(tmp9)).all_masked(), "index out of bounds");'
    element = "tmpbuf[x1_inner] = in_ptr1[static_cast<int64_t>(tmp1[x1_inner])];"
    k = lower(
        "const int64_t* in_ptr0, const float* in_ptr1",
        in_loops(VECTOR_CHECK + mask + check + gather(element, 3, "tmp9"), 1, 3, 16),
    )
    assert sorted(set(points(only(k, "in_ptr1", "load"), {"tmp0": range(-5, 20)}))) == list(range(8))


def test_stores_through_gather_lambdas() -> None:
    k = lower(
        "const int64_t* in_ptr0, float* out_ptr0, float* out_ptr1",
        in_loops(
            VECTOR_CHECK.split("auto tmp2 =")[0]
            + """
        auto tmp12 = at::vec::Vectorized<float>(static_cast<float>(1.0));
        [&]
        {
            __at_align__ std::array<float, 16> tmpbuf;
            tmp12.store(tmpbuf.data(), static_cast<int64_t>(3L));
            for (long x1_inner = 0; x1_inner < static_cast<int64_t>(3L); x1_inner++)
            {
                out_ptr0[static_cast<int64_t>(tmp1[x1_inner])] += tmpbuf[x1_inner];
                out_ptr1[static_cast<int64_t>(5L*x1_inner)] = tmpbuf[x1_inner];
            }
        }
        ()
        ;""",
            1,
            3,
            16,
        ),
    )
    assert [a.kind for a in k.accesses if a.param == "out_ptr0"] == ["load", "store"]
    assert sorted(set(points(only(k, "out_ptr0", "store"), {"tmp0": range(4)}))) == [0, 1, 2, 3]
    assert points(only(k, "out_ptr1", "store")) == [0, 5, 10]


def test_an_accumulating_vector_store_reads_and_writes() -> None:
    k = lower(
        "const float* in_ptr0, float* out_ptr0",
        "auto tmp0 = at::vec::Vectorized<float>::loadu(in_ptr0, static_cast<int64_t>(8L));\n"
        "(tmp0 + at::vec::Vectorized<float>::loadu(out_ptr0 + static_cast<int64_t>(4L), static_cast<int64_t>(8L)))"
        ".store(out_ptr0 + static_cast<int64_t>(4L), static_cast<int64_t>(8L));",
    )
    assert points(only(k, "in_ptr0", "load")) == list(range(8))
    assert points(only(k, "out_ptr0", "load")) == points(only(k, "out_ptr0", "store")) == list(range(4, 12))


def test_a_choice_by_data_is_one_of_both() -> None:
    k = lower(
        "const float* in_ptr0, float* out_ptr0",
        in_loops(
            "auto tmp0 = in_ptr0[static_cast<int64_t>(0L)];\n"
            "auto tmp1 = tmp0 > static_cast<float>(0.5);\n"
            "auto tmp2 = tmp1 ? x1 : static_cast<int64_t>(7L);\n"
            "out_ptr0[static_cast<int64_t>(tmp2)] = tmp0;",
            1,
            3,
            1,
        ),
    )
    assert set(points(only(k, "out_ptr0", "store"))) == {0, 1, 2, 7}


# -- some lane of a mask --------------------------------------------------------------------------

comparisons = st.builds(
    lambda op, k, c: compare(op, k * LANE + sym("s"), c),
    st.sampled_from(["<", "<=", ">", ">=", "=="]),
    st.sampled_from([-1, 1]),
    st.integers(-6, 12),
)
fixed = st.builds(lambda c: compare(">=", sym("s"), c), st.integers(-3, 3))
conditions = st.recursive(
    comparisons | fixed,
    lambda inner: st.builds(
        lambda kind, cs: Cond.join(kind, cs),
        st.sampled_from(["and", "or"]),
        st.lists(inner, min_size=1, max_size=3),
    ),
    max_leaves=5,
)


@given(conditions, st.sampled_from([1, 4, 8]), st.integers(-8, 8))
def test_some_lane_is_exact_for_unit_steps(c: Cond, width: int, s: int) -> None:
    found = some_lane(c, width, frozenset())
    if found is not None:
        expected = any(evaluate_cond(c, {"lane": i, "s": s}) for i in range(width))
        assert evaluate_cond(found, {"s": s}) == expected


def test_some_lane_is_unknown_when_lanes_hold_data() -> None:
    loaded = compare(">", sym("tmp0@1"), const(0))
    assert some_lane(loaded, 16, frozenset({"tmp0@1"})) is None
    assert some_lane(opaque("tmp0 > tmp1"), 16, frozenset({"tmp0 > tmp1"})) is None
    assert some_lane(loaded, 16, frozenset()) == loaded
    assert some_lane(compare("<", LANE, const(0)), 16, frozenset()) == FALSE
