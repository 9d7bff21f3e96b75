"""AL206: two concurrent iterations store different values to one element."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..analyzer.concurrency.write_races import Race, races
from ..analyzer.model.findings import Evidence, Finding, Related
from . import common
from .pair_messages import at, differing, witness
from .registry import Rule

if TYPE_CHECKING:
    from ..analyzer.analysis import Analysis


def check(analysis: Analysis) -> Iterator[Finding]:
    for race in races(analysis):
        yield _finding(analysis, race)


def _finding(analysis: Analysis, race: Race) -> Finding:
    v, launch = race.store, race.store.launch
    first, second = differing(race.first, race.second)
    doubt = f"; {race.doubt}" if race.doubt else ""
    related = common.origin(v.tensor)
    for access in dict.fromkeys((race.store.access, race.other.access)):
        related.append(Related(f"{access.param}[{access.text}]", access.loc))
    return RULE.finding(
        f"{launch.event.kernel} stores element {race.element} of {v.storage.name} through {v.param.name} in two "
        f"concurrent iterations: {first} and {second}{at(race.sizes)}{doubt}",
        launch.event.loc, severity=None if race.certain else "warning", related=related,
        storage=v.storage.root.name, tensor=v.tensor.label, base=v.tensor.base, kernel=launch.event.kernel,
        parameter=v.param.name, launch_line=launch.event.loc.line,
        source_nodes=common.source_nodes(analysis, v.tensor, launch),
        evidence=Evidence(
            access="write", min=race.element, max=race.element, available=common.number(v.capacity),
            witness=witness(race.sizes, race.first, race.second),
            sizes=common.numbers(v.tensor.sizes), strides=common.numbers(v.tensor.meant_strides or v.tensor.strides),
            offset=common.number(v.start),
        ),
    )  # fmt: skip


RULE = Rule(
    code="AL206",
    name="write-write-race",
    severity="error",
    summary="Two iterations that run at the same time store different values to one element, not atomically.",
    explanation="""
    The iterations of a grid or of a parallel loop, and the lanes of one vector store, run in any order. Where two
    of them store to one element, one value is lost, and which one can change from run to run. Usually the index
    of the store leaves out a variable on which the value depends, or a sum over it was meant and needs an
    atomic add.

    A value that is the same in both iterations, as what a reduction leaves in every thread of a group, is no
    fault, and the iterations of an ordinary loop do not race. An error names two iterations that were checked by
    evaluating the index and the guards; where it is not known what the value depends on, it is a warning.
    """,
    bad="""
    xindex = xoffset + tl.arange(0, XBLOCK)[:]           # 0 .. 255
    x0 = (xindex % 64)
    tmp0 = tl.load(in_ptr0 + (xindex), xmask)
    tl.store(out_ptr0 + (x0), tmp0, xmask)               # xindex 0, 64, 128 and 192 all store element 0
    """,
    good="""
    tl.atomic_add(out_ptr0 + (x0), tmp0, xmask, sem='relaxed')
    """,
    since="0.1.0",
    check=check,
    help="Report the kernel: its store index must contain every variable the value depends on, or be atomic.",
)
