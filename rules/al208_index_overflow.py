"""AL208: an index is computed in 32 bits and does not fit."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..analyzer.checks.index_overflow import Wrap, wraps
from ..analyzer.model.findings import Evidence, Finding, Related
from ..analyzer.reporting.footprints import ends
from . import common
from .registry import Rule

if TYPE_CHECKING:
    from ..analyzer.analysis import Analysis


def check(analysis: Analysis) -> Iterator[Finding]:
    """One finding for each launch and parameter."""
    for _, _, _, verdicts in common.by_parameter(analysis, ("load", "store", "atomic")):
        for v in verdicts:
            if v.storage.stack:  # small; what is wrong there is said of the arrays in memory
                continue
            found = wraps(v, analysis.ranges)
            if found is not None:
                yield _finding(analysis, found)
                break


#: Types by what their values stay below.
_TYPES = {1 << 7: "8-bit int", 1 << 8: "8-bit uint", 1 << 15: "16-bit int", 1 << 16: "16-bit uint",
          1 << 31: "32-bit int", 1 << 32: "32-bit uint"}  # fmt: skip


def _help(found: Wrap) -> str | None:
    """Which factor to widen, where the text of a Triton kernel shows a product; None: the rule's own help."""
    kernel = found.verdict.launch.kernel
    if kernel is None or kernel.dialect != "triton":
        return None
    try:
        tree = ast.parse(found.text, mode="eval")
    except SyntaxError:
        return None
    products = [n for n in ast.walk(tree) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Mult)]
    if not products:
        return None
    left, right = products[0].left, products[0].right
    factor = ast.unparse(right if isinstance(left, ast.Constant) else left)
    return f"Widen a factor before it is multiplied: ({factor}).to(tl.int64) in {found.text}."


def _finding(analysis: Analysis, found: Wrap) -> Finding:
    v = found.verdict
    launch, tensor, access = v.launch, v.tensor, v.access
    span = ends([v], analysis.ranges, v.start) or {}
    word = common.access_word(access.kind)
    kind = f"{_TYPES.get(found.limit, 'integer')}, which ends at {found.limit - 1}"
    witness = common.with_names(v, found.witness)
    shown = {k: x for k, x in (witness or {}).items() if k in access.text} or found.witness
    return RULE.finding(
        f"{launch.event.kernel} computes {found.text} as a {kind}, but it reaches {found.value} at "
        f"{common.witness_text(shown)}: the {word} through {v.param.name} lands elsewhere",
        launch.event.loc,
        help=_help(found),
        related=[*common.origin(tensor), Related(f"{v.param.name}[{access.text}]", access.loc)],
        storage=tensor.storage.root.name, tensor=tensor.label, base=tensor.base, kernel=launch.event.kernel,
        parameter=v.param.name, launch_line=launch.event.loc.line,
        source_nodes=common.source_nodes(analysis, tensor, launch),
        evidence=Evidence(
            access=word, min=span.get("min"), max=span.get("max"), available=common.number(v.capacity),
            witness=witness, sizes=common.numbers(tensor.sizes),
            strides=common.numbers(tensor.meant_strides or tensor.strides), offset=common.number(v.start),
        ),
    )  # fmt: skip


RULE = Rule(
    code="AL208",
    name="index-overflow",
    severity="error",
    summary="An index is computed in 32 bits and its value does not fit: it wraps around.",
    explanation="""
    Each size fits 32 bits, the linear index does not. It wraps to a negative or a small number, so the kernel
    reads or writes before the tensor or at its beginning, and the elements it meant are never touched. The same
    goes for a variable that the index is computed from. Dynamic sizes without an upper bound are taken to be
    small enough; the generator asks for 64-bit indices by the same rule.
    """,
    bad="""
    int x0 = (xindex) % (65536);
    int x1 = c10::metal::floor_divide(xindex, 65536);
    out_ptr0[x0 + 65536*x1] = tmp0;                 // x1 reaches 32768: 2147483648
    """,
    good="""
    long x0 = (xindex) % (65536);
    long x1 = c10::metal::floor_divide(xindex, 65536);
    out_ptr0[x0 + 65536*x1] = tmp0;
    """,
    since="0.1.0",
    check=check,
    help="Split the tensor or the batch so that no buffer has more than 2147483647 elements, or export with a "
    "generator that emits 64-bit indices here.",
)
