"""libclang cursors to nodes, without implicit conversions, casts to the same thing, and templates."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from .cursors import Parsed
from .nodes import Node

# References that carry no value: type, template, namespace, overloaded declaration, label.
_REFS = frozenset((43, 44, 45, 46, 47, 48, 49, 50))
_OPERATOR = re.compile(r"operator\s*(.+)")
_CALLEE = re.compile(r"(?:[\w:]+\s*(?:<[^;()]*>)?\s*(?:::|\.|->)\s*)*(?:template\s+)?(\w+)\s*(?:<|\(|\{)")
_WORD = re.compile(r"[^\W\d]\w*")
_NAME = re.compile(r"[A-Za-z_][\w:]*\Z")


class Converter:
    """Cursor to Node; one method per group of cursor kinds."""

    def __init__(self, unit: Parsed) -> None:
        self.u = unit
        self.text = unit.text

    def node(self, c: Any) -> Node:
        handler = _HANDLERS.get(c._kind_id)
        a, b = self.u.extent(c)
        if handler is None:
            return Node("other", self.text[a:b], self.kids(c), a, b, _STATEMENT.get(c._kind_id, ""))
        return handler(self, c, a, b)

    def kids(self, c: Any) -> list[Node]:
        return [self.node(k) for k in self.u.children(c) if k._kind_id not in _REFS]

    # -- expressions
    def transparent(self, c: Any, a: int, b: int) -> Node:
        """Implicit conversions, parentheses and temporaries: the operand itself."""
        kids = self.kids(c)
        if len(kids) == 1:
            return kids[0]
        text = self.text[a:b].strip()
        if not kids:
            if _NAME.match(text):
                return Node("name", text.rsplit("::", 1)[-1], [], a, b)
            return Node("other", text, [], a, b)
        m = _CALLEE.match(text)
        if m and text.endswith(")"):
            return self._call(m.group(1), kids, a, b)
        return Node("other", text, kids, a, b)

    def name(self, c: Any, a: int, b: int) -> Node:
        # Asking libclang is slow; a plain name is its own text.
        text = self.text[a:b]
        return Node("name", text if text.isidentifier() else self.u.spelling(c), [], a, b)

    def integer(self, c: Any, a: int, b: int) -> Node:
        text = self.text[a:b].rstrip("uUlL")
        try:
            return Node("int", int(text, 0), [], a, b)
        except ValueError:
            return Node("other", text, [], a, b)

    def literal(self, c: Any, a: int, b: int) -> Node:
        return Node("float", self.text[a:b], [], a, b)

    def string(self, c: Any, a: int, b: int) -> Node:
        return Node("str", self.text[a:b], [], a, b)

    def boolean(self, c: Any, a: int, b: int) -> Node:
        return Node("int", int(self.text[a:b] == "true"), [], a, b, "bool")

    def null(self, c: Any, a: int, b: int) -> Node:
        return Node("null", None, [], a, b)

    def member(self, c: Any, a: int, b: int) -> Node:
        kids = self.kids(c)
        name = self.u.spelling(c) or self.text[a:b].rsplit(".", 1)[-1]
        if not kids and not name.startswith("operator"):
            return Node("name", name, [], a, b)  # implicit this
        return Node("member", name, kids, a, b)

    def call(self, c: Any, a: int, b: int) -> Node:
        name = self.u.spelling(c)
        kids = self.kids(c)
        m = _OPERATOR.match(name)
        if m and not m.group(1)[0].isalpha():
            return self._operator(m.group(1), kids, a, b)
        if m:  # conversion function
            inner = kids[0] if kids else Node("other", self.text[a:b], [], a, b)
            return inner.kids[0] if inner.kind == "member" and inner.kids else inner
        if not name:
            found = _CALLEE.match(self.text, a, b)
            name = found.group(1) if found else ""
        return self._call(name, kids, a, b)

    def _call(self, name: str, kids: list[Node], a: int, b: int) -> Node:
        if kids:
            first = kids[0]
            if first.kind == "member" and first.value == name and first.start == a:
                return Node("method", name, first.kids + kids[1:], a, b, self._callee_text(a, b))
            if first.kind in ("name", "other") and first.start == a and self._is_callee(first, name):
                return Node("call", name, kids[1:], a, b, self._callee_text(a, b))
        head = self.text[a:b]
        if len(kids) == 1 and (kids[0].start, kids[0].end) == (a, b):
            return kids[0]  # implicit construction
        found = _CALLEE.match(head)
        if found and found.group(1) == name and not head.startswith("{"):
            kind = "method" if "." in head[: found.end()] or "->" in head[: found.end()] else "construct"
            return Node(kind, name, kids, a, b, self._callee_text(a, b))
        if len(kids) == 1:
            return kids[0]
        return Node("construct", name, kids, a, b, self._callee_text(a, b))

    def _is_callee(self, first: Node, name: str) -> bool:
        if first.value == name:
            return True
        text = self.text[first.start : first.end]
        return re.search(rf"\b{re.escape(name)}\b", text) is not None and "(" not in text if name else False

    def _callee_text(self, a: int, b: int) -> str:
        """Source text before the argument list, template arguments included."""
        first = self.text.find("(", a, b)
        if first >= 0 and self.text.find("<", a, first) < 0 and self.text.find("{", a, first) < 0:
            return self.text[a:first].strip()
        depth = 0
        for i in range(a, min(b, a + 400)):
            ch = self.text[i]
            if ch == "<":
                depth += 1
            elif ch == ">":
                depth -= 1
            elif ch in "({" and depth <= 0:
                return self.text[a:i].strip()
        return self.text[a:b]

    def _operator(self, op: str, kids: list[Node], a: int, b: int) -> Node:
        kids = [k for k in kids if not (k.kind in ("name", "member") and str(k.value).startswith("operator"))]
        if op == "()":
            return Node("call", None, kids, a, b)
        if op == "[]":
            return Node("index", None, kids, a, b)
        if op in ("->", "*") and len(kids) == 1:
            return kids[0]
        if len(kids) == 1:
            return Node("un", op, kids, a, b)
        if op == "=" or (op.endswith("=") and op not in ("==", "!=", "<=", ">=")):
            return Node("assign", op, kids, a, b)
        return Node("bin", op, kids, a, b)

    def unary(self, c: Any, a: int, b: int) -> Node:
        kids = self.kids(c)
        text = self.text[a:b]
        m = re.match(r"\+\+|--|[-+!~*&]", text)
        if m is None:
            m = re.search(r"(\+\+|--)\s*\Z", text)
            return Node("un", "post" + m.group(1) if m else text, kids, a, b)
        return Node("un", m.group(0), kids, a, b)

    def binary(self, c: Any, a: int, b: int) -> Node:
        kids = self.kids(c)
        if len(kids) != 2:
            return Node("other", self.text[a:b], kids, a, b)
        op = _BINARY.get(self.u.operator(c))
        if op is None:
            gap = self.text[kids[0].end : kids[1].start].strip(" ()\n")
            op = gap or "?"
        if op == "=" or (op.endswith("=") and op not in ("==", "!=", "<=", ">=")):
            return Node("assign", op, kids, a, b)
        return Node("bin", op, kids, a, b)

    def subscript(self, c: Any, a: int, b: int) -> Node:
        return Node("index", None, self.kids(c), a, b)

    def conditional(self, c: Any, a: int, b: int) -> Node:
        return Node("cond", None, self.kids(c), a, b)

    def cast(self, c: Any, a: int, b: int) -> Node:
        kids = [k for k in self.u.children(c) if k._kind_id not in _REFS]
        if not kids:
            return Node("other", self.text[a:b], [], a, b)
        operand = self.node(kids[-1])  # what stands before it belongs to the type
        head = self.text[a : operand.start]
        m = re.match(r"\w+\s*<(.*)>\s*\(?", head, re.S) or re.match(r"\((.*?)\)", head, re.S)
        target = (m.group(1) if m else head.split("(")[0]).strip()
        return Node("cast", target, [operand], a, b)

    def init_list(self, c: Any, a: int, b: int) -> Node:
        kids = self.kids(c)
        if len(kids) == 1 and kids[0].kind == "init" and (kids[0].start, kids[0].end) == (a, b):
            return kids[0]
        return Node("init", None, kids, a, b)

    def lambda_(self, c: Any, a: int, b: int) -> Node:
        kids = [self.node(k) for k in self.u.children(c) if k._kind_id == 202]
        return Node("lambda", None, kids, a, b, self.text[a : kids[0].start if kids else b].strip())

    def throw(self, c: Any, a: int, b: int) -> Node:
        return Node("throw", self.text[a:b], [], a, b)

    # -- statements
    def decl_stmt(self, c: Any, a: int, b: int) -> Node:
        kids = [self.node(k) for k in self.u.children(c)]
        return kids[0] if len(kids) == 1 else Node("decls", None, kids, a, b)

    def var(self, c: Any, a: int, b: int) -> Node:
        at = self.u.place(c)
        word = _WORD.match(self.text, at)
        name = word[0] if word else self.u.spelling(c)
        after = at + len(name)
        kids = [
            k for k in self.kids(c)
            # A constructor with several arguments starts at the name.
            if k.start >= after or k.kind == "lambda" or (k.kind == "construct" and len(k.kids) > 1)
        ]  # fmt: skip
        kids = [k for k in kids if not (k.kind == "construct" and not k.kids and k.start <= at)]
        return Node("decl", name, kids, a, b, self.text[a:at].strip())

    def if_(self, c: Any, a: int, b: int) -> Node:
        return Node("if", None, self.kids(c), a, b)

    def for_(self, c: Any, a: int, b: int) -> Node:
        return Node("for", None, self.kids(c), a, b)

    def while_(self, c: Any, a: int, b: int) -> Node:
        return Node("while", None, self.kids(c), a, b)

    def block(self, c: Any, a: int, b: int) -> Node:
        return Node("block", None, self.kids(c), a, b)

    def return_(self, c: Any, a: int, b: int) -> Node:
        return Node("return", None, self.kids(c), a, b)

    def simple(self, c: Any, a: int, b: int) -> Node:
        return Node({213: "break", 212: "continue", 230: "empty"}[c._kind_id], None, [], a, b)

    def switch(self, c: Any, a: int, b: int) -> Node:
        kind = {206: "switch", 203: "case", 204: "default"}[c._kind_id]
        return Node(kind, None, self.kids(c), a, b)


#: Statements without a kind of their own: nodes of kind "other" whose ``type`` says which they are.
_STATEMENT = {201: "label", 208: "do", 210: "goto", 211: "goto", 223: "catch", 224: "try", 225: "range-for"}
_BINARY = {
    3: "*", 4: "/", 5: "%", 6: "+", 7: "-", 8: "<<", 9: ">>", 11: "<", 12: ">", 13: "<=", 14: ">=",
    15: "==", 16: "!=", 17: "&", 18: "^", 19: "|", 20: "&&", 21: "||", 22: "=", 23: "*=", 24: "/=",
    25: "%=", 26: "+=", 27: "-=", 28: "<<=", 29: ">>=", 30: "&=", 31: "^=", 32: "|=", 33: ",",
}  # fmt: skip

_Handler = Callable[[Converter, Any, int, int], Node]
_HANDLERS: dict[int, _Handler] = {
    100: Converter.transparent, 111: Converter.transparent, 200: Converter.transparent,
    101: Converter.name, 102: Converter.member, 103: Converter.call,
    106: Converter.integer, 107: Converter.literal, 109: Converter.string, 110: Converter.string,
    112: Converter.unary, 113: Converter.subscript, 114: Converter.binary, 115: Converter.binary,
    116: Converter.conditional, 117: Converter.cast, 119: Converter.init_list,
    124: Converter.cast, 125: Converter.cast, 126: Converter.cast, 127: Converter.cast,
    128: Converter.cast, 130: Converter.boolean, 131: Converter.null, 133: Converter.throw,
    144: Converter.lambda_, 202: Converter.block, 203: Converter.switch, 204: Converter.switch,
    205: Converter.if_, 206: Converter.switch, 207: Converter.while_, 209: Converter.for_,
    212: Converter.simple, 213: Converter.simple, 214: Converter.return_, 230: Converter.simple,
    231: Converter.decl_stmt, 9: Converter.var,
}  # fmt: skip
