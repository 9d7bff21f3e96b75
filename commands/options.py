"""Options that several commands share: what they mean and what the shell completes them to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from ..analyzer.model.record import record

#: A command: its parameters say what it takes on the command line, it returns the exit code.
Command: TypeAlias = Callable[..., int]


@record(frozen=True)
class Option:
    """How a parameter of a command is written: an option, or an argument when it has no names.

    ``takes_rest``: what follows the argument belongs to it, options too.
    """

    names: tuple[str, ...]
    metavar: str | None
    help: str = ""
    complete: Callable[[str], list[str]] | None = None
    least: int | None = None
    takes_rest: bool = False


def _codes(incomplete: str) -> list[str]:
    from ..analyzer.model.codes import CODES, FAMILIES

    return [c for c in (*FAMILIES, *CODES) if c.startswith(incomplete.upper())]


def _formats(incomplete: str) -> list[str]:
    from ..analyzer.config import FORMATS

    return [f for f in FORMATS if f.startswith(incomplete)]


def _levels(incomplete: str) -> list[str]:
    from ..analyzer.config import FAIL_ON

    return [level for level in FAIL_ON if level.startswith(incomplete)]


def option(
    *names: str, metavar: str | None = None, help: str, complete: Any = None, least: int | None = None
) -> Option:
    return Option(names, metavar, help, complete, least)


def argument(metavar: str, *, takes_rest: bool = False) -> Option:
    """It has no line in --help; the command's own text says what it is."""
    return Option((), metavar, takes_rest=takes_rest)


Paths = Annotated[list[str], argument("PATH")]
OnePath = Annotated[str, argument("PATH")]
Texts: TypeAlias = list[str] | None
Text: TypeAlias = str | None
File: TypeAlias = Path | None
Flag: TypeAlias = bool | None

_LEVELS = "Least severity that makes the exit code 1: error (default), warning, note or never."
_FORMATS = "text (default), json, sarif, github, gitlab or junit; with =FILE written there. Repeatable."
_RUNTIME = "Memory model to check against: auto (default), or one that 'aoti-lint runtimes' lists."
_RUNTIMES = f"{_RUNTIME} Repeatable, or all: which versions take the wrapper, as a table."
GRAPHS = "text, dot or json; svg or html with the extra 'pictures' installed."
_SELECT = "Only these codes, prefixes or names: AL2,AL401."
_BASELINE = "Leave out the findings this file holds."
_NEW_BASELINE = "Accept today's findings and write them there."
_CONFIG = "Configuration instead of the nearest aoti-lint.toml or pyproject.toml."

Runtime = Annotated[Text, option("--runtime", metavar="NAME", help=_RUNTIME)]
Runtimes = Annotated[Texts, option("--runtime", metavar="NAME", help=_RUNTIMES)]
Size = Annotated[
    Texts, option("--size", metavar="NAME=VALUE", help="Narrow a dynamic size: s77=8 or s77=1..512.")
]
Formats = Annotated[Texts, option("--format", "-f", metavar="NAME[=FILE]", help=_FORMATS, complete=_formats)]
TextOrJson = Annotated[str, option("--format", "-f", metavar="NAME", help="text or json.")]
OutputFile = Annotated[
    File, option("--output", "-o", metavar="FILE", help="Write there, not to standard output.")
]
Select = Annotated[Texts, option("--select", metavar="CODES", help=_SELECT, complete=_codes)]
Ignore = Annotated[Texts, option("--ignore", metavar="CODES", help="None of these.", complete=_codes)]
FailOn = Annotated[Text, option("--fail-on", metavar="LEVEL", help=_LEVELS, complete=_levels)]
Strict = Annotated[Flag, option("--strict/--no-strict", help="Count what is undecided as an error.")]
Baseline = Annotated[File, option("--baseline", metavar="FILE", help=_BASELINE)]
NewBaseline = Annotated[File, option("--write-baseline", metavar="FILE", help=_NEW_BASELINE)]
Jobs = Annotated[
    int | None, option("--jobs", "-j", metavar="N", least=1, help="Processes (default: one for each core).")
]
CacheDir = Annotated[
    File, option("--cache-dir", metavar="DIR", help="Keep results there; check only what has changed.")
]
Exclude = Annotated[
    Texts, option("--exclude", metavar="GLOB", help="Leave out inputs and folders of that name. Repeatable.")
]
StdinName = Annotated[
    Text, option("--stdin-filename", metavar="NAME", help="What to call the text on standard input.")
]
Shard = Annotated[
    Text, option("--shard", metavar="I/N", help="Only part I of N of the inputs, for a CI matrix.")
]
Statistics = Annotated[Flag, option("--statistics", help="Add the number of findings of each code.")]
Quiet = Annotated[Flag, option("--quiet", "-q", help="One line for each finding, no progress.")]
Verbose = Annotated[
    Flag, option("--verbose", "-v", help="Every finding in full, and why unknowns are unknown.")
]
NoColor = Annotated[Flag, option("--no-color", help="Plain text (NO_COLOR does the same).")]
ConfigFile = Annotated[File, option("--config", metavar="FILE", help=_CONFIG)]
