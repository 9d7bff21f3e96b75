"""AL504: an input must have a layout that is not checked, or that the runtime does not hand over."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..analyzer.checks.input_contract import Contract, contracts
from ..analyzer.model.findings import Evidence, Finding
from . import common
from .outcomes import effect, ends_run
from .registry import Rule

if TYPE_CHECKING:
    from ..analyzer.analysis import Analysis


def check(analysis: Analysis) -> Iterator[Finding]:
    if analysis.program.dialect != "aoti":
        return  # what torch.compile generates is called by code that has looked at the inputs
    for found in contracts(analysis):
        yield _finding(analysis, found)


def _finding(analysis: Analysis, found: Contract) -> Finding:
    i, tensor = found.input, found.tensor
    sizes = tensor.sizes if tensor else i.sizes
    strides = tensor.strides if tensor else i.strides
    layout = f"{common.braces(sizes)}/{common.braces(strides)}"
    if found.refused is not None:
        message = (
            f"input {i.index} ({i.name}) must be {layout}, which {analysis.profile.name} does not hand over: "
            f"{found.refused.reason}; {effect(found.refused)}"
        )
    else:
        message = f"the wrapper takes input {i.index} ({i.name}) to be {layout}, and no check covers {found.unchecked}"
    return RULE.finding(
        message, i.loc, severity="error" if found.refused is not None else "note", storage=i.name, tensor=i.name,
        evidence=Evidence(sizes=common.numbers(sizes), strides=common.numbers(strides)),
        stops=found.refused is not None and ends_run(found.refused),
    )  # fmt: skip


RULE = Rule(
    code="AL504",
    name="input-contract",
    severity="note",
    summary="The kernels count on a size or stride of an input that no run-time check covers.",
    explanation="""
    Kernels are compiled for the example inputs of the export: for their number of dims, their static sizes and
    their strides. What the wrapper's own checks (active with AOTI_RUNTIME_CHECK_INPUTS=1) leave out is up to
    the caller; a tensor that differs there is read at the wrong elements without notice. Where the runtime
    itself can't hand over an input of this layout, the finding is an error.
    """,
    bad="""
    // sizes of arg0_1 are checked, its strides are not; the kernel reads arg0_1[x1 + s21*x0]
    if (16 < arg0_1_size[0]) { throw std::runtime_error(ss.str()); }
    """,
    good="""
    if (1 != arg0_1_stride[1]) { throw std::runtime_error(ss.str()); }
    """,
    since="0.1.0",
    check=check,
    help="Pass contiguous tensors (x.contiguous()), or check sizes and strides before the call.",
)
