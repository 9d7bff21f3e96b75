"""Kernels read by several processes are the kernels read by one."""

from __future__ import annotations

from pathlib import Path

import pytest
from aoti_lint.analyzer.kernels.cpp import shares
from aoti_lint.analyzer.kernels.cpp.reader import parse_kernels

KERNELS = sorted((Path(__file__).parent.parent / "fixtures/wrappers/cpu").glob("*.kernel.cpp"))


def several() -> Path:
    """A kernel file with many kernels."""
    return max(KERNELS, key=lambda p: p.read_text().count('extern "C"'))


@pytest.mark.parametrize("processes", [2, 3])
def test_shares_add_up_to_the_whole(processes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shares, "SHARE", 1)
    path = several()
    text = path.read_text()
    whole = parse_kernels(text, str(path))
    assert len(whole) > 3
    shared = shares.parse_shares(text, str(path), None, processes)
    assert list(shared) == list(whole)
    assert shared == whole


def test_a_kernel_without_an_end_takes_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shares, "SHARE", 1)
    path = several()
    text = path.read_text().rstrip().rstrip("}")
    shared = shares.parse_shares(text, str(path), None, 2)
    assert list(shared) == list(parse_kernels(text, str(path)))
