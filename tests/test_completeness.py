"""Nothing of a wrapper's body is lost: launches in every statement form, and what is not understood."""

from __future__ import annotations

from pathlib import Path

import pytest
from aoti_lint.analyzer.model.findings import FileReport
from aoti_lint.analyzer.pipeline import Task, analyses, check_source, counts
from aoti_lint.analyzer.reporting.footprints import rows
from aoti_lint.analyzer.sources import Failure, WrapperSource
from aoti_lint.analyzer.sources.model import SourceError, SourceText
from aoti_lint.analyzer.sources.text import check_wrapper
from aoti_lint.analyzer.wrapper import statements
from aoti_lint.rules.registry import run_rules

from .execution.texts import empty, wrapper

FIXTURES = Path(__file__).parent.parent / "fixtures"
PROTO = 'extern "C"  void  cpp_fused_add_0(float* out_ptr0);\n'
KERNEL = """extern "C"  void  cpp_fused_add_0(float* out_ptr0)
{
    for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(8L); x0+=static_cast<int64_t>(1L))
    {
        out_ptr0[static_cast<int64_t>(x0)] = static_cast<float>(1.0);
    }
}
"""
LAUNCH = "cpp_fused_add_0((float*)(buf0.data_ptr()));"
READ = "    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_cpu_relu_(buf0));\n"


def report(body: str, size: int = 7, before: str = "") -> FileReport:
    """A buffer of ``size`` floats, and a body around a kernel that writes eight."""
    made = empty("buf0", (size,), (1,), "cpu") + empty("buf1", (8,), (1,), "cpu")
    source = wrapper("cpu", before + PROTO, [("arg0_1", (), ())], made + body + READ, kernel_file=KERNEL)
    (found,) = check_source(Task(source, ("libtorch",), {}), run_rules)
    return found


def honest(found: FileReport) -> bool:
    """Whether not everything counts as proved, and nothing is claimed of elements that may have been written."""
    counts = found.counts
    open_ends = counts.fault + counts.unknown + counts.unmodelled_statements
    return open_ends > 0 and not any(f.code == "AL205" for f in found.findings)


#: What runs the launch, for certain or perhaps; each is read as it is.
READ_FORMS = {
    "block": "{ %s }",
    "if": "int64_t flag; AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_item_int64(arg0_1, &flag)); if (flag == 0) { %s }",
    "else of a check": "if (false) { throw std::runtime_error(\"x\"); } else { %s }",
    "else of a check on data": "int64_t flag; AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_item_int64(arg0_1, &flag));"
    " if (flag == 0) { throw std::runtime_error(\"x\"); } else { %s }",
    "arm that returns": "int64_t flag; AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_item_int64(arg0_1, &flag));"
    " if (flag == 0) { %s return; }",
    "if constexpr": "if constexpr (true) { %s }",
    "do once": "do { %s } while (false);",
    "do": "int64_t n = 3; do { %s --n; } while (n > 0);",
    "while": "while (1) { %s break; }",
    "for": "for (int64_t i = 0; i < 3; ++i) { %s }",
    "switch": "switch (3) { case 3: %s break; default: break; }",
    "switch of two labels": "switch (3) { case 2: case 3: { %s } break; }",
    "try": "try { %s } catch (...) { throw; }",
    "label": "again: %s",
    "lambda": "auto go = [&]() { %s }; go();",
    "lambda called at once": "[&]() { %s }();",
    "lambda that returns": "auto go = [&]() { %s return; }; go();",
    "conditional": "int64_t flag; AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_item_int64(arg0_1, &flag));"
    " if (flag) %s else ;",
    "condition on a pointer": "if (buf0.data_ptr() != nullptr) { %s }",
    "if 1": "\n#if 1\n%s\n#endif\n",
    "else of if 0": "\n#if 0\n#else\n%s\n#endif\n",
}  # fmt: skip


@pytest.mark.parametrize("form", READ_FORMS)
def test_a_launch_is_read_in(form: str) -> None:
    """The kernel writes element 7 of seven wherever it stands."""
    found = report(READ_FORMS[form] % LAUNCH + "\n")
    assert [f.code for f in found.findings if f.severity == "error"] == ["AL202"], found.unknowns
    fits = report(READ_FORMS[form] % LAUNCH + "\n", size=8)
    assert fits.counts.fault == fits.counts.unknown == fits.counts.unmodelled_statements == 0


#: What is not read: it stands as unmodelled, and nothing is claimed of what it may touch.
LOST_FORMS = {
    "goto": "goto after; %s after: ;",
    "label that is jumped to": "again: %s if (false) goto again;",
    "handler that goes on": "try { %s } catch (...) { }",
    "lambda with a parameter": "auto go = [&](int64_t n) { %s }; go(3);",
    "lambda by value": "auto go = [=]() { %s }; go();",
    "lambda that returns early": "auto go = [&]() { if (true) return; %s }; go();",
    "function object handed on": "auto go = [&]() { %s }; run_twice(go);",
    "case that runs on": "switch (3) { case 3: %s case 4: break; }",
    "range for": "for (auto& h : {1, 2}) { %s }",
    "comma": "printf(\"x\"), cpp_fused_add_0((float*)(buf0.data_ptr()));",
    "shortcut": "buf0.data_ptr() && (cpp_fused_add_0((float*)(buf0.data_ptr())), true);",
    "unknown call": "fill_somehow(buf0);",
    "handle by address": "fill_somehow(&buf0);",
    "swap": "std::swap(buf0, buf1);",
    "macro": "RUN_IT(buf0)",
    "macro without arguments": "RUN_IT;",
    "condition of the preprocessor": "\n#ifdef SOMETHING\n%s\n#endif\n",
    "call in a condition": "if (fill_and_test(buf0, aoti_torch_cpu_fill(buf0))) { }",
    "choice of handles": "cpp_fused_add_0((float*)((arg0_1.numel() > 3 ? buf0 : buf1).data_ptr()));",
}  # fmt: skip


@pytest.mark.parametrize("form", LOST_FORMS)
def test_nothing_is_claimed_of(form: str) -> None:
    text = LOST_FORMS[form]
    before = "#define RUN_IT(x) cpp_fused_add_0((float*)(x.data_ptr()));\n"
    assert honest(report((text % LAUNCH if "%s" in text else text) + "\n", before=before))


@pytest.mark.parametrize("form", ["#if 0\n%s\n#endif\n", "if (false) { %s }", "if (0) { %s } else { }", "while (false) { %s }"])  # fmt: skip
def test_code_that_cannot_run_is_not_read(form: str) -> None:
    found = report("\n" + form % LAUNCH + "\n")
    assert not found.counts.accesses["total"] and not found.counts.unmodelled_statements


@pytest.mark.parametrize("kind", sorted({**statements._COMPOUND, **statements._STATEMENTS}))
def test_a_form_that_is_not_known_is_never_proved(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Take any one form out of the reader's tables: what stands in it is unknown, not gone."""
    for table in (statements._COMPOUND, statements._STATEMENTS):
        monkeypatch.setattr(
            statements, "_COMPOUND", {k: v for k, v in statements._COMPOUND.items() if k != kind}
        )
        monkeypatch.setattr(
            statements, "_STATEMENTS", {k: v for k, v in statements._STATEMENTS.items() if k != kind}
        )
        assert table is not None
    for form in READ_FORMS.values():
        found = report(form % LAUNCH + "\n")
        assert found.counts.fault + found.counts.unknown + found.counts.unmodelled_statements > 0


def sized(body: str) -> FileReport:
    """A kernel that writes eight elements of a buffer of ``s0`` of them, with ``body`` around its launch."""
    made = "    int64_t s0; AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_item_int64(arg0_1, &s0));\n"
    made += "    const int64_t sizes[] = {s0, };\n    const int64_t strides[] = {1L, };\n"
    made += empty("buf0", (8,), (1,), "cpu").replace("{8L, }", "{s0, }").replace("static constexpr", "const")
    source = wrapper("cpu", PROTO, [("arg0_1", (), ())], made + body, kernel_file=KERNEL)
    (found,) = check_source(Task(source, ("libtorch",), {}), run_rules)
    return found


CHECK = 'AOTI_TORCH_CHECK(s0 >= 8, "small");'
PLACES = {
    "before": (f"{CHECK} %s", "proved"),
    "thrown before": ('if (s0 < 8) { throw std::runtime_error("x"); } %s', "proved"),
    "returned before": ("if (s0 < 8) { return; } %s", "proved"),
    "own arm": ("if (s0 >= 8) { %s }", "proved"),
    "other arm": ("if (s0 >= 8) { } else { %s }", "fault"),
    "checked in its arm": (f"if (s0 > 2) {{ {CHECK} %s }}", "proved"),
    "after": (f"%s {CHECK}", "fault"),
    "in an arm before": (f"if (s0 > 5) {{ {CHECK} }} %s", "fault"),
    "in an arm that leaves": (f"if (s0 > 5) {{ {CHECK} return; }} %s", "fault"),
    "in both arms": (f"if (s0 > 5) {{ {CHECK} }} else {{ {CHECK} }} %s", "proved"),
    "in a loop": (f"while (s0 > 5) {{ {CHECK} }} %s", "fault"),
    "in a lambda not called": (f"auto go = [&]() {{ {CHECK} }}; %s", "fault"),
    "in a lambda that is called": (f"auto go = [&]() {{ {CHECK} }}; go(); %s", "proved"),
    "in dead code": (f"if (false) {{ {CHECK} }} %s", "fault"),
}


@pytest.mark.parametrize("place", PLACES)
def test_a_check_holds_for_what_it_dominates(place: str) -> None:
    text, verdict = PLACES[place]
    counts = sized(text % LAUNCH + "\n").counts.accesses
    assert counts["total"] == counts[verdict] == 1


def test_a_handle_that_one_arm_resets() -> None:
    flag = "int64_t flag; AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_item_int64(arg0_1, &flag));"
    found = report(f"{flag} if (flag == 0) {{ buf0.reset(); }} {LAUNCH}\n", size=8)
    assert found.counts.accesses["unknown"] == 1
    assert any("holds nothing after one of the paths" in u.reason for u in found.unknowns)


def test_a_handle_that_a_loop_resets() -> None:
    """The first turn is fine; the second has nothing to write to."""
    assert honest(report(f"for (int64_t i = 0; i < 3; ++i) {{ {LAUNCH} buf0.reset(); }}\n", size=8))


# -- numbers and inputs

NARROW = {
    "int8_t n = 264;": "proved",  # 264 is 8 in the low eight bits
    "int8_t n = 263;": "fault",
    "bool n = 8;": "fault",
    "uint8_t n = 255;": "proved",
    "int32_t n = 4294967304;": "proved",
    "int64_t n = static_cast<int8_t>(264L);": "proved",
    "int64_t n = static_cast<bool>(8L);": "fault",
    "int64_t n = 16; n /= 2;": "proved",
    "int64_t n = 8; n -= 1;": "fault",
    "int64_t n = 7; ++n;": "proved",
    "int64_t n = static_cast<int64_t>(std::trunc(1.7*static_cast<double>(5L)));": "proved",
    "int64_t n = static_cast<int64_t>(std::trunc(1.7*static_cast<double>(4L)));": "fault",
}


@pytest.mark.parametrize("text", NARROW)
def test_a_number_keeps_what_its_type_holds(text: str) -> None:
    made = f"    {text}\n    const int64_t n_sizes[] = {{n, }};\n"
    made += empty("buf0", (8,), (1,), "cpu").replace("(1, buf0_sizes", "(1, n_sizes")
    source = wrapper("cpu", PROTO, [("arg0_1", (), ())], made + LAUNCH + "\n", kernel_file=KERNEL)
    (found,) = check_source(Task(source, ("libtorch",), {}), run_rules)
    counts = found.counts.accesses
    assert counts["total"] == counts[NARROW[text]] == 1, found.unknowns


UNCHECKED = """void AOTInductorModel::run_impl(
    AtenTensorHandle* input_handles,
    AtenTensorHandle* output_handles,
    DeviceStreamType stream,
    AOTIProxyExecutorHandle proxy_executor
) {{
    auto inputs = steal_from_raw_handles_to_raii_handles(input_handles, 1);
    auto arg0_1 = std::move(inputs[0]);
    auto arg0_1_size = arg0_1.sizes();
    int64_t s0 = arg0_1_size[0];
    {launch}
    output_handles[0] = arg0_1.release();
}} // AOTInductorModel::run_impl
"""


def test_an_input_that_nothing_is_checked_of() -> None:
    """That one size is read says neither how many there are nor how they lie."""
    text = UNCHECKED.format(launch=LAUNCH.replace("buf0", "arg0_1"))
    source = WrapperSource(SourceText("w.cpp", text), (SourceText("k.cpp", KERNEL),))
    (found,) = check_source(Task(source, ("libtorch",), {}), run_rules)
    assert found.counts.unknown == found.counts.accesses["total"] == 1
    assert found.unknowns[0].reason == (
        "the wrapper reads size 0 of arg0_1 but states neither its rank nor its strides"
    )
    assert not [f for f in found.findings if f.severity == "error"]


INLINE = """{ if (kernels.triton_poi_0 == nullptr) {
        kernels.triton_poi_0 = loadKernel("/x/c.cubin", "triton_poi_fused_add_0", 0, this->cubin_dir_);
    }
    CUdeviceptr var_0 = reinterpret_cast<CUdeviceptr>(buf0.data_ptr());
    CUdeviceptr var_1;
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_get_data_ptr(buf1, reinterpret_cast<void**>(&var_1)));
    int var_2 = 8L;
    void* kernel_args_var_0[] = {&var_0, &var_1, &var_2};
    Grid triton_poi_0_grid_0 = Grid(1L, 1L, 1L);
    if (triton_poi_0_grid_0.is_non_zero()) {
        launchKernel(kernels.triton_poi_0, triton_poi_0_grid_0.grid_x, triton_poi_0_grid_0.grid_y,
            triton_poi_0_grid_0.grid_z, 1, 0, kernel_args_var_0, stream);
    }
}
"""


def test_a_launch_written_inline() -> None:
    """Its kernel is in another file: one unknown access for each of its two pointers, and nothing else."""
    found = report(INLINE)
    assert found.counts.launches == 1 and not found.counts.unmodelled_statements, found.unknowns
    assert found.counts.unknown == found.counts.accesses["total"] == 2
    assert {u.what.split()[0] for u in found.unknowns} == {"triton_poi_fused_add_0"}


OLD = {
    "inductor_entry_cpp": "std::vector<at::Tensor> inductor_entry_cpp(const std::vector<at::Tensor>& args) {\n}\n",
    "at::Tensor": "void AOTInductorModel::run_impl(\n) {\n    at::Tensor buf0 = at::detail::empty_strided_cpu({4L}, {1L},"
    " at::kFloat);\n} // AOTInductorModel::run_impl\n",
}  # fmt: skip


@pytest.mark.parametrize("name", OLD)
def test_dialects_of_before_the_c_interface_are_refused(name: str) -> None:
    with pytest.raises(SourceError, match=f"{name}.*torch 2.6 and later are read"):
        check_wrapper(OLD[name])


def test_accesses_and_rows_agree() -> None:
    """What check counts is what the rows of kernels hold, over every fixture."""
    seen = 0
    for path in sorted(FIXTURES.glob("*/*.wrapper.cpp")):
        for analysis in analyses(str(path)):
            if isinstance(analysis, Failure):
                continue
            counted = counts(analysis)
            found = [r["accesses"] for r in rows(analysis)]
            for status in ("proved", "fault", "unknown"):
                assert sum(r[status] for r in found) == getattr(counted, status), (path, status)
            for row in rows(analysis):
                worst = next((s for s in ("fault", "unknown") if row["accesses"][s]), "proved")
                assert row["verdict"] == worst, (path, row)
            seen += len(found)
    assert seen > 100
