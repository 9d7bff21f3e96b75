"""Statements of a C++ kernel: declarations, loops, branches, lambdas."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from ...cxx.nodes import Node, Text
from ...model.dtypes import from_cxx
from ...model.kernel import Param, Var, VarKind
from ...symbolic import FALSE, TRUE, Cond, compare, const, maximum, sym
from .calls import Calls
from .loops import Plan, declared, inner_loop, leaves, loop_parts, positive_symbol, target, trip_count
from .scope import Guard, Scope
from .values import (
    UNKNOWN,
    Closure,
    Flag,
    Int,
    Local,
    Opaque,
    Ptr,
    Value,
    int_compare,
    is_integer,
)

_ARRAY = re.compile(r"\b(?:std::)?(?:array|vector)\s*<\s*([\w:]+)")
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

    def run(self, node: Node) -> Cond:
        handler = _STATEMENTS.get(node.kind)
        if handler is not None:
            return handler(self, node)
        self.value(node)
        return TRUE

    def range_for(self, node: Node) -> Cond:
        raise NotImplementedError

    # -- blocks and declarations
    def _block(self, node: Node) -> Cond:
        with self.block():
            return self._sequence(node.kids)

    def _sequence(self, nodes: list[Node]) -> Cond:
        reached = TRUE
        for n in nodes:
            c = self.run(n)
            if c.kind == "const":
                if not c.truth:
                    return FALSE
                continue
            self.guards.append(Guard(c))
            reached = reached & c
        return reached

    def _decl(self, node: Node) -> Cond:
        outer, self.label = self.label, node.value
        try:
            self.scope.names[node.value] = self._initial(node)
        finally:
            self.label = outer
        return TRUE

    def _initial(self, node: Node) -> Value:
        name, type_, kids = node.value, node.type, node.kids
        array = _ARRAY.search(type_)
        if array or self._is_array(node):
            local = Local(name, from_cxx(array.group(1) if array else type_), len(self.guards))
            items = kids[0].kids if len(kids) == 1 and kids[0].kind == "init" else kids
            if array and len(items) == 1 and self.text(node).endswith("}"):
                local.content = self.value(items[0])
            return local
        if not kids:
            dtype = from_cxx(type_)
            return Int(self.fresh(dtype, frozenset())) if is_integer(dtype) else UNKNOWN
        v = self.value(kids[-1])
        return v if type_ == "auto" else self.convert(v, type_)

    def _is_array(self, node: Node) -> bool:
        text = self.source.text
        after = text.find(node.value, node.start + len(node.type)) + len(node.value)
        return text[after : after + 1] == "[" and text.find("=", after, node.end) < 0

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
            self.havoc(node, set())
            self.value(node)
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
            return self.run(arms[0])
        if yes.cond == FALSE:
            with self.given(no):
                return self.run(arms[1]) if len(arms) > 1 else TRUE
        changed = [n for n in self.changes(node) if self.scope.find(n)]  # arrays change in place
        before = {n: self.scope.get(n) for n in changed}
        with self.given(yes):
            c = self.run(arms[0])
        after = {n: self.scope.get(n) for n in changed}
        self._restore(before)
        with self.given(no):
            d = self.run(arms[1]) if len(arms) > 1 else TRUE
        for n in changed:
            a, b = after[n], self.scope.get(n)
            if a is not None and b is not None and a is not b:
                self.scope.set(n, b if c == FALSE else a if d == FALSE else self.select(yes.cond, a, b))
        if c == TRUE and d == TRUE:
            return TRUE
        return (yes.cond & c) | (no.cond & d)

    def _restore(self, values: dict[str, Value | None]) -> None:
        for n, v in values.items():
            if v is not None:
                self.scope.set(n, v)

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
                elif arm is not None:
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

    def _plan(self, node: Node) -> Plan | None:
        init, test, step = loop_parts(node)
        if test is None or step is None:
            return None
        if init is not None:
            self.run(init)
        name = test.kids[0].value
        start = self.scope.get(name)
        if not isinstance(start, Int):
            return None
        by = const(1)
        if step.kind == "assign":
            by = self.integer(self.value(step.kids[1]))
        stop = self.integer(self.value(test.kids[1]))
        return Plan(name, start.expr, stop + 1 if test.value == "<=" else stop, by)

    def loop(self, plan: Plan, node: Node, kind: VarKind, body: Callable[[], Cond]) -> None:
        """Run ``body`` for one iteration that stands for all of them.

        A step chosen at run time is taken to be 1: the counter is any number of the range.
        """
        by = const(1) if self.from_memory(plan.step) else plan.step
        extent = trip_count(plan.stop - plan.start, by)
        if extent == 0:
            return
        plain = by == 1 and plan.start == 0
        var = Var(self.unique(plan.name if plain else f"{plan.name}.i"), extent, kind)
        value = plan.start + by * sym(var.name) if extent != 1 else plan.start
        step = plan.step.value
        if step is not None and step > 1:
            self.steps.append(step)
        with self.iteration(var, plan.name, value, positive_symbol(extent)), self.block():
            self.scope.names[plan.name] = Int(value)
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
        with self.block(), self.given(Guard(self.unknown_cond(node, frozenset()))):
            changed = self.havoc(node, set())
            self.run(body)
        self._settle(changed, "")

    def _while(self, node: Node) -> Cond:
        self.skip(node, "the loop does not count")
        self._repeat(node, node.kids[-1])
        return TRUE

    def _settle_counter(self, plan: Plan, node: Node) -> None:
        if self.scope.find(plan.name) is not None and node.kids[0].kind != "decl":
            turns = maximum(0, trip_count(plan.stop - plan.start, plan.step))
            self.scope.set(plan.name, Int(plan.start + plan.step * turns))

    # -- variables that change
    def havoc(self, node: Node, keep: set[str]) -> list[str]:
        """Forget the values of outer variables that a repeated statement assigns; their names."""
        deps = frozenset(v.name for v in self.vars)
        out = []
        for name in self.changes(node) - keep:
            scope = self.scope.find(name.lstrip("*"))
            if scope is None:
                continue
            old = scope.names[name.lstrip("*")]
            if name.startswith("*"):
                array = old.base if isinstance(old, Ptr) else old
                if not isinstance(array, Local):
                    continue
                self._forgotten(name, array, deps)
            else:
                scope.names[name] = self._forgotten(name, old, deps)
            out.append(name)
        return out

    def _forgotten(self, name: str, v: Value, deps: frozenset[str]) -> Value:
        if isinstance(v, Local):
            v.content = None
            v.deps |= deps
            return v
        if isinstance(v, Flag):
            return Flag(compare("!=", self.fresh("bool", deps, label=name), 0))
        if isinstance(v, Int):
            return Int(self.fresh(None, deps, label=name))
        if isinstance(v, Ptr):
            return Ptr(v.base, self.fresh(None, deps, label=name))
        return Opaque(self.deps_of(v) | deps)

    def _settle(self, names: list[str], var: str) -> None:
        """After a loop: what was computed in it no longer varies with it."""
        for name in names:
            v = self.scope.get(name.lstrip("*"))
            if isinstance(v, Ptr) and isinstance(v.base, Local):
                v = v.base
            if v is None or isinstance(v, Closure):
                continue
            if isinstance(v, Local):
                v.deps -= {var}
                if isinstance(v.content, (Int, Flag)) and var in _symbols(v.content):
                    v.content = None
            elif isinstance(v, Opaque):
                self.scope.set(name, Opaque(v.deps - {var}))
            elif var in self.deps_of(v):
                forgotten = self._forgotten(name, v, self.deps_of(v) - {var})
                self.scope.set(name, forgotten)

    def changes(self, node: Node) -> set[str]:
        """Names a statement assigns; those of arrays and pointers it stores through with a ``*``."""
        found = self._changed.get(id(node))
        if found is None:
            found = set()
            for k in node.kids:
                found |= self.changes(k)
            name = target(node)
            if name:
                found.add(name)
            if node.kind in ("block", "for"):
                own = declared(node)
                found = {n for n in found if n.lstrip("*") not in own}
            self._changed[id(node)] = found
        return found

    # -- lambdas
    def invoke(self, node: Node, callee: Node, args: list[Node]) -> Value:
        f = self.value(callee)
        values = [self.value(a) for a in args]
        if isinstance(f, Closure):
            return self.enter(f, values)
        return self.mixture([f, *values])

    def enter(self, f: Closure, values: list[Value]) -> Value:
        """Call a lambda: its body in a scope inside the one it was written in."""
        body = f.node.kids[0] if f.node.kids else None
        if body is None or self.calls >= MAX_DEPTH:
            return self.mixture(values)
        m = _LAMBDA_PARAMS.search(self.source.text, f.node.start, body.start)
        names = re.findall(r"(\w+)\s*(?:,|\Z)", m.group(1)) if m else []
        with self.frame(f.scope) as returned:
            self.scope.names.update(zip(names, values, strict=False))
            self._sequence(body.kids)
        return self.merged(returned)

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


def _symbols(v: Int | Flag) -> frozenset[str]:
    return v.expr.symbols if isinstance(v, Int) else v.cond.symbols


_STATEMENTS: dict[str, Callable[[Flow, Node], Cond]] = {
    "block": Flow._block, "decl": Flow._decl, "decls": Flow._decls, "for": Flow._for, "if": Flow._if,
    "while": Flow._while, "switch": Flow._switch, "return": Flow._return, "break": Flow._leave,
    "continue": Flow._leave, "empty": Flow._empty, "other": Flow._unknown, "throw": Flow._leave,
    "null": Flow._empty,
}  # fmt: skip
