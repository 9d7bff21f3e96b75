"""Statements of a C++ kernel: declarations, loops, branches, lambdas."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from ...cxx.nodes import Node, Text
from ...model.dtypes import from_cxx
from ...model.kernel import Param, Var, VarKind
from ...model.record import replace
from ...symbolic import FALSE, TRUE, Cond, Expr, compare, const, maximum, sym
from .calls import Calls
from .loops import Plan, declared, inner_loop, leaves, loop_parts, positive_symbol, target, trip_count
from .pointers import Pointers
from .scope import Guard, Scope
from .values import (
    UNKNOWN,
    Address,
    Closure,
    Flag,
    Int,
    Local,
    Opaque,
    Ptr,
    Value,
    int_compare,
    is_integer,
    type_of,
)

#: A variable: the scope it is declared in, and its name there.
Variable: TypeAlias = "tuple[Scope, str]"
_ARRAY = re.compile(r"\b(?:std::)?(?:array|vector)\s*<\s*([\w:]+)")
_STD_LENGTH = re.compile(r"\barray\s*<\s*[\w:]+\s*,\s*\(?(\w+)\)?\s*>")
_LENGTH = re.compile(r"\[\s*(?:static_cast<\w+>\s*)?\(?\s*(\w+)\s*\)?\s*\](?!\s*\[)")
_LAMBDA_PARAMS = re.compile(r"\]\s*\(([^()]*)\)")


#: Kernels nest calls of helpers and lambdas a few levels deep; more is recursion.
MAX_DEPTH = 12


class Flow(Calls):
    """Runs statements. A statement's result is the condition under which the next one is reached."""

    def __init__(
        self, source: Text, params: Iterable[Param], vector_bytes: int | None, parallel: dict[int, int]
    ) -> None:
        super().__init__(source, params, vector_bytes)
        #: Loops made parallel by a pragma: offset of the outermost one -> how many nested loops.
        self.parallel = dict(parallel)
        self.calls = 0
        self._frames: list[tuple[int, list[tuple[Cond, Value]]]] = []
        self._changed: dict[int, set[str]] = {}
        #: Whether the text jumps (``goto``): its order is not the order in which it runs.
        self.jumps = False

    def run(self, node: Node) -> Cond:
        handler = _STATEMENTS.get(node.kind)
        outer, self._open = self._open, Pointers()  # what a statement leaves unused is not used
        try:
            if handler is not None:
                return handler(self, node)
            self.value(node)
            return TRUE
        finally:
            self._open = outer

    def range_for(self, node: Node) -> Cond:
        raise NotImplementedError

    # -- blocks and declarations
    def _block(self, node: Node) -> Cond:
        with self.block():
            return self._sequence(node.kids)

    def _sequence(self, nodes: list[Node]) -> Cond:
        reached = TRUE
        for i, n in enumerate(nodes):
            c = self.run(n)
            if c.kind == "const":
                if not c.truth:
                    self.never(*nodes[i + 1 :])
                    return FALSE
                continue
            self.guards.append(Guard(c))
            reached = reached & c
        return reached

    def _decl(self, node: Node) -> Cond:
        outer, self.label = self.label, node.value
        try:
            if not self._reference(node):
                v = self._initial(node)
                self.scope.declare(node.value, v)
                type_ = v.type if isinstance(v, Int) else type_of(node.type)
                if type_ is not None:
                    self.scope.types[node.value] = type_
                self.name_pointer(node.value, v)
        finally:
            self.label = outer
        return TRUE

    def _reference(self, node: Node) -> bool:
        """``T& r = x``: another name for x."""
        if not node.type.rstrip().endswith("&") or len(node.kids) != 1:
            return False
        place = self.place(node.kids[0]) if node.kids[0].kind == "name" else None
        if not isinstance(place, Address):
            return False
        self.scope.refer(node.value, (place.scope, place.name))
        return True

    def name_pointer(self, name: str, v: Value) -> None:
        """Remember what a name points to: a mention of it is one of that memory."""
        base = v.base if isinstance(v, Ptr) else None
        if isinstance(base, str):
            self.held.setdefault(name, set()).add(base)

    def _initial(self, node: Node) -> Value:
        name, type_, kids = node.value, node.type, node.kids
        array = _ARRAY.search(type_)
        if array or self._is_array(node):
            local = Local(name, from_cxx(array.group(1) if array else type_), len(self.guards))
            items = kids[0].kids if len(kids) == 1 and kids[0].kind == "init" else kids
            values = [self.value(k) for k in items]
            if array and len(items) == 1 and self.text(node).endswith("}"):
                local.content = values[0]
            for v in values:
                local.deps |= self.deps_of(v)
                if isinstance(v, (Ptr, Local, Closure, Address)):
                    self.lose(v, node, "a pointer is put into an array")
            return self.measured(local, self._length(node, values))
        if not kids:
            dtype = from_cxx(type_)
            return Int(self.fresh(dtype, frozenset())) if is_integer(dtype) else UNKNOWN
        v = [self.value(k) for k in kids][-1]
        return v if type_ == "auto" else self.convert(v, type_)

    def _length(self, node: Node, values: list[Value]) -> Expr | None:
        """How many elements a declaration of an array, ``std::array`` or ``std::vector`` makes, if it says so."""
        if re.search(r"\bvector\s*<", node.type):
            first = values[0] if 1 <= len(values) <= 2 and self.text(node).endswith(")") else None
            return first.expr if isinstance(first, Int) else None
        m = _STD_LENGTH.search(node.type)
        if m is None and not _ARRAY.search(node.type):
            text = self.source.text
            m = _LENGTH.match(text, text.find(node.value, node.start + len(node.type)) + len(node.value))
        if m is None:
            return None
        word = m.group(1).rstrip("uUlL")
        if word.isdigit():
            return const(int(word))
        v = self.scope.get(m.group(1))
        return v.expr if isinstance(v, Int) else None

    def _is_array(self, node: Node) -> bool:
        text = self.source.text
        after = text.find(node.value, node.start + len(node.type)) + len(node.value)
        return text[after : after + 1] == "["

    def _decls(self, node: Node) -> Cond:
        type_ = node.kids[0].type
        for k in node.kids:
            k.type = k.type or type_
            self.run(k)
        return TRUE

    def _empty(self, node: Node) -> Cond:
        return TRUE

    def _unknown(self, node: Node) -> Cond:
        text = self.text(node)
        if text.startswith("for"):
            return self.range_for(node)
        alias = re.match(r"using (\w+) = (.+?);?$", text)
        if alias:
            self.aliases[alias.group(1)] = alias.group(2)
        elif not text.startswith(("using ", "static_assert")):
            self.skip(node)
            with self.block(), self.given(Guard(self.unknown_cond(node, frozenset()))):
                self.havoc(node, set())
                self._open.operands.clear()
                v = self._other(node)
                for p in [*self._open.left(v)]:
                    self.lose(p, node)
            self.havoc(node, set())
            if re.match(r"goto\b|\w+\s*:(?!:)", text):
                self.jumps = True
        return TRUE

    # -- branches
    def _if(self, node: Node) -> Cond:
        test = node.kids[0]
        if test.kind == "method" and test.value == "all_zero":
            some = self.some(test.kids[0])
            return self._branch(node, Guard(~some.cond), some)
        c = self.cond(self.value(test), test)
        return self._branch(node, Guard(c), Guard(~c))

    def _branch(self, node: Node, yes: Guard, no: Guard) -> Cond:
        arms = node.kids[1:]
        if yes.cond == TRUE:
            self.never(*arms[1:])
            return self.run(arms[0])
        if yes.cond == FALSE:
            self.never(arms[0])
            with self.given(no):
                return self.run(arms[1]) if len(arms) > 1 else TRUE
        changed = self.assigned(node)  # arrays change in place
        before = {(s, n): s.names[n] for s, n in changed}
        with self.given(yes):
            c = self.run(arms[0])
        after = {(s, n): s.names[n] for s, n in changed}
        for (s, n), v in before.items():
            s.names[n] = v
        with self.given(no):
            d = self.run(arms[1]) if len(arms) > 1 else TRUE
        for s, n in changed:
            a, b = after[s, n], s.names[n]
            if a is not b:
                s.names[n] = b if c == FALSE else a if d == FALSE else self.select(yes.cond, a, b)
                if not isinstance(s.names[n], (Ptr, Local, Closure, Address)):
                    for v in (a, b):
                        if isinstance(v, (Ptr, Local, Closure, Address)):
                            self.lose(v, node)
        if c == TRUE and d == TRUE:
            return TRUE
        return (yes.cond & c) | (no.cond & d)

    def _switch(self, node: Node) -> Cond:
        selector = self.integer(self.value(node.kids[0]))
        seen: list[Cond] = []
        arm: Cond | None = None
        with self.block():
            for n in node.kids[-1].kids:
                while n.kind in ("case", "default"):
                    if n.kind == "case":
                        seen.append(int_compare("==", selector, self.integer(self.value(n.kids[0]))))
                        found = seen[-1]
                    else:
                        found = ~Cond.join("or", seen)
                    arm = found if arm is None else arm | found
                    n = n.kids[-1]
                if n.kind == "break":
                    arm = None
                elif arm is None:
                    self.never(n)
                else:
                    with self.given(Guard(arm)):
                        self.run(n)
        return TRUE

    # -- loops
    def _for(self, node: Node) -> Cond:
        with self.block():
            plan = self._plan(node)
            if plan is None:
                self.skip(node, "the loop does not count")
                self._repeat(node, node.kids[-1])
                return TRUE
            collapse = self.parallel.get(node.start, 0)
            if collapse > 1:
                inner = inner_loop(node)
                if inner is not None:
                    self.parallel[inner.start] = collapse - 1
            self.loop(plan, node, "parallel" if collapse else "loop", lambda: self.run(node.kids[-1]))
        self._settle_counter(plan, node)
        return TRUE

    def _steady(self, node: Node, name: str, test: Node, step: Node) -> bool:
        """Whether nothing in a loop's body changes its counter, its bound or its step."""
        own = {
            self.scope.resolve(name),
            *(self.scope.resolve(n) for n in _names([test.kids[1], *step.kids[1:]])),
        }
        return not any(x in own for x in self.assigned(node.kids[-1]))

    def _plan(self, node: Node) -> Plan | None:
        init, test, step = loop_parts(node)
        if test is None or step is None:
            return None
        if init is not None:
            self.run(init)
        name = test.kids[0].value
        start = self.scope.get(name)
        if not isinstance(start, Int) or not self._steady(node, name, test, step):
            return None
        by = const(1)
        if step.kind == "assign":
            by = self.integer(self.value(step.kids[1]))
        stop = self.integer(self.value(test.kids[1]))
        return Plan(name, start.expr, stop + 1 if test.value == "<=" else stop, by, start.type)

    def loop(self, plan: Plan, node: Node, kind: VarKind, body: Callable[[], Cond]) -> None:
        """Run ``body`` for one iteration that stands for all of them.

        A step chosen at run time is taken to be 1: the counter is any number of the range.
        """
        by = const(1) if self.from_memory(plan.step) else plan.step
        extent = trip_count(plan.stop - plan.start, by)
        if extent == 0:
            self.never(node.kids[-1])
            return
        plain = by == 1 and plan.start == 0
        var = Var(self.unique(plan.name if plain else f"{plan.name}.i"), extent, kind)
        value = plan.start + by * sym(var.name) if extent != 1 else plan.start
        step = plan.step.value
        if step is not None and step > 1:
            self.steps.append(step)
        with self.iteration(var, plan.name, value, positive_symbol(extent)), self.block():
            self.scope.declare(plan.name, Int(value, plan.type))
            self.scope.types[plan.name] = plan.type
            changed = self.havoc(node, {plan.name})
            with self.given(*self._leaving(node)):
                body()
        if step is not None and step > 1:
            self.steps.pop()
        self._settle(changed, var.name)

    def _leaving(self, node: Node) -> list[Guard]:
        """A loop that can be left early: whether an iteration is reached depends on earlier ones."""
        if not leaves(node.kids[-1]):
            return []
        return [Guard(self.unknown_cond(node, frozenset(v.name for v in self.vars)))]

    def _repeat(self, node: Node, body: Node) -> None:
        """A loop that is not understood: its body may run any number of times."""
        changed: list[Variable] = []
        with self.block(), self.given(Guard(self.unknown_cond(node, frozenset()))):
            for k in node.kids:  # each on its own: the head of a loop declares what the body changes
                changed += self.havoc(k, set())
            self.run(body)
        for k in node.kids:
            changed += self.havoc(k, set())
        self._settle(changed, "")

    def _while(self, node: Node) -> Cond:
        self.skip(node, "the loop does not count")
        for k in node.kids[:-1]:
            self.value(k)
        self._repeat(node, node.kids[-1])
        return TRUE

    def _settle_counter(self, plan: Plan, node: Node) -> None:
        """The counter of a loop that was declared before it has its last value after it."""
        if node.kids[0].kind == "decl" or self.scope.resolve(plan.name) is None:
            return
        if leaves(node.kids[-1]) or self.from_memory(plan.step):
            self.scope.set(plan.name, Int(self.fresh(None, frozenset(), label=plan.name), plan.type))
            return
        turns = maximum(0, trip_count(plan.stop - plan.start, plan.step))
        self.scope.set(plan.name, Int(plan.start + plan.step * turns, plan.type))

    # -- variables that change
    def havoc(self, node: Node, keep: set[str]) -> list[Variable]:
        """Forget the values of outer variables that a repeated statement assigns; which they are."""
        deps = frozenset(v.name for v in self.vars)
        kept = {self.scope.resolve(n) for n in keep}
        out = []
        for variable in self.assigned(node):
            if variable in kept:
                continue
            scope, name = variable
            old = scope.names[name]
            array = old.base if isinstance(old, Ptr) else old
            if isinstance(array, Local):
                self._forgotten(name, array, deps)
                if isinstance(old, Ptr) and variable in self._written(node):
                    scope.names[name] = replace(old, offset=self.fresh(None, deps, label=name))
            elif not isinstance(old, (Closure, Address)):
                scope.names[name] = self._forgotten(name, old, deps)
            out.append(variable)
        return out

    def _forgotten(self, name: str, v: Value, deps: frozenset[str]) -> Value:
        if isinstance(v, Local):
            v.content = None
            v.deps |= deps
            return v
        if isinstance(v, Flag):
            return Flag(compare("!=", self.fresh("bool", deps, label=name), 0))
        if isinstance(v, Int):
            return Int(self.fresh(v.type.name if v.type.bits < 64 else None, deps, label=name), v.type)
        if isinstance(v, Ptr):
            return replace(v, offset=self.fresh(None, deps, label=name))
        return Opaque(self.deps_of(v) | deps)

    def _settle(self, changed: list[Variable], var: str) -> None:
        """After a loop: what was computed in it no longer varies with it."""
        for scope, name in changed:
            v = scope.names.get(name)
            if isinstance(v, Ptr) and isinstance(v.base, Local):
                v = v.base
            if v is None or isinstance(v, (Closure, Address)):
                continue
            if isinstance(v, Local):
                v.deps -= {var}
                if isinstance(v.content, (Int, Flag)) and var in _symbols(v.content):
                    v.content = None
            elif isinstance(v, Opaque):
                scope.names[name] = Opaque(v.deps - {var})
            elif var in self.deps_of(v):
                scope.names[name] = self._forgotten(name, v, self.deps_of(v) - {var})

    def assigned(self, node: Node) -> list[Variable]:
        """Outer variables a statement assigns: directly, through pointers and references, in lambdas it calls."""
        out: dict[Variable, None] = {}
        for name in sorted(self.changes(node)):
            found = self.scope.resolve(name.lstrip("*&"))
            if found is None:
                continue
            old = found[0].names[found[1]]
            if isinstance(old, Address) and name.startswith("*"):
                out[old.scope, old.name] = None
            elif isinstance(old, Closure) and name.startswith("&"):
                out.update((v, None) for v in self._assigned_by(old))
            elif not name.startswith("&") and (
                not name.startswith("*")
                or isinstance(old, Local)
                or (isinstance(old, Ptr) and isinstance(old.base, Local))
            ):
                out[found] = None
        return list(out)

    def _written(self, node: Node) -> set[Variable | None]:
        """Variables a statement assigns themselves, not what they point to."""
        return {self.scope.resolve(n) for n in self.changes(node) if n[0] not in "*&"}

    def _assigned_by(self, f: Closure) -> list[Variable]:
        if self.calls >= MAX_DEPTH:
            return []
        outer, self.scope = self.scope, f.scope
        self.calls += 1
        try:
            return self.assigned(f.node)
        finally:
            self.scope = outer
            self.calls -= 1

    def changes(self, node: Node) -> set[str]:
        """Names a statement assigns; with a ``*`` those it stores through, with a ``&`` those it calls."""
        found = self._changed.get(id(node))
        if found is None:
            found = set()
            for k in node.kids:
                found |= self.changes(k)
            name = target(node)
            if name:
                found.add(name)
            found |= self.changed_by_call(node)
            if node.kind in ("block", "for"):
                own = declared(node)
                found = {n for n in found if n.lstrip("*&") not in own}
            self._changed[id(node)] = found
        return found

    def changed_by_call(self, node: Node) -> set[str]:
        """A called lambda, and variables given by reference."""
        if node.kind != "call":
            return set()
        if node.value is None:
            return {f"&{k.value}" for k in node.kids[:1] if k.kind == "name"}
        if node.value == "swap":
            return {n.value for n in node.kids if n.kind == "name"}
        return {f"&{node.value}"} | self.references_of(node)

    def references_of(self, node: Node) -> set[str]:
        raise NotImplementedError

    # -- lambdas
    def invoke(self, node: Node, callee: Node, args: list[Node]) -> Value:
        f = self.value(callee)
        values = [self.value(a) for a in args]
        if isinstance(f, Closure):
            return self.enter(f, values, args)
        return self.mixture([f, *values])

    def enter(self, f: Closure, values: list[Value], args: list[Node]) -> Value:
        """Call a lambda: its body in a scope inside the one it was written in."""
        body = f.node.kids[0] if f.node.kids else None
        if body is None or self.calls >= MAX_DEPTH:
            return self.mixture(values)
        self.entered.add(f.node.start)
        self._open.account(f)
        m = _LAMBDA_PARAMS.search(self.source.text, f.node.start, body.start)
        declared_ = [d.strip() for d in m.group(1).split(",")] if m else []
        params = [(w[-1], d) for d in declared_ if (w := re.findall(r"\w+", d))]
        outer = self.scope
        with self.frame(f.scope) as returned:
            self.bind(params, values, args, outer)
            self._sequence(body.kids)
        return self.merged(returned)

    def bind(
        self, params: Iterable[tuple[str, str]], values: list[Value], args: list[Node], outer: Scope
    ) -> None:
        """Parameters (name, declaration) of a call: copies, or other names of what is given by reference."""
        for (name, text), v, a in zip(params, values, args, strict=False):
            self._open.account(v)
            found = outer.resolve(a.value) if a.kind == "name" and "&" in text else None
            if found is not None:
                self.scope.refer(name, found)
                continue
            declared_type = text[: text.rfind(name)].replace("&", "").strip()
            made = v if declared_type in ("auto", "const auto", "") else self.convert(v, declared_type)
            self.scope.declare(name, made)
            if isinstance(made, Int):
                self.scope.types[name] = made.type
            self.name_pointer(name, made)

    @contextmanager
    def frame(self, parent: Scope) -> Iterator[list[tuple[Cond, Value]]]:
        """The body of a function or lambda; yields where its return values are collected."""
        returned: list[tuple[Cond, Value]] = []
        self.calls += 1
        self._frames.append((len(self.guards), returned))
        try:
            with self.block(parent):
                yield returned
        finally:
            self._frames.pop()
            self.calls -= 1

    def merged(self, returned: list[tuple[Cond, Value]]) -> Value:
        if not returned:
            return UNKNOWN
        self._open.operands.extend(v for _, v in returned if isinstance(v, (Ptr, Local, Closure, Address)))
        out = returned[-1][1]
        for c, v in reversed(returned[:-1]):
            out = self.select(c, v, out)
        return out

    def _return(self, node: Node) -> Cond:
        v = self.value(node.kids[0]) if node.kids else UNKNOWN
        if self._frames:
            start, returned = self._frames[-1]
            path = [g.cond for g in self.guards[start:] if not g.check]
            returned.append((Cond.join("and", path), v))
        return FALSE

    def _leave(self, node: Node) -> Cond:
        return FALSE


def _names(nodes: list[Node]) -> set[str]:
    """Every name mentioned."""
    out: set[str] = set()
    while nodes:
        n = nodes.pop()
        nodes.extend(n.kids)
        if n.kind == "name":
            out.add(n.value)
    return out


def _symbols(v: Int | Flag) -> frozenset[str]:
    return v.expr.symbols if isinstance(v, Int) else v.cond.symbols


_STATEMENTS: dict[str, Callable[[Flow, Node], Cond]] = {
    "block": Flow._block, "decl": Flow._decl, "decls": Flow._decls, "for": Flow._for, "if": Flow._if,
    "while": Flow._while, "switch": Flow._switch, "return": Flow._return, "break": Flow._leave,
    "continue": Flow._leave, "empty": Flow._empty, "other": Flow._unknown, "throw": Flow._leave,
    "null": Flow._empty,
}  # fmt: skip
