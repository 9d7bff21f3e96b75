"""A Metal kernel to the kernel language: statements and declarations; what is not known becomes opaque."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from ...cxx.nodes import Node
from .. import ir
from .expressions import Expressions
from .scope import Scope
from .signature import Signature
from .types import dtype_of, result_type

_DECLTYPE = re.compile(r"decltype\s*\((.*)\)\Z", re.S)


def lower(text: str, base: int, body: Node, s: Signature, broken: tuple[int, ...] = ()) -> ir.Program:
    """The program of a kernel function: ``body`` lies at ``base`` in its unit; ``broken`` are offsets of errors."""
    scope = Scope(text, base)
    for name in (*s.pointers, *s.scalars, *s.others, *(a.cell for a in s.axes)):
        scope.parameter(name)
    low = Lowering(scope)
    unknown = tuple(
        ir.Declare(n, n, d, ir.Unknown(n, (), (0, 0), d, pure=True) if d else None, (0, 0))
        for n, d in s.others.items()
    )
    block = low.block(body)
    return ir.Program(
        text, tuple(s.params), tuple(s.pointers.items()), tuple(s.scalars.items()), tuple(s.axes),
        ir.Block((*unknown, *block.body), block.at), result_type, tuple(scope.shown.items()),
        tuple(scope.cells_named(scope.distrusted | set(_names_at(text, broken, s.pointers)))),
    )  # fmt: skip


_CHANGED = r"\b{}\b\s*(?:[-+*/%&|^]|<<|>>)?=(?!=)|(?:\+\+|--|&)\s*{}\b|\b{}\s*(?:\+\+|--)"


def _names_at(text: str, offsets: tuple[int, ...], pointers: Iterable[str]) -> Iterator[str]:
    """Names in the statements at some offsets: a compiler drops what it can't read, assignments included.

    A pointer parameter goes on to point where it did, unless it is one of those assigned.
    """
    for o in offsets:
        start = max(text.rfind(c, 0, o) for c in ";{}") + 1
        end = text.find(";", o)
        statement = text[start : end if end >= 0 else len(text)]
        for name in re.findall(r"[A-Za-z_]\w*", statement):
            if name not in pointers or re.search(_CHANGED.format(name, name, name), statement):
                yield name


class Lowering:
    """Statements of one kernel."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.x = Expressions(scope)

    def statement(self, n: Node) -> ir.Statement:
        handler = _HANDLERS.get(n.kind)
        if handler is not None:
            return handler(self, n)
        text = self.scope.slice(n)
        if n.kind == "other" and re.match(r"do\b", text) and len(n.kids) == 2:
            return ir.Loop(
                self.x.value(n.kids[1]), (), self.scoped(n.kids[0]), self.scope.span(n), first=True
            )
        if n.kind in ("other", "case", "default", "throw"):
            return self.opaque(n)
        if n.kind == "call" and n.value in ("threadgroup_barrier", "simdgroup_barrier"):
            return ir.Barrier(str(n.value).removesuffix("_barrier"), self.scope.span(n))
        return ir.Evaluate(self.x.value(n), self.scope.span(n))

    def opaque(self, n: Node) -> ir.Statement:
        text = self.scope.slice(n)
        if re.search(
            r"\bgoto\b", text
        ):  # what stands after its label runs with other values than it seems to
            self.scope.distrust_all()
        return ir.Opaque(text, self.scope.span(n), tuple(self.scope.mentioned(text)))

    def block(self, n: Node) -> ir.Block:
        kids = n.kids if n.kind == "block" else [n]
        self.scope.enter()
        body = tuple(self.statement(k) for k in kids)
        self.scope.leave()
        return ir.Block(body, self.scope.span(n))

    def scoped(self, n: Node) -> ir.Statement:
        return self.block(n)

    # -- declarations
    def decl(self, n: Node) -> ir.Statement:
        s = self.scope
        at, name = s.span(n), str(n.value)
        type_ = n.type.removeprefix("constexpr ").removeprefix("const ").strip()
        after = s.slice(n)[len(n.type) :].lstrip().removeprefix(name).lstrip()
        shared = s.head(n).endswith("threadgroup") or "threadgroup" in n.type.split()
        if after.startswith("["):
            return self._array(n, name, type_, shared)
        value = self.x.value(n.kids[-1]) if n.kids else None
        if type_.endswith("&") and n.kids:
            return self._reference(n, name, n.kids[-1])
        if type_.startswith("auto") or type_.endswith("*"):
            return ir.Declare(s.declare(name), name, None if value is not None else "", value, at)
        m = _DECLTYPE.match(type_)
        if m is not None and value is not None:
            return ir.Declare(s.declare(name), name, None, self.x.common(value, m[1], at), at)
        return ir.Declare(s.declare(name), name, dtype_of(type_), value, at, shared=shared)

    def _array(self, n: Node, name: str, type_: str, shared: bool) -> ir.Statement:
        s = self.scope
        head, _, _ = s.slice(n).partition("=")
        close = n.start + head.rfind("]")
        dims = [self.x.value(k) for k in n.kids if k.start < close]
        values = [self.x.value(k) for k in n.kids if k.start >= close]
        written = re.findall(r"\[([^\]]*)\]", head)
        length: ir.Expr | None = None
        if len(dims) == len(written):
            for d in dims:
                length = d if length is None else ir.Binary("*", length, d, s.span(n))
        cell = s.declare(name)
        s.dims[cell] = dims if len(dims) == len(written) else []
        value = ir.Sequence(tuple(values), s.span(n)) if values else None
        return ir.Declare(cell, name, dtype_of(type_), value, s.span(n), length, shared, array=True)

    def _reference(self, n: Node, name: str, target: Node) -> ir.Statement:
        """Another name of a variable, or of an element: then a pointer to it."""
        s = self.scope
        if target.kind == "name" and s.find(str(target.value)) is not None:
            s.alias(name, str(target.value))
            return ir.Block((), s.span(n))
        place = self.x.place(target)
        if place is None:
            s.distrusted.add(name)
            return ir.Declare(s.declare(name), name, "", self.x.value(target), s.span(n))
        cell = s.declare(name)
        s.through.add(cell)
        return ir.Declare(cell, name, None, ir.AddressOf(place, s.span(target)), s.span(n))

    def decls(self, n: Node) -> ir.Statement:
        return ir.Block(tuple(self.statement(k) for k in n.kids), self.scope.span(n))

    # -- branches and loops
    def if_(self, n: Node) -> ir.Statement:
        s = self.scope
        if len(n.kids) not in (2, 3) or n.kids[0].kind in ("decl", "decls"):
            return self.opaque(n)
        cond = self.x.value(n.kids[0])
        then = self.scoped(n.kids[1])
        other = self.scoped(n.kids[2]) if len(n.kids) > 2 else None
        return ir.If(cond, then, other, s.span(n))

    def for_(self, n: Node) -> ir.Statement:
        s = self.scope
        parts = _head(s.slice(n))
        if parts is None or not n.kids:
            return self.opaque(n)
        first, second, end = (n.start + p for p in parts)
        *head, body = n.kids
        init = [k for k in head if k.start < first]
        test = [k for k in head if first <= k.start < second]
        step = [k for k in head if second <= k.start < end]
        if len(init) + len(test) + len(step) != len(head) or body.start < end or len(test) > 1:
            return self.opaque(n)
        s.enter()
        start = tuple(self.statement(k) for k in init)
        loop = ir.Loop(
            self.x.value(test[0]) if test else None,
            tuple(self.x.value(k) for k in step), self.scoped(body), s.span(n),
        )  # fmt: skip
        s.leave()
        return ir.Block((*start, loop), s.span(n))

    def while_(self, n: Node) -> ir.Statement:
        if len(n.kids) != 2 or n.kids[0].kind in ("decl", "decls"):
            return self.opaque(n)
        return ir.Loop(self.x.value(n.kids[0]), (), self.scoped(n.kids[1]), self.scope.span(n))

    def switch(self, n: Node) -> ir.Statement:
        """A switch whose arms each end in ``break`` or ``return``, as a chain of branches."""
        arms = _arms(n)
        if arms is None:
            return self.opaque(n)
        s = self.scope
        at = s.span(n)
        s.enter()
        picked = s.declare("switched")
        head = ir.Declare(picked, "switched", None, self.x.value(n.kids[0]), at)
        chain: ir.Statement | None = None
        default: ir.Statement | None = None
        for values, body in reversed(arms):
            run = ir.Block(tuple(self.statement(k) for k in body), at)
            if not values:
                default = run
                continue
            tests: list[ir.Expr] = [
                ir.Compare("==", ir.Cell(picked, at), self.x.value(v), at) for v in values
            ]
            test = tests[0]
            for t in tests[1:]:
                test = ir.Logic("||", test, t, at)
            chain = ir.If(test, run, chain if chain is not None else _LAST, at)
        s.leave()
        return ir.Block((head, _with_default(chain, default)), at)

    def leave(self, n: Node) -> ir.Statement:
        value = self.x.value(n.kids[0]) if n.kids else None
        return ir.Leave(n.kind, self.scope.span(n), value)  # type: ignore[arg-type]

    def nothing(self, n: Node) -> ir.Statement:
        return ir.Block((), self.scope.span(n))


_LAST = ir.Block((), (0, 0))


def _with_default(chain: ir.Statement | None, default: ir.Statement | None) -> ir.Statement:
    """The chain with what runs where no test holds at its end."""
    if not isinstance(chain, ir.If):
        return default or _LAST
    rest = chain.other if isinstance(chain.other, ir.If) else None
    return ir.If(chain.cond, chain.then, _with_default(rest, default), chain.at)


def _arms(n: Node) -> list[tuple[list[Node], list[Node]]] | None:
    """(values, statements) of the arms, none for ``default``; None when control falls from one into the next."""
    if len(n.kids) != 2 or n.kids[1].kind != "block":
        return None
    arms: list[tuple[list[Node], list[Node]]] = []
    for k in n.kids[1].kids:
        labels: list[Node] = []
        plain = False
        while k.kind in ("case", "default"):
            if k.kind == "case":
                if len(k.kids) != 2:
                    return None
                labels.append(k.kids[0])
            elif len(k.kids) == 1:
                plain = True
            else:
                return None
            k = k.kids[-1]
        if plain and labels:
            return None
        if labels or plain:
            arms.append((labels, [k]))
        elif not arms:
            return None
        else:
            arms[-1][1].append(k)
    for i, (_, body) in enumerate(arms):
        last = body[-1]
        if last.kind == "block" and len(body) == 1 and last.kids:
            body[:] = last.kids
            last = body[-1]
        if last.kind == "break":
            body.pop()
        elif last.kind != "return" and i < len(arms) - 1:
            return None
        if any(_breaks(k) for k in body):
            return None
    return arms


def _breaks(n: Node) -> bool:
    """Whether a statement holds a ``break`` of what is around it."""
    return n.kind == "break" or (n.kind not in ("for", "while", "switch") and any(_breaks(k) for k in n.kids))


def _head(text: str) -> tuple[int, int, int] | None:
    """Where the two semicolons and the closing bracket of a ``for`` are."""
    depth = 0
    found: list[int] = []
    for i, ch in enumerate(text):
        if ch in "([{":
            depth += 1
        elif ch in ")]}":
            depth -= 1
            if depth == 0:
                return (found[0], found[1], i) if len(found) == 2 else None
        elif ch == ";" and depth == 1:
            found.append(i)
    return None


_HANDLERS: dict[str, Callable[[Lowering, Node], ir.Statement]] = {
    "block": Lowering.block, "decl": Lowering.decl, "decls": Lowering.decls, "if": Lowering.if_,
    "for": Lowering.for_, "while": Lowering.while_, "switch": Lowering.switch, "return": Lowering.leave,
    "break": Lowering.leave, "continue": Lowering.leave, "empty": Lowering.nothing,
}  # fmt: skip
