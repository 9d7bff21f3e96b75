"""C++ kernels: loops, vectors, tails, tiles, reductions. Expected elements are written out by hand."""

from __future__ import annotations

from aoti_lint.analyzer.kernels.cpp.reader import parse_kernels
from cpu_cases import HEAD, lower, only, touched
from iterations import points

MAIN_AND_TAIL = """
    {
        for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(29L); x0+=static_cast<int64_t>(16L))
        {
            {
                if(C10_LIKELY(x0 >= static_cast<int64_t>(0) && x0 < static_cast<int64_t>(16L)))
                {
                    auto tmp0 = at::vec::Vectorized<float>::loadu(in_ptr0 + static_cast<int64_t>(x0), static_cast<int64_t>(16));
                    tmp0.store(out_ptr0 + static_cast<int64_t>(x0));
                }
                if(C10_UNLIKELY(x0 >= static_cast<int64_t>(16L) && x0 < static_cast<int64_t>(29L)))
                {
                    auto tmp0 = at::vec::Vectorized<float>::loadu(in_ptr0 + static_cast<int64_t>(x0), static_cast<int64_t>(13L));
                    tmp0.store(out_ptr0 + static_cast<int64_t>(x0), static_cast<int64_t>(13L));
                }
            }
        }
    }
"""


def test_main_loop_and_tail_touch_exactly_the_array() -> None:
    k = lower("const float* in_ptr0, float* out_ptr0", MAIN_AND_TAIL)
    main, main_store, tail, tail_store = k.accesses
    assert points(main) == points(main_store) == list(range(16))
    assert points(tail) == points(tail_store) == list(range(16, 29))
    assert [a.kind for a in k.accesses] == ["load", "store"] * 2
    assert main.text == "x0" and dict(main.names)["x0"].symbols == {main.vars[0].name}
    assert [v.kind for v in main.vars] == ["loop", "lane"]
    assert main_store.value_vars == {v.name for v in main.vars}
    assert (tail.loc.line, tail.loc.column) == (16, 33)
    assert [(p.name, p.dtype, p.pointer, p.readonly) for p in k.params] == [
        ("in_ptr0", "float32", True, True),
        ("out_ptr0", "float32", True, False),
    ]


def test_lines_count_from_the_first_line_of_the_text() -> None:
    text = (
        f'{HEAD}extern "C"  void  k(float* out_ptr0)\n{{\n    out_ptr0[static_cast<int64_t>(3L)] = 1.0;\n}}\n'
    )
    (a,) = parse_kernels(text, "w.cpp", first_line=101)["k"].accesses
    assert (a.loc.path, a.loc.line, a.loc.column, a.text) == ("w.cpp", 104, 5, "3L")


def test_a_symbolic_tail_covers_the_rest() -> None:
    whole = "16L*(c10::div_floor_integer(static_cast<int64_t>(ks0), static_cast<int64_t>(16L)))"
    rest = "ks0 + (-16L)*(c10::div_floor_integer(static_cast<int64_t>(ks0), static_cast<int64_t>(16L)))"
    k = lower(
        "const at::BFloat16* in_ptr0, at::BFloat16* out_ptr0, const int64_t ks0",
        f"""
        for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(ks0); x0+=static_cast<int64_t>(16L))
        {{
            if(C10_LIKELY(x0 >= static_cast<int64_t>(0) && x0 < static_cast<int64_t>({whole})))
            {{
                auto tmp0 = at::vec::Vectorized<at::BFloat16>::loadu(in_ptr0 + static_cast<int64_t>(x0), static_cast<int64_t>(16));
                auto tmp1 = at::vec::convert<float>(tmp0);
                auto tmp2 = at::vec::convert<at::BFloat16>(tmp1);
                tmp2.store(out_ptr0 + static_cast<int64_t>(x0), static_cast<int64_t>(16));
            }}
            if(C10_UNLIKELY(x0 >= static_cast<int64_t>({whole}) && x0 < static_cast<int64_t>(ks0)))
            {{
                auto tmp0 = at::vec::Vectorized<at::BFloat16>::loadu(in_ptr0 + static_cast<int64_t>(x0), static_cast<int64_t>({rest}));
                tmp0.store(out_ptr0 + static_cast<int64_t>(x0), static_cast<int64_t>({rest}));
            }}
        }}""",
    )
    for n in (0, 1, 15, 16, 33):
        assert touched(k, "in_ptr0", "load", ks0=n) == touched(k, "out_ptr0", "store", ks0=n) == set(range(n))
    assert k.params[0].dtype == "bfloat16" and k.params[2].pointer is False


def test_transposed_tiles_read_rows_and_write_columns() -> None:
    k = lower(
        "const float* in_ptr0, float* out_ptr0",
        """
        for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(3L); x0+=static_cast<int64_t>(16L))
        {
            for(int64_t x1=static_cast<int64_t>(0L); x1<static_cast<int64_t>(32L); x1+=static_cast<int64_t>(16L))
            {
                alignas(std::max(std::size_t(16), alignof(float))) float tmp0[16*16];
                transpose_mxn<float,static_cast<int64_t>(3L),static_cast<int64_t>(16),false>(in_ptr0 + static_cast<int64_t>(x1 + 100L*x0), static_cast<int64_t>(100L), tmp0, static_cast<int64_t>(16));
                alignas(std::max(std::size_t(16), alignof(float))) float tmp1[16*16];
                for (long x0_inner = 0; x0_inner < static_cast<int64_t>(3L); x0_inner++)
                {
                    auto tmp2 = at::vec::Vectorized<float>::loadu(tmp0 + static_cast<int64_t>(16L*x0_inner));
                    tmp2.store(tmp1 + static_cast<int64_t>(16L*x0_inner));
                }
                at::vec::transpose_mxn<float,static_cast<int64_t>(3L),static_cast<int64_t>(16)>(tmp1, static_cast<int64_t>(16), out_ptr0 + static_cast<int64_t>(x0 + 5L*x1), static_cast<int64_t>(5L));
            }
        }""",
    )
    assert touched(k, "in_ptr0", "load") == {100 * i + j for i in range(3) for j in range(32)}
    assert touched(k, "out_ptr0", "store") == {i + 5 * j for i in range(3) for j in range(32)}
    assert {a.param for a in k.accesses} == {"in_ptr0", "out_ptr0"}  # tiles are the kernel's own


def test_transposes_of_dynamic_size() -> None:
    k = lower(
        "const float* in_ptr0, float* out_ptr0, const int64_t ks0",
        """
        float tmp0[16*16];
        transpose_mxn<float,false>(in_ptr0, static_cast<int64_t>(ks0), tmp0, static_cast<int64_t>(16), static_cast<int64_t>(2L), static_cast<int64_t>(ks0));
        transpose_mxn<float,true>(tmp0, static_cast<int64_t>(16), out_ptr0 + static_cast<int64_t>(7L), static_cast<int64_t>(4L), static_cast<int64_t>(2L), static_cast<int64_t>(ks0));""",
    )
    assert touched(k, "in_ptr0", "load", ks0=3) == {0, 1, 2, 3, 4, 5}
    assert touched(k, "out_ptr0", "atomic", ks0=3) == {7 + i + 4 * j for i in range(2) for j in range(3)}


def test_scalar_tail_loops_and_guards_that_are_no_sizes() -> None:
    k = lower(
        "const float* in_ptr0, float* out_ptr0",
        """
        for(int64_t x1=static_cast<int64_t>(0L); x1<static_cast<int64_t>(4L); x1+=static_cast<int64_t>(16L))
        {
            if(C10_LIKELY(x1 >= static_cast<int64_t>(0L) && x1 < static_cast<int64_t>(1)))
            {
                for (int64_t x1_tail = static_cast<int64_t>(0L);x1_tail < static_cast<int64_t>(4L); x1_tail++)
                {
                    auto tmp0 = in_ptr0[static_cast<int64_t>(3L*x1_tail)];
                    out_ptr0[static_cast<int64_t>(x1_tail)] = tmp0;
                }
            }
        }""",
    )
    assert points(only(k, "in_ptr0", "load")) == [0, 3, 6, 9]
    assert points(only(k, "out_ptr0", "store")) == [0, 1, 2, 3]


def test_loops_as_written_before_guards_existed() -> None:
    """A main loop and a tail loop over the same variable; bool loads and stores without a count."""
    k = lower(
        "const bool* in_ptr0, float* out_ptr0",
        """
        {
            for(long x0=static_cast<long>(0L); x0<static_cast<long>(16L); x0+=static_cast<long>(16L))
            {
                auto tmp0 = at::vec::VecMask<float,1>::from(in_ptr0 + static_cast<long>(x0));
                auto tmp1 = tmp0.to<float,1>();
                tmp1.store(out_ptr0 + static_cast<long>(x0));
            }
            for(long x0=static_cast<long>(16L); x0<static_cast<long>(21L); x0+=static_cast<long>(5L))
            {
                auto tmp0 = at::vec::VecMask<float,1>::from(in_ptr0 + static_cast<long>(x0));
                auto tmp1 = tmp0.to<float,1>();
                tmp1.store(out_ptr0 + static_cast<long>(x0), 5);
            }
        }""",
    )
    assert touched(k, "out_ptr0", "store") == set(range(21))
    assert touched(k, "in_ptr0", "load") == set(range(32))  # the tail's load is as wide as the register


def test_a_dynamic_step_runs_once() -> None:
    k = lower(
        "float* out_ptr0, const int64_t ks0",
        """
        for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(8L*ks0); x0+=(8L*ks0 == 0 ? 1 : 8L*ks0))
        {
            at::vec::Vectorized<float>(1.0).store(out_ptr0 + static_cast<int64_t>(x0), static_cast<int64_t>(8L*ks0));
        }""",
    )
    assert touched(k, "out_ptr0", "store", ks0=2) == set(range(16))
    assert touched(k, "out_ptr0", "store", ks0=0) == set()


def test_division_and_remainder_of_indices_round_down() -> None:
    k = lower(
        "const float* in_ptr0, float* out_ptr0, const int64_t ks0",
        """
        for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(20L); x0+=static_cast<int64_t>(1L))
        {
            auto tmp0 = in_ptr0[static_cast<int64_t>((static_cast<int64_t>(x0) % static_cast<int64_t>(7L)) + 7L*(c10::div_floor_integer(static_cast<int64_t>(x0), static_cast<int64_t>(ks0))))];
            out_ptr0[static_cast<int64_t>(std::min(static_cast<int64_t>(9L), static_cast<int64_t>(std::max(static_cast<int64_t>(0L), static_cast<int64_t>((-2L) + x0)))) + std::abs((-3L) + x0))] = tmp0;
        }""",
    )
    assert points(only(k, "in_ptr0", "load"), ks0=4) == [x % 7 + 7 * (x // 4) for x in range(20)]
    assert points(only(k, "out_ptr0", "store")) == [min(9, max(0, x - 2)) + abs(x - 3) for x in range(20)]


def test_c_division_of_what_may_be_negative_rounds_to_zero() -> None:
    k = lower(
        "float* out_ptr0, const int64_t ks0",
        "out_ptr0[static_cast<int64_t>((ks0) / static_cast<int64_t>(2L))] = 1.0;\n"
        "out_ptr0[static_cast<int64_t>(10L + (ks0) % static_cast<int64_t>(4L))] = 1.0;",
    )
    first, second = k.accesses
    assert [points(first, ks0=n) for n in (-3, 3)] == [[-1], [1]]
    assert [points(second, ks0=n) for n in (-3, 3)] == [[7], [13]]


def test_parallel_loops_are_those_of_the_pragmas() -> None:
    k = lower(
        "float* out_ptr0",
        """
    #pragma omp parallel num_threads(4)
    {
        int tid = omp_get_thread_num();
        {
            #pragma omp for collapse(2)
            for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(2L); x0+=static_cast<int64_t>(1L))
            {
                #pragma GCC ivdep
                for(int64_t x1=static_cast<int64_t>(0L); x1<static_cast<int64_t>(3L); x1+=static_cast<int64_t>(1L))
                {
                    for(int64_t x2=static_cast<int64_t>(0L); x2<static_cast<int64_t>(4L); x2+=static_cast<int64_t>(1L))
                    {
                        out_ptr0[static_cast<int64_t>(x2 + 4L*x1 + 12L*x0)] = 1.0;
                    }
                }
            }
        }
        #pragma omp for
        #pragma GCC ivdep
        for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(2L); x0+=static_cast<int64_t>(1L))
        {
            out_ptr0[static_cast<int64_t>(x0)] = 2.0;
        }
    }""",
    )
    nested, single = k.accesses
    assert [v.kind for v in nested.vars] == ["parallel", "parallel", "loop"]
    assert [v.kind for v in single.vars] == ["parallel"]
    assert points(nested) == list(range(24))


def test_a_reduced_value_no_longer_varies_with_the_reduced_variable() -> None:
    k = lower(
        "const float* in_ptr0, float* out_ptr0, float* out_ptr1, int64_t* out_ptr2",
        """
        for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(5L); x0+=static_cast<int64_t>(1L))
        {
            float tmp_acc0 = 0;
            at::vec::Vectorized<float> tmp_acc0_vec = at::vec::Vectorized<float>(0);
            IndexValue<float> tmp_acc1 = IndexValue<float>{0, -std::numeric_limits<float>::infinity()};
            IndexValueVec<float, 1, 2> tmp_acc1_vec = IndexValueVec<float, 1, 2>(-std::numeric_limits<float>::infinity());
            Welford<float> tmp_acc2 = Welford<float>();
            Welford<at::vec::Vectorized<float>> tmp_acc2_vec = Welford<at::vec::Vectorized<float>>();
            static WelfordHelper<at::vec::Vectorized<float>, 4096> welford_helper0(static_cast<int64_t>(2L));
            for(int64_t x1=static_cast<int64_t>(0L); x1<static_cast<int64_t>(32L); x1+=static_cast<int64_t>(16L))
            {
                auto tmp0 = at::vec::Vectorized<float>::loadu(in_ptr0 + static_cast<int64_t>(x1 + 32L*x0), static_cast<int64_t>(16));
                tmp_acc0_vec = tmp_acc0_vec + tmp0;
                tmp_acc1_vec = argmax_combine_vec<float, 1, 2, true>(tmp_acc1_vec, tmp0, x1);
                tmp_acc2_vec = welford_combine(tmp_acc2_vec, tmp0, &welford_helper0);
            }
            tmp_acc0 = tmp_acc0 + at::vec::vec_reduce_all<float, 1>([](at::vec::Vectorized<float>& x, at::vec::Vectorized<float>& y) { return x + y; }, tmp_acc0_vec);
            tmp_acc1 = argmax_combine(tmp_acc1, argmax_vec_reduce_all(tmp_acc1_vec));
            tmp_acc2 = welford_combine(tmp_acc2, welford_vec_reduce_all(tmp_acc2_vec));
            out_ptr0[static_cast<int64_t>(x0)] = static_cast<float>(tmp_acc0);
            out_ptr1[static_cast<int64_t>(x0)] = static_cast<float>(tmp_acc2.m2);
            out_ptr2[static_cast<int64_t>(x0)] = static_cast<int64_t>(tmp_acc1.index);
        }""",
    )
    assert touched(k, "in_ptr0", "load") == set(range(160))
    for name in ("out_ptr0", "out_ptr1", "out_ptr2"):
        a = only(k, name, "store")
        assert points(a) == [0, 1, 2, 3, 4]
        assert a.value_vars == {"x0"}


def test_a_value_summed_in_parallel_does_not_vary_with_the_thread_loop() -> None:
    k = lower(
        "const float* in_ptr0, float* out_ptr0",
        """
        float tmp_acc0 = 0;
        float tmp_acc0_arr[4];
        for (int tid = 0; tid < 4; tid++) { tmp_acc0_arr[tid] = 0; }
        #pragma omp parallel num_threads(4)
        {
            int tid = omp_get_thread_num();
            float tmp_acc0_local = 0;
            #pragma omp for
            for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(7L); x0+=static_cast<int64_t>(1L))
            {
                auto tmp0 = in_ptr0[static_cast<int64_t>(x0)];
                tmp_acc0_local = tmp_acc0_local + tmp0;
            }
            tmp_acc0_arr[tid] = tmp_acc0_local;
        }
        for (int tid = 0; tid < 4; tid++) { tmp_acc0 = tmp_acc0 + tmp_acc0_arr[tid]; }
        out_ptr0[static_cast<int64_t>(0L)] = static_cast<float>(tmp_acc0);""",
    )
    assert points(only(k, "out_ptr0", "store")) == [0]
    assert only(k, "out_ptr0", "store").value_vars == frozenset()
    assert [v.kind for v in only(k, "in_ptr0", "load").vars] == ["parallel"]


def test_local_buffers_leave_no_accesses_and_aliases_are_the_parameter() -> None:
    k = lower(
        "float* in_out_ptr0, const int64_t ks0",
        """
        auto out_ptr1 = in_out_ptr0;
        std::unique_ptr<float []> buf_local_buffer_data_0 = std::make_unique<float []>(64L*ks0);
        float* local_buffer_data_0 = buf_local_buffer_data_0.get();
        for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(ks0); x0+=static_cast<int64_t>(1L))
        {
            auto tmp0 = out_ptr1[static_cast<int64_t>(2L*x0)];
            local_buffer_data_0[static_cast<int64_t>(x0)] = tmp0;
            out_ptr1[static_cast<int64_t>(2L*x0)] += tmp0;
        }""",
    )
    assert [(a.param, a.kind) for a in k.accesses] == [
        ("in_out_ptr0", "load"),
        ("in_out_ptr0", "load"),
        ("in_out_ptr0", "store"),
    ]
    assert points(k.accesses[2], ks0=3) == [0, 2, 4]


def test_atomics() -> None:
    k = lower(
        "const int64_t* in_ptr0, float* out_ptr0",
        """
        for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(16L); x0+=static_cast<int64_t>(16L))
        {
            auto tmp5 = in_ptr0[static_cast<int64_t>(0L)];
            AOTI_TORCH_CHECK((0 <= tmp5) & (tmp5 < 3L), "index out of bounds: 0 <= tmp5 < 3L");
            atomic_add(&out_ptr0[static_cast<int64_t>(x0 + 24L*tmp5)], static_cast<float>(1.0));
            auto tmp9 = at::vec::Vectorized<float>(1.0);
            auto tmp10 = x0 + 24L*tmp5;
            auto tmp11 = c10::convert<int64_t>(tmp10);
            auto tmp12 = at::vec::VectorizedN<int64_t,2>::arange(tmp11, 1);
            atomic_add_vec<float, 2, 1>(out_ptr0, tmp12, tmp9);
            atomic_add_vec<float, 2, 1>(out_ptr0, tmp12, tmp9, static_cast<int64_t>(5L));
        }""",
    )
    load, one, full, tail = k.accesses
    tried = {"tmp5": range(-2, 6)}
    assert points(load) == [0]
    assert points(one, tried) == [0, 24, 48]
    assert set(points(full, tried)) == {24 * t + i for t in range(3) for i in range(16)}
    assert set(points(tail, tried)) == {24 * t + i for t in range(3) for i in range(5)}
    assert [a.kind for a in k.accesses] == ["load", "atomic", "atomic", "atomic"]
