"""A wrapper's statements as a script of allocations, copies, library calls and launches.

They come from the product's program model.  Everything else is independent of the product: the kernels are the
user's text, and both memory models are written here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from aoti_lint.analyzer.model.program import (
    Alloc,
    Arg,
    Assert,
    Branch,
    Call,
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
from aoti_lint.analyzer.model.program import Tensor as Operand
from aoti_lint.analyzer.symbolic import Expr, evaluate

from .layouts import ELEMENT_BYTES, choose_sizes, index_limit, result_layout
from .results import Asked, NotRun
from .rewrite import Runnable
from .script import Memory, Place, Script, extent, shifted


class Emulation:
    """Turns the events of a program into a script under one memory model."""

    def __init__(
        self, program: Program, kernels: Sequence[Runnable], memory: Memory, sizes: Mapping[str, int] | None
    ) -> None:
        self.program = program
        self.memory = memory
        self.sizes = choose_sizes(program, sizes or {})
        self.kernels = {k.name: (i, k) for i, k in enumerate(kernels)}
        self.script = Script()
        self.asked: list[Asked] = []
        self.skipped: list[tuple[Event, str]] = []
        self.slots: dict[str, Place] = {}
        self._limit = index_limit(kernels)
        self._asserts: dict[str, Assert] = {}

    # -- values
    def number(self, e: Expr) -> int:
        try:
            return int(evaluate(e, self.sizes))
        except KeyError as missing:
            raise NotRun(f"{missing} comes from data") from None

    def numbers(self, es: Sequence[Expr]) -> tuple[int, ...]:
        return tuple(self.number(e) for e in es)

    def place(self, name: str) -> Place:
        at = self.slots.get(name) or self.slots.get(name.removesuffix("_handle"))
        if at is None:
            raise NotRun(f"{name} is not known")
        return at

    # -- bodies
    def function(self, f: Function) -> None:
        self._find_asserts(f.events)
        for i in f.inputs:
            try:
                if i.sizes is None or i.strides is None:
                    raise NotRun(f"the sizes of input {i.name} are not stated")
                sizes, strides = self.numbers(i.sizes), self.numbers(i.strides)
                at = self.script.tensor(sizes, strides, i.dtype or "float32", extent(sizes, strides))
                self._given(i.name, at)
            except NotRun:
                continue
        rows = {c.index: c for c in self.program.constants}
        for name, index in f.constants:
            if (c := rows.get(index)) is not None:
                at = self.script.tensor(c.sizes, c.strides, c.dtype, c.offset + extent(c.sizes, c.strides))
                self._given(name, shifted(at, c.offset, c.sizes, c.strides))
        self.run(f.events)

    def _given(self, name: str, at: Place) -> None:
        self.script.fill(at, self._limit, len(self.slots) + 1)
        self.slots[name] = at

    def _find_asserts(self, events: Sequence[Event]) -> None:
        for e in events:
            if isinstance(e, Assert):
                self._asserts.setdefault(e.name, e)
            for inner in e.arms if isinstance(e, Branch) else (e.body,) if isinstance(e, Loop) else ():
                self._find_asserts(inner)

    def run(self, events: Sequence[Event]) -> None:
        for e in events:
            handler = getattr(self, f"_on_{type(e).__name__.lower()}", None)
            try:
                if handler is not None:
                    handler(e)
            except NotRun as why:
                self.skipped.append((e, str(why)))
                for name in _made(e):
                    self.slots.pop(name, None)
            if isinstance(e, (Launch, Call)):
                self._forget([n for n in self.slots if n.startswith("%")])

    def _forget(self, names: Sequence[str]) -> None:
        gone = {at.storage for n in names if (at := self.slots.pop(n, None))}
        for storage in sorted(gone - {at.storage for at in self.slots.values()}):
            self.script.drop(storage)

    # -- events
    def _on_alloc(self, e: Alloc) -> None:
        sizes, strides = self.numbers(e.sizes), self.numbers(e.strides)
        self.slots[e.result] = self.memory.allocate(self.script, sizes, strides, e.dtype)

    def _on_view(self, e: View) -> None:
        base = self.place(e.base)
        if e.how in ("alias", "arrayref"):
            self.slots[e.result] = base
            return
        sizes = base.sizes if e.sizes is None else self.numbers(e.sizes)
        strides = base.strides if e.strides is None else self.numbers(e.strides)
        if e.how == "dtype":
            self.slots[e.result] = Place(base.storage, base.byte, e.dtype or base.dtype, sizes, strides)
            return
        if e.how == "pool":
            self.slots[e.result] = Place(
                base.storage, self.number(e.offset), e.dtype or base.dtype, sizes, strides
            )
            return
        offset = 0 if e.how == "as_strided" else self.number(e.offset)
        self.slots[e.result] = self.memory.view(self.script, shifted(base, offset, sizes, strides))

    def _on_move(self, e: Move) -> None:
        self.slots[e.result] = self.place(e.source)
        if e.source != e.result:
            self.slots.pop(e.source, None)

    def _on_own(self, e: Own) -> None:
        self.slots[e.result] = self.place(e.handle)
        if e.handle != e.result:
            self.slots.pop(e.handle, None)

    def _on_reset(self, e: Reset) -> None:
        self._forget([e.name])

    def _on_branch(self, e: Branch) -> None:
        if e.arms:
            self.run(e.arms[0])

    def _on_loop(self, e: Loop) -> None:
        self.run(e.body)

    def _on_unmodelled(self, e: Unmodelled) -> None:
        raise NotRun(f"not understood: {e.reason}")

    def _on_output(self, e: Output) -> None:
        if e.name is None:
            return
        at = self.place(e.name)
        self.script.output(at)
        self.asked.append(Asked(e, (e.name,), (at.item,)))

    def _on_call(self, e: Call) -> None:
        operands: list[tuple[str, Place]] = []
        for a in e.args:
            self._operands(a, operands)
        if e.op.endswith(("_copy_", "_clone", "_clone_preserve_strides")) and len(operands) > 1:
            self.script.copy(operands[0][1], operands[1][1])
            return
        results = [self._result(e, name, operands) for name in e.results if name is not None]
        written = operands[:1] if re.search(r"_out(_v\d+)?$|_$|__\w+$|_(zero|fill)_", e.op) else []
        reads = operands[1:] if re.search(r"_out(_v\d+)?$", e.op) else operands
        self.script.call([at for _, at in reads], [*(at for _, at in written), *results])
        self.asked.append(Asked(e, tuple(n for n, _ in reads), tuple(at.item for _, at in reads)))

    def _operands(self, a: Arg, found: list[tuple[str, Place]]) -> None:
        if isinstance(a, Operand):
            found.append((a.name, self.place(a.name)))
        elif isinstance(a, tuple):
            for x in a:
                self._operands(x, found)

    def _result(self, e: Call, name: str, operands: Sequence[tuple[str, Place]]) -> Place:
        stated = self._asserts.get(name) or self._asserts.get(name.removesuffix("_handle"))
        dtype = operands[0][1].dtype if operands else "float32"
        if stated is not None:
            sizes, strides = self.numbers(stated.sizes), self.numbers(stated.strides)
            dtype = stated.dtype or dtype
        else:
            known = result_layout(e, name, [at for _, at in operands], self.number)
            if known is None:
                raise NotRun(f"the layout of the result of {e.op} is not stated")
            sizes, strides = map(tuple, known)
        at = self.script.tensor(sizes, strides, dtype, extent(sizes, strides))
        self.slots[name] = at
        return at

    def _on_launch(self, e: Launch) -> None:
        if e.kernel not in self.kernels:
            raise NotRun(f"no runnable kernel {e.kernel}")
        index, kernel = self.kernels[e.kernel]
        tensors, scalars = dict(e.tensors), dict(e.scalars)
        args: list[Place | int | float] = []
        names: list[str] = []
        items: list[int] = []
        for i, p in enumerate(kernel.params):
            key = p.name if p.name in tensors or p.name in scalars else f"arg{i}"
            if p.pointer:
                if key not in tensors:
                    raise NotRun(f"{p.name} is not bound")
                args.append(self.place(tensors[key]))
                names.append(p.name)
                items.append(ELEMENT_BYTES[p.type])
            elif key in scalars:
                args.append(self.number(scalars[key]))
            elif p.type in ("float", "double"):
                args.append(0.5)
            else:
                raise NotRun(f"{p.name} is not bound")
        if kernel.positions:
            args += [self.number(scalars[f"grid.{d}"]) for d in range(3)]
            args += [self.number(scalars[f"group.{d}"]) if f"group.{d}" in scalars else 1 for d in range(3)]
        self.script.launch(index, args)
        self.asked.append(Asked(e, tuple(names), tuple(items)))


def _made(e: Event) -> list[str]:
    """Names whose values an event that could not run would have set."""
    if isinstance(e, (Alloc, View, Move, Own)):
        return [e.result]
    if isinstance(e, Call):
        return [n for n in e.results if n is not None]
    return list(e.names) if isinstance(e, Unmodelled) else []
