"""AL501: a constant is declared larger than the bytes that are stored for it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..analyzer.checks.constants import Shortage, shortage
from ..analyzer.model.findings import Evidence, Finding
from .registry import Rule

if TYPE_CHECKING:
    from ..analyzer.analysis import Analysis


def check(analysis: Analysis) -> Iterator[Finding]:
    for row in analysis.program.constants:
        found = shortage(row)
        if found is not None:
            yield _finding(found)


def _finding(found: Shortage) -> Finding:
    row = found.constant
    return RULE.finding(
        f"constant {row.name} {_braces(row.sizes)}/{_braces(row.strides)} at offset {row.offset} needs elements "
        f"{found.first} to {found.last} of {row.dtype}, but its {row.data_size} bytes hold {found.available}",
        row.loc, storage=row.name, tensor=row.name,
        evidence=Evidence(
            min=found.first, max=found.last, available=found.available, sizes=row.sizes, strides=row.strides,
            offset=row.offset,
        ),
    )  # fmt: skip


def _braces(values: tuple[int, ...]) -> str:
    return "{" + ", ".join(map(str, values)) + "}"


RULE = Rule(
    code="AL501",
    name="constant-exceeds-blob",
    severity="error",
    summary="A constant's sizes, strides and offset reach past the bytes the model stores for it.",
    explanation="""
    The constants table gives every weight a layout and a number of bytes. The loader copies that many bytes and
    wraps them in that layout without comparing the two; what reads the weight goes on into the next one or past
    the end of the blob.
    """,
    bad="""
    constants_info_[0].data_size = 4608;
    constants_info_[0].shape = {25, 48};       // 1200 floats are 4800 bytes
    constants_info_[0].stride = {48, 1};
    """,
    good="""
    constants_info_[0].data_size = 4608;
    constants_info_[0].shape = {24, 48};       // 1152 floats are 4608 bytes
    constants_info_[0].stride = {48, 1};
    """,
    since="0.1.0",
    check=check,
    help="The table and the blob belong together: export again, and don't mix files of two exports.",
)
