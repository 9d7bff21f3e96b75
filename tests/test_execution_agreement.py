"""What the tool says of wrappers against what running them shows; one disagreement fails.

The repository's own fixtures always, and every wrapper below the folders in ``AOTI_LINT_CORPUS`` (separated like
``PATH``), which may hold generated code of any kind.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from aoti_lint.analyzer.sources import WrapperSource, load

from .execution.agreement import MODELS, Agreement, agree
from .execution.build import CXX, NotBuilt
from .execution.contents import contents
from .execution.results import NotRun
from .mutations import halves, mutant

pytestmark = pytest.mark.skipif(CXX is None, reason="no g++")
ROOT = Path(__file__).parent.parent
QUICK = ["AL101", "AL201", "AL203"]


def compare(sources: Iterable[WrapperSource]) -> tuple[Agreement, Counter[str], list[str]]:
    """Counts over all wrappers and runtimes, what could not be run and why, and disagreements on contents."""
    total, left, wrong = Agreement(), Counter[str](), []
    for source in sources:
        metal = "_mps_" in source.wrapper.text
        for runtime, memory in MODELS.items() if metal else [("libtorch", MODELS["libtorch"])]:
            try:
                total += agree(source, runtime)
                wrong += contents(source, runtime, memory).wrong
            except (NotRun, NotBuilt) as e:
                left[str(e).split(":")[0][:60]] += 1
    return total, left, wrong


def sources(paths: Iterable[Path]) -> Iterator[WrapperSource]:
    for path in paths:
        yield from (s for s in load(str(path)) if isinstance(s, WrapperSource))


def wrappers(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.wrapper.cpp"))


def test_a_few_fixtures() -> None:
    total, left, wrong = compare(sources(p for code in QUICK for p in wrappers(ROOT / "fixtures" / code)))
    assert not total.disagreements and not wrong and not left
    assert total.proved > 10 and total.fault > 3


@pytest.mark.slow
def test_all_fixtures(capsys: pytest.CaptureFixture[str]) -> None:
    total, left, wrong = compare(sources(wrappers(ROOT / "fixtures")))
    with capsys.disabled():
        print(f"\n{total}\nnot run: {dict(left)}")
    assert not total.disagreements and not wrong
    assert total.proved > 200 and total.fault >= 8


#: How many mutants there must be at least, and how many arguments must be seen to leave their storage.
MUTANTS = {"cpu": (90, 40), "metal": (90, 60), "triton": (25, 10)}


@pytest.mark.slow
@pytest.mark.parametrize("dialect", MUTANTS)
def test_mutants(dialect: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What is proved of a broken wrapper holds, too: the other half of the mutants of test_mutation."""
    chosen = halves(dialect)[1]
    mutants = [
        m.source for path, kind in chosen for s in sources([path]) if (m := mutant(s, kind, 0)) is not None
    ]
    total, left, wrong = compare(mutants)
    with capsys.disabled():
        print(f"\n{len(mutants)} mutants: {total}\nnot run: {dict(left)}")
    least, faults = MUTANTS[dialect]
    assert len(mutants) >= least and sum(left.values()) < len(mutants) / 10
    assert not total.disagreements and not wrong
    assert total.fault >= faults


@pytest.mark.slow
@pytest.mark.skipif("AOTI_LINT_CORPUS" not in os.environ, reason="AOTI_LINT_CORPUS names no folders")
def test_a_corpus_of_generated_code(capsys: pytest.CaptureFixture[str]) -> None:
    folders = os.environ["AOTI_LINT_CORPUS"].split(os.pathsep)
    total, left, wrong = compare(sources(p for f in folders for p in wrappers(Path(f))))
    with capsys.disabled():
        print(f"\n{total}\nnot run: {dict(left)}")
    assert not total.disagreements and not wrong
    assert total.proved
