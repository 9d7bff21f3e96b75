"""What the rules say about themselves, as text and as pages; ``python -m aoti_lint.rules.docs --check|--write``.

The pages under ``docs/rules`` and ``docs/cli.md`` are made here and nowhere else: ``--check`` fails when a file
differs from what the rules and the real ``--help`` say.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..analyzer.config import parse_codes
from ..analyzer.model.codes import CODES, FAMILIES, Code, family
from .registry import Rule, load_rules


def answer(code: str, format: str) -> str:
    """What ``aoti-lint rule`` prints for a code, prefix, name or ``all``; for nothing, the list of codes.

    Raises :class:`ConfigError` for what names no rule.
    """
    wanted = parse_codes([code or "all"])
    rules = [rule for rule in load_rules() if rule.code in wanted]
    if format == "json":
        return json.dumps({"rules": [rule_json(rule) for rule in rules]}, indent=1) + "\n"
    if not code:
        return plain_list()
    unwritten = (f"{c} {CODES[c].name} [{CODES[c].severity}]: no check yet\n" for c in sorted(wanted))
    return "\n".join(map(plain, rules)) if rules else "".join(unwritten)


def rule_json(rule: Rule) -> dict[str, Any]:
    """The rule as ``aoti-lint rule --format json`` gives it."""
    fields = ("code", "name", "severity", "summary", "explanation", "help", "bad", "good", "since")
    return {**{name: getattr(rule, name) for name in fields}, "family": family(rule.code)}


def plain(rule: Rule) -> str:
    """The rule for a terminal."""
    bad, good = (textwrap.indent(text, "    ") for text in (rule.bad, rule.good))
    return (
        f"{rule.code} {rule.name} [{rule.severity}], since {rule.since}\n\n{_paragraphs(rule.summary)}\n"
        f"{_paragraphs(rule.explanation)}\nBad:\n{bad}\n\nGood:\n{good}\n\nWhat to do:\n{_paragraphs(rule.help)}"
    )


def _paragraphs(text: str) -> str:
    parts = (" ".join(part.split()) for part in text.split("\n\n"))
    return "\n".join(textwrap.fill(part, 100) + "\n" for part in parts)


def plain_list() -> str:
    """Every code on a line, those without a rule yet included."""
    written = {rule.code: rule for rule in load_rules()}
    lines = []
    for prefix, title in FAMILIES.items():
        lines.append(f"{prefix}  {title}")
        for code, (name, severity) in CODES.items():
            if code.startswith(prefix):
                note = "" if code in written else "  (no check yet)"
                lines.append(f"  {code}  {severity:<7}  {name}{note}")
    return "\n".join(lines) + "\n"


# -- pages ------------------------------------------------------------------------------------------


def page(rule: Rule) -> str:
    """The rule's page."""
    return f"""# {rule.code}: {rule.name}

{family(rule.code)} · default severity **{rule.severity}** · since {rule.since}

{_paragraphs(rule.summary)}
## What it does and why it is bad

{_paragraphs(rule.explanation)}
## Example

```cpp
{rule.bad}
```

Use instead:

```cpp
{rule.good}
```

## What to do

{_paragraphs(rule.help)}"""


def index() -> str:
    """The list of all codes."""
    written = {rule.code: rule for rule in load_rules()}
    lines = ["# Rules", "", "`aoti-lint rule CODE` shows the same pages. Severities are the defaults."]
    for prefix, title in FAMILIES.items():
        lines += [
            "",
            f"## {prefix}: {title}",
            "",
            "| code | name | severity | |",
            "| --- | --- | --- | --- |",
        ]
        lines += [_row(c, known, written.get(c)) for c, known in CODES.items() if c.startswith(prefix)]
    return "\n".join(lines) + "\n"


def _row(code: str, known: Code, rule: Rule | None) -> str:
    link = f"[{code}]({code}.md)" if rule else code
    summary = " ".join(rule.summary.split()) if rule else "no check yet"
    return f"| {link} | {known.name} | {known.severity} | {summary} |"


def command_page() -> str:
    """The real ``--help`` of the tool and of every command it lists."""
    top = _help(())
    listed = re.findall(r"^  ([a-z]+)  ", top.partition("\nCommands:\n")[2], re.MULTILINE)
    parts = ["# Command line", ""]
    for title, text in [("aoti-lint", top), *((f"aoti-lint {c}", _help((c,))) for c in listed)]:
        parts += [f"## {title}", "", "```text", text, "```", ""]
    return "\n".join(parts)


def _help(command: tuple[str, ...]) -> str:
    # The width of help depends on the terminal; completion options on the shell that is running.
    env = {**os.environ, "COLUMNS": "100", "TERMINAL_WIDTH": "100", "NO_COLOR": "1"}
    call = [sys.executable, "-m", "aoti_lint", *command, "--help"]
    done = subprocess.run(call, env=env, capture_output=True, text=True, check=True)
    return "\n".join(line.rstrip() for line in done.stdout.strip().splitlines())


def pages() -> Iterator[tuple[str, str]]:
    """Every generated file: its path below the repository, and its text."""
    for rule in load_rules():
        yield f"docs/rules/{rule.code}.md", page(rule)
    yield "docs/rules/index.md", index()
    yield "docs/cli.md", command_page()


def main(arguments: list[str]) -> int:
    """Writes the pages, or names those that differ and returns 1."""
    if arguments not in (["--check"], ["--write"]):
        sys.stderr.write("usage: python -m aoti_lint.rules.docs --check|--write\n")
        return 2
    root = Path(__file__).resolve().parent.parent
    wanted = dict(pages())
    present = {f"docs/rules/{p.name}" for p in (root / "docs/rules").glob("*.md")}
    wrong = sorted(present - wanted.keys())
    for name, text in wanted.items():
        file = root / name
        if not file.is_file() or file.read_text(encoding="utf-8") != text:
            wrong.append(name)
            if arguments == ["--write"]:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8")
    if arguments == ["--write"]:
        for name in present - wanted.keys():
            (root / name).unlink()
        return 0
    for name in wrong:
        sys.stderr.write(f"{name} is not what the rules say: python -m aoti_lint.rules.docs --write\n")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
