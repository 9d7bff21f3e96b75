"""What a rule is, how rules are found, and how they are run over an analysis.

A rule is a module ``alNNN_the_name.py`` in this package that defines ``RULE``.  The ``rule`` command, the
documentation pages, the SARIF rule table and the tests are made from it.
"""

from __future__ import annotations

import importlib
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from ..analyzer.model.codes import CODES
from ..analyzer.model.findings import Evidence, Finding, Related, Severity
from ..analyzer.model.location import Loc
from ..analyzer.model.record import record, replace
from ..analyzer.reporting.fingerprint import identity, number
from .causes import with_causes

if TYPE_CHECKING:
    from ..analyzer.analysis import Analysis

    Check: TypeAlias = Callable[[Analysis], Iterator[Finding]]

_MODULE = re.compile(r"al\d{3}_[a-z0-9_]+")


@record(frozen=True)
class Rule:
    """One rule: what it says about itself, and the check.

    ``summary`` is one sentence.  ``explanation`` says what is checked and why the fault is bad.  ``bad`` and
    ``good`` are short excerpts of wrapper or kernel text.  ``check`` is None where the findings come from the
    configuration rather than from a wrapper.  ``help`` says what a user can do about it.  The texts may be
    indented as their file is.
    """

    code: str
    name: str
    severity: Severity
    summary: str
    explanation: str
    bad: str
    good: str
    since: str
    check: Check | None = None
    help: str = ""

    def __post_init__(self) -> None:
        known = CODES.get(self.code)
        if known is None or known != (self.name, self.severity):
            raise ValueError(
                f"{self.code} {self.name} [{self.severity}] is not in the table of codes: {known}"
            )
        for name in ("summary", "explanation", "bad", "good", "help"):
            object.__setattr__(self, name, textwrap.dedent(getattr(self, name)).strip())

    def finding(
        self,
        message: str,
        loc: Loc,
        *,
        severity: Severity | None = None,
        help: str | None = None,
        related: Iterable[Related] = (),
        storage: str | None = None,
        tensor: str | None = None,
        base: str | None = None,
        kernel: str | None = None,
        parameter: str | None = None,
        launch_line: int | None = None,
        op: str | None = None,
        source_nodes: Sequence[str] = (),
        evidence: Evidence | None = None,
        stops: bool = False,
    ) -> Finding:
        """A finding of this rule; ``severity`` and ``help`` default to the rule's own."""
        draft = Finding(
            code=self.code, name=self.name, severity=severity or self.severity, message=message, loc=loc,
            related=tuple(related), storage=storage, tensor=tensor, base=base, kernel=kernel, parameter=parameter,
            launch_line=launch_line, op=op, source_nodes=tuple(source_nodes), evidence=evidence or Evidence(),
            help=self.help if help is None else help, stops=stops,
        )  # fmt: skip
        return replace(draft, fingerprint=identity(draft))


def run_rules(analysis: Analysis, rules: Sequence[Rule] | None = None) -> list[Finding]:
    """Every finding of the rules (default: all) over one analysis, in the order of the file."""
    found = [
        finding
        for rule in (load_rules() if rules is None else rules)
        if rule.check is not None
        for finding in rule.check(analysis)
    ]
    found.sort(
        key=lambda f: (
            f.loc.line,
            f.loc.column,
            f.code,
            f.loc.path,
            f.kernel or "",
            f.parameter or "",
            f.message,
        )
    )
    return number(with_causes(analysis, found))


@cache
def load_rules() -> tuple[Rule, ...]:
    """All rules, by code. Raises ValueError when a module is not named for its rule, so no two share a code."""
    rules: dict[str, Rule] = {}
    for name in _modules():
        rule: Rule = importlib.import_module(f"{__package__}.{name}").RULE
        wanted = f"{rule.code.lower()}_{rule.name.replace('-', '_')}"
        if name != wanted:
            raise ValueError(f"rules/{name}.py holds {rule.code} {rule.name}: call it {wanted}.py")
        rules[rule.code] = rule
    return tuple(rules[c] for c in sorted(rules))


def _modules() -> list[str]:
    """Names of the modules that hold a rule (pkgutil would say the same, and import much to do it)."""
    return [name for name in (f.stem for f in Path(__file__).parent.glob("*.py")) if _MODULE.fullmatch(name)]


def get_rule(code: str) -> Rule | None:
    """The rule of a code or name, None when it is not written (see :data:`..analyzer.codes.CODES`)."""
    return next((r for r in load_rules() if code.upper() == r.code or code == r.name), None)
