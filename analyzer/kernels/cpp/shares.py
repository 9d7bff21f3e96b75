"""The kernels of a large C++ file, read by several processes."""

from __future__ import annotations

import re

from ...model.kernel import Kernel
from .reader import definitions, parse_kernels, vector_bytes_of

#: Text a process of its own is worth, characters: a second or so of reading.
SHARE = 500_000


def parse_shares(text: str, path: str, register: int | None, processes: int) -> dict[str, Kernel]:
    """As :func:`.reader.parse_kernels`, by up to ``processes`` processes. ``register``: vector bytes, if known."""
    spans = [_span(text, m.start()) for m in definitions(text)]
    count = min(processes, len(text) // SHARE, len(spans))
    if count < 2:
        return parse_kernels(text, path, vector_bytes=register)
    shares: list[list[tuple[int, int]]] = [[] for _ in range(count)]
    for span in sorted(spans, key=lambda s: s[0] - s[1]):  # the longest first, to where there is least
        min(shares, key=lambda share: sum(b - a for a, b in share)).append(span)
    from concurrent.futures import ProcessPoolExecutor

    width = register or vector_bytes_of(text)
    with ProcessPoolExecutor(count) as pool:
        parts = [pool.submit(parse_kernels, _without(text, spans, own), path, 1, width) for own in shares]
        found = {name: kernel for part in parts for name, kernel in part.result().items()}
    return {name: found[name] for m in definitions(text) if (name := m.group(1)) in found}


def _span(text: str, start: int) -> tuple[int, int]:
    """A kernel from its first character to the brace in the first column that ends it."""
    end = text.find("\n}", start)
    return start, end + 2 if end >= 0 else len(text)


def _without(text: str, spans: list[tuple[int, int]], own: list[tuple[int, int]]) -> str:
    """The text with all kernels but a share of them blanked: places stay what they are."""
    parts: list[str] = []
    done = 0
    for a, b in spans:
        if (a, b) not in own:
            parts += (text[done:a], re.sub(r"[^\n]", " ", text[a:b]))
            done = b
    return "".join((*parts, text[done:]))
