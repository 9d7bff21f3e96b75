"""Paths to texts: pairing of wrappers and kernels, packages, folders, libraries, and one line for everything else."""

from __future__ import annotations

import io
import json
import os
import zipfile
from pathlib import Path

import pytest
from aoti_lint.analyzer.sources import Failure, WrapperSource, load
from aoti_lint.analyzer.sources.model import MAX_TEXT


def wrapper(*kernels: str, params: str = "const float* in_ptr0, float* out_ptr0", extra: str = "") -> str:
    """The lines of a wrapper that matter here."""
    protos = "".join(f'extern "C"  void  {k}({params});\n' for k in kernels)
    calls = "".join(
        f"    {k}((const float*)(arg0_1.data_ptr()), (float*)(buf0.data_ptr()));\n" for k in kernels
    )
    return (
        f"\n{protos}namespace torch::aot_inductor {{\nvoid AOTInductorModel::run_impl(\n    AtenTensorHandle* input_handles\n) {{\n"
        f"{calls}{extra}}} // AOTInductorModel::run_impl\n}} // namespace torch::aot_inductor\n"
    )


def kernels(
    *names: str, made_with: str = "", body: str = "    out_ptr0[0] = in_ptr0[0];", params: str = ""
) -> str:
    head = f"// Triton kernels are embedded as comments in /tmp/x/{made_with}\n" if made_with else ""
    params = params or "const float* in_ptr0,\n                       float* out_ptr0"
    return head + "".join(f'\nextern "C"  void  {n}({params})\n{{\n{body}\n}}\n' for n in names)


def put(folder: Path, **files: str) -> Path:
    """Write files; ``__`` in a name stands for a dot."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)
    return folder


def package(path: Path, members: dict[str, str | bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as zf:
        for name, data in members.items():
            zf.writestr(name, data)
    return path


def one(path: Path | str, stdin: io.StringIO | None = None) -> WrapperSource:
    (found,) = load(str(path), stdin)
    assert isinstance(found, WrapperSource), found
    return found


def failure(path: Path | str, stdin: io.StringIO | None = None) -> str:
    (found,) = load(str(path), stdin)
    assert isinstance(found, Failure), found
    assert found.error and "\n" not in found.error and "Traceback" not in found.error
    return found.error


# -- one file ------------------------------------------------------------------------------------


def test_kernel_file_of_the_same_stem(tmp_path: Path) -> None:
    put(tmp_path, m__wrapper__cpp=wrapper("cpp_fused_add_0"), m__kernel__cpp=kernels("cpp_fused_add_0"))
    found = one(tmp_path / "m.wrapper.cpp")
    assert found.wrapper.text == wrapper("cpp_fused_add_0")
    assert [k.path for k in found.kernels] == [str(tmp_path / "m.kernel.cpp")]


def test_kernel_file_with_another_hash_is_found_by_what_it_defines(tmp_path: Path) -> None:
    put(
        tmp_path,
        c1__wrapper__cpp=wrapper("cpp_fused_add_0", "cpp_fused_mul_1"),
        c2__kernel__cpp=kernels("cpp_fused_add_0", "cpp_fused_mul_1"),
        c3__kernel__cpp=kernels("cpp_fused_add_0", params="const float* in_ptr0"),
    )
    assert [k.path for k in one(tmp_path / "c1.wrapper.cpp").kernels] == [str(tmp_path / "c2.kernel.cpp")]


def test_kernel_file_that_names_its_wrapper_wins(tmp_path: Path) -> None:
    put(
        tmp_path,
        c1__wrapper__cpp=wrapper("cpp_fused_add_0"),
        c2__wrapper__cpp=wrapper("cpp_fused_add_0"),
        k1__kernel__cpp=kernels("cpp_fused_add_0", made_with="c2.wrapper.cpp", body="    // a"),
        k2__kernel__cpp=kernels("cpp_fused_add_0", made_with="c1.wrapper.cpp", body="    // b"),
    )
    assert [Path(k.path).name for k in one(tmp_path / "c1.wrapper.cpp").kernels] == ["k2.kernel.cpp"]
    assert [Path(k.path).name for k in one(tmp_path / "c2.wrapper.cpp").kernels] == ["k1.kernel.cpp"]


def test_two_kernel_files_that_differ_are_not_guessed_between(tmp_path: Path) -> None:
    put(
        tmp_path,
        c1__wrapper__cpp=wrapper("cpp_fused_add_0"),
        k1__kernel__cpp=kernels("cpp_fused_add_0", body="    // a"),
        k2__kernel__cpp=kernels("cpp_fused_add_0", body="    // b"),
    )
    assert "several kernel files define cpp_fused_add_0" in failure(tmp_path / "c1.wrapper.cpp")
    put(tmp_path, k2__kernel__cpp=kernels("cpp_fused_add_0", body="    // a"))
    assert len(one(tmp_path / "c1.wrapper.cpp").kernels) == 1


def test_kernel_in_a_neighbouring_cache_folder(tmp_path: Path) -> None:
    put(tmp_path / "ab", cabx__wrapper__cpp=wrapper("cpp_fused_add_0"))
    put(tmp_path / "cd", ccdx__kernel__cpp=kernels("cpp_fused_add_0"))
    assert len(one(tmp_path / "ab" / "cabx.wrapper.cpp").kernels) == 1
    put(tmp_path / "other", ccdx__wrapper__cpp=wrapper("cpp_fused_add_0"))
    assert one(tmp_path / "other" / "ccdx.wrapper.cpp").kernels == ()


def test_single_file_holds_its_kernels(tmp_path: Path) -> None:
    put(
        tmp_path,
        c1__cpp=kernels("cpp_fused_add_0") + wrapper("cpp_fused_add_0"),
        k__kernel__cpp=kernels("cpp_fused_add_0"),
    )
    assert one(tmp_path / "c1.cpp").kernels == ()


def test_attribute_between_void_and_name(tmp_path: Path) -> None:
    w = wrapper("cpp_fused_add_0").replace("void  cpp", "void C10_ALWAYS_INLINE_ATTRIBUTE cpp")
    k = kernels("cpp_fused_add_0").replace("void  cpp", "void C10_ALWAYS_INLINE_ATTRIBUTE cpp")
    put(tmp_path, a__wrapper__cpp=w, b__kernel__cpp=k)
    assert len(one(tmp_path / "a.wrapper.cpp").kernels) == 1


def test_metadata_and_extern_nodes(tmp_path: Path) -> None:
    nodes = json.dumps({"nodes": [{"name": "buf0", "node": {}}]})
    call = "    aoti_torch_proxy_executor_call_function(proxy_executor, 0, 0, nullptr, 0, nullptr);\n"
    put(
        tmp_path,
        a__wrapper__cpp=wrapper(extra=call),
        a__wrapper_metadata__json=json.dumps({"AOTI_DEVICE_KEY": "cpu", "n": 3}),
        c9__json=nodes,
        a__wrapper_compile_flags__json="[]",
    )
    found = one(tmp_path / "a.wrapper.cpp")
    assert found.metadata == {"AOTI_DEVICE_KEY": "cpu"}
    assert found.extern_nodes == nodes
    put(tmp_path, c8__json=json.dumps({"nodes": []}))
    assert one(tmp_path / "a.wrapper.cpp").extern_nodes is None, "two lists: no telling which"


def test_line_ends_and_byte_order_mark_keep_positions(tmp_path: Path) -> None:
    text = wrapper()
    (tmp_path / "a.wrapper.cpp").write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    assert one(tmp_path / "a.wrapper.cpp").wrapper.text == text


JIT = """import torch
cpp_wrapper_src = (
r\"\"\"
#include <a.h>
void inductor_entry_impl(
) {
    cpp_fused_add_0(a);
} // inductor_entry_impl
\"\"\"
)
inductor_entry = CppWrapperCodeCache.load_pybinding(main_code=cpp_wrapper_src)
"""


def test_wrapper_inside_python_keeps_the_file_s_lines_and_columns(tmp_path: Path) -> None:
    put(tmp_path, g__py=JIT)
    found = one(tmp_path / "g.py").wrapper
    lines = JIT.split("\n")
    for i, line in enumerate(found.text.split("\n")[1:-1], 1):
        assert lines[found.first_line - 1 + i] == line
    assert found.first_line == 3 and found.text.startswith("    \n#include")
    assert lines[2] == 'r"""', "four characters stand before the string's text on its first line"


def test_two_graphs_and_a_kernel_string_in_one_python_file(tmp_path: Path) -> None:
    kernel = 'kernel_src = (\nr"""\nextern "C" void cpp_fused_add_0(float* a)\n{\n}\n"""\n)\n'
    put(tmp_path, g__py=JIT + kernel + JIT)
    first, second = load(str(tmp_path / "g.py"))
    assert isinstance(first, WrapperSource) and isinstance(second, WrapperSource)
    assert len(first.kernels) == 1 and second.kernels == ()
    assert first.kernels[0].first_line == 13 and second.wrapper.first_line == 13 + 5 + 3


def test_truncated_python(tmp_path: Path) -> None:
    put(tmp_path, g__py=JIT[: JIT.index("} //")], h__py="print(1)\n")
    assert "truncated" in failure(tmp_path / "g.py")
    assert "no Inductor wrapper" in failure(tmp_path / "h.py")


def test_standard_input() -> None:
    assert one("-", io.StringIO(wrapper())).wrapper.path == "<stdin>"
    assert one("-", io.StringIO(JIT)).wrapper.first_line == 3
    assert failure("-", io.StringIO("")) == "the file is empty"
    assert "UTF-8" in failure("-", io.StringIO("\ud800"))


# -- folders -------------------------------------------------------------------------------------


def test_folder_is_searched_in_order_and_other_files_are_left_alone(tmp_path: Path) -> None:
    put(tmp_path / "b", z__wrapper__cpp=wrapper())
    put(tmp_path / "a", y__cpp=wrapper(), main__cpp="int main() {}", s__py="x = 1", g__py=JIT)
    (tmp_path / "a" / "blob.cpp").write_bytes(b"\0\1")
    package(tmp_path / "m.pt2", {"m/data/aotinductor/model/x.wrapper.cpp": wrapper()})
    paths = [f.wrapper.path for f in load(str(tmp_path)) if isinstance(f, WrapperSource)]
    assert [p.removeprefix(str(tmp_path)) for p in paths] == [
        "/m.pt2!m/data/aotinductor/model/x.wrapper.cpp",
        "/a/g.py",
        "/a/y.cpp",
        "/b/z.wrapper.cpp",
    ]
    assert len(load(str(tmp_path))) == 4, "no failures for files of other people"


def test_an_environment_in_the_folder_is_not_searched(tmp_path: Path) -> None:
    """What is installed there is nobody's export; its own folder can still be given."""
    put(tmp_path, m__wrapper__cpp=wrapper())
    venv = tmp_path / ".venv"
    put(venv / "lib", n__wrapper__cpp=wrapper())
    (venv / "pyvenv.cfg").write_text("home = /usr/bin\n")
    assert len(load(str(tmp_path))) == 1 and len(load(str(venv))) == 1


def test_python_that_only_speaks_of_wrappers_is_left_alone(tmp_path: Path) -> None:
    put(tmp_path, m__wrapper__cpp=wrapper(), tool__py='if "cpp_wrapper_src = (" in text:\n    pass\n')
    assert len(load(str(tmp_path))) == 1


def test_folder_reports_what_it_can_t_read(tmp_path: Path) -> None:
    put(
        tmp_path,
        a__wrapper__cpp="",
        b__cpp=wrapper().replace("} // AOTI", "} // aoti"),
        c__wrapper__cpp=wrapper(),
    )
    (tmp_path / "d.wrapper.cpp").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "e.wrapper.cpp")
    found = {
        Path(f.path if isinstance(f, Failure) else f.wrapper.path).name[0]: f for f in load(str(tmp_path))
    }
    errors = {k: f.error for k, f in found.items() if isinstance(f, Failure)}
    assert errors.keys() == set("abde") and "c" in found
    assert (
        "truncated" in errors["b"] and "no such file" in errors["d"] and errors["e"] == "not a regular file"
    )


def test_compiled_copy_of_a_python_wrapper_is_not_reported_twice(tmp_path: Path) -> None:
    text = JIT.split('"""')[1]
    put(
        tmp_path,
        g__py=JIT,
        c1__main__cpp="#include <x.h>\n" + text + "\nstatic PyObject* f();\n",
        d__wrapper__cpp=wrapper(),
    )
    names = [Path(f.wrapper.path).name for f in load(str(tmp_path)) if isinstance(f, WrapperSource)]
    assert names == ["d.wrapper.cpp", "g.py"]


def test_folder_loop_ends(tmp_path: Path) -> None:
    put(tmp_path / "a", x__wrapper__cpp=wrapper())
    (tmp_path / "a" / "up").symlink_to(tmp_path)
    assert len(load(str(tmp_path))) == 1


def test_nothing_found(tmp_path: Path) -> None:
    assert "no AOTInductor wrapper found in" in failure(tmp_path)
    (tmp_path / "m.so").write_bytes(b"\x7fELF")
    assert "compiled libraries only" in failure(tmp_path)
    assert failure(tmp_path / "nope") == "no such file or directory"
    assert failure("/dev/null") == "not a regular file"
    assert "null byte" in failure("a\0b")


# -- what is no wrapper ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("a.wrapper.cpp", b"", "empty"),
        ("a.wrapper.cpp", b" \n\t\n", "empty"),
        ("a.wrapper.cpp", b"\x7fELF\0\0", "binary data"),
        ("a.wrapper.cpp", b"abc\0def", "binary"),
        ("a.wrapper.cpp", wrapper().encode() + b"\xff", "not UTF-8 text (byte 0xff at offset"),
        ("a.cpp", b"int main() { return 0; }\n", "not an AOTInductor wrapper"),
        ("a.cpp", kernels("cpp_fused_add_0").encode(), "a kernel file"),
        ("a.kernel.cpp", kernels("cpp_fused_add_0").encode(), "a kernel file"),
        ("a.wrapper.cpp", wrapper()[:-60].encode(), "truncated"),
        ("a.pt2", b"", "not a zip package"),
        ("a.pt2", b"PK\x03\x04 and no more", "not a zip package"),
        ("a.pt2", b"plain text", "not a zip package"),
        ("a.so", b"", "no sources beside it: export with"),
    ],
)
def test_one_line(tmp_path: Path, name: str, data: bytes, says: str) -> None:
    (tmp_path / name).write_bytes(data)
    assert says in failure(tmp_path / name)


def test_truncated_or_broken_kernel_file_fails_its_wrapper(tmp_path: Path) -> None:
    text = kernels("cpp_fused_add_0", "cpp_fused_mul_1")
    put(tmp_path, a__wrapper__cpp=wrapper("cpp_fused_add_0"), a__kernel__cpp=text[:-3])
    assert "truncated: cpp_fused_mul_1 has no end" in failure(tmp_path / "a.wrapper.cpp")
    (tmp_path / "a.kernel.cpp").rename(tmp_path / "b.kernel.cpp")
    (tmp_path / "b.kernel.cpp").write_bytes(b"\xff")
    assert "b.kernel.cpp: not UTF-8" in failure(tmp_path / "a.wrapper.cpp")


def test_interface_with_two_entries_needs_both_ends(tmp_path: Path) -> None:
    second = (
        "void AOTInductorModel::run_impl_minimal_arrayref_interface_v2_raw(\n) {\n"
        "} // AOTInductorModel::run_impl_minimal_arrayref_interface_v2_raw\n"
    )
    put(tmp_path, a__wrapper__cpp=wrapper() + second, b__wrapper__cpp=wrapper() + second[:-70])
    assert one(tmp_path / "a.wrapper.cpp")
    assert "v2_raw has no end" in failure(tmp_path / "b.wrapper.cpp")


@pytest.mark.parametrize(
    "text",
    [
        "x" * (50 << 20),
        'extern "C" void ' * (1 << 20),
        'extern "C" void f(' * (1 << 20),
        'extern "C"' + " void" * (4 << 20),
        "AOTInductorModel::run_impl(" * (1 << 20),
        "AOTInductorModel" * (1 << 20),
        wrapper() + "cpp_fused_" * (2 << 20),
        "cpp_wrapper_src = (" * (1 << 20),
        'cpp_wrapper_src = (\nr"""' * (1 << 20),
    ],
    ids=["big", "extern", "open", "void", "entry", "model", "called", "jit", "strings"],
)
@pytest.mark.parametrize("suffix", [".wrapper.cpp", ".py"])
def test_megabytes_of_nonsense_are_answered(tmp_path: Path, text: str, suffix: str) -> None:
    """Texts that make a careless pattern run for hours: an answer at all is what is tested."""
    (tmp_path / f"a{suffix}").write_text(text)
    assert len(load(str(tmp_path / f"a{suffix}"))) == 1


def test_size_limit_is_stated(tmp_path: Path) -> None:
    with (tmp_path / "a.wrapper.cpp").open("wb") as f:
        f.truncate(MAX_TEXT + 1)
    assert failure(tmp_path / "a.wrapper.cpp") == "larger than 32 MiB, the most that is read of one file"


# -- libraries -------------------------------------------------------------------------------------


def test_library_with_sources_beside_it(tmp_path: Path) -> None:
    put(tmp_path, c1__wrapper__cpp=wrapper(), c1__wrapper__so="", d__wrapper__cpp=wrapper(), d__so="")
    assert one(tmp_path / "c1.wrapper.so").wrapper.path.endswith("c1.wrapper.cpp")
    assert one(tmp_path / "d.so").wrapper.path.endswith("d.wrapper.cpp")


def test_library_that_names_its_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = tmp_path / "build" / "cabc" / "c1.wrapper.cpp"
    library = tmp_path / "model.so"
    library.write_bytes(b"\x7fELF" + bytes(5000) + str(written).encode() + b"\0rest")
    assert "no sources beside it" in failure(library)
    put(tmp_path / "cache" / "cabc", c1__wrapper__cpp=wrapper())
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "cache"))
    assert one(library).wrapper.path == str(tmp_path / "cache" / "cabc" / "c1.wrapper.cpp")
    put(written.parent, c1__wrapper__cpp=wrapper())
    assert one(library).wrapper.path == str(written)
