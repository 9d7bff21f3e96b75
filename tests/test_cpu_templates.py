"""C++ kernels: inlined helpers, unrolled lambdas, blocks, parallel ranges, and text that is not understood."""

from __future__ import annotations

import time

import pytest
from aoti_lint.analyzer.kernels.cpp.reader import parse_kernels
from aoti_lint.analyzer.symbolic import TRUE, evaluate
from cpu_cases import HEAD, lower, only, touched
from iterations import points

MICRO = """
template <int64_t ROWS, int64_t BLOCK, bool accum, bool ahead=false>
inline void k_block(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C,
                    int64_t K, int64_t lda, int64_t ldb, int64_t ldc) {
    using Vectorized = at::vec::Vectorized<float>;
    constexpr auto VLEN = Vectorized::size();
    constexpr auto COLS = BLOCK / VLEN;
    Vectorized va;
    at::vec::VectorizedN<float, COLS> vb;
    at::vec::VectorizedN<float, ROWS*COLS> vc;
    auto first = [&](auto i) {
        constexpr int row = i / COLS;
        constexpr int col = i % COLS;
        if constexpr (accum) {
            vc[i] = Vectorized::loadu(C + row * ldc + col * VLEN);
        } else {
            vc[i] = Vectorized(0.0f);
        }
    };
    c10::ForcedUnroll<ROWS * COLS>{}(first);
    auto step = [&, COLS](auto i, int k) {
        constexpr int row = i / COLS;
        constexpr int col = i % COLS;
        if constexpr (col == 0) {
            va = Vectorized(static_cast<float>(A[row * lda + k]));
        }
        if constexpr (row == 0) {
            vb[col] = Vectorized::loadu(B + k * ldb + col * VLEN);
        }
        vc[row * COLS + col] = at::vec::fmadd(va, vb[col], vc[row * COLS + col]);
    };
    for (int k = 0; k < K; ++k) {
        c10::ForcedUnroll<ROWS * COLS>{}(step, k);
    }
    auto last = [&](auto i) {
        constexpr int row = i / COLS;
        constexpr int col = i % COLS;
        vc[i].store(C + row * ldc + col * VLEN);
    };
    c10::ForcedUnroll<ROWS * COLS>{}(last);
}
template <bool accum>
inline void k_multiply(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C,
                       int64_t M, int64_t N, int64_t K, int64_t lda, int64_t ldb, int64_t ldc) {
    for (int64_t m = 0; m < M; m += 2) {
        int64_t block_m = std::min<int64_t>(M - m, 2);
        for (int64_t n = 0; n < N; n += 32) {
            if (block_m == 2) {
                k_block<2, 32, accum>(A + m * lda, B + n, C + m * ldc + n, K, lda, ldb, ldc);
            } else {
                switch (block_m) {
                case 1:
                    k_block<1, 32, accum>(A + m * lda, B + n, C + m * ldc + n, K, lda, ldb, ldc);
                    break;
                default:
                    AOTI_TORCH_CHECK(false, "no such block");
                }
            }
        }
    }
}
"""
MULTIPLY = """
    constexpr int64_t N = 32;
    constexpr int64_t K = 5;
    constexpr int64_t Mr = 2;
    const int64_t M = static_cast<int64_t>(ks0);
    const int64_t Mr_blocks = (M + Mr - 1) / Mr;
    const auto Mt_blocks = Mr_blocks;
    int64_t Mc_blocks, Nc_blocks, Kc_blocks;
    uint32_t L1_cache_size = 49152;
    mm_get_cache_blocking<float, float>(1, M, N, K, Mr, 32, 1, Mt_blocks, 1, K, Mc_blocks, Nc_blocks, Kc_blocks, L1_cache_size, L1_cache_size);
    const int64_t num_Mc_blocks = (Mr_blocks + Mc_blocks - 1) / Mc_blocks;
    for (int64_t mc_block_id = 0; mc_block_id < num_Mc_blocks; mc_block_id++) {
        const int64_t mc = (mc_block_id % num_Mc_blocks) * Mc_blocks;
        const int64_t m_start = mc * Mr;
        const int64_t m_end = std::min(std::min(mc + Mc_blocks, Mr_blocks) * Mr, M);
        for (int64_t kc = 0; kc < K; kc += Kc_blocks) {
            int64_t k_start = kc;
            int64_t k_end = std::min(kc + Kc_blocks, K);
            if (kc == 0) {
                k_multiply<static_cast<bool>(false)>(&(X[static_cast<int64_t>(k_start + 5L*m_start)]), &(W[static_cast<int64_t>(32L*k_start)]),
                    &(Y[static_cast<int64_t>(32L*m_start)]), static_cast<int64_t>(m_end + ((-1L)*m_start)), static_cast<int64_t>(N), static_cast<int64_t>(k_end + ((-1L)*k_start)), 5, 32, 32);
            } else {
                k_multiply<static_cast<bool>(true)>(&(X[static_cast<int64_t>(k_start + 5L*m_start)]), &(W[static_cast<int64_t>(32L*k_start)]),
                    &(Y[static_cast<int64_t>(32L*m_start)]), static_cast<int64_t>(m_end + ((-1L)*m_start)), static_cast<int64_t>(N), static_cast<int64_t>(k_end + ((-1L)*k_start)), 5, 32, 32);
            }
        }
    }"""


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_a_blocked_product_touches_its_matrices(rows: int) -> None:
    k = lower("const float* X, const float* W, float* Y, const int64_t ks0", MULTIPLY, helpers=MICRO)
    tried = {"Kc_blocks": range(1, 7)}
    assert touched(k, "X", "load", tried, ks0=rows) == set(range(5 * rows))
    assert touched(k, "W", "load", tried, ks0=rows) == set(range(5 * 32))
    assert touched(k, "Y", "store", tried, ks0=rows) == set(range(32 * rows))
    assert touched(k, "Y", "load", tried, ks0=rows) == set(range(32 * rows))  # where it accumulates
    assert {a.loc.line for a in k.accesses} <= set(range(2, 48))  # the places in the helpers


def test_helpers_give_results_back() -> None:
    k = lower(
        "float* out_ptr0, const int64_t ks0",
        "int64_t a = ks0;\n    twice(a);\n    float* p = shifted<3>(out_ptr0);\n    p[a] = 1.0;",
        helpers="inline void twice(int64_t& x) { x = 2 * x; }\n"
        "template <int64_t n>\ninline float* shifted(float* p) { return p + n; }\n",
    )
    assert points(only(k, "out_ptr0", "store"), ks0=5) == [13]


def test_ranges_shared_by_threads() -> None:
    k = lower(
        "const float* q, float* out",
        """
  at::parallel_for(0, 2 * 3, 1, [&](int64_t begin, int64_t end) {
    int64_t i = 0, j = 0;
    at::native::data_index_init(begin, i, 2, j, 3);
    for ([[maybe_unused]] auto z : c10::irange(begin, end)) {
      at::vec::map<float>([](at::vec::Vectorized<float> x) { return x; }, out + 100 * i + 10 * j, q + 4 * j, 4);
      at::native::data_index_step(i, 2, j, 3);
    }
  });""",
    )
    a = only(k, "out", "store")
    assert points(a) == [100 * (z // 3) + 10 * (z % 3) + n for z in range(6) for n in range(4)]
    assert [v.kind for v in a.vars] == ["parallel", "lane"]
    assert points(only(k, "q", "load")) == [4 * (z % 3) + n for z in range(6) for n in range(4)]


def test_matrix_products_of_a_library_touch_blocks() -> None:
    k = lower(
        "const float* a, const float* b, float* c",
        "at::native::cpublas::brgemm(2, 3, 4, 10, 20, 30, false, a, b + 1, c, false);",
    )
    assert touched(k, "a", "load") == {10 * m + n for m in range(2) for n in range(4)}
    assert touched(k, "b", "load") == {1 + 20 * m + n for m in range(4) for n in range(3)}
    assert touched(k, "c", "store") == {30 * m + n for m in range(2) for n in range(3)}


def test_a_counter_declared_before_its_loops_goes_on_counting() -> None:
    k = lower(
        "float* out_ptr0, const int64_t ks0",
        """
        int64_t d = 0;
        for (; d < ks0 - (ks0 % 4); d += 4) { out_ptr0[d] = 1.0; }
        for (; d < ks0; d++) { out_ptr0[d] = 2.0; }""",
    )
    first, second = k.accesses
    assert points(first, ks0=11) == [0, 4] and points(second, ks0=11) == [8, 9, 10]


def test_leaving_a_loop_or_body_early() -> None:
    k = lower(
        "float* out_ptr0, const int64_t ks0",
        """
        for (int64_t x0 = 0; x0 < 8; x0++)
        {
            if (x0 < ks0) { continue; }
            out_ptr0[x0] = 1.0;
        }
        if (ks0 == 0) { return; }
        out_ptr0[100] = 2.0;""",
    )
    skipped, last = k.accesses
    assert points(skipped, ks0=5) == [5, 6, 7]
    assert points(last, ks0=0) == [] and points(last, ks0=1) == [100]


# -- what is not understood is said ---------------------------------------------------------------


def test_an_unknown_function_may_touch_anything() -> None:
    k = lower("const float* in_ptr0, float* out_ptr0", "mystery(in_ptr0 + 3, out_ptr0, 4);")
    assert [(a.param, a.kind, a.index) for a in k.accesses] == [
        ("in_ptr0", "load", None),
        ("out_ptr0", "load", None),
        ("out_ptr0", "store", None),
    ]
    assert k.accesses[0].reason == "mystery is not modelled"


def test_a_vector_of_unknown_width_has_no_index() -> None:
    k = lower("const float* in_ptr0", "at::vec::Vectorized<float>::loadu(in_ptr0);", vector_bytes=None)
    (a,) = k.accesses
    assert a.index is None and a.reason is not None and "lanes" in a.reason


def test_the_width_comes_from_full_loads_of_the_text() -> None:
    full = "at::vec::Vectorized<float>::loadu(in_ptr0, static_cast<int64_t>(8));\n"
    k = lower(
        "const float* in_ptr0",
        full + "    at::vec::Vectorized<float>::loadu(in_ptr0 + static_cast<int64_t>(100L));",
        vector_bytes=None,
    )
    assert points(k.accesses[1]) == list(range(100, 108))


@pytest.mark.parametrize(
    "body",
    [
        "while (ks0 > 0) { out_ptr0[ks0] = 1.0; }",
        'asm volatile("" : : : "memory");',
        "goto end; end: out_ptr0[0] = 1.0;",
        "no_such_type t = out_ptr0[3];",
        "auto tmp0 = nowhere::call(out_ptr0);",
        "out_ptr0[static_cast<no_such_type>(3)] = 1.0;",
        "auto tmp0 = (out_ptr0[;",
    ],
)
def test_odd_statements_are_listed(body: str) -> None:
    text = f'{HEAD}extern "C"  void  k(float* out_ptr0, const int64_t ks0)\n{{\n    {body}\n}}\n'
    kernel = parse_kernels(text, "k.cpp")["k"]
    assert kernel.unmodelled
    assert all(loc.path == "k.cpp" and loc.line == 4 for _, loc in kernel.unmodelled)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "}}}}",
        "extern",
        'extern "C" void k(',
        'extern "C"  void  k(int x) {',
        "\x00\xff\u00e9",
        "template <",
        "{" * 300,
    ],
)
def test_odd_text_does_not_raise(text: str) -> None:
    assert set(parse_kernels(text, "k.cpp")) <= {"k"}


@pytest.mark.parametrize(
    "text",
    [
        'extern "C" void k(' * 20_000,
        "x<" * 200_000,
        f'{HEAD}extern "C"  void  k(float* p)\n{{\n    p[{"+".join(["1"] * 3_000)}] = 1.0;\n}}\n',
    ],
)
def test_long_text_is_read_in_time_that_grows_with_it(text: str) -> None:
    before = time.process_time()
    found = parse_kernels(text, "k.cpp")
    assert time.process_time() - before < 5
    assert all(k.unmodelled or k.accesses for k in found.values())


def test_a_kernel_that_does_not_parse_is_still_named() -> None:
    text = f'{HEAD}extern "C"  void  k(struct {{ int a; }} const float*** && x)\n{{\n    x[0];\n}}\n'
    assert parse_kernels(text, "k.cpp").get("k") is None or parse_kernels(text, "k.cpp")["k"].unmodelled


def test_prototypes_are_not_kernels_and_wrapper_text_is_left_alone() -> None:
    text = (
        'extern "C"  void  k(const float* in_ptr0);\nclass Model { void run() { k(undeclared); } };\n'
        f'{HEAD}extern "C"  void  __attribute__((noinline)) k(const float* in_ptr0)\n{{\n    auto tmp0 = in_ptr0[static_cast<int64_t>(1L)];\n}}\n'
        "void after() { also_undeclared }\n"
    )
    kernels = parse_kernels(text, "w.cpp")
    assert set(kernels) == {"k"} and kernels["k"].unmodelled == ()
    (a,) = kernels["k"].accesses
    assert (a.loc.line, points(a), a.guard) == (6, [1], TRUE)


def test_every_scalar_is_a_symbol_of_the_launch() -> None:
    k = lower(
        "float* out_ptr0, const int64_t ks0, const double zuf0",
        "out_ptr0[static_cast<int64_t>(ks0)] = static_cast<float>(zuf0);",
    )
    (a,) = k.accesses
    assert a.index is not None and evaluate(a.index, {"ks0": 9}) == 9
    assert [(p.name, p.pointer, p.dtype) for p in k.params][1:] == [
        ("ks0", False, "int64"),
        ("zuf0", False, "float64"),
    ]


def test_what_a_helper_loses_counts_against_its_callers() -> None:
    text = (
        f"{HEAD}inline void helper(float* p) {{ no_such_type t = p[3]; p[1] = 0.0; }}\n"
        'extern "C"  void  k(float* out_ptr0)\n{\n    helper(out_ptr0);\n}\n'
        f'{HEAD}extern "C"  void  other(float* out_ptr0)\n{{\n    out_ptr0[0] = 1.0;\n}}\n'
    )
    kernels = parse_kernels(text, "k.cpp")
    assert {loc.line for _, loc in kernels["k"].unmodelled} == {2}
    assert kernels["other"].unmodelled == ()
    stores = [a for a in kernels["k"].accesses if a.kind == "store"]
    assert [a.index and a.index.value for a in stores] == [1, None]
    assert stores[1].reason == "no_such_type t = p[3] is not understood"
