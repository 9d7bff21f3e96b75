"""Walk the events of a program under a runtime profile and record what happens to memory.

The replay keeps, for every handle, the tensor it is bound to and whether it is live, and yields
:mod:`.facts`.  It does not decide whether an access is in bounds and knows no rules.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..model.location import Loc
from ..model.program import (
    Alloc,
    Arg,
    Assert,
    Branch,
    Call,
    Check,
    Event,
    Function,
    Launch,
    Loop,
    Move,
    Output,
    Own,
    Program,
    Reset,
    Unmodelled,
    View,
)
from ..model.program import Tensor as Operand
from ..model.record import replace
from ..runtimes.predicates import extent
from ..runtimes.profile import Profile, ViewOutcome
from ..symbolic import ZERO, Expr
from ..symbolic.assumptions import Ranges
from .asserted import said
from .initial import constant_tensor, input_tensor
from .merge import join
from .ops import result_layouts
from .storage import Slot, Storage, Tensor, seen_as
from .trace import (
    AllocFact,
    AssertFact,
    CallFact,
    Fact,
    LaunchFact,
    MoveFact,
    OutputFact,
    ResetFact,
    StateFact,
    UnmodelledFact,
    ViewFact,
)  # fmt: skip


class Replay:
    """One function body under one profile. ``facts`` and ``storages`` are the result."""

    def __init__(
        self,
        program: Program,
        function: Function,
        profile: Profile,
        ranges: Ranges,
        sizes: Mapping[str, Expr],
    ) -> None:
        self.program = program
        self.profile = profile
        self.ranges = ranges
        self.fixed = dict(sizes)
        self.facts: list[Fact] = []
        self.storages: list[Storage] = []
        self.loops: list[tuple[int, int]] = []
        self.slots: dict[str, Slot] = {}
        self._said = said(function.events, program.kernels)
        for i in function.inputs:
            self._given(i.name, input_tensor(i, program.device, self.fixed, ranges))
        rows = {c.index: c for c in program.constants}
        for name, index in function.constants:
            self._given(name, constant_tensor(name, rows.get(index), program.device, function.loc, ranges))
        self.run(function.events)
        self._leaks()

    # -- helpers
    def sub(self, e: Expr) -> Expr:
        return e.substitute(self.fixed)

    def subs(self, es: Sequence[Expr]) -> tuple[Expr, ...]:
        return tuple(e.substitute(self.fixed) for e in es)

    @property
    def seq(self) -> int:
        return len(self.facts)

    def _new(self, storage: Storage) -> Storage:
        self.storages.append(storage)
        return storage

    def bind(
        self, name: str, tensor: Tensor | None, at: Loc, raw: bool = False, unowned: bool = False
    ) -> None:
        self.slots[name] = Slot(
            "live" if tensor is not None else "null", tensor, at, raw=raw, unowned=unowned
        )

    def _given(self, name: str, tensor: Tensor) -> None:
        self._new(tensor.storage)
        self.bind(name, tensor, tensor.loc)

    def use(self, name: str, loc: Loc, how: str) -> Tensor | None:
        """The tensor a handle holds; using an empty one is recorded."""
        slot = self.slots.get(name)
        if slot is None:
            return None
        owner = self.slots.get(slot.owner) if slot.owner else None
        state, at = slot.state, slot.at
        if state == "live" and slot.raw and owner is not None and owner.state == "reset":
            state, at = "reset", owner.at
        if state == "null" and slot.tensor is None:
            return None
        if state != "live":
            kind = state
            self.facts.append(StateFact(self.seq, kind, name, how, loc, at, slot.tensor))
        return slot.tensor

    # -- events
    def run(self, events: Sequence[Event]) -> None:
        for e in events:
            handler = getattr(self, f"_on_{type(e).__name__.lower()}")
            handler(e)

    def _on_alloc(self, e: Alloc) -> None:
        sizes, strides = self.subs(e.sizes), self.subs(e.strides)
        outcome = self.profile.alloc(sizes, strides, e.dtype, e.device, self.ranges)
        name = e.result.removesuffix("_handle")
        storage = self._new(
            Storage(
                name, "allocation", outcome.capacity, e.dtype, e.loc, device=e.device, stack=e.op == "stack"
            )
        )
        tensor = Tensor(
            name, storage, ZERO, e.dtype, sizes, outcome.strides if outcome.kind != "reject" else strides, e.loc,
            meant_strides=strides,
        )  # fmt: skip
        self.facts.append(AllocFact(self.seq, e, outcome, tensor))
        raw = e.result.endswith("_handle")
        self.bind(e.result, tensor, e.loc, raw=raw, unowned=raw)

    def _on_view(self, e: View) -> None:
        source = self.use(e.base, e.loc, "view")
        if source is None:
            return self._lost(e.result, e.base, e.loc)
        if e.how == "alias":
            self.bind(e.result, self._renamed(source, e.result), e.loc, raw=True)
            return
        if e.how == "arrayref":
            if source.storage.stack and source.layout is not None:
                kept = ViewOutcome(
                    "alias",
                    strides=source.layout.strides,
                    offset=source.offset,
                    expected_offset=source.offset,
                )
                self.facts.append(ViewFact(self.seq, e, kept, source, source))
            self.bind(e.result, source, e.loc)
            return
        if source.layout is None and e.how == "reinterpret":
            return self._view_of_unknown(e, source)
        layout = source.layout
        if layout is None or (e.how == "dtype" and e.dtype is None):
            return self._lost(e.result, e.base, e.loc)
        sizes = None if e.sizes is None else self.subs(e.sizes)
        strides = None if e.strides is None else self.subs(e.strides)
        if e.how == "dtype" and e.dtype is not None:
            sizes, strides = seen_as(layout, e.dtype)
        outcome = self.profile.view(layout, sizes, strides, self.sub(e.offset), e.how, self.ranges, e.dtype)
        sizes = layout.sizes if sizes is None else sizes
        dtype = e.dtype or source.dtype
        meant = strides if strides is not None else source.meant_strides or source.strides
        storage, offset, carried = source.storage, outcome.offset, outcome.strides
        if outcome.kind == "copy":
            of = Tensor(
                e.result, source.storage, outcome.expected_offset, dtype, sizes, meant, e.loc, e.base, meant, True
            )  # fmt: skip
            name, device = self._display(e.result), source.storage.device
            storage = self._new(Storage(name, "copy", outcome.capacity, dtype, e.loc, of, device))
        takes_over = e.how == "pool" or e.note == "reuse"
        tensor = Tensor(
            self._display(e.result), storage, offset, dtype, sizes, carried, e.loc, source.label or source.base,
            meant, True, outcome.binding == "second-buffer" or (source.second_buffer and outcome.kind != "copy"),
            e.result if takes_over else source.member, outcome.gathered,
        )  # fmt: skip
        self.facts.append(ViewFact(self.seq, e, outcome, source, tensor))
        raw = e.result.endswith(("_handle", "_restrided"))
        self.bind(e.result, tensor, e.loc, raw=raw, unowned=raw and e.how != "reinterpret")

    @staticmethod
    def _display(name: str) -> str:
        return name.removesuffix("_restrided").removesuffix("_handle")

    def _renamed(self, t: Tensor, name: str) -> Tensor:
        return Tensor(
            self._display(name), t.storage, t.offset, t.dtype, t.sizes, t.strides, t.loc, t.base, t.meant_strides,
            t.view, t.second_buffer, t.member, t.gathered,
        )  # fmt: skip

    def _view_of_unknown(self, e: View, source: Tensor) -> None:
        """A view of a tensor whose layout is not known: same storage, capacity not known."""
        tensor = Tensor(
            self._display(e.result), source.storage, source.offset + self.sub(e.offset), source.dtype,
            self.subs(e.sizes or ()), self.subs(e.strides or ()), e.loc, e.base, None, True,
        )  # fmt: skip
        self.bind(e.result, tensor, e.loc)

    def _lost(self, name: str, base: str, loc: Loc) -> None:
        storage = self._new(
            Storage(
                self._display(name),
                "unknown",
                None,
                "float32",
                loc,
                reason=f"{base} is not known",
                guessed=True,
            )
        )
        self.bind(name, Tensor(self._display(name), storage, ZERO, "float32", None, None, loc, base), loc)

    def _on_move(self, e: Move) -> None:
        tensor = self.use(e.source, e.loc, "move")
        slot = self.slots.get(e.source)
        if slot is not None and e.source != e.result:
            self.slots[e.source] = Slot("moved", slot.tensor, e.loc)
        moved = None if tensor is None else self._renamed(tensor, e.result)
        if moved is not None:
            if not moved.view or moved.member == e.source:
                moved = replace(moved, member=e.result)
            self.facts.append(MoveFact(self.seq, e, moved))
        self.bind(e.result, moved, e.loc)
        for other in self.slots.values():
            if other.owner == e.source:
                other.owner = e.result

    def _on_own(self, e: Own) -> None:
        slot = self.slots.get(e.handle)
        if slot is None:
            return
        if slot.owner is not None and slot.raw:
            self.facts.append(
                StateFact(self.seq, "double-release", e.result, e.handle, e.loc, slot.at, slot.tensor)
            )
        tensor = self.use(e.handle, e.loc, "take")
        self.bind(e.result, None if tensor is None else self._renamed(tensor, e.result), e.loc)
        self._name_view(e)
        if e.handle != e.result:
            self.slots[e.handle] = Slot("live", slot.tensor, e.loc, owner=e.result, raw=True)

    def _on_delete(self, e: Reset, slot: Slot) -> None:
        """The object is gone; an owner of it would free it again."""
        owner = self.slots.get(slot.owner) if slot.owner else None
        if slot.state == "live" and slot.tensor is not None:
            if not slot.raw or (owner is not None and owner.state == "live"):
                name = slot.owner or e.name
                self.facts.append(
                    StateFact(
                        self.seq, "double-release", name, e.name, e.loc, slot.at, slot.tensor, "deletes"
                    )
                )
            self.facts.append(ResetFact(self.seq, e.name, slot.tensor, e.loc))
        self.slots[e.name] = Slot("reset", slot.tensor, e.loc, raw=slot.raw)

    def _leaks(self) -> None:
        """Handles that a call gave out and nothing has taken over, handed out or deleted by the end."""
        for name, slot in self.slots.items():
            if slot.unowned and slot.state == "live" and slot.owner is None and slot.tensor is not None:
                self.facts.append(StateFact(self.seq, "leaked", name, "", slot.at, slot.at, slot.tensor))

    def _name_view(self, e: Own) -> None:
        """A view made through a raw handle is known by the name of the handle's owner."""
        last = self.facts[-1] if self.facts else None
        if isinstance(last, ViewFact) and last.event.result == e.handle:
            self.facts[-1] = replace(last, tensor=self._renamed(last.tensor, e.result))

    def _on_reset(self, e: Reset) -> None:
        slot = self.slots.get(e.name)
        if slot is None:
            self.bind(e.name, None, e.loc)
        elif e.deleted:
            self._on_delete(e, slot)
        elif e.temporary:
            self.slots[e.name] = Slot("dangling", slot.tensor, e.loc)
        elif slot.state == "live" and slot.tensor is not None:
            self.facts.append(ResetFact(self.seq, e.name, slot.tensor, e.loc))
            self.slots[e.name] = Slot("reset", slot.tensor, e.loc)

    def _on_output(self, e: Output) -> None:
        if e.name is None:
            self.facts.append(OutputFact(self.seq, e, None, None))
            return
        tensor = self.use(e.name, e.loc, "output")
        outcome = None
        if tensor is not None and tensor.layout is not None:
            outcome = self.profile.output(tensor.layout, self.ranges)
        self.facts.append(OutputFact(self.seq, e, tensor, outcome))
        slot = self.slots.get(e.name)
        if slot is not None and e.released:
            self.slots[e.name] = Slot("released", slot.tensor, e.loc)

    def _on_assert(self, e: Assert) -> None:
        tensor = self.use(e.name, e.loc, "assert")
        if tensor is not None:
            stated = replace(e, sizes=self.subs(e.sizes), strides=self.subs(e.strides))
            self.facts.append(AssertFact(self.seq, stated, tensor))

    def _on_check(self, e: Check) -> None:
        """Checks hold for the whole run and are part of ``ranges`` already."""

    def _on_unmodelled(self, e: Unmodelled) -> None:
        known = [s for n in e.names if (s := self.slots.get(n)) is not None]
        for slot in known:
            slot.unowned = False  # it may be taken over here
        tensors = [s.tensor for s in known if s.tensor is not None]
        self.facts.append(UnmodelledFact(self.seq, e, tuple(tensors)))

    def _on_launch(self, e: Launch) -> None:
        kernel = self.program.kernels.get(e.kernel)
        args: dict[str, Tensor] = {}
        for param, name in e.tensors:
            tensor = self.use(name, e.loc, f"{e.kernel} {param}")
            if tensor is not None:
                args[param] = tensor
        scalars = {n: self.sub(x) for n, x in e.scalars}
        self.facts.append(LaunchFact(self.seq, e, kernel, args, scalars))

    def _on_call(self, e: Call) -> None:
        operands: list[Tensor] = []
        args = tuple(self._argument(a, e, operands) for a in e.args)
        results: list[Tensor | None] = []
        inferred = result_layouts(e.op, args, self.ranges)
        for i, name in enumerate(e.results):
            results.append(None if name is None else self._result(e, name, i, args, inferred))
        self.facts.append(CallFact(self.seq, e, tuple(operands), args, tuple(results)))

    def _argument(self, a: Arg, e: Call, operands: list[Tensor]) -> object:
        if isinstance(a, Operand):
            tensor = self.use(a.name, e.loc, e.op)
            if tensor is not None:
                operands.append(tensor)
            return tensor
        if isinstance(a, tuple):
            return tuple(self._argument(x, e, operands) for x in a)
        return self.sub(a) if isinstance(a, Expr) else a

    def _result(
        self,
        e: Call,
        name: str,
        index: int,
        args: tuple[object, ...],
        inferred: Sequence[tuple[tuple[Expr, ...], tuple[Expr, ...], str] | None],
    ) -> Tensor:
        """A tensor an op returns: sizes as stated or inferred, strides as this runtime's op gives them."""
        stated = self._said.layout(name, e.loc)
        guess = inferred[index] if index < len(inferred) else None
        sizes = self.subs(stated.sizes) if stated else guess[0] if guess else None
        meant = self.subs(stated.strides) if stated else guess[1] if guess else None
        known = (stated.dtype if stated else None) or (guess[2] if guess else None)
        dtype = known or self._said.dtype(name) or "float32"
        strides, capacity = meant, None
        if sizes is not None:
            policy = self.profile.op(e.op)
            layouts = tuple(a.layout if isinstance(a, Tensor) else a for a in args)
            given = policy.result_strides(index, sizes, layouts, self.ranges) if policy else None  # type: ignore[arg-type]
            strides = given or meant
            capacity = extent(sizes, strides or (), self.ranges)
            meant = meant or strides
        label = name.removesuffix("_handle")
        storage = self._new(
            Storage(
                label, "result", capacity, dtype, e.loc, device=self.program.device,
                reason="" if sizes is not None else f"the layout of the result of {e.op} is not stated",
                guessed=not (stated and stated.dtype) and (guess is None or any(_guessed(a) for a in args)),
            )
        )  # fmt: skip
        tensor = Tensor(label, storage, ZERO, dtype, sizes, strides, e.loc, meant_strides=meant)
        raw = name.endswith("_handle")
        self.bind(name, tensor, e.loc, raw=raw, unowned=raw)
        return tensor

    # -- control flow
    def _on_branch(self, e: Branch) -> None:
        before = _copied(self.slots)
        ends: list[dict[str, Slot]] = []
        for arm in e.arms:
            self.slots = _copied(before)
            self.run(arm)
            ends.append(self.slots)
        self.slots = before
        for name, old in before.items():
            self.slots[name] = self._joined(name, [end[name] for end in ends if name in end], old, e.loc)

    def _on_loop(self, e: Loop) -> None:
        before = _copied(self.slots)
        first = self.seq
        self.run(e.body)
        self.loops.append((first, self.seq))
        after = self.slots
        self.slots = {
            n: self._joined(n, [old, after[n]] if n in after else [old], old, e.loc)
            for n, old in before.items()
        }

    def _joined(self, name: str, slots: Sequence[Slot], old: Slot, at: Loc) -> Slot:
        slot, storage = join(name, slots, old, at)
        if storage is not None:
            self._new(storage)
        return slot


def _copied(slots: Mapping[str, Slot]) -> dict[str, Slot]:
    """Every slot anew: an alternative changes its own."""
    return {name: replace(slot) for name, slot in slots.items()}


def _guessed(argument: object) -> bool:
    return isinstance(argument, Tensor) and argument.storage.guessed
