"""Parameters of a Metal kernel: what a launch sets, and where a thread finds its position."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ...cxx.nodes import Node
from ...model.dtypes import from_cxx
from ...model.kernel import Param, Var
from ...model.record import field, record
from ...symbolic import sym
from ..interpret.integers import int_type
from ..ir import Axis
from .types import component_of, dtype_of

_PARAMETER = re.compile(
    r"(?P<type>.*?)\s*(?P<mark>[*&]?)\s*(?P<name>\w+)\s*(?:\[\[\s*(?P<attribute>\w+).*\]\])?\s*\Z", re.S
)
#: Attributes that give a thread its place: the symbol family of their extents.
_POSITIONS = {
    "thread_position_in_grid": "grid",
    "thread_position_in_threadgroup": "group",
    "thread_index_in_threadgroup": "group",
}
#: Index variables of reduction dimensions: all threads of a group differ in these alone.
_REDUCTION_INDEX = re.compile(r"r\d+_index\Z")


@record
class Signature:
    """What the parameters of a kernel say: ``others`` are names (with dtypes) whose value nothing tells."""

    params: list[Param] = field(default_factory=list)
    pointers: dict[str, str] = field(default_factory=dict)
    scalars: dict[str, str] = field(default_factory=dict)
    axes: list[Axis] = field(default_factory=list)
    others: dict[str, str] = field(default_factory=dict)
    #: Declarations that were not understood, with their offsets.
    unread: list[tuple[int, str]] = field(default_factory=list)


def read_signature(text: str, body: Node | None) -> Signature:
    """The parameters of a kernel function given by its text."""
    s = Signature()
    for piece in _pieces(text, text.index("(") + 1):
        m = _PARAMETER.match(piece.strip())
        if m is not None:
            _parameter(m, s, text, body)
        elif piece.strip():
            s.unread.append((text.index(piece), piece.strip()))
    return s


def _pieces(text: str, start: int) -> Iterable[str]:
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


def _parameter(m: re.Match[str], s: Signature, text: str, body: Node | None) -> None:
    name, words = m["name"], m["type"].split()
    readonly = "constant" in words or "const" in words
    element = " ".join(w for w in words if w not in ("device", "constant", "const", "threadgroup"))
    if m["attribute"] in _POSITIONS:
        s.axes += _position(name, element, _POSITIONS[m["attribute"]], text, body)
    elif m["attribute"] not in (None, "buffer"):
        s.others[name] = component_of(element)
    elif element.endswith("ErrorMessages"):  # where failed checks are reported; no tensor
        s.others[name] = ""
        s.params.append(Param(name, True, None, readonly))
    elif m["mark"] == "*":
        s.pointers[name] = dtype_of(element)
        s.params.append(Param(name, True, from_cxx(element), readonly))
    else:
        t = int_type(dtype_of(element))
        (s.scalars if t is not None and t.bits > 1 else s.others)[name] = dtype_of(element)
        s.params.append(Param(name, False, from_cxx(element), readonly))


def _position(name: str, type_: str, family: str, text: str, body: Node | None) -> Iterable[Axis]:
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
        yield Axis(place, var, component_of(type_), _REDUCTION_INDEX.match(var.name) is not None)


def _aliases(name: str, body: Node | None) -> dict[str, str]:
    """``auto xindex = thread_pos.x``: the variable of a component is called as the source calls it."""
    out: dict[str, str] = {}
    for k in body.kids if body is not None else ():
        if k.kind == "decl" and k.kids and k.kids[-1].kind == "member" and k.kids[-1].kids:
            base = k.kids[-1].kids[0]
            if base.kind == "name" and base.value == name:
                out.setdefault(f"{name}.{k.kids[-1].value}", k.value)
    return out
