"""What storages hold over the sequence of events, at concrete sizes.

For every storage, cells say which elements have been written.  Reads of elements nobody wrote, reads of
packed copies that are older than their parent, and reads of a slot that another tensor has taken over are
collected.  Where an effect is not known exactly (data-dependent stores, ops that are not known), the storage
counts as written: nothing is claimed about it.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import TYPE_CHECKING, Literal

from ..bounds.footprint import Box, Elements, elements, normal, point_at
from ..memory.byte_map import Cells, above, those
from ..memory.ops import base_name, writes
from ..memory.storage import Storage, Tensor
from ..memory.trace import (
    AllocFact,
    CallFact,
    Fact,
    LaunchFact,
    MoveFact,
    OutputFact,
    UnmodelledFact,
    Verdict,
    ViewFact,
)
from ..model.dtypes import ITEMSIZE
from ..model.record import field, record, replace
from ..symbolic import evaluate
from ..symbolic.sampling import sizes_to_try

if TYPE_CHECKING:
    from ..analysis import Analysis, Body

#: Largest storage whose contents are tracked, elements.
MAX_ELEMENTS = 1 << 26
#: Tensors that can be told apart in one storage: their numbers are cells.
_OWNERS = 255
_UNWRITTEN, _STALE = those(0), those(1)


@record(frozen=True)
class Fault:
    """A use of elements that do not hold what the program means.

    ``first``/``last`` are the elements concerned, in elements of the accessed type from the storage's start.  ``partial`` is the
    launch that should have written them: it covers only part of the tensor it was given.  ``other`` is the
    event that took the memory over (clobbered) or wrote the parent (stale).  ``dropped``: what ``other`` stored to an
    input for the caller to see is overwritten by a tensor that took its memory over, ``use`` being the write.  ``certain`` is False where the
    value may be discarded: a kernel that copies out of a buffer nothing was ever written to (padding does
    that), a select that depends on data, a launch whose grid is empty at a size of zero.
    """

    kind: Literal["unwritten", "stale", "clobbered", "dropped"]
    use: Fact
    tensor: Tensor
    access: Verdict | None
    first: int
    last: int
    capacity: int
    sizes: dict[str, int]
    witness: dict[str, int] | None
    partial: LaunchFact | None = None
    other: Fact | None = None
    certain: bool = True


@record
class _State:
    """Contents of one storage.

    ``written``: 1 where something has been written (None: everything counts as written).  ``writer``: the
    number of the tensor that wrote last, among those that share the storage.  ``stale``: 1 where the parent
    of a copy was written since; ``origin`` is that copy's view of the parent: sizes, strides, start.
    ``changed``: 1 where the wrapper has changed an input of the caller, by ``changes``.
    """

    size: int
    written: Cells | None
    writer: Cells | None = None
    stale: Cells | None = None
    origin: tuple[list[int], list[int], int] | None = None
    owners: list[Fact] = field(default_factory=list)
    partial: list[tuple[LaunchFact, Tensor]] = field(default_factory=list)
    begun: bool = False
    changed: Cells | None = None
    changes: list[Fact] = field(default_factory=list)


def faults(analysis: Analysis) -> list[Fault]:
    """All faults, each use of a storage reported once; computed once an analysis."""
    found = analysis.cache.get("contents")
    if found is None:
        found = [f for body in analysis.bodies for f in _body(analysis, body)]
        analysis.cache["contents"] = found
    return found  # type: ignore[return-value]


def _body(analysis: Analysis, body: Body) -> list[Fault]:
    for env in sizes_to_try(analysis.ranges):
        found = _Simulation(body, env).run()
        if 0 in env.values():  # empty launches write nothing, and what they leave is rarely looked at
            found = [replace(f, certain=False) for f in found]
        if found:
            return found
    return []


class _Simulation:
    def __init__(self, body: Body, env: Mapping[str, int]) -> None:
        self.body = body
        self.looping = False
        self.env = dict(env)
        self.states: dict[Storage, _State] = {}
        self.verdicts: dict[int, list[Verdict]] = {}
        #: Unit of a storage's state, bytes: the smallest element any access to it has.
        self.unit: dict[Storage, int] = {}
        for v in body.verdicts:
            self.verdicts.setdefault(id(v.launch), []).append(v)
            self._unit(v.storage, v.param.dtype or v.tensor.dtype)
        for f in body.facts:
            if isinstance(f, (AllocFact, ViewFact)):
                self._unit(f.tensor.storage, f.tensor.dtype)
        #: Number of a tensor among those that share its storage, from 1 on.
        self.members: dict[str, int] = {}
        self.shared = self._shared()
        self.copies: dict[Storage, list[Storage]] = {}
        self.found: list[Fault] = []
        self.said: set[tuple[Storage, str]] = set()

    def _unit(self, s: Storage, dtype: str) -> None:
        for name in (dtype, s.dtype):
            self.unit[s] = min(self.unit.get(s, 16), ITEMSIZE.get(name, 1))

    def _spread(self, found: Elements, s: Storage, dtype: str) -> Elements:
        return found.spread(ITEMSIZE.get(dtype, 1) // self.unit.get(s, ITEMSIZE.get(dtype, 1)))

    def run(self) -> list[Fault]:
        for fact in self.body.facts:
            self.looping = any(a <= fact.seq < b for a, b in self.body.loops)
            handler = getattr(self, f"_on_{type(fact).__name__.lower()}", None)
            if handler is not None:
                handler(fact)
        return self.found

    # -- storages
    def _shared(self) -> set[Storage]:
        """Storages that several tensors take over from each other: pools and reused buffers.

        A buffer that goes from handle to handle is one only where a view of it was made before, or where it is the caller's.
        """
        out: set[Storage] = set()
        viewed: set[Storage] = set()
        for f in self.body.facts:
            if isinstance(f, ViewFact):
                viewed.add(f.tensor.storage)
                if f.event.how == "pool" or f.event.note == "reuse":
                    out.add(f.source.storage)
            elif isinstance(f, MoveFact) and (f.tensor.storage in viewed or f.tensor.storage.kind == "input"):
                out.add(f.tensor.storage)
        return out

    def state(self, s: Storage) -> _State | None:
        if s in self.states:
            return self.states[s]
        size = None if s.capacity is None else self._number(s.capacity)
        if size is None or s.kind in ("joined", "unknown"):
            return None
        size *= ITEMSIZE.get(s.dtype, 1) // self.unit.get(s, ITEMSIZE.get(s.dtype, 1))
        if size > MAX_ELEMENTS:
            return None
        state = _State(size, Cells(size) if s.kind == "allocation" else None)
        if s in self.shared:
            state.writer = Cells(size)
            state.changed = Cells(size) if s.kind == "input" else None
        self.states[s] = state
        return state

    def _number(self, e: object) -> int | None:
        try:
            return int(evaluate(e, self.env))  # type: ignore[arg-type]
        except (KeyError, ZeroDivisionError, ValueError):
            return None

    def forget(self, s: Storage) -> None:
        """From here on nothing is claimed about what a storage holds."""
        for part in (s, *s.parts):
            state = self.state(part)
            if state is not None:
                state.written = state.stale = state.writer = state.changed = None

    def tensor(self, t: Tensor) -> Elements | None:
        """The elements of a tensor in its storage, when dtype and layout are known."""
        if t.sizes is None or t.strides is None:
            return None
        sizes = [self._number(x) for x in t.sizes]
        strides = [self._number(x) for x in t.strides]
        offset = self._number(t.offset)
        if offset is None or None in sizes or None in strides:
            return None
        box = normal(
            offset, [(n, s) for n, s in zip(sizes, strides, strict=True) if n is not None and s is not None]
        )
        return self._spread(Elements([box] if box is not None else []), t.storage, t.dtype)

    # -- events
    def _on_allocfact(self, fact: AllocFact) -> None:
        self.states.pop(fact.tensor.storage, None)

    def _on_viewfact(self, fact: ViewFact) -> None:
        if fact.outcome.kind == "copy":
            self._copy(fact)
        if fact.tensor.member == fact.event.result:
            self._own(fact)

    def _on_movefact(self, fact: MoveFact) -> None:
        if fact.tensor.member == fact.event.result:
            self._own(fact)

    def _own(self, fact: ViewFact | MoveFact) -> None:
        """A tensor takes a slot of its storage over."""
        state = self.state(fact.tensor.storage)
        if state is None or state.writer is None:
            return
        if len(state.owners) == _OWNERS:  # no numbers left: who wrote what is forgotten
            state.writer = Cells(state.size)
            state.owners.clear()
            for f in self.body.facts:
                if isinstance(f, (ViewFact, MoveFact)) and f.tensor.storage is fact.tensor.storage:
                    self.members.pop(f.tensor.member, None)
        state.owners.append(fact)
        self.members[fact.tensor.member] = len(state.owners)

    def _copy(self, fact: ViewFact) -> None:
        """A packed copy holds what the view held when it was made."""
        of = fact.tensor.storage.of
        copy, parent = self.state(fact.tensor.storage), None if of is None else self.state(of.storage)
        if of is None or copy is None or parent is None or of.sizes is None or of.meant_strides is None:
            return
        sizes = [self._number(x) or 0 for x in of.sizes]
        strides = [self._number(x) or 0 for x in of.meant_strides]
        start = self._number(of.offset)
        unit = ITEMSIZE.get(of.dtype)
        if start is None or copy.size == 0 or min(strides, default=0) < 0:
            return
        if self.unit.get(of.storage) != unit or self.unit.get(fact.tensor.storage) != unit:
            return
        last = start + sum((n - 1) * s for n, s in zip(sizes, strides, strict=True))
        if prod(sizes) != copy.size or start < 0 or last >= parent.size:
            return
        copy.origin = (sizes, strides, start)
        copy.written = None if parent.written is None else parent.written.gather(*copy.origin)
        copy.stale = Cells(copy.size)
        self.copies.setdefault(of.storage, []).append(fact.tensor.storage)

    def _on_launchfact(self, fact: LaunchFact) -> None:
        if fact.kernel is None or fact.event.reason or fact.kernel.unmodelled:
            for t in fact.args.values():
                self.forget(t.storage)
            return
        covered: dict[str, list[Elements] | None] = {}
        for v in self.verdicts.get(id(fact), ()):
            touched = None if v.index is None else self._touched(v)
            if v.access.kind != "store":
                self._read(fact, v.tensor, touched, v)
            if v.access.kind != "load":
                if touched is None:
                    covered[v.param.name] = None
                    self.forget(v.storage)
                else:
                    self._write(fact, v.tensor, touched)
                    if (known := covered.setdefault(v.param.name, [])) is not None:
                        known.append(touched)
        for param, sets in covered.items():
            if sets is not None:
                self._note_partial(fact, fact.args[param], sets)

    def _touched(self, v: Verdict) -> Elements | None:
        """Elements of the storage an access touches; None when not known or not inside it."""
        assert v.index is not None
        state = self.state(v.storage)
        if state is None:
            return None
        guard = v.guard & v.access.used.substitute(v.launch.scalars) if v.access.kind == "load" else v.guard
        found = elements(v.index, v.vars, guard, self.env)
        start = self._number(v.start)
        if found is None or start is None:
            return None
        found = self._spread(found.shifted(start), v.storage, v.param.dtype or v.tensor.dtype)
        return found if found.fits(state.size) else None

    def _note_partial(self, fact: LaunchFact, t: Tensor, sets: list[Elements]) -> None:
        """Remember a launch that leaves part of the tensor it writes untouched."""
        state, whole = self.state(t.storage), self.tensor(t)
        if state is None or state.written is None or whole is None or not whole.fits(state.size):
            return
        if any(e.boxes == whole.boxes for e in sets):
            return
        covered = Cells(state.size)
        for e in sets:
            covered.set(e, 1)
        if covered.ends(whole, _UNWRITTEN) is not None:
            state.partial.append((fact, t))

    def _read(self, fact: Fact, t: Tensor, touched: Elements | None, v: Verdict | None) -> None:
        state = self.state(t.storage)
        if state is None or touched is None or touched.empty:
            return
        if v is not None:
            certain = state.begun and not v.access.used.has_opaque()
        else:  # a model may return what nothing was ever written to, as torch.empty gives it
            certain = state.begun or not isinstance(fact, OutputFact)
        if state.written is not None:
            self._report("unwritten", fact, t, touched, state.written, _UNWRITTEN, state, v, certain)
        if state.stale is not None:
            self._report("stale", fact, t, touched, state.stale, _STALE, state, v, certain)
        if state.writer is not None:
            later = above(self.members.get(t.member, 0))
            self._report("clobbered", fact, t, touched, state.writer, later, state, v, certain)

    def _report(
        self,
        kind: Literal["unwritten", "stale", "clobbered"],
        fact: Fact,
        t: Tensor,
        touched: Elements,
        cells: Cells,
        bad: bytes,
        state: _State,
        v: Verdict | None,
        certain: bool,
    ) -> None:
        if (t.storage, kind) in self.said:
            return
        missing = cells.ends(touched, bad)
        if missing is None:
            return
        self.said.add((t.storage, kind))
        dtype = (v.param.dtype if v is not None else None) or t.dtype
        each = ITEMSIZE.get(dtype, 1) // self.unit.get(t.storage, 1) or 1
        first, last = missing[0] // each, missing[1] // each
        witness = None
        if v is not None and v.index is not None:
            start = self._number(v.start) or 0
            guard = v.guard & v.access.used.substitute(v.launch.scalars)
            witness = point_at(v.index, v.vars, guard, self.env, first - start)
        other = None
        if kind == "clobbered" and state.writer is not None:
            other = state.owners[state.writer[missing[0]] - 1]
        partial = next((f for f, w in state.partial if self._holds(w, missing[0])), None)
        size = state.size // each
        self.found.append(
            Fault(kind, fact, t, v, first, last, size, self.env, witness, partial, other, certain)
        )

    def _holds(self, t: Tensor, element: int) -> bool:
        state, whole = self.state(t.storage), self.tensor(t)
        if state is None or whole is None or not whole.fits(state.size):
            return False
        only = Cells(state.size)
        only.set(Elements([Box(element, ((1, 1),))]), 1)
        return only.ends(whole, those(1)) is not None

    def _write(self, fact: Fact, t: Tensor, touched: Elements) -> None:
        state = self.state(t.storage)
        if state is None:
            return
        if self.looping:  # which iteration writes what is not followed
            self.forget(t.storage)
            return
        state.begun = True
        if state.changed is not None:
            self._note_change(fact, t, touched, state, state.changed)
        if state.written is not None:
            state.written.set(touched, 1)
        if state.stale is not None:
            state.stale.set(touched, 0)
        if state.writer is not None:
            state.writer.set(touched, self.members.get(t.member, 0))
        for copy in self.copies.get(t.storage, ()):
            self._parent_written(copy, touched, state.size)

    def _note_change(self, fact: Fact, t: Tensor, touched: Elements, state: _State, changed: Cells) -> None:
        """What an input is changed to must still be there at the end, unless a later value is made from it."""
        if not self.members.get(t.member, 0):
            changed.set(touched, 1)
            state.changes.append(fact)
            return
        updates = isinstance(fact, LaunchFact) and any(
            v.storage is t.storage and v.access.kind != "store" for v in self.verdicts.get(id(fact), ())
        )
        lost = None if updates else changed.ends(touched, those(1))
        if lost is None or (t.storage, "dropped") in self.said:
            return
        self.said.add((t.storage, "dropped"))
        each = ITEMSIZE.get(t.dtype, 1) // self.unit.get(t.storage, 1) or 1
        first, last, size = lost[0] // each, lost[1] // each, state.size // each
        self.found.append(
            Fault(
                "dropped", fact, t, None, first, last, size, self.env, None, None, state.changes[-1],
                certain=False,
            )
        )  # fmt: skip

    def _parent_written(self, copy: Storage, touched: Elements, size: int) -> None:
        state = self.states.get(copy)
        if state is None or state.stale is None or state.origin is None:
            return
        written = Cells(size)
        written.set(touched, 1)
        state.stale.join(written.gather(*state.origin))

    def _on_callfact(self, fact: CallFact) -> None:
        name = base_name(fact.event.op)
        if name in ("new_uninitialized_tensor", "unmodelled"):
            return
        targets = writes(fact.event, fact.args)
        if targets is None:
            for t in fact.operands:
                self.forget(t.storage)
            return
        if fact.event.writes is not None:
            fills = fact.event.writes.whole
        else:
            whole_write = name.endswith("_out") and not name.startswith(("scatter", "index_put"))
            fills = whole_write or name in ("copy_", "zero_", "fill_") or name.startswith("rand")
        for t in fact.operands:
            if not (fills and any(t is w for w in targets)) or sum(o is t for o in fact.operands) > 1:
                self._read(fact, t, self._inside(t), None)
        for t in targets:
            inside = self._inside(t)
            if inside is None:
                self.forget(t.storage)
            else:
                self._write(fact, t, inside)

    def _inside(self, t: Tensor) -> Elements | None:
        state, whole = self.state(t.storage), self.tensor(t)
        return whole if state is not None and whole is not None and whole.fits(state.size) else None

    def _on_outputfact(self, fact: OutputFact) -> None:
        if fact.tensor is not None:
            self._read(fact, fact.tensor, self._inside(fact.tensor), None)

    def _on_unmodelledfact(self, fact: UnmodelledFact) -> None:
        for t in fact.tensors:
            self.forget(t.storage)
