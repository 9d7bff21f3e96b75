"""Suppressions, the baseline, strictness and exit codes, on hand-made reports."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from aoti_lint.analyzer.config import ConfigError, Settings, Suppression, parse_codes
from aoti_lint.analyzer.model.codes import CODES
from aoti_lint.analyzer.model.findings import Counts, Evidence, FileReport, Finding, Report, Unknown
from aoti_lint.analyzer.model.location import Loc
from aoti_lint.analyzer.model.record import replace
from aoti_lint.analyzer.reporting.fingerprint import identity, number
from aoti_lint.analyzer.reporting.selection import exit_code, select
from aoti_lint.analyzer.reporting.suppress import (
    accept,
    apply_baseline,
    read_baseline,
    suppress,
    write_baseline,
)

TODAY = date(2026, 11, 30)


def finding(code: str = "AL202", line: int = 7, path: str = "m/a.wrapper.cpp", **more: Any) -> Finding:
    name, severity = CODES[code]
    draft = Finding(code, name, more.pop("severity", severity), f"{code} here", Loc(path, line), **more)
    return replace(draft, fingerprint=identity(draft))


def file(*findings: Finding, path: str = "m/a.wrapper.cpp", **more: Any) -> FileReport:
    return FileReport(path, "analysed", findings=number(findings), **more)


def report(*files: FileReport) -> Report:
    return Report(list(files), "1")


def settings(*entries: Suppression, **more: Any) -> Settings:
    return Settings(suppress=entries, file=Path.cwd() / "aoti-lint.toml", **more)


def codes(of: Report) -> list[str]:
    return [f.code for r in of.files for f in r.findings]


def entry(code: str = "AL202", **more: Any) -> Suppression:
    return Suppression(code, more.pop("reason", "known"), **more)


# -- suppressions -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "covers"),
    [
        ({}, True),
        ({"path": "m/a.wrapper.cpp"}, True),
        ({"path": "m/*.cpp"}, True),
        ({"path": "**/a.wrapper.cpp"}, True),
        ({"path": "**/m/*"}, True),
        ({"path": "a.wrapper.cpp"}, True),
        ({"path": "other/*.cpp"}, False),
        ({"path": "b.wrapper.cpp"}, False),
        ({"kernel": "mps_lib_4"}, True),
        ({"kernel": "mps_*"}, True),
        ({"kernel": "mps_lib"}, False),
        ({"buffer": "buf12"}, True),
        ({"buffer": "buf15"}, True),
        ({"buffer": "buf1"}, False),
        ({"kernel": "mps_*", "buffer": "arg0_1"}, False),
    ],
)  # fmt: skip
def test_what_an_entry_covers(more: dict[str, str], covers: bool) -> None:
    of = report(file(finding(kernel="mps_lib_4", tensor="buf12", storage="buf15")))
    dropped = suppress(of, settings(entry(**more)), complete=False, today=TODAY)
    assert dropped == covers
    assert codes(of) == ([] if covers else ["AL202"])


@pytest.mark.parametrize(
    ("code", "left"), [("AL202", ["AL101"]), ("AL2", ["AL101"]), ("lost-write", ["AL202", "AL101"])]
)
def test_codes_prefixes_and_names(code: str, left: list[str]) -> None:
    of = report(file(finding(), finding("AL101")))
    suppress(of, settings(entry(code)), complete=False, today=TODAY)
    assert codes(of) == left


def test_an_absolute_path_is_matched_relative_to_the_configuration() -> None:
    inside = str(Path.cwd() / "m/a.wrapper.cpp")
    of = report(
        file(finding(path=inside), path=inside),
        file(finding(path="/tmp/x/a.wrapper.cpp"), path="/tmp/x/a.wrapper.cpp"),
    )
    suppress(of, settings(entry(path="m/*")), today=TODAY)
    assert [len(f.findings) for f in of.files] == [0, 1]


def test_expired_entry_covers_nothing_and_is_reported() -> None:
    for expires, left in ((TODAY, []), (date(2026, 11, 29), ["AL202", "AL903"])):
        of = report(file(finding()))
        suppress(of, settings(entry(expires=expires, line=5)), today=TODAY)
        assert codes(of) == left
    stale = of.files[0].findings[1]
    assert stale.severity == "note" and stale.loc.line == 5 and stale.loc.path.endswith("aoti-lint.toml")
    assert stale.message == "the suppression of AL202 (known) expired on 2026-11-29 and no longer applies"


def test_unused_entry_is_reported_where_its_files_were_checked() -> None:
    def stale(**more: Any) -> list[str]:
        complete, settled = more.pop("complete", True), more.pop("settled", {})
        of = report(file(finding("AL101")))
        suppress(of, settings(entry(**more), **settled), complete=complete, today=TODAY)
        return codes(of)[1:]

    assert stale() == ["AL903"]
    assert stale(path="m/*") == ["AL903"]
    assert stale(path="other/*") == []
    assert stale(complete=False) == []
    assert stale(settled={"ignore": parse_codes(["AL202"])}) == []
    assert stale(settled={"ignore": parse_codes(["AL903"])}) == []


def test_stale_is_an_error_when_strict() -> None:
    of = report(file())
    strict = settings(entry(), strict=True)
    suppress(of, strict, today=TODAY)
    assert of.files[0].findings[0].severity == "error"
    assert exit_code(of, strict) == 1


# -- baseline -----------------------------------------------------------------------------------------


def test_baseline_accepts_what_it_counted(tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    then = report(file(finding(kernel="mps_lib_4"), finding(kernel="mps_lib_9"), finding("AL101")))
    assert write_baseline(then, path) == 3
    # The wrapper is generated anew: other lines, other numbers, and one more of the same fault.
    now = report(
        file(*(finding(line=n, kernel=f"mps_lib_{n}") for n in (20, 21, 22)), finding("AL101", line=90))
    )
    assert apply_baseline(now, path, Settings()) == 3
    assert codes(now) == ["AL202"]


def test_baseline_counts_over_files(tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    write_baseline(report(file(finding()), file(finding(), path="m/b.wrapper.cpp")), path)
    assert list(read_baseline(path).values()) == [2]
    three = report(*(file(finding(), path=f"m/{n}.wrapper.cpp") for n in range(3)))
    apply_baseline(three, path, Settings())
    assert codes(three) == ["AL202"]


def test_stale_baseline_is_reported_and_pruned(tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    write_baseline(report(file(finding(), finding("AL101"), finding("AL103"))), path)
    now = report(file(finding()))
    said = accept(now, Settings(baseline=path), None)
    assert codes(now) == ["AL903"]
    assert now.files[0].findings[0].message.startswith("2 of the findings in the baseline no longer occur")
    assert said == [f"1 finding known from {path}"]
    again = report(file(finding()))
    assert accept(again, Settings(), path) == [f"1 finding written to {path}", f"1 finding known from {path}"]
    assert len(read_baseline(path)) == 1
    partly = report(file())
    accept(partly, Settings(baseline=path), None, complete=False)
    assert codes(partly) == []


def test_baseline_is_stable_text(tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    write_baseline(report(file(finding("AL204"), finding("AL101"))), path)
    text = path.read_text()
    write_baseline(report(file(finding("AL101", line=3), finding("AL204", line=2))), path)
    assert path.read_text() == text
    assert [row["code"] for row in json.loads(text)["findings"]] == ["AL101", "AL204"]


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"schema": "other"}', '{"schema": "aoti-lint-baseline/1", "findings": [1]}']
)
def test_not_a_baseline(tmp_path: Path, text: str) -> None:
    path = tmp_path / "baseline.json"
    path.write_text(text)
    with pytest.raises(ConfigError, match="is not a baseline"):
        read_baseline(path)
    with pytest.raises(ConfigError, match="cannot read baseline"):
        read_baseline(tmp_path / "none.json")
    with pytest.raises(ConfigError, match="cannot write baseline"):
        write_baseline(report(), tmp_path / "no/folder.json")


# -- fingerprints -------------------------------------------------------------------------------------


def test_fingerprint_survives_what_generation_changes() -> None:
    a = finding(
        line=7,
        kernel="mps_lib_4",
        tensor="buf12",
        parameter="out_ptr1",
        evidence=Evidence("write", 0, "32*s77", 9),
    )
    b = finding(
        line=99,
        kernel="mps_lib_12",
        tensor="buf31",
        parameter="out_ptr1",
        evidence=Evidence("write", 0, "32*s3", 9),
    )
    assert a.fingerprint == b.fingerprint
    cpp = [
        finding(kernel=k).fingerprint
        for k in ("cpp_fused_add_0", "cpp_fused_add_3", "cpp_fused_add", "cpp_fused_mul_0")
    ]
    assert len(set(cpp[:3])) == 1 and cpp[3] != cpp[0]


@pytest.mark.parametrize(
    "changes",
    [{"parameter": "out_ptr1"}, {"op": "aoti_torch_cpu_mm"}, {"evidence": Evidence("write", 0, 8, 9)},
     {"evidence": Evidence("read", 0, 9, 9)}, {"evidence": Evidence("write", sizes=(2, 8))}],
)  # fmt: skip
def test_fingerprint_tells_faults_apart(changes: dict[str, Any]) -> None:
    assert finding(**changes).fingerprint != finding().fingerprint
    assert finding("AL201", **changes).fingerprint != finding("AL202", **changes).fingerprint


def test_equal_findings_are_numbered() -> None:
    one, two, three = number([finding(line=1), finding(line=2), finding(line=3)])
    assert len({one.fingerprint, two.fingerprint, three.fingerprint}) == 3
    assert one.fingerprint == finding().fingerprint
    assert number([finding(line=5), finding(line=9)])[1].fingerprint == two.fingerprint


# -- strictness and exit codes ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fail_on", "expected"),
    [("error", {"error": 1, "warning": 0, "note": 0}), ("warning", {"error": 1, "warning": 1, "note": 0}),
     ("note", {"error": 1, "warning": 1, "note": 1}), ("never", {"error": 0, "warning": 0, "note": 0})],
)  # fmt: skip
def test_exit_code(fail_on: Any, expected: dict[str, int]) -> None:
    for severity, code in expected.items():
        assert exit_code(report(file(finding(severity=severity))), Settings(fail_on=fail_on)) == code
    assert exit_code(report(file()), Settings(fail_on=fail_on)) == 0
    failed = FileReport("x", "failed", error="truncated")
    assert exit_code(report(file(finding()), failed), Settings(fail_on=fail_on)) == 3


def test_strict_makes_findings_of_what_is_undecided() -> None:
    def of() -> Report:
        unknowns = [
            Unknown("store to out_ptr0", "index is loaded", 30),
            Unknown("statement", "not understood", 40),
        ]
        return report(
            file(
                finding("AL901", line=40),
                unknowns=unknowns,
                counts=Counts(unknown=1, unmodelled_statements=1),
            )
        )

    relaxed, strict = of(), of()
    select(relaxed, Settings())
    assert codes(relaxed) == ["AL901"] and exit_code(relaxed, Settings()) == 0
    select(strict, Settings(strict=True))
    assert [(f.code, f.severity, f.loc.line) for f in strict.files[0].findings] == [
        ("AL901", "error", 40),
        ("AL904", "error", 30),
    ]
    assert "store to out_ptr0 is undecided: index is loaded" in strict.files[0].findings[1].message
    assert exit_code(strict, Settings(strict=True)) == 1


def test_strict_never_passes_what_is_counted_undecided() -> None:
    of = report(file(counts=Counts(unknown=3)))
    select(of, Settings(strict=True))
    assert codes(of) == ["AL904"]


def test_select_and_ignore() -> None:
    of = report(file(finding("AL202"), finding("AL101"), finding("AL203")))
    select(of, Settings(select=parse_codes(["AL2"]), ignore=parse_codes(["AL203"])))
    assert codes(of) == ["AL202"]
