"""Who may import whom, as one table; and that only the command line prints."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parent.parent

#: Each package (a folder, or a module beside them) and the packages its modules may import from. What stands
#: lower in the table may know what stands higher, never the other way round.
LAYERS: dict[str, set[str]] = {
    "analyzer.symbolic": {"analyzer.model.record"},
    "analyzer.model": {"analyzer.symbolic"},
    "analyzer.sources": {"analyzer.model"},
    "analyzer.cxx": {"analyzer.model"},
    "analyzer.kernels": {"analyzer.symbolic", "analyzer.model"},
    "analyzer.kernels.interpret": {"analyzer.symbolic", "analyzer.model", "analyzer.cxx", "analyzer.kernels"},
    "analyzer.kernels.cpp": {
        "analyzer.symbolic", "analyzer.model", "analyzer.cxx", "analyzer.kernels", "analyzer.kernels.interpret",
    },
    "analyzer.kernels.metal": {
        "analyzer.symbolic", "analyzer.model", "analyzer.cxx", "analyzer.kernels", "analyzer.kernels.interpret",
    },
    "analyzer.kernels.triton": {
        "analyzer.symbolic", "analyzer.model", "analyzer.kernels", "analyzer.kernels.interpret",
    },
    "analyzer.wrapper": {
        "analyzer.symbolic", "analyzer.model", "analyzer.cxx", "analyzer.kernels.cpp", "analyzer.kernels.metal",
        "analyzer.kernels.triton",
    },
    "analyzer.toml_table": {"analyzer.model"},
    "analyzer.runtimes": {"analyzer.symbolic", "analyzer.model", "analyzer.toml_table"},
    "analyzer.bounds": {"analyzer.symbolic", "analyzer.model"},
    "analyzer.memory": {"analyzer.symbolic", "analyzer.model", "analyzer.runtimes", "analyzer.bounds"},
    "analyzer.analysis": {
        "analyzer.symbolic", "analyzer.model", "analyzer.runtimes", "analyzer.bounds", "analyzer.memory",
    },
    "analyzer.checks": {
        "analyzer.symbolic", "analyzer.model", "analyzer.runtimes", "analyzer.bounds", "analyzer.memory",
        "analyzer.analysis",
    },
    "analyzer.concurrency": {
        "analyzer.symbolic", "analyzer.model", "analyzer.runtimes", "analyzer.bounds", "analyzer.memory",
        "analyzer.analysis", "analyzer.checks",
    },
    "analyzer.pipeline": {
        "analyzer.symbolic", "analyzer.model", "analyzer.runtimes", "analyzer.bounds", "analyzer.memory",
        "analyzer.analysis", "analyzer.sources", "analyzer.wrapper", "analyzer.checks", "",
    },
    "analyzer.config": {"analyzer.model", "analyzer.runtimes", "analyzer.toml_table"},
    "analyzer.reporting": {
        "analyzer.symbolic", "analyzer.model", "analyzer.runtimes", "analyzer.bounds", "analyzer.memory",
        "analyzer.analysis", "analyzer.sources", "analyzer.config",
    },
    "analyzer.reporting.formats": {"analyzer.model", "analyzer.runtimes", "analyzer.config", "analyzer.reporting"},
    "analyzer.reporting.pages": {
        "analyzer.symbolic", "analyzer.model", "analyzer.runtimes", "analyzer.bounds", "analyzer.memory",
        "analyzer.analysis", "analyzer.sources", "analyzer.config", "analyzer.reporting", "analyzer.reporting.formats",
    },
    "rules": {
        "analyzer.symbolic", "analyzer.model", "analyzer.runtimes", "analyzer.memory", "analyzer.analysis",
        "analyzer.checks", "analyzer.concurrency", "analyzer.config", "analyzer.reporting",
    },
    "integrations": {"analyzer.model", "analyzer.config", "analyzer.pipeline", "analyzer.reporting",
                     "analyzer.reporting.formats", "rules"},
    "commands": {
        "analyzer.symbolic", "analyzer.model", "analyzer.runtimes", "analyzer.analysis", "analyzer.sources",
        "analyzer.config", "analyzer.pipeline", "analyzer.reporting", "analyzer.reporting.formats",
        "analyzer.reporting.pages", "rules", "integrations", "",
    },
}  # fmt: skip

#: Modules outside the table: the entry points, and the script that writes the pages of the rules.
FREE = {"cli", "analyzer", "rules.docs", ""}

FILES = sorted(
    p for top in ("analyzer", "rules", "integrations", "commands") for p in (ROOT / top).rglob("*.py")
)


def package(module: str) -> str:
    """The entry of the table a module belongs to: its longest prefix there; "" for the root package."""
    parts = module.split(".")
    known = (".".join(parts[:n]) for n in range(len(parts), 0, -1))
    return next((p for p in known if p in LAYERS), module if module in FREE else "")


def imported(here: str, is_package: bool, text: str) -> Iterator[str]:
    """Modules of the product that a text imports, ``import`` and ``from`` both, absolute or relative."""
    parts = here.split(".") + (["__init__"] if is_package else [])
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (a.name.removeprefix("aoti_lint").lstrip(".") for a in node.names if _own(a.name))
        elif isinstance(node, ast.ImportFrom):
            base = parts[: len(parts) - node.level] if node.level else []
            name = ".".join([*base, *(node.module.split(".") if node.module else [])])
            if node.level or _own(name):
                name = name.removeprefix("aoti_lint").lstrip(".")
                yield from (f"{name}.{a.name}".lstrip(".") for a in node.names)


def _own(name: str) -> bool:
    return name.split(".")[0] in ("aoti_lint", "analyzer", "rules", "cli", "integrations", "commands")


def violations(here: str, is_package: bool, text: str) -> list[str]:
    """Imports of a module that the table does not allow."""
    if here in FREE:
        return []
    mine = package(here)
    if not mine:
        return [f"{here} belongs to no package of the table"]
    allowed = LAYERS[mine] | {mine}
    return [
        f"{here} imports {name}"
        for name in imported(here, is_package, text)
        if package(name) not in allowed and name not in allowed and not _within(name, allowed)
    ]


def _within(name: str, allowed: set[str]) -> bool:
    return any(name.startswith(f"{a}.") and a not in LAYERS and a for a in allowed)


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_follow_the_table(path: Path) -> None:
    assert not violations(module_name(path), path.name == "__init__.py", path.read_text())


@pytest.mark.parametrize(
    ("module", "text"),
    [
        ("analyzer.model.program", "from ..memory.storage import Storage"),
        ("analyzer.model.program", "from .. import memory"),
        ("analyzer.model.program", "import aoti_lint.analyzer.memory.storage"),
        ("analyzer.model.program", "import aoti_lint.analyzer.memory as m, os"),
        ("analyzer.model.program", "from aoti_lint.analyzer.memory import storage"),
        ("analyzer.bounds.solve", "def late():\n    from ..runtimes import resolve"),
        ("analyzer.checks.views", "from ..reporting.footprints import rows"),
        ("analyzer.kernels.cpp.reader", "from ..metal import reader"),
        ("analyzer.kernels.metal.reader", "from ...runtimes import resolve"),
        ("rules.al201_kernel_read_out_of_bounds", "from ..analyzer.wrapper.reader import read_program"),
        ("rules.al201_kernel_read_out_of_bounds", "from .. import cli"),
        ("analyzer.pipeline", "from ..rules.registry import run_rules"),
        ("analyzer.sources.disk", "from ..cxx import nodes"),
        ("analyzer.symbolic.terms", "from ..model.program import Program"),
        ("analyzer.config", "from .reporting.formats import FORMATS"),
        ("analyzer.pipeline", "from .reporting.cache import Results"),
        ("analyzer.reporting.cache", "from ..pipeline import Task"),
        ("analyzer.reporting.suppress", "from .formats import plural"),
        ("analyzer.new_folder.part", "import ast"),
    ],
)
def test_a_planted_violation_is_seen(module: str, text: str) -> None:
    assert violations(module, False, text)


def test_every_package_of_the_table_exists() -> None:
    for name in LAYERS:
        path = ROOT / name.replace(".", "/")
        assert path.is_dir() or path.with_suffix(".py").is_file(), name


def test_a_package_knows_only_what_stands_above_it() -> None:
    above: set[str] = set()
    for name, known in LAYERS.items():
        assert known & set(LAYERS) <= above, name
        above.add(name)


def test_every_package_is_installed() -> None:
    """The list in pyproject.toml is what a wheel holds."""
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    found = {module_name(p) for p in FILES if p.name == "__init__.py"}
    assert set(listed) == {"aoti_lint", *(f"aoti_lint.{name}" for name in found)}


def test_few_modules_lie_flat() -> None:
    assert len(list((ROOT / "analyzer").glob("*.py"))) <= 6


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_only_the_command_line_prints(path: Path) -> None:
    if path.name == "docs.py":
        return
    calls = [
        n for n in ast.walk(ast.parse(path.read_text()))
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == "print"
    ]  # fmt: skip
    assert not calls
