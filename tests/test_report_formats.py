"""json, sarif, github, gitlab and junit: each checked by something that was not written here where there is one."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aoti_lint.analyzer.model.findings import Counts, Evidence, FileReport, Finding, Related, Report, Severity
from aoti_lint.analyzer.model.location import Loc
from aoti_lint.analyzer.model.record import replace
from aoti_lint.analyzer.reporting.formats import Context, render
from aoti_lint.rules.registry import load_rules

ROOT = "/repo"
PATH = "/repo/models/c2f, part: 100%.wrapper.cpp"
CONTEXT = Context(root=ROOT, rules={rule.code: rule for rule in load_rules()})


def finding(severity: Severity = "error", n: int = 0, **changes: Any) -> Finding:
    """A channels-last slice {2,8,8,8}/{2048,1,256,32}: last element 2048+7+7*256+7*32 = 4071, packed copy 1024."""
    base = Finding(
        code="AL202", name="kernel-write-out-of-bounds", severity=severity,
        message="mps_lib_4 stores up to element 4071 of out_ptr1, but buf12 holds 1024",
        loc=Loc(PATH, 612 + n, 12, 612 + n, 40),
        related=(
            Related("allocated here", Loc(PATH, 600, 5)),
            Related("out_ptr1[y0 + 32*x2 + 2048*y1]", Loc(PATH, 455, 9, 455, 38)),
        ),
        storage="buf15", tensor="buf12", base="buf15", kernel="mps_lib_4", parameter="out_ptr1", launch_line=640,
        source_nodes=("chunk", "cat"), help="export with another layout, or use a runtime that keeps the view",
        evidence=Evidence(
            access="write", min=0, max=4071, available=1024, witness={"y0": 7, "y1": 1, "x2": 63},
            sizes=(2, 8, 8, 8), strides=(2048, 1, 256, 32), offset=8,
        ),
        fingerprint=f"{n:016x}",
    )  # fmt: skip
    return replace(base, **changes)


def analysed(*findings: Finding, path: str = PATH) -> FileReport:
    counts = Counts(storages=3, views=4, launches=5, extern_calls=1, proved=17, fault=1, unknown=2)
    return FileReport(
        path, "analysed", device="mps", torch="2.14.1", runtime="executorch-metal", runtime_date="2026-08-22",
        counts=counts, symbols=[("s77", 1, 512), ("u0", 0, None)], findings=list(findings),
    )  # fmt: skip


def report(*files: FileReport) -> Report:
    return Report(list(files), "1.2.3")


FAILED = FileReport(
    "/repo/models/cut.wrapper.cpp", "failed", error="the wrapper is truncated: run_impl has no end"
)
PACKED = finding(n=3, loc=Loc("/repo/m.pt2!data/a.wrapper.cpp", 9, 2), related=())
EVERYTHING = report(
    analysed(
        finding(),
        finding("warning", 1, code="AL102", name="view-materialized"),
        finding("note", 2, related=()),
    ),
    FAILED,
    analysed(PACKED, path="/repo/m.pt2!data/a.wrapper.cpp"),
    analysed(path="elsewhere/ok.wrapper.cpp"),
)


def own_schema() -> Any:
    path = Path(__file__).parent.parent / "analyzer/reporting/formats/schema.json"
    return json.loads(path.read_text())


# -- json ---------------------------------------------------------------------------------------------


def test_json_fits_its_schema() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = own_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(json.loads(render("json", EVERYTHING, CONTEXT)), schema)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("files", 0, "findings", 0, "severity"), "fatal"),
        (("files", 0, "findings", 0, "location", "line"), 0),
        (("files", 0, "findings", 0, "evidence", "witness"), {"x0": "12"}),
        (("files", 1, "error"), None),
        (("files", 0, "error"), "both analysed and failed"),
        (("files", 0, "status"), "skipped"),
        (("schema",), "aoti-lint/2"),
        (("summary", "errors"), -1),
        (("more",), 1),
    ],
)
def test_schema_refuses(path: tuple[str | int, ...], value: object) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    data = json.loads(render("json", EVERYTHING, CONTEXT))
    place = data
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(data, own_schema())


# -- sarif --------------------------------------------------------------------------------------------


def sarif(of: Report = EVERYTHING) -> Any:
    return json.loads(render("sarif", of, CONTEXT))


def test_sarif_fits_the_official_schema(schema_store: Callable[[str], Any]) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    validator = jsonschema.Draft7Validator(schema_store("https://json.schemastore.org/sarif-2.1.0.json"))
    assert [e.message for e in validator.iter_errors(sarif())] == []
    assert [e.message for e in validator.iter_errors(sarif(report()))] == []
    broken = sarif()
    broken["runs"][0]["results"][0]["level"] = "fatal"
    assert not validator.is_valid(broken)


def test_sarif_result() -> None:
    run = sarif()["runs"][0]
    result = run["results"][0]
    rule = run["tool"]["driver"]["rules"][result["ruleIndex"]]
    assert (rule["id"], result["ruleId"], result["level"]) == ("AL202", "AL202", "error")
    assert float(rule["properties"]["security-severity"]) > 7
    physical = result["locations"][0]["physicalLocation"]
    assert physical["artifactLocation"] == {
        "uri": "models/c2f%2C%20part%3A%20100%25.wrapper.cpp",
        "uriBaseId": "%SRCROOT%",
    }
    assert physical["region"] == {"startLine": 612, "startColumn": 12, "endLine": 612, "endColumn": 40}
    assert result["partialFingerprints"] == {"aotiLint/v1": "0" * 16}
    flow = result["codeFlows"][0]["threadFlows"][0]["locations"]
    lines = [step["location"]["physicalLocation"]["region"]["startLine"] for step in flow]
    assert lines == [600, 455, 612]
    assert "codeFlows" not in run["results"][2]


def test_sarif_names_what_could_not_be_analysed() -> None:
    invocation = sarif()["runs"][0]["invocations"][0]
    assert invocation["executionSuccessful"] is False
    (notice,) = invocation["toolExecutionNotifications"]
    assert "models/cut.wrapper.cpp: the wrapper is truncated" in notice["message"]["text"]
    assert sarif(report(analysed()))["runs"][0]["invocations"] == [{"executionSuccessful": True}]


def test_sarif_levels_and_rules_of_every_code() -> None:
    run = sarif()["runs"][0]
    assert [r["level"] for r in run["results"]] == ["error", "warning", "note", "error"]
    ids = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert ids == sorted(ids)
    assert {rule.code for rule in load_rules()} <= set(ids)
    assert all(r["help"]["text"] for r in run["tool"]["driver"]["rules"] if r["id"] in CONTEXT.rules)


# -- github -------------------------------------------------------------------------------------------


def commands(of: Report) -> list[tuple[str, dict[str, str], str]]:
    """Workflow commands as the runner reads them: split first, then unescape."""
    out = []
    for line in render("github", of, CONTEXT).splitlines():
        match = re.fullmatch(r"::(\w+) ([^:]*)::(.*)", line)
        assert match, line
        properties = dict(pair.split("=", 1) for pair in match[2].split(","))
        out.append((match[1], {k: unescape(v) for k, v in properties.items()}, unescape(match[3])))
    return out


def unescape(text: str) -> str:
    for code, char in (("%2C", ","), ("%3A", ":"), ("%0A", "\n"), ("%0D", "\r"), ("%25", "%")):
        text = text.replace(code, char)
    return text


def test_github_annotation() -> None:
    level, where, message = commands(report(analysed(finding(message="50% of\r\nit: a, b"))))[0]
    assert level == "error"
    assert where == {
        "file": "models/c2f, part: 100%.wrapper.cpp", "line": "612", "col": "12", "endColumn": "40",
        "title": "AL202 kernel-write-out-of-bounds",
    }  # fmt: skip
    assert message.startswith("50% of\r\nit: a, b\nhelp: export with another layout")


def test_github_as_a_library_of_actions_writes_it(capsys: pytest.CaptureFixture[str]) -> None:
    toolkit = pytest.importorskip("github_action_toolkit.print_messages")
    message = "50% of\r\nit: a, b"
    (ours,) = render("github", report(analysed(finding(message=message, help=""))), CONTEXT).splitlines()
    toolkit.error(
        toolkit.escape_data(message), title="AL202 kernel-write-out-of-bounds", file="models/c2f, part: 100%.wrapper.cpp",
        line=612, col=12, end_column=40,
    )  # fmt: skip
    _, options, text = capsys.readouterr().out.rstrip("\n").split("::", 2)
    level, _, wanted = options.partition(" ")
    assert ours.startswith(f"::{level} ") and ours.endswith(f"::{text}")
    assert sorted(ours.split("::")[1].partition(" ")[2].split(",")) == sorted(wanted.split(","))


def test_github_sorted_by_severity_and_limited() -> None:
    many = report(
        analysed(finding("note"), *(finding("warning", n) for n in range(10)), finding("error")), FAILED
    )
    got = commands(many)
    assert [level for level, _, _ in got] == ["error"] * 2 + ["warning"] * 10 + ["notice"]
    assert got[11][2].startswith("1 warning more")
    nine = commands(report(analysed(*(finding("warning", n) for n in range(9)))))
    assert len(nine) == 9
    many_notes = commands(report(analysed(*(finding("note", n) for n in range(40)))))
    assert len(many_notes) == 10 and many_notes[9][2].startswith("31 notices more")


def test_github_points_at_the_package_that_is_in_the_repository() -> None:
    ((_, where, message),) = commands(report(analysed(PACKED)))
    assert (where["file"], where["line"]) == ("m.pt2", "1")
    assert "col" not in where
    assert message.startswith("data/a.wrapper.cpp:9: mps_lib_4")


def test_github_range_over_lines_has_no_columns() -> None:
    ((_, where, _),) = commands(report(analysed(finding(loc=Loc(PATH, 5, 7, 6, 2)))))
    assert (where["line"], where["endLine"]) == ("5", "6")
    assert "col" not in where and "endColumn" not in where


# -- gitlab -------------------------------------------------------------------------------------------


def test_gitlab() -> None:
    issues = json.loads(render("gitlab", EVERYTHING, CONTEXT))
    assert [i["severity"] for i in issues] == ["critical", "major", "info", "blocker", "critical"]
    for issue in issues:
        assert set(issue) == {"check_name", "description", "severity", "fingerprint", "location"}
        assert not issue["location"]["path"].startswith(("/", "./"))
        assert issue["location"]["lines"]["begin"] >= 1
    assert issues[4]["location"] == {"path": "m.pt2", "lines": {"begin": 1}}


def test_gitlab_fingerprints_are_unique_over_files() -> None:
    twice = report(analysed(finding()), analysed(finding(), path="/repo/other.wrapper.cpp"))
    issues = json.loads(render("gitlab", twice, CONTEXT))
    assert len({i["fingerprint"] for i in issues}) == len(issues) == 2
    named_twice = report(analysed(finding()), analysed(finding()))
    assert len(json.loads(render("gitlab", named_twice, CONTEXT))) == 1


# -- junit --------------------------------------------------------------------------------------------


def test_junit_as_its_readers_read_it() -> None:
    junitparser = pytest.importorskip("junitparser")
    xml = junitparser.JUnitXml.fromstring(render("junit", EVERYTHING, CONTEXT).encode())
    assert (xml.tests, xml.failures, xml.errors) == (4, 2, 1)
    suites = list(xml)
    assert [s.name for s in suites][1:3] == ["models/cut.wrapper.cpp", "m.pt2!data/a.wrapper.cpp"]
    case = next(iter(suites[0]))
    assert case.name == "AL202 kernel-write-out-of-bounds at line 612"
    assert "4071" in case.result[0].message
    assert next(iter(suites[3])).is_passed
    assert "warning[AL102]" in suites[0]._elem.findtext("system-out")


def test_junit_fails_what_the_run_fails_on() -> None:
    of = report(analysed(finding("warning"), finding("note", 1)))
    cases: list[tuple[tuple[Severity, ...], str, str]] = [
        ((), "0", "1"),
        (("error", "warning"), "1", "1"),
        (("note",), "1", "1"),
    ]
    for fails, failures, tests in cases:
        root = ET.fromstring(render("junit", of, replace(CONTEXT, fails=fails)))
        assert (root.get("failures"), root.get("tests")) == (failures, tests)


def test_junit_survives_what_xml_cannot_say() -> None:
    of = report(analysed(finding(message="a\x00b\x1b[31m <&> \ud800 ok")))
    root = ET.fromstring(render("junit", of, CONTEXT))
    failure = root.find("./testsuite/testcase/failure")
    assert failure is not None and failure.get("message") == "a?b?[31m <&> ? ok"
