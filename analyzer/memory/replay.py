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
    Exit,
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
    nested,
)
from ..model.program import Tensor as Operand
from ..model.record import record, replace
from ..runtimes.predicates import extent
from ..runtimes.profile import Profile, ViewOutcome
from ..symbolic import ZERO, Cond, Expr
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
        #: What is known to hold where the replay stands, beyond the wrapper's checks of its inputs.
        self.assumed: tuple[Cond, ...] = ()
        #: Nothing runs any more on this path: it left its arm, its loop or the function.
        self.ended = False
        #: The states in which the loops around are left, innermost last.
        self._exits: list[list[State]] = []
        self._said = said(function.events, program.kernels)
        for i in function.inputs:
            self._given(i.name, input_tensor(i, program.device, self.fixed, ranges, self._said.dtype(i.name)))
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
            if self.ended:
                return
            handler = getattr(self, f"_on_{type(e).__name__.lower()}")
            handler(e)

    def _on_alloc(self, e: Alloc) -> None:
        sizes, strides = self.subs(e.sizes), self.subs(e.strides)
        outcome = self.profile.alloc(sizes, strides, e.dtype, e.device, self.ranges)
        name = e.result.removesuffix("_handle")
        storage = self._new(
            Storage(
                name,
                "allocation",
                outcome.capacity,
                e.dtype,
                e.loc,
                device=e.device,
                stack=e.op == "stack",
                pinned=e.op == "aoti_torch_empty_strided_pinned",
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
        sizes, strides = (None if x is None else self.subs(x) for x in (e.sizes, e.strides))
        tensor = Tensor(
            self._display(e.result), source.storage, source.offset + self.sub(e.offset), source.dtype,
            sizes, strides, e.loc, e.base, None, True,
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
            self.slots[e.name] = Slot("unbound" if e.unbound else "reset", slot.tensor, e.loc)

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
        self.assumed = (*self.assumed, e.cond)

    def _on_unmodelled(self, e: Unmodelled) -> None:
        """What it may touch is not known any more: what a handle holds, and what stands in the memory behind it."""
        names = tuple(self.slots) if e.everything else e.names
        tensors = [s.tensor for n in names if (s := self.slots.get(n)) and s.tensor is not None]
        self.facts.append(UnmodelledFact(self.seq, e, tuple(tensors)))
        reason = f"line {e.loc.line}, which is not understood, may change it"
        for name in names:
            self._forget(name, e.loc, reason)
        if e.everything:
            self.assumed = ()

    def _forget(self, name: str, loc: Loc, reason: str) -> None:
        old = self.slots.get(name)
        parts = () if old is None or old.tensor is None else (old.tensor.storage,)
        known = None if old is None else old.tensor
        dtype = known.dtype if known is not None else "float32"
        device = known.storage.device if known is not None else self.program.device
        storage = self._new(
            Storage(
                self._display(name),
                "unknown",
                None,
                dtype,
                loc,
                reason=reason,
                guessed=True,
                parts=parts,
                device=device,
            )
        )
        self.bind(name, Tensor(self._display(name), storage, ZERO, dtype, None, None, loc), loc)

    def _on_launch(self, e: Launch) -> None:
        kernel = self.program.kernels.get(e.kernel)
        args: dict[str, Tensor] = {}
        for param, name in e.tensors:
            tensor = self.use(name, e.loc, f"{e.kernel} {param}")
            args[param] = tensor or self._nothing_known(name, e.loc)
        for p in kernel.params if kernel is not None else ():
            if p.pointer and p.name not in args:
                args[p.name] = self._nothing_known(p.name, e.loc, p.dtype)
        scalars = {n: self.sub(x) for n, x in e.scalars}
        self.facts.append(LaunchFact(self.seq, e, kernel, args, scalars, self.assumed))

    def _nothing_known(self, name: str, loc: Loc, dtype: str | None = None) -> Tensor:
        """What a launch is given in an argument that is not understood."""
        reason = f"nothing is known of {self._display(name)}"
        storage = self._new(
            Storage(name, "unknown", None, dtype or "float32", loc, reason=reason, guessed=True)
        )
        return Tensor(self._display(name), storage, ZERO, storage.dtype, None, None, loc)

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
    def _on_exit(self, e: Exit) -> None:
        if e.how != "leave" and self._exits:
            self._exits[-1].append(self._state())
        self.ended = True

    def _state(self) -> State:
        return State(_copied(self.slots), self.assumed)

    def _enter(self, state: State) -> None:
        self.slots, self.assumed, self.ended = _copied(state.slots), state.assumed, False

    def _on_branch(self, e: Branch) -> None:
        before = self._state()
        ends: list[State] = []
        conds = e.conds or (None,) * len(e.arms)
        for arm, cond in zip(e.arms, conds, strict=True):
            self._enter(before)
            if cond is not None:
                self.assumed = (*self.assumed, cond)
            self.run(arm)
            if not self.ended:
                ends.append(self._state())
        self._meet(before, ends, e.loc)

    def _meet(self, before: State, ends: Sequence[State], at: Loc) -> None:
        """Go on after alternatives that ended in these states; what was declared in them is gone."""
        self.slots = before.slots
        self.ended = not ends
        if not ends:
            return
        self.assumed = tuple(c for c in ends[0].assumed if all(c in s.assumed for s in ends))
        for name, old in list(before.slots.items()):
            self.slots[name] = self._joined(name, [s.slots[name] for s in ends if name in s.slots], old, at)

    def _on_loop(self, e: Loop) -> None:
        """The body from a state that any number of earlier turns may leave."""
        before = self._state()
        entry = self._steady(e, before)
        first = self.seq
        self._enter(entry)
        left, end = self._turn(e)
        self.loops.append((first, self.seq))
        ends = list(left)
        if not e.endless:
            ends += [end] if end is not None else []
            ends += [] if e.least else [State(_copied(before.slots), before.assumed)]
        self._meet(State(_copied(before.slots), before.assumed), ends, e.loc)

    def _turn(self, e: Loop) -> tuple[list[State], State | None]:
        """One turn: the states in which the loop is left or begun anew by a jump, and that at its end."""
        self._exits.append([])
        self.run(e.body)
        end = None if self.ended else self._state()
        self.ended = False
        return self._exits.pop(), end

    def _steady(self, e: Loop, before: State) -> State:
        """The state at the start of any turn: tried out, and forgotten where turns go on changing it."""
        if not self._rebinds(e, before):
            return before
        facts, storages, loops = list(self.facts), list(self.storages), list(self.loops)
        self._enter(before)
        left, end = self._turn(e)
        self.facts, self.storages, self.loops = facts, storages, loops
        turns = [s for s in (*left, end) if s is not None]
        self._meet(before, [State(_copied(before.slots), before.assumed), *turns], e.loc)
        return self._state()

    def _rebinds(self, e: Loop, before: State) -> bool:
        """Whether the body gives a handle from outside another tensor, or takes its own away."""
        changed: set[str] = set()
        for event in nested(e.body):
            if isinstance(event, (Alloc, View)):
                changed.add(event.result)
            elif isinstance(event, Move):
                changed |= {event.result, event.source}
            elif isinstance(event, Own):
                changed |= {event.result, event.handle}
            elif isinstance(event, (Reset, Output)) and event.name is not None:
                changed.add(event.name)
            elif isinstance(event, Call):
                changed.update(n for n in event.results if n is not None)
            elif isinstance(event, Unmodelled):
                changed.update(before.slots if event.everything else event.names)
        return not changed.isdisjoint(before.slots)

    def _joined(self, name: str, slots: Sequence[Slot], old: Slot, at: Loc) -> Slot:
        slot, storage = join(name, slots, old, at)
        if storage is not None:
            self._new(storage)
        return slot


@record
class State:
    """What is known at one place of the program: the handles, and the conditions that hold there."""

    slots: dict[str, Slot]
    assumed: tuple[Cond, ...]


def _copied(slots: Mapping[str, Slot]) -> dict[str, Slot]:
    """Every slot anew: an alternative changes its own."""
    return {name: replace(slot) for name, slot in slots.items()}


def _guessed(argument: object) -> bool:
    return isinstance(argument, Tensor) and argument.storage.guessed
