"""Statements of a Metal kernel: which accesses run under which condition."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ...cxx.nodes import Node
from ...model.kernel import Var
from ...model.record import record, replace
from ...symbolic import FALSE, Cond, ceildiv, opaque
from .expressions import Expressions
from .record import Record
from .values import ANYTHING, Value, integer, merged


@record(frozen=True)
class Exit:
    """When a statement does not run to its end: it leaves the kernel, or the loop around it."""

    kernel: Cond = FALSE
    loop: Cond = FALSE

    @property
    def any(self) -> Cond:
        return self.kernel | self.loop


STAYS = Exit()


class Body:
    """Walks the statements of one kernel into a record."""

    def __init__(self, record: Record) -> None:
        self.r = record
        self.x = Expressions(record)

    def run(self, node: Node) -> Exit:
        handler = _HANDLERS.get(node.kind)
        if handler is not None:
            return handler(self, node)
        self.r.sink(self.x.value(node))
        return STAYS

    # -- scopes
    def block(self, node: Node) -> Exit:
        outer, path = dict(self.r.env), self.r.path
        kernel, loop = FALSE, FALSE
        for k in node.kids:
            exit_ = self.run(k)
            if exit_ is STAYS:
                continue
            here = ~(kernel | loop)
            kernel, loop = kernel | (here & exit_.kernel), loop | (here & exit_.loop)
            self.r.path = self.r.path & ~exit_.any
            self.r.checks.update((~exit_.kernel).conjuncts())
        self.r.path = path
        for name in _declared(node.kids):
            if name in outer:
                self.r.env[name] = outer[name]
            else:
                self.r.env.pop(name, None)
        return STAYS if kernel is FALSE and loop is FALSE else Exit(kernel, loop)

    # -- assignments
    def decl(self, node: Node) -> Exit:
        name, type_ = node.value, node.type.removeprefix("const ").removeprefix("constexpr ").strip()
        shared = self.r.head(node).endswith("threadgroup")
        after = self.r.slice(node)[len(node.type) :].lstrip().removeprefix(name).lstrip()
        array = after.startswith("[")
        if shared:
            self.r.shared.add(name)
        if array or not node.kids:
            self.r.env[name] = Value(type_)
            return STAYS
        v = self.x.value(node.kids[-1])
        if v.base is not None:
            self.r.account(node)  # another name of the pointer
        elif not type_.startswith("auto"):
            v = self.x.math.convert(v, self.x.type_of(type_))
        self.r.env[name] = self.x.named(name, v)
        return STAYS

    def decls(self, node: Node) -> Exit:
        for k in node.kids:
            self.run(k)
        return STAYS

    def assign(self, node: Node) -> Exit:
        target, right = node.kids
        compound = node.value != "="
        v = self.x.value(right)
        if target.kind == "name":
            self._set(node, target.value, v)
            return STAYS
        place = self.x.place(target)
        if place is None:
            self._set_element(node, target, v)
            return STAYS
        index = target.kids[1] if target.kind == "index" else None
        if compound:
            number = self.r.access("load", place, target, index, None)
            assert place.base is not None
            v = merged(self.r.elements[place.base], v, place)
            del number
        self.r.access("store", place, target, index, v)
        return STAYS

    def _set(self, node: Node, name: str, v: Value) -> None:
        old = self.r.env.get(name, Value(""))
        if node.value != "=":
            v = self.x.math.binary(node.value[:-1], old, v)
        if name in self.r.shared:
            self.r.env[name] = merged(old.type, old, v)
            return
        if v.base is not None:
            self.r.account(node)
        elif old.type:
            v = self.x.math.convert(v, old.type)
        self.r.env[name] = v

    def _set_element(self, node: Node, target: Node, v: Value) -> None:
        """A component or an element of something local: it may now hold ``v`` too."""
        root = target
        parts = [v]
        while root.kind in ("index", "member") and root.kids:
            parts.extend(self.x.value(k) for k in root.kids[1:])
            root = root.kids[0]
        if root.kind != "name" or v.base is not None:
            self.r.give_up(node)
            return
        old = self.r.env.get(root.value, Value(""))
        self.r.env[root.value] = merged(old.type, old, *parts)

    def step(self, node: Node) -> Exit:
        """``++i`` as a statement."""
        target = node.kids[0] if node.kids else None
        if target is not None and target.kind == "name" and node.value in ("++", "--", "post++", "post--"):
            old = self.r.env.get(target.value, Value(""))
            self.r.env[target.value] = self.x.math.binary(node.value[-1], old, integer(1))
        elif target is not None and node.value.lstrip("post") in ("++", "--"):
            self.r.give_up(node)
        else:
            self.r.sink(self.x.value(node))
        return STAYS

    # -- branches
    def if_(self, node: Node) -> Exit:
        cond, c = self.x.condition(node.kids[0])
        self.r.sink(c)
        before = dict(self.r.env)
        then = self._arm(node.kids[1], cond)
        after_then = self.r.env
        self.r.env = dict(before)
        other = self._arm(node.kids[2], ~cond) if len(node.kids) > 2 else STAYS
        self._join(before, cond, c, after_then, then, other)
        if then is STAYS and other is STAYS:
            return STAYS
        return Exit((cond & then.kernel) | (~cond & other.kernel), (cond & then.loop) | (~cond & other.loop))

    def _arm(self, node: Node, cond: Cond) -> Exit:
        path = self.r.path
        self.r.path = path & cond
        self.r.masks += 1
        out = self.run(node)
        self.r.path = path
        self.r.masks -= 1
        return out

    def _join(
        self, before: dict[str, Value], cond: Cond, c: Value, a: dict[str, Value], ea: Exit, eb: Exit
    ) -> None:
        b = self.r.env
        if ea.any.kind == "const" and ea.any.truth:
            return  # only the other arm goes on
        if eb.any.kind == "const" and eb.any.truth:
            self.r.env = a
            return
        for name in before:
            va, vb = a[name], b[name]
            if va is vb:
                continue
            if name in self.r.shared:
                b[name] = merged(va.type, c, va, vb)
                continue
            joined = self.x.choose(cond, c, va, vb, va.type or vb.type)
            b[name] = self.x.named(name, joined)

    # -- loops
    def for_(self, node: Node) -> Exit:
        *head, body = node.kids
        counted = self._counted(head)
        if counted is None:
            return self.unread(node)
        name, var, value = counted
        changed = [n for n in _assigned(body, self._in_memory) if n in self.r.env and n != name]
        return self._repeat(body, changed, name, var, value)

    def _in_memory(self, name: str) -> bool:
        v = self.r.env.get(name)
        return v is not None and v.base is not None

    def _counted(self, head: list[Node]) -> tuple[str, Var, Value] | None:
        """The variable of ``for (T i = a; i < b; ++i)``: i is a + step * var."""
        if len(head) != 3 or head[0].kind != "decl" or head[1].kind != "bin" or not head[0].kids:
            return None
        decl, test, step = head
        name = decl.value
        by = _step_of(step, name)
        if test.kids[0].kind != "name" or test.kids[0].value != name or test.value not in ("<", "<=", "!="):
            return None
        start, stop = self.x.value(decl.kids[-1]), self.x.index(test.kids[1])
        if by is None or start.expr is None or stop.expr is None or (test.value == "!=" and by != 1):
            return None
        last = stop.expr + 1 if test.value == "<=" else stop.expr
        var = Var(name, ceildiv(last - start.expr, by), "loop")
        type_ = start.type if decl.type == "auto" else self.x.type_of(decl.type)
        self.r.sink(stop)
        e = start.expr + self.r.declare(var) * by
        return name, var, Value(type_, e, deps=start.deps | stop.deps | {name})

    def _repeat(self, body: Node, changed: list[str], name: str, var: Var, value: Value) -> Exit:
        first = {n: self.r.env[n] for n in changed}
        hidden = self.r.env.get(name)
        for n in changed:
            old = first[n]
            unknown = Value(old.type, base=old.base, deps=old.deps | {ANYTHING}, live=old.live)
            self.r.env[n] = self.x.named(n, unknown)
        self.r.env[name] = value
        self.r.loops = (*self.r.loops, var)
        self.r.masks += 1
        exit_ = self.run(body)
        self.r.masks -= 1
        self.r.loops = self.r.loops[:-1]
        self._after(first, name)
        self.r.env.pop(name)
        if hidden is not None:
            self.r.env[name] = hidden
        if name in exit_.kernel.symbols:
            return Exit(opaque(f"leaves the loop over {name} (line {self.r.loc(body).line})"))
        return STAYS if exit_.kernel is FALSE else Exit(exit_.kernel)

    def _after(self, first: dict[str, Value], name: str) -> None:
        """Variables a loop changes: unknown, depending on all that flowed into any of them."""
        last = [self.r.env[n] for n in first]
        flow = frozenset().union(*(v.deps for v in (*first.values(), *last))) - {ANYTHING, name}
        for n, old in first.items():
            both = merged(old.type, old, self.r.env[n])
            self.r.env[n] = self.x.named(n, replace(both, base=old.base, deps=flow))

    def return_(self, node: Node) -> Exit:
        for k in node.kids:
            self.r.sink(self.x.value(k))
        return Exit(kernel=~FALSE)

    def leave(self, node: Node) -> Exit:
        return Exit(loop=~FALSE)

    def nothing(self, node: Node) -> Exit:
        return STAYS

    def unread(self, node: Node) -> Exit:
        """A statement that is not understood: what it assigns is not known after it."""
        self.r.give_up(node)
        for name in _assigned(node, self._in_memory):
            if name in self.r.env:
                old = self.r.env[name]
                self.r.env[name] = self.x.named(
                    name, Value(old.type, base=old.base, deps=frozenset((ANYTHING,)))
                )
        return STAYS


def _declared(nodes: Iterable[Node]) -> Iterable[str]:
    for n in nodes:
        if n.kind == "decl":
            yield n.value
        elif n.kind == "decls":
            yield from _declared(n.kids)


def _assigned(node: Node, in_memory: Callable[[str], bool]) -> list[str]:
    """Names a statement changes; a store through a pointer does not change the pointer."""
    out: list[str] = []
    todo = [node]
    while todo:
        n = todo.pop()
        todo.extend(n.kids)
        if n.kind == "assign" or (n.kind == "un" and n.value in ("++", "--", "post++", "post--")):
            root = n.kids[0]
            while root.kind in ("index", "member") and root.kids:
                root = root.kids[0]
            if root.kind == "name" and (root is n.kids[0] or not in_memory(root.value)):
                out.append(root.value)
    return list(dict.fromkeys(out))


def _step_of(step: Node, name: str) -> int | None:
    if not step.kids or step.kids[0].kind != "name" or step.kids[0].value != name:
        return None
    if step.kind == "un" and step.value in ("++", "post++"):
        return 1
    if step.kind == "assign" and step.value == "+=" and step.kids[1].kind == "int":
        return step.kids[1].value if step.kids[1].value > 0 else None
    return None


_HANDLERS: dict[str, Callable[[Body, Node], Exit]] = {
    "block": Body.block, "decl": Body.decl, "decls": Body.decls, "assign": Body.assign, "if": Body.if_,
    "for": Body.for_, "return": Body.return_, "break": Body.leave, "continue": Body.leave,
    "empty": Body.nothing, "un": Body.step, "while": Body.unread, "switch": Body.unread,
}  # fmt: skip
