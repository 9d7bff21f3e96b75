"""Verdicts for every size against verdicts at single sizes: what holds for all must hold for each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from aoti_lint.analyzer.analysis import Analysis, analyze
from aoti_lint.analyzer.model.program import Program
from aoti_lint.analyzer.pipeline import read
from aoti_lint.analyzer.runtimes import resolve
from aoti_lint.analyzer.sources import WrapperSource, load
from aoti_lint.analyzer.symbolic import evaluate_cond

WRAPPERS = Path(__file__).parent.parent / "fixtures" / "wrappers"
#: Stands for "large" where a wrapper sets no limit: prime, so that it divides into nothing.
UNBOUNDED = 100_003


def program_of(path: Path) -> Program:
    (source,) = load(str(path))
    assert isinstance(source, WrapperSource)
    return read(source)


def dynamic_wrappers() -> list[Path]:
    return sorted(
        p
        for p in WRAPPERS.glob("*/*.wrapper.cpp")
        if "_dynamic." in p.name or p.name == "item_pools.wrapper.cpp"
    )


def statuses(analysis: Analysis) -> list[tuple[str, int, str, str]]:
    """Kernel, line, access and verdict, in program order."""
    return [
        (v.launch.event.kernel, v.launch.event.loc.line, f"{v.access.kind} {v.param.name}[{v.access.text}]", v.decision.status)
        for v in analysis.verdicts
    ]  # fmt: skip


def points(analysis: Analysis) -> Iterator[dict[str, int]]:
    """Every symbol at its minimum, in the middle, and large; then each large alone."""

    def top(hi: int | None) -> int:
        return UNBOUNDED if hi is None else hi

    yield {n: lo for n, lo, _ in analysis.symbols}
    yield {n: min(max(lo, 37), top(hi)) for n, lo, hi in analysis.symbols}
    yield {n: top(hi) for n, _, hi in analysis.symbols}
    if len(analysis.symbols) > 1:
        for large, _, _ in analysis.symbols:
            yield {n: top(hi) if n == large else max(lo, 3) for n, lo, hi in analysis.symbols}


def admitted(program: Program, sizes: dict[str, int]) -> bool:
    """Whether the wrapper's own checks let these sizes in (derived symbols follow from them)."""
    for c in program.checks:
        try:
            if not evaluate_cond(c, sizes):
                return False
        except KeyError:
            continue
    return True


def compare(path: Path, runtime: str) -> Counter[str]:
    program = program_of(path)
    profile = resolve(runtime, program.device)
    general = analyze(program, profile)
    assert general.symbols, f"{path.name} has no free size"
    every = statuses(general)
    counts: Counter[str] = Counter()
    for sizes in points(general):
        if not admitted(program, sizes):
            continue
        counts["sizes"] += 1
        single = statuses(analyze(program, profile, {n: (v, v) for n, v in sizes.items()}))
        assert len(single) == len(every)
        for a, b in zip(every, single, strict=True):
            assert a[:3] == b[:3]
            if a[3] == "unknown":
                counts["undecided for all sizes"] += 1
                continue
            assert b[3] == a[3], f"{path.name} under {runtime} at {sizes}: {a} for all sizes, {b[3]} here"
            counts[a[3]] += 1
    assert counts["sizes"] >= 3, f"{path.name}: only {counts['sizes']} of the sizes pass the wrapper's checks"
    return counts


def test_there_are_enough_of_them() -> None:
    paths = dynamic_wrappers()
    assert len(paths) >= 20 and {p.parent.name for p in paths} == {"cpu", "metal", "triton"}
    unbacked = [s for p in paths for s in program_of(p).symbols if not s.backed]
    assert unbacked, "sizes that come from data are among them"


@pytest.mark.parametrize("path", dynamic_wrappers(), ids=lambda p: f"{p.parent.name}-{p.name.split('.')[0]}")
def test_verdicts_are_the_same_at_single_sizes(path: Path) -> None:
    counts = compare(path, "libtorch")
    assert counts["fault"] == 0
    if path.parent.name == "metal":
        counts += compare(path, "executorch-metal")
    print(dict(counts))
    assert counts["proved"]
