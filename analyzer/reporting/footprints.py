"""One row for each launch and pointer parameter: what the launch touches, and where."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..bounds import index_range
from ..bounds.model import IndexRange
from ..memory.storage import start_of
from ..memory.trace import LaunchFact, Verdict
from ..symbolic import Expr, const, evaluate, maximum, minimum
from ..symbolic.assumptions import Ranges
from ..symbolic.terms import plain

if TYPE_CHECKING:
    from ..analysis import Analysis


def rows(analysis: Analysis) -> list[dict[str, Any]]:
    """Rows in program order.

    ``min``/``max`` are relative to the pointer, in elements of the parameter's type, over all admitted sizes: numbers,
    or None where there is no bound.  ``text`` is there where they depend on sizes and says how.
    """
    by_launch: dict[int, list[Verdict]] = {}
    for v in analysis.verdicts:
        by_launch.setdefault(id(v.launch), []).append(v)
    out = []
    for fact in analysis.facts(LaunchFact):
        verdicts = by_launch.get(id(fact), [])
        for param, tensor in fact.args.items():
            mine = [v for v in verdicts if v.param.name == param]
            known = fact.kernel.param(param) if fact.kernel else None
            dtype = (known.dtype if known else None) or tensor.dtype
            out.append(
                {
                    "path": analysis.program.path,
                    "launch_line": fact.event.loc.line,
                    "kernel": fact.event.kernel,
                    "parameter": param,
                    "tensor": tensor.label,
                    "storage": tensor.storage.root.name,
                    "offset": plain(start_of(tensor, dtype)),
                    "capacity": plain(tensor.storage.elements(dtype)),
                    "reads": _span([v for v in mine if v.access.kind != "store"], analysis.ranges),
                    "writes": _span([v for v in mine if v.access.kind != "load"], analysis.ranges),
                    **_verdict(mine, fact),
                    "accesses": {
                        s: sum(v.decision.status == s for v in mine) for s in ("proved", "fault", "unknown")
                    },
                }
            )
    return out


def _span(verdicts: list[Verdict], ranges: Ranges) -> dict[str, int | str | None] | None:
    found = _ends(verdicts, ranges)
    if found is None:
        return None
    lo, hi = found
    span: dict[str, int | str | None] = {
        "min": None if lo is None else ranges.interval(lo)[0],
        "max": None if hi is None else ranges.interval(hi)[1],
    }
    if any(e is not None and e.value is None for e in found):
        span["text"] = "..".join("?" if e is None else str(e) for e in found)
    return span


def ends(
    verdicts: list[Verdict],
    ranges: Ranges,
    start: Expr | None = None,
    at: Mapping[str, int] | None = None,
) -> dict[str, int | str | None] | None:
    """Smallest and largest index of several accesses, counted from ``start`` elements before the pointer.

    An end that is no polynomial is given at the sizes ``at``. None when no access touches anything.
    """
    found = _ends(verdicts, ranges)
    if found is None:
        return None
    lo, hi = found
    if start is not None:
        lo, hi = (None if x is None else x + start for x in (lo, hi))
    return {"min": plain(_at(lo, at)), "max": plain(_at(hi, at))}


def _ends(verdicts: list[Verdict], ranges: Ranges) -> tuple[Expr | None, Expr | None] | None:
    """Both ends, None where not known; None when no access touches anything."""
    found: list[IndexRange] = []
    for v in verdicts:
        if v.index is None:
            return None, None
        r = v.decision.range
        if r.min is None and r.max is None and not r.empty and v.decision.reason is None:
            r = index_range(v.index, v.vars, v.guard, ranges)
        if not r.empty:
            found.append(r)
    if not found:
        return None
    los = [r.min for r in found]
    his = [r.max for r in found]
    lo = None if None in los else minimum(*(x for x in los if x is not None))
    hi = None if None in his else maximum(*(x for x in his if x is not None))
    return lo, hi


def _at(e: Expr | None, sizes: Mapping[str, int] | None) -> Expr | None:
    if e is None or not sizes or all(isinstance(a, str) for a in e.atoms()) or not e.symbols <= sizes.keys():
        return e
    return const(int(evaluate(e, sizes)))


def _verdict(verdicts: list[Verdict], fact: LaunchFact) -> dict[str, str | None]:
    if fact.event.reason or fact.kernel is None:
        return {"verdict": "unknown", "reason": fact.event.reason or f"no source for {fact.event.kernel}"}
    for status in ("fault", "unknown"):
        for v in verdicts:
            if v.decision.status == status:
                return {"verdict": status, "reason": v.decision.reason}
    return {"verdict": "proved", "reason": None}
