"""What people do every day: causes first, inputs given twice, left out or on standard input, and runs that are ended."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from aoti_lint.analyzer.pipeline import check_paths
from aoti_lint.commands.run import _of_release
from aoti_lint.integrations import seen
from aoti_lint.integrations.exporter import export_calls
from aoti_lint.rules.registry import run_rules

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "fixtures/example/c2f.wrapper.cpp"
SLICE = ROOT / "tests/data/slice.wrapper.cpp"


def tool(*arguments: str, cwd: Path, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
    call = [sys.executable, "-m", "aoti_lint", *arguments]
    return subprocess.run(call, cwd=cwd, input=stdin, capture_output=True, text=True, check=False)


# -- causes ---------------------------------------------------------------------------------------------------------


def test_eighteen_findings_have_two_causes(tmp_path: Path) -> None:
    """Three convolutions misread their operands, four views are copied away."""
    (file,) = check_paths([str(EXAMPLE)], run_rules, jobs=1).files
    causes: dict[str, set[str]] = {}
    for f in file.findings:
        causes.setdefault(f.cause, set()).add(f.code)
    assert len(file.findings) == 18
    assert sorted(map(sorted, causes.values())) == [["AL102", "AL202", "AL203"], ["AL401", "AL404"]]
    head = tool("check", str(EXAMPLE), cwd=tmp_path).stdout.splitlines()[2:8]
    assert head[0] == "14 errors and 4 warnings with 2 causes"
    assert head[1].endswith("(6 errors at 3 places)") and head[3].endswith(
        "(8 errors and 4 warnings at 4 places)"
    )
    assert head[2].startswith(
        "     what to do: Export with torch._inductor.config.layout_optimization = False"
    )


def test_errors_come_before_warnings(tmp_path: Path) -> None:
    lines = tool("check", str(EXAMPLE), cwd=tmp_path).stdout.splitlines()
    found = [line.partition("[")[0] for line in lines if line.startswith(("error[", "warning["))]
    assert found == sorted(found)


# -- inputs ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def models(tmp_path: Path) -> Path:
    for name in ("a", "old/b", "node_modules/c", ".git/d"):
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        shutil.copy(SLICE, tmp_path / f"{name}.wrapper.cpp")
    (tmp_path / "link.wrapper.cpp").symlink_to(tmp_path / "a.wrapper.cpp")
    return tmp_path


def names(*paths: str, **options: object) -> list[str]:
    return [Path(f.path).name for f in check_paths(paths, run_rules, jobs=1, **options).files]  # type: ignore[arg-type]


def test_an_input_counts_once(models: Path) -> None:
    a = str(models / "a.wrapper.cpp")
    assert names(a, a, f"{models}/old/../a.wrapper.cpp", str(models / "link.wrapper.cpp")) == [
        "a.wrapper.cpp"
    ]
    assert sorted(names(str(models), a)) == ["a.wrapper.cpp", "b.wrapper.cpp"]


@pytest.mark.parametrize("pattern", ["old", "old/", "b.*", "old/*.cpp", "*/old/*"])
def test_excluded_inputs(models: Path, pattern: str) -> None:
    assert names(str(models), exclude=[pattern]) == ["a.wrapper.cpp"]


def test_a_pattern_for_something_else_excludes_nothing(models: Path) -> None:
    assert len(names(str(models), exclude=["ol", "b.wrapper", "x*"])) == 2


def test_standard_input_has_the_name_it_is_given(tmp_path: Path) -> None:
    done = tool(
        "check", "-", "--stdin-filename", "src/m.wrapper.cpp", "-q", cwd=tmp_path, stdin=SLICE.read_text()
    )
    assert done.returncode == 1 and done.stdout.startswith("src/m.wrapper.cpp:")


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="everything can be read here")
def test_a_folder_that_cannot_be_read_is_one_failed_input(models: Path) -> None:
    (models / "old").chmod(0)
    try:
        files = check_paths([str(models)], run_rules, jobs=1).files
    finally:
        (models / "old").chmod(0o755)
    assert [(Path(f.path).name, f.status) for f in files] == [
        ("a.wrapper.cpp", "analysed"),
        ("old", "failed"),
    ]


def test_one_finding_is_suppressed_by_its_fingerprint(tmp_path: Path) -> None:
    shutil.copy(EXAMPLE, tmp_path / "m.wrapper.cpp")
    found = json.loads(tool("check", "m.wrapper.cpp", "-f", "json", cwd=tmp_path).stdout)["files"][0][
        "findings"
    ]
    chosen = next(f for f in found if f["code"] == "AL203")
    entry = f'[[suppress]]\ncode = "AL203"\nfingerprint = "{chosen["fingerprint"]}"\nreason = "known"\n'
    (tmp_path / "aoti-lint.toml").write_text(entry)
    left = json.loads(tool("check", "m.wrapper.cpp", "-f", "json", cwd=tmp_path).stdout)["files"][0][
        "findings"
    ]
    assert [f for f in found if f != chosen] == left


# -- the command line -----------------------------------------------------------------------------------------------


def test_questions_people_ask(tmp_path: Path) -> None:
    assert tool("-V", cwd=tmp_path).stdout == tool("--version", cwd=tmp_path).stdout
    assert "Commands:" in tool("help", cwd=tmp_path).stdout
    assert "--stdin-filename" in tool("help", "check", cwd=tmp_path).stdout
    unknown = tool("run", "--bogus", "--", "true", cwd=tmp_path)
    assert unknown.returncode == 2 and "No such option: --bogus" in unknown.stderr


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_an_ended_run_reports_what_it_has(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from aoti_lint.analyzer import pipeline\n"
        "real = pipeline.check_source\n"
        "def stops(task, *a, **k):\n"
        "    if 'b.' in task.source.wrapper.path: raise KeyboardInterrupt\n"
        "    return real(task, *a, **k)\n"
        "pipeline.check_source = stops\n"
        "sys.argv = ['aoti-lint', 'check', 'a.wrapper.cpp', 'b.wrapper.cpp', '-q', '--jobs', '1']\n"
        "from aoti_lint.cli import main\n"
        "main()\n"
    )
    for name in "ab":
        shutil.copy(SLICE, tmp_path / f"{name}.wrapper.cpp")
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 130 and "error[AL202]" in done.stdout
    assert done.stderr == "aoti-lint: interrupted: 1 input not looked at, what follows is about the others\n"


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_workers_end_with_their_parent(tmp_path: Path) -> None:
    for n in range(12):
        shutil.copy(EXAMPLE, tmp_path / f"{n}.wrapper.cpp")
    call = [sys.executable, "-m", "aoti_lint", "check", ".", "-q", "--jobs", "2"]
    running = subprocess.Popen(
        call, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    time.sleep(1.5)
    if running.poll() is None:
        os.killpg(running.pid, signal.SIGINT)
    _, err = running.communicate(timeout=60)
    assert running.returncode in (1, 130) and "Traceback" not in err


# -- run ------------------------------------------------------------------------------------------------------------


def test_exports_through_executorch_are_seen() -> None:
    text = (
        "p = to_edge_transform_and_lower(\n    m, partitioner=[x],\n)\ne = exir.to_backend(p, b)\nlower(p)\n"
    )
    assert [(line, end) for line, _, end, _ in export_calls(text)] == [(1, 3), (4, 4)]


def fake_executorch(folder: Path, release: str) -> None:
    backend = folder / "executorch/backends/apple/metal"
    backend.mkdir(parents=True)
    for part in (
        "executorch",
        "executorch/backends",
        "executorch/backends/apple",
        "executorch/backends/apple/metal",
    ):
        (folder / part / "__init__.py").write_text("")
    info = folder / f"executorch-{release}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: executorch\nVersion: {release}\n")


@pytest.mark.parametrize(
    ("release", "runtime"),
    [
        ("1.4.1", "executorch-metal@2026-08"),
        ("1.5.1+cpu", "executorch-metal@2026-09"),
        ("9.0", "executorch-metal@2026-09"),
    ],
)
def test_run_checks_for_the_installed_release(tmp_path: Path, release: str, runtime: str) -> None:
    fake_executorch(tmp_path, release)
    shutil.copy(SLICE, tmp_path / "text")
    (tmp_path / "export.py").write_text(
        "import os, pathlib, shutil\nimport executorch.backends.apple.metal\nprint('exporting')\n"
        "def to_edge_transform_and_lower():\n"
        "    out = pathlib.Path(os.environ['TORCHINDUCTOR_CACHE_DIR'], 'ab')\n"
        "    out.mkdir(parents=True, exist_ok=True)\n"
        "    shutil.copy('text', out / 'c.wrapper.cpp')\n"
        "to_edge_transform_and_lower()\n"
    )
    done = tool("run", "-f", "json", "--", sys.executable, "export.py", cwd=tmp_path)
    (file,) = json.loads(done.stdout)["files"]  # the export's own output is elsewhere
    assert "exporting" in done.stderr and f"ExecuTorch {release.partition('+')[0]}" in done.stderr
    assert file["runtime"]["name"] == runtime
    assert {(f["location"]["path"], f["location"]["line"]) for f in file["findings"]} == {("export.py", 8)}
    told = json.loads(
        tool(
            "run", "-f", "json", "--runtime", "libtorch", "--", sys.executable, "export.py", cwd=tmp_path
        ).stdout
    )
    assert told["files"][0]["runtime"]["name"] == "libtorch@2.15"


def test_a_start_up_module_that_is_there_runs_too(tmp_path: Path) -> None:
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    for folder in (theirs, ours):
        folder.mkdir()
    (theirs / "sitecustomize.py").write_text("print('theirs')\n")
    env = {**os.environ, "PYTHONPATH": str(theirs)}
    seen.environment(ours)
    env["PYTHONPATH"] = os.pathsep.join([str(ours), str(theirs)])
    done = subprocess.run(
        [sys.executable, "-c", "print('end')"], env=env, capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("theirs\nend\n", "")
    assert seen.executorch(ours) is None


def test_a_release_that_cannot_be_told() -> None:
    assert _of_release("")[0] == _of_release("1.99")[0] == "executorch"
    assert _of_release("1.4.0")[0] == "executorch@1.4.0"
