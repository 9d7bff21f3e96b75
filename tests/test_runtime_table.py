"""The script behind the table in docs/runtimes.md, and the table itself."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from aoti_lint.analyzer.runtimes import resolve_all

ROOT = Path(__file__).parent.parent


def test_the_script_counts_wrappers(tmp_path: Path) -> None:
    for n in range(2):
        text = (ROOT / "tests/data/slice.wrapper.cpp").read_text()
        (tmp_path / f"{n}.wrapper.cpp").write_text(text)
    (tmp_path / "cut.wrapper.cpp").write_text(text[:2000])
    call = [sys.executable, str(ROOT / "scripts/runtime_table.py"), str(tmp_path)]
    done = subprocess.run(call, capture_output=True, text=True, check=True).stdout
    assert "| `libtorch@2.15` | 2 | 0 | 0 | 0 |  |" in done
    assert "| `executorch-metal@2026-01-14` | 0 | 0 | 0 | 2 | AL103 view-rejected 2 |" in done
    assert re.search(r"^\| `executorch-metal@2026-08` \| 0 \| 0 \| 2 \| 0 \| AL202 ", done, re.MULTILINE)


def test_the_table_of_the_docs_has_every_version_and_adds_up() -> None:
    text = (ROOT / "docs/runtimes.md").read_text()
    rows = re.findall(r"^\| `([\w-]+@[\w.-]+)` \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|", text, re.MULTILINE)
    assert [name for name, *_ in rows] == [p.name for p in resolve_all(["all"], "mps")]
    for name, takes, warned, wrong, stops in rows:
        assert int(takes) + int(wrong) + int(stops) == 182 and int(warned) <= int(takes), name
