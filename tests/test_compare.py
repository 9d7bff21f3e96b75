"""Several runtimes in one check: the same verdicts as one by one, and a table that says which take the wrapper.

``data/slice.wrapper.cpp`` writes through a view with gaps: libtorch has it in place, executorch-metal@2026-08 makes a
packed copy of it (wrong results) and executorch-metal@2026-01-14 stops the process.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import aoti_lint
import jsonschema
import pytest
from aoti_lint.analyzer import pipeline
from aoti_lint.analyzer.analysis import Analysis
from aoti_lint.analyzer.config import ConfigError, Settings, load, parse_runtimes
from aoti_lint.analyzer.model.findings import FileReport, Finding
from aoti_lint.analyzer.model.location import Loc
from aoti_lint.analyzer.model.record import replace
from aoti_lint.analyzer.pipeline import check_paths
from aoti_lint.analyzer.reporting.compare import compared, merged, row, rows
from aoti_lint.analyzer.reporting.formats import Context, render
from aoti_lint.analyzer.runtimes import families, resolve_all, versions
from aoti_lint.commands.report import report_page
from aoti_lint.rules.registry import run_rules

ROOT = Path(__file__).parent.parent
SLICE = ROOT / "tests/data/slice.wrapper.cpp"
METALS = ROOT / "fixtures/wrappers/metal"
THREE = ("libtorch", "executorch-metal@2026-08", "m1")
VERDICTS = {
    "libtorch@2.15": "takes",
    "executorch-metal@2026-08": "wrong",
    "executorch-metal@2026-01-14": "stops",
}


def tool(*arguments: str) -> subprocess.CompletedProcess[str]:
    call = [sys.executable, "-m", "aoti_lint", *arguments]
    return subprocess.run(call, capture_output=True, text=True, check=False)


# -- which runtimes -----------------------------------------------------------------------------------


def names(*asked: str, device: str = "mps") -> list[str]:
    return [p.name for p in resolve_all(asked, device)]


def test_all_is_every_version_that_runs_the_device() -> None:
    assert names("all", device="cpu") == ["libtorch@2.15", "libtorch-arrayref@2.15"]
    assert names("all", device="cuda") == ["libtorch@2.15", *(v.name for v in versions("executorch-cuda"))]
    assert names("all") == ["libtorch@2.15", *(v.name for v in versions("executorch-metal"))]
    every = {n for device in ("cpu", "cuda", "mps") for n in names("all", device=device)}
    older = {
        n
        for family in families()
        if family.startswith("libtorch")
        for n in (v.name for v in versions(family)[:-1])
    }
    assert every == {v.name for family in families() for v in versions(family)} - older


def test_a_runtime_named_twice_counts_once() -> None:
    assert names("m2b", "executorch-metal", "auto") == ["executorch-metal@2026-09"]
    assert names("m2", "libtorch", "all")[:2] == ["executorch-metal@2026-08", "libtorch@2.15"]
    assert len(names("m2", "all")) == len(names("all"))


def test_names_in_options_and_in_the_configuration(tmp_path: Path) -> None:
    assert parse_runtimes(["all", "m2"]) == ("all", "m2")
    with pytest.raises(ConfigError, match="libtorhc"):
        parse_runtimes(["libtorhc"])
    file = tmp_path / "aoti-lint.toml"
    file.write_text('runtime = ["libtorch", "m2"]')
    assert load(file).runtimes == ("libtorch", "m2")
    file.write_text("runtime = []")
    with pytest.raises(ConfigError, match="runtime"):
        load(file)
    assert tool("kernels", str(SLICE), "--runtime", "all").returncode == 2


# -- the same as one by one ---------------------------------------------------------------------------


def test_every_runtime_reports_what_it_reports_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    before = pipeline.read
    monkeypatch.setattr(
        pipeline, "read", lambda source, *rest: (read.append(source.wrapper.path), before(source, *rest))[1]
    )
    paths = [
        str(METALS / f"{n}.wrapper.cpp") for n in ("c2f_3x3", "cat_dim1_dynamic", "conv", "cond_dynamic")
    ]
    together = check_paths(paths, run_rules, runtime=THREE, jobs=1).files
    assert sorted(read) == sorted(paths)
    assert [(f.path, f.runtime) for f in together] == [(p, n) for p in paths for n in names(*THREE)]
    for file in together:
        (alone,) = check_paths([file.path], run_rules, runtime=file.runtime, jobs=1).files
        assert alone.to_json() == file.to_json()


def test_processes_and_the_python_interface(tmp_path: Path) -> None:
    paths = [tmp_path / f"{n}.wrapper.cpp" for n in range(4)]
    for path in paths:
        path.write_text(SLICE.read_text())
    report = aoti_lint.check(paths, THREE, jobs=2)
    assert [f.runtime for f in report.files] == [*VERDICTS] * 4
    assert [r.verdict for r in rows(report)] == [*VERDICTS.values()] * 4


# -- verdicts -----------------------------------------------------------------------------------------


def finding(code: str, severity: str, stops: bool = False) -> Finding:
    return Finding(code, "a-name", severity, f"{code} {stops}", Loc("a", 1), stops=stops)  # type: ignore[arg-type]


def test_the_gravest_finding_decides_and_comes_first() -> None:
    file = FileReport("a", "analysed", runtime="r")
    assert row(file).verdict == "takes"
    note, warning, wrong = finding("AL212", "note"), finding("AL306", "warning"), finding("AL401", "error")
    stop = finding("AL103", "error", stops=True)
    for findings, verdict in (
        ([note], "takes"), ([note, warning], "warnings"), ([warning, wrong], "wrong"),
        ([note, warning, wrong, wrong, stop], "stops"),
    ):  # fmt: skip
        assert row(replace(file, findings=findings)).verdict == verdict
    got = row(replace(file, findings=[note, warning, wrong, wrong, stop]))
    assert [(r.code, r.count) for r in got.reasons] == [
        ("AL103", 1),
        ("AL401", 2),
        ("AL306", 1),
        ("AL212", 1),
    ]
    assert row(FileReport("a", "failed", "no")).verdict == "failed"


def test_the_message_of_a_code_is_of_one_that_stops() -> None:
    file = FileReport(
        "a", "analysed", runtime="r", findings=[finding("AL405", "error"), finding("AL405", "error", True)]
    )
    assert row(file).reasons[0].message == "AL405 True"


# -- formats ------------------------------------------------------------------------------------------


def test_a_table_for_one_wrapper() -> None:
    done = tool("check", str(SLICE), *(f"--runtime={n}" for n in THREE))
    assert done.returncode == 1
    table = [line.split() for line in done.stdout.splitlines()]
    assert ["libtorch@2.15", "takes", "it", "0", "0", "0"] in table
    assert any(line[:2] == ["executorch-metal@2026-01-14", "stops"] for line in table)
    assert any(line[:3] == ["executorch-metal@2026-08", "wrong", "results"] for line in table)
    assert "AL103 view-rejected on executorch-metal@2026-01-14: it refuses the view" in done.stdout
    assert "error[" not in done.stdout
    everything = tool("check", str(SLICE), "--verbose", *(f"--runtime={n}" for n in THREE)).stdout
    assert "error[AL202]" in everything and "error[AL103]" in everything


def test_a_table_over_many_wrappers(tmp_path: Path) -> None:
    for n in range(3):
        (tmp_path / f"{n}.wrapper.cpp").write_text(SLICE.read_text())
    (tmp_path / "cut.wrapper.cpp").write_text(SLICE.read_text()[:3000])
    done = tool("check", str(tmp_path), *(f"--runtime={n}" for n in THREE))
    assert done.returncode == 3
    lines = [line.split() for line in done.stdout.splitlines()]
    assert ["libtorch@2.15", "3", "3", "0", "0", "0"] in lines
    assert any(line[:6] == ["executorch-metal@2026-08", "3", "0", "0", "3", "0"] for line in lines)
    assert any(line[:6] == ["executorch-metal@2026-01-14", "3", "0", "0", "0", "3"] for line in lines)
    assert "AL103 in 3" in done.stdout and "1 wrapper not analysed" in done.stdout


def test_a_rule_that_breaks_under_one_runtime(tmp_path: Path) -> None:
    def rules(analysis: Analysis) -> list[Finding]:
        if analysis.profile.name == "libtorch@2.15":
            raise ValueError("broken")
        return run_rules(analysis)

    for n in range(2):
        (tmp_path / f"{n}.wrapper.cpp").write_text(SLICE.read_text())
    report = check_paths([str(tmp_path)], rules, runtime=THREE, jobs=1)
    assert [r.verdict for r in rows(report)] == ["failed", "wrong", "stops"] * 2
    text = render("text", report, Context())
    assert re.search(r"^libtorch@2.15 +2 +0 +0 +0 +0 +not analysed 2$", text, re.MULTILINE)
    each = render("text", report, Context(verbose=True))
    assert re.search(r"^libtorch@2.15 +not analysed .*ValueError: broken$", each, re.MULTILINE)


def test_exit_codes_follow_the_worst_runtime() -> None:
    assert tool("check", str(SLICE), "--runtime=libtorch", "--runtime=libtorch-arrayref").returncode == 0
    assert tool("check", str(SLICE), "--runtime=libtorch", "--runtime=m2").returncode == 1
    assert tool("check", str(SLICE), "--runtime=m2", "--runtime=m1", "--fail-on=never").returncode == 0
    assert tool("check", str(SLICE), "--runtime=libtorch", "--runtime=nothing").returncode == 2


def test_json_carries_a_row_for_each_and_stays_as_it_was_for_one() -> None:
    schema = json.loads((ROOT / "analyzer/reporting/formats/schema.json").read_text())
    report = aoti_lint.check(SLICE, THREE)
    data = json.loads(render("json", report, Context()))
    jsonschema.validate(data, schema)
    assert {r["runtime"]["name"]: r["verdict"] for r in data["runtimes"]} == VERDICTS
    assert [r["runtime"] for r in data["runtimes"]] == [f["runtime"] for f in data["files"]]
    for got, file in zip(data["runtimes"], data["files"], strict=True):
        assert got["errors"] == sum(f["severity"] == "error" for f in file["findings"])
        assert sum(r["count"] for r in got["reasons"]) == len(file["findings"])
    alone = json.loads(render("json", aoti_lint.check(SLICE, "m2"), Context()))
    assert set(alone) == {"schema", "tool", "files", "summary"}


def test_services_see_a_place_once() -> None:
    report = aoti_lint.check(SLICE, (*THREE, "executorch-metal@2026-09"))
    assert compared(report)
    (file,) = merged(report).files
    prints = [f.fingerprint for f in file.findings]
    assert len(set(prints)) == len(prints)
    shared = [f for f in file.findings if f.code == "AL202"]
    assert [f.message.endswith("[executorch-metal@2026-08 and 1 more]") for f in shared] == [True]
    assert {f.code for f in file.findings} == {f.code for r in report.files for f in r.findings}
    assert len(json.loads(render("gitlab", report, Context()))) == len(prints)
    assert render("junit", report, Context()).count("<testsuite ") == 1
    alone = aoti_lint.check(SLICE, "m2")
    assert merged(alone) is alone


def test_the_page_has_the_table_and_leads_to_each_runtime() -> None:
    text, failures = report_page(str(SLICE), run_rules, Settings(runtimes=THREE))
    assert not failures and 'class="verdicts"' in text
    for n, name in enumerate(VERDICTS, 1):
        assert f'<a href="#w{n}">{name}</a>' in text and f'id="w{n}"' in text
    assert ">stops<" in text and ">wrong results<" in text and ">takes it<" in text
    alone, _ = report_page(str(SLICE), run_rules, Settings(runtimes=("m2",)))
    assert 'class="verdicts"' not in alone


def test_the_example_of_the_docs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    page = (ROOT / "docs/runtimes.md").read_text()
    block = next(
        b for b in page.split("```console\n")[1:] if b.startswith("$ aoti-lint check fixtures/example")
    )
    command, *shown = block.split("…")[0].splitlines()
    done = tool(*command.removeprefix("$ aoti-lint ").split())
    assert [line for line in shown if line] == done.stdout.splitlines()[: len(shown)]


def test_run_under_several(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("export.py").write_text(
        "import os, pathlib\n"
        f"text = pathlib.Path({str(SLICE)!r}).read_text()\n"
        "pathlib.Path(os.environ['TORCHINDUCTOR_CACHE_DIR'], 'a.wrapper.cpp').write_text(text)\n"
    )
    options = [f"--runtime={n}" for n in THREE]
    done = tool("run", *options, "--cache", "kept", "--", sys.executable, "export.py")
    assert done.returncode == 1
    assert [line.split()[0] for line in done.stdout.splitlines()[2:5]] == [*VERDICTS]
