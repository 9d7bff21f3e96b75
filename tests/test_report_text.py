"""The text report: its exact layout for one fault, then the parts that depend on options and numbers."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest
from aoti_lint.analyzer.model.findings import Counts, Evidence, FileReport, Finding, Related, Report, Unknown
from aoti_lint.analyzer.model.location import Loc
from aoti_lint.analyzer.model.record import replace
from aoti_lint.analyzer.reporting.formats import Context, render
from aoti_lint.analyzer.reporting.formats.excerpt import excerpt
from aoti_lint.analyzer.reporting.formats.progress import Bar
from aoti_lint.analyzer.reporting.words import plural, shown

PATH = "c2f.wrapper.cpp"
LINES = {
    (PATH, 600): "    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_empty_strided(4, int_array_5, int_array_6));",
    (PATH, 612): "    auto buf12 = reinterpret_tensor_wrapper(buf15, 4, int_array_7, int_array_8, 8L);",
    (PATH, 455): "            out_ptr1[y0 + 32*x2 + 2048*y1] = static_cast<float>(tmp0);",
}
FAULT = Finding(
    code="AL202", name="kernel-write-out-of-bounds", severity="error",
    message="mps_lib_4 stores up to element 4071 of out_ptr1, but buf12 holds 1024",
    loc=Loc(PATH, 612, 18, 612, 84),
    related=(
        Related("executorch-metal copies this view into 1024 packed elements", Loc(PATH, 612, 18)),
        Related("the storage, 4096 elements", Loc(PATH, 600, 5)),
        Related("the store", Loc(PATH, 455, 13)),
    ),
    kernel="mps_lib_4", parameter="out_ptr1", launch_line=640, source_nodes=("chunk", "cat"),
    help="use a runtime that keeps the view in place",
    evidence=Evidence("write", 0, 4071, 1024, witness={"y0": 7, "y1": 1, "x2": 63}, sizes=(2, 8), strides=(8, 1)),
)  # fmt: skip


def analysed(*findings: Finding, **changes: Any) -> FileReport:
    known: dict[str, Any] = {
        "device": "mps", "torch": "2.14.1", "runtime": "executorch-metal", "runtime_date": "2026-08-22",
        "counts": Counts(proved=9, fault=1), "lines": LINES,
    }  # fmt: skip
    return FileReport(PATH, "analysed", findings=list(findings), **{**known, **changes})


def text(*files: FileReport, **options: Any) -> str:
    return render("text", Report(list(files), "1"), Context(**options))


def test_a_fault_from_head_to_foot() -> None:
    assert (
        text(analysed(FAULT), width=120)
        == """\
c2f.wrapper.cpp  mps, torch 2.14.1, runtime executorch-metal (2026-08-22)

error[AL202]: kernel-write-out-of-bounds: mps_lib_4 stores up to element 4071 of out_ptr1, but buf12 holds 1024
  --> c2f.wrapper.cpp:612:18   auto buf12 = reinterpret_tensor_wrapper(buf15, 4, int_array_7, int_array_8, 8L);
                                            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
   |  executorch-metal copies this view into 1024 packed elements
   |  line 600  the storage, 4096 elements
   |      AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_empty_strided(4, int_array_5, int_array_6));
   |  line 455  the store
   |      out_ptr1[y0 + 32*x2 + 2048*y1] = static_cast<float>(tmp0);
   = witness: y0=7, y1=1, x2=63 -> index 4071
   = kernel:  mps_lib_4, parameter out_ptr1, launched at line 640
   = from:    chunk, cat
   = help:    use a runtime that keeps the view in place

1 error in 1 file
10 accesses: 9 proved, 1 fault, 0 unknown; 0 unmodelled statements
runtime: executorch-metal (2026-08-22)
"""
    )


def test_verdicts_are_always_shown() -> None:
    counts = Counts(proved=1200, unknown=3, unmodelled_statements=1)
    for quiet in (False, True):
        got = text(analysed(counts=counts), quiet=quiet)
        assert "1,203 accesses: 1,200 proved, 0 fault, 3 unknown; 1 unmodelled statement\n" in got
        assert "no findings; 3 of 1,203 accesses not decided in 1 file\n" in got
    for counts, said in (
        (Counts(proved=2, unmodelled_statements=1), "no findings; 1 statement not understood in 1 file\n"),
        (Counts(proved=2), "no findings in 1 file\n"),
    ):
        assert said in text(analysed(counts=counts))


def test_quiet_is_one_line_for_each_finding() -> None:
    got = text(analysed(FAULT), quiet=True).splitlines()
    assert got[0] == (
        "c2f.wrapper.cpp:612:18: error[AL202]: mps_lib_4 stores up to element 4071 of out_ptr1, but buf12 holds 1024"
    )
    assert len(got) == 3


def test_files_without_findings_are_counted_not_listed() -> None:
    clean = replace(analysed(), path="clean.wrapper.cpp")
    got = text(clean, analysed(FAULT))
    assert "clean.wrapper.cpp" not in got
    assert "1 error in 2 files\n" in got
    assert "clean.wrapper.cpp" in text(clean, analysed(FAULT), verbose=True)


def test_what_failed_is_one_line() -> None:
    failed = FileReport("cut.cpp", "failed", error="not an AOTInductor wrapper")
    got = text(failed, analysed())
    assert got.startswith("error: cut.cpp: cannot be analysed: not an AOTInductor wrapper\n")
    assert "no findings in 2 files, 1 not analysed\n" in got
    assert text(failed, quiet=True).startswith("cut.cpp: error: not an AOTInductor wrapper\n")


def test_dynamic_sizes_are_listed_with_their_ranges() -> None:
    got = text(analysed(symbols=[("s77", 1, 512), ("u0", 0, None)]))
    assert "  sizes: s77 in 1..512, u0 in 0..\n" in got


def test_reasons_of_unknowns() -> None:
    file = analysed(counts=Counts(unknown=1), unknowns=[Unknown("store to out_ptr0", "index is loaded", 77)])
    assert "index is loaded" not in text(file)
    assert "--verbose says why" in text(file)
    assert "unknown: store to out_ptr0: index is loaded  (c2f.wrapper.cpp:77)\n" in text(file, verbose=True)


@pytest.mark.parametrize(
    ("count", "heads", "rest"), [(5, 5, ""), (6, 2, "and 4 more like it, at lines 615, 616, 617, 618")]
)
def test_equal_findings_are_condensed(count: int, heads: int, rest: str) -> None:
    equal = [replace(FAULT, loc=Loc(PATH, 613 + n), kernel=f"mps_lib_{n}") for n in range(count)]
    other = replace(FAULT, code="AL203", name="lost-write")
    got = text(analysed(*equal, other))
    assert got.count("error[AL202]: kernel-write") == heads
    assert got.count("error[AL203]: lost-write") == 1
    assert rest in got
    assert text(analysed(*equal, other), verbose=True).count("error[AL202]: kernel-write") == count
    assert f"{count + 1} errors in 1 file" in got


def test_the_same_help_is_said_once() -> None:
    pair = [FAULT, replace(FAULT, loc=Loc(PATH, 613))]
    assert text(analysed(*pair)).count("= help:") == 1
    assert text(analysed(*pair), verbose=True).count("= help:") == 2


def test_notes_are_brief() -> None:
    note = replace(FAULT, severity="note")
    brief, full = text(analysed(note), width=120), text(analysed(note), width=120, verbose=True)
    assert "note[AL202]" in brief and "^^^" in brief
    assert "   |  " not in brief and "   = " not in brief
    assert "= witness:" in full


def test_statistics() -> None:
    note = replace(FAULT, code="AL102", name="view-materialized", severity="warning")
    got = text(analysed(FAULT, note, note), statistics=True)
    assert (
        "      2  AL102  warning  view-materialized\n      1  AL202  error    kernel-write-out-of-bounds\n"
        in got
    )


def test_notes_of_the_run_come_last() -> None:
    assert text(analysed(), notes=["2 findings suppressed by aoti-lint.toml"]).endswith(
        "2 findings suppressed by aoti-lint.toml\n"
    )


def test_colour_changes_nothing_but_colour() -> None:
    plain = text(analysed(FAULT), width=120)
    coloured = text(analysed(FAULT), width=120, color=True)
    assert "\x1b[" in coloured and "\x1b[" not in plain
    stripped = re.sub(r"\x1b\[[0-9;]*m", "", coloured)
    assert [line.rstrip() for line in stripped.splitlines()] == plain.splitlines()


def test_a_long_place_puts_the_excerpt_below() -> None:
    got = text(analysed(FAULT), width=60).splitlines()
    assert got[3] == "  --> c2f.wrapper.cpp:612:18"
    assert got[4].startswith("   |  auto buf12") and got[4].endswith("...") and len(got[4]) <= 60
    assert got[5].index("^") == got[4].index("reinterpret")


def test_excerpt_keeps_the_column_in_sight() -> None:
    line = "    " + "a" * 200 + "MARK" + "b" * 200
    got = excerpt(line, Loc(PATH, 1, 205, 1, 209), 60)
    assert len(got.text) == 60
    assert got.text[got.start : got.start + got.length] == "MARK"
    assert got.text.startswith("...") and got.text.endswith("...")


@pytest.mark.parametrize("column", [1, 5, 40, 44, 400])
@pytest.mark.parametrize("line", ["", "x", "    short;", "\tvoid f(int a, int b, int c, int d, int e);  "])
@pytest.mark.parametrize("end", [(0, 0), (1, 2), (1, 999), (2, 1)])
def test_excerpt_of_any_column(line: str, column: int, end: tuple[int, int]) -> None:
    got = excerpt(line, Loc(PATH, 1, column, *end), 20)
    assert len(got.text) <= 20
    assert got.length >= 1
    assert 0 <= got.start < max(len(got.text), 1)
    assert got.start + got.length <= max(len(got.text), 1)


class Screen(io.StringIO):
    """A stream that says it is a terminal."""

    def __init__(self, terminal: bool = True) -> None:
        super().__init__()
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


def test_progress_appears_on_a_terminal_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")

    def drawn(screen: Screen, **options: Any) -> str:
        with Bar(screen, **options) as bar:
            bar(3, 8)
        return screen.getvalue()

    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", drawn(Screen(), patience=0))
    assert "checking" in shown and "3/8" in shown and "/s," in shown
    assert drawn(Screen(), patience=60) == ""
    assert drawn(Screen(), patience=0, wanted=False) == ""
    assert drawn(Screen(terminal=False), patience=0) == ""


def test_paths_relative_to_the_root() -> None:
    assert shown("/repo/a/b.cpp", "/repo") == "a/b.cpp"
    assert shown("/repository/b.cpp", "/repo") == "/repository/b.cpp"
    assert shown("./b.cpp", "/repo") == "b.cpp"
    assert shown("b.cpp", "") == "b.cpp"


def test_plural() -> None:
    assert [plural(n, "access") for n in (0, 1, 1200)] == ["0 accesses", "1 access", "1,200 accesses"]
