"""The command line called in this process."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from aoti_lint import cli

DATA = Path(__file__).parent / "data/slice.wrapper.cpp"
METAL = "executorch-metal@2026-09"


class Result(NamedTuple):
    code: int
    out: str
    err: str


Call = Callable[..., Result]


def caller(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Call:
    """Runs the tool in an empty folder that holds the wrapper as ``m.wrapper.cpp``."""
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR", "AOTI_LINT_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    Path("m.wrapper.cpp").write_text(DATA.read_text())

    def run(*arguments: str, stdin: str = "") -> Result:
        monkeypatch.setattr(sys, "argv", ["aoti-lint", *arguments])
        monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        with pytest.raises(SystemExit) as e:
            cli.main()
        out, err = capsys.readouterr()
        assert isinstance(e.value.code, int)
        return Result(e.value.code, out, err)

    return run


def codes(out: str) -> list[str]:
    return [f["code"] for file in json.loads(out)["files"] for f in file["findings"]]
