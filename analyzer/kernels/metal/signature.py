"""Parameters of a Metal kernel: what a launch sets, and where a thread finds its position."""

from __future__ import annotations

import re

from ...cxx.nodes import Node
from ...model.dtypes import from_cxx
from ...model.kernel import Param, Var
from ...symbolic import ZERO, sym
from .record import Record
from .values import INTEGERS, Value

_PARAMETER = re.compile(
    r"(?P<type>.*?)\s*(?P<mark>[*&]?)\s*(?P<name>\w+)\s*(?:\[\[\s*(?P<attribute>\w+).*\]\])?\s*\Z", re.S
)
#: Attributes that give a thread its place: the symbol family of their extents.
_POSITIONS = {
    "thread_position_in_grid": "grid",
    "thread_position_in_threadgroup": "group",
    "thread_index_in_threadgroup": "group",
}


def bind(text: str, r: Record, body: Node | None) -> tuple[Param, ...]:
    """Bring the parameters into the record; returns those that a launch sets, in order."""
    out: list[Param] = []
    at = text.index("(") + 1
    for piece in _pieces(text, at):
        name, param = _bind_one(piece, r, text, body)
        if param is not None:
            out.append(param)
        elif name is None and piece.strip():
            r.unmodelled.append((piece.strip(), r.source.loc(text.index(piece))))
    return tuple(out)


def _pieces(text: str, start: int) -> list[str]:
    """The parameter declarations: split at commas outside brackets."""
    depth, pieces, at = 0, [], start
    for m in re.compile(r"[(<\[{}\]>),]").finditer(text, start):
        ch = m.group()
        if ch == "," and depth == 0:
            pieces.append(text[at : m.start()])
            at = m.end()
        elif ch in "(<[{":
            depth += 1
        elif ch != ",":
            depth -= 1
            if depth < 0:
                pieces.append(text[at : m.start()])
                break
    return pieces


def _bind_one(piece: str, r: Record, text: str, body: Node | None) -> tuple[str | None, Param | None]:
    m = _PARAMETER.match(piece.strip())
    if m is None:
        return None, None
    name, words = m["name"], m["type"].split()
    readonly = "constant" in words or "const" in words
    element = " ".join(w for w in words if w not in ("device", "constant", "const", "threadgroup"))
    if m["attribute"] in _POSITIONS:
        _position(r, name, element, _POSITIONS[m["attribute"]], text, body)
        return name, None
    if m["attribute"] not in (None, "buffer"):
        r.env[name] = Value(re.sub(r"\d\Z", "", element))
        return name, None
    if element.endswith("ErrorMessages"):  # where failed checks are reported; no tensor
        r.env[name] = Value(element)
        return name, Param(name, True, None, readonly)
    if m["mark"] == "*":
        r.elements[name] = element
        r.env[name] = Value("int", ZERO, base=name)
        return name, Param(name, True, from_cxx(element), readonly)
    e = None
    if element in INTEGERS:
        r.ranges.bounds[name] = (0, None)
        e = sym(name)
    r.env[name] = Value(element, e)
    return name, Param(name, False, from_cxx(element), readonly)


def _position(r: Record, name: str, type_: str, family: str, text: str, body: Node | None) -> None:
    """Grid variables of a position; those of the position in the group only where the kernel uses them."""
    used = set(re.findall(rf"\b{name}\b(?:\.(\w))?", text.partition("{")[2]))
    if family == "group" and not used:
        return
    sizes = int(type_[-1]) if type_[-1:] in ("2", "3", "4") else 1
    aliases = _aliases(name, body)
    for i in range(min(sizes, 3)):
        place = f"{name}.{'xyz'[i]}" if sizes > 1 else name
        if family == "group" and sizes > 1 and "xyz"[i] not in used:
            continue
        var = Var(aliases.get(place, place), sym(f"{family}.{i}"), "grid")
        e = r.declare(var)
        r.grid.append(var)
        r.env[place] = Value(re.sub(r"\d\Z", "", type_), e, deps=frozenset((var.name,)))


def _aliases(name: str, body: Node | None) -> dict[str, str]:
    """``auto xindex = thread_pos.x``: the variable of a component is called as the source calls it."""
    out: dict[str, str] = {}
    for k in body.kids if body is not None else ():
        if k.kind == "decl" and k.kids and k.kids[-1].kind == "member" and k.kids[-1].kids:
            base = k.kids[-1].kids[0]
            if base.kind == "name" and base.value == name:
                out.setdefault(f"{name}.{k.kids[-1].value}", k.value)
    return out
