"""The configuration file and the options over it; every mistake names the nearest right word."""

from __future__ import annotations

import json
import sys
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from aoti_lint.analyzer.config import (
    KEYS,
    ConfigError,
    Output,
    Settings,
    find,
    load,
    override,
    parse_shard,
    parse_size,
)
from aoti_lint.analyzer.model.codes import CODES, FAMILIES, UnknownCode, expand

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SCHEMA = json.loads((Path(__file__).parent.parent / "analyzer/config.schema.json").read_text())

FULL = """
runtime = "executorch-metal@2026-08"
format = ["text", "sarif=out/lint.sarif"]
select = ["AL1", "AL2", "stride-blind-op"]
ignore = "AL102,AL104"
fail-on = "warning"
strict = true
baseline = "lint-baseline.json"
size = { s77 = "1..512", s3 = 8, u0 = "2.." }
jobs = 2
statistics = true
quiet = false
verbose = true
no-color = true

[[suppress]]
code = "AL202"
path = "models/*.wrapper.cpp"
kernel = "mps_lib_*"
buffer = "buf12"
reason = "fixed upstream"
expires = 2027-01-31

[[suppress]]
code = "AL5"
reason = "checked by hand"
expires = "2027-02-01"
"""


def write(folder: Path, text: str, name: str = "aoti-lint.toml") -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def test_every_key(tmp_path: Path) -> None:
    got = load(write(tmp_path, FULL))
    assert got.runtimes == ("executorch-metal@2026-08",)
    assert got.outputs == (Output("text"), Output("sarif", tmp_path / "out/lint.sarif"))
    assert got.wants("AL101") and got.wants("AL401") and not got.wants("AL402")
    assert not got.wants("AL102") and not got.wants("AL104")
    assert (got.fail_on, got.strict, got.jobs) == ("warning", True, 2)
    assert got.baseline == tmp_path / "lint-baseline.json"
    assert got.sizes == {"s77": (1, 512), "s3": (8, 8), "u0": (2, None)}
    assert (got.statistics, got.quiet, got.verbose, got.no_color) == (True, False, True, True)
    first, second = got.suppress
    assert (first.code, first.kernel, first.buffer, first.expires) == (
        "AL202",
        "mps_lib_*",
        "buf12",
        date(2027, 1, 31),
    )
    assert (second.path, second.expires) == (None, date(2027, 2, 1))
    assert [FULL.splitlines()[s.line - 1] for s in got.suppress] == ["[[suppress]]"] * 2


def test_pyproject(tmp_path: Path) -> None:
    text = '[project]\nname = "x"\n[tool.aoti-lint]\nstrict = true\n[[tool.aoti-lint.suppress]]\ncode="AL1"\nreason="r"\n'
    got = load(write(tmp_path, text, "pyproject.toml"))
    assert got.strict and got.suppress[0].line == 5
    assert got.root == tmp_path


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("selct = ['AL2']", "unknown key 'selct'; did you mean 'select'?"),
        ("fail_on = 'note'", "unknown key 'fail_on'; did you mean 'fail-on'?"),
        ("select = ['AL2021']", "no rule has the code or prefix 'AL2021'; did you mean 'AL202'"),
        ("ignore = ['lost-writes']", "did you mean 'lost-write'"),
        ("fail-on = 'errors'", "not 'errors'; did you mean 'error'?"),
        ("format = 'sariff'", "no format is called 'sariff'; did you mean 'sarif'?"),
        ("format = 'sarif='", "names no file"),
        ("strict = 'yes'", "strict: must be true or false, not 'yes'"),
        ("jobs = 0", "expected at least 1"),
        ("jobs = true", "jobs: must be a whole number, not True"),
        ("size = { s77 = '9..3' }", "is an empty range"),
        ("size = { s77 = -1 }", "is not NAME=VALUE"),
        ("size = ['s77=1']", "size: must be a table"),
        ("baseline = 3", "baseline: must be text, not 3"),
        ("select = [1]", "select: must be a list of text, not 1 in it"),
        ("[[suppress]]\ncode = 'AL202'", "entry 1 (line 1): 'reason' is missing: say why it is suppressed"),
        ("[[suppress]]\ncode = 'AL202'\nreason = ' '", "'reason' is missing"),
        ("[[suppress]]\nreason = 'x'", "'code' is missing: say what is suppressed"),
        ("\n[[suppress]]\ncode='AL2'\nreason='x'\nkernal='k'", "entry 1 (line 2): unknown key 'kernal'; did you mean 'kernel'?"),
        ("[[suppress]]\ncode='AL29'\nreason='x'", "no rule has the code or prefix 'AL29'"),
        ("[[suppress]]\ncode='AL2'\nreason='x'\nexpires='soon'", "expires must be a date such as 2027-01-31, not 'soon'"),
        ("suppress = 'AL2'", "suppress: must be a list of tables"),
        ("runtime = 'executorch-metl'", "runtime: unknown runtime 'executorch-metl'; try executorch-metal"),
        ("[tool.aoti-lint]\nstrict = true", "unknown key 'tool' (only pyproject.toml has [tool.aoti-lint]; here keys"),
        ("strict = ", "aoti-lint.toml: not valid TOML"),
    ],
)  # fmt: skip
def test_mistakes(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError) as e:
        load(write(tmp_path, text))
    assert message in str(e.value)
    assert "aoti-lint.toml" in str(e.value)
    assert "\n" not in str(e.value).rstrip()


def test_mistake_in_pyproject_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"pyproject\.toml: unknown key 'runtme'; did you mean 'runtime'"):
        load(write(tmp_path, "[tool.aoti-lint]\nruntme = 'x'", "pyproject.toml"))
    with pytest.raises(ConfigError, match=r"has no \[tool\.aoti-lint\] table"):
        load(write(tmp_path, "[tool.other]", "pyproject.toml"))
    with pytest.raises(ConfigError, match="cannot read"):
        load(tmp_path / "none.toml")


def test_nearest_upwards(tmp_path: Path) -> None:
    deep = tmp_path / "a/b/c"
    deep.mkdir(parents=True)
    top = write(tmp_path, "strict = true")
    assert find(deep) == top
    write(tmp_path / "a", "[tool.ruff]", "pyproject.toml")
    assert find(deep) == top
    nearer = write(tmp_path / "a/b", "[tool.aoti-lint]", "pyproject.toml")
    assert find(deep) == nearer
    own = write(tmp_path / "a/b", "")
    assert find(deep) == own


def test_options_win(tmp_path: Path) -> None:
    base = load(write(tmp_path, FULL))
    got = override(
        base, select=["AL3"], strict=False, sizes=["s3=9"], fail_on="never", outputs=["json"], jobs=None
    )
    assert got.select is not None and set(got.select) == {c for c in CODES if c.startswith("AL3")}
    assert (got.strict, got.fail_on, got.jobs) == (False, "never", 2)
    assert got.sizes == {"s77": (1, 512), "s3": (9, 9), "u0": (2, None)}
    assert got.outputs == (Output("json"),)


def test_text_goes_to_the_terminal_when_nothing_else_does() -> None:
    assert override(Settings()).outputs == (Output("text"),)
    sarif = Output("sarif", Path("a.sarif"))
    assert override(Settings(), outputs=["sarif=a.sarif"]).outputs == (Output("text"), sarif)
    assert override(Settings(), outputs=["sarif=a.sarif", "github"]).outputs == (sarif, Output("github"))
    assert override(Settings(), outputs=["json"], output=Path("x")).outputs == (Output("json", Path("x")),)


def test_two_formats_for_one_place() -> None:
    with pytest.raises(
        ConfigError, match="text and json cannot both go to one place: write --format json=FILE"
    ):
        override(Settings(), outputs=["text", "json"])


def test_sizes_and_shards() -> None:
    assert parse_size("s77=8") == ("s77", (8, 8))
    assert parse_size("s77=1..512") == ("s77", (1, 512))
    for wrong in ("s77", "=8", "s77=", "s77=a", "s77=1.5", "s77=1..2..3", "s 7=1"):
        with pytest.raises(ConfigError):
            parse_size(wrong)
    assert parse_shard("2/3") == (2, 3)
    for wrong in ("0/3", "4/3", "1", "a/b", "1/0"):
        with pytest.raises(ConfigError):
            parse_shard(wrong)


def test_codes() -> None:
    assert expand(["AL202"]) == {"AL202"}
    assert expand(["al20"]) == {c for c in CODES if c.startswith("AL20")}
    assert expand(["all"]) == set(CODES)
    assert expand(["lost-write", " AL3 "]) == {"AL203"} | {c for c in CODES if c.startswith("AL3")}
    assert expand([""]) == frozenset()
    for wrong in ("AL29", "AL2011", "X", "E501"):
        with pytest.raises(UnknownCode):
            expand([wrong])
    assert {c[:3] for c in CODES} == set(FAMILIES)
    assert len({c.name for c in CODES.values()}) == len(CODES)


def valid(text: str) -> bool:
    """What the shipped schema says of a configuration; TOML dates are their text in JSON."""
    jsonschema = pytest.importorskip("jsonschema")
    data: Any = json.loads(json.dumps(tomllib.loads(text), default=str))
    return bool(jsonschema.Draft7Validator(SCHEMA).is_valid(data))


def test_schema_and_reader_know_the_same_keys() -> None:
    assert set(SCHEMA["properties"]) == set(KEYS)
    assert valid(FULL) and valid("")


@pytest.mark.parametrize(
    "text",
    ["selct = []", "fail-on = 'errors'", "format = 'sariff'", "strict = 'yes'", "jobs = 0", "size = { s = '1..x' }",
     "[[suppress]]\ncode = 'AL1'", "[[suppress]]\ncode = 'AL1'\nreason = ' '", "[[suppress]]\nreason = 'x'\ncode = '1'"],
)  # fmt: skip
def test_schema_refuses_what_the_reader_refuses(tmp_path: Path, text: str) -> None:
    assert not valid(text)
    with pytest.raises(ConfigError):
        load(write(tmp_path, text))
