"""What the wrapper's own input checks say about sizes, strides and dtypes of its inputs."""

from __future__ import annotations

import re
from typing import Any

from ..cxx.clang_unit import Unit
from ..cxx.nodes import Node
from ..model.location import Loc
from ..model.record import field, record

_DIM = re.compile(r"(\w+)_(size|stride)$")
_DTYPE = re.compile(r"aoti_torch_dtype_(\w+)")


@record
class Dim:
    """One checked number: exactly ``value``, or between ``lo`` and ``hi``."""

    value: int | None = None
    lo: int | None = None
    hi: int | None = None
    loc: Loc | None = None


@record
class InputChecks:
    """Checks of one input: dimension -> what was checked."""

    sizes: dict[int, Dim] = field(default_factory=dict)
    strides: dict[int, Dim] = field(default_factory=dict)
    dtype: str | None = None
    loc: Loc | None = None


def read_checks(unit: Unit, functions: list[tuple[str, Any]]) -> dict[str, InputChecks]:
    """Checks by input name, from ``check_input_<i>`` and ``__check_inputs_outputs``."""
    out: dict[str, InputChecks] = {}
    for name, cursor in functions:
        if not (name.startswith("check_input_") or name == "__check_inputs_outputs"):
            continue
        for stmt in unit.body_cursors(cursor):
            if stmt._kind_id == 231:  # declarations: dtype expectations
                _declaration(unit, unit.node(stmt), out)
            elif stmt._kind_id == 205:  # if: only the condition matters
                kids = unit.children(stmt)
                if kids:
                    _check(unit, unit.node(kids[0]), out)
    return out


def _declaration(unit: Unit, node: Node, out: dict[str, InputChecks]) -> None:
    if node.kind != "decl" or not str(node.value).endswith("_expected_dtype") or not node.kids:
        return
    name = str(node.value)[: -len("_expected_dtype")]
    m = _DTYPE.search(unit.slice(node.kids[0]))
    if m:
        checks = out.setdefault(name, InputChecks())
        checks.dtype = m.group(1)
        checks.loc = unit.loc(node)


def _check(unit: Unit, node: Node, out: dict[str, InputChecks]) -> None:
    """``12 != x_size[1]``, ``x_size[0] < 2``, ``x_size[0] > 64``: the condition under which it throws."""
    if node.kind != "bin" or len(node.kids) != 2:
        return
    a, b = (_strip(k) for k in node.kids)
    op = node.value
    if b.kind == "index" and a.kind in ("int", "un"):
        a, b = b, a
        op = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}.get(op, op)
    if a.kind != "index" or len(a.kids) != 2:
        return
    base, dim = _strip(a.kids[0]), _strip(a.kids[1])
    value = _int(b)
    m = _DIM.match(str(base.value)) if base.kind == "name" else None
    if m is None or dim.kind != "int" or value is None:
        return
    checks = out.setdefault(m.group(1), InputChecks())
    table = checks.sizes if m.group(2) == "size" else checks.strides
    row = table.setdefault(dim.value, Dim())
    row.loc = unit.loc(node)
    if op == "!=":
        row.value = value
    elif op == "<":
        row.lo = value
    elif op == ">":
        row.hi = value


def _strip(node: Node) -> Node:
    while node.kind == "cast":
        node = node.kids[0]
    return node


def _int(node: Node) -> int | None:
    node = _strip(node)
    if node.kind == "int":
        return int(node.value)
    if node.kind == "un" and node.value == "-" and node.kids[0].kind == "int":
        return -int(node.kids[0].value)
    return None
