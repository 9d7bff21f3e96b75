"""Results that are kept: taken from the folder while nothing has changed, made anew otherwise."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from aoti_lint.analyzer import pipeline
from aoti_lint.analyzer.model.findings import Counts, Evidence, FileReport, Finding, Related, Unknown
from aoti_lint.analyzer.model.location import Loc
from aoti_lint.analyzer.pipeline import Task, check_paths
from aoti_lint.analyzer.reporting import cache
from aoti_lint.analyzer.reporting.cache import Results
from aoti_lint.analyzer.reporting.stored import from_data, to_data
from aoti_lint.rules.registry import run_rules

EXAMPLE = Path(__file__).parent.parent / "fixtures/example/c2f.wrapper.cpp"


@pytest.fixture
def wrapper(tmp_path: Path) -> Path:
    return Path(shutil.copy(EXAMPLE, tmp_path / "m.wrapper.cpp"))


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> list[Task]:
    """The tasks that were checked, rather than remembered."""
    done: list[Task] = []
    real = pipeline.check_source

    def counted(task: Task, *args: Any, **kwargs: Any) -> list[FileReport]:
        done.append(task)
        return real(task, *args, **kwargs)

    monkeypatch.setattr(pipeline, "check_source", counted)
    return done


def check(path: Path, folder: Path, **options: Any) -> dict[str, Any]:
    return check_paths([str(path)], run_rules, jobs=1, results=Results(folder), **options).to_json()


def test_what_has_not_changed_is_not_checked_again(wrapper: Path, tmp_path: Path, fresh: list[Task]) -> None:
    first = check(wrapper, tmp_path / "kept")
    assert len(fresh) == 1 and first["summary"]["errors"] > 0
    assert check(wrapper, tmp_path / "kept") == first
    assert len(fresh) == 1
    assert check(wrapper, tmp_path / "elsewhere") == first
    assert len(fresh) == 2


def test_whatever_a_result_depends_on_makes_a_new_one(
    wrapper: Path, tmp_path: Path, fresh: list[Task], monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "kept"
    check(wrapper, kept)
    check(wrapper, kept, runtime="libtorch")
    check(wrapper, kept, runtime=["libtorch", "executorch-metal"])
    check(wrapper, kept, sizes={"s0": (1, 2)})
    moved = wrapper.with_name("n.wrapper.cpp")
    shutil.copy(wrapper, moved)
    check(moved, kept)
    wrapper.write_text(wrapper.read_text() + "\n")
    check(wrapper, kept)
    monkeypatch.setattr(cache, "_tool", lambda: "another version")
    check(wrapper, kept)
    assert len(fresh) == 7


def test_a_profile_of_ones_own_counts(wrapper: Path, tmp_path: Path, fresh: list[Task]) -> None:
    profile = tmp_path / "mine.toml"
    for comment in ("# a", "# a", "# b"):
        profile.write_text(f'extends = "libtorch"\n{comment}\n')
        check(wrapper, tmp_path / "kept", runtime=str(profile))
    assert len(fresh) == 2


def test_failures_are_not_kept(tmp_path: Path, fresh: list[Task]) -> None:
    text = EXAMPLE.read_text()
    bad = tmp_path / "m.wrapper.cpp"
    bad.write_text(text[: len(text) * 3 // 4])
    for _ in range(2):
        assert check(bad, tmp_path / "kept")["summary"]["failed"] == 1
    assert len(fresh) == 2


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no entry",
        b"\xff",
        b"{}",
        b"[{}]",
        b"[null]",
        b'[{"findings": [], "counts": 3}]',
        b"[" * 100_000,
    ],
)
def test_a_damaged_entry_is_not_there(data: bytes, wrapper: Path, tmp_path: Path, fresh: list[Task]) -> None:
    first = check(wrapper, tmp_path / "kept")
    (entry,) = (p for p in (tmp_path / "kept").rglob("*") if p.is_file())
    entry.write_bytes(data)
    assert check(wrapper, tmp_path / "kept") == first
    assert len(fresh) == 2
    assert check(wrapper, tmp_path / "kept") == first  # it was made anew
    assert len(fresh) == 2


def test_a_folder_that_cannot_be_made_keeps_nothing(wrapper: Path, tmp_path: Path, fresh: list[Task]) -> None:
    (tmp_path / "file").write_text("")
    check(wrapper, tmp_path / "file")
    check(wrapper, tmp_path / "file")
    assert len(fresh) == 2


def test_nothing_is_lost_on_the_way(wrapper: Path, tmp_path: Path) -> None:
    files = check_paths([str(wrapper)], run_rules, jobs=1).files
    again = check_paths([str(wrapper)], run_rules, jobs=1, results=Results(tmp_path / "kept")).files
    kept = check_paths([str(wrapper)], run_rules, jobs=1, results=Results(tmp_path / "kept")).files
    assert files == again == kept and files[0].lines and files[0].findings[0].evidence.sizes


def test_a_report_is_restored_field_for_field() -> None:
    loc = Loc("a.cpp", 3, 2, 4, 9)
    evidence = Evidence("read", -1, "8*s0", 1 << 70, "bytes", {"x0": 3}, (1, "s0"), (), "s0", 4)
    finding = Finding(
        "AL201", "kernel-read-out-of-bounds", "error", "m", loc, (Related("there \udcff", loc),), "s", "t", "b",
        "k", "p", 7, "op", ("aten.cat",), evidence, "help", "abc", stops=True,
    )  # fmt: skip
    report = FileReport(
        "a.cpp", "analysed", None, "cpu", "2.14", "aoti", "libtorch@2.14", "2.14.1", ("1.2",), Counts(1, 2, 3, 4, 5, 6, 7, 8),
        [("s0", 2, None)], [finding], [Unknown("x", "y", 3, "b.cpp")], {("a.cpp", 3): "text"},
    )  # fmt: skip
    assert from_data(json.loads(json.dumps(to_data(report)))) == report
