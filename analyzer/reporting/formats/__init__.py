"""Output formats, one module each.

Every format is a function ``render(report, context) -> str``; it reads findings and prints nothing.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from ...model.record import field, record
from ..words import shown

if TYPE_CHECKING:
    from ...model.findings import Report, Severity
    from ...model.location import Loc


class RuleText(Protocol):
    """What a format may say about a rule."""

    @property
    def code(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def severity(self) -> Severity: ...
    @property
    def summary(self) -> str: ...
    @property
    def explanation(self) -> str: ...
    @property
    def help(self) -> str: ...
    @property
    def bad(self) -> str: ...
    @property
    def good(self) -> str: ...


@record(frozen=True)
class Context:
    """How to render: what the terminal can do, what was asked for, and what is known beside the report.

    ``root`` is the folder that paths are shown relative to; ``fails`` the severities that make the run fail;
    ``notes`` are sentences for the summary, such as how many findings are suppressed.
    """

    root: str = ""
    color: bool = False
    width: int = 100
    quiet: bool = False
    verbose: bool = False
    statistics: bool = False
    fails: Sequence[Severity] = ("error",)
    notes: Sequence[str] = ()
    rules: Mapping[str, RuleText] = field(default_factory=dict)


def render(format: str, report: Report, context: Context) -> str:
    """The report in one of the formats, ending in a line break."""
    if format in ("sarif", "github", "gitlab", "junit"):
        from ..compare import merged

        report = merged(report)
    text: str = importlib.import_module(f"{__package__}.{format}").render(report, context)
    return text


def place(loc: Loc, root: str) -> tuple[str, int, str]:
    """File and line for a service that shows files of the repository, and where in the file when it is a package.

    A wrapper inside ``model.pt2`` is shown as line 1 of the package; the third part is ``member:line: ``, else ''.
    """
    path = shown(loc.path, root)
    inside = re.match(r"(.+?\.(?:pt2|zip))!(.+)", path)
    return (inside[1], 1, f"{inside[2]}:{loc.line}: ") if inside else (path, loc.line, "")
