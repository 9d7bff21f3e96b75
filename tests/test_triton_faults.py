"""The benchmark of public Triton faults: every one is found, no twin is accused, and execution says the same."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from aoti_lint.analyzer.pipeline import analyse
from aoti_lint.analyzer.sources import SourceText, WrapperSource
from aoti_lint.rules.registry import run_rules

from .execution.agreement import agree

sys.path.append(str(Path(__file__).parents[1] / "benchmarks" / "triton_faults"))
from cases import CASES, Case, wrapper


def source(c: Case) -> WrapperSource:
    return WrapperSource(SourceText(f"{c.name}.wrapper.cpp", wrapper(c)))


def errors(c: Case) -> set[str]:
    return {f.code for f in run_rules(analyse(source(c), "libtorch", {})) if f.severity == "error"}


@pytest.mark.parametrize("case", CASES, ids=[c.name for c in CASES])
def test_the_fault_is_found_and_its_twin_is_proved(case: Case) -> None:
    assert errors(case) & set(case.codes)
    assert not errors(case.ok())
    assert all(v.decision.status == "proved" for v in analyse(source(case.ok()), "libtorch", {}).verdicts)


@pytest.mark.parametrize("case", [c for c in CASES if c.runs], ids=[c.name for c in CASES if c.runs])
def test_execution_agrees(case: Case) -> None:
    """Guard regions around every buffer: the faulty kernel leaves one, its twin does not."""
    bad, good = agree(source(case), "libtorch"), agree(source(case.ok()), "libtorch")
    assert not bad.disagreements and bad.fault > 0 and not bad.not_run
    assert not good.disagreements and good.fault == good.unknown == good.not_run == 0 and good.proved > 1
