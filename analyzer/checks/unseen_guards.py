"""Faults of a Python wrapper that only some sizes have: what guards them may stand outside the file.

Dynamo compiles a graph for sizes that its guards admit, and the guards are not in the generated file.  What is wrong at
the sizes the file was generated for is wrong: those passed.  What is wrong at others only may never happen.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeAlias

from ..model.findings import Finding
from ..model.program import Program
from ..model.record import replace
from ..symbolic.assumptions import Interval

Sizes: TypeAlias = "Mapping[str, Interval]"
NOTE = "only at such sizes, which a guard of Dynamo's that is not in this file may rule out"


def weakened(
    program: Program,
    findings: Sequence[Finding],
    sizes: Sizes,
    open_: Collection[str],
    check: Callable[[Sizes], Sequence[Finding]],
) -> list[Finding]:
    """Findings, with errors that need other sizes than the example as warnings.

    ``open_`` are the symbols that have more than one value; ``check`` gives the findings at given sizes.
    """
    backed = {s.name for s in program.symbols if s.backed} & set(open_)
    if not backed or all(f.severity != "error" for f in findings):
        return list(findings)
    example = _example(program, sizes, backed)
    if example is None:
        certain = {_key(f) for f in findings if not _depends(f, backed)}
    else:
        certain = {_key(f) for f in check({**sizes, **example}) if f.severity == "error"}
    return [f if f.severity != "error" or _key(f) in certain else _warning(f) for f in findings]


def _example(program: Program, sizes: Sizes, names: Collection[str]) -> dict[str, Interval] | None:
    """The sizes the file was generated for; None where it does not say them, or others are asked for."""
    known = dict(program.example)
    out: dict[str, Interval] = {}
    for name in names:
        value = known.get(name)
        lo, hi = sizes.get(name, (None, None))
        if value is None or (lo is not None and value < lo) or (hi is not None and value > hi):
            return None
        out[name] = (value, value)
    return out


def _key(f: Finding) -> tuple[object, ...]:
    return f.code, f.loc, f.launch_line, f.kernel, f.parameter, f.tensor, f.op


def _depends(f: Finding, names: Collection[str]) -> bool:
    """Whether what a finding says is about a size."""
    values = (f.evidence.min, f.evidence.max, f.evidence.available)
    return not set(names).isdisjoint(f.evidence.witness or ()) or any(isinstance(v, str) for v in values)


def _warning(f: Finding) -> Finding:
    return replace(f, severity="warning", message=f"{f.message}; {NOTE}")
