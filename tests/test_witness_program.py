"""The programs that repeat a finding: built and run, the sanitizer sees what the finding says."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from aoti_lint.analyzer.config import ConfigError
from aoti_lint.analyzer.pipeline import check_paths
from aoti_lint.analyzer.reporting.witness_program import _HEAD, _cond, _expr, _names
from aoti_lint.analyzer.symbolic import (
    Cond,
    Expr,
    compare,
    const,
    evaluate,
    evaluate_cond,
    floordiv,
    maximum,
    minimum,
    mod,
    sym,
    tdiv,
    tmod,
    where,
)  # fmt: skip
from aoti_lint.commands.witness import program_for
from aoti_lint.rules.registry import run_rules
from typer.testing import CliRunner

from .execution.build import CXX

ROOT = Path(__file__).parent.parent
needs_compiler = pytest.mark.skipif(CXX is None, reason="no g++")
#: File, runtime and which finding.
CASES = [
    ("fixtures/AL201/bad.wrapper.cpp", "libtorch", 1),
    ("fixtures/AL201/bad_before.wrapper.cpp", "libtorch", 1),
    ("fixtures/AL202/bad.wrapper.cpp", "libtorch", 1),
    ("fixtures/wrappers/metal/cat_dim1_dynamic.wrapper.cpp", "executorch-metal", 2),
    ("fixtures/example/c2f.wrapper.cpp", "executorch-metal", 1),  # megabytes past the end
    ("tests/execution/fixtures/max_pool.wrapper.cpp", "libtorch", 1),
]


def ran(text: str, folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    source = folder / "witness.cpp"
    source.write_text(text)
    build = [
        str(CXX),
        "-std=c++11",
        "-Wall",
        "-Werror",
        "-g",
        *options,
        str(source),
        "-o",
        str(folder / "witness"),
    ]
    built = subprocess.run(build, capture_output=True, text=True)
    assert not built.returncode, built.stderr
    return subprocess.run([str(folder / "witness")], capture_output=True, text=True, timeout=60)


@needs_compiler
@pytest.mark.parametrize(
    ("file", "runtime", "number"), CASES, ids=lambda x: Path(x).name if isinstance(x, str) else None
)
def test_the_sanitizer_sees_it(file: str, runtime: str, number: int, tmp_path: Path) -> None:
    text, failures = program_for(str(ROOT / file), run_rules, number, runtime)
    assert not failures
    findings = check_paths([str(ROOT / file)], run_rules, runtime=runtime, jobs=1).files[0].findings
    found = [f for f in findings if f.code in ("AL201", "AL202")][number - 1]
    done = ran(text, tmp_path, "-fsanitize=address")
    assert done.returncode not in (0, 2)
    assert "AddressSanitizer" in done.stderr
    kind = "READ" if found.code == "AL201" else "WRITE"
    assert f"{kind} of size 1" in done.stderr or f"{kind} memory access" in done.stderr
    # The program works the element out for itself; the finding names the same.
    shown = re.search(r"element (-?\d+) of (\d+)", done.stdout)
    assert shown and shown[1] in re.findall(r"-?\d+", found.message) and shown[2] in found.message


@needs_compiler
def test_a_point_that_is_no_iteration_is_told(tmp_path: Path) -> None:
    """The program is a check of the claim, so it must not touch anything where the claim is wrong."""
    text, _ = program_for(str(ROOT / CASES[3][0]), run_rules, 1, "executorch-metal")
    moved = re.sub(r"(const int64_t \w*xindex = INT64_C\()\d+", r"\g<1>999999", text)
    assert moved != text
    done = ran(moved, tmp_path)
    assert (done.returncode, done.stdout) == (2, "no such iteration\n")


X, Y = sym("x0"), sym("operator")
EXPRESSIONS: list[Expr] = [
    const(0), const(-(1 << 63)), X * -3 + 7, X * X * Y - 1, floordiv(X, 4) + floordiv(Y * X, const(5)), mod(X - 9, const(7)),
    tdiv(X - 20, const(3)), tmod(X - 20, const(3)), minimum(X, Y, const(3)), maximum(X - 40, Y),
    where(compare(">=", X, 10), Y, X + 1),
]  # fmt: skip
CONDITIONS: list[Cond] = [
    compare("<", X, Y), compare("==", X, Y), compare("!=", X * 2, 7) & compare(">=", Y, 0),
    compare("<", X, 0) | compare("<", Y, 0), ~compare("<=", X, Y),
]  # fmt: skip


@needs_compiler
def test_expressions_mean_the_same_in_cpp(tmp_path: Path) -> None:
    """Every operation at points of both signs, the symbols having names that C++ reserves."""
    points = [{"x0": x, "operator": y} for x in (-21, -8, -1, 0, 3, 10, 22) for y in (-7, 0, 3, 64)]
    names = _names(points[0])
    lines, expected = [], []
    for p in points:
        lines.append("{" + "".join(f" const int64_t {names[n]} = {x};" for n, x in p.items()))
        lines += [f'std::printf("%" PRId64 "\\n", {_expr(e, names)});' for e in EXPRESSIONS]
        lines += [f'std::printf("%d\\n", int({_cond(c, names)}));' for c in CONDITIONS]
        lines.append("}")
        expected += [str(evaluate(e, p)) for e in EXPRESSIONS]
        expected += [str(int(evaluate_cond(c, p))) for c in CONDITIONS]
    head = _HEAD.format(code="", message="", path="", line=0, runtime="")
    done = ran(f"{head}int main() {{\n" + "\n".join(lines) + "\n}\n", tmp_path, "-Wno-unused")
    assert done.stdout.split() == expected


def test_the_command() -> None:
    from aoti_lint.cli import COMMANDS
    from aoti_lint.commands.shell import application

    app = application(COMMANDS)
    path = str(ROOT / CASES[0][0])
    done = CliRunner().invoke(app, ["witness", path, "--runtime", "libtorch"])
    assert done.exit_code == 0 and "int main()" in done.output
    with pytest.raises(ConfigError, match="has 1 finding of AL201 or AL202"):
        program_for(path, run_rules, 2, "libtorch")
    with pytest.raises(ConfigError, match="has no finding"):
        program_for(str(ROOT / "fixtures/AL201/ok.wrapper.cpp"), run_rules, 1, "libtorch")
    done = CliRunner().invoke(app, ["witness", str(ROOT / "pyproject.toml")])
    assert done.exit_code == 3
