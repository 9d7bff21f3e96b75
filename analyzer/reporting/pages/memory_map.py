"""What happened in every storage, in order: allocations, views, copies, what kernels and ops touch.

A map is drawn at concrete sizes: those of the witness of a fault in the storage, else small admitted ones.
Positions are in bytes from the start of the storage, ends exclusive; texts count elements of the accessed type.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Literal, TypeAlias

from ...analysis import Analysis, Body
from ...bounds import index_range
from ...memory.ops import base_name, writes
from ...memory.storage import Storage, Tensor
from ...memory.trace import (
    AllocFact,
    CallFact,
    Fact,
    LaunchFact,
    OutputFact,
    ResetFact,
    UnmodelledFact,
    Verdict,
    ViewFact,
)
from ...model.dtypes import ITEMSIZE
from ...model.location import Loc
from ...model.record import field, record
from ...symbolic import Expr, evaluate
from ...symbolic.assumptions import Ranges
from ...symbolic.sampling import sizes_to_try

Touch: TypeAlias = Literal["read", "write", "whole"]
Status: TypeAlias = Literal["ok", "fault", "unknown"]


@record(frozen=True)
class Span:
    """Bytes ``first .. end-1`` of a storage; ``gaps``: a tensor's extent that the tensor does not fill."""

    touch: Touch
    first: int
    end: int
    text: str
    gaps: bool = False


@record(frozen=True)
class Row:
    """One event that concerns a storage. No spans: it touches no memory, or which is not known (``note``)."""

    loc: Loc
    kind: str
    label: str
    spans: tuple[Span, ...] = ()
    status: Status = "ok"
    note: str = ""


@record
class Map:
    """A storage over time. ``size`` in bytes at ``sizes``, None when not known; ``root`` is what it is a copy of."""

    storage: Storage
    body: str
    sizes: dict[str, int]
    size: int | None
    rows: list[Row] = field(default_factory=list)

    @property
    def root(self) -> str:
        return self.storage.root.name


def maps(analysis: Analysis) -> list[Map]:
    """A map for each storage of each body, in the order of the program."""
    return [m for body in analysis.bodies for m in _Mapper(analysis.ranges, body).run()]


class _Mapper:
    def __init__(self, ranges: Ranges, body: Body) -> None:
        self.ranges = ranges
        self.body = body
        self.maps: dict[Storage, Map] = {}
        self.verdicts: dict[tuple[int, str], list[Verdict]] = {}
        self.small = next(iter(sizes_to_try(ranges)), {})
        self.shown: dict[Storage, dict[str, int]] = {}
        for v in body.verdicts:
            self.verdicts.setdefault((id(v.launch), v.param.name), []).append(v)
            if v.decision.witness and v.storage not in self.shown:
                named = {n: v.decision.witness[n] for n in ranges.bounds if n in v.decision.witness}
                self.shown[v.storage] = {**self.small, **named}

    def run(self) -> list[Map]:
        for s in self.body.storages:
            self.map(s)
        for fact in self.body.facts:
            for storage, row in self._rows(fact):
                self.map(storage).rows.append(row)
        return list(self.maps.values())

    def map(self, s: Storage) -> Map:
        found = self.maps.get(s)
        if found is None:
            sizes = self.shown.get(s, self.small)
            elements = None if s.capacity is None else _number(s.capacity, sizes)
            size = None if elements is None else elements * ITEMSIZE.get(s.dtype, 1)
            found = self.maps[s] = Map(s, self.body.name, sizes, size)
        return found

    def _rows(self, fact: Fact) -> Iterator[tuple[Storage, Row]]:
        if isinstance(fact, AllocFact):
            yield self._whole(fact.tensor, fact.event.loc, "allocation", fact.event.result)
        elif isinstance(fact, ViewFact):
            yield from self._view(fact)
        elif isinstance(fact, LaunchFact):
            for param, t in fact.args.items():
                yield t.storage, self._launch(fact, param, t)
        elif isinstance(fact, CallFact):
            yield from self._call(fact)
        elif isinstance(fact, OutputFact) and fact.tensor is not None:
            yield self._whole(fact.tensor, fact.event.loc, "output", f"output {fact.event.index}")
        elif isinstance(fact, ResetFact):
            yield fact.tensor.storage, Row(fact.loc, "release", f"{fact.name} lets go")
        elif isinstance(fact, UnmodelledFact):
            for t in fact.tensors:
                row = Row(
                    fact.event.loc, "statement", fact.event.text[:120], (), "unknown", fact.event.reason
                )
                yield t.storage, row

    def _view(self, fact: ViewFact) -> Iterator[tuple[Storage, Row]]:
        name = fact.tensor.label or "inline view"
        of = fact.tensor.storage.of
        if fact.outcome.kind == "copy" and of is not None:
            yield self._whole(of, fact.event.loc, "copied", f"{name} is copied from here")
            yield self._whole(fact.tensor, fact.event.loc, "copy", f"packed copy of {of.storage.name}")
        else:
            yield self._whole(fact.tensor, fact.event.loc, "view", name)

    def _call(self, fact: CallFact) -> Iterator[tuple[Storage, Row]]:
        name = base_name(fact.event.op)
        targets = writes(fact.event, fact.args)
        for t in fact.operands:
            kind: Touch = "whole" if targets is None else "write" if any(t is w for w in targets) else "read"
            yield self._whole(t, fact.event.loc, "op", f"{name}: {t.label or 'inline view'}", kind)
        for result in fact.results:
            if result is not None:
                yield self._whole(result, fact.event.loc, "result", f"{name} gives {result.label}")

    def _whole(
        self, t: Tensor, loc: Loc, kind: str, label: str, touch: Touch = "whole"
    ) -> tuple[Storage, Row]:
        """The extent of a tensor, from its first to its last element."""
        env = self.map(t.storage).sizes
        ends = _extent(t, env)
        if ends is None:
            return t.storage, Row(loc, kind, label, (), "unknown", "extent not known")
        first, last = ends
        if last < first:
            return t.storage, Row(loc, kind, label, note="no elements")
        width = ITEMSIZE.get(t.dtype, 1)
        layout = f"{_braces(t.sizes)}/{_braces(t.strides)} + {t.offset}: {first:,} to {last:,}"
        elements = math.prod(_number(n, env) or 0 for n in t.sizes or ())
        gaps = elements < last - first + 1
        layout += " with gaps" * gaps
        return t.storage, Row(
            loc, kind, label, (Span(touch, first * width, (last + 1) * width, layout, gaps),)
        )

    def _launch(self, fact: LaunchFact, param: str, t: Tensor) -> Row:
        """What a launch touches through one pointer; each kind of access as one range."""
        verdicts = self.verdicts.get((id(fact), param), [])
        env = self.map(t.storage).sizes
        spans: list[Span] = []
        notes: list[str] = []
        for touch, stores in (("read", False), ("write", True)):
            kinds = ("store", "atomic") if stores else ("load", "atomic")
            mine = [v for v in verdicts if v.access.kind in kinds]
            ranges = [self._range(v, env) for v in mine]
            known = [r for r in ranges if r is not None]
            if len(known) < len(mine):
                notes.append(f"which elements it {touch}s is not known in full")
            touched = [r for r in known if r[0] <= r[1]]
            if touched:
                first, last = min(r[0] for r in touched), max(r[1] for r in touched)
                width = ITEMSIZE.get(mine[0].param.dtype or t.dtype, 1)
                text = f"{touch}s {first:,} to {last:,}"
                spans.append(Span("write" if stores else "read", first * width, (last + 1) * width, text))
        missing = fact.event.reason or (None if fact.kernel else "no source of this kernel")
        statuses = {v.decision.status for v in verdicts} | ({"unknown"} if missing else set())
        status: Status = "fault" if "fault" in statuses else "unknown" if "unknown" in statuses else "ok"
        notes += [missing] if missing else []
        notes += sorted(
            {v.decision.reason for v in verdicts if v.decision.status == "unknown" and v.decision.reason}
        )
        label = f"{fact.event.kernel} {param}" + (f" ({t.label})" if t.label else "")
        return Row(fact.event.loc, "launch", label, tuple(spans), status, "; ".join(notes))

    def _range(self, v: Verdict, env: Mapping[str, int]) -> tuple[int, int] | None:
        """First and last element of the storage; the first is larger when nothing is touched."""
        start = _number(v.start, env)
        if v.index is None or start is None:
            return None
        r = v.decision.range
        if r.min is None and r.max is None and not r.empty and v.decision.reason is None:
            r = index_range(v.index, v.vars, v.guard, self.ranges)
        if r.empty:
            return (1, 0)
        lo, hi = (None if x is None else _number(x, env) for x in (r.min, r.max))
        if v.decision.status == "fault" and v.decision.index is not None and (lo is None or hi is None):
            lo = hi = v.decision.index
        if lo is None or hi is None:
            return None
        lo, hi = lo + start, hi + start
        if v.decision.status == "proved" and v.capacity is not None:
            # The range may be wider than what is touched; what is proved is that all of it is inside.
            size = _number(v.capacity, env)
            return (max(lo, 0), hi if size is None else min(hi, size - 1))
        return (lo, hi)


def _number(e: Expr, env: Mapping[str, int]) -> int | None:
    try:
        return int(evaluate(e, env))
    except (KeyError, ZeroDivisionError, ValueError):
        return None


def _extent(t: Tensor, env: Mapping[str, int]) -> tuple[int, int] | None:
    """First and last element of a tensor in its storage, the last before the first when it has none; None: not known."""
    if t.sizes is None or t.strides is None:
        return None
    sizes = [_number(x, env) for x in t.sizes]
    strides = [_number(x, env) for x in t.strides]
    first = _number(t.offset, env)
    if first is None or None in strides or None in sizes:
        return None
    if 0 in sizes:
        return (first, first - 1)
    steps = [((n or 0) - 1) * (s or 0) for n, s in zip(sizes, strides, strict=True)]
    return first + sum(min(s, 0) for s in steps), first + sum(max(s, 0) for s in steps)


def _braces(values: tuple[Expr, ...] | None) -> str:
    return "{?}" if values is None else "{" + ", ".join(map(str, values)) + "}"
