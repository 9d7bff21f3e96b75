"""Expressions of the kernel language to values; loads, stores and atomics on the way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...model.record import replace
from ...symbolic import TRUE, Cond, opaque
from .. import ir
from ..reals import negate
from . import integers
from .floats import Reals, literal
from .integers import BOOL, Int, int_type
from .recorder import Recorder, words
from .values import ANYTHING, NOTHING, Target, Value, integer, merged, under

#: Expressions and statements one kernel may cost; what is not reached by then is not known.
BUDGET = 400_000

_PLACES = (ir.Cell, ir.Element, ir.Deref)


class TooLarge(Exception):
    """The budget of a kernel is used up."""


class Evaluator:
    """Evaluates expressions against a recorder. ``env`` holds the cells, ``contents`` what arrays may hold."""

    def __init__(self, program: ir.Program, recorder: Recorder) -> None:
        self.p = program
        self.r = recorder
        self.env: dict[str, Value] = {}
        self.elements: dict[str, str] = dict(program.pointers)
        self.readonly = {p.name for p in program.params if p.readonly}
        #: Arrays of the kernel's own: their lengths, and what was stored into them.
        self.lengths: dict[str, Int | None] = {}
        self.contents: dict[str, Value] = {}
        self.shared: set[str] = set()
        self.within = frozenset(a.var.name for a in program.axes if a.within)
        self.shown = dict(program.names)
        self.distrusted = frozenset(program.distrusted)
        #: How deep in branches and loops this is: only loads outside of all can be found to be discarded.
        self.masks = 0
        self.reals = Reals(recorder.ranges, recorder.noise)
        self.steps = 0

    def value(self, e: ir.Expr) -> Value:
        self.steps += 1
        if self.steps > BUDGET:
            raise TooLarge
        return _HANDLERS[type(e)](self, e)

    def text(self, node: Any) -> str:
        return self.r.source.text[node.at[0] : node.at[1]]

    def label(self, node: Any) -> str:
        return f"{self.text(node)} (line {self.r.source.loc(node.at[0]).line})"

    # -- what a value is worth
    def condition(self, e: ir.Expr) -> tuple[Cond, Value]:
        v = self.value(e)
        cond, v = self.truth(v, e)
        return cond, v

    def truth(self, v: Value, e: Any) -> tuple[Cond, Value]:
        """Whether a value is not zero, and the value with what that takes for granted."""
        if v.cond is not None:
            return v.cond, v
        i = integer(v)
        if i is not None and i.ring is not None:
            s = integers.settle(i, self.r.known())
            assert s.expr is not None
            return ~Cond.of("eq", s.expr), replace(v, taken=integers.both(v.taken, s.narrow))
        return opaque(self.label(e)), v

    def index(self, e: ir.Expr) -> tuple[Int | None, Value]:
        """A value used as an integer; an unknown one is given a symbol."""
        v = self.value(e)
        i = integer(v)
        if i is None:
            return None, v
        if i.ring is None:
            i = self.r.unknown(self.text(e), i, v.loaded)
        elif not i.text:
            i = replace(i, text=self.text(e))
        return i, v

    def named(self, name: str, v: Value) -> Value:
        """The value of a variable: an unknown integer gets a symbol with the variable's name."""
        if v.targets or v.cond is not None:
            return v
        i = integer(v)
        if i is None:
            return v
        if i.ring is None:
            return replace(v, int=self.r.unknown(name, i, v.loaded))
        return v if i.ring.value is not None else replace(v, int=replace(i, text=name))

    def real(self, v: Value) -> Value:
        """The value with a float in it, if it can be expressed."""
        if int_type(v.dtype) is None:
            return v
        i = integer(v)
        if i is None or i.ring is None:
            return v
        s = integers.settle(i, self.r.known())
        assert s.expr is not None
        return replace(v, real=self.reals.of_integer(s.expr), taken=integers.both(v.taken, s.narrow))

    def convert(self, v: Value, dtype: str) -> Value:
        """``static_cast<dtype>(v)``."""
        if dtype in (v.dtype, "") or v.targets:
            return v
        to = int_type(dtype)
        if to is BOOL:
            i = v.int
            if v.cond is not None or i is None or i.ring is None:
                return replace(v, dtype=dtype, int=None, real=None, loaded=False)
            s = integers.settle(i, self.r.known())
            assert s.expr is not None
            cond = ~Cond.of("eq", s.expr)
            return replace(
                v, dtype=dtype, int=None, real=None, cond=cond, taken=integers.both(v.taken, s.narrow)
            )
        if to is None:
            found = self.real(v) if dtype == "float32" else v
            return replace(
                found, dtype=dtype, int=None, cond=None, real=found.real if dtype == "float32" else None
            )
        if int_type(v.dtype) is None:
            whole = None if v.real is None else self.reals.whole(v.real, "trunc")
            i = integers.unknown(to) if whole is None else integers.of(whole, to)
            return replace(v, dtype=dtype, real=None, int=replace(i, narrow=v.taken), cond=None)
        i = integer(v)
        assert i is not None
        out = integers.cast(i, to, self.r.known())
        return replace(v, dtype=dtype, int=out, cond=None, real=None, loaded=v.loaded and out.ring is None)

    # -- leaves
    def _const(self, e: ir.Const) -> Value:
        t = int_type(e.dtype)
        if t is BOOL:
            return Value("bool", cond=TRUE if e.value else ~TRUE)
        if t is not None:
            return Value(e.dtype, integers.constant(int(e.value), t))
        return Value(e.dtype, real=literal(str(e.value)))

    def _cell(self, e: ir.Cell) -> Value:
        v = self.env.get(e.name, NOTHING)
        if e.name in self.distrusted:
            return replace(anywhere(v), int=None, cond=None, real=None, deps=frozenset((ANYTHING,)))
        if e.name in self.shared and self.within:  # every thread of the group sees the same value
            return replace(v, deps=v.deps - self.within)
        return v

    # -- operators
    def _unary(self, e: ir.Unary) -> Value:
        v = self.value(e.x)
        if e.op == "!":
            cond, v = self.truth(v, e.x)
            return replace(merged("bool", v), cond=~cond)
        dtype = self.p.result_type(v.dtype, v.dtype)
        t = int_type(dtype)
        i = integer(v)
        if t is None or i is None:
            real = negate(v.real) if e.op == "-" and v.real is not None else None
            return replace(merged(v.dtype, v), real=real)
        known = self.r.known()
        i = integers.cast(i, t, known)
        made = integers.negate(i, known) if e.op == "-" else integers.invert(i, known)
        return replace(merged(dtype, v), int=made)

    def _binary(self, e: ir.Binary) -> Value:
        a, b = self.value(e.a), self.value(e.b)
        return self.binary(e.op, a, b, e)

    def binary(self, op: str, a: Value, b: Value, e: Any) -> Value:
        if a.targets or b.targets:
            return self._pointer_arithmetic(op, a, b, e)
        shift = op in ("<<", ">>")
        dtype = self.p.result_type(a.dtype, a.dtype if shift else b.dtype)
        t = int_type(dtype)
        if t is None:
            return self._floating(op, a, b, dtype)
        if a.cond is not None and b.cond is not None and op in ("&", "|"):
            cond = a.cond & b.cond if op == "&" else a.cond | b.cond
            both_bool = a.dtype == b.dtype == "bool"
            return replace(merged("bool" if both_bool else dtype, a, b), cond=cond)
        ia, ib = integer(a), integer(b)
        if ia is None or ib is None:
            return merged(dtype, a, b)
        if t.bits > ia.type.bits and not ia.text and isinstance(e, ir.Binary):
            ia = replace(ia, text=self.text(e.a))
        if t.bits > ib.type.bits and not ib.text and isinstance(e, ir.Binary):
            ib = replace(ib, text=self.text(e.b))
        return replace(merged(dtype, a, b), int=integers.binary(op, ia, ib, t, self.r.known()))

    def _floating(self, op: str, a: Value, b: Value, dtype: str) -> Value:
        a, b = self.real(a), self.real(b)
        out = merged(dtype, a, b)
        if a.real is None or b.real is None or op not in ("+", "-", "*", "/"):
            return out
        return replace(out, real=self.reals.binary(op, a.real, b.real))

    def _pointer_arithmetic(self, op: str, a: Value, b: Value, e: Any) -> Value:
        pointer, offset = (a, b) if a.targets else (b, a)
        by = integer(offset)
        if offset.targets or op not in ("+", "-") or (op == "-" and pointer is b) or by is None:
            return self.lost([a, b], e)
        return replace(merged(pointer.dtype, a, b), targets=self.moved(pointer.targets, op, by))

    def moved(self, targets: tuple[Target, ...], op: str, by: Int) -> tuple[Target, ...]:
        """Pointers further on; addresses are added in 64 bits."""
        known = self.r.known()
        wide = integers.INT64
        return tuple(
            replace(t, offset=integers.binary(op, t.offset, by, wide, known) if t.moved or op == "-" else by, moved=True)
            for t in targets
        )  # fmt: skip

    def _compare(self, e: ir.Compare) -> Value:
        a, b = self.value(e.a), self.value(e.b)
        if a.targets or b.targets:
            self._mentioned(a, b, at=e.at)
            return replace(merged("bool", a, b), cond=opaque(self.label(e)))
        cond, out = self.compare(e.op, a, b)
        return replace(out, cond=cond if cond is not None else opaque(self.label(e)))

    def compare(self, op: str, a: Value, b: Value) -> tuple[Cond | None, Value]:
        if op in ("==", "!="):
            flag = _flag_test(op, a, b)
            if flag is not None:
                return flag, merged("bool", a, b)
        t = int_type(self.p.result_type(a.dtype, b.dtype))
        if t is None:
            a, b = self.real(a), self.real(b)
            out = merged("bool", a, b)
            if a.real is None or b.real is None:
                return None, out
            return self.reals.compare(op, a.real, b.real), out
        ia, ib = integer(a), integer(b)
        if ia is None or ib is None:
            return None, merged("bool", a, b)
        cond, narrow = integers.comparison(op, ia, ib, t, self.r.known())
        out = merged("bool", a, b)
        return cond, replace(out, taken=integers.both(out.taken, narrow))

    def _logic(self, e: ir.Logic) -> Value:
        cond, a = self.condition(e.a)
        skip = cond if e.op == "&&" else ~cond
        other, b = self.under(skip, a, lambda: self.condition(e.b))
        return replace(merged("bool", a, b), cond=cond & other if e.op == "&&" else cond | other)

    def under(self, cond: Cond, c: Value, run: Callable[[], Any]) -> Any:
        """Evaluate where ``cond``, the truth of ``c``, holds."""
        r = self.r
        path, taken = r.path, r.path_taken
        r.path, r.path_taken = path & cond, integers.both(taken, c.taken)
        self.masks += 1
        out = run()
        r.path, r.path_taken = path, taken
        self.masks -= 1
        return out

    def _select(self, e: ir.Select) -> Value:
        cond, c = self.condition(e.cond)
        if e.guards:
            a: Value = self.under(cond, c, lambda: self.value(e.a))
            b: Value = self.under(~cond, c, lambda: self.value(e.b))
        else:
            a, b = self.value(e.a), self.value(e.b)
        dtype = a.dtype if a.dtype == b.dtype else self.p.result_type(a.dtype, b.dtype)
        return self.choose(cond, c, a, b, dtype)

    def choose(self, cond: Cond, c: Value, a: Value, b: Value, dtype: str) -> Value:
        """The value that is ``a`` where ``cond`` (the truth of ``c``) holds, else ``b``."""
        a, b = self.convert(a, dtype), self.convert(b, dtype)
        out = merged(dtype, c, replace(a, live=under(a.live, cond)), replace(b, live=under(b.live, ~cond)))
        if a.targets or b.targets:
            return replace(out, targets=_either(cond, a.targets, b.targets))
        if a.cond is not None and b.cond is not None:
            return replace(out, cond=(cond & a.cond) | (~cond & b.cond))
        if a.real is not None and b.real is not None and not cond.has_opaque():
            return replace(out, real=self.reals.select(cond, a.real, b.real))
        t, ia, ib = int_type(dtype), integer(a), integer(b)
        if t is None or ia is None or ib is None:
            return out
        made = integers.select(cond, ia, ib, t, self.r.known())
        return replace(out, int=made, loaded=made.ring is None and a.loaded and b.loaded)

    def _cast(self, e: ir.Cast) -> Value:
        v = self.value(e.x)
        i = v.int
        t = int_type(e.dtype)
        if i is not None and t is not None and not i.text and t.bits > i.type.bits:
            v = replace(v, int=replace(i, text=self.text(e.x)))
        return self.convert(v, e.dtype)

    def _common_cast(self, e: ir.CommonCast) -> Value:
        found = [t for t in (self._type_only(x) for x in e.types) if t]
        if not found:
            return self.convert(self.value(e.x), "float32")
        out = found[0]
        for t in found[1:]:
            out = self.p.result_type(out, t)
        return self.convert(self.value(e.x), out)

    def _type_only(self, e: ir.Expr) -> str:
        return (
            e.dtype
            if isinstance(e, ir.Const)
            else self.env.get(e.name, NOTHING).dtype
            if isinstance(e, ir.Cell)
            else ""
        )

    def _sequence(self, e: ir.Sequence) -> Value:
        out = NOTHING
        for part in e.parts:
            out = self.value(part)
        return out

    # -- memory
    def place(self, place: ir.Place) -> tuple[tuple[Target, ...], Value, str]:
        """Where a place lies, what that depends on, and the text of the index. No targets: it is not known."""
        if isinstance(place, ir.Cell):
            return (Target(place.name, integers.constant(0, integers.INT64), cell=True),), NOTHING, ""
        if isinstance(place, ir.Deref):
            v = self.value(place.pointer)
            return v.targets, v, "0"
        base = self.value(place.base)
        i, at = self.index(place.index)
        both = merged(base.dtype, base, at)
        if not base.targets:
            return (), both, self.text(place.index)
        if i is None:
            zero = integers.unknown(integers.INT64)
            return (
                tuple(replace(t, offset=zero, moved=True) for t in base.targets),
                both,
                self.text(place.index),
            )
        return tuple(self._at(t, i) for t in base.targets), both, self.text(place.index)

    def _at(self, t: Target, i: Int) -> Target:
        if not t.moved:
            return replace(t, offset=i, moved=True)
        total = integers.binary("+", t.offset, i, integers.INT64, self.r.known())
        return replace(t, offset=total)

    def _load(self, e: ir.Load) -> Value:
        if isinstance(e.place, ir.Cell):
            return self._cell(e.place)
        targets, where, text = self.place(e.place)
        if not targets:
            return replace(where, targets=())
        out = NOTHING
        for n, t in enumerate(targets):
            v = self._load_one(e, t, where, text, n)
            out = v if n == 0 else merged(v.dtype, out, v)
        return out

    def _load_one(self, e: ir.Load, t: Target, where: Value, text: str, which: int) -> Value:
        if t.cell:
            v = self._cell(ir.Cell(t.base, e.at))
            zero = t.offset.ring is not None and t.offset.ring.value == 0
            return v if zero and t.when is TRUE else merged(v.dtype, v, where)
        number = self._access("load", t, e, where, text, None, which)
        if t.base in self.contents:
            held = self.contents[t.base]
            if t.base in self.shared:
                held = replace(held, deps=held.deps - self.within)
            return merged(self.elements[t.base], held, where)
        v = Value(self.elements[t.base], deps=where.deps, loaded=True)
        return v if self.masks else replace(v, live={number: TRUE})

    def _access(
        self, kind: Any, t: Target, e: Any, where: Value, text: str, stored: Value | None, which: int
    ) -> int:
        offset = t.offset if t.offset.ring is not None else None
        return self.r.access(
            kind, t.base, offset, t.when, e.at, text, self._names(text), stored, which, where
        )

    def _names(self, text: str) -> tuple[tuple[str, Int], ...]:
        """The variables of an index, for messages and witnesses."""
        out = []
        for w in words(text):
            v = self.env.get(self.shown.get(w, w))
            i = None if v is None or v.targets else integer(v)
            if i is not None and i.ring is not None:
                out.append((w, i))
        return tuple(out)

    def _address(self, e: ir.AddressOf) -> Value:
        targets, where, _ = self.place(e.place)
        self.r.seen.append(e.at)
        return replace(where, targets=targets)

    def _set(self, e: ir.Set) -> Value:
        v = self.value(e.value)
        if isinstance(e.place, ir.Cell):
            return self._assign(e, e.place.name, v)
        targets, where, text = self.place(e.place)
        if not targets:
            return self._set_part(e, v, where)
        old = NOTHING
        for n, t in enumerate(targets):
            if t.cell:
                self._set_through(t, v, e)
                continue
            if e.op:
                self._access("load", t, e, where, text, None, n)
                old = Value(self.elements[t.base], deps=where.deps, loaded=True)
            stored = merged(self.elements[t.base], old, v, where) if e.op else v
            if v.targets:  # a pointer kept in memory is one that is not followed
                self.lost([v], e)
            self._access("store", t, e, where, text, stored, n)
            if t.base in self.contents:
                kept = self.contents[t.base]
                self.contents[t.base] = merged(kept.dtype, kept, stored, where)
        return old if e.before else v

    def _assign(self, e: ir.Set, name: str, v: Value) -> Value:
        old = self.env.get(name, NOTHING)
        new = self.binary(e.op, old, v, e) if e.op else v
        self.store_cell(name, new, e)
        return old if e.before else self.env[name]

    def store_cell(self, name: str, v: Value, e: Any) -> None:
        old = self.env.get(name, NOTHING)
        if name in self.shared:
            self.env[name] = merged(old.dtype, old, v)
            return
        if v.targets:
            self.r.seen.append(e.at)
        elif old.targets:  # what it points to now is not known; what it was made from has been noted
            v = anywhere(old)
        elif old.dtype:
            v = self.convert(v, old.dtype)
        self.env[name] = self.named(self._plain(name), v)

    def _plain(self, cell: str) -> str:
        return cell.split("#")[0]

    def _set_through(self, t: Target, v: Value, e: ir.Set) -> None:
        old = self.env.get(t.base, NOTHING)
        new = self.binary(e.op, old, v, e) if e.op else v
        zero = t.offset.ring is not None and t.offset.ring.value == 0
        if zero and t.when is TRUE:
            self.store_cell(t.base, new, e)
        else:
            both = merged(old.dtype, old, new)
            self.env[t.base] = self.named(self._plain(t.base), replace(both, deps=both.deps | {ANYTHING}))

    def _set_part(self, e: ir.Set, v: Value, where: Value) -> Value:
        """An element of something that is no memory of a kernel: what holds it may now hold ``v`` too."""
        for n in ir.walk(e.place):
            if isinstance(n, ir.Cell) and n.name in self.env and not self.env[n.name].targets:
                old = self.env[n.name]
                self.env[n.name] = merged(old.dtype, old, v, where)
                return v
        return self.lost([v, where], e)

    def _atomic(self, e: ir.Atomic) -> Value:
        base = self.value(e.pointer)
        i, at = self.index(e.index)
        v = self.value(e.value)
        if not base.targets or i is None:
            return self.lost([base, at, v], e)
        where = merged("", base, at)
        for n, t in enumerate(base.targets):
            if t.cell:
                self._set_through(
                    replace(t, when=opaque("atomic")), v, ir.Set(ir.Cell(t.base, e.at), e.value, e.at)
                )
            else:
                self._access("atomic", self._at(t, i), e, where, self.text(e.index), v, n)
        return merged(self.elements.get(base.targets[0].base, ""), where, v)

    # -- calls
    def _call(self, e: ir.Call) -> Value:
        from .calls import call

        args = [self.value(a) for a in e.args]
        if any(a.targets for a in args):
            return replace(self.lost(args, e), dtype=e.dtype or "")
        return call(self, e, args)

    def _combined(self, e: ir.Combined) -> Value:
        args = [self.value(a) for a in e.reads]
        over = self.value(e.over).deps if e.over is not None else frozenset()
        for a in args:
            for t in a.targets:
                if t.base in self.contents:
                    args.append(self.contents[t.base])
                else:
                    self._lose(t, e)
        self.r.seen.append(e.at)
        self.r.barriers += 1
        dtype = e.dtype or next((a.dtype for a in args if a.dtype), "")
        out = merged(dtype, *args)
        self.r.sink(out)
        return replace(out, deps=out.deps - over - self.within)

    def _unknown(self, e: ir.Unknown) -> Value:
        args = [self.value(a) for a in e.reads]
        for name in e.writes:
            old = self.env.get(name, NOTHING)
            if old.targets:
                self.env[name] = anywhere(old)
                continue
            new = merged(old.dtype, old, *args)
            if not e.pure:
                new = replace(new, deps=new.deps | {ANYTHING})
            self.env[name] = self.named(self._plain(name), new)
        if any(a.targets for a in args):
            return replace(self.lost(args, e), dtype=e.dtype)
        if not e.pure:
            self.r.unread.append((e.at, self.text(e)))
        return merged(e.dtype, *args)

    def lost(self, parts: list[Value], e: Any) -> Value:
        """Something there is no rule for: values flow through, pointers become unknown accesses."""
        for p in parts:
            for t in p.targets:
                self._lose(t, e)
        self.r.seen.append(e.at)
        out = merged("", *parts)
        self.r.sink(out)
        return replace(out, deps=out.deps | {ANYTHING})

    def _lose(self, t: Target, e: Any) -> None:
        if t.cell:
            old = self.env.get(t.base, NOTHING)
            self.env[t.base] = self.named(self._plain(t.base), Value(old.dtype, deps=frozenset((ANYTHING,))))
            return
        self.r.lose(
            t.base, e.at, t.base in self.readonly, f"not followed: {' '.join(self.text(e).split())[:80]}"
        )
        if t.base in self.contents:
            kept = self.contents[t.base]
            self.contents[t.base] = replace(kept, deps=kept.deps | {ANYTHING})

    def _mentioned(self, *parts: Value, at: ir.Span) -> None:
        if any(p.targets for p in parts):
            self.r.seen.append(at)


def anywhere(v: Value) -> Value:
    """A pointer that may have been moved within what it points to."""
    return replace(
        v, targets=tuple(replace(t, offset=integers.unknown(integers.INT64), moved=True) for t in v.targets)
    )


def _either(cond: Cond, a: tuple[Target, ...], b: tuple[Target, ...]) -> tuple[Target, ...]:
    if a == b:
        return a
    return (
        *(replace(t, when=t.when & cond) for t in a),
        *(replace(t, when=t.when & ~cond) for t in b),
    )


def _flag_test(op: str, a: Value, b: Value) -> Cond | None:
    """``flag == 0`` and the like."""
    for flag, other in ((a, b), (b, a)):
        value = None if other.int is None or other.int.ring is None else other.int.ring.value
        if other.cond is not None and other.cond.kind == "const":
            value = int(other.cond.truth)
        if flag.cond is not None and flag.int is None and value in (0, 1):
            return flag.cond if (op == "==") == (value == 1) else ~flag.cond
    return None


_HANDLERS: dict[type, Callable[[Evaluator, Any], Value]] = {
    ir.Const: Evaluator._const, ir.Cell: Evaluator._cell, ir.Unary: Evaluator._unary,
    ir.Binary: Evaluator._binary, ir.Compare: Evaluator._compare, ir.Logic: Evaluator._logic,
    ir.Cast: Evaluator._cast, ir.CommonCast: Evaluator._common_cast, ir.Select: Evaluator._select,
    ir.Load: Evaluator._load, ir.AddressOf: Evaluator._address, ir.Set: Evaluator._set,
    ir.Atomic: Evaluator._atomic, ir.Call: Evaluator._call, ir.Combined: Evaluator._combined,
    ir.Sequence: Evaluator._sequence, ir.Unknown: Evaluator._unknown,
}  # fmt: skip
