"""A program of the kernel language, interpreted: the accesses it makes, and what was not understood."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable

from ...cxx.nodes import Text
from ...model.kernel import Access, Array
from ...model.location import Loc
from ...model.record import record, replace
from ...symbolic import Expr, sym
from .. import ir
from . import integers
from .expressions import TooLarge
from .integers import Int, int_type
from .recorder import Recorder
from .statements import Walker
from .values import Target, Value

_COMMENT = r"//[^\n]*|/\*.*?\*/"


@record(frozen=True)
class Reading:
    """What interpreting a program gives."""

    accesses: tuple[Access, ...]
    arrays: tuple[Array, ...]
    unmodelled: tuple[tuple[str, Loc], ...]


def interpret(program: ir.Program, diagnostics: Iterable[tuple[int, str]] = ()) -> Reading:
    """Every access of a program. Nothing is lost: what is not followed is an unknown access, or unmodelled."""
    source = Text("", program.text)
    r = Recorder(source)
    w = Walker(program, r)
    _bind(program, w)
    unmodelled: list[tuple[str, Loc]] = []
    try:
        w.run(program.body)
    except TooLarge:
        at = (0, len(program.text))
        for name, _ in program.pointers:
            r.lose(name, at, name in w.x.readonly, "the kernel is too large to follow")
        unmodelled.append(("the kernel is too large to follow", source.loc(*at)))
    lose_mentions(program, w)
    unmodelled += [(text, source.loc(*at)) for at, text in r.unread]
    unmodelled += [(message, source.loc(offset)) for offset, message in diagnostics]
    arrays = tuple(
        Array(
            name.split("#")[0],
            w.x.elements[name] or None,
            _length(w, length),
            name in w.x.shared,
            tuple(replace(a, param=a.param.split("#")[0]) for a in r.accesses({name})),
        )
        for name, length in w.x.lengths.items()
    )
    return Reading(r.accesses({name for name, _ in program.pointers}), arrays, tuple(unmodelled))


def _length(w: Walker, length: Int | None) -> Expr | None:
    return None if length is None else integers.settle(length, w.r.known()).expr


def _bind(program: ir.Program, w: Walker) -> None:
    """Parameters and axes come into being."""
    zero = integers.constant(0, integers.INT64)
    for name, element in program.pointers:
        w.x.env[name] = Value(element, targets=(Target(name, zero),))
    for name, dtype in program.scalars:
        t = int_type(dtype)
        if t is None or t.bits == 1:
            w.x.env[name] = Value(dtype)
            continue
        w.r.ranges.bounds[name] = (0, None)
        w.x.env[name] = Value(dtype, integers.of(sym(name), t, name, True))
    for axis in program.axes:
        e = w.r.declare(axis.var)
        w.r.grid.append(axis.var)
        t = int_type(axis.dtype) or integers.INT32
        w.x.env[axis.cell] = Value(
            axis.dtype, integers.of(e, t, axis.var.name, True), deps=frozenset((axis.var.name,))
        )


def lose_mentions(program: ir.Program, w: Walker) -> None:
    """Every mention of a pointer or an array in the text that no access covers is an unknown access of it."""
    text = program.text
    names: dict[str, dict[str, None]] = {n: {n: None} for n, _ in program.pointers}
    for cell, v in w.x.env.items():
        for t in v.targets:
            if not t.cell:
                names.setdefault(cell.split("#")[0], {})[t.base] = None
    if not names:
        return
    spans = _joined(w.r.seen)
    starts = [a for a, _ in spans]
    pattern = re.compile(rf"{_COMMENT}|\b(?:{'|'.join(map(re.escape, names))})\b", re.S)
    for m in pattern.finditer(text, program.body.at[0]):
        i = bisect_right(starts, m.start()) - 1
        if m.group().startswith("/") or (i >= 0 and m.start() < spans[i][1]):
            continue
        end = text.find(";", m.end())
        at = (m.start(), len(text) if end < 0 else end)
        for base in names[m.group()]:
            reason = f"not followed: {' '.join(text[at[0] : at[1]].split())[:80]}"
            w.r.lose(base, at, base in w.x.readonly, reason)


def _joined(spans: list[ir.Span]) -> list[ir.Span]:
    out: list[ir.Span] = []
    for a, b in sorted(spans):
        if out and a <= out[-1][1]:
            out[-1] = (out[-1][0], max(b, out[-1][1]))
        else:
            out.append((a, b))
    return out


__all__ = ["Reading", "interpret"]
