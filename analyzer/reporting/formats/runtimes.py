"""The runtime profiles as text and data: what each assumes, since when, and where that is known from."""

from __future__ import annotations

import json
import textwrap
from typing import Any

from ...config import parse_runtime
from ...runtimes import all_profiles, families, find, releases, releases_of, resolve, versions
from ...runtimes.describe import describe
from .table import table


def answer(name: str, format: str) -> str:
    """What ``aoti-lint runtimes`` prints for a profile's name; for nothing, the list.

    Raises :class:`ConfigError` for a name that no profile has.
    """
    if name:
        parse_runtime(name)
    if format == "json":
        return (
            json.dumps(
                description(name) if name else {"releases": release_rows(), "runtimes": rows()}, indent=1
            )
            + "\n"
        )
    return text(name) if name else listing()


def release_rows() -> list[dict[str, Any]]:
    """One entry for each release of ExecuTorch, the newest first; None where it has no such runtime."""
    return [
        {
            "release": r.name, "date": r.date, "torch": r.torch,
            **{f: r.profiles.get(f) for f in ("executorch-metal", "executorch-cuda")}, "known": r.known,
        }
        for r in reversed(releases())
    ]  # fmt: skip


def rows() -> list[dict[str, Any]]:
    """One entry for each profile."""
    newest = {find(family).name for family in families()}
    aliases = {v.name: list(v.aliases) for family in families() for v in versions(family)}
    return [
        {
            "name": p.name, "date": p.date, "title": p.title, "proposed": p.proposed,
            "default": p.name in newest, "aliases": aliases[p.name],
            "releases": list(releases_of(p.name)),
        }
        for p in all_profiles()
    ]  # fmt: skip


def listing() -> str:
    """Releases first, as people have them installed; then the profiles, those that a bare name means marked."""
    head = ("ExecuTorch", "of", "torch", "executorch-metal", "executorch-cuda")
    shipped = [
        (
            r["release"], r["date"], r["torch"],
            *((r[f] or "-").partition("@")[2] or "-" for f in ("executorch-metal", "executorch-cuda")),
        )
        for r in release_rows()
    ]  # fmt: skip
    lines = [
        (
            r["name"] + (" *" if r["default"] else ""),
            r["date"] or "(first)",
            ", ".join(r["aliases"]),
            r["title"],
        )
        for r in rows()
    ]
    return (
        "Releases: --runtime executorch-metal@1.4, or executorch@1.4 for whichever runs the wrapper.\n\n"
        + table(head, shipped)
        + "\nProfiles: 'aoti-lint runtimes NAME' says what one assumes, and how that is known.\n\n"
        + table(("runtime", "since", "also called", "what it is"), lines)
        + "\n* what the bare name means. 'auto' takes executorch-metal for mps wrappers, else libtorch.\n"
    )


def description(name: str) -> dict[str, Any]:
    """Everything one profile assumes, each fact with its source."""
    p = resolve(name)
    facts = [{"fact": fact, "value": value, "source": source} for fact, value, source in describe(p)]
    head = {
        "name": p.name, "date": p.date, "releases": list(releases_of(p.name)), "title": p.title,
        "proposed": p.proposed, "note": p.note,
    }  # fmt: skip
    return {**head, "facts": facts}


def text(name: str) -> str:
    """One profile for people: the facts below the source they are known from."""
    p = resolve(name)
    out = [
        f"{p.name}  since {p.date or 'the beginning'}" + _shipped(p.name),
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


def _shipped(name: str) -> str:
    found = releases_of(name)
    return f", in ExecuTorch {' and '.join(found)}" if found else ""


def _wrapped(line: str, indent: str) -> str:
    later = indent + "    "
    return textwrap.fill(line, 110, initial_indent=indent, subsequent_indent=later, break_long_words=False)
