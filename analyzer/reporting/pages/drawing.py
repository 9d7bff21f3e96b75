"""The alias graph as an SVG picture. Grandalf (optional) lays it out in layers; this draws what it places."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...config import ConfigError
from .markup import Markup, join, tag

if TYPE_CHECKING:
    import networkx as nx

#: Size of text, and the room around boxes and pictures, pixels.
_CHAR, _LINE, _PAD, _GAP = 7.4, 16, 8, 28
#: Longest text of one line in a box, characters.
_WIDE = 44
#: Width at which parts that do not hang together begin a new row, pixels.
_ROW = 1260

_STYLE = """
text { font: 12px ui-monospace, monospace; fill: #1c2024; } .title { font-weight: 700; font-size: 14px; }
rect { fill: #fff; stroke: #5b6470; } .storage rect { fill: #e3e7ec; } .copy rect { stroke: #c62828; stroke-dasharray: 5 3; }
.output rect { stroke-width: 3; } path { fill: none; stroke: #5b6470; } #tip path { fill: #5b6470; stroke: none; } .copies path { stroke: #c62828; stroke-dasharray: 5 3; }
.label { fill: #5b6470; font-size: 10px; paint-order: stroke; stroke: #fff; stroke-width: 4px; } .copies .label { fill: #c62828; }
@media (prefers-color-scheme: dark) {
  text { fill: #e4e7ea; } rect { fill: #1d2126; stroke: #9aa4af; } .storage rect { fill: #2a3038; } path { stroke: #9aa4af; }
  #tip path { fill: #9aa4af; } .copy rect, .copies path { stroke: #ff7b72; }
  .label { fill: #9aa4af; stroke: #14171a; } .copies .label { fill: #ff7b72; }
}
"""


class _Box:
    """A node for the layout: its size, and after the layout its middle ``xy``."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = [t if len(t) <= _WIDE else t[: _WIDE - 3] + "..." for t in lines]
        self.w = max(len(t) for t in self.lines) * _CHAR + 2 * _PAD
        self.h = len(lines) * _LINE + 2 * _PAD
        self.xy = (0.0, 0.0)


class _Line:
    """An edge for the layout, which sets the points it bends at."""

    def __init__(self) -> None:
        self.points: list[tuple[float, float]] = []

    def setpath(self, points: list[tuple[float, float]]) -> None:
        self.points = points


def drawing(graphs: list[nx.MultiDiGraph]) -> Markup:
    """One picture of all graphs, below each other, each under its wrapper's name.

    Raises :class:`ConfigError` when the layout library is not installed.
    """
    parts: list[Markup] = []
    top, right = float(_GAP), 0.0
    for graph in graphs:
        title = f"{graph.graph['path']} under {graph.graph['runtime']}"
        parts.append(tag("text", title, x=_GAP, y=top, class_="title"))
        right = max(right, _GAP + len(title) * 8.5)
        top += _GAP / 2
        left, bottom = float(_GAP), top
        for nodes in _components(graph):
            part, width, height = _component(graph.subgraph(nodes))
            if left > _GAP and left + width > _ROW:
                left, top = float(_GAP), bottom + _GAP
            parts.append(tag("g", part, transform=f"translate({left:.1f} {top:.1f})"))
            bottom, left = max(bottom, top + height), left + width + _GAP
            right = max(right, left)
        top = bottom + 2 * _GAP
    arrow = tag("marker", tag("path", d="M0 0 L8 4 L0 8 z"),
                id="tip", viewBox="0 0 8 8", refX=8, refY=4, markerWidth=8, markerHeight=8, orient="auto")  # fmt: skip
    return tag(
        "svg", tag("title", "Alias graph"), tag("style", Markup(_STYLE)), tag("defs", arrow), *parts,
        xmlns="http://www.w3.org/2000/svg", width=round(right + _GAP), height=round(top), role="img",
    )  # fmt: skip


def _components(graph: nx.MultiDiGraph) -> list[list[str]]:
    """Nodes that hang together, in the order of the program."""
    import networkx as nx

    order = {n: i for i, n in enumerate(graph)}
    found = [sorted(c, key=order.__getitem__) for c in nx.weakly_connected_components(graph)]
    return sorted(found, key=lambda c: order[c[0]])


def _component(graph: nx.MultiDiGraph) -> tuple[Markup, float, float]:
    """One connected part with its corner at 0, 0; its markup, width and height."""
    try:
        from grandalf.graphs import Edge, Graph, Vertex
        from grandalf.layouts import SugiyamaLayout
    except ImportError:
        raise ConfigError("a drawing needs a layout library: pip install 'aoti-lint[pictures]'") from None
    boxes = {
        n: _Box(_lines(d))
        for n, d in sorted(graph.nodes(data=True), key=lambda x: int(x[0].partition(":")[2]))
    }
    vertices = {n: Vertex(n) for n in boxes}
    for n, v in vertices.items():
        v.view = boxes[n]
    kinds = _edges(graph)
    edges = {pair: Edge(vertices[pair[0]], vertices[pair[1]]) for pair in kinds}
    for e in edges.values():
        e.view = _Line()
    if edges:
        core = Graph(list(vertices.values()), list(edges.values())).C[0]
        layout = SugiyamaLayout(core)
        layout.xspace, layout.yspace = _GAP, 2 * _GAP
        layout.route_edge = lambda e, points: e.view.setpath(points)
        layout.init_all(roots=[v for n, v in vertices.items() if graph.in_degree(n) == 0] or None)
        layout.draw(8)
    x0 = min(b.xy[0] - b.w / 2 for b in boxes.values())
    y0 = min(b.xy[1] - b.h / 2 for b in boxes.values())
    dx, dy = -x0, -y0
    width = max(b.xy[0] + b.w / 2 for b in boxes.values()) - x0
    height = max(b.xy[1] + b.h / 2 for b in boxes.values()) - y0
    parts = [
        _draw_edge(boxes[a], boxes[b], edges[a, b].view.points, names, dx, dy)
        for (a, b), names in kinds.items()
    ]
    parts += [_draw_node(b, graph.nodes[n], dx, dy) for n, b in boxes.items()]
    return join(*parts), width, height


def _edges(graph: nx.MultiDiGraph) -> dict[tuple[str, str], list[str]]:
    """Edges to draw with their kinds; that a storage backs a tensor made from another one in it goes without saying."""
    kinds: dict[tuple[str, str], list[str]] = {}
    for a, b, d in graph.edges(data=True):
        made = any(e["kind"] in ("views", "moves") for _, _, e in graph.in_edges(b, data=True))
        if d["kind"] != "backs" or not made:
            kinds.setdefault((a, b), []).append(d["kind"])
    return kinds


def _lines(d: dict[str, Any]) -> list[str]:
    if d["kind"] == "storage":
        size = "?" if d["capacity"] is None else d["capacity"]
        return [f"{d['name']}  ({d['origin']})", f"{size} x {d['dtype']}, line {d['line']}"]
    sizes, strides = ("?" if v is None else ", ".join(map(str, v)) for v in (d["sizes"], d["strides"]))
    out = f" -> output {d['output']}" if "output" in d else ""
    return [f"{d['name']}{out}", f"{{{sizes}}}/{{{strides}}}", f"offset {d['offset']}, line {d['line']}"]


def _draw_node(b: _Box, d: dict[str, Any], dx: float, dy: float) -> Markup:
    x, y = b.xy[0] + dx - b.w / 2, b.xy[1] + dy - b.h / 2
    rect = tag(
        "rect",
        x=f"{x:.1f}",
        y=f"{y:.1f}",
        width=f"{b.w:.1f}",
        height=b.h,
        rx=0 if d["kind"] == "storage" else 10,
    )
    texts = (
        tag("text", t, x=f"{x + _PAD:.1f}", y=f"{y + _PAD + _LINE * (i + 0.75):.1f}")
        for i, t in enumerate(b.lines)
    )
    title = tag("title", "\n".join([*_lines(d), *d.get("uses", ())]))
    extra = " copy" if d.get("origin") == "copy" else " output" if "output" in d else ""
    return tag("g", title, rect, *texts, class_=d["kind"] + extra)


def _draw_edge(
    a: _Box, b: _Box, points: list[tuple[float, float]], kinds: list[str], dx: float, dy: float
) -> Markup:
    """From the bottom of one box through the points of the layout to the top of the other."""
    bends = [(x + dx, y + dy) for x, y in points[1:-1]]
    start, end = (a.xy[0] + dx, a.xy[1] + dy + a.h / 2), (b.xy[0] + dx, b.xy[1] + dy - b.h / 2)
    path = " L".join(f"{x:.1f} {y:.1f}" for x, y in [start, *bends, end])
    near = bends[-1] if bends else start
    label = tag(
        "text",
        ", ".join(kinds),
        x=f"{(near[0] + end[0]) / 2 + 4:.1f}",
        y=f"{(near[1] + end[1]) / 2:.1f}",
        class_="label",
    )
    return tag("g", tag("path", d=f"M{path}", marker_end="url(#tip)"), label, class_=" ".join(kinds))
