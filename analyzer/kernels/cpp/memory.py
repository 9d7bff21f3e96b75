"""Memory forms of a C++ kernel: element and vector accesses, masked loads, transposes, atomics, local arrays."""

from __future__ import annotations

import re

from ...cxx.nodes import Node
from ...model.kernel import Var
from ...symbolic import TRUE, Cond, Expr, as_expr, compare, const, sym
from .expressions import Evaluator
from .record import AccessKind, lane_var
from .values import LANE, ROW, UNKNOWN, Flag, Int, Local, Opaque, Ptr, Value, template_words

_NO_WIDTH = "the number of lanes of a vector access without a count is not known"


class Memory(Evaluator):
    """Loads and stores."""

    # -- elements
    def load(self, ptr: Ptr, node: Node) -> Value:
        if isinstance(ptr.base, Local):
            return self.element(ptr.base, ptr.offset)
        self.record(ptr, "load", node, text=_index_of(node))
        return self._loaded(ptr, self.deps_of(ptr))

    def _loaded(self, ptr: Ptr, deps: frozenset[str]) -> Value:
        if isinstance(ptr.base, Local):
            return self.typed(ptr.base.dtype, deps | ptr.base.deps)
        param = self.params.get(ptr.base)
        return self.typed(param.dtype if param else None, deps)

    def store(self, ptr: Ptr, v: Value, node: Node, kind: AccessKind = "store") -> None:
        if isinstance(ptr.base, Local):
            self.fill(ptr.base, ptr.offset, v)
        else:
            self.record(ptr, kind, node, stored=v, text=_index_of(node))

    def fill(self, array: Local, number: Expr, v: Value) -> None:
        """An element of a local array is assigned. A loop over all elements makes it a vector."""
        array.deps |= self.deps_of(v)
        name = next(iter(number.symbols), "")
        once = bool(self.names) and self.names[-1][1] == number and number.value is not None
        if not once and (number != sym(name) or not any(x.name == name for x in self.vars)):
            array.content = None
            return
        array.deps = (array.deps - {name}) | {LANE}
        since = [g.cond for g in self.guards[array.depth :] if not g.check and g.lanes is None]
        if once:  # a loop over one element has no variable
            since.append(compare("==", sym(LANE), number))
        if since:  # the other elements hold anything
            v = self.select(Cond.join("and", since), v, self.typed(array.dtype, frozenset()))
        array.content = self.to_lanes(v, name)

    # -- assignments
    def assign(self, node: Node) -> Value:
        target = node.kids[0]
        outer = self.label
        if not outer:
            self.label = _base_name(target)
        try:
            return self._assigned(node, target)
        finally:
            self.label = outer

    def _assigned(self, node: Node, target: Node) -> Value:
        if node.kind == "un":
            v = self.binary(node.value[-1], self.value(target), Int(const(1)), node)
        else:
            v = self.value(node.kids[1])
            if node.value != "=":
                v = self.binary(node.value[:-1], self.value(target), v, node)
        self._put(target, v)
        return v

    def _put(self, target: Node, v: Value) -> None:
        if target.kind == "name":
            old = self.scope.get(target.value)
            if isinstance(old, Int) and isinstance(v, Opaque):  # the declared type is an integer
                v = Int(self.integer(v))
            self.scope.set(target.value, v)
        elif target.kind == "index":
            base = self.value(target.kids[0])
            number = self.integer(self.value(target.kids[1]))
            if isinstance(base, Ptr):
                self.store(Ptr(base.base, base.offset + number), v, target)
            elif isinstance(base, Local):
                self.fill(base, number, v)
            elif target.kids[0].kind == "name":  # one register of several
                self.scope.set(target.kids[0].value, self.mixture([base, v]))
        elif target.kind == "un" and target.value == "*":
            base = self.value(target.kids[0])
            if isinstance(base, Ptr):
                self.store(base, v, target)
        elif target.kind == "member" and target.kids and target.kids[0].kind == "name":
            name = target.kids[0].value
            self.scope.set(name, self.mixture([self.scope.get(name) or UNKNOWN, v]))

    # -- vectors
    def vector_load(
        self, ptr: Value, count: Expr | int | None, node: Node, at: Node, mask: Cond = TRUE
    ) -> Value:
        """``count`` elements from a pointer on; lanes outside ``mask`` are not touched."""
        if not isinstance(ptr, Ptr):
            return self.mixture([ptr, Flag(mask)])
        if isinstance(ptr.base, Local):
            array = ptr.base
            if array.content is not None and ptr.offset == 0:
                return array.content
            return self._loaded(ptr, self.deps_of(ptr) | {LANE})
        used = self.mask if mask.kind == "const" else TRUE
        where_ = _index_of(at)
        if count is None:
            self.record(ptr, "load", node, reason=_NO_WIDTH, text=where_)
        else:
            self.record(ptr, "load", node, lanes=(lane_var(count),), mask=mask, used=used, text=where_)
        deps = self.deps_of(ptr) | self.deps_of(Flag(mask)) | {LANE}
        return self._loaded(ptr, deps)

    def vector_store(self, ptr: Value, v: Value, count: Expr | None, node: Node, at: Node) -> None:
        if not isinstance(ptr, Ptr):
            return
        if isinstance(ptr.base, Local):
            array = ptr.base
            array.content = v if ptr.offset == 0 and isinstance(v, (Int, Flag)) else None
            array.deps |= self.deps_of(v) | {LANE}
            return
        lanes = count if count is not None else self.width()
        if lanes is None:
            self.record(ptr, "store", node, reason=_NO_WIDTH, text=_index_of(at))
        else:
            self.record(ptr, "store", node, lanes=(lane_var(lanes),), stored=v, text=_index_of(at))

    def vector_atomic(
        self, ptr: Value, number: Value, v: Value, count: Expr | int | None, node: Node
    ) -> None:
        """``atomic_add_vec``: every lane adds to its own element."""
        if not isinstance(ptr, Ptr) or isinstance(ptr.base, Local):
            return
        if count is None:
            self.record(ptr, "atomic", node, reason=_NO_WIDTH)
            return
        index = ptr.offset + self.integer(number)
        self.record(ptr, "atomic", node, lanes=(lane_var(count),), index=index, stored=v)

    # -- blocks
    def transpose(self, node: Node, args: list[Value], nodes: list[Node]) -> None:
        """``transpose_mxn``: reads ``src[row*ld_src + lane]`` and writes ``dst[lane*ld_dst + row]``."""
        words = [w.strip() for w in template_words(node.type)]
        rows: Expr | None
        columns: Expr | None
        if len(args) >= 6:
            rows, columns = self.integer(args[4]), self.integer(args[5])
        else:
            rows, columns = _literal(words, 1), _literal(words, 2)
        if rows is None or columns is None:
            why = "the size of the transposed block is not known"
            if isinstance(args[0], Ptr):
                self.record(args[0], "load", node, reason=why)
            if isinstance(args[2], Ptr):
                self.record(args[2], "store", node, reason=why)
            return
        lanes = (lane_var(rows, ROW), lane_var(columns))
        src, dst = args[0], args[2]
        read = UNKNOWN
        if isinstance(src, Ptr):
            offset = src.offset + sym(ROW) * self.integer(args[1]) + sym(LANE)
            self.record(src, "load", node, lanes=lanes, index=offset, text=_index_of(nodes[0]))
            own = src.base.deps if isinstance(src.base, Local) else frozenset()
            read = Opaque(self.deps_of(src) | own | {LANE, ROW})
        if isinstance(dst, Ptr):
            if isinstance(dst.base, Local):
                dst.base.content = None
                dst.base.deps |= read.deps
            else:
                offset = dst.offset + sym(LANE) * self.integer(args[3]) + sym(ROW)
                kind: AccessKind = "atomic" if words and words[-1] == "true" else "store"
                self.record(dst, kind, node, lanes=lanes, index=offset, stored=read, text=_index_of(nodes[2]))

    def block_access(
        self,
        ptr: Value,
        kind: AccessKind,
        node: Node,
        rows: Expr,
        columns: Expr,
        ld: Expr,
        stored: Value | None = None,
    ) -> None:
        """Elements ``row*ld + column`` of a matrix."""
        if isinstance(ptr, Ptr) and not isinstance(ptr.base, Local):
            lanes: tuple[Var, ...] = (lane_var(rows, ROW), lane_var(columns))
            index = ptr.offset + sym(ROW) * ld + sym(LANE)
            self.record(ptr, kind, node, lanes=lanes, index=index, stored=stored)


def _base_name(node: Node) -> str:
    while node.kind in ("index", "member") and node.kids:
        node = node.kids[0]
    return str(node.value) if node.kind == "name" else ""


def _index_of(node: Node) -> Node:
    """The part of an access that says which element: of ``p[i]`` and ``p + i`` it is ``i``."""
    if node.kind == "index" or (node.kind == "bin" and node.value == "+" and node.kids[0].kind == "name"):
        return node.kids[1]
    if node.kind == "un" and node.kids:
        return _index_of(node.kids[0])
    return node


def _literal(words: list[str], i: int) -> Expr | None:
    if i >= len(words):
        return None
    m = re.search(r"(\d+)L*\)?\s*\Z", words[i])
    return as_expr(int(m.group(1))) if m else None
