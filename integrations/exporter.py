"""Running somebody's export command so that every wrapper it generates can be found, and pointing at its script."""

from __future__ import annotations

import ast
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from ..analyzer.config import ConfigError
from ..analyzer.model.findings import Related, Report
from ..analyzer.model.location import Loc
from ..analyzer.model.record import replace
from . import seen

#: Calls that make Inductor generate a wrapper, by their last name.
_EXPORTS = (
    "aoti_compile_and_package", "aot_compile", "aot_export", "to_edge_transform_and_lower", "to_backend", "compile",
)  # fmt: skip
NOTHING = (
    "the command generated no AOTInductor wrapper in the Inductor cache (one that is written elsewhere, as with "
    "aot_inductor.output_path, is checked by its path)"
)
_TORCH = ("torch", "_inductor", "inductor", "torch_inductor")


def run(command: list[str], cache: Path, *, to_stderr: bool = False) -> tuple[int, str | None]:
    """Runs the command with ``cache`` as Inductor's cache folder; its exit code as a shell would say it, and the release
    of ExecuTorch whose backend it imported (:func:`.seen.executorch`).

    ``to_stderr``: what the command prints goes there, as standard output is for a report.
    Raises :class:`ConfigError` when there is no such command.
    """
    with tempfile.TemporaryDirectory(prefix="aoti-lint-seen-") as notes:
        try:
            env = {**os.environ, **seen.environment(Path(notes)), "TORCHINDUCTOR_CACHE_DIR": str(cache)}
            cache.mkdir(parents=True, exist_ok=True)
            out = 2 if to_stderr else None
            code = subprocess.run(command, env=env, stdout=out, check=False).returncode
        except KeyboardInterrupt:
            code = 130
        except OSError as e:
            raise ConfigError(f"cannot run {command[0]}: {e.strerror}") from None
        return _as_shell(code), seen.executorch(Path(notes))


def _as_shell(code: int) -> int:
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

    The place in the wrapper becomes the first related one.  With several export calls it is the first of them; with
    none that can be seen the script's first line; without a script nothing changes.
    """
    script = next((p for p in map(Path, command) if p.suffix == ".py" and p.is_file()), None)
    if script is None:
        return
    try:
        text = script.read_text(encoding="utf-8")
        calls = list(export_calls(text))
    except (OSError, ValueError, SyntaxError):
        return
    line, column, end_line, end_column = min(calls, default=(1, 1, 0, 0))
    whose = "it" if len(calls) < 2 else f"this or another of the script's {len(calls)} export calls"
    here = Loc(str(script), line, column, end_line, end_column)
    for file in report.files:
        file.findings = [
            replace(
                f, loc=here, related=(Related(f"in the wrapper generated for {whose}", f.loc), *f.related)
            )
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
