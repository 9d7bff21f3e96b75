"""Statements of Python host code to events; one that is not understood is an event too, and forgets what it mentions."""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...model.program import (
    Assert,
    Branch,
    Call,
    Check,
    Event,
    Loop,
    Output,
    Reset,
    Tensor,
    Unmodelled,
    View,
    Writes,
)
from ...model.record import field, record, replace
from ...symbolic import ZERO, Expr, compare
from ..host import Handle, NotUnderstood, Text_
from . import calls, integers
from .context import SYMBOL, Arguments, Context, Frame, Items, Lost, Results, Value, handles
from .kernels import Definition
from .launches import launch
from .values import MAKERS, canonical, dtype_of, evaluate, integer, ints, item, leaf, number, tensor, view

#: Functions within functions that are followed.
MAX_DEPTH = 20
#: Elements of an empty list that get a handle before they are set.
_MAX_NAMED = 64
#: Functions through which code sees every name there is.
_REFLECTIVE = frozenset(("exec", "eval", "locals", "globals", "vars", "inspect", "sys"))
#: Calls that concern streams, devices, profiling, hooks or timing, not tensors.
_QUIET = (
    "torch.cuda.", "torch.xpu.", "torch.mps.", "torch.accelerator.", "get_raw_stream", "run_intermediate_hooks",
    "start_graph", "end_graph", "print", "async_compile.", "assert_alignment", "torch._C._dynamo.guards.assert_alignment",
    "torch.autograd.profiler.", "record_function", "maybe_profile", "nvtx.",
)  # fmt: skip


@record
class Here:
    """The statement being read, among those of its body."""

    statements: Sequence[ast.stmt]
    uses: Uses
    at: int = 0


class Reader:
    """One graph body: its context, and the kernels by name."""

    def __init__(self, context: Context, kernels: Mapping[str, Definition]) -> None:
        self.c = context
        self.kernels = kernels
        self._here = Here((), Uses())

    def body(self, statements: Sequence[ast.stmt]) -> None:
        outer, self._here = self._here, Here(statements, Uses.index(statements))
        for i, s in enumerate(statements):
            if self.c.frame.ended:
                break
            self._here.at = i
            self.statement(s)
        self._here = outer

    def statement(self, s: ast.stmt) -> None:
        mark = len(self.c.events)
        handler = _STATEMENTS.get(type(s))
        try:
            if handler is None:
                raise NotUnderstood(f"a {type(s).__name__.lower()} statement")
            handler(self, s)
        except NotUnderstood as e:
            del self.c.events[mark:]
            self.forget(s, str(e))

    def forget(self, s: ast.stmt, reason: str) -> None:
        """A statement of which nothing is known: it may do anything to what it mentions, and to what it binds."""
        c = self.c
        mentioned: dict[str, None] = {}
        bound: dict[str, None] = {}
        for n in ast.walk(s):
            if isinstance(n, ast.Name):
                (mentioned if isinstance(n.ctx, ast.Load) else bound).setdefault(n.id)
        if not _REFLECTIVE.isdisjoint(mentioned):
            mentioned |= dict.fromkeys(c.frame.names)
        touched = [h for n in mentioned for h in handles(c.frame.names.get(n))]
        text, loc = c.text(s), c.loc(s)
        c.emit(Unmodelled(text, loc, tuple(dict.fromkeys(touched)), reason))
        for name in dict.fromkeys(touched):
            c.emit(Call("unmodelled", (), (name,), loc, text))
        for name in mentioned:
            if isinstance(v := c.frame.names.get(name), Items):
                v.values[:] = [x if isinstance(x, Handle) else Lost(reason) for x in v.values]
        for name in bound:
            if isinstance(s, ast.Delete):
                c.frame.names.pop(name, None)
                continue
            label = c.own(name)
            c.emit(Call("unmodelled", (), (label,), loc, text))
            c.define(name, Lost(reason) if SYMBOL.fullmatch(name) else Handle(label))

    # -- assignments
    def assign(self, s: ast.Assign) -> None:
        if len(s.targets) != 1:
            raise NotUnderstood("several targets")
        target = s.targets[0]
        if isinstance(target, ast.Name):
            self._name(s, target.id, s.value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            self._unpack(s, target.elts)
        elif isinstance(target, ast.Subscript):
            self._element(s, target)
        else:
            raise NotUnderstood("an assignment to an attribute")

    def annotated(self, s: ast.AnnAssign) -> None:
        if not isinstance(s.target, ast.Name) or s.value is None:
            raise NotUnderstood("an annotated assignment")
        self._name(s, s.target.id, s.value)

    def augmented(self, s: ast.AugAssign) -> None:
        if not isinstance(s.target, ast.Name):
            raise NotUnderstood("an augmented assignment")
        whole = ast.copy_location(ast.BinOp(ast.Name(s.target.id, ast.Load(), **_at(s)), s.op, s.value), s)
        self.c.define(s.target.id, integer(self.c, whole))

    def _name(self, s: ast.stmt, name: str, value: ast.expr) -> None:
        c = self.c
        if isinstance(value, ast.Call):
            maker = canonical(c, value.func)
            if maker in MAKERS:
                label = c.own(name)
                MAKERS[maker](c, value, label)
                note = c.comment(s)
                last = c.events[-1]
                if note and isinstance(last, View):
                    c.events[-1] = replace(last, note=note)
                c.define(name, Handle(label))
                return
            if calls.is_op(maker):
                self._op(s, name, value, maker)
                return
            inner = self._function(value)
            if inner is not None:
                found = self.inline(value, inner)
                c.define(name, self._list(s, name, found) if isinstance(found, Items) else found)
                return
            if isinstance(value.func, ast.Attribute) and value.func.attr == "item" and not value.args:
                c.define(name, item(c, value, name))
                return
            if self.quiet(maker):
                c.define(name, Text_(c.text(value)))
                return
            if maker in ("int", "bool") and len(value.args) == 1 and "item()" in c.text(value):
                c.define(name, self._from_data(value, name))
                return
        if isinstance(value, ast.Subscript) and isinstance(evaluate(c, value.value), Arguments):
            self._input(name, _position(c, value), s)
            return
        found = evaluate(c, value)
        if isinstance(found, Handle):
            self._alias(s, name, found)
        elif isinstance(found, Expr):
            c.define(name, self._size(s, name, found))
        elif isinstance(found, Items):
            written_out = isinstance(value, (ast.List, ast.Tuple, ast.BinOp))
            c.define(name, self._list(s, name, found) if written_out else found)
        else:
            c.define(name, found)

    def _from_data(self, value: ast.Call, name: str) -> Value:
        """``int(x.item())``: any number."""
        for n in ast.walk(value):
            if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr == "item":
                return item(self.c, n, name)
        raise NotUnderstood("a number that comes from data")

    def _alias(self, s: ast.stmt, name: str, found: Handle) -> None:
        """``buf3 = buf2``: one more name for a tensor; ``s27 = arg1_1`` an input that is a size."""
        c = self.c
        if found.name in c.inputs and found.name not in c.used and self._is_number(name, found.name):
            c.define(name, number(c, found, s, name if SYMBOL.fullmatch(name) else ""))
            return
        if c.comment(s) == "reuse":
            label = c.own(name)
            view(c, s, label, found.name, None, None, ZERO, "reuse")
        else:
            label = c.own(name, found.name)
            if label != found.name:
                c.emit(View(label, found.name, None, None, ZERO, "alias", c.loc(s), "="))
        c.define(name, Handle(label))

    def _is_number(self, name: str, given: str) -> bool:
        position = self.c.inputs[given][0]
        examples = self.c.module.examples
        known = examples[position] if position < len(examples) else None
        return SYMBOL.fullmatch(name) is not None if known is None else known.dtype is None

    def _size(self, s: ast.stmt, name: str, e: Expr) -> Expr:
        """A size that is read gets the name it is given; a symbol worked out of another is a symbol too."""
        c = self.c
        if not SYMBOL.fullmatch(name) or e.value is not None or name in c.symbols:
            return e
        for key, d in c.dims.items():
            label = next(iter(d.symbols), "")
            if d == e and label == f"{key[0]}_{'stride' if key[1] else 'size'}_{key[2]}":
                c.symbols.pop(label, None)
                c.dims[key] = c.symbol(name, s, 0)
                for n, v in c.frame.names.items():
                    if v == e:
                        c.frame.names[n] = c.dims[key]
                return c.dims[key]
        if "(" in repr(e) or "//" in repr(e):
            named = c.symbol(name, s, None)
            c.emit(Check(compare("==", named, e), c.loc(s)))
            return named
        return e

    def _list(self, s: ast.stmt, name: str, found: Items) -> Items:
        """A list of its own: what is in it stays when the names it came from end."""
        fresh = Items(list(found.values), self.c.own(name))
        for i, v in enumerate(fresh.values):
            label = f"{fresh.name}[{i}]"
            if isinstance(v, Handle):
                self.c.emit(View(label, v.name, None, None, ZERO, "alias", self.c.loc(s), "="))
                fresh.values[i] = Handle(label)
            elif v is None and i < _MAX_NAMED:
                self.c.emit(Reset(label, self.c.loc(s)))
        return fresh

    def _element(self, s: ast.Assign, target: ast.Subscript) -> None:
        """``buf0[0] = x``."""
        self._put(s, target, self._result(s.value))

    def _put(self, s: ast.stmt, target: ast.Subscript, found: Value) -> None:
        c = self.c
        base = evaluate(c, target.value)
        index = integer(c, target.slice).value if not isinstance(target.slice, ast.Slice) else None
        if not isinstance(base, Items) or index is None or not 0 <= index < len(base.values) or not base.name:
            raise NotUnderstood("an assignment to an item")
        if isinstance(found, Handle):
            label = f"{base.name}[{index}]"
            c.emit(View(label, found.name, None, None, ZERO, "alias", c.loc(s), "="))
            found = Handle(label)
        elif c.nested and isinstance(found, Expr):
            found = Lost("it is set under a condition")
        base.values[index] = found

    def _result(self, node: ast.expr) -> Value:
        """A value that may come from a function of the module or an op of one result."""
        if isinstance(node, ast.Call):
            inner = self._function(node)
            if inner is not None:
                return self.inline(node, inner)
            maker = canonical(self.c, node.func)
            if calls.is_op(maker):
                name = self.c.temporary()
                calls.op(self.c, node, maker, (name,))
                return Handle(name)
            if isinstance(node.func, ast.Attribute) and node.func.attr == "clone" and not node.args:
                name = self.c.temporary()
                calls.clone(self.c, node, name)
                return Handle(name)
        return evaluate(self.c, node)

    def _unpack(self, s: ast.Assign, targets: Sequence[ast.expr]) -> None:
        """``a, b = args``, ``(buf0, buf1) = self.partitions[0](args)``, ``a, b = op(x)``."""
        c = self.c
        if not all(isinstance(t, (ast.Name, ast.Subscript)) for t in targets):
            raise NotUnderstood("a nested target")
        names = [t.id if isinstance(t, ast.Name) else "" for t in targets]
        if isinstance(s.value, ast.Call) and all(names) and calls.is_op(maker := canonical(c, s.value.func)):
            labels = [c.own(n) for n in names]
            calls.op(c, s.value, maker, tuple(labels))
            for n, label in zip(names, labels, strict=True):
                c.define(n, Handle(label))
            return
        found = self._result(s.value)
        if isinstance(found, Arguments) and all(names):
            for i, n in enumerate(names):
                self._input(n, i, targets[i])
            return
        if isinstance(found, Results) and set(range(len(names))) <= found.names.keys():
            found = Items([Handle(found.names[i]) for i in range(len(names))])
        if not isinstance(found, Items) or len(found.values) != len(names):
            raise NotUnderstood("a list of a length that is not known")
        for n, t, v in zip(names, targets, found.values, strict=True):
            if isinstance(t, ast.Subscript):
                self._put(s, t, v)
            elif isinstance(v, Handle):
                self._alias(s, n, v)
            else:
                c.define(n, v)

    def _input(self, name: str, position: int, node: ast.AST) -> None:
        c = self.c
        label = c.own(name)
        c.inputs[label] = (position, c.loc(node))
        c.define(name, Handle(label))

    # -- ops
    def _op(self, s: ast.stmt, name: str, node: ast.Call, maker: str) -> None:
        """``buf5 = op(x)``: one tensor, or several that later statements take out by number."""
        c, here = self.c, self._here
        taken = here.uses.items(name, here.at)
        if not taken:
            label = c.own(name)
            calls.op(c, node, maker, (label,))
            c.define(name, Handle(label))
            return
        names: dict[int, str] = {}
        for position, i in taken:
            target = here.statements[i]
            assert isinstance(target, ast.Assign) and isinstance(target.targets[0], ast.Name)
            names.setdefault(position, c.own(target.targets[0].id))
        calls.op(c, node, maker, tuple(names.get(i) for i in range(max(names) + 1)))
        c.define(name, Results(names))

    def expression(self, s: ast.Expr) -> None:
        c, node = self.c, s.value
        if isinstance(node, ast.Constant):
            return
        if not isinstance(node, ast.Call):
            raise NotUnderstood("an expression")
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("run", "generated_kernel"):
            base = node.func.value
            if isinstance(base, ast.Name) and base.id not in c.frame.names:
                self._launch(node, base.id)
                return
        if (
            isinstance(node.func, ast.Name)
            and node.func.id in self.kernels
            and node.func.id not in c.frame.names
        ):
            self._launch(node, node.func.id)
            return
        maker = canonical(c, node.func)
        name = maker.rpartition(".")[2]
        if name in _CHECKS and not calls.is_op(maker):
            _CHECKS[name](c, node)
        elif maker in MAKERS:
            MAKERS[maker](c, node, c.temporary())
        elif calls.is_op(maker):
            calls.op(c, node, maker, ())
        elif (inner := self._function(node)) is not None:
            self.inline(node, inner)
        elif self.quiet(maker):
            return
        elif isinstance(node.func, ast.Attribute):
            self._method(node)
        else:
            raise NotUnderstood(f"a call of {c.text(node.func)[:60]}")

    def quiet(self, name: str) -> bool:
        return bool(name) and (
            name.startswith(_QUIET)
            or name.rpartition(".")[2].lstrip("_") in ("cuda_getCurrentRawStream", "assert_alignment")
        )

    def _method(self, node: ast.Call) -> None:
        assert isinstance(node.func, ast.Attribute)
        base = node.func.value
        value = self.c.frame.names.get(base.id) if isinstance(base, ast.Name) else None
        if node.func.attr == "clear" and isinstance(value, (Items, Arguments)):
            return  # the names taken out of it stay
        if node.func.attr == "item" and not node.args:
            self.c.emit(
                Call(
                    "item",
                    (Tensor(tensor(self.c, base)),),
                    (),
                    self.c.loc(node),
                    self.c.text(node),
                    (),
                    Writes(()),
                )
            )
            return
        calls.method(self.c, node)

    def _launch(self, node: ast.Call, name: str) -> None:
        found = self.kernels.get(name)
        if found is None:
            raise NotUnderstood(f"no source for {name}")
        launch(self.c, node, name, found)

    # -- functions of the module
    def _function(self, node: ast.Call) -> ast.FunctionDef | None:
        """The function of this module that a call runs, if it takes a list of arguments."""
        c, f = self.c, node.func
        if isinstance(f, ast.Name) and f.id not in c.frame.names and f.id not in self.kernels:
            return c.module.function(f.id)
        if isinstance(f, ast.Subscript) and c.text(f.value) == "self.partitions":
            index = f.slice.value if isinstance(f.slice, ast.Constant) else None
            if type(index) is int and 0 <= index < len(c.module.partitions):
                return c.module.function(c.module.partitions[index])
        return None

    def inline(self, node: ast.Call, fn: ast.FunctionDef) -> Value:
        """The statements of a function where it is called."""
        c = self.c
        if c.depth >= MAX_DEPTH or node.keywords or len(node.args) != len(fn.args.args):
            raise NotUnderstood(f"a call of {fn.name}")
        given = [evaluate(c, a) for a in node.args]
        c.called.add(fn.name)
        names = {a.arg: v for a, v in zip(fn.args.args, given, strict=True)}
        outer, c.frame = c.frame, Frame(names, nested=c.nested)
        c.depth += 1
        try:
            self.body(fn.body)
            returned = c.frame.returned
            c.leave(c.frame)
        finally:
            c.frame = outer
            c.depth -= 1
        return returned

    # -- other statements
    def delete(self, s: ast.Delete) -> None:
        c = self.c
        for t in s.targets:
            if isinstance(t, ast.Name):
                value = c.frame.names.get(t.id)
                if t.id not in c.frame.names:
                    raise NotUnderstood(f"{t.id} is not known")
                if isinstance(value, Handle):
                    c.emit(Reset(value.name, c.loc(t), unbound=True))
                c.delete(t.id)
            elif not isinstance(t, ast.Subscript):
                raise NotUnderstood("a del of something that is no name")

    def returns(self, s: ast.Return) -> None:
        c = self.c
        if c.nested > c.frame.nested:
            raise NotUnderstood("a return under a condition")
        elts = s.value.elts if isinstance(s.value, (ast.Tuple, ast.List)) else None
        if elts is None:
            c.frame.returned = None if s.value is None else self._result(s.value)
            elts_values = (
                c.frame.returned.values if isinstance(c.frame.returned, Items) else [c.frame.returned]
            )
            places: list[ast.AST] = [s] * len(elts_values)
        else:
            elts_values = [evaluate(c, e) for e in elts]
            places = list(elts)
            c.frame.returned = Items(elts_values)
        c.frame.ended = True
        if c.depth == 0:
            for i, (v, at) in enumerate(zip(elts_values, places, strict=True)):
                if isinstance(v, Handle):
                    c.emit(Output(i, v.name, c.loc(at), released=False))
                elif isinstance(v, Results):
                    for name in v.names.values():
                        c.emit(Output(i, name, c.loc(at), released=False))

    def with_(self, s: ast.With) -> None:
        for w in s.items:
            if not isinstance(w.context_expr, ast.Call) or any(
                isinstance(self.c.frame.names.get(n.id), Handle)
                for n in ast.walk(w)
                if isinstance(n, ast.Name)
            ):
                raise NotUnderstood("a with statement")
            if isinstance(w.optional_vars, ast.Name):
                self.c.define(w.optional_vars.id, Text_(w.optional_vars.id))
        self.body(s.body)

    def if_(self, s: ast.If) -> None:
        c = self.c
        if len(s.body) == 1 and isinstance(s.body[0], ast.Raise) and not s.orelse:
            self._check(s.test, s, negate=True)
            return
        self._test(s.test)
        self._before(s)
        arms: list[tuple[Event, ...]] = []
        ends: list[dict[str, Value]] = []
        start, lists, before = dict(c.frame.names), _lists(c.frame), c.state()
        states = []
        for body in (s.body, s.orelse):
            c.frame.names = dict(start)
            c.restore(before)
            for held, values in lists:
                held.values[:] = values
            with c.captured() as events:
                self.body(body)
            arms.append(tuple(events))
            states.append(c.state())
            ends.append(
                {**c.frame.names, **{f"[]{i}": Items(list(h.values)) for i, (h, _) in enumerate(lists)}}
            )
        for i, (held, _) in enumerate(lists):
            a, b = (e.pop(f"[]{i}") for e in ends)
            if isinstance(a, Items) and isinstance(b, Items):
                held.values[:] = [_either(x, y) for x, y in zip(a.values, b.values, strict=True)]
        c.frame.names = {n: _either(ends[0].get(n), ends[1].get(n)) for n in {**ends[0], **ends[1]}}
        c.join(*states)
        c.emit(Branch(tuple(arms), c.loc(s)))

    def _test(self, test: ast.expr) -> None:
        """Tensors a condition looks at are used by it."""
        for n in ast.walk(test):
            if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr == "item":
                self.c.emit(
                    Call(
                        "item",
                        (Tensor(tensor(self.c, n.func.value)),),
                        (),
                        self.c.loc(n),
                        self.c.text(n),
                        (),
                        Writes(()),
                    )
                )

    def _before(self, s: ast.stmt) -> None:
        """Names that arms bind hold nothing before them, unless they do."""
        c = self.c
        for n in ast.walk(s):
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store) and n.id not in c.frame.names:
                c.emit(Reset(c.own(n.id), c.loc(s)))

    def while_(self, s: ast.While) -> None:
        c = self.c
        if s.orelse:
            raise NotUnderstood("a while with an else")
        self._before(s)
        stored = {n.id for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        for n in stored:
            if isinstance(c.frame.names.get(n), Expr):
                c.define(n, Lost("it changes in a loop"))
        for held, _ in _lists(c.frame):
            held.values[:] = [Lost("it changes in a loop") if isinstance(v, Expr) else v for v in held.values]
        with c.captured() as events:
            self._test(s.test)
            self.body(s.body)
        c.emit(Loop(tuple(events), c.loc(s)))

    def _check(self, test: ast.expr, s: ast.stmt, negate: bool = False) -> None:
        try:
            cond = integers.condition(test, lambda n: leaf(self.c, n))
        except NotUnderstood:
            return  # a check on data narrows nothing that is tracked here
        if not self.c.nested:
            self.c.emit(Check(~cond if negate else cond, self.c.loc(s)))

    def asserts(self, s: ast.Assert) -> None:
        self._check(s.test, s)

    def nothing(self, s: ast.stmt) -> None:
        """Statements without a meaning for tensors."""


def _position(c: Context, node: ast.Subscript) -> int:
    index = None if isinstance(node.slice, ast.Slice) else integer(c, node.slice).value
    if index is None or index < 0:
        raise NotUnderstood("an argument by a number that is not known")
    return index


def _at(node: ast.AST) -> dict[str, Any]:
    return {n: getattr(node, n) for n in ("lineno", "col_offset", "end_lineno", "end_col_offset")}


def _lists(frame: Frame) -> list[tuple[Items, list[Value]]]:
    """Every list in scope, once, with what it holds."""
    found = {id(v): v for v in frame.names.values() if isinstance(v, Items)}
    return [(v, list(v.values)) for v in found.values()]


def _either(a: Value, b: Value) -> Value:
    if a == b:
        return a
    if isinstance(a, Handle) and (b is None or b == a):
        return a
    if isinstance(b, Handle) and a is None:
        return b
    return Lost("it differs between branches")


@record
class Uses:
    """Where the statements of one body mention each name: (statement, number that is taken out or None)."""

    of: dict[str, list[tuple[int, int | None, bool]]] = field(default_factory=dict)

    @classmethod
    def index(cls, statements: Sequence[ast.stmt]) -> Uses:
        uses = cls()
        for i, s in enumerate(statements):
            taken = _taken(s)
            ends = isinstance(s, ast.Delete)
            for n in ast.walk(s):
                if isinstance(n, ast.Name):
                    position = taken[1] if taken is not None and taken[0] == n.id else None
                    end = ends or isinstance(n.ctx, ast.Store)
                    uses.of.setdefault(n.id, []).append((i, position, end))
        return uses

    def items(self, name: str, after: int) -> list[tuple[int, int]] | None:
        """(number, statement) of the items taken out of ``name``; None where it is used as a whole first."""
        found: list[tuple[int, int]] = []
        at = bisect_right(self.of.get(name, ()), after, key=lambda use: use[0])
        for i, position, end in self.of.get(name, ())[at:]:
            if position is not None:
                found.append((position, i))
            elif end:
                break
            elif not found:
                return None
        return found


def _taken(s: ast.stmt) -> tuple[str, int] | None:
    """``x = y[3]``: y and 3."""
    if not isinstance(s, ast.Assign) or len(s.targets) != 1 or not isinstance(s.targets[0], ast.Name):
        return None
    v = s.value
    if isinstance(v, ast.Subscript) and isinstance(v.value, ast.Name) and isinstance(v.slice, ast.Constant):
        number = v.slice.value
        return (v.value.id, number) if type(number) is int and 0 <= number < 1000 else None
    return None


# -- checks the wrapper makes -------------------------------------------------------------------


def _size_stride(c: Context, node: ast.Call) -> None:
    """``assert_size_stride(t, sizes, strides, 'name')``."""
    if len(node.args) < 3:
        raise NotUnderstood("assert_size_stride")
    t, sizes, strides, *_ = node.args
    _state(c, node, t, sizes, strides, None)


def _grouped(c: Context, node: ast.Call) -> None:
    """``assert_size_stride_grouped((t, …), (sizes, …), (strides, …), 'name')``."""
    groups = [g.elts for g in node.args[:3] if isinstance(g, (ast.Tuple, ast.List))]
    if len(groups) != 3 or len({len(g) for g in groups}) != 1:
        raise NotUnderstood("assert_size_stride_grouped")
    for t, sizes, strides in zip(*groups, strict=True):
        _state(c, node, t, sizes, strides, None)


def _metadata(c: Context, node: ast.Call) -> None:
    """``assert_tensor_metadata(t, sizes, strides, dtype, 'op')``."""
    if len(node.args) < 4:
        raise NotUnderstood("assert_tensor_metadata")
    t, sizes, strides, dtype, *_ = node.args
    _state(c, node, t, sizes, strides, dtype)


def _state(
    c: Context, node: ast.Call, t: ast.expr, sizes: ast.expr, strides: ast.expr, dtype: ast.expr | None
) -> None:
    name = tensor(c, t)
    what = next(
        (a.value for a in node.args[3:] if isinstance(a, ast.Constant) and isinstance(a.value, str)), ""
    )
    known = None if dtype is None else dtype_of(c, dtype)
    c.emit(Assert(name, ints(c, sizes), ints(c, strides), c.loc(node), known, str(what)))


_CHECKS: dict[str, Callable[[Context, ast.Call], None]] = {
    "assert_size_stride": _size_stride, "assert_size_stride_grouped": _grouped, "assert_tensor_metadata": _metadata,
}  # fmt: skip

_STATEMENTS: dict[type[ast.stmt], Callable[[Reader, Any], None]] = {
    ast.Assign: Reader.assign, ast.AnnAssign: Reader.annotated, ast.AugAssign: Reader.augmented,
    ast.Expr: Reader.expression, ast.Delete: Reader.delete, ast.Return: Reader.returns, ast.With: Reader.with_,
    ast.If: Reader.if_, ast.While: Reader.while_, ast.Assert: Reader.asserts, ast.Pass: Reader.nothing,
    ast.Break: Reader.nothing, ast.Import: Reader.nothing, ast.ImportFrom: Reader.nothing, ast.Global: Reader.nothing,
}  # fmt: skip
