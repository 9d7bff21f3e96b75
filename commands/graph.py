"""``aoti-lint graph``: storages, the tensors in them, views, moves and copies."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from ..analyzer.pipeline import analyses
from ..analyzer.reporting.alias_graph import alias_graph, to_dot, to_json, to_text
from ..analyzer.sources import Failure
from ..analyzer.symbolic.assumptions import Interval
from . import session
from .outcome import Outcome, of_text

FORMATS = ("text", "dot", "json", "svg", "html")


def graph(
    path: str, runtime: str | None, size: list[str] | None, format: str, output: Path | None
) -> Outcome:
    text, failures = graph_text(path, format, *session.scope(runtime, size))
    return of_text(text, output, failures)


def graph_text(
    path: str, format: str, runtime: str = "auto", sizes: Mapping[str, Interval] | None = None
) -> tuple[str, list[Failure]]:
    """The alias graphs of every wrapper at ``path`` in one of the formats, and what could not be read.

    Raises :class:`ConfigError` when a drawing is asked for and the library that lays it out is not installed.
    """
    found = list(analyses(path, runtime, sizes))
    graphs = [alias_graph(a) for a in found if not isinstance(a, Failure)]
    failures = [a for a in found if isinstance(a, Failure)]
    if format in ("svg", "html"):
        from ..analyzer.reporting.pages.drawing import drawing
        from ..analyzer.reporting.pages.markup import tag
        from ..analyzer.reporting.pages.page import document

        svg = drawing(graphs)
        if format == "svg":
            return f"{svg}\n", failures
        return document(f"Alias graph of {path}", tag("div", svg, class_="scroll")), failures
    write: Callable[..., str] = {
        "text": to_text, "dot": to_dot, "json": lambda g: json.dumps(to_json(g), indent=1) + "\n",
    }[format]  # fmt: skip
    return "".join(map(write, graphs)), failures
