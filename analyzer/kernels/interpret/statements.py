"""Statements of the kernel language: what runs under which condition, and what holds after it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...model.record import record, replace
from ...symbolic import TRUE, Cond, opaque
from .. import ir
from . import integers
from .expressions import Evaluator, anywhere
from .integers import int_type
from .loops import run_loop
from .recorder import Recorder
from .values import ANYTHING, NOTHING, Target, Value, merged


@record(frozen=True)
class Flow:
    """Under which condition a statement runs on to the next: not returned, not left the loop, not gone on with it.

    ``taken`` is what was taken not to wrap in these.
    """

    runs: Cond = TRUE
    stays: Cond = TRUE
    goes: Cond = TRUE
    taken: tuple[Any, ...] = ()

    @property
    def on(self) -> Cond:
        return self.runs & self.stays & self.goes


ON = Flow()
_GONE = ~TRUE


class Walker:
    """Walks the statements of a program."""

    def __init__(self, program: ir.Program, recorder: Recorder) -> None:
        self.p = program
        self.r = recorder
        self.x = Evaluator(program, recorder)

    def run(self, s: ir.Statement) -> Flow:
        return _HANDLERS[type(s)](self, s)

    def _block(self, s: ir.Block) -> Flow:
        path, taken = self.r.path, self.r.path_taken
        total = ON
        for k in s.body:
            flow = self.run(k)
            if flow is ON:
                continue
            total = Flow(
                total.runs & flow.runs, total.stays & flow.stays, total.goes & flow.goes,
                integers.both(total.taken, flow.taken),
            )  # fmt: skip
            self.r.path = self.r.path & flow.on
            self.r.path_taken = integers.both(self.r.path_taken, flow.taken)
            self.r.checks.update(flow.runs.conjuncts())
        self.r.path, self.r.path_taken = path, taken
        return total

    def _declare(self, s: ir.Declare) -> Flow:
        x = self.x
        if s.shared:
            x.shared.add(s.cell)
        if s.array:
            self.r.seen.append(s.at)
            length = None if s.length is None else x.index(s.length)[0]
            x.elements[s.cell] = s.dtype or ""
            x.lengths[s.cell] = length
            x.contents[s.cell] = merged(s.dtype or "", *(() if s.value is None else (x.value(s.value),)))
            x.env[s.cell] = Value(
                s.dtype or "", targets=(Target(s.cell, integers.constant(0, integers.INT64)),)
            )
            return ON
        if s.value is None:
            x.env[s.cell] = Value(s.dtype or "")
            return ON
        v = x.value(s.value)
        if v.targets:
            self.r.seen.append(s.at)
        elif s.dtype is not None:
            v = x.convert(v, s.dtype)
        x.env[s.cell] = v
        x.env[s.cell] = x.named(s.name, v)
        return ON

    def _evaluate(self, s: ir.Evaluate) -> Flow:
        self.r.sink(self.x.value(s.value))
        return ON

    def _if(self, s: ir.If) -> Flow:
        cond, c = self.x.condition(s.cond)
        self.r.sink(c)
        if cond.kind == "const":
            arm = s.then if cond.truth else s.other
            return ON if arm is None else self.run(arm)
        x = self.x
        before, held = x.env, x.contents
        x.env, x.contents = dict(before), dict(held)
        then: Flow = x.under(cond, c, lambda: self.run(s.then))
        a, held_a = x.env, x.contents
        x.env, x.contents = dict(before), dict(held)
        other: Flow = ON
        if s.other is not None:
            arm = s.other
            other = x.under(~cond, c, lambda: self.run(arm))
        self._join(before, cond, c, a, then, other)
        for name, kept in held_a.items():
            now = x.contents.get(name)
            x.contents[name] = kept if now is None or now is kept else merged(kept.dtype, c, kept, now)
        if then is ON and other is ON:
            return ON
        taken = integers.both(c.taken, integers.both(then.taken, other.taken))
        return Flow(
            _either(cond, then.runs, other.runs), _either(cond, then.stays, other.stays),
            _either(cond, then.goes, other.goes), taken,
        )  # fmt: skip

    def _join(
        self, before: dict[str, Value], cond: Cond, c: Value, a: dict[str, Value], then: Flow, other: Flow
    ) -> None:
        x = self.x
        if then.on == _GONE:
            return  # only the other arm goes on
        if other.on == _GONE:
            x.env = a
            return
        b = x.env
        for name in before:
            va, vb = a[name], b[name]
            if va is vb:
                continue
            if name in x.shared:
                b[name] = merged(va.dtype, c, va, vb)
                continue
            joined = x.choose(cond, c, va, vb, va.dtype or vb.dtype)
            b[name] = x.named(name.split("#")[0], joined)

    def _loop(self, s: ir.Loop) -> Flow:
        return run_loop(self, s)

    def _leave(self, s: ir.Leave) -> Flow:
        taken = self.r.path_taken
        if s.value is not None:
            self.r.sink(self.x.value(s.value))
        if s.what == "return":
            return Flow(runs=_GONE, taken=taken)
        return Flow(stays=_GONE, taken=taken) if s.what == "break" else Flow(goes=_GONE, taken=taken)

    def _assume(self, s: ir.Assume) -> Flow:
        cond, c = self.x.condition(s.cond)
        self.r.sink(c)
        return Flow(runs=cond, taken=c.taken)

    def _barrier(self, s: ir.Barrier) -> Flow:
        self.r.barriers += 1  # threads of other SIMD groups are not told apart from those it orders
        return ON

    def _opaque(self, s: ir.Opaque) -> Flow:
        """What it may touch is not known after it."""
        self.r.unread.append((s.at, s.text))
        x = self.x
        for name in s.touches:
            old = x.env.get(name, NOTHING)
            for t in old.targets:
                if not t.cell:
                    self.r.lose(t.base, s.at, t.base in x.readonly, "statement not understood")
            if name in x.contents:
                kept = x.contents[name]
                x.contents[name] = replace(kept, deps=kept.deps | {ANYTHING})
            elif old.targets:
                x.env[name] = anywhere(old)
            else:
                v = Value(old.dtype, deps=frozenset((ANYTHING,)))
                x.env[name] = v if int_type(old.dtype) is None else x.named(name.split("#")[0], v)
        self.r.seen.append(s.at)
        return Flow(stays=opaque(f"{s.text[:40]} may leave the loop"))


def _either(cond: Cond, a: Cond, b: Cond) -> Cond:
    """``cond ? a : b`` as a conjunction, so that conditions of exits add up instead of multiplying."""
    return (~cond | a) & (cond | b)


_HANDLERS: dict[type, Callable[[Walker, Any], Flow]] = {
    ir.Block: Walker._block, ir.Declare: Walker._declare, ir.Evaluate: Walker._evaluate, ir.If: Walker._if,
    ir.Loop: Walker._loop, ir.Leave: Walker._leave, ir.Assume: Walker._assume, ir.Barrier: Walker._barrier,
    ir.Opaque: Walker._opaque,
}  # fmt: skip
