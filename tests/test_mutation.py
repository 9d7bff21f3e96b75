"""Faults injected into real wrappers: what running their kernels shows must be reported, what is harmless must not.

The truth of a mutant is what execution with checked pointers adds to the unchanged wrapper: accesses outside of a
storage, reads of what nothing wrote or of what was replaced, handles used after they were given up.  A mutant that
adds nothing and leaves the results alone is harmless.  Mutants that only compute something else are left out: no
memory rule could know.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from pathlib import Path

import pytest
from aoti_lint.analyzer.model.findings import FileReport
from aoti_lint.analyzer.model.program import Branch
from aoti_lint.analyzer.pipeline import Task, check_source, read
from aoti_lint.analyzer.sources import WrapperSource, load
from aoti_lint.rules.registry import run_rules

from .execution.agreement import MODELS
from .execution.build import CXX, NotBuilt
from .execution.results import Execution, NotRun
from .execution.run import execute
from .execution.script import Memory, Place, Script, extent
from .mutations import WRAPPER_KINDS, WRAPPERS, Edits, Mutant, halves, mutant

pytestmark = pytest.mark.skipif(CXX is None, reason="no g++")
#: Codes that say what happened.
FITTING = {
    "read outside": {"AL101", "AL103", "AL105", "AL201"},
    "write outside": {"AL101", "AL103", "AL105", "AL202"},
    "unwritten": {"AL106", "AL205", "AL210"},
    "stale": {"AL203", "AL204"},
    "gone": {"AL301", "AL302", "AL303", "AL304", "AL305"},
}
VIEW = {"AL101", "AL103", "AL105"}
#: Rules that judge what a wrapper states, whether or not anything happens at run time: an assert that does not hold, an
#: element type that differs.
STATED = {"AL406", "AL209"}


@dataclass(frozen=True)
class Watching(Memory):
    """A memory model that notes views larger than what they are views of."""

    over: list[Place] = field(default_factory=list)

    def view(self, script: Script, meant: Place) -> Place:
        if meant.byte + extent(meant.sizes, meant.strides) * meant.item > script.sizes[meant.storage]:
            self.over.append(meant)
        return super().view(script, meant)


@dataclass(frozen=True, slots=True)
class Truth:
    """``over``: some view is larger than what it is a view of; ``sound``: nothing failed; ``whole``: there is no
    branch, of which one arm would have been left out."""

    kinds: frozenset[str]
    outputs: dict[int, str]
    over: bool
    sound: bool
    whole: bool


def truth(source: WrapperSource, runtime: str, sizes: dict[str, int] | None = None) -> Truth:
    """What running a wrapper shows. Raises NotRun, NotBuilt."""
    memory = Watching(MODELS[runtime].name, MODELS[runtime].copies)
    run = execute(source, memory, sizes, timeout=60)
    gone = [why for _, why in run.skipped if why.endswith("is not known")]
    kinds = {*_kinds(run), *(["gone"] if gone else [])}
    sound = len(gone) == len(run.skipped) and not any(r.failed for r in run.ran)
    whole = not any(isinstance(e, Branch) for e in read(source).functions[-1].events)
    return Truth(frozenset(kinds), run.outputs(), bool(memory.over), sound, whole)


def _kinds(run: Execution) -> Iterable[str]:
    for t in (t for r in run.ran for t in r.touched):
        for name, happened in (
            ("read outside", t.bad_reads), ("write outside", t.bad_writes), ("unwritten", t.unwritten), ("stale", t.stale),
        ):  # fmt: skip
            if happened:
                yield name


@cache
def base(path: Path, runtime: str) -> Truth | None:
    """The unchanged wrapper, if all of it runs and nothing is wrong with it."""
    try:
        found = truth(source_of(path), runtime)
    except (NotRun, NotBuilt):
        return None
    return found if found.sound and not found.kinds else None


@cache
def source_of(path: Path) -> WrapperSource:
    (source,) = load(str(path))
    assert isinstance(source, WrapperSource)
    return source


@dataclass(slots=True)
class Score:
    """Counts by kind of mutation, and what went wrong."""

    counts: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    wrappers: set[Path] = field(default_factory=set)
    missed: list[str] = field(default_factory=list)
    false_alarms: list[str] = field(default_factory=list)

    def total(self, what: str) -> int:
        return sum(c[what] for c in self.counts.values())

    def __str__(self) -> str:
        rows = [
            f"{kind:18} {c['reported']:4} of {c['fault']:4} faults reported, {c['alarm']} alarms on {c['harmless']:4} harmless, "
            f"{c['value']:3} only compute something else, {c['not run']:3} not run"
            for kind, c in sorted(self.counts.items())
        ]
        faults, harmless = self.total("fault"), self.total("harmless")
        return "\n".join([
            *rows,
            f"{len(self.wrappers)} wrappers: {self.total('reported')} of {faults} executed faults reported with a fitting code, "
            f"errors on {self.total('alarm')} of {harmless} harmless mutants",
            *(f"missed: {m}" for m in self.missed), *(f"alarm: {m}" for m in self.false_alarms),
        ])  # fmt: skip


def judge(path: Path, m: Mutant, runtime: str, score: Score) -> None:
    """Compare what is reported on a mutant with what running it shows."""
    clean, counts = base(path, runtime), score.counts[m.kind]
    if clean is None:
        return
    try:
        now = truth(m.source, runtime)
    except (NotRun, NotBuilt):
        counts["not run"] += 1
        return
    (report,) = check_source(Task(m.source, (runtime,), {}), run_rules)
    assert report.status == "analysed" or "internal error" not in str(report.error), report.error
    score.wrappers.add(path)
    label = f"{path.parent.name}/{path.name.split('.')[0]} {m.kind} {m.note} ({runtime})"
    allowed = STATED | base_codes(path, runtime) | (VIEW if now.over else set())
    if not now.kinds and _codes(report) - allowed and (sizes := _witness_sizes(report)):
        now = truth(m.source, runtime, sizes)  # it may be wrong at these sizes only
    if now.kinds:
        counts["fault"] += 1
        wanted = set().union(*(FITTING[k] for k in now.kinds), VIEW if now.over else ())
        loud = {f.code for f in report.findings if f.severity != "note"}
        counts["reported"] += bool(wanted & loud)
        if not wanted & loud:
            score.missed.append(f"{label}: {sorted(now.kinds)}, reported {sorted(loud)}")
    elif not now.sound or not now.whole:
        counts["not run"] += 1
    elif now.outputs != clean.outputs:
        counts["value"] += 1
    else:
        counts["harmless"] += 1
        if report.status != "analysed" or _codes(report) - allowed:
            counts["alarm"] += 1
            messages = [f"{f.code} {f.message}" for f in report.findings if f.severity == "error"]
            score.false_alarms.append(f"{label}: {report.error or messages}")


@cache
def base_codes(path: Path, runtime: str) -> frozenset[str]:
    """Errors of the unchanged wrapper."""
    (report,) = check_source(Task(source_of(path), (runtime,), {}), run_rules)
    return frozenset(_codes(report))


def _witness_sizes(report: FileReport) -> dict[str, int]:
    """Sizes at which the first error with a witness is said to happen."""
    names = {name for name, _, _ in report.symbols}
    found = [f.evidence.witness for f in report.findings if f.severity == "error" and f.evidence.witness]
    return {n: v for n, v in found[0].items() if n in names} if found else {}


def _codes(report: FileReport) -> set[str]:
    return {f.code for f in report.findings if f.severity == "error"}


def run_all(chosen: Iterable[tuple[Path, Edits]]) -> Score:
    """One mutant for each wrapper and kind."""
    score = Score()
    for path, kind in chosen:
        m = mutant(source_of(path), kind, 0) if base(path, "libtorch") is not None else None
        if m is None:
            continue
        for runtime in ("libtorch", "executorch-metal") if path.parent.name == "metal" else ("libtorch",):
            judge(path, m, runtime, score)
    print(score)
    return score


def test_some_injected_faults_are_reported() -> None:
    """Wrappers that run in a moment, mutations that need no compiler: part of every run."""
    names = ("metal/chunk_pointwise_dynamic", "triton/user_triton", "metal/transposes")
    score = run_all(product([WRAPPERS / f"{n}.wrapper.cpp" for n in names], WRAPPER_KINDS))
    assert len(score.wrappers) == len(names) and score.total("fault") >= 15
    assert not score.missed and not score.false_alarms


#: Of each dialect at least: wrappers, kinds of fault that show when their mutants are run, and faults.
DIALECTS = {"cpu": (20, 12, 50), "metal": (15, 12, 70), "triton": (3, 8, 10)}


@pytest.mark.slow
@pytest.mark.parametrize("dialect", DIALECTS)
def test_injected_faults_are_reported(dialect: str) -> None:
    """All wrappers but the two largest, every other kind of mutant on each (all with AOTI_LINT_EXPLORE=1)."""
    score = run_all(halves(dialect)[0])
    wrappers, kinds, least = DIALECTS[dialect]
    assert len(score.wrappers) >= wrappers
    assert sum(c["fault"] > 0 for c in score.counts.values()) >= kinds
    faults, reported = score.total("fault"), score.total("reported")
    assert faults >= least and reported >= 0.95 * faults, f"{reported} of {faults}"
    assert not score.false_alarms
