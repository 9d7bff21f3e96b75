"""Metal kernels: real statement forms, with accesses derived by hand."""

from __future__ import annotations

import pytest
from aoti_lint.analyzer.kernels.metal.reader import find_kernels
from aoti_lint.analyzer.symbolic import evaluate_cond
from iterations import points
from metal_cases import ONE_D, lower


def test_pointwise_indices_are_those_of_the_text() -> None:
    k = lower(
        f"device float* out_ptr0, constant half* in_ptr0, constant long& ks0, {ONE_D}",
        """
        int x1 = ((xindex) / (15)) % (20);
        int x0 = (xindex) % (15);
        int x2 = c10::metal::floor_divide(xindex, 300);
        int x4 = xindex;
        auto tmp0 = static_cast<float>(in_ptr0[7 + x0 + 16*x1 + ks0*x2]);
        out_ptr0[x4] = static_cast<float>(tmp0);""",
    )
    load, store = k.accesses
    assert [(p.name, p.pointer, p.dtype, p.readonly) for p in k.params] == [
        ("out_ptr0", True, "float32", False),
        ("in_ptr0", True, "float16", True),
        ("ks0", False, "int64", True),
    ]
    assert (load.kind, load.param, store.kind, store.param) == ("load", "in_ptr0", "store", "out_ptr0")
    got = points(load, **{"grid.0": 600, "ks0": 1000})
    assert got == [7 + x % 15 + 16 * (x // 15 % 20) + 1000 * (x // 300) for x in range(600)]
    assert points(store, **{"grid.0": 5}) == [0, 1, 2, 3, 4]
    assert load.index_bits == 64 and store.index_bits == 32  # ks0 is a long
    assert store.value_vars == {"xindex"}
    assert dict(store.names)["x4"] == store.index
    assert store.text == "x4"


def test_locations_are_those_of_the_wrapper_file() -> None:
    text = (
        "// first line\n"
        'const char* mps_lib_7_source = (R"MTL(\n'
        "#include <metal_stdlib>\n"
        "kernel void other_kernel(device float* p) { p[1] = 2; }\n"
        "    kernel void generated_kernel(device float* out_ptr0, uint xindex [[thread_position_in_grid]]) {\n"
        "        int x0 = xindex;\n"
        "        out_ptr0[x0] = static_cast<float>(1.0);\n"
        "    }\n"
        ')MTL");\n'
    )
    k = find_kernels(text, "w.cpp")["mps_lib_7"]
    (store,) = k.accesses
    assert (store.loc.path, store.loc.line, store.loc.column) == ("w.cpp", 7, 9)
    assert (k.loc.line, k.loc.column, k.loc.end_line) == (5, 5, 8)
    moved = find_kernels("\n\n" + text, "v.cpp")["mps_lib_7"]
    assert (moved.accesses[0].loc.path, moved.accesses[0].loc.line) == ("v.cpp", 9)


KERNEL = "kernel void generated_kernel(device float* out_ptr0, uint xindex [[thread_position_in_grid]]) { out_ptr0[xindex] = 1; }"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (f'const char* mps_lib_3_source = (R"MTL(\n{KERNEL}\n)MTL");', "mps_lib_3"),
        (f'at::native::mps::DynamicMetalShaderLibrary mps_lib_0(R"MTL(\n{KERNEL}\n)MTL");', "mps_lib_0"),
        (f'mps_lib_2 = compile_mps_shader("""\n{KERNEL}\n""")', "mps_lib_2"),
        (
            f"generated_kernel_1 = async_compile.metal('generated_kernel_1', '''\n{KERNEL}\n''', ['utils'])",
            "generated_kernel_1",
        ),
    ],
)
def test_every_way_to_hold_a_library(text: str, name: str) -> None:
    (found,) = find_kernels(text, "w").items()
    assert found[0] == name
    assert [a.param for a in found[1].accesses] == ["out_ptr0"]


def test_two_dimensions_are_named_as_the_source_names_them() -> None:
    k = lower(
        "device float* out_ptr0, constant float* in_ptr0, uint2 thread_pos [[thread_position_in_grid]]",
        """
        auto yindex = thread_pos.x;
        auto xindex = thread_pos.y;
        int x1 = xindex;
        int y0 = yindex;
        auto tmp0 = in_ptr0[y0 + 3*x1];
        out_ptr0[x1 + 4*y0] = static_cast<float>(tmp0);""",
    )
    load, store = k.accesses
    assert [(v.name, repr(v.extent), v.kind) for v in load.vars] == [
        ("yindex", "grid.0", "grid"),
        ("xindex", "grid.1", "grid"),
    ]
    size = {"grid.0": 3, "grid.1": 4}
    assert points(load, **size) == [y + 3 * x for y in range(3) for x in range(4)]
    assert points(store, **size) == [x + 4 * y for y in range(3) for x in range(4)]


def test_masked_load_runs_only_where_the_mask_holds() -> None:
    k = lower(
        f"device float* out_ptr0, constant float* in_ptr0, {ONE_D}",
        """
        int x0 = (xindex) % (17);
        int x1 = c10::metal::floor_divide(xindex, 17);
        int x2 = xindex;
        auto tmp0 = (-1) + x0;
        auto tmp1 = static_cast<long>(tmp0);
        auto tmp2 = 0;
        auto tmp3 = tmp1 >= tmp2;
        auto tmp4 = 15;
        auto tmp5 = tmp1 < tmp4;
        auto tmp6 = tmp3 & tmp5;
        float tmp7;
        if (tmp6) {
            auto tmp_scoped0 = in_ptr0[(-1) + x0 + 15*x1];
            auto tmp_scoped1 = tmp_scoped0 > tmp2;
            float tmp_scoped2;
            if (tmp_scoped1) {
                auto tmp_scoped_scoped0 = in_ptr0[x1];
                tmp_scoped2 = static_cast<decltype(tmp_scoped2)>(tmp_scoped_scoped0);
            } else tmp_scoped2 = static_cast<decltype(tmp_scoped2)>(0.0);
            tmp7 = static_cast<decltype(tmp7)>(tmp_scoped2);
        } else tmp7 = static_cast<decltype(tmp7)>(0.0);
        out_ptr0[x2] = static_cast<float>(tmp7);""",
    )
    outer, inner, store = k.accesses
    assert points(outer, **{"grid.0": 34}) == [
        x % 17 - 1 + 15 * (x // 17) for x in range(34) if 1 <= x % 17 < 16
    ]
    # whether a loaded float is positive is not known; that the outer mask holds is
    assert inner.guard.has_opaque()
    assert set(outer.guard.conjuncts()) < set(inner.guard.conjuncts())
    assert not store.guard.has_opaque() and len(points(store, **{"grid.0": 34})) == 34


def test_unconditional_load_under_a_later_select() -> None:
    k = lower(
        f"device float* out_ptr0, constant float* in_ptr0, constant float* in_ptr1, {ONE_D}",
        """
        int x0 = (xindex) % (10);
        int x1 = c10::metal::floor_divide(xindex, 10);
        auto tmp0 = x0;
        auto tmp1 = static_cast<long>(tmp0);
        auto tmp2 = 1;
        auto tmp3 = tmp1 >= tmp2;
        auto tmp4 = in_ptr0[(-1) + x0 + 9*x1];
        auto tmp5 = metal::exp(tmp4);
        auto tmp6 = tmp3 ? tmp5 : 0.0;
        auto tmp7 = in_ptr1[x0];
        out_ptr0[xindex] = static_cast<float>(tmp6 + tmp7);""",
    )
    masked, plain, _ = k.accesses
    assert min(points(masked, **{"grid.0": 20})) == -1  # really read, out of range
    discarded = [x for x in range(20) if not evaluate_cond(masked.used, {"xindex": x})]
    assert discarded == [0, 10]
    assert evaluate_cond(plain.used, {}) is True


INDIRECT = """
        int x1 = c10::metal::floor_divide(xindex, 24);
        int x0 = (xindex) % (24);
        auto tmp0 = in_ptr0[x1];
        auto tmp1 = 50;
        auto tmp2 = tmp0 + tmp1;
        auto tmp3 = tmp0 < 0;
        auto tmp4 = tmp3 ? tmp2 : static_cast<decltype(tmp2)>(tmp0);
        CHECK
        auto tmp6 = in_ptr1[x0 + 24*tmp4];
        out_ptr0[xindex] = static_cast<float>(tmp6);"""
INDIRECT_PARAMS = f"device float* out_ptr0, constant long* in_ptr0, constant float* in_ptr1, {ONE_D}"


def test_early_return_guards_what_follows() -> None:
    k = lower(INDIRECT_PARAMS, INDIRECT.replace("CHECK", "if ((tmp4 < 0 || tmp4 >= 50)) return;"))
    first, load, store = k.accesses
    assert [v.kind for v in load.vars] == ["grid", "data"]
    assert first.guard.kind == "const"
    # loaded values -60..60: those from -50 to 49 pass and select rows 0..49
    got = points(load, {"tmp0": range(-60, 61)}, **{"grid.0": 24})
    assert (min(got), max(got), len(got)) == (0, 24 * 49 + 23, 24 * 100)
    assert store.guard == load.guard


def test_check_that_is_never_true_guards_nothing() -> None:
    k = lower(INDIRECT_PARAMS, INDIRECT.replace("CHECK", "if ((tmp4 < 0) && (tmp4 > 50)) return;"))
    got = points(k.accesses[1], {"tmp0": range(-60, 61)}, **{"grid.0": 24})
    assert (min(got), max(got)) == (24 * -10, 24 * 60 + 23)


def test_reported_error_ends_the_thread() -> None:
    k = lower(
        "device float* out_ptr0, constant int* in_ptr0, device c10::metal::ErrorMessages* error_buf, "
        + ONE_D,
        """
        auto tmp0 = in_ptr0[xindex];
        if ((tmp0 < 0 || tmp0 >= 9)) { TORCH_REPORT_ERROR(error_buf, "Index ", tmp0, " out of range"); return; }
        c10::metal::AtomicType<float>::atomic_add(
            reinterpret_cast<device c10::metal::AtomicType<float>::type *>(out_ptr0), 2 + 3*tmp0, static_cast<float>(1.0));""",
    )
    load, atomic = k.accesses
    assert (atomic.kind, atomic.param, atomic.text) == ("atomic", "out_ptr0", "2 + 3*tmp0")
    assert points(atomic, {"tmp0": range(-4, 13)}, **{"grid.0": 1}) == [2 + 3 * t for t in range(9)]
    assert load.vars[0].name == "xindex"
    data = atomic.vars[-1]
    assert (data.kind, data.lo, data.hi) == ("data", -(2**31), 2**31 - 1)


def test_selections_tables_and_clamps_in_an_index() -> None:
    k = lower(
        f"device float* out_ptr0, constant float* in_ptr0, {ONE_D}",
        """
        int x0 = (xindex) % (4);
        auto tmp0 = x0;
        auto tmp1 = tmp0 < 2;
        auto tmp2 = 5;
        auto tmp3 = 9;
        auto tmp4 = tmp1 ? tmp2 : static_cast<decltype(tmp2)>(tmp3);
        auto tmp5 = c10::metal::min(static_cast<decltype(tmp0+tmp2)>(tmp0), static_cast<decltype(tmp0+tmp2)>(tmp2));
        auto tmp6 = c10::metal::safe_mod(tmp0, 3);
        auto tmp7 = c10::metal::remainder((-5) + tmp0, 4);
        auto tmp8 = ((-5) + x0) / 2;
        out_ptr0[tmp4 + 100*tmp5 + 1000*tmp6 + 10000*tmp7 + 100000*tmp8] = 1;""",
    )
    # C++ division rounds towards zero: -5/2 -4/2 -3/2 -2/2; remainder has the sign of the divisor
    assert points(k.accesses[0], **{"grid.0": 4}) == [
        5 + 0 + 0 + 30000 - 200000,
        5 + 100 + 1000 + 0 - 200000,
        9 + 200 + 2000 + 10000 - 100000,
        9 + 300 + 0 + 20000 - 100000,
    ]


def test_unsigned_index_below_zero_wraps_around() -> None:
    k = lower(
        f"device float* out_ptr0, {ONE_D}",
        """
        out_ptr0[(-1) + xindex] = 1;
        int x0 = (-1) + xindex;
        out_ptr0[x0] = 2;
        out_ptr0[((-2) + xindex) % (5)] = 3;""",
    )
    unsigned, signed, remainder = k.accesses
    assert points(unsigned, **{"grid.0": 2}) == [2**32 - 1, 0]
    assert points(signed, **{"grid.0": 2}) == [-1, 0]
    assert points(remainder, **{"grid.0": 3}) == [(2**32 - 2) % 5, (2**32 - 1) % 5, 0]


def test_what_is_not_understood_is_reported_with_its_text() -> None:
    text = (
        'const char* mps_lib_0_source = (R"MTL(\n'
        f"kernel void generated_kernel(device float* out_ptr0, constant int* in_ptr0, {ONE_D}) {{\n"
        "    int x0 = xindex;\n"
        "    while (x0 > 3) { out_ptr0[x0] = 1; x0 -= in_ptr0[0]; }\n"
        "    helper(out_ptr0);\n"
        "    out_ptr0[x0] = 2;\n"
        "}\n"
        ')MTL");\n'
    )
    k = find_kernels(text, "w.cpp")["mps_lib_0"]
    lines = {loc.line for _, loc in k.unmodelled}
    assert lines == {5}  # the call; of the loop only how often it runs is not known
    assert {(a.param, a.loc.line) for a in k.accesses if a.index is None} == {("out_ptr0", 5)}
    last = next(a for a in k.accesses if a.loc.line == 6)
    assert last.index is not None and "xindex" not in last.index.symbols  # x0 is not known after the loop


def test_pointer_arithmetic_and_compound_stores() -> None:
    k = lower(
        f"device float* out_ptr0, {ONE_D}",
        """
        device float* p = out_ptr0 + 3*xindex;
        p[1] += 2.0;
        *p = 1;""",
    )
    assert [(a.kind, points(a, **{"grid.0": 2})) for a in k.accesses] == [
        ("load", [1, 4]),
        ("store", [1, 4]),
        ("store", [0, 3]),
    ]


def test_small_types_bound_what_is_loaded() -> None:
    k = lower(
        f"device float* out_ptr0, constant uchar* in_ptr0, constant bool* in_ptr1, {ONE_D}",
        """
        auto tmp0 = in_ptr0[xindex];
        auto tmp1 = in_ptr1[xindex];
        auto tmp2 = static_cast<char>(tmp0);
        if (tmp1) out_ptr0[tmp0] = 1; else out_ptr0[tmp2] = 2;""",
    )
    plain, narrowed = k.accesses[2:]
    assert {(v.name, v.lo, v.hi) for v in plain.vars if v.kind == "data"} == {
        ("tmp0", 0, 255),
        ("tmp1", 0, 1),
    }
    assert sorted(points(plain, **{"grid.0": 1})) == list(range(256))
    assert sorted(points(narrowed, **{"grid.0": 1})) == list(range(-128, 128))


@pytest.mark.parametrize("cut", range(90, 285, 13))
def test_broken_text_is_reported(cut: int) -> None:
    kernel = (
        f"kernel void generated_kernel(device float* out_ptr0, constant float* in_ptr0, {ONE_D}) {{\n"
        "  int x0 = (xindex) % (7);\n  auto tmp0 = in_ptr0[x0 + 3];\n  auto tmp1 = tmp0 * 2.0;\n"
        "  if (x0 < 3) { out_ptr0[x0] = static_cast<float>(tmp1); }\n  out_ptr0[7] = tmp1;\n}"
    )
    k = find_kernels(f'const char* mps_lib_0_source = (R"MTL(\n{kernel[:cut]}\n)MTL");', "w.cpp")["mps_lib_0"]
    assert k.unmodelled
