"""The runtime profiles as text and data: what each assumes, since when, and where that is known from."""

from __future__ import annotations

import textwrap
from typing import Any

from ..runtimes import all_profiles, families, find, resolve, versions
from ..runtimes.model import Rule
from ..runtimes.profile import Profile
from .table import table

_SECTIONS = ("alloc", "constant", "view", "copy", "clone", "input", "output", "kernel")


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


def describe(name: str) -> dict[str, Any]:
    """Everything one profile assumes."""
    p = resolve(name)
    facts: dict[str, Any] = {}
    for section in _SECTIONS:
        data = getattr(p, f"{section}_facts")
        facts[section] = {"source": data.source, "facts": _settings(data), "rules": _rules(data)}
    facts["symbols"] = {"source": p.symbols.source, "facts": _symbols(p), "rules": []}
    return {
        "name": p.name, "date": p.date, "title": p.title, "proposed": p.proposed, "note": p.note, "facts": facts,
        "ops": sorted(p.ops),
    }  # fmt: skip


def _settings(data: Any) -> dict[str, Any]:
    """The fields of a section that are neither its source nor its rules."""
    out = {}
    for name in data.__slots__:
        value = getattr(data, name)
        if name in ("source", "rules"):
            continue
        if isinstance(value, frozenset):
            value = sorted(value)
        out[name] = (
            [list(v) if isinstance(v, tuple) else v for v in value] if isinstance(value, tuple) else value
        )
    return out


def _rules(data: Any) -> list[dict[str, Any]]:
    found: tuple[Rule, ...] = getattr(data, "rules", ())
    return [
        {
            "id": r.id, "when": [name if wanted else f"not {name}" for name, wanted in r.when], "then": r.then,
            "why": r.why, "error": r.error,
        }
        for r in found
    ]  # fmt: skip


def _symbols(p: Profile) -> dict[str, Any]:
    if p.symbols.open:
        return {"present": "every symbol"}
    kinds = ("present", "throws", "maybe")
    return {kind: sorted(getattr(p.symbols, kind)) for kind in kinds if getattr(p.symbols, kind)}


def description(name: str) -> str:
    """One profile for people."""
    d = describe(name)
    since = d["date"] or "the beginning"
    out = [f"{d['name']}  since {since}", textwrap.fill(d["title"], 100)]
    out += [textwrap.fill(d["note"], 100)] if d["note"] else []
    for section, facts in d["facts"].items():
        out += ["", section]
        for key, value in facts["facts"].items():
            if value not in ("", [], None):
                out.append(
                    _wrapped(f"{key}: {', '.join(map(str, value)) if isinstance(value, list) else value}")
                )
        for rule in facts["rules"]:
            when = " and ".join(rule["when"]) or "always"
            then = rule["then"] + (f" ({rule['error']})" if rule["error"] else "")
            out.append(_wrapped(f"{when}: {then}" + (f"; {rule['why']}" if rule["why"] else "")))
        out.append(_wrapped(f"source: {facts['source']}"))
    if d["ops"]:
        out += ["", "ops with limits", _wrapped(", ".join(d["ops"]))]
    return "\n".join(out) + "\n"


def _wrapped(text: str) -> str:
    return textwrap.fill(text, 110, initial_indent="  ", subsequent_indent="    ", break_long_words=False)
