"""More tensors in one storage than can be told apart: fewer claims, never a false one."""

from __future__ import annotations

from pathlib import Path

import pytest
from aoti_lint.analyzer.checks import contents
from aoti_lint.analyzer.pipeline import check_paths
from aoti_lint.rules.registry import run_rules

FIXTURES = Path(__file__).parent.parent / "fixtures"
SHARED = [
    "AL305/ok.wrapper.cpp", "wrappers/cpu/slice_conv_pools.wrapper.cpp", "wrappers/triton/c2f_pools.wrapper.cpp",
]  # fmt: skip


@pytest.mark.parametrize("most", [1, 2, 255])
@pytest.mark.parametrize("name", SHARED)
def test_forgotten_owners_are_no_fault(name: str, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contents, "_OWNERS", most)
    (file,) = check_paths([str(FIXTURES / name)], run_rules, runtime="libtorch", jobs=1).files
    assert file.status == "analysed"
    assert not [f.message for f in file.findings if f.severity == "error" or f.code == "AL305"]
