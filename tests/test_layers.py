"""Who may import whom: the architecture page's arrows, held."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ANALYZER = sorted((ROOT / "analyzer").rglob("*.py"))
RULES = sorted((ROOT / "rules").glob("*.py"))


def imported(path: Path) -> set[str]:
    """Modules a file imports, relative ones resolved against the repository."""
    here = path.relative_to(ROOT).with_suffix("").parts
    out = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            base = here[: len(here) - node.level] if node.level else ()
            out.add(".".join((*base, *(node.module or "").split("."))).strip("."))
        elif isinstance(node, ast.Import):
            out |= {a.name for a in node.names}
    return out


@pytest.mark.parametrize("path", ANALYZER, ids=lambda p: str(p.relative_to(ROOT)))
def test_the_analyzer_knows_no_rules_and_no_command_line(path: Path) -> None:
    assert not {m for m in imported(path) if m.split(".")[0] in ("rules", "cli")}


@pytest.mark.parametrize("path", RULES, ids=lambda p: p.name)
def test_rules_know_no_command_line_and_no_frontend(path: Path) -> None:
    if path.name == "docs.py":  # writes the page of the command line
        return
    assert not {m for m in imported(path) if m.startswith(("cli", "analyzer.frontend", "analyzer.sources"))}


@pytest.mark.parametrize("path", ANALYZER + RULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_only_the_command_line_prints(path: Path) -> None:
    if path.name == "docs.py":
        return
    calls = [
        n for n in ast.walk(ast.parse(path.read_text()))
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == "print"
    ]  # fmt: skip
    assert not calls


def test_the_model_has_no_syntax_in_it() -> None:
    for name in ("program.py", "expr/core.py", "memory.py", "facts.py"):
        assert not {m for m in imported(ROOT / "analyzer" / name) if "frontend" in m}


def test_modules_stay_small() -> None:
    big = {
        str(p.relative_to(ROOT)): n
        for p in [*ANALYZER, *RULES, ROOT / "cli.py"]
        if (n := len(p.read_text().splitlines())) > 400
    }
    assert not big
