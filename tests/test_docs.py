"""The examples of the documentation: configuration loads, commands exist, links lead somewhere."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from aoti_lint.analyzer.config import FORMATS, KEYS, load

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("docs/*.md"), *ROOT.glob("*.md")])


def blocks(page: str, language: str) -> list[str]:
    text = (ROOT / "docs" / page).read_text()
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def test_configuration_examples_load(tmp_path: Path) -> None:
    options, entry = blocks("configuration.md", "toml")
    file = tmp_path / "aoti-lint.toml"
    file.write_text(options + entry)
    got = load(file)
    shown = set(re.findall(r"^([a-z-]+) =", options, re.MULTILINE))
    assert shown | {"suppress"} == set(KEYS)
    assert got.suppress[0].expires is not None and got.suppress[0].buffer == "buf12"


def test_every_format_is_described() -> None:
    rows = re.findall(r"^\| `(\w+)` \|", (ROOT / "docs/formats.md").read_text(), re.MULTILINE)
    assert tuple(rows) == FORMATS


def test_the_expectation_example_holds(tmp_path: Path) -> None:
    (example,) = blocks("writing-a-rule.md", "json")
    bad = json.loads(example)[0]
    data = ROOT / "tests/data/slice.wrapper.cpp"
    call = [sys.executable, "-m", "aoti_lint", "check", str(data), "--runtime", bad["runtime"], "-f", "json"]
    out = json.loads(subprocess.run(call, capture_output=True, text=True, check=False).stdout)
    got = {f["code"]: {**f["evidence"], **f["location"], **f} for f in out["files"][0]["findings"]}
    for want in bad["findings"]:
        assert {key: got[want["code"]][key] for key in want} == want


def commands() -> list[str]:
    text = "\n".join(page.read_text() for page in PAGES)
    found = re.findall(r"(?:^\$ |`)aoti-lint ([a-z]+)((?: [^`\n]*)?)", text, re.MULTILINE)
    return sorted({name for name, _ in found})


@pytest.mark.parametrize("command", commands())
def test_commands_in_the_docs_exist(command: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "aoti_lint", command, "--help"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
        assert (page.parent / target).exists(), target
