"""Running somebody's export command so that every wrapper it generates can be found, and pointing at its script."""

from __future__ import annotations

import ast
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

from ..analyzer.config import ConfigError
from ..analyzer.model.findings import Related, Report
from ..analyzer.model.location import Loc
from ..analyzer.model.record import replace

#: Calls that make Inductor generate a wrapper, by their last name.
_EXPORTS = ("aoti_compile_and_package", "aot_compile", "aot_export", "compile")
NOTHING = (
    "the command generated no AOTInductor wrapper in the Inductor cache (one that is written elsewhere, as with "
    "aot_inductor.output_path, is checked by its path)"
)
_TORCH = ("torch", "_inductor", "inductor", "torch_inductor")


def run(command: list[str], cache: Path) -> int:
    """Runs the command with ``cache`` as Inductor's cache folder; returns its exit code as a shell would.

    Raises :class:`ConfigError` when there is no such command.
    """
    env = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(cache)}
    try:
        cache.mkdir(parents=True, exist_ok=True)
        code = subprocess.run(command, env=env, check=False).returncode
    except OSError as e:
        raise ConfigError(f"cannot run {command[0]}: {e.strerror}") from None
    return 128 - code if code < 0 else code


def nothing_generated(report: Report, cache: Path) -> bool:
    """Whether no wrapper came out of the command; then the report says that, not what an empty folder is."""
    for file in report.files:
        if file.path == str(cache):
            file.path, file.error = "aoti-lint run", NOTHING
            return True
    return False


def point_at_script(report: Report, command: list[str]) -> None:
    """Makes the export call of the command's Python script the place of every finding.

    The place in the wrapper becomes the first related one.  With several export calls, or none that can be seen,
    the place is the script's first line; without a script nothing changes.
    """
    script = next((p for p in map(Path, command) if p.suffix == ".py" and p.is_file()), None)
    if script is None:
        return
    try:
        text = script.read_text(encoding="utf-8")
        calls = list(export_calls(text))
    except (OSError, ValueError, SyntaxError):
        return
    line, column, end_line, end_column = calls[0] if len(calls) == 1 else (1, 1, 0, 0)
    here = Loc(str(script), line, column, end_line, end_column)
    for file in report.files:
        file.findings = [
            replace(f, loc=here, related=(Related("in the wrapper generated for it", f.loc), *f.related))
            for f in file.findings
        ]
        file.lines[here.path, line] = (text.splitlines() or [""])[line - 1]


def export_calls(text: str) -> Iterator[tuple[int, int, int, int]]:
    """First and last position (1-based; the end exclusive) of every call that exports through Inductor."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and _is_export(node.func):
            yield node.lineno, node.col_offset + 1, node.end_lineno or 0, (node.end_col_offset or -1) + 1


def _is_export(function: ast.expr) -> bool:
    """A call by one of the names; ``compile`` only as torch's."""
    if isinstance(function, ast.Name):
        return function.id in _EXPORTS[:-1]
    if not isinstance(function, ast.Attribute) or function.attr not in _EXPORTS:
        return False
    owner = function.value
    name = owner.id if isinstance(owner, ast.Name) else owner.attr if isinstance(owner, ast.Attribute) else ""
    return function.attr != "compile" or name in _TORCH
