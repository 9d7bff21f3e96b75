"""The rule registry: what every rule must have, and how findings get their order and identity."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from aoti_lint.analyzer.model.codes import CODES
from aoti_lint.analyzer.model.findings import Finding
from aoti_lint.analyzer.model.location import Loc
from aoti_lint.analyzer.model.record import replace
from aoti_lint.rules import docs, registry
from aoti_lint.rules.registry import Rule, get_rule, load_rules, run_rules

ROOT = Path(__file__).parent.parent
#: Codes made from the configuration, not from a wrapper: their tests are those of the configuration.
WITHOUT_WRAPPER = {"AL903", "AL904"}


@pytest.mark.parametrize("rule", load_rules(), ids=lambda rule: rule.code)
def test_a_rule_explains_itself(rule: Rule) -> None:
    assert rule.summary.endswith(".") and "\n\n" not in rule.summary
    assert len(rule.explanation) > 100
    assert rule.help and rule.bad and rule.good
    assert rule.bad != rule.good
    assert rule.since.count(".") == 2
    assert (rule.check is None) == (rule.code in WITHOUT_WRAPPER)


@pytest.mark.parametrize("rule", [r for r in load_rules() if r.check is not None], ids=lambda rule: rule.code)
def test_a_rule_has_a_bad_and_an_ok_fixture(rule: Rule) -> None:
    folder = ROOT / "fixtures" / rule.code
    assert list(folder.glob("bad*.wrapper.cpp")), f"{rule.code} has no bad fixture"
    assert list(folder.glob("ok*.wrapper.cpp")), f"{rule.code} has no ok fixture"
    named = {case["file"] for case in json.loads((folder / "expect.json").read_text())}
    assert {f.name for f in folder.glob("*.wrapper.cpp")} <= named


def test_fixtures_belong_to_rules() -> None:
    known = {rule.code for rule in load_rules()}
    assert {p.name for p in (ROOT / "fixtures").glob("AL*")} <= known


def rule_with(check: Any = None, **changes: Any) -> Rule:
    known: dict[str, Any] = {
        "code": "AL203", "name": "lost-write", "severity": "error", "summary": "s.", "explanation": "e", "bad": "b",
        "good": "g", "since": "0.1.0", "help": "h", "check": check,
    }  # fmt: skip
    return Rule(**{**known, **changes})


@pytest.mark.parametrize(
    "changes", [{"code": "AL299"}, {"name": "lost-writes"}, {"severity": "note"}, {"code": "AL204"}]
)
def test_a_rule_fits_the_table_of_codes(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="not in the table of codes"):
        rule_with(**changes)


def test_texts_lose_their_indentation() -> None:
    rule = rule_with(bad="\n    a;\n      b;\n    ", help="\n  do\n  it\n")
    assert (rule.bad, rule.help) == ("a;\n  b;", "do\nit")


def test_finding_takes_what_the_rule_says() -> None:
    rule = rule_with()
    got = rule.finding("m", Loc("f", 3), kernel="k_1", parameter="p")
    assert (got.code, got.name, got.severity, got.help) == ("AL203", "lost-write", "error", "h")
    assert len(got.fingerprint) == 16
    softer = rule.finding("m", Loc("f", 3), kernel="k_2", parameter="p", severity="warning", help="other")
    assert (softer.severity, softer.help) == ("warning", "other")
    assert softer.fingerprint == got.fingerprint


def test_findings_come_in_the_order_of_the_file_with_unique_fingerprints() -> None:
    def check(analysis: object) -> Iterator[Finding]:
        for line in (30, 10, 20):
            yield rule.finding(f"at {line}", Loc("f", line))

    rule = rule_with(check)
    other = rule_with(lambda analysis: iter([replace(rule.finding("x", Loc("f", 20)), code="AL202")]))
    empty: Any = SimpleNamespace(facts=lambda kind: iter(()))
    got = run_rules(empty, [rule, other, rule_with(None)])
    assert [(f.loc.line, f.code) for f in got] == [(10, "AL203"), (20, "AL202"), (20, "AL203"), (30, "AL203")]
    assert len({f.fingerprint for f in got}) == 4


def module(name: str, rule: Rule) -> types.ModuleType:
    made = types.ModuleType(f"{registry.__package__}.{name}")
    made.RULE = rule  # type: ignore[attr-defined]
    return made


@pytest.mark.parametrize(
    ("modules", "message"),
    [
        ({"al203_lost_writes": rule_with()}, "call it al203_lost_write.py"),
        (
            {"al203_lost_write": rule_with(), "al204_copied_view_misread": rule_with()},
            "call it al203_lost_write.py",
        ),
    ],
)
def test_a_module_is_named_for_its_rule(
    monkeypatch: pytest.MonkeyPatch, modules: dict[str, Rule], message: str
) -> None:
    made = {f"{registry.__package__}.{name}": module(name, rule) for name, rule in modules.items()}
    real = importlib.import_module
    monkeypatch.setattr(registry, "_modules", lambda: list(modules))
    monkeypatch.setattr("importlib.import_module", lambda name: made.get(name) or real(name))
    load_rules.cache_clear()
    try:
        with pytest.raises(ValueError, match=message):
            load_rules()
    finally:
        load_rules.cache_clear()


def test_rules_by_code_and_name() -> None:
    assert get_rule("al903") is get_rule("unused-suppression") is not None
    assert get_rule("AL999") is None


def test_every_code_is_listed() -> None:
    listed = docs.plain_list()
    for code, (name, _) in CODES.items():
        assert f"{code}  " in listed and name in listed
    assert {r.code for r in load_rules()} == {
        row.split("](")[0][3:] for row in docs.index().splitlines() if row.startswith("| [AL")
    }


@pytest.mark.parametrize("rule", load_rules(), ids=lambda rule: rule.code)
def test_the_page_says_what_the_rule_says(rule: Rule) -> None:
    page = docs.page(rule)
    assert page.startswith(f"# {rule.code}: {rule.name}\n")
    assert rule.bad in page and rule.good in page
    for text in (rule.explanation, rule.help, rule.summary):
        assert " ".join(text.split()) in " ".join(page.split())
    assert rule.bad.splitlines()[0] in docs.plain(rule)


@pytest.mark.slow
def test_generated_pages_are_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "aoti_lint.rules.docs", "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
