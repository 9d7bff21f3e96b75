"""Nothing in a kernel is lost: a real kernel with one part made unknown never has everything proved."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from aoti_lint import check
from aoti_lint.analyzer.kernels.interpret import expressions, statements
from aoti_lint.analyzer.kernels.metal import expressions as metal_expressions
from aoti_lint.analyzer.kernels.metal import lower, reader

EXAMPLE = Path(__file__).parent.parent / "fixtures" / "example" / "c2f.wrapper.cpp"
_KERNEL = re.compile(r"kernel void .*?\n\s*\}\n", re.S)
_LOAD = re.compile(r"= (in_ptr\d+\[[^\]]*\]);")
_STORE = re.compile(r"(out_ptr\d+\[[^\]]*\]) = ([^;]*);")


def all_proved(text: str, path: Path) -> bool:
    path.write_text(text)
    (report,) = check(path, runtime="libtorch").files
    c = report.counts
    return c.fault == c.unknown == c.unmodelled_statements == 0 and not report.unknowns


def edits(text: str) -> Iterator[tuple[str, str]]:
    """Every load wrapped in a call nobody knows, every store made through one, in every kernel."""
    for kernel in _KERNEL.finditer(text):
        for m in _LOAD.finditer(text, *kernel.span()):
            yield f"load {m[1]}", text[: m.start(1)] + f"metal::mystery({m[1]})" + text[m.end(1) :]
            yield f"pointer {m[1]}", text[: m.start(1)] + f"metal::mystery(&{m[1]}, 1)" + text[m.end(1) :]
        for m in _STORE.finditer(text, *kernel.span()):
            yield f"store {m[1]}", text[: m.start()] + f"mystery({m[1]}, {m[2]});" + text[m.end() :]
            yield f"loop {m[1]}", text[: m.start()] + f"for (auto q : mystery()) {m[0]}" + text[m.end() :]


def test_an_unknown_call_around_any_access(tmp_path: Path) -> None:
    text = EXAMPLE.read_text()
    assert all_proved(text, tmp_path / "w.wrapper.cpp")
    tried = 0
    for what, edited in edits(text):
        tried += 1
        assert not all_proved(edited, tmp_path / "w.wrapper.cpp"), what
    assert tried > 25


BODY = """
    int x0 = xindex;
    threadgroup float shared_[8];
    shared_[x0] = in_ptr0[x0];
    float total = 0;
    if (x0 > 100) return;
    for (int i = 0; i < 4; ++i) { if (x0 + i > 9) break; if (i == 2) continue; total += in_ptr0[x0 + i]; }
    int k = 0;
    while (k < 3) { out_ptr0[k] = total; k += 1; }
    do { out_ptr0[k] = total; k += 1; } while (k < 5);
    switch (x0) { case 0: out_ptr0[6] = 1.0; break; default: out_ptr0[7] = 2.0; }
    if (x0 > 3) { out_ptr0[x0] = x0 > 5 ? in_ptr0[8] : total; } else { out_ptr0[x0] = -total; }
    out_ptr0[x0 + 1] = static_cast<float>(shared_[x0]);
"""
TEXT = (
    'const char* mps_lib_0_source = (R"MTL(\nkernel void generated_kernel(device float* out_ptr0, '
    f'constant float* in_ptr0, uint xindex [[thread_position_in_grid]]) {{{BODY}}}\n)MTL");\n'
)


def read() -> tuple[set[tuple[str, str | None]], bool]:
    """(parameter, index) of what is accessed; whether anything is unknown."""
    reader._CACHE.clear()
    k = reader.find_kernels(TEXT, "w.cpp")["mps_lib_0"]
    reader._CACHE.clear()
    accesses = [*k.accesses, *(a for array in k.arrays for a in array.accesses)]
    unknown = bool(k.unmodelled) or any(a.index is None or a.guard.has_opaque() for a in accesses)
    return {(a.param, a.text) for a in accesses if a.index is not None}, unknown


@pytest.mark.parametrize(
    "form", [*lower._HANDLERS, "call", "index", "assign", "un", "bin", "cast", "cond", "name"]
)
def test_a_form_that_lowering_does_not_know(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without its line in the table, a form leaves an unknown access or an unmodelled statement, never less."""
    if form in ("empty", "decls"):
        pytest.skip("not in the kernel")
    complete, unknown = read()
    assert not unknown
    for table in (lower._HANDLERS, metal_expressions._HANDLERS):
        if form in table:
            monkeypatch.delitem(table, form)  # type: ignore[arg-type]
    if form in ("call", "block"):
        found, unknown = read()
        assert found >= complete or unknown
        return
    found, unknown = read()
    assert unknown, f"{form}: {sorted(complete - found)} are gone without a word"


def test_every_node_of_the_language_has_a_meaning() -> None:
    from typing import get_args

    from aoti_lint.analyzer.kernels import ir

    named = [*re.findall(r"\w+", str(ir.Expr)), *re.findall(r"\w+", str(ir.Statement))]
    table = {t.__name__ for t in (*expressions._HANDLERS, *statements._HANDLERS)}
    assert set(named) == table and not get_args(ir.Expr)
