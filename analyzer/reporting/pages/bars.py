"""A storage's map as markup: a bar for each row, drawn to one scale; what lies outside is marked and said in words."""

from __future__ import annotations

from collections.abc import Callable

from ...model.dtypes import ITEMSIZE
from ...model.location import Loc
from .markup import Markup, join, tag
from .memory_map import Map, Row, Span

#: Rows shown of one storage; those with a fault or an unknown come first.
ROWS = 300
#: How far beyond a storage a bar reaches, in sizes of the storage.
BEYOND = 2

#: The link to a source line, or its number.
Link = Callable[[Loc], Markup]


def table(m: Map, link: Link) -> Markup:
    """All rows of a map that are shown, the storage itself first."""
    rows, hidden = _chosen(m.rows)
    scale = _scale(m, rows)
    head = tag(
        "tr",
        *(tag("th", text, scope="col") for text in ("line", "event", "what", "elements", _ruler(m, scale))),
    )
    said = f"{hidden:,} more rows without a fault are left out; aoti-lint kernels lists every launch."
    return join(
        tag("table", tag("thead", head), tag("tbody", (_row(m, r, scale, link) for r in rows)), class_="map"),
        tag("p", said, class_="quiet") if hidden else None,
    )


def _chosen(rows: list[Row]) -> tuple[list[Row], int]:
    """At most ``ROWS`` of the rows, in their order, and how many are left out."""
    if len(rows) <= ROWS:
        return rows, 0
    first = sorted(range(len(rows)), key=lambda i: (rows[i].status != "fault", rows[i].status == "ok", i))
    return [rows[i] for i in sorted(first[:ROWS])], len(rows) - ROWS


def _scale(m: Map, rows: list[Row]) -> tuple[int, int]:
    """First and last position a bar shows, bytes."""
    spans = [s for r in rows for s in r.spans]
    size = m.size or max((s.end for s in spans), default=1) or 1
    low = max(min((s.first for s in spans), default=0), -BEYOND * size)
    high = min(max((s.end for s in spans), default=0), (1 + BEYOND) * size)
    return min(low, 0), max(high, size)


def _ruler(m: Map, scale: tuple[int, int]) -> str:
    """The storage's ends in elements, and where the bars begin and end when that is elsewhere."""
    if m.size is None:
        return "0 … size not known"
    width, (low, high) = ITEMSIZE.get(m.storage.dtype, 1), scale
    beyond = [f"from {low // width:,}"] * (low < 0) + [f"to {high // width:,}"] * (high > m.size)
    return f"0 … {m.size // width:,}" + (f", shown {' '.join(beyond)}" if beyond else "")


def _row(m: Map, row: Row, scale: tuple[int, int], link: Link) -> Markup:
    outside = _outside(m, row)
    texts = [s.text for s in row.spans]
    if row.note:
        texts.append(row.note)
    bad = tag("strong", outside, class_="outside") if outside else None
    mark = {"fault": "✗ fault", "unknown": "? undecided", "ok": None}[row.status]
    return tag(
        "tr",
        tag("td", link(row.loc)),
        tag("td", row.kind),
        tag("td", row.label, class_="what"),
        tag("td", "; ".join(texts), tag("br") if bad and texts else None, bad, " " if mark else None,
            tag("b", mark, class_=row.status) if mark else None),
        tag("td", tag("div", *_bar(m, row, scale), class_="bar", aria_hidden="true")),
        class_=row.status,
    )  # fmt: skip


def _outside(m: Map, row: Row) -> str:
    """How far the row's spans leave the storage, in bytes."""
    if m.size is None or not row.spans:
        return ""
    before = -min(s.first for s in row.spans)
    after = max(s.end for s in row.spans) - m.size
    parts = [
        f"{n:,} bytes {where}"
        for n, where in ((before, "before the start"), (after, "past the end"))
        if n > 0
    ]
    return " and ".join(parts)


def _bar(m: Map, row: Row, scale: tuple[int, int]) -> list[Markup]:
    low, high = scale
    parts = [_part("storage", 0, m.size or high, scale)]
    for span in row.spans:
        inside = Span(span.touch, max(span.first, 0), min(span.end, high if m.size is None else m.size), "")
        if inside.first < inside.end:
            parts.append(_part(span.touch + " gaps" * span.gaps, inside.first, inside.end, scale))
        if m.size is not None and span.end > m.size:
            parts.append(_part(f"{span.touch} out", max(span.first, m.size), min(span.end, high), scale))
        if span.first < 0:
            parts.append(_part(f"{span.touch} out", max(span.first, low), min(span.end, 0), scale))
    return parts


def _part(kind: str, first: int, end: int, scale: tuple[int, int]) -> Markup:
    low, high = scale
    width = high - low
    left, share = (first - low) * 100 / width, max(end - first, 0) * 100 / width
    return tag("i", class_=kind, style=f"left:min({left:.2f}%,100% - 5px);width:{share:.2f}%")
