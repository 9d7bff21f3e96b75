"""A finding on an access outside its storage as a C++ program that anyone can run.

The program allocates what the runtime puts behind the argument, sets every size and iteration variable to the values of
the witness, checks that such an iteration exists, and touches the element the index expression names.  A sanitizer
watches only a little memory around a block, and an access may go megabytes past it; so all the way to the element is
allocated, and what is not the storage's is closed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..model.dtypes import ITEMSIZE
from ..model.kernel import Var
from ..model.location import Loc
from ..symbolic import Cond, Expr, Op, evaluate

if TYPE_CHECKING:
    from ..analysis import Analysis
    from ..memory.trace import Verdict
    from ..model.findings import Finding

#: Codes of findings that one access can show.
CODES = ("AL201", "AL202")

_HEAD = """\
// {code}: {message}
// {path}:{line}, checked against {runtime}
//
// g++ -std=c++11 -g -fsanitize=address witness.cpp -o witness && ./witness

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <sanitizer/asan_interface.h>

inline int64_t floordiv(int64_t a, int64_t b) {{ return a / b - ((a % b != 0) && ((a < 0) != (b < 0))); }}
inline int64_t mod(int64_t a, int64_t b) {{ return a - b * floordiv(a, b); }}
inline int64_t tdiv(int64_t a, int64_t b) {{ return a / b; }}
inline int64_t tmod(int64_t a, int64_t b) {{ return a % b; }}
inline int64_t min(int64_t a, int64_t b) {{ return a < b ? a : b; }}
inline int64_t max(int64_t a, int64_t b) {{ return a > b ? a : b; }}
"""

_MAIN = """\

int main() {{
{values}
    // The iteration exists.
    if (!({exists})) {{
        std::puts("no such iteration");
        return 2;
    }}
    const int64_t available = {available};  // elements of {bytes} bytes in {storage}
    const int64_t start = {start};  // where {param} points
    const int64_t index = {index};  // {access}
    std::printf("{param}[%" PRId64 "], element %" PRId64 " of %" PRId64 "\\n", index, start + index, available);
    std::fflush(stdout);
    // The memory on the way to the element is there, but nothing may touch it.
    const int64_t before = (-min(start + index, 0) * {bytes} + 15) / 16 * 16;
    const int64_t after = max(start + index + 1 - available, 0) * {bytes};
    char* memory = static_cast<char*>(std::calloc(before + available * {bytes} + after, 1));
    if (!memory) {{
        std::puts("there is not enough memory up to this element");
        return 3;
    }}
    char* storage = memory + before;
    ASAN_POISON_MEMORY_REGION(memory, before);
    ASAN_POISON_MEMORY_REGION(storage + available * {bytes}, after);
    volatile char* element = storage + (start + index) * {bytes};
    for (int byte = 0; byte < {bytes}; byte++) {{
        {touch}
    }}
    std::puts("nothing watched the access: build with -fsanitize=address");
    return 3;
}}
"""


def witness_program(analysis: Analysis, finding: Finding) -> str:
    """The text of the program. The finding must be one of :data:`CODES` of this analysis."""
    v = _verdict(analysis, finding)
    d, dtype = v.decision, v.param.dtype or v.tensor.dtype
    assert v.index is not None and d.witness is not None
    values = {n: x for n, x in d.witness.items() if n in _needed(v)}
    names = _names(values)
    exists = [_exists(var, names) for var in v.vars] + [_cond(v.guard, names)]
    loc = v.launch.event.loc
    head = _HEAD.format(
        code=finding.code, message=_comment(finding.message), path=_comment(loc.path), line=loc.line,
        runtime=analysis.profile.name,
    )  # fmt: skip
    return head + _MAIN.format(
        values="".join(f"    const int64_t {names[n]} = {_number(x)};\n" for n, x in values.items()),
        exists=" && ".join(e for e in exists if e not in ("", "true")) or "true", available=_number(d.available or 0),
        bytes=ITEMSIZE[dtype], storage=_comment(_storage(v)), start=_number(evaluate(v.start, d.witness)),
        index=_expr(v.index, names), access=_comment(f"{v.param.name}[{v.access.text}]"), param=v.param.name,
        touch="element[byte] = 1;" if v.access.kind != "load" else "(void)element[byte];",
    )  # fmt: skip


def _verdict(analysis: Analysis, finding: Finding) -> Verdict:
    """The access a finding is about: it is the last place the finding refers to."""
    places: set[Loc] = {r.loc for r in finding.related}
    return next(
        v
        for v in analysis.verdicts
        if v.decision.status == "fault" and v.access.loc in places
        and (v.launch.event.loc.line, v.launch.event.kernel) == (finding.launch_line, finding.kernel)
        and v.param.name == finding.parameter and (v.access.kind == "load") == (finding.code == "AL201")
    )  # fmt: skip


def _storage(v: Verdict) -> str:
    return f"the packed copy of {v.tensor.label}" if v.storage.kind == "copy" else v.storage.root.name


def _needed(v: Verdict) -> set[str]:
    assert v.index is not None
    extents = (x.extent.symbols for x in v.vars if x.extent is not None)
    return set(v.index.symbols).union(v.guard.symbols, *extents, {x.name for x in v.vars})


def _names(values: Mapping[str, int]) -> dict[str, str]:
    """A C++ name for each symbol; a number keeps apart what would be the same, or mean something else."""
    out: dict[str, str] = {}
    for i, name in enumerate(values):
        text = re.sub(r"\W", "_", name).strip("_")
        out[name] = text if re.fullmatch(r"[a-z]+\d+", text) and text not in out.values() else f"v{i}_{text}"
    return out


def _comment(text: str) -> str:
    """Text that stays inside its line comment."""
    return " ".join(text.split()).rstrip("\\")


def _number(x: int) -> str:
    # The smallest number has no literal of its own.
    return f"INT64_C({x})" if x > -(1 << 63) else "INT64_MIN"


def _exists(var: Var, names: Mapping[str, str]) -> str:
    name = names[var.name]
    if var.extent is not None:
        return f"0 <= {name} && {name} < {_expr(var.extent, names)}"
    ends = (
        None if var.lo is None else f"{_number(var.lo)} <= {name}",
        None if var.hi is None else f"{name} <= {_number(var.hi)}",
    )
    return " && ".join(e for e in ends if e)


def _expr(e: Expr, names: Mapping[str, str]) -> str:
    terms = []
    for mono, c in e.terms.items():
        factors = [names[a] if isinstance(a, str) else _op(a, names) for a in mono]
        terms.append(" * ".join(([_number(c)] if c != 1 or not factors else []) + factors))
    return f"({' + '.join(terms)})" if len(terms) > 1 else terms[0] if terms else _number(0)


def _op(op: Op, names: Mapping[str, str]) -> str:
    args = [_expr(a, names) for a in op.args]
    if op.kind == "where":
        assert op.cond is not None
        return f"({_cond(op.cond, names)} ? {args[0]} : {args[1]})"
    text = args[0]
    for other in args[1:]:  # min and max take any number
        text = f"{op.kind}({text}, {other})"
    return text


def _cond(c: Cond, names: Mapping[str, str]) -> str:
    if c.kind == "const":
        return "true" if c.truth else "false"
    if c.expr is not None:
        return f"{_expr(c.expr, names)} {'>=' if c.kind == 'ge' else '==' if c.kind == 'eq' else '!='} 0"
    if c.kind == "opaque":
        return "true"  # depends on data that may be such
    return "(" + (" && " if c.kind == "and" else " || ").join(_cond(a, names) for a in c.args) + ")"
