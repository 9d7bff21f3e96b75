"""What several rules say in the same words: evidence, related places, excerpts of what was meant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from ..analyzer.memory.storage import Tensor
from ..analyzer.memory.trace import LaunchFact, Verdict
from ..analyzer.model.findings import Evidence, Related
from ..analyzer.model.location import Loc
from ..analyzer.symbolic import Expr

if TYPE_CHECKING:
    from ..analyzer.analysis import Analysis


def number(e: Expr | None) -> int | str | None:
    """An integer where an expression is one, else its text."""
    if e is None:
        return None
    v = e.value
    return v if v is not None else str(e)


def numbers(es: Sequence[Expr] | None) -> tuple[int | str, ...] | None:
    return None if es is None else tuple(x for x in map(number, es) if x is not None)


def braces(es: Sequence[Expr] | None) -> str:
    """Sizes or strides as a wrapper writes them."""
    return "{" + ", ".join(map(str, es)) + "}" if es is not None else "{?}"


def named(tensor: Tensor) -> str:
    """A tensor in a message: its handle, or what it is a view of."""
    if tensor.label is not None:
        return tensor.label
    return f"a view of {tensor.base}" if tensor.base else "a temporary view"


def origin(tensor: Tensor) -> list[Related]:
    """Where the view was made and where the memory behind it comes from."""
    out: list[Related] = []
    if tensor.view and not same_line(tensor.loc, tensor.storage.loc):
        layout = f"{braces(tensor.sizes)}, {braces(tensor.meant_strides)}"
        out.append(Related(f"{named(tensor)} is a view of {tensor.base}: {layout}", tensor.loc))
    storage = tensor.storage
    while storage.of is not None:
        out.append(Related(f"{storage.name} is copied from {storage.of.base} here", storage.of.loc))
        storage = storage.of.storage
    kinds = {
        "allocation": f"{storage.name} is allocated here",
        "input": f"{storage.name} is an input",
        "constant": f"{storage.name} is a constant",
        "result": f"{storage.name} is returned by this op",
        "joined": f"{storage.name} is one of several buffers after this branch",
    }
    out.append(Related(kinds.get(storage.kind, f"{storage.name} comes from here"), storage.loc))
    return out


def same_line(a: Loc, b: Loc) -> bool:
    return (a.path, a.line) == (b.path, b.line)


def layout_evidence(tensor: Tensor) -> Evidence:
    """Sizes, strides as written, and offset of a tensor."""
    return Evidence(
        sizes=numbers(tensor.sizes),
        strides=numbers(tensor.meant_strides or tensor.strides),
        offset=number(tensor.offset),
        available=number(tensor.storage.elements(tensor.dtype)),
    )


def extreme(verdicts: Iterable[Verdict]) -> Verdict:
    """The fault that goes furthest out of bounds."""

    def excess(v: Verdict) -> int:
        d = v.decision
        start = v.start.value or 0
        index = (d.index or 0) + start
        return index - (d.available or 0) if index >= 0 else -index

    return max(verdicts, key=excess)


def by_parameter(
    analysis: Analysis, kinds: tuple[str, ...]
) -> Iterator[tuple[LaunchFact, Tensor, str, list[Verdict]]]:
    """Accesses of some kinds grouped by launch and parameter."""
    groups: dict[tuple[int, str], list[Verdict]] = {}
    for v in analysis.all_verdicts:
        if v.access.kind in kinds:
            groups.setdefault((id(v.launch), v.param.name), []).append(v)
    for vs in groups.values():
        yield vs[0].launch, vs[0].tensor, vs[0].param.name, vs


def access_word(kind: str) -> Literal["read", "write", "atomic"]:
    return {"load": "read", "store": "write"}.get(kind, "atomic")  # type: ignore[return-value]


def witness_text(witness: dict[str, int] | None) -> str:
    return ", ".join(f"{k}={v}" for k, v in (witness or {}).items())


def with_names(v: Verdict, witness: dict[str, int] | None) -> dict[str, int] | None:
    """A witness with the values of the kernel's own index variables put first."""
    if witness is None:
        return None
    from ..analyzer.analysis import bind_names
    from ..analyzer.symbolic import evaluate

    out: dict[str, int] = {}
    for name, e in bind_names(v):
        if name in v.access.text and e.symbols <= witness.keys():
            try:
                out[name] = int(evaluate(e, witness))
            except (ValueError, ZeroDivisionError):
                continue
    return {**out, **{k: x for k, x in witness.items() if k not in out}}


def source_nodes(analysis: Analysis, tensor: Tensor, launch: LaunchFact | None = None) -> tuple[str, ...]:
    """The model's own operations: of the launch, or of the ops that made or use the storage."""
    from ..analyzer.memory.trace import CallFact

    if launch is not None and launch.event.source_nodes:
        return launch.event.source_nodes
    root = tensor.storage.root
    for fact in analysis.facts(CallFact):
        near = [t for t in (*fact.operands, *fact.results) if t is not None]
        if fact.event.source_nodes and any(t.storage.root is root for t in near):
            return fact.event.source_nodes
    return ()
