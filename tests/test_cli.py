"""The command line on a small wrapper: commands, outputs, exit codes, and what a mistake says.

``data/slice.wrapper.cpp`` is x -> cat(x, x + x) with the cat kept channels-last: the first half is stored through a
slice {1,4,8,8}/{512,1,64,8}, whose last element is 3 + 7*64 + 7*8 = 507; a packed copy of it holds 4*8*8 = 256.
libtorch keeps the view in place, and nothing is wrong.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from aoti_lint import cli
from cli_cases import DATA, METAL, Call, codes

# -- check --------------------------------------------------------------------------------------------


def test_check_finds_the_fault_and_its_numbers(call: Call) -> None:
    got = call("check", "m.wrapper.cpp", "--format", "json", "--select", "AL202")
    assert (got.code, got.err) == (1, "")
    (file,) = json.loads(got.out)["files"]
    assert (file["path"], file["device"], file["runtime"]["name"]) == ("m.wrapper.cpp", "mps", METAL)
    (finding,) = file["findings"]
    assert (finding["kernel"], finding["parameter"], finding["launch_line"]) == ("mps_lib_0", "out_ptr0", 112)
    evidence = finding["evidence"]
    assert (evidence["min"], evidence["max"], evidence["available"]) == (0, 507, 256)
    witness = evidence["witness"]
    assert witness["y0"] + 8 * witness["x1"] >= 256 and witness["y0"] < 4 and witness["x1"] < 64


def test_the_same_under_a_runtime_that_keeps_the_view(call: Call) -> None:
    got = call("check", "m.wrapper.cpp", "--runtime", "libtorch")
    assert got.code == 0
    assert "error" not in got.out and "0 fault, 0 unknown" in got.out


def test_text_is_the_default(call: Call) -> None:
    got = call("check", "m.wrapper.cpp")
    assert got.code == 1
    assert "error[AL202]: kernel-write-out-of-bounds: mps_lib_0 writes" in got.out
    assert "= witness: y0=3, x1=63 -> index 507\n" in got.out
    assert "\x1b" not in got.out


def test_standard_input(call: Call) -> None:
    got = call("check", "-", "--quiet", "--select", "AL202", stdin=DATA.read_text())
    assert got.code == 1
    assert got.out.startswith("<stdin>:100:5: error[AL202]: mps_lib_0 writes up to element 507")


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ((), 1),
        (("--fail-on", "never"), 0),
        (("--fail-on", "note"), 1),
        (("--select", "AL3"), 0),
        (("--ignore", "AL1,AL2,AL4,AL5"), 0),
        (("--select", "AL2", "--select", "AL1"), 1),
    ],
)
def test_exit_code_is_the_same_for_every_format(call: Call, options: tuple[str, ...], code: int) -> None:
    for format in ("text", "json", "sarif", "github", "gitlab", "junit"):
        assert call("check", "m.wrapper.cpp", "--format", format, *options).code == code


def test_several_outputs_at_once(call: Call) -> None:
    got = call("check", "m.wrapper.cpp", "-f", "sarif=out/a.sarif", "-f", "junit=out/a.xml", "-f", "github")
    assert got.code == 1
    assert got.out.startswith("::error file=m.wrapper.cpp,line=100,")
    assert json.loads(Path("out/a.sarif").read_text())["version"] == "2.1.0"
    assert Path("out/a.xml").read_text().startswith("<?xml")
    text = call("check", "m.wrapper.cpp", "-f", "json=a.json")
    assert "error[AL202]" in text.out and codes(Path("a.json").read_text())
    assert call("check", "m.wrapper.cpp", "-f", "json", "-o", "b.json").out == ""
    assert Path("b.json").read_text() == Path("a.json").read_text()


@pytest.mark.parametrize(
    ("name", "content", "error"),
    [
        ("cut.wrapper.cpp", DATA.read_text()[:-100].encode(), "truncated"),
        ("empty.wrapper.cpp", b"", "empty"),
        ("random.wrapper.cpp", bytes(range(256)) * 8, ""),
        ("hello.cpp", b"int main() { return 0; }\n", "not an AOTInductor wrapper"),
        ("m.pt2", b"PK\x03\x04 but no zip", "truncated"),
    ],
)
def test_what_cannot_be_analysed_is_one_line_and_exit_code_3(
    call: Call, name: str, content: bytes, error: str
) -> None:
    Path(name).write_bytes(content)
    got = call("check", name)
    assert got.code == 3 and got.err == ""
    (line,) = got.out.splitlines()
    assert line.startswith(f"{name}: error: ") and error in line


def test_one_failure_does_not_stop_the_others(call: Call) -> None:
    got = call("check", "none.wrapper.cpp", "m.wrapper.cpp", "--format", "json")
    assert got.code == 3
    data = json.loads(got.out)
    assert [f["status"] for f in data["files"]] == ["failed", "analysed"]
    assert "AL202" in codes(got.out) and data["summary"]["failed"] == 1


def test_a_folder_is_searched_and_can_be_sharded(call: Call) -> None:
    text = DATA.read_text()
    for n in range(5):
        Path(f"models/{n}").mkdir(parents=True)
        Path(f"models/{n}/m.wrapper.cpp").write_text(
            text.replace("{512L, 1L, 64L, 8L}", f"{{{512 + n}L, 1L, 64L, 8L}}")
        )
    whole = json.loads(call("check", "models", "-f", "json").out)["files"]
    assert [f["path"] for f in whole] == [f"models/{n}/m.wrapper.cpp" for n in range(5)]
    parts = [
        json.loads(call("check", "models", "-f", "json", "--shard", f"{i}/2").out)["files"] for i in (1, 2)
    ]
    assert sorted(f["path"] for part in parts for f in part) == [f["path"] for f in whole]
    assert {len(part) for part in parts} == {2, 3}
    assert call("check", "rules-only", "-q").code == 3


def test_jobs_change_nothing(call: Call) -> None:
    for n in range(4):
        Path(f"{n}.wrapper.cpp").write_text(DATA.read_text().replace("arg0_1", f"arg{n}_1"))
    paths = [f"{n}.wrapper.cpp" for n in range(4)]
    assert call("check", *paths, "-f", "json", "-j", "1") == call("check", *paths, "-f", "json", "-j", "2")


def test_statistics(call: Call) -> None:
    assert (
        "AL202  error    kernel-write-out-of-bounds"
        in call("check", "m.wrapper.cpp", "--statistics", "-q").out
    )


def test_baseline_round_trip(call: Call) -> None:
    first = call("check", "m.wrapper.cpp", "--write-baseline", "base.json")
    assert first.code == 0 and "written to base.json" in first.out
    # Generated again: two lines further down, another buffer number.
    Path("m.wrapper.cpp").write_text(
        "\n\n" + DATA.read_text().replace("buf0", "buf7").replace("mps_lib_0", "mps_lib_3")
    )
    again = call("check", "m.wrapper.cpp", "--baseline", "base.json")
    assert again.code == 0 and "known from base.json" in again.out
    other = call("check", "m.wrapper.cpp", "--baseline", "base.json", "--runtime", "libtorch", "-f", "json")
    assert codes(other.out) == ["AL903"]


def test_configuration_and_suppression(call: Call) -> None:
    Path("aoti-lint.toml").write_text(
        'select = ["AL202", "AL203"]\n[[suppress]]\ncode = "AL2"\npath = "*.wrapper.cpp"\nkernel = "mps_lib_0"\nreason = "known"\n'
    )
    got = call("check", "m.wrapper.cpp")
    assert got.code == 0 and "suppressed by aoti-lint.toml" in got.out
    assert call("check", "m.wrapper.cpp", "--config", os.devnull).code == 1
    Path("aoti-lint.toml").write_text(
        'select = ["AL2", "AL9"]\n[[suppress]]\ncode = "AL206"\nreason = "none such"\n'
    )
    stale = call("check", "m.wrapper.cpp", "--runtime", "libtorch", "-f", "json")
    assert (stale.code, codes(stale.out)) == (0, ["AL903"])
    (finding,) = json.loads(stale.out)["files"][0]["findings"]
    assert finding["location"]["path"].endswith("aoti-lint.toml") and finding["location"]["line"] == 2
    strict = call("check", "m.wrapper.cpp", "--runtime", "libtorch", "--strict")
    assert strict.code == 1 and "error[AL903]" in strict.out


def test_colour(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[1;31m" in call("check", "m.wrapper.cpp").out
    assert "\x1b" not in call("check", "m.wrapper.cpp", "--no-color").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in call("check", "m.wrapper.cpp").out


def test_a_runtime_for_another_device_is_told(call: Call) -> None:
    got = call("check", "m.wrapper.cpp", "--runtime", "executorch-cuda", "--fail-on", "never")
    assert got.code == 0
    assert (
        got.err
        == "aoti-lint: warning: executorch-cuda@2026-09 is for cuda wrappers; m.wrapper.cpp is for mps\n"
    )


def test_a_page_is_not_for_a_terminal(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    assert call("report", "m.wrapper.cpp").out.startswith("<!doctype html>")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    got = call("report", "m.wrapper.cpp")
    assert (got.code, got.out) == (2, "") and "aoti-lint report m.wrapper.cpp -o report.html" in got.err


def test_an_export_script_is_to_be_run(call: Call) -> None:
    Path("export.py").write_text("import torch\n")
    got = call("check", "export.py")
    assert got.code == 3 and "aoti-lint run -- python export.py" in got.out


def test_a_size_that_no_input_has(call: Call) -> None:
    got = call("check", "m.wrapper.cpp", "--size", "s77=8", "-q")
    assert "no input has a free size called s77" in got.err


# -- mistakes -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("check", "m.wrapper.cpp", "--runtime", "executorch-metl"), "unknown runtime 'executorch-metl'; try executorch-metal"),
        (("check", "m.wrapper.cpp", "--format", "jsn"), "did you mean 'json'?"),
        (("check", "m.wrapper.cpp", "--select", "AL29"), "no rule has the code or prefix 'AL29'"),
        (("check", "m.wrapper.cpp", "--ignore", "lost-wite"), "did you mean 'lost-write'?"),
        (("check", "m.wrapper.cpp", "--fail-on", "warnings"), "did you mean 'warning'?"),
        (("check", "m.wrapper.cpp", "--size", "s77"), "is not NAME=VALUE"),
        (("check", "m.wrapper.cpp", "--shard", "3/2"), "is not I/N"),
        (("check", "m.wrapper.cpp", "--jobs", "0"), "--jobs"),
        (("check", "m.wrapper.cpp", "--fromat", "json"), "--format"),
        (("check", "m.wrapper.cpp", "-f", "json", "-f", "text"), "cannot both go to one place"),
        (("check", "m.wrapper.cpp", "--baseline", "none.json"), "cannot read baseline none.json"),
        (("check", "m.wrapper.cpp", "--config", "none.toml"), "cannot read none.toml"),
        (("check",), "PATH"),
        (("chek", "m.wrapper.cpp"), "check"),
        (("m.wrapper.cpp",), "Did you mean 'aoti-lint check m.wrapper.cpp'?"),
        (("rule", "AL2022"), "did you mean 'AL202'"),
        (("rule", "AL202", "--format", "xml"), "--format must be one of text, json, not 'xml'"),
        (("runtimes", "m9"), "unknown runtime 'm9'; try libtorch, libtorch-arrayref, executorch-metal, executorch-cuda"),
        (("kernels", "m.wrapper.cpp", "--runtime", "x"), "unknown runtime 'x'"),
        (("run", "--", "no-such-command-here"), "cannot run no-such-command-here"),
    ],
)  # fmt: skip
def test_wrong_usage(call: Call, arguments: tuple[str, ...], message: str) -> None:
    got = call(*arguments)
    assert (got.code, got.out) == (2, "")
    assert message in got.err
    assert "Traceback" not in got.err


def test_an_output_that_cannot_be_written(call: Call) -> None:
    got = call("check", "m.wrapper.cpp", "-f", "json=m.wrapper.cpp/x")
    assert got.code == 2 and "cannot write m.wrapper.cpp/x: " in got.err
    assert "error[AL202]" in got.out


def test_an_internal_error_is_one_line(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: object, **options: object) -> None:
        raise RuntimeError("first line\nsecond")

    monkeypatch.setattr("aoti_lint.analyzer.pipeline.check_paths", broken)
    got = call("check", "m.wrapper.cpp")
    assert (got.code, got.out, len(got.err.splitlines())) == (3, "", 1)
    assert "internal error: RuntimeError: first line second (please report" in got.err
    monkeypatch.setenv("AOTI_LINT_DEBUG", "1")
    monkeypatch.setattr(sys, "argv", ["aoti-lint", "check", "m.wrapper.cpp"])
    with pytest.raises(RuntimeError):
        cli.main()


def test_a_rule_that_breaks_fails_its_file_only(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(analysis: object) -> list[object]:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr("aoti_lint.rules.registry.run_rules", broken)
    got = call("check", "m.wrapper.cpp", "-q", "-j", "1")
    assert got.code == 3
    assert "m.wrapper.cpp: error: internal error, please report it: ZeroDivisionError: oops" in got.out
