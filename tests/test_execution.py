"""The emulated runtime itself: what it records, against values derived by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from aoti_lint.analyzer.sources import WrapperSource, load

from .execution.agreement import agree
from .execution.build import CXX
from .execution.results import Execution, Touched
from .execution.rewrite import cpp_runnables, elements, metal_runnables
from .execution.run import execute
from .execution.script import ALIASES, COPIES, Script, extent, row_major
from .execution.texts import empty, metal_launch, metal_library, view, wrapper

FIXTURES = Path(__file__).parent / "execution" / "fixtures"
needs_compiler = pytest.mark.skipif(CXX is None, reason="no g++")


def touched(run: Execution, name: str, launch: int = 0) -> Touched:
    return next(t for t in run.launches()[launch].touched if t.name == name)


# -- rewriting -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("auto a = p[i];", "auto a = run::get(p, i);"),
        ("p[i] = q[p[j]];", "run::put(p, i, run::get(q, run::get(p, j)));"),
        ("p[i] += v;", "run::put(p, i, run::get(p, i) + (v));"),
        ("if (p[i] == 2) x;", "if (run::get(p, i) == 2) x;"),
        ("atomic_add(&p[i], v);", "atomic_add((p + (i)), v);"),
        ("gemm(&(p[i + 1]), K);", "gemm((p + (i + 1)), K);"),
        ("a & p[i]", "a & run::get(p, i)"),
        ("tmp[p_0] = up[i];", "tmp[p_0] = up[i];"),
        ("auto r = p; r[2] = 1;", "auto r = p; run::put(r, 2, 1);"),
    ],
)
def test_elements_of_pointers_are_rewritten(text: str, expected: str) -> None:
    assert elements(text, ["p", "q"]) == expected


def test_kernels_are_found_with_their_parameters() -> None:
    text = (
        'extern "C"  void  f(const at::BFloat16* in_ptr0,\n   bool* out_ptr0,\n   const int64_t ks0)\n{\n}\n'
    )
    (kernel,) = cpp_runnables(text)
    assert [(p.name, p.type, p.pointer, p.readonly) for p in kernel.params] == [
        ("in_ptr0", "at::BFloat16", True, True),
        ("out_ptr0", "bool", True, False),
        ("ks0", "int64_t", False, False),
    ]
    signature = "device half* out_ptr0,\n constant long& ks0,\n uint2 thread_pos [[thread_position_in_grid]]"
    (metal,) = metal_runnables(metal_library("mps_lib_0", signature, ""))
    assert metal.positions == (("uint2", "thread_position_in_grid"),) and len(metal.params) == 2


def test_helpers_of_a_kernel_in_a_single_file_are_its_own() -> None:
    """The runtime's interface, declarations and the model come first, and are no helpers."""
    kernel = 'extern "C"  void  f(float* out_ptr0)'
    text = (
        f'extern "C" {{\nint api(int);\n}} // extern "C"\n\n{kernel};\nnamespace torch::aot_inductor {{\nint model;\n'
        f"}} // namespace torch::aot_inductor\n\nstatic int helper;\n{kernel}\n{{\n}}\n"
    )
    (found,) = cpp_runnables(text)
    assert found.code.split("void f")[0].split() == ["static", "int", "helper;"]


# -- memory models -------------------------------------------------------------------------------


def test_layout_arithmetic() -> None:
    assert extent((2, 3), (8, 2)) == 8 + 4 + 1
    assert extent((2, 0), (8, 2)) == 0 and extent((), ()) == 1
    assert row_major((2, 3, 4)) == (12, 4, 1)


def test_a_view_that_is_not_packed_is_copied_by_one_model_only() -> None:
    for memory, copied in ((ALIASES, False), (COPIES, True)):
        script = Script()
        base = memory.allocate(script, (4, 8), (8, 1), "float32")
        half = memory.view(script, type(base)(base.storage, 16, "float32", (4, 4), (8, 1)))
        row = memory.view(script, type(base)(base.storage, 32, "float32", (8,), (1,)))
        assert (half.storage != base.storage) is copied and row.storage == base.storage
        assert script.sizes[half.storage] == (4 * 4 * 4 if copied else 4 * 8 * 4)


# -- C++ kernels ---------------------------------------------------------------------------------

#: Kernel, number of elements of in_ptr0 and of out_ptr0 (floats), expected reads and writes, derived by hand.
CPP = {
    "vector and tail": (
        """for(int64_t x0=0L; x0<29L; x0+=16L) {
            if(C10_LIKELY(x0 >= 0 && x0 < 16L)) {
                auto tmp0 = at::vec::Vectorized<float>::loadu(in_ptr0 + static_cast<int64_t>(x0), static_cast<int64_t>(16));
                tmp0.store(out_ptr0 + static_cast<int64_t>(x0));
            }
            if(C10_UNLIKELY(x0 >= 16L && x0 < 29L)) {
                auto tmp0 = at::vec::Vectorized<float>::loadu(in_ptr0 + static_cast<int64_t>(x0), static_cast<int64_t>(13L));
                tmp0.store(out_ptr0 + static_cast<int64_t>(x0), static_cast<int64_t>(13L));
            }
        }""",
        (0, 28), (0, 28),
    ),
    "a masked load touches the lanes of its mask": (
        """auto tmp0 = at::vec::VectorizedN<int64_t,2>::arange(static_cast<int64_t>(-3L), 1);
        auto tmp1 = at::vec::VecMask<int64_t,2>(tmp0 >= at::vec::VectorizedN<int64_t,2>(0));
        auto tmp2 = tmp1.template cast<float,1>().template loadu<float,1>(in_ptr0 + static_cast<int64_t>(-3L));
        tmp2.store(out_ptr0, static_cast<int64_t>(16));""",
        (0, 12), (0, 15),
    ),
    "a masked load of a uniform mask has no count": (
        """auto tmp1 = at::vec::VecMask<float,1>::from(true).template loadu<float,1>(in_ptr0 + static_cast<int64_t>(20L));
        tmp1.store(out_ptr0, static_cast<int64_t>(4L));""",
        (20, 35), (0, 3),
    ),
    "gather and scatter of lanes": (
        """auto tmp1 = [&] {
            __at_align__ std::array<float, 16> tmpbuf;
            #pragma GCC unroll 16
            for (long x1_inner = 0; x1_inner < static_cast<int64_t>(10L); x1_inner++) {
                tmpbuf[x1_inner] = in_ptr0[static_cast<int64_t>(1L + 3L*x1_inner)];
            }
            return at::vec::Vectorized<float>::loadu(tmpbuf.data(), static_cast<int64_t>(10L));
        } () ;
        { __at_align__ std::array<float, 16> tmpbuf; tmp1.store(tmpbuf.data(), static_cast<int64_t>(10L));
          for (long i = 0; i < 10L; i++) { out_ptr0[static_cast<int64_t>(2L*i)] = tmpbuf[i]; } }""",
        (1, 28), (0, 18),
    ),
    "transposed tile": (
        """alignas(16) float tmp0[16*4];
        transpose_mxn<float,static_cast<int64_t>(4L),static_cast<int64_t>(16L),false>(
            in_ptr0 + static_cast<int64_t>(5L), static_cast<int64_t>(20L), tmp0, static_cast<int64_t>(4));
        transpose_mxn<float,false>(tmp0, static_cast<int64_t>(4), out_ptr0, static_cast<int64_t>(30L), static_cast<int64_t>(4L), static_cast<int64_t>(2L));""",
        (5, 5 + 3 * 20 + 15), (0, 30 + 3),
    ),
    "read, change, write": (
        """for (int64_t x0 = 3L; x0 < 7L; x0++) { atomic_add(&out_ptr0[static_cast<int64_t>(2L*x0)], static_cast<float>(in_ptr0[x0])); }""",
        (3, 6), (6, 12),
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def cpp_run() -> Execution:
    names = [f"cpp_fused_{i}" for i in range(len(CPP))]
    file = "".join(
        f'extern "C"  void  {n}(const float* in_ptr0,\n                       float* out_ptr0)\n{{\n{body}\n}}\n\n'
        for n, (body, _, _) in zip(names, CPP.values(), strict=True)
    )
    protos = "".join(f'extern "C"  void  {n}(const float* in_ptr0, float* out_ptr0);\n' for n in names)
    body = empty("buf0", (100,), (1,), "cpu") + "".join(
        f"    {n}((const float*)(arg0_1.data_ptr()), (float*)(buf0.data_ptr()));\n" for n in names
    )
    return execute(wrapper("cpu", protos, [("arg0_1", (100,), (1,))], body, kernel_file=file))


@needs_compiler
@pytest.mark.parametrize(("index", "name"), list(enumerate(CPP)), ids=list(CPP))
def test_cpp_kernel(cpp_run: Execution, index: int, name: str) -> None:
    _, reads, writes = CPP[name]
    assert touched(cpp_run, "in_ptr0", index).reads == reads
    assert touched(cpp_run, "out_ptr0", index).writes == writes


# -- Metal kernels and the two models ------------------------------------------------------------

COPY_BODY = """        auto tmp0 = in_ptr0[thread_pos.y + 4*thread_pos.x];
        out_ptr0[thread_pos.y + {step}*thread_pos.x] = static_cast<float>(tmp0);"""
GRID = "device float* out_ptr0,\n        constant float* in_ptr0,\n        uint2 thread_pos [[thread_position_in_grid]]"


def halves() -> WrapperSource:
    """Two 3x4 inputs are written into the halves of a 3x8 tensor, which is then read as a whole."""
    library = metal_library("mps_lib_0", GRID, COPY_BODY.format(step=8)) + metal_library(
        "mps_lib_1",
        "device float* out_ptr0,\n        constant float* in_ptr0,\n        uint xindex [[thread_position_in_grid]]",
        "        out_ptr0[xindex] = static_cast<float>(in_ptr0[xindex]);",
    )
    body = (
        empty("buf0", (3, 8), (8, 1), "mps")
        + view("buf1", "buf0", (3, 4), (8, 1), 0)
        + metal_launch("mps_lib_0", ["buf1", "arg0_1"], (3, 4), 0)
        + view("buf2", "buf0", (3, 4), (8, 1), 4)
        + metal_launch("mps_lib_0", ["buf2", "arg1_1"], (3, 4), 1)
        + empty("buf3", (3, 8), (8, 1), "mps")
        + metal_launch("mps_lib_1", ["buf3", "buf0"], (24,), 2)
        + "    output_handles[0] = buf3.release();\n"
    )
    return wrapper("mps", library, [("arg0_1", (3, 4), (4, 1)), ("arg1_1", (3, 4), (4, 1))], body)


@needs_compiler
def test_views_that_alias() -> None:
    run = execute(halves(), ALIASES)
    assert not run.skipped and len(run.launches()) == 3
    for launch, room in ((0, 24), (1, 20)):
        out = touched(run, "out_ptr0", launch)
        assert out.writes == (0, 2 * 8 + 3) and out.available == room and not out.bad_writes
        assert touched(run, "in_ptr0", launch).reads == (0, 11)
    whole = touched(run, "in_ptr0", 2)
    assert (whole.reads, whole.unwritten, whole.stale) == ((0, 23), 0, 0)


@needs_compiler
def test_writes_into_copies_are_lost() -> None:
    run = execute(halves(), COPIES)
    for launch in (0, 1):
        out = touched(run, "out_ptr0", launch)
        assert out.available == 12 and out.writes == (0, 19)
        assert out.bad_writes == 4 and out.first["bad_writes"] == 16, "the third row: 16..19 of 12"
    whole = touched(run, "in_ptr0", 2)
    assert whole.unwritten == 24, "nothing ever reached the parent"
    assert whole.stale > 0
    assert run.outputs() != execute(halves(), ALIASES).outputs()


@needs_compiler
def test_model_and_tool_agree_on_halves() -> None:
    aliases, copies = agree(halves(), "libtorch"), agree(halves(), "executorch-metal")
    assert not aliases.disagreements and not copies.disagreements
    assert (aliases.proved, aliases.fault) == (6, 0)
    assert (copies.proved, copies.fault) == (4, 2)


# -- generated C++ with faults -------------------------------------------------------------------


@needs_compiler
def test_bool_loads_ignore_their_mask() -> None:
    """Padding of an 8x40 bool by (3, 2, 1, 1): rows of eight lanes start three elements early, and the last
    row's tail of five starts at element 317 of 320."""
    (source,) = load(str(FIXTURES / "bool_pad.wrapper.cpp"))
    assert isinstance(source, WrapperSource)
    run = execute(source)
    mask = touched(run, "in_ptr0")
    assert mask.reads == (-3, 321) and mask.available == 320 and mask.first["bad_reads"] == -3
    assert touched(run, "in_ptr1").reads == (0, 319), "floats of the same padding are masked lane by lane"


@needs_compiler
def test_masked_loads_have_no_count() -> None:
    """3x3 pooling of 2x6x6 rows of four channels with vectors of eight: the last row is read to 284 + 7."""
    (source,) = load(str(FIXTURES / "max_pool.wrapper.cpp"))
    assert isinstance(source, WrapperSource)
    pixels = touched(execute(source), "in_ptr0")
    assert pixels.reads == (0, 291) and pixels.available == 288


@needs_compiler
@pytest.mark.parametrize("name", ["bool_pad", "max_pool"])
def test_tool_reports_generated_faults(name: str) -> None:
    (source,) = load(str(FIXTURES / f"{name}.wrapper.cpp"))
    assert isinstance(source, WrapperSource)
    found = agree(source, "libtorch")
    assert not found.disagreements and found.fault == 1 and found.proved >= 1
