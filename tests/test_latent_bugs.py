"""Every known fault of a runtime has a fixture that shows it, or a line in the docs that says why no wrapper can."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from aoti_lint.analyzer.pipeline import check_paths
from aoti_lint.analyzer.runtimes import resolve, resolve_all
from aoti_lint.analyzer.runtimes.bugs import latent_bug, latent_bugs
from aoti_lint.rules.registry import run_rules
from test_fixtures import FIXTURES, flat

PAGE = Path(__file__).parent.parent / "docs/runtimes.md"
#: (bug, wrapper, runtime, the finding that shows it)
SHOWN = [
    (bug, path.parent / case["file"], case["runtime"], {k: v for k, v in want.items() if k != "bugs"})
    for path in sorted(FIXTURES.glob("*/expect.json"))
    for case in json.loads(path.read_text())
    for want in case["findings"]
    for bug in want.get("bugs", ())
]

#: Faults of the wrapper, which the runtime merely does not notice, and of a header that is compiled into it.
WRAPPER = {"MET-VIEW-OOB", "LT-VIEW-OOB", "LT-POOL-OFFSET", "AR-VIEW-COPY"}


def explained() -> dict[str, str]:
    """Rows of the table of faults that a wrapper cannot show."""
    section = PAGE.read_text().partition("## Known faults")[2].partition("\n## ")[0]
    return dict(re.findall(r"^\| ([A-Z0-9]+(?:-[A-Z0-9]+)+) \| (.+) \|$", section, re.MULTILINE))


def test_every_fault_is_shown_or_explained() -> None:
    shown = {bug for bug, *_ in SHOWN}
    assert shown | explained().keys() == set(latent_bugs())
    assert not shown & explained().keys()
    assert all(len(why) > 40 for why in explained().values())


def has(path: Path, runtime: str, want: dict[str, object]) -> bool:
    (file,) = check_paths([str(path)], run_rules, runtime=runtime, jobs=1).to_json()["files"]
    found = [flat(f) for f in file["findings"]]
    return any(all(f.get(k) == v for k, v in want.items()) for f in found)


@pytest.mark.parametrize(("bug", "path", "runtime", "want"), SHOWN, ids=[f"{s[0]}-{s[2]}" for s in SHOWN])
def test_a_fixture_shows_the_fault_where_the_runtime_has_it(
    bug: str, path: Path, runtime: str, want: dict[str, object]
) -> None:
    affected = latent_bug(bug)
    device = re.search(r"aoti_include/(\w+)\.h", path.read_text())
    assert device is not None and affected.affects(resolve(runtime, device[1]))
    assert has(path, runtime, want)
    # The same wrapper under a runtime without the fault has no such finding.
    others = [p.name for p in resolve_all(["all"], device[1]) if not affected.affects(p)]
    if others and bug not in WRAPPER:
        assert not all(has(path, other, want) for other in others), others
