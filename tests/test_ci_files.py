"""Hooks, action, CI examples and problem matcher: read by those who use them, their steps run by a shell."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
DATA = ROOT / "tests/data/slice.wrapper.cpp"
yaml = pytest.importorskip("yaml")


def read(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text())


@pytest.mark.parametrize(
    ("name", "url"),
    [
        ("action.yml", "https://json.schemastore.org/github-action.json"),
        ("docs/examples/github-workflow.yml", "https://json.schemastore.org/github-workflow.json"),
        ("docs/examples/gitlab-ci.yml", "https://gitlab.com/gitlab-org/gitlab/-/raw/master/app/assets/javascripts/editor/schema/ci.json"),
    ],
)  # fmt: skip
def test_files_fit_the_schemas_of_their_readers(
    schema_store: Callable[[str], Any], name: str, url: str
) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    data = read(name)
    # YAML 1.1 reads the key `on` as true.
    data = {"on" if key is True else key: value for key, value in data.items()}
    errors = [
        f"{list(e.path)}: {e.message}"
        for e in jsonschema.Draft7Validator(schema_store(url)).iter_errors(data)
    ]
    assert errors == []


# -- the action -----------------------------------------------------------------------------------------


class Runner:
    """What a GitHub runner does with a composite action's ``run`` steps."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.temp = folder / "runner temp"
        tool = self.temp / "aoti-lint/bin/aoti-lint"
        tool.parent.mkdir(parents=True)
        tool.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m aoti_lint "$@"\n')
        tool.chmod(0o755)
        self.action = read("action.yml")

    def check(self, **inputs: str) -> tuple[subprocess.CompletedProcess[str], dict[str, str]]:
        defaults = {name: str(value["default"]) for name, value in self.action["inputs"].items()}
        step = next(s for s in self.action["runs"]["steps"] if s.get("id") == "check")
        env = {**os.environ, "RUNNER_TEMP": str(self.temp), "GITHUB_OUTPUT": str(self.folder / "output")}
        for name, value in step["env"].items():
            key = re.fullmatch(r"\$\{\{ inputs\.([\w-]+) \}\}", value)
            assert key is not None, value
            env[name] = {**defaults, **{k.replace("_", "-"): v for k, v in inputs.items()}}[key[1]]
        (self.folder / "output").write_text("")
        call = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        done = subprocess.run(call, cwd=self.folder, env=env, capture_output=True, text=True, check=False)
        outputs = (line.split("=", 1) for line in (self.folder / "output").read_text().splitlines())
        return done, dict(outputs)


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    shutil.copy(DATA, tmp_path / "m.wrapper.cpp")
    return Runner(tmp_path)


def test_action_reports_and_fails(runner: Runner) -> None:
    done, outputs = runner.check()
    assert done.returncode == 1, done.stderr
    assert outputs == {"sarif-file": "aoti-lint.sarif", "exit-code": "1"}
    assert "error[AL202]: kernel-write-out-of-bounds" in done.stdout
    assert "::error file=m.wrapper.cpp,line=100," in done.stdout
    assert json.loads((runner.folder / "aoti-lint.sarif").read_text())["runs"][0]["results"]


def test_action_inputs(runner: Runner) -> None:
    shutil.copy(DATA, runner.folder / "n.wrapper.cpp")
    done, outputs = runner.check(
        paths="m.*.cpp\nn.wrapper.cpp",
        runtime="libtorch",
        args="--statistics --strict",
        annotations="false",
        sarif_file="a b.sarif",
    )
    assert (done.returncode, outputs["exit-code"]) == (0, "0"), done.stdout + done.stderr
    assert "in 2 files" in done.stdout and "::" not in done.stdout
    assert (runner.folder / "a b.sarif").is_file()
    assert runner.check(fail_on="never")[0].returncode == 0


def test_action_inputs_are_no_code(runner: Runner) -> None:
    done, _ = runner.check(paths="$(touch owned) `touch owned` ; touch owned", args="")
    assert done.returncode == 3
    assert not (runner.folder / "owned").exists()
    done, _ = runner.check(runtime="x; touch owned")
    assert done.returncode == 2 and "unknown runtime 'x; touch owned'" in done.stderr


def test_action_keeps_inputs_out_of_scripts() -> None:
    for step in read("action.yml")["runs"]["steps"]:
        assert "${{" not in step.get("run", "")


# -- GitLab ---------------------------------------------------------------------------------------------


def test_gitlab_script(tmp_path: Path) -> None:
    job = read("docs/examples/gitlab-ci.yml")["aoti-lint"]
    (tmp_path / "models").mkdir()
    shutil.copy(DATA, tmp_path / "models/m.wrapper.cpp")
    tools = tmp_path / "bin"
    tools.mkdir()
    for name, body in (("pip", "exit 0"), ("aoti-lint", f'exec "{sys.executable}" -m aoti_lint "$@"')):
        (tools / name).write_text(f"#!/bin/sh\n{body}\n")
        (tools / name).chmod(0o755)
    codes = []
    for index in range(1, job["parallel"] + 1):
        env = {
            **os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "CI_NODE_INDEX": str(index),
            "CI_NODE_TOTAL": str(job["parallel"]),
        }  # fmt: skip
        script = "\n".join(["set -e", *job["script"]])
        done = subprocess.run(
            ["bash", "-c", script], cwd=tmp_path, env=env, capture_output=True, text=True, check=False
        )
        codes.append(done.returncode)
        for report in job["artifacts"]["reports"].values():
            assert (tmp_path / report).is_file(), done.stderr
    assert codes == [1, 0]


# -- problem matcher ------------------------------------------------------------------------------------


def test_problem_matcher_reads_quiet_output(tmp_path: Path) -> None:
    shutil.copy(DATA, tmp_path / "m.wrapper.cpp")
    call = [sys.executable, "-m", "aoti_lint", "check", "m.wrapper.cpp", "--quiet"]
    out = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True, check=False).stdout
    matchers = json.loads((ROOT / ".github/aoti-lint-matcher.json").read_text())["problemMatcher"]
    found = []
    for line in [*out.splitlines(), "m.wrapper.cpp:3:1: note[AL504]: an input is not checked"]:
        for matcher in matchers:
            (pattern,) = matcher["pattern"]
            if match := re.search(pattern["regexp"], line):
                severity = match[pattern["severity"]] if "severity" in pattern else matcher["severity"]
                found.append(
                    (match[pattern["file"]], match[pattern["line"]], severity, match[pattern["code"]])
                )
    assert ("m.wrapper.cpp", "100", "error", "AL202") in found
    assert ("m.wrapper.cpp", "3", "notice", "AL504") in found
    assert len(found) == len(out.splitlines()) - 2 + 1


# -- pre-commit -----------------------------------------------------------------------------------------


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "protocol.file.allow=always"]
    done = subprocess.run(
        ["git", *identity, *arguments], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_hooks_are_valid() -> None:
    validate = pytest.importorskip("pre_commit.clientlib")
    manifest = validate.load_manifest(str(ROOT / ".pre-commit-hooks.yaml"))
    assert [hook["id"] for hook in manifest] == ["aoti-lint", "aoti-lint-tree"]
    used = {
        hook["id"] for repo in read("docs/examples/pre-commit-config.yaml")["repos"] for hook in repo["hooks"]
    }
    assert used == {hook["id"] for hook in manifest}


@pytest.mark.slow
def test_hooks_in_a_repository(tmp_path: Path) -> None:
    """The real pre-commit installs the tool from a clone and runs both hooks."""
    if shutil.which("pre-commit") is None or not (ROOT / ".git").exists():
        pytest.skip("needs pre-commit and a clone")
    tool, scratch = tmp_path / "tool", tmp_path / "scratch"
    git(tmp_path, "clone", "--quiet", str(ROOT), str(tool))
    scratch.mkdir()
    git(scratch, "init", "--quiet")
    (scratch / "models").mkdir()
    shutil.copy(DATA, scratch / "models/m.wrapper.cpp")
    (scratch / "readme.md").write_text("no wrapper\n")
    config = {
        "repos": [
            {
                "repo": str(tool), "rev": git(tool, "rev-parse", "HEAD").strip(),
                "hooks": [{"id": "aoti-lint"}, {"id": "aoti-lint-tree", "args": ["--runtime", "libtorch"]}],
            }
        ]
    }  # fmt: skip
    (scratch / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
    git(scratch, "add", ".")
    env = {**os.environ, "PRE_COMMIT_HOME": str(tmp_path / "home"), "GIT_CONFIG_COUNT": "1",
           "GIT_CONFIG_KEY_0": "protocol.file.allow", "GIT_CONFIG_VALUE_0": "always"}  # fmt: skip

    def run(hook: str, *more: str) -> subprocess.CompletedProcess[str]:
        call = ["pre-commit", "run", hook, "--verbose", *more]
        return subprocess.run(call, cwd=scratch, env=env, capture_output=True, text=True, check=False)

    each = run("aoti-lint", "--all-files")
    if "No matching distribution" in each.stdout or "ConnectionError" in each.stdout:
        pytest.skip("pre-commit cannot install from here")
    assert each.returncode == 1, each.stdout + each.stderr
    assert "exit code: 1" in each.stdout and "models/m.wrapper.cpp" in each.stdout and "AL202" in each.stdout
    tree = run("aoti-lint-tree", "--all-files")
    assert tree.returncode == 0, tree.stdout
    assert "Skipped" in run("aoti-lint", "--files", "readme.md").stdout
