"""AL204: a kernel reads a packed copy in bounds, at an element that is not the one it means."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..analyzer.checks import packed_copies
from ..analyzer.checks.beside_views import Beside, reads_beside
from ..analyzer.memory.trace import Verdict
from ..analyzer.model.findings import Evidence, Finding, Related
from ..analyzer.reporting.footprints import ends
from . import common
from .registry import Rule

if TYPE_CHECKING:
    from ..analyzer.analysis import Analysis


def check(analysis: Analysis) -> Iterator[Finding]:
    views = packed_copies.copies(analysis)
    for _launch, tensor, _param, verdicts in common.by_parameter(analysis, ("load",)):
        fact = views.get(tensor.storage)
        if fact is None:
            continue
        for v in verdicts:
            found = packed_copies.misread(v, analysis)
            if found is not None:
                yield _finding(analysis, v, found, verdicts)
                break
    for beside in reads_beside(analysis):
        yield _beside(analysis, beside)


def _beside(analysis: Analysis, found: Beside) -> Finding:
    """A warning: a kernel may mean to reach around its view."""
    v = found.verdict
    tensor, event = v.tensor, v.launch.event
    at = f" at {common.witness_text(found.sizes)}" if found.sizes else ""
    return RULE.finding(
        f"{event.kernel} reads elements {found.first} to {found.last} of {v.storage.name} through {v.param.name}{at}, which "
        f"are in the gaps of {common.named(tensor)} {common.braces(tensor.sizes)}/"
        f"{common.braces(tensor.meant_strides or tensor.strides)}: the kernel takes it for dense",
        tensor.loc, severity="warning",
        related=[
            *common.origin(tensor),
            Related(f"{event.kernel} is launched here", event.loc),
            Related(f"{v.param.name}[{v.access.text}]", v.access.loc),
        ],
        storage=tensor.storage.root.name, tensor=tensor.label, base=tensor.base, kernel=event.kernel,
        parameter=v.param.name, launch_line=event.loc.line,
        source_nodes=common.source_nodes(analysis, tensor, v.launch),
        evidence=Evidence(
            access="read", min=found.first, max=found.last, available=common.number(v.capacity),
            witness=found.sizes or None, sizes=common.numbers(tensor.sizes),
            strides=common.numbers(tensor.meant_strides or tensor.strides), offset=common.number(tensor.offset),
        ),
        help="Make the view contiguous before the kernel (x.contiguous() in the model), or give the kernel its strides.",
    )  # fmt: skip


def _finding(
    analysis: Analysis, v: Verdict, found: packed_copies.Misread, verdicts: list[Verdict]
) -> Finding:
    tensor, launch = v.tensor, v.launch
    span = ends(verdicts, analysis.ranges, v.start) or {}
    layout = common.layout_evidence(tensor)
    related = [
        *common.origin(tensor),
        Related(f"{launch.event.kernel} is launched here", launch.event.loc),
        Related(f"{v.param.name}[{v.access.text}]", v.access.loc),
    ]
    return RULE.finding(
        f"{launch.event.kernel} reads element {found.index} of {common.named(tensor)} through {v.param.name}, but its "
        f"packed copy holds element {found.holds} there",
        tensor.loc, related=related, storage=tensor.storage.root.name, tensor=tensor.label, base=tensor.base,
        kernel=launch.event.kernel, parameter=v.param.name, launch_line=launch.event.loc.line,
        source_nodes=common.source_nodes(analysis, tensor, launch),
        evidence=Evidence(
            access="read", min=span.get("min"), max=span.get("max"), available=common.number(v.capacity),
            witness=common.with_names(v, found.witness), sizes=layout.sizes, strides=layout.strides,
            offset=layout.offset,
        ),
    )  # fmt: skip


RULE = Rule(
    code="AL204",
    name="copied-view-misread",
    severity="error",
    summary="A kernel reads a packed copy of a view with the strides of the view: in bounds, the wrong element.",
    explanation="""
    The runtime replaced the view by a packed copy. The kernel was compiled for the strides of the view, so the
    index that meant one element finds another. A range check sees nothing when the index stays inside the
    copy; the numbers are wrong all the same.
    """,
    bad="""
    // {8, 4} with strides {1, 0}: the copy is a0 a0 a0 a0 a1 …, the kernel steps through it one by one
    auto buf1 = wrap_with_raii_handle_if_needed(reinterpret_tensor_wrapper(arg0_1, 2, {8L, 4L}, {1L, 0L}, 0L));
    auto tmp0 = in_ptr0[x1];
    """,
    good="""
    aoti_torch_mps_set_arg_tensor(handle, 1, arg0_1);      // the kernel gets the tensor the strides belong to
    """,
    since="0.1.0",
    check=check,
    help="Export so that the view is dense, or use a runtime that keeps it in place.",
)
