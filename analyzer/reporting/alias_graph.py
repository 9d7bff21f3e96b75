"""The alias graph: which handles share which storage, and how they came to.

Nodes are storages (``storage:<n>``) and tensors (``tensor:<n>``); an edge leads from what something was made
from to what was made: ``allocates``, ``views``, ``copies`` (a runtime's packed copy), ``moves``, ``returns``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..memory.storage import Storage, Tensor
from ..memory.trace import AllocFact, CallFact, LaunchFact, MoveFact, OutputFact, ViewFact
from ..symbolic.terms import plain

if TYPE_CHECKING:
    import networkx as nx

    from ..analysis import Analysis, Body


def alias_graph(analysis: Analysis) -> nx.MultiDiGraph:
    """The graph of every body of a program under its profile."""
    import networkx as nx

    graph = nx.MultiDiGraph(
        path=analysis.program.path, runtime=analysis.profile.name, device=analysis.program.device
    )
    for body in analysis.bodies:
        _Builder(graph, body).build()
    return graph


class _Builder:
    def __init__(self, graph: nx.MultiDiGraph, body: Body) -> None:
        self.graph = graph
        self.body = body
        self.storages: dict[Storage, str] = {}
        self.tensors: dict[tuple[str, Storage, str, str], str] = {}

    def build(self) -> None:
        for s in self.body.storages:
            self.storage(s)
        for fact in self.body.facts:
            if isinstance(fact, AllocFact):
                self.tensor(fact.tensor)
            elif isinstance(fact, ViewFact):
                kind = "copies" if fact.outcome.kind == "copy" else "views"
                self.edge(self.tensor(fact.source), self.tensor(fact.tensor), kind, fact.event.loc.line)
            elif isinstance(fact, MoveFact):
                self.move(fact)
            elif isinstance(fact, LaunchFact):
                self.uses(fact)
            elif isinstance(fact, CallFact):
                for t in (*fact.operands, *fact.results):
                    if t is not None:
                        self.tensor(t)
            elif isinstance(fact, OutputFact) and fact.tensor is not None:
                node = self.tensor(fact.tensor)
                self.graph.nodes[node]["output"] = fact.event.index

    def storage(self, s: Storage) -> str:
        node = self.storages.get(s)
        if node is None:
            node = f"storage:{self.graph.number_of_nodes()}"
            self.storages[s] = node
            self.graph.add_node(
                node, kind="storage", name=s.name, origin=s.kind, dtype=s.dtype, capacity=plain(s.capacity),
                line=s.loc.line, body=self.body.name,
            )  # fmt: skip
            if s.of is not None:
                self.edge(self.storage(s.of.storage), node, "copies", s.loc.line)
        return node

    def tensor(self, t: Tensor) -> str:
        key = (t.name, t.storage, str(t.offset), str(t.strides))
        node = self.tensors.get(key)
        if node is None:
            storage = self.storage(t.storage)
            node = f"tensor:{self.graph.number_of_nodes()}"
            self.tensors[key] = node
            self.graph.add_node(
                node, kind="tensor", name=t.label or f"view of {t.base}", dtype=t.dtype, line=t.loc.line,
                sizes=_plain(t.sizes), strides=_plain(t.strides), offset=plain(t.offset), body=self.body.name,
            )  # fmt: skip
            self.edge(storage, node, "backs", t.loc.line)
        return node

    def edge(self, a: str, b: str, kind: str, line: int) -> None:
        if a != b and not self.graph.has_edge(a, b, key=kind):
            self.graph.add_edge(a, b, key=kind, kind=kind, line=line)

    def move(self, fact: MoveFact) -> None:
        """The node of the tensor under its old name leads to the one under its new name."""
        new = self.tensor(fact.tensor)
        for (name, storage, _, _), node in list(self.tensors.items()):
            if name == fact.event.source and storage is fact.tensor.storage:
                self.edge(node, new, "moves", fact.event.loc.line)

    def uses(self, fact: LaunchFact) -> None:
        for param, t in fact.args.items():
            node = self.graph.nodes[self.tensor(t)]
            node.setdefault("uses", []).append(f"{fact.event.kernel} {param} (line {fact.event.loc.line})")


def _plain(values: tuple[Any, ...] | None) -> list[int | str | None] | None:
    return None if values is None else [plain(v) for v in values]


_WORDS = {"views": "view of", "copies": "copy of", "moves": "moved from"}

# -- text forms ---------------------------------------------------------------------------------


def to_text(graph: nx.MultiDiGraph) -> str:
    """One paragraph for each storage: capacity, then the tensors in it with sizes, strides, offset and line."""
    out = [f"{graph.graph['path']} under {graph.graph['runtime']}"]
    for node, data in graph.nodes(data=True):
        if data["kind"] != "storage":
            continue
        size = "?" if data["capacity"] is None else data["capacity"]
        out.append(f"{data['name']}  {data['origin']}, {size} x {data['dtype']}, line {data['line']}")
        tensors = [t for _, t, k in graph.out_edges(node, keys=True) if k == "backs"]
        for t in tensors:
            d = graph.nodes[t]
            made = [
                f"{_WORDS[e['kind']]} {graph.nodes[a]['name']}"
                for a, _, e in graph.in_edges(t, data=True) if e["kind"] in ("views", "copies", "moves")
            ]  # fmt: skip
            ends = f" -> output {d['output']}" if "output" in d else ""
            layout = f"{_braces(d['sizes'])}/{_braces(d['strides'])} + {d['offset']}"
            why = f"  {', '.join(made)}" if made else ""
            out.append(f"  {d['name']}  {layout}  line {d['line']}{why}{ends}")
        for a, _, e in graph.in_edges(node, data=True):
            if e["kind"] == "copies":
                out.append(f"  copied from {graph.nodes[a]['name']} at line {e['line']}")
    return "\n".join(out) + "\n"


def _braces(values: list[Any] | None) -> str:
    return "{?}" if values is None else "{" + ", ".join(map(str, values)) + "}"


def to_json(graph: nx.MultiDiGraph) -> dict[str, Any]:
    """Node-link form: ``nodes`` with their attributes, ``edges`` with source, target, kind and line."""
    return {
        **graph.graph,
        "nodes": [{"id": n, **d} for n, d in graph.nodes(data=True)],
        "edges": [{"source": a, "target": b, **d} for a, b, d in graph.edges(data=True)],
    }


def to_dot(graph: nx.MultiDiGraph) -> str:
    """Graphviz text."""

    def quote(s: object) -> str:
        return '"' + str(s).replace("\\", "\\\\").replace('"', '\\"') + '"'

    out = ["digraph aliases {", "  rankdir=LR; node [fontname=monospace];"]
    for n, d in graph.nodes(data=True):
        if d["kind"] == "storage":
            label = f"{d['name']}\\n{d['origin']} {d['capacity']} x {d['dtype']}"
            style = "shape=box, style=dashed" if d["origin"] == "copy" else "shape=box"
        else:
            label = f"{d['name']}\\n{_braces(d['sizes'])}/{_braces(d['strides'])}+{d['offset']}"
            style = "shape=ellipse"
        out.append(f"  {quote(n)} [label={quote(label).replace(chr(92) * 2 + 'n', chr(92) + 'n')}, {style}];")
    for a, b, d in graph.edges(data=True):
        style = ", style=dashed, color=red" if d["kind"] == "copies" else ""
        out.append(f"  {quote(a)} -> {quote(b)} [label={quote(d['kind'])}{style}];")
    return "\n".join([*out, "}", ""])
