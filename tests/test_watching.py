"""Linting inside a process: the context manager, the pytest plugin, and executors. The exports are played."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import aoti_lint
import pytest
from aoti_lint.integrations.watching import CACHE

DATA = Path(__file__).parent / "data/slice.wrapper.cpp"
METAL = "executorch-metal"

#: What an export does with the cache folder, without torch.
EXPORT = f"""
import os, pathlib
def export():
    folder = pathlib.Path(os.environ[{CACHE!r}], "ab")
    folder.mkdir()
    (folder / "cab.wrapper.cpp").write_text(pathlib.Path({str(DATA)!r}).read_text())
"""


def export() -> None:
    space: dict[str, object] = {}
    exec(EXPORT + "\nexport()", space)


# -- the context manager ------------------------------------------------------------------------------


def test_errors_raise_and_say_what_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CACHE, "/before")
    with pytest.raises(aoti_lint.LintError, match="AL202") as e, aoti_lint.watch(METAL):
        assert os.environ[CACHE] != "/before"
        export()
    assert os.environ[CACHE] == "/before"
    assert {f.code for file in e.value.report.files for f in file.findings} >= {"AL202", "AL203"}


def test_what_passes_has_a_report(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(CACHE, raising=False)
    with aoti_lint.watch("libtorch") as watched:
        export()
    assert CACHE not in os.environ
    assert watched.report is not None and watched.report.count("error") == 0
    assert (watched.folder / "ab/cab.wrapper.cpp").is_file()  # what was exported may still be needed


def test_never_raises_but_reports() -> None:
    with aoti_lint.watch(METAL, fail_on="never") as watched:
        export()
    assert watched.report is not None and watched.report.count("error") > 0


def test_what_cannot_be_analysed_raises() -> None:
    with pytest.raises(aoti_lint.LintError, match="error"), aoti_lint.watch("libtorch") as watched:
        (watched.folder / "cab.wrapper.cpp").write_text(DATA.read_text()[:2000])


def test_the_blocks_own_error_comes_first() -> None:
    with pytest.raises(ZeroDivisionError), aoti_lint.watch(METAL):
        export()
        raise ZeroDivisionError


def test_nothing_exported_is_said() -> None:
    with pytest.warns(UserWarning, match="nothing was exported"), aoti_lint.watch() as watched:
        pass
    assert watched.report is None
    with pytest.warns(UserWarning), aoti_lint.watch() as watched:
        (watched.folder / "notes.py").write_text("x = 1\n")
    assert watched.report is None


def test_wrong_values_are_refused_at_once() -> None:
    with pytest.raises(Exception, match="unknown runtime 'metl'"), aoti_lint.watch("metl"):
        raise AssertionError("the block must not run")


def test_caches_go_when_the_process_ends_unless_something_was_found() -> None:
    code = EXPORT + (
        "import aoti_lint\n"
        "for runtime in ('libtorch', 'executorch-metal'):\n"
        "    with aoti_lint.watch(runtime, 'never') as w: export()\n"
        "    print(w.folder)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    clean, found = map(Path, done.stdout.split())
    assert not clean.exists() and found.is_dir()


# -- the plugin ---------------------------------------------------------------------------------------

SUITE = (
    EXPORT
    + """
import pytest

@pytest.fixture
def exported():
    export()

def test_plain(): pass
def test_export(): export()
def test_fixture(exported): pass
def test_broken(): export(); raise ValueError("mine")
"""
)


def suite(folder: Path, *options: str) -> str:
    (folder / "test_suite.py").write_text(SUITE)
    (folder / "pytest.ini").write_text("[pytest]\n")
    call = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rA", *options, "test_suite.py"]
    return subprocess.run(call, cwd=folder, capture_output=True, text=True, check=False).stdout


def plugin_installed() -> bool:
    from importlib.metadata import entry_points

    return any(e.value == "aoti_lint.integrations.pytest_plugin" for e in entry_points(group="pytest11"))


def test_the_plugin_is_found() -> None:
    assert plugin_installed()


def test_the_plugin_fails_the_test_that_exported(tmp_path: Path) -> None:
    out = suite(tmp_path, "--aoti-lint")
    assert "PASSED test_suite.py::test_plain" in out
    assert "FAILED test_suite.py::test_export" in out and "error[AL202]" in out
    assert "ERROR test_suite.py::test_fixture" in out
    assert "FAILED test_suite.py::test_broken - ValueError: mine" in out
    assert "2 failed, 1 passed, 1 error" in out


def test_without_the_option_nothing_changes(tmp_path: Path) -> None:
    plain = {CACHE: str(tmp_path / "cache")}
    (tmp_path / "cache").mkdir()
    (tmp_path / "test_suite.py").write_text(EXPORT + "\ndef test_export(): export()\n")
    call = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "test_suite.py"]
    done = subprocess.run(
        call, cwd=tmp_path, env={**os.environ, **plain}, capture_output=True, text=True, check=False
    )
    assert "1 passed" in done.stdout
    assert (tmp_path / "cache/ab/cab.wrapper.cpp").is_file()


def test_the_plugin_follows_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "aoti-lint.toml").write_text('runtime = "libtorch"\n')
    assert "3 passed" in suite(tmp_path, "--aoti-lint")
    (tmp_path / "aoti-lint.toml").write_text("runtme = 'libtorch'\n")
    (tmp_path / "test_suite.py").unlink()
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--aoti-lint"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 4 and "did you mean 'runtime'" in done.stderr


# -- executors ----------------------------------------------------------------------------------------


def codes(report: object) -> list[list[str]]:
    assert hasattr(report, "files")
    return [[f.code for f in file.findings] for file in report.files]


def test_a_process_pool_gives_the_same_report(tmp_path: Path) -> None:
    paths = [DATA, shutil.copy(DATA, tmp_path / "copy.wrapper.cpp"), "none.wrapper.cpp"]
    with ProcessPoolExecutor(2) as pool:
        many = aoti_lint.check_many(paths, executor=pool, runtime=METAL)
    assert [f.status for f in many.files] == ["analysed", "analysed", "failed"]
    one = aoti_lint.check(paths, runtime=METAL)
    assert codes(many) == codes(one) and "AL202" in codes(many)[0]


@pytest.mark.slow
def test_a_cluster_gives_the_same_report() -> None:
    distributed = pytest.importorskip("distributed")
    with (
        warnings.catch_warnings(),
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        many = aoti_lint.check_many([DATA] * 4, executor=client.get_executor(), runtime=METAL)
    assert codes(many) == codes(aoti_lint.check([DATA] * 4, runtime=METAL))


# -- with torch ---------------------------------------------------------------------------------------


EXPORT_SCRIPT = """\
import torch
model = torch.export.export(torch.nn.Conv2d(3, 8, 3).eval(), (torch.randn(1, 3, 8, 8),))
torch._inductor.aoti_compile_and_package(model, package_path="model.pt2")
"""


@pytest.mark.slow
def test_run_around_a_real_export(tmp_path: Path) -> None:
    """ExecuTorch's Metal runtime has no ``aoti_torch_cpu_convolution``: found in a wrapper that torch writes now."""
    pytest.importorskip("torch")
    (tmp_path / "export.py").write_text(EXPORT_SCRIPT)
    options = ["--runtime", "executorch-metal", "--format", "json", "--cache", "cache"]
    call = [sys.executable, "-m", "aoti_lint", "run", *options, "--", sys.executable, "export.py"]
    done = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    (file,) = json.loads(done.stdout)["files"]
    found = [f for f in file["findings"] if f["op"] == "aoti_torch_cpu_convolution" and f["code"] == "AL402"]
    assert found and {(f["location"]["path"], f["location"]["line"]) for f in found} == {("export.py", 3)}
    assert "aten.convolution" in found[0]["source_nodes"]
    assert (tmp_path / "model.pt2").is_file()


@pytest.mark.slow
def test_a_real_export() -> None:
    torch = pytest.importorskip("torch")

    class Halves(torch.nn.Module):  # type: ignore[misc,name-defined]
        def forward(self, x: object) -> object:
            return torch.cat([x, x + x], 1)  # type: ignore[operator]

    example = (torch.randn(1, 4, 8, 8),)
    with aoti_lint.watch() as watched:
        package = torch._inductor.aoti_compile_and_package(torch.export.export(Halves(), example))
    assert watched.report is not None
    assert all(f.status == "analysed" for f in watched.report.files) and watched.report.count("error") == 0
    assert watched.report.to_json()["summary"]["accesses"]["proved"] > 0
    model = torch._inductor.aoti_load_package(package)  # the cache is still there
    assert torch.equal(model(*example), Halves()(*example))
