"""Template helpers of GEMM and attention kernels: inlined calls, unrolled lambdas, parallel ranges."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from ...cxx.nodes import Node, Text
from ...model.kernel import Param, Var, VarKind
from ...model.record import record
from ...symbolic import TRUE, Cond, Expr, const, floordiv, mod, sym
from .flow import MAX_DEPTH, Flow
from .loops import trip_count
from .record import AccessKind, lane_var
from .scope import Scope
from .values import UNKNOWN, Address, Closure, Flag, Int, Local, Ptr, Value, template_words


@record(frozen=True)
class Helper:
    """A function the kernel calls: parameter names with their declarations, template parameters with defaults."""

    params: tuple[tuple[str, str], ...]
    template: tuple[tuple[str, str], ...]
    body: Node


class Interpreter(Flow):
    """The whole of it: statements, and calls of the helpers of the same file."""

    def __init__(
        self, source: Text, params: Iterable[Param], vector_bytes: int | None, parallel: dict[int, int],
        helpers: dict[str, list[Callable[[], Helper | None]]], known: frozenset[str],
    ) -> None:  # fmt: skip
        super().__init__(source, params, vector_bytes, parallel)
        self.helpers = helpers
        self.known = known
        #: Helpers whose bodies were run, by where these start.
        self.inlined: dict[int, Helper] = {}
        self._range: tuple[Expr, Expr] | None = None
        self._counters: list[tuple[str, Expr]] = []

    # -- calls of named functions
    def function(self, name: str, node: Node, args: list[Node]) -> Value:
        handler = _TEMPLATES.get(name)
        if handler is not None:
            return handler(self, node, args)
        values = [self.value(a) for a in args]
        local = self.scope.get(name)
        if isinstance(local, Closure):
            self.seen.add(node.start)
            return self.enter(local, values, args)
        for make in self.helpers.get(name, ()):
            helper = make()
            if helper is not None and len(helper.params) == len(args) and self.calls < MAX_DEPTH:
                return self._inline(helper, node, args, values)
        self._unknown_call(name, node, args, values)
        return self.mixture(values)

    def _unknown_call(self, name: str, node: Node, args: list[Node], values: list[Value]) -> None:
        """A function that is not understood may touch all that its pointers reach, and change variables."""
        for v in values:
            if isinstance(v, (Ptr, Local, Closure, Address)):
                self.lose(v, node, f"{name or 'a call'} is not modelled")
                self._open.account(v)
        if name in self.known:
            return
        for a in args:
            found = self.scope.resolve(a.value) if a.kind == "name" else None
            if found is None or any(n == a.value for n, _ in self.names):
                continue
            if not isinstance(found[0].names[found[1]], Ptr):  # which is lost already
                self._changed_elsewhere(*found)

    def _inline(self, helper: Helper, node: Node, args: list[Node], values: list[Value]) -> Value:
        outer = self.scope
        self.inlined[helper.body.start] = helper
        words = template_words(node.type)
        given = [self._template_value(w) for w in words]
        steps, self.steps = self.steps, []
        self.depth += 1
        with self.frame(Scope()) as returned:
            for i, (name, default) in enumerate(helper.template):
                self.scope.names[name] = given[i] if i < len(given) else self._template_value(default)
            self.bind(helper.params, values, args, outer)
            self._sequence(helper.body.kids)
        self.depth -= 1
        self.steps = steps
        return self.merged(returned)

    def _template_value(self, word: str) -> Value:
        """A template argument: a literal, a name in scope, or a type (not followed)."""
        m = re.fullmatch(r"\s*(?:static_cast<\w+>\s*)?\(?\s*(-?\w+?)L*\s*\)?\s*", word)
        if not m:
            return UNKNOWN
        if m.group(1) in ("true", "false"):
            return Flag(Cond("const", truth=m.group(1) == "true"))
        try:
            return Int(const(int(m.group(1), 0)))
        except ValueError:
            return self.scope.get(m.group(1)) or UNKNOWN

    def references_of(self, node: Node) -> set[str]:
        """Variables that a helper is given by reference."""
        out: set[str] = set()
        for make in self.helpers.get(node.value, ()):
            helper = make()
            if helper is not None and len(helper.params) == len(node.kids):
                for (_, text), a in zip(helper.params, node.kids, strict=True):
                    if "&" in text and "const" not in text and a.kind == "name":
                        out.add(a.value)
        return out

    def _swap(self, node: Node, args: list[Node]) -> Value:
        places = [self.place(a) for a in args]
        values = [self.held_at(p, a) for p, a in zip(places, args, strict=True)]
        for p, v in zip(places, reversed(values), strict=True):
            self.put(p, v, node)
        return UNKNOWN

    # -- unrolled lambdas
    def _forced_unroll(self, node: Node, args: list[Node]) -> Value:
        """``ForcedUnroll<n>{}(f, args)``: f(0, args) .. f(n-1, args)."""
        if len(args) < 2 or args[0].value != "ForcedUnroll":
            return UNKNOWN
        self.unroll(args[0], args[1], args[2:], node)
        return UNKNOWN

    def unroll(self, head: Node, f: Node, args: list[Node], node: Node) -> None:
        count = self._unroll_count(head)
        closure = self.value(f)
        values = [self.value(a) for a in args]
        if not isinstance(closure, Closure):
            self.skip(node)
            return
        var = Var(self.unique("i"), count, "loop")
        index = sym(var.name) if count != 1 else const(0)
        with self.iteration(var, "i", index):
            changed = self.havoc(closure.node, set())
            self.enter(closure, [Int(index), *values], [head, *args])
        self._settle(changed, var.name)

    def _unroll_count(self, head: Node) -> Expr:
        if head.kids and head.kids[0].kind != "init":
            return self.integer(self.value(head.kids[0]))
        words = template_words(head.type)
        return self.integer(self._template_value(words[0]) if words else UNKNOWN)

    def invoke(self, node: Node, callee: Node, args: list[Node]) -> Value:
        if callee.kind == "construct" and callee.value == "ForcedUnroll" and args:
            self.unroll(callee, args[0], args[1:], node)
            return UNKNOWN
        return super().invoke(node, callee, args)

    # -- parallel ranges
    def _parallel_for(self, node: Node, args: list[Node]) -> Value:
        """``parallel_for(begin, end, grain, f)``: the chunks together are the whole range."""
        begin, end = (self.integer(self.value(a)) for a in args[:2])
        f = self.value(args[-1])
        if isinstance(f, Closure):
            self._range, outer = (begin, end), self._range
            self.enter(f, [Int(begin), Int(end)], args[:2])
            self._range = outer
        return UNKNOWN

    def _index_init(self, node: Node, args: list[Node]) -> Value:
        """``data_index_init(n, i, I, j, J, ..)``: i, j, .. are the digits of n, the last one fastest."""
        pairs = list(zip(args[1::2], args[2::2], strict=False))
        self._counters = [(a.value, self.integer(self.value(b))) for a, b in pairs if a.kind == "name"]
        self._digits(self.integer(self.value(args[0])))
        return UNKNOWN

    def _digits(self, number: Expr) -> None:
        for name, size in reversed(self._counters):
            digit = mod(number, size) if name != self._counters[0][0] else number
            self.scope.set(name, Int(digit))
            number = floordiv(number, size)

    def _index_step(self, node: Node, args: list[Node]) -> Value:
        return UNKNOWN

    def range_for(self, node: Node) -> Cond:
        """``for (auto z : irange(a, b))``."""
        if len(node.kids) != 3 or node.kids[1].value != "irange":
            self.skip(node)
            self._repeat(node, node.kids[-1])
            return TRUE
        decl, bounds, body = node.kids
        limits = [self.integer(self.value(a)) for a in bounds.kids]
        start, stop = (limits[0], limits[1]) if len(limits) > 1 else (const(0), limits[0])
        kind: VarKind = "parallel" if self._range == (start, stop) else "loop"
        var = Var(self.unique(decl.value), trip_count(stop - start, const(1)), kind)
        value = start + sym(var.name) if var.extent != 1 else start
        with self.iteration(var, decl.value, value), self.block():
            changed = self.havoc(body, set())
            self.scope.declare(decl.value, Int(value))
            self._digits(value)
            self.run(body)
        counters = [x for n, _ in self._counters if (x := self.scope.resolve(n)) is not None]
        self._settle([*changed, *counters], var.name)
        return TRUE

    # -- matrices
    def _brgemm(self, node: Node, args: list[Node]) -> Value:
        """``brgemm(M, N, K, lda, ldb, ldc, add, A, B, C, ..)``."""
        if len(args) < 10:
            return UNKNOWN
        m, n, k, lda, ldb, ldc = (self.integer(self.value(a)) for a in args[:6])
        a, b, c = (self.value(x) for x in args[7:10])
        self.block_access(a, "load", args[7], m, k, lda)
        self.block_access(b, "load", args[8], k, n, ldb)
        self.block_access(c, "load", args[9], m, n, ldc)
        self.block_access(c, "store", args[9], m, n, ldc, stored=self.mixture([a, b]))
        return UNKNOWN

    def _map(self, node: Node, args: list[Node]) -> Value:
        """``map(f, out, in, .., size)``."""
        count = self.integer(self.value(args[-1]))
        values = [self.value(a) for a in args[1:-1]]
        for i, v in reversed(list(enumerate(values))):
            if isinstance(v, Ptr) and not isinstance(v.base, Local):
                stored = self.mixture(values[1:]) if i == 0 else None
                kind: AccessKind = "load" if i else "store"
                self.record(v, kind, args[i + 1], lanes=(lane_var(count),), stored=stored)
        return UNKNOWN

    def _cache_blocking(self, node: Node, args: list[Node]) -> Value:
        """Chooses numbers of blocks at run time, ``.., Mt, Nt, Kt, Mc, Nc, Kc, ..``.

        Rows and columns are covered whatever the choice, so one block of all of them stands for any number;
        of the blocks along K the first overwrites and the others accumulate, so their size is left open.
        """
        for whole, chosen in zip(args[7:9], args[10:12], strict=False):
            if chosen.kind == "name":
                self.scope.set(chosen.value, self.value(whole))
        if len(args) > 12 and args[12].kind == "name":
            name = args[12].value
            self.scope.set(name, Int(self.fresh(None, frozenset(), label=name, lo=1)))
        return UNKNOWN


_TEMPLATES: dict[str, Callable[[Interpreter, Node, list[Node]], Value]] = {
    "swap": Interpreter._swap,
    "ForcedUnroll": Interpreter._forced_unroll, "parallel_for": Interpreter._parallel_for,
    "data_index_init": Interpreter._index_init, "data_index_step": Interpreter._index_step,
    "brgemm": Interpreter._brgemm, "map": Interpreter._map,
    "mm_get_cache_blocking": Interpreter._cache_blocking,
}  # fmt: skip
