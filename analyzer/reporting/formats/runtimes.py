"""The runtime profiles as text and data: what each assumes, since when, and where that is known from."""

from __future__ import annotations

import json
import textwrap
from typing import Any

from ...config import parse_runtime
from ...runtimes import all_profiles, families, find, resolve, versions
from ...runtimes.describe import describe
from .table import table


def answer(name: str, format: str) -> str:
    """What ``aoti-lint runtimes`` prints for a profile's name; for nothing, the list.

    Raises :class:`ConfigError` for a name that no profile has.
    """
    if name:
        parse_runtime(name)
    if format == "json":
        return json.dumps(description(name) if name else {"runtimes": rows()}, indent=1) + "\n"
    return text(name) if name else listing()


def rows() -> list[dict[str, Any]]:
    """One entry for each profile."""
    newest = {find(family).name for family in families()}
    aliases = {v.name: list(v.aliases) for family in families() for v in versions(family)}
    return [
        {
            "name": p.name, "date": p.date, "title": p.title, "proposed": p.proposed,
            "default": p.name in newest, "aliases": aliases[p.name],
        }
        for p in all_profiles()
    ]  # fmt: skip


def listing() -> str:
    """The profiles as a table; the one an undated name means is marked."""
    lines = [
        (
            r["name"] + (" *" if r["default"] else ""),
            r["date"] or "(first)",
            ", ".join(r["aliases"]),
            r["title"],
        )
        for r in rows()
    ]
    return table(("runtime", "since", "also called", "what it is"), lines) + (
        "\n* what the name without a date means. 'auto' takes executorch-metal for mps wrappers, else libtorch.\n"
    )


def description(name: str) -> dict[str, Any]:
    """Everything one profile assumes, each fact with its source."""
    p = resolve(name)
    facts = [{"fact": fact, "value": value, "source": source} for fact, value, source in describe(p)]
    head = {"name": p.name, "date": p.date, "title": p.title, "proposed": p.proposed, "note": p.note}
    return {**head, "facts": facts}


def text(name: str) -> str:
    """One profile for people: the facts below the source they are known from."""
    p = resolve(name)
    out = [
        f"{p.name}  since {p.date or 'the beginning'}",
        _wrapped(p.title, ""),
        *filter(None, [_wrapped(p.note, "")]),
    ]
    known = None
    for fact, value, source in describe(p):
        if source != known:
            out += ["", _wrapped(f"from {source}", "")]
            known = source
        out.append(_wrapped(f"{fact}: {value}", "  "))
    return "\n".join(out) + "\n"


def _wrapped(line: str, indent: str) -> str:
    later = indent + "    "
    return textwrap.fill(line, 110, initial_indent=indent, subsequent_indent=later, break_long_words=False)
