"""Expressions of a Metal kernel to the kernel language."""

from __future__ import annotations

import re
from collections.abc import Callable

from ...cxx.nodes import Node
from .. import ir
from .scope import Scope
from .types import dtype_of

_DECLTYPE = re.compile(r"decltype\s*\((.*)\)\Z", re.S)
_TOKEN = re.compile(r"\d[\w.]*|[A-Za-z_]\w*")
_TEMPLATE = re.compile(r"<\s*([\w:]+)\s*>")
_COMPARISONS = frozenset(("<", "<=", ">", ">=", "==", "!="))
#: Functions with a result in a reference: the arguments they write.
_WRITES = {"frexp": 1, "modf": 1, "sincos": 1}
#: Calls whose template argument is the type of their result.
_TYPED = frozenset(("as_type", "identity", "min", "max", "clamp", "lowest", "infinity", "quiet_NaN"))
#: What a call of this name is in the kernel language.
_NAMES = {"fmin": "min", "fmax": "max", "fabs": "abs"}


class Expressions:
    """Lowers expression nodes in a scope."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    def value(self, n: Node) -> ir.Expr:
        handler = _HANDLERS.get(n.kind)
        return handler(self, n) if handler is not None else self.unknown(n)

    def unknown(self, n: Node) -> ir.Expr:
        """Something there is no rule for: what it reads flows in, what it may change is not known after it."""
        s = self.scope
        if n.kind in ("other", "str") and not self._names_any(n):
            return ir.Unknown(s.slice(n), (), s.span(n), pure=True)  # a macro for a number
        writes = tuple(c for name in _assigned(n) if (c := s.find(name)) is not None)
        if n.kind in ("lambda", "other"):  # what runs in it, and when, is not known
            s.distrusted.update(name for name in _assigned(n) if s.find(name) is not None)
        reads = tuple(self.value(k) for k in n.kids if k.kind not in _STATEMENTS)
        return ir.Unknown(s.slice(n), reads, s.span(n), writes=writes)

    def _names_any(self, n: Node) -> bool:
        """Whether something in scope is named in a node, by its text or below what a macro hides."""
        named = n.kind == "name" and self.scope.find(str(n.value)) is not None
        return (
            named
            or bool(list(self.scope.mentioned(self.scope.slice(n))))
            or any(map(self._names_any, n.kids))
        )

    def flowing(self, n: Node, dtype: str, kids: list[Node]) -> ir.Expr:
        """A value that is computed from others in a way that does not matter."""
        return ir.Unknown(
            self.scope.slice(n), tuple(map(self.value, kids)), self.scope.span(n), dtype, pure=True
        )

    def _init(self, n: Node) -> ir.Expr:
        return self.flowing(n, "", n.kids)

    # -- leaves
    def _integer(self, n: Node) -> ir.Expr:
        at = self.scope.span(n)
        if n.type == "bool":
            return ir.Const(n.value, "bool", at)
        text = self.scope.slice(n).lower()
        suffix = text[len(text.rstrip("ul")) :] if not text.startswith("'") else ""
        bits = 64 if "l" in suffix or not -(1 << 31) <= n.value < 1 << (32 if "u" in suffix else 31) else 32
        return ir.Const(n.value, f"{'u' if 'u' in suffix else ''}int{bits}", at)

    def _float(self, n: Node) -> ir.Expr:
        return ir.Const(n.value, "float16" if n.value[-1:] in "hH" else "float32", self.scope.span(n))

    def _name(self, n: Node) -> ir.Expr:
        cell = self.scope.find(n.value)
        at = self.scope.span(n)
        if cell is None:
            return ir.Unknown(n.value, (), at, pure=True)
        if cell in self.scope.through:
            return ir.Load(ir.Deref(ir.Cell(cell, at), at), at)
        return ir.Cell(cell, at)

    # -- operators
    def _binary(self, n: Node) -> ir.Expr:
        at, op = self.scope.span(n), n.value
        a, b = self.value(n.kids[0]), self.value(n.kids[1])
        if op in ("&&", "||"):
            return ir.Logic(op, a, b, at)
        if op in _COMPARISONS:
            return ir.Compare(op, a, b, at)
        if op == ",":
            return ir.Sequence((a, b), at)
        if op not in ("+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^"):
            return ir.Unknown(self.scope.slice(n), (a, b), at)
        return ir.Binary(op, a, b, at)

    def _unary(self, n: Node) -> ir.Expr:
        at, op = self.scope.span(n), n.value
        if not n.kids:
            return self.unknown(n)
        if op == "*":
            return ir.Load(ir.Deref(self.value(n.kids[0]), at), at)
        if op == "&":
            place = self.place(n.kids[0])
            return self.unknown(n) if place is None else ir.AddressOf(place, at)
        if op in ("++", "--", "post++", "post--"):
            place = self.place(n.kids[0])
            if place is None:
                return self.unknown(n)
            return ir.Set(place, ir.Const(1, "int32", at), at, op[-1], op.startswith("post"))
        if op == "+":
            return self.value(n.kids[0])
        return ir.Unary(op, self.value(n.kids[0]), at) if op in ("-", "~", "!") else self.unknown(n)

    def _conditional(self, n: Node) -> ir.Expr:
        c, a, b = (self.value(k) for k in n.kids)
        return ir.Select(c, a, b, True, self.scope.span(n))

    def _cast(self, n: Node) -> ir.Expr:
        target = str(n.value).strip()
        at = self.scope.span(n)
        x = self.value(n.kids[0])
        if target.endswith("*"):
            # Atomics see their element under a wrapper type of the same size.
            return x if "AtomicType" in target else ir.Unknown(self.scope.slice(n), (x,), at)
        m = _DECLTYPE.match(target)
        if m is not None:
            return self.common(x, m[1], at)
        dtype = dtype_of(target)
        return ir.Cast(x, dtype, at) if dtype else ir.Unknown(self.scope.slice(n), (x,), at, pure=True)

    def common(self, x: ir.Expr, operands: str, at: ir.Span) -> ir.Expr:
        """Conversion to ``decltype(a+b)``."""
        types: list[ir.Expr] = []
        for token in _TOKEN.findall(operands):
            cell = self.scope.find(token)
            if token[0].isdigit():
                types.append(
                    ir.Const(0 if token.isdigit() else "0.", "int32" if token.isdigit() else "float32", at)
                )
            elif cell is not None:
                types.append(ir.Cell(cell, at))
            elif dtype_of(token):
                types.append(ir.Const("0", dtype_of(token), at))
        return ir.CommonCast(x, tuple(types), at)

    # -- memory
    def place(self, n: Node) -> ir.Place | None:
        """An expression as a place; None for what is none that is known."""
        at = self.scope.span(n)
        if n.kind == "name":
            cell = self.scope.find(str(n.value))
            if cell is None:
                return None
            return ir.Deref(ir.Cell(cell, at), at) if cell in self.scope.through else ir.Cell(cell, at)
        if n.kind == "index" and len(n.kids) == 2:
            return self._element(n)
        if n.kind == "un" and n.value == "*" and n.kids:
            return ir.Deref(self.value(n.kids[0]), at)
        if n.kind == "cond" and len(n.kids) == 3:
            a, b = self.place(n.kids[1]), self.place(n.kids[2])
            if a is None or b is None:
                return None
            pick = ir.Select(self.value(n.kids[0]), ir.AddressOf(a, at), ir.AddressOf(b, at), True, at)
            return ir.Deref(pick, at)
        return None

    def _element(self, n: Node) -> ir.Element:
        """``a[i]``; of an array with several dimensions the element of all of them together."""
        at = self.scope.span(n)
        indices, root = [n.kids[1]], n.kids[0]
        while root.kind == "index" and len(root.kids) == 2:
            indices.insert(0, root.kids[1])
            root = root.kids[0]
        cell = self.scope.find(str(root.value)) if root.kind == "name" else None
        dims = self.scope.dims.get(cell or "", [])
        if len(indices) == 1 or len(dims) != len(indices) or cell is None:
            return ir.Element(self.value(n.kids[0]), self.value(n.kids[1]), at)
        total = self.value(indices[0])
        for d, i in zip(dims[1:], indices[1:], strict=True):
            total = ir.Binary("+", ir.Binary("*", total, d, at), self.value(i), at)
        return ir.Element(ir.Cell(cell, at), total, at)

    def _index(self, n: Node) -> ir.Expr:
        if len(n.kids) != 2:
            return self.unknown(n)
        return ir.Load(self._element(n), self.scope.span(n))

    def _assign(self, n: Node) -> ir.Expr:
        at = self.scope.span(n)
        target, right = n.kids
        value = self.value(right)
        place = self.place(target)
        if place is not None:
            return ir.Set(place, value, at, n.value[:-1])
        root, inner = target, [value]
        while root.kind in ("index", "member") and root.kids:
            inner += [self.value(k) for k in root.kids[1:]]
            root = root.kids[0]
        cell = self.scope.find(str(root.value)) if root.kind == "name" else None
        if cell is not None and cell not in self.scope.through and target.kind in ("index", "member"):
            return ir.Unknown(self.scope.slice(n), tuple(inner), at, writes=(cell,), pure=True)
        return ir.Unknown(self.scope.slice(n), (*inner, self.value(target)), at, writes=tuple(
            c for name in _assigned(n) if (c := self.scope.find(name)) is not None
        ))  # fmt: skip

    def _member(self, n: Node) -> ir.Expr:
        if not n.kids:
            return self.flowing(n, "", [])
        base = n.kids[0]
        if base.kind == "name":
            cell = self.scope.find(f"{base.value}.{n.value}")
            if cell is not None:
                return ir.Cell(cell, self.scope.span(n))
        return self.flowing(n, "", n.kids)

    # -- calls
    def _call(self, n: Node) -> ir.Expr:
        name = str(n.value)
        at = self.scope.span(n)
        if n.kind == "call" and n.value is None:
            return self.unknown(n)
        if name.startswith("threadgroup_"):
            return self._group(name, n)
        if name == "atomic_add" and len(n.kids) == 3:
            return ir.Atomic(self.value(n.kids[0]), self.value(n.kids[1]), self.value(n.kids[2]), at)
        args = tuple(map(self.value, n.kids))
        if name in _WRITES and len(args) == 2:
            return self._writing(n, args)
        m = _TEMPLATE.search(n.type)
        dtype = dtype_of(m[1].rsplit("::", 1)[-1]) if m and name in _TYPED else None
        if name == "randint64":
            dtype = "int64"
        if n.kind == "construct":
            found = re.match(r"[\w:]+", self.scope.slice(n))
            to = dtype_of(found.group().rsplit("::", 1)[-1]) if found else ""
            return ir.Cast(args[0], to, at) if to and len(args) == 1 else self.flowing(n, to, n.kids)
        return ir.Call(_NAMES.get(name, name), args, at, dtype)

    def _writing(self, n: Node, args: tuple[ir.Expr, ...]) -> ir.Expr:
        """``frexp(x, exponent)``: the argument it writes is any value of its type after it."""
        out = n.kids[_WRITES[str(n.value)]]
        cell = self.scope.find(str(out.value)) if out.kind == "name" else None
        if cell is None or cell in self.scope.through:
            return self.unknown(n)
        return ir.Unknown(self.scope.slice(n), args[:1], self.scope.span(n), writes=(cell,), pure=True)

    def _group(self, name: str, n: Node) -> ir.Expr:
        """A reduction over the threads of a group: the same result for all of them."""
        args = tuple(map(self.value, n.kids))
        at = self.scope.span(n)
        if name == "threadgroup_barrier":
            return ir.Combined((), None, None, at)
        dtype = "int32" if name in ("threadgroup_argmax", "threadgroup_argmin") and len(args) < 3 else None
        if dtype is None and name in ("threadgroup_argmax", "threadgroup_argmin"):
            return ir.Combined((*args[1:2], *args[:1], *args[2:]), None, args[-2], at)
        return ir.Combined(args, dtype, args[-2] if len(args) > 2 else None, at)


_STATEMENTS = frozenset((
    "block", "decl", "decls", "if", "for", "while", "return", "break", "continue", "switch", "case", "default",
    "empty", "throw",
))  # fmt: skip


def _assigned(node: Node) -> list[str]:
    """Names that something inside a node may change."""
    out: list[str] = []
    todo = [node]
    while todo:
        n = todo.pop()
        todo.extend(n.kids)
        if n.kind == "assign" or (n.kind == "un" and n.value in ("++", "--", "post++", "post--", "&")):
            root = n.kids[0] if n.kids else n
            while root.kind in ("index", "member") and root.kids:
                root = root.kids[0]
            if root.kind == "name":
                out.append(str(root.value))
    return list(dict.fromkeys(out))


_HANDLERS: dict[str, Callable[[Expressions, Node], ir.Expr]] = {
    "int": Expressions._integer, "float": Expressions._float, "name": Expressions._name,
    "bin": Expressions._binary, "un": Expressions._unary, "cond": Expressions._conditional,
    "cast": Expressions._cast, "index": Expressions._index, "member": Expressions._member,
    "assign": Expressions._assign, "init": Expressions._init,
    "call": Expressions._call, "method": Expressions._call, "construct": Expressions._call,
}  # fmt: skip
