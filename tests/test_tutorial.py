"""The tutorial and the page on verdicts, followed as a reader would."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import aoti_lint
import pytest

ROOT = Path(__file__).parent.parent
WRAPPER = "tests/data/slice.wrapper.cpp"


def blocks(page: str, language: str) -> list[str]:
    return re.findall(
        rf"^```{language}\n(.*?)^```$", (ROOT / "docs" / page).read_text(), re.MULTILINE | re.DOTALL
    )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder with the repository's wrapper where the pages say it is."""
    (tmp_path / WRAPPER).parent.mkdir(parents=True)
    (tmp_path / WRAPPER).write_text((ROOT / WRAPPER).read_text())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def tool(line: str) -> subprocess.CompletedProcess[str]:
    call = [sys.executable, "-m", *line.replace("aoti-lint", "aoti_lint", 1).split()]
    return subprocess.run(call, capture_output=True, text=True, check=False)


def test_the_finding_of_the_verdicts_page(folder: Path) -> None:
    (command,) = blocks("verdicts.md", "console")
    (shown,) = blocks("verdicts.md", "text")
    done = tool(command.removeprefix("$ ").strip())
    assert done.returncode == 1 and shown.strip() in done.stdout


def test_findings_then_a_suppression_then_green(folder: Path) -> None:
    read = next(b for b in blocks("tutorial.md", "console") if WRAPPER in b)
    check, rule, report = (line.removeprefix("$ ") for line in read.strip().split("\n"))
    assert tool(check).returncode == 1
    assert tool(rule).returncode == 0
    assert tool(report).returncode == 0 and (folder / "report.html").is_file()
    (folder / "models").mkdir()
    (folder / WRAPPER).rename(folder / "models/slice.wrapper.cpp")
    last = next(b for b in blocks("tutorial.md", "console") if "junit" in b).removeprefix("$ ").strip()
    assert tool(last).returncode == 1
    (config,) = blocks("tutorial.md", "toml")
    (folder / "aoti-lint.toml").write_text(config)
    green = tool(last)
    assert green.returncode == 0, green.stdout
    assert "suppressed by aoti-lint.toml" in green.stdout and (folder / "junit.xml").is_file()


def test_the_programs_are_programs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = blocks("tutorial.md", "python")
    for text in programs:
        compile(text, "tutorial.md", "exec")
    watching = next(p for p in programs if "watch(" in p)
    export = (
        "__import__('pathlib').Path(__import__('os').environ['TORCHINDUCTOR_CACHE_DIR'], 'a.wrapper.cpp')"
    )
    body = f"{export}.write_text({(ROOT / WRAPPER).read_text()!r})"
    space: dict[str, object] = {}
    exec(watching.replace("...", body), space)
    watched = space["watched"]
    assert isinstance(getattr(watched, "report", None).files, list)  # type: ignore[union-attr]
    assert "watch" in aoti_lint.__all__


def test_many_models(folder: Path) -> None:
    (folder / "models").mkdir()
    program = next(p for p in blocks("tutorial.md", "python") if "ProcessPoolExecutor" in p)
    (folder / WRAPPER).rename(folder / "models/slice.wrapper.cpp")
    (folder / "many.py").write_text(program.replace("*.pt2", "*.cpp"))
    done = subprocess.run([sys.executable, "many.py"], capture_output=True, text=True, check=False)
    assert "'analysed': 1" in done.stdout, done.stderr
