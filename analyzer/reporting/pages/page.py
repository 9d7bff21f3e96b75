"""The page of a report: what was found, the source it is about, and the memory behind it."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.resources import files

from ...model.codes import CODES
from ...model.findings import SEVERITIES, FileReport, Finding, Report
from ...model.record import field, record
from ..compare import compared, rows
from ..words import plural
from .bars import table
from .excerpts import Excerpts
from .markup import Markup, join, tag
from .memory_map import Map
from .verdicts import verdicts

#: Rows of storages without findings that a page shows in all.
ROWS = 4000
#: Findings of a page that are shown with all the source they are about; later ones have the line that matters most.
FULL = 400


@record(frozen=True)
class Subject:
    """One wrapper: its report, the maps of its storages, and its texts by path with their first line's number."""

    file: FileReport
    maps: Sequence[Map] = ()
    texts: Mapping[str, tuple[str, int]] = field(default_factory=dict)


def render(report: Report, subjects: Sequence[Subject], notes: Sequence[str]) -> str:
    """The whole document; it loads nothing."""
    found = Counter(f.code for file in report.files for f in file.findings)
    paths = list(dict.fromkeys(s.file.path for s in subjects))
    title = "aoti-lint: " + ", ".join(paths[:3]) + ("…" if len(paths) > 3 else "")
    room = ROWS
    bodies = []
    numbers = _Numbers()
    addresses = [f"w{n}" for n in range(1, len(subjects) + 1)]
    for subject, address in zip(subjects, addresses, strict=True):
        body, room = _subject(subject, address, numbers, room)
        bodies.append(body)
    several = verdicts(rows(report), addresses) if compared(report) else None
    main = tag("main", several, _filter(found) if found else None, *bodies, id="top")
    foot = tag("footer", tag("p", f"aoti-lint {report.version}. ", "; ".join(notes)))
    return document(title, tag("header", tag("h1", "Memory report"), _summary(report)), main, foot)


def document(title: str, *body: Markup) -> str:
    """An HTML document with the pages' style and script in it; nothing else may run or load."""
    style, script = (files(__package__).joinpath(n).read_text("utf-8") for n in ("page.css", "page.js"))
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        Markup(f'<meta http-equiv="Content-Security-Policy" content="{policy}">'),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", title),
        tag("style", Markup(style)),
    )
    script_tag = tag("script", Markup(script))
    return f"<!doctype html>\n{tag('html', head, tag('body', *body, script_tag), lang='en')}\n"


class _Numbers:
    """Numbers of findings, maps and sources, which make the addresses inside the page."""

    def __init__(self) -> None:
        self.findings = 0
        self.maps = 0
        self.files = 0


def _summary(report: Report) -> Markup:
    counts = {s: report.count(s) for s in SEVERITIES}
    total: Counter[str] = Counter()
    for file in report.files:
        total.update(file.counts.accesses)
    failed = sum(file.status == "failed" for file in report.files)
    return tag(
        "p",
        (
            join(tag("span", plural(n, s), class_=f"pill {s if n else 'none'}"), " ")
            for s, n in counts.items()
        ),
        f"in {plural(len({f.path for f in report.files}), 'file')}"
        f"{', counted under each runtime' if compared(report) else ''}. {plural(total['total'], 'access')}: {total['proved']:,} proved, "
        f"{total['fault']:,} fault, {total['unknown']:,} unknown.",
        tag("strong", f" {plural(failed, 'file')} could not be analysed.") if failed else None,
    )


def _filter(found: Mapping[str, int]) -> Markup:
    """Shown by the script, as it does nothing without it."""
    boxes = [
        tag(
            "label",
            tag("input", type="checkbox", name="code", value=code, checked=True),
            f" {code} ", tag("span", f"{CODES[code].name if code in CODES else ''} ({n})", class_="quiet"),
        )
        for code, n in sorted(found.items())
    ]  # fmt: skip
    return tag(
        "form",
        tag("label", "Text ", tag("input", type="search", name="text", placeholder="buffer, kernel, words; press /")),
        tag("fieldset", tag("legend", "Codes"), *boxes),
        tag("button", "All codes", type="button", name="all"),
        tag("button", "No codes", type="button", name="none"),
        tag("button", "Open every storage", type="button", name="open"),
        tag("output", "", aria_live="polite"),
        id="filter", hidden=True, role="search",
    )  # fmt: skip


def _subject(subject: Subject, place: str, numbers: _Numbers, room: int) -> tuple[Markup, int]:
    file = subject.file
    heading = tag("h2", file.path)
    if file.status == "failed":
        return tag(
            "section",
            heading,
            tag("p", tag("strong", f"Not analysed: {file.error}")),
            class_="file",
            id=place,
        ), room
    numbers.files += 1
    excerpts = Excerpts(subject.texts, f"l{numbers.files}", file.path)
    addresses = {}
    for m in subject.maps:
        numbers.maps += 1
        addresses[id(m)] = f"m{numbers.maps}"
    held: dict[int, list[tuple[str, Finding]]] = {}
    articles = []
    for f in file.findings:
        numbers.findings += 1
        address = f"f{numbers.findings}"
        mine = [m for m in subject.maps if _about(f, m)]
        for m in mine:
            held.setdefault(id(m), []).append((address, f))
        links = [(addresses[id(m)], m) for m in mine]
        articles.append(_finding(f, address, excerpts, links, numbers.findings <= FULL))
    with_findings = [m for m in subject.maps if id(m) in held]
    others = [m for m in subject.maps if id(m) not in held]
    parts = [_map(m, addresses[id(m)], held[id(m)], excerpts, True) for m in with_findings]
    for m in others:
        parts.append(_map(m, addresses[id(m)], [], excerpts, len(m.rows) <= room))
        room -= len(m.rows) if len(m.rows) <= room else 0
    facts = [f"runtime {file.runtime}", f"device {file.device}", f"torch {file.torch}" if file.torch else ""]
    facts += [f"{n}: {lo} to {'any' if hi is None else hi}" for n, lo, hi in file.symbols]
    return tag(
        "section", heading, tag("p", "; ".join(x for x in facts if x), class_="quiet"),
        tag("h3", plural(len(articles), "finding")), *articles, _unknowns(file),
        tag("h3", plural(len(subject.maps), "storage")), _legend() if subject.maps else None, *parts,
        class_="file", id=place,
    ), room  # fmt: skip


def _about(f: Finding, m: Map) -> bool:
    """Whether a finding concerns a storage: the one it names, or the packed copy of the tensor it names."""
    if m.storage.kind == "copy":
        return f.tensor is not None and m.storage.name == f.tensor
    return f.storage is not None and m.storage.name == f.storage


def _finding(
    f: Finding, address: str, excerpts: Excerpts, places: list[tuple[str, Map]], full: bool
) -> Markup:
    links = [
        join(
            " ",
            tag(
                "a",
                f"memory of {'the copy ' if m.storage.kind == 'copy' else ''}{m.storage.name}",
                href=f"#{a}",
            ),
        )
        for a, m in places
    ]
    said: dict[tuple[str, int], list[str]] = {(f.loc.path, f.loc.line): []}
    for r in f.related:
        said.setdefault((r.loc.path, r.loc.line), []).append(r.message)
    first = {(loc.path, loc.line): loc for loc in (*(r.loc for r in reversed(f.related)), f.loc)}
    shown = list(said.items()) if full else list(said.items())[:1]
    sources = [excerpts.show(first[place], messages) for place, messages in shown]
    less = len(said) - len(shown)
    if less:
        sources.append(
            tag("p", f"{plural(less, 'place')} more left out to keep the page small.", class_="quiet")
        )
    return tag(
        "article",
        tag("h4", tag("span", f.severity, class_=f"pill {f.severity}"), f" {f.code} {f.name} ",
            tag("a", "#", href=f"#{address}", aria_label=f"link to this {f.code}")),
        tag("p", f.message, class_="message"),
        _evidence(f),
        *sources,
        tag("p", "Help: ", f.help, class_="quiet") if f.help else None,
        tag("p", "See", *links) if links else None,
        id=address, class_="finding", tabindex=-1, data_code=f.code,
    )  # fmt: skip


def _evidence(f: Finding) -> Markup | None:
    e = f.evidence
    facts: list[tuple[str, object]] = [
        ("kernel", f.kernel), ("parameter", f.parameter), ("tensor", f.tensor), ("storage", f.storage), ("op", f.op),
        ("touched", None if e.min is None and e.max is None else f"{_or(e.min)} to {_or(e.max)} ({e.unit})"),
        ("available", e.available),
        ("witness", ", ".join(f"{k}={v}" for k, v in e.witness.items()) if e.witness else None),
        ("from", ", ".join(f.source_nodes) or None),
    ]  # fmt: skip
    rows = [tag("div", tag("dt", k), tag("dd", str(v))) for k, v in facts if v is not None]
    return tag("dl", *rows) if rows else None


def _or(value: int | str | None) -> str:
    return "?" if value is None else f"{value:,}" if isinstance(value, int) else value


def _unknowns(file: FileReport) -> Markup | None:
    if not file.unknowns:
        return None
    shown = file.unknowns[:200]
    more = len(file.unknowns) - len(shown)
    return tag(
        "details",
        tag("summary", f"{plural(len(file.unknowns), 'thing')} not decided"),
        tag("ul", *(tag("li", f"line {u.line}: {u.what}: {u.reason}") for u in shown)),
        tag("p", f"and {more:,} more; aoti-lint check --verbose lists them") if more else None,
    )


def _legend() -> Markup:
    kinds = (("storage", "the storage"), ("whole", "extent of a tensor"), ("whole gaps", "one with gaps"), ("read", "read"), ("write", "written"),
             ("write out", "outside the storage."))  # fmt: skip
    boxes = (
        join(tag("span", tag("span", tag("i", class_=k), class_="key"), f" {text}"), " ") for k, text in kinds
    )
    return tag(
        "p", *boxes, "A bar is a range: what lies between its ends need not all be touched.", class_="legend"
    )


def _map(m: Map, address: str, found: list[tuple[str, Finding]], excerpts: Excerpts, rows: bool) -> Markup:
    s = m.storage
    size = "size not known" if s.capacity is None else f"{s.capacity} × {s.dtype}"
    at = ", ".join(f"{k}={v}" for k, v in m.sizes.items())
    codes = sorted({f.code for _, f in found})
    faults = sum(r.status == "fault" for r in m.rows)
    title = tag(
        "summary",
        tag("code", s.name), f" {s.kind}" + (f" of {m.root}" if s.of is not None else "") + f", {size}, ",
        plural(len(m.rows), "row"),
        tag("strong", f", {plural(faults, 'fault')}", class_="outside") if faults else None,
        tag("span", f" in {m.body}" if m.body != "run_impl" else "", f" drawn at {at}" if at else "", class_="quiet"),
    )  # fmt: skip
    links = [join(" ", tag("a", f.code, href=f"#{a}")) for a, f in found]
    omitted = tag(
        "p", "Left out to keep the page small; aoti-lint kernels lists every launch.", class_="quiet"
    )
    return tag(
        "details", title,
        tag("p", "Findings:", *links) if links else None,
        table(m, excerpts.link) if rows else omitted,
        id=address, class_="storage", open=bool(found), data_codes=" ".join(codes),
    )  # fmt: skip
