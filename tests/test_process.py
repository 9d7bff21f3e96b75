"""The command as a process of its own: what it imports, and how it ends."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def process(*arguments: str, code: str | None = None) -> subprocess.CompletedProcess[str]:
    start = ["-c", code] if code else ["-m", "aoti_lint"]
    return subprocess.run([sys.executable, *start, *arguments], capture_output=True, text=True, check=False)


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys, typer; sys.argv = ['aoti-lint', 'check', '--help']\n"
        "brought = set(sys.modules)\n"
        "from aoti_lint.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'numpy', 'islpy', 'clang', 'networkx', 'rich', 'aoti_lint.analyzer.model.program', 'asyncio'} & (set(sys.modules) - brought)\n"
        "assert not heavy, heavy\n"
    )
    done = process(code=code)
    assert done.returncode == 0, done.stderr
    assert "--write-baseline FILE" in done.stdout


def test_an_ordinary_check_imports_only_what_it_needs() -> None:
    code = (
        "import sys; sys.argv = ['aoti-lint', 'check', 'fixtures/example/c2f.wrapper.cpp']\n"
        "from aoti_lint.cli import main\n"
        "try: main()\n"
        "except SystemExit as e: assert e.code == 1, e.code\n"
        "heavy = {'typer', 'numpy', 'islpy', 'networkx', 'rich', 'dataclasses', 'logging', 'email'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parent.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_version_and_help() -> None:
    assert process("--version").stdout.startswith("aoti-lint ")
    top = process("--help").stdout
    for command in ("check", "run", "rule", "runtimes", "kernels", "graph"):
        assert f"  {command} " in top
    assert "Exit codes: 0 nothing found" in top


def test_a_reader_that_leaves_is_no_error() -> None:
    script = f"{sys.executable} -m aoti_lint rule all --format json | head -c 10; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
