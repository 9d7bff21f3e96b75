"""Ordinary command lines are read the same with and without the option parser; it alone reads the others."""

from __future__ import annotations

import inspect
from functools import partial
from typing import Any

import pytest
import typer
from aoti_lint.cli import COMMANDS
from aoti_lint.commands import plain, shell
from hypothesis import given
from hypothesis import strategies as st

PARSER = typer.main.get_command(shell.application(COMMANDS))
WORDS = st.sampled_from(["a.wrapper.cpp", "-", "m.pt2", "s77=8", "x=y", "AL2,AL401", "1/2", "", "é"])
READABLE = sorted(n for n in COMMANDS if n != "run")


def parsed(name: str, words: list[str]) -> dict[str, Any]:
    """What the option parser makes of a command line; raises when it refuses."""
    command = PARSER.commands[name]  # type: ignore[attr-defined]
    context = command.make_context(name, list(words))
    return {k: v for k, v in context.params.items() if v not in (None, [], ())}


def read(name: str, words: list[str]) -> dict[str, Any] | None:
    call = plain.read(COMMANDS, [name, *words])
    if call is None:
        return None
    assert isinstance(call, partial) and call.func is COMMANDS[name] and not call.args
    bound = inspect.signature(call.func).bind(**call.keywords)
    bound.apply_defaults()
    return {k: v for k, v in bound.arguments.items() if v not in (None, [], ())}


@st.composite
def lines(draw: st.DrawFn) -> tuple[str, list[str]]:
    """Some options of a command, each complete, and arguments among them."""
    name = draw(st.sampled_from(READABLE))
    words: list[list[str]] = []
    for kind, option in plain.parameters(COMMANDS[name]).values():
        for _ in range(draw(st.sampled_from([0, 0, 1, 2]))):
            if not option.names:
                words.append([draw(WORDS)])
                continue
            spelled = draw(st.sampled_from([s for n in option.names for s in n.split("/")]))
            value = draw(st.sampled_from(["1", "7", "0", "x"]) if option.least is not None else WORDS)
            if "bool" in str(kind):
                words.append([spelled])
            elif spelled.startswith("--") and draw(st.booleans()):
                words.append([f"{spelled}={value}"])
            else:
                words.append([spelled, value])
    return name, [w for group in draw(st.permutations(words)) for w in group]


@given(lines())
def test_both_read_the_same(line: tuple[str, list[str]]) -> None:
    name, words = line
    ours = read(name, words)
    if ours is not None:
        assert ours == parsed(name, words)


@pytest.mark.parametrize(
    ("line", "values"),
    [
        ("check a b -q --runtime x --runtime=y", {"paths": ["a", "b"], "quiet": True, "runtime": ["x", "y"]}),
        ("check - --no-strict -j 3", {"paths": ["-"], "strict": False, "jobs": 3}),
        ("rule", {}),
        ("rule AL101 -f json", {"code": "AL101", "format": "json"}),
    ],
)
def test_the_usual_ones_are_read_at_once(line: str, values: dict[str, Any]) -> None:
    name, *words = line.split()
    found = read(name, words)
    assert found is not None
    assert {k: v for k, v in found.items() if k in values} == values


@pytest.mark.parametrize(
    "line",
    [
        "", "--help", "--version", "chek a", "check", "check --help", "check a -h", "check a --runtim x", "check a --nope",
        "check a --runtime", "check a --runtime --quiet", "check a -qv", "check a -fjson", "check a -j 0", "check a -j x",
        "check a --quiet=1", "check a -- b", "kernels a b", "kernels", "run python a.py", "run -- python a.py",
    ],
)  # fmt: skip
def test_the_rest_is_left_to_the_parser(line: str) -> None:
    assert plain.read(COMMANDS, line.split()) is None


def test_completion_is_left_to_the_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_AOTI_LINT_COMPLETE", "complete_bash")
    assert plain.read(COMMANDS, ["check", "a"]) is None
