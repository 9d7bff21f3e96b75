"""Arrays of a C++ kernel's own: their lengths, and accesses that leave them."""

from __future__ import annotations

import pytest
from aoti_lint.analyzer.kernels.cpp.reader import parse_kernels
from aoti_lint.analyzer.model.kernel import Array
from cpu_cases import lower
from iterations import points

LOOP = "for (int64_t x0 = 0; x0 < 10; x0 += 1)"
STORED = {
    "a C array": f"float a[4]; {LOOP} {{ a[x0] = 1.0f; }}",
    "std::array": f"std::array<float, 4> a; {LOOP} {{ a[x0] = 1.0f; }}",
    "std::vector": f"std::vector<float> a(4); {LOOP} {{ a[x0] = 1.0f; }}",
    "heap": f"auto a = std::make_unique<float []>(4L); {LOOP} {{ a[x0] = 1.0f; }}",
    "heap through a pointer": f"""
        std::unique_ptr<float []> a = std::make_unique<float []>(4L); float* p = a.get();
        {LOOP} {{ p[x0] = 1.0f; }}""",
}


def arrays(body: str, params: str = "float* out_ptr0, const int64_t ks0") -> dict[str, Array]:
    return {a.name: a for a in lower(params, body).arrays}


@pytest.mark.parametrize("name", STORED)
def test_length_and_stores(name: str) -> None:
    """Four elements, of which ten are assigned."""
    (a,) = arrays(STORED[name]).values()
    assert a.length == 4 and a.dtype == "float32"
    assert [(x.kind, sorted(points(x))) for x in a.accesses] == [("store", [*range(10)])]


def test_vectors_reach_all_their_lanes() -> None:
    """Two vectors of 16 are stored from elements 0 and 16 on, and 3 elements loaded from 30 on."""
    (a,) = arrays("""
        std::unique_ptr<float []> a = std::make_unique<float []>(32L); float* p = a.get();
        for (int64_t x0 = 0; x0 < 32; x0 += 16) { at::vec::Vectorized<float>(1.0f).store(p + x0); }
        auto t = at::vec::Vectorized<float>::loadu(p + 30, 3);""").values()
    assert [(x.kind, sorted(points(x))) for x in a.accesses] == [
        ("store", [*range(32)]),
        ("load", [30, 31, 32]),
    ]


def test_a_load_of_one_element() -> None:
    (a,) = arrays("float a[4]; out_ptr0[0] = a[5];").values()
    assert [(x.kind, points(x)) for x in a.accesses] == [("load", [5])]


def test_a_length_may_be_a_size_of_the_launch() -> None:
    (a,) = arrays("auto a = std::make_unique<float []>(ks0); a[ks0] = 1.0f;").values()
    assert [points(x, ks0=7) for x in a.accesses] == [[7]] and a.length is not None
    assert a.length.symbols == {"ks0"}


@pytest.mark.parametrize(
    "body",
    [
        "int n = omp_get_max_threads(); float a[n]; a[3] = 1.0f;",
        "float a[2][2]; a[1][1] = 1.0f;",
        "std::vector<float> a(4); a.resize(9); a[8] = 1.0f;",
        "float a[4]; int8_t* p = reinterpret_cast<int8_t*>(a); p[15] = 1;",
        "float a[4]; void* q = a; int8_t* p = static_cast<int8_t*>(q); p[15] = 1;",
        "std::vector<float> a{4.0f}; a[0] = 1.0f;",
    ],
)
def test_what_is_not_known_is_not_claimed(body: str) -> None:
    """Each stays inside the array; none has a length and an element type that say so."""
    text = (
        f'#include <torch/csrc/inductor/cpp_prefix.h>\nextern "C"  void  k(float* out_ptr0)\n{{\n{body}\n}}\n'
    )
    for a in parse_kernels(text, "m.kernel.cpp", vector_bytes=64)["k"].arrays:
        assert a.length is not None and a.length.value is not None
        assert all(max(points(x), default=0) < a.length.value for x in a.accesses)
