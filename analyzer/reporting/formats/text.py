"""``--format text``: for people. A finding, the text it points at, the places that explain it, what to do.

The report is a list of lines of styled pieces; only a colour terminal needs rich to show them.
"""

from __future__ import annotations

import collections
from collections.abc import Iterator
from typing import TypeAlias

from ...model.codes import CODES
from ...model.findings import SEVERITIES, FileReport, Finding, Report, Severity
from ...model.location import Loc
from ..compare import compared, merged
from ..words import plural, shown
from . import Context
from .compared import tables
from .excerpt import Excerpt, excerpt

#: Pieces of one line: (text, rich style).
Line: TypeAlias = "list[tuple[str, str]]"

_STYLE: dict[Severity, str] = {"error": "bold red", "warning": "bold yellow", "note": "bold cyan"}
#: More equal findings than this in a file are shown by their first few and a list of lines.
_EQUAL = 5
_SHOWN = 2


def render(report: Report, context: Context) -> str:
    lines: list[Line] = []
    if report.files and all(file.status == "failed" for file in report.files):
        # Nothing was looked at, so there is nothing to sum up: a line for each input says why.
        return _paint([line for file in report.files for line in _brief(file, context)], context)
    several = compared(report)
    if several and context.quiet:
        report = merged(report)
    elif several:
        lines += [[(line, "")] for line in tables(report, context).splitlines()] + [[]]
    for file in report.files if not several or context.quiet or context.verbose else ():
        lines += (
            _brief(file, context) if context.quiet else _file(file, context, alone=len(report.files) == 1)
        )
    if context.statistics:
        lines += _statistics(report)
    lines += _summary(report, context) if not several else _advice(context)
    return _paint(lines, context)


def _paint(lines: list[Line], context: Context) -> str:
    if not context.color:
        return "".join("".join(text for text, _ in line).rstrip() + "\n" for line in lines)
    import io

    from rich.console import Console
    from rich.text import Text

    out = io.StringIO()
    console = Console(
        file=out, force_terminal=True, width=context.width, highlight=False, legacy_windows=False
    )
    for line in lines:
        console.print(Text.assemble(*line), soft_wrap=True)
    return out.getvalue()


# -- files ------------------------------------------------------------------------------------------


def _brief(file: FileReport, context: Context) -> list[Line]:
    """One line for each finding, as compilers print them."""
    if file.status == "failed":
        return [[(f"{shown(file.path, context.root)}: error: {file.error}", "")]]
    return [
        [
            (f"{_place(f.loc, context)}: ", ""),
            (f"{f.severity}[{f.code}]", _STYLE[f.severity]),
            (f": {f.message}", ""),
        ]
        for f in file.findings
    ]


def _file(file: FileReport, context: Context, alone: bool) -> list[Line]:
    if file.status == "failed":
        path = shown(file.path, context.root)
        return [[("error", _STYLE["error"]), (f": {path}: cannot be analysed: {file.error}", "")], []]
    if not (file.findings or alone or context.verbose):
        return []
    lines = _header(file, context)
    found = _worst_first(file.findings)
    causes, helped = _causes(found)
    lines += causes
    for equal in _groups(found):
        shorten = len(equal) > _EQUAL and not context.verbose
        for f in equal[:_SHOWN] if shorten else equal:
            lines += _finding(f, file, context, with_help=context.verbose or f.help not in helped)
            helped.add(f.help)
        if shorten:
            lines += _others(equal[_SHOWN:], context)
    if context.verbose:
        lines += _unknowns(file, context)
    return lines


def _header(file: FileReport, context: Context) -> list[Line]:
    made = [file.device, f"torch {file.torch}" if file.torch else "", f"runtime {_runtime(file)}"]
    lines: list[Line] = [
        [(shown(file.path, context.root), "bold"), ("  " + ", ".join(m for m in made if m), "dim")]
    ]
    if file.symbols:
        ranges = (f"{name} in {lo}..{'' if hi is None else hi}" for name, lo, hi in file.symbols)
        lines.append([("  sizes: " + ", ".join(ranges), "dim")])
    return [*lines, []]


def _runtime(file: FileReport) -> str:
    """The profile with what people know it by: the releases that ship it, else its date."""
    known = f"ExecuTorch {' and '.join(file.releases)}" if file.releases else file.runtime_date
    return f"{file.runtime} ({known})" if known else file.runtime


def _worst_first(findings: list[Finding]) -> list[Finding]:
    """Errors before warnings before notes; what has one cause together."""
    worst: dict[str, int] = {}
    for f in findings:
        worst[f.cause] = min(worst.get(f.cause, len(SEVERITIES)), SEVERITIES.index(f.severity))
    order = {cause: n for n, cause in enumerate(sorted(worst, key=lambda cause: worst[cause]))}
    return sorted(findings, key=lambda f: (order[f.cause], SEVERITIES.index(f.severity)))


def _causes(findings: list[Finding]) -> tuple[list[Line], set[str]]:
    """What is wrong in a few lines, with what to do about each cause, and the help that is said by that.

    Nothing where every finding has a cause of its own: then the findings are as short.
    """
    groups: dict[str, list[Finding]] = {}
    for f in findings:
        groups.setdefault(f.cause, []).append(f)
    grave = {cause: fs for cause, fs in groups.items() if cause and fs[0].severity != "note"}
    total = sum(map(len, grave.values()))
    if total == len(grave):
        return [], set()
    lines: list[Line] = [
        [(f"{_many([f for fs in grave.values() for f in fs])} with {plural(len(grave), 'cause')}", "bold")]
    ]
    helped: set[str] = set()
    for n, (cause, fs) in enumerate(grave.items(), 1):
        places = len({(f.loc.path, f.loc.line) for f in fs})
        lines.append([(f"  {n}. {cause}", ""), (f"  ({_many(fs)} at {plural(places, 'place')})", "dim")])
        if fs[0].help:
            lines.append([("     what to do: ", "bold"), (fs[0].help, "")])
            helped |= {f.help for f in fs}
    return [*lines, []], helped


def _many(findings: list[Finding]) -> str:
    """``8 errors and 4 warnings``."""
    counts = collections.Counter(f.severity for f in findings)
    return " and ".join(plural(counts[s], s) for s in SEVERITIES if counts[s])


def _groups(findings: list[Finding]) -> list[list[Finding]]:
    """Findings that say the same of different places, together, in the order of the first."""
    groups: dict[tuple[object, ...], list[Finding]] = {}
    for f in findings:
        e = f.evidence
        same = (f.code, f.severity, f.parameter, f.op, e.min, e.max, e.available, e.sizes, e.strides, f.help)
        groups.setdefault(same, []).append(f)
    return list(groups.values())


def _others(findings: list[Finding], context: Context) -> list[Line]:
    first = findings[0]
    places = ", ".join(dict.fromkeys(str(f.loc.line) for f in findings))
    text = f"and {len(findings)} more like it, at lines {places} (--verbose shows each)"
    return [[(f"{first.severity}[{first.code}]", _STYLE[first.severity]), (f": {text}", "")], []]


def _unknowns(file: FileReport, context: Context) -> list[Line]:
    lines: list[Line] = []
    for u in file.unknowns:
        place = f"{shown(u.path or file.path, context.root)}:{u.line}"
        lines.append([("unknown", "bold magenta"), (f": {u.what}: {u.reason}", ""), (f"  ({place})", "dim")])
    return [*lines, []] if lines else []


# -- findings ---------------------------------------------------------------------------------------


def _finding(f: Finding, file: FileReport, context: Context, with_help: bool) -> list[Line]:
    lines: list[Line] = [
        [
            (f"{f.severity}[{f.code}]", _STYLE[f.severity]),
            (": ", ""),
            (f.name, "bold"),
            (f": {f.message}", ""),
        ]
    ]
    lines += _source(f, file, context)
    if f.severity == "note" and not context.verbose:
        return [*lines, []]
    lines += _chain(f, file, context)
    for label, text in _facts(f, context, with_help):
        lines.append([("   = ", "blue"), (f"{label + ':':<9}", "bold"), (text, "")])
    return [*lines, []]


def _source(f: Finding, file: FileReport, context: Context) -> list[Line]:
    """``--> place   excerpt`` with a caret below; the excerpt gets a line of its own when the place is long."""
    place = _place(f.loc, context)
    start: Line = [("  --> ", "blue"), (place, "")]
    indent = len("  --> ") + len(place) + 3
    if context.width - indent < 40:
        got = _excerpt(f.loc, file, context.width - 6)
        return [start] if got is None else [start, *_under(got, "   |  ")]
    got = _excerpt(f.loc, file, context.width - indent)
    if got is None:
        return [start]
    caret = " " * (indent + got.start) + "^" * got.length
    return [[*start, ("   " + got.text, "")], [(caret, _STYLE[f.severity])]]


def _under(got: Excerpt, margin: str) -> list[Line]:
    return [
        [(margin, "blue"), (got.text, "")],
        [(margin, "blue"), (" " * got.start + "^" * got.length, "bold")],
    ]


def _chain(f: Finding, file: FileReport, context: Context) -> Iterator[Line]:
    """The related places: each one's sentence, and its text unless it is the line already shown."""
    said = {(f.loc.path, f.loc.line)}
    for r in f.related:
        where = (r.loc.path, r.loc.line)
        if where in said:
            yield [("   |  ", "blue"), (r.message, "")]
            continue
        said.add(where)
        near = r.loc.path == f.loc.path
        place = f"line {r.loc.line}" if near else f"{shown(r.loc.path, context.root)}:{r.loc.line}"
        yield [("   |  ", "blue"), (place, "dim"), (f"  {r.message}", "")]
        got = _excerpt(r.loc, file, context.width - 10)
        if got is not None:
            yield [("   |      ", "blue"), (got.text, "dim")]


def _facts(f: Finding, context: Context, with_help: bool) -> Iterator[tuple[str, str]]:
    e = f.evidence
    if e.witness:
        point = ", ".join(f"{name}={value}" for name, value in e.witness.items())
        yield "witness", point + _reached(f)
    if f.kernel:
        launched = f", launched at line {f.launch_line}" if f.launch_line else ""
        yield "kernel", f.kernel + (f", parameter {f.parameter}" if f.parameter else "") + launched
    if f.op:
        yield "op", f.op
    if context.verbose and e.sizes is not None:
        offset = "" if e.offset is None else f", offset {e.offset}"
        yield "layout", f"sizes {_braces(e.sizes)}, strides {_braces(e.strides or ())}{offset}"
    if f.source_nodes:
        yield "from", ", ".join(f.source_nodes)
    if f.help and with_help:
        yield "help", f.help


def _reached(f: Finding) -> str:
    """The index at the witness, where the evidence holds a number that is out of range."""
    e = f.evidence
    if f.code not in ("AL201", "AL202") or not isinstance(e.available, int):
        return ""
    if isinstance(e.max, int) and e.max >= e.available:
        return f" -> index {e.max}"
    return f" -> index {e.min}" if isinstance(e.min, int) and e.min < 0 else ""


def _braces(values: tuple[int | str, ...]) -> str:
    return "{" + ", ".join(map(str, values)) + "}"


def _place(loc: Loc, context: Context) -> str:
    return f"{shown(loc.path, context.root)}:{loc.line}:{loc.column}"


def _excerpt(loc: Loc, file: FileReport, width: int) -> Excerpt | None:
    line = file.lines.get((loc.path, loc.line))
    return None if line is None else excerpt(line, loc, max(width, 20))


def _advice(context: Context) -> list[Line]:
    """What follows the table of several runtimes."""
    advice = "check under one --runtime to see its findings, or under all with --verbose"
    return [[(advice, "dim")]] * (not (context.quiet or context.verbose)) + [
        [(note, "dim")] for note in context.notes
    ]


# -- the end ----------------------------------------------------------------------------------------


def _statistics(report: Report) -> list[Line]:
    count = collections.Counter((f.code, f.severity) for file in report.files for f in file.findings)
    rows = sorted(count.items(), key=lambda row: (-row[1], row[0]))
    return [
        [(f"{n:>7,}  ", ""), (f"{code}  {sev:<7}  {CODES[code].name}", _STYLE[sev])]
        for (code, sev), n in rows
    ] + ([[]] if rows else [])


def _undecided(unknown: int, total: int, unmodelled: int) -> str:
    """What stands beside "no findings" where something is not decided."""
    if unknown:
        return f"; {unknown:,} of {plural(total, 'access')} not decided"
    return f"; {plural(unmodelled, 'statement')} not understood" if unmodelled else ""


def _summary(report: Report, context: Context) -> list[Line]:
    data = report.to_json()["summary"]
    a = data["accesses"]
    unmodelled = sum(file.counts.unmodelled_statements for file in report.files)
    worst = next((s for s in SEVERITIES if report.count(s)), None)
    found = ", ".join(plural(report.count(s), s) for s in SEVERITIES if report.count(s))
    found = found or "no findings" + _undecided(a["unknown"], a["total"], unmodelled)
    files = f" in {plural(data['files'], 'file')}" + (
        f", {data['failed']} not analysed" if data["failed"] else ""
    )
    lines: list[Line] = [
        [
            (found, _STYLE[worst] if worst else "bold green" if found == "no findings" else "magenta"),
            (files, ""),
        ],
        [
            (f"{plural(a['total'], 'access')}: ", ""),
            (f"{a['proved']:,} proved", "green" if a["proved"] else ""),
            (f", {a['fault']:,} fault", "red" if a["fault"] else ""),
            (f", {a['unknown']:,} unknown", "magenta" if a["unknown"] else ""),
            (f"; {plural(unmodelled, 'unmodelled statement')}", "magenta" if unmodelled else ""),
        ],
    ]
    runtimes = collections.Counter(_runtime(file) for file in report.files if file.runtime)
    if runtimes and not context.quiet:
        lines.append([("runtime: " + ", ".join(f"{r}" for r in sorted(runtimes)), "dim")])
    if (a["unknown"] or unmodelled) and not (context.verbose or context.quiet):
        lines.append([("--verbose says why each unknown is undecided", "dim")])
    return lines + [[(note, "dim")] for note in context.notes]
