"""Markup that is safe by construction: text becomes part of it only escaped."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from typing import TypeAlias


class Markup(str):
    """Text that is markup already."""

    __slots__ = ()


#: What an element may hold; None and False stand for nothing.
Child: TypeAlias = "str | int | Iterable[Child] | None"

_VOID = frozenset({"meta", "input", "br"})
#: Controls, and the characters that make text read otherwise than it stands (bidirectional overrides and the like).
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)


def escaped(text: object) -> Markup:
    """Any text as markup; characters that cannot be seen become their code points."""
    if isinstance(text, Markup):
        return text
    seen = _UNSEEN.sub(lambda m: f"\\u{ord(m[0]):04x}", str(text))
    return Markup(html.escape(seen))


def join(*children: Child) -> Markup:
    """Children one after another."""
    out: list[str] = []
    for child in children:
        if child is None or child is False:
            continue
        if isinstance(child, (str, int)):
            out.append(escaped(child))
        else:
            out.append(join(*child))
    return Markup("".join(out))


def tag(name: str, /, *children: Child, **attributes: str | int | float | bool | None) -> Markup:
    """An element. ``class_`` is the attribute ``class``, ``data_code`` is ``data-code``; True is a bare attribute."""
    parts = [name]
    for key, value in attributes.items():
        word = key.rstrip("_").replace("_", "-")
        if value is True:
            parts.append(word)
        elif value is not None and value is not False:
            parts.append(f'{word}="{escaped(value)}"')
    start = f"<{' '.join(parts)}>"
    return Markup(start if name in _VOID else f"{start}{join(*children)}</{name}>")
