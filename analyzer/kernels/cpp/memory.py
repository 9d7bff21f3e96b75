"""Memory forms of a C++ kernel: element and vector accesses, masked loads, transposes, atomics, local arrays."""

from __future__ import annotations

import re
from typing import TypeAlias

from ...cxx.nodes import Node
from ...model.kernel import Var
from ...model.record import record
from ...symbolic import TRUE, Cond, Expr, as_expr, compare, const, sym
from ..interpret import integers
from .expressions import Evaluator
from .record import AccessKind, lane_var
from .values import LANE, ROW, UNKNOWN, Address, Closure, Flag, Int, Local, Opaque, Ptr, Value, template_words


@record(frozen=True)
class Spot:
    """A place in memory that is assigned, with the text that says which."""

    ptr: Ptr
    node: Node


@record(frozen=True)
class Part:
    """A field, or one register of several, of something that is not followed piece by piece."""

    whole: Node


Place: TypeAlias = "Address | Spot | Part | None"
_ONE = Int(const(1), integers.INT32)
_NOWHERE = Node("null", None, [], 0, 0)
_NO_WIDTH = "the number of lanes of a vector access without a count is not known"


class Memory(Evaluator):
    """Loads and stores."""

    # -- elements
    def load(self, ptr: Ptr, node: Node) -> Value:
        if isinstance(ptr.base, Local):
            if ptr.base.wild:
                self.skip(node, "a pointer that is not known")
            self.record(ptr, "load", node, text=_index_of(node))
            return self.element(ptr.base, ptr.offset)
        self.record(ptr, "load", node, text=_index_of(node))
        return self._loaded(ptr, self.deps_of(ptr))

    def _loaded(self, ptr: Ptr, deps: frozenset[str]) -> Value:
        if isinstance(ptr.base, Local):
            return self.typed(ptr.base.dtype, deps | ptr.base.deps)
        param = self.params.get(ptr.base)
        return self.typed(ptr.dtype or (param.dtype if param else None), deps)

    def store(self, ptr: Ptr, v: Value, node: Node, kind: AccessKind = "store") -> None:
        if isinstance(ptr.base, Local):
            if ptr.base.wild:
                self.skip(node, "a pointer that is not known")
            self.record(ptr, kind, node, text=_index_of(node))
            self.fill(ptr.base, ptr.offset, v)
        else:
            self.record(ptr, kind, node, stored=v, text=_index_of(node))

    def fill(self, array: Local, number: Expr, v: Value) -> None:
        """An element of a local array is assigned. A loop over all elements makes it a vector."""
        self._open.account(array)
        if isinstance(v, (Ptr, Local)):
            self._stored_pointer(v, _NOWHERE)
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
        """``a = b``, ``a += b``, ``++a``, ``a++``: the place is found once; the value of ``a++`` is the old one."""
        if node.kind == "un":
            place = self.place(target)
            old = self.held_at(place, target)
            new = self.binary(node.value[-1], old, _ONE, node)
            self.put(place, new, node)
            post = node.value.startswith("post")
            return old if post else self.held_at(place, target, again=True) if place else new
        v = self.value(node.kids[1])
        place = self.place(target)
        if node.value != "=":
            v = self.binary(node.value[:-1], self.held_at(place, target), v, node)
        self.put(place, v, node)
        return self.held_at(place, target, again=True) if isinstance(place, Address) else v

    def place(self, node: Node) -> Place:
        """What an expression on the left of an assignment names."""
        if node.kind == "name":
            self.seen.add(node.start)
            found = self.scope.resolve(node.value)
            return Address(*found) if found else None
        if node.kind == "index":
            base = self.value(node.kids[0])
            number = self.integer(self.value(node.kids[1]))
            if isinstance(base, Ptr):
                return Spot(self.advanced(base, number), node)
            if isinstance(base, Local):
                return Spot(Ptr(base, number), node)
            if isinstance(base, Address) and number == 0:
                self._open.account(base)
                return base
            return self.place(node.kids[0]) and Part(node.kids[0])
        if node.kind == "un" and node.value == "*":
            base = self.value(node.kids[0])
            if isinstance(base, Local):
                base = Ptr(base, const(0))
            if isinstance(base, Address):
                self._open.account(base)
                return base
            return Spot(base, node) if isinstance(base, Ptr) else None
        if node.kind == "un" and node.value in ("++", "--"):
            return self._stepped(node)
        if node.kind == "member" and node.kids:
            return Part(node.kids[0])
        self.value(node)
        return None

    def _stepped(self, node: Node) -> Place:
        """``++x`` on the left of an assignment: x, after its step."""
        place = self.place(node.kids[0])
        old = self.held_at(place, node.kids[0])
        self.put(place, self.binary(node.value[-1], old, _ONE, node), node)
        return place

    def held_at(self, place: Place, node: Node, again: bool = False) -> Value:
        """The value at a place; ``again``: after an assignment, when nothing is loaded for it."""
        if isinstance(place, Address):
            return place.scope.names[place.name]
        if isinstance(place, Spot) and not again:
            return self.load(place.ptr, place.node)
        if isinstance(place, Part):
            return self.value(place.whole)
        return UNKNOWN

    def put(self, place: Place, v: Value, node: Node) -> None:
        """Assign: a variable keeps the low bits its type holds, memory is stored to."""
        if isinstance(place, Address):
            type_ = place.scope.types.get(place.name)
            old = place.scope.names[place.name]
            if type_ is not None and not isinstance(v, (Ptr, Local, Closure, Address)):
                v = self.as_type(v, type_)
            elif isinstance(old, Int) and isinstance(v, Opaque):  # the declared type is an integer
                v = Int(self.integer(v))
            place.scope.names[place.name] = v
        elif isinstance(place, Spot):
            self._open.account(place.ptr)
            self.store(place.ptr, v, place.node)
        elif isinstance(place, Part) and (whole := self.place(place.whole)) is not None:
            if isinstance(v, (Ptr, Local, Closure, Address)):
                self.lose(v, node)
            if isinstance(whole, Address):
                old = whole.scope.names[whole.name]
                if not isinstance(old, (Ptr, Local)):
                    whole.scope.names[whole.name] = self.mixture([old, v])
        elif isinstance(v, (Ptr, Local, Closure, Address)):
            self.lose(v, node)

    # -- vectors
    def vector_load(
        self, ptr: Value, count: Expr | int | None, node: Node, at: Node, mask: Cond = TRUE
    ) -> Value:
        """``count`` elements from a pointer on; lanes outside ``mask`` are not touched."""
        if not isinstance(ptr, Ptr):
            return self.mixture([ptr, Flag(mask)])
        if isinstance(ptr.base, Local):
            array = ptr.base
            self._open.account(ptr)
            if count is not None:
                self.record(ptr, "load", node, lanes=(lane_var(count),), mask=mask, text=_index_of(at))
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
        lanes = count if count is not None else self.width()
        if isinstance(ptr.base, Local):
            array = ptr.base
            self._open.account(ptr)
            if lanes is not None:
                self.record(ptr, "store", node, lanes=(lane_var(lanes),), text=_index_of(at))
            array.content = v if ptr.offset == 0 and isinstance(v, (Int, Flag)) else None
            array.deps |= self.deps_of(v) | {LANE}
            return
        if lanes is None:
            self.record(ptr, "store", node, reason=_NO_WIDTH, text=_index_of(at))
        else:
            self.record(ptr, "store", node, lanes=(lane_var(lanes),), stored=v, text=_index_of(at))

    def vector_atomic(
        self, ptr: Value, number: Value, v: Value, count: Expr | int | None, node: Node
    ) -> None:
        """``atomic_add_vec``: every lane adds to its own element."""
        if not isinstance(ptr, Ptr):
            return
        if isinstance(ptr.base, Local):
            self._open.account(ptr)
            ptr.base.content = None
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
                self._open.account(dst)
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
        if isinstance(ptr, Ptr) and isinstance(ptr.base, Local):
            self._open.account(ptr)
        elif isinstance(ptr, Ptr):
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
