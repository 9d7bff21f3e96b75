"""The rules' fixtures: exactly the findings that ``expect.json`` names, and nothing left undecided.

``fixtures/CODE/expect.json`` is a list of cases: ``file``, ``runtime``, ``findings`` (each a ``code`` and any fields
of a finding or its evidence, ``line`` being that of its location; ``bugs``: the runtime's known faults it shows), and optionally ``why`` (how the numbers follow),
``sizes`` ({"s77": [1, 512]}) and ``unknown``, the number of accesses that stay undecided.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from aoti_lint.analyzer.pipeline import check_paths
from aoti_lint.rules.registry import run_rules

FIXTURES = Path(__file__).parent.parent / "fixtures"
CASES = [
    pytest.param(path.parent, case, id=f"{path.parent.name}-{case['file'].split('.')[0]}-{case['runtime']}")
    for path in sorted(FIXTURES.glob("*/expect.json"))
    for case in json.loads(path.read_text())
]


def flat(finding: dict[str, Any]) -> dict[str, Any]:
    """A finding's fields, those of its location and its evidence, in one table."""
    return {**finding["evidence"], **finding["location"], **finding}


@pytest.mark.parametrize(("folder", "case"), CASES)
def test_fixture(folder: Path, case: dict[str, Any]) -> None:
    sizes = {name: (lo, hi) for name, (lo, hi) in case.get("sizes", {}).items()}
    report = check_paths(
        [str(folder / case["file"])], run_rules, runtime=case["runtime"], sizes=sizes, jobs=1
    )
    (file,) = report.to_json()["files"]
    assert file["status"] == "analysed", file["error"]
    got = [flat(f) for f in file["findings"]]
    wanted = [{k: v for k, v in want.items() if k != "bugs"} for want in case["findings"]]
    assert sorted(f["code"] for f in got) == sorted(f["code"] for f in wanted), [f["message"] for f in got]
    left = list(got)
    for want in wanted:
        hit = next((f for f in left if all(f.get(key) == value for key, value in want.items())), None)
        near = [{key: f.get(key) for key in want} for f in left if f["code"] == want["code"]]
        assert hit is not None, f"no finding is {want}; there are {near}"
        left.remove(hit)
    assert file["counts"]["accesses"]["unknown"] == case.get("unknown", 0), file["unknowns"]


@pytest.mark.parametrize(("folder", "case"), CASES)
def test_a_bad_fixture_shows_its_rule_and_an_ok_one_does_not(folder: Path, case: dict[str, Any]) -> None:
    codes = {f["code"] for f in case["findings"]}
    assert (folder.name in codes) == case["file"].startswith("bad")
    # Every bad case says which numbers matter.
    assert all(len(f) > 1 for f in case["findings"] if f["code"] == folder.name)


#: What a finding says happens, where the load or the run ends.
ENDS = re.compile(
    r"the process ends|the call fails|the model does not load|the first call fails|that is an invalid launch"
)


@pytest.mark.parametrize(("folder", "case"), CASES)
def test_severity_follows_effect(folder: Path, case: dict[str, Any]) -> None:
    """What ends the run is an error and says so; what leaks or is slow is a warning."""
    (file,) = check_paths([str(folder / case["file"])], run_rules, runtime=case["runtime"], jobs=1).files
    for f in file.findings:
        if f.severity == "error":
            assert f.stops == bool(ENDS.search(f.message)), f.message
        if re.search(r"each run leaks|one element at a time", f.message):
            assert f.severity == "warning", f.message
