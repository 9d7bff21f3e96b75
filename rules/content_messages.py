"""Findings on what a buffer holds when it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..analyzer.checks import packed_copies
from ..analyzer.checks.contents import Fault
from ..analyzer.memory.trace import CallFact, LaunchFact, OutputFact
from ..analyzer.model.findings import Evidence, Finding, Related, Severity
from . import common

if TYPE_CHECKING:
    from ..analyzer.analysis import Analysis
    from .registry import Rule


def finding(
    analysis: Analysis,
    rule: Rule,
    fault: Fault,
    message: str,
    *,
    at: LaunchFact | None = None,
    severity: Severity | None = None,
) -> Finding:
    """The finding for a content fault; ``at`` is the launch to blame, else the use is the place."""
    t, v, use = fault.tensor, fault.access, fault.use
    where = at or use
    assert isinstance(where, (LaunchFact, CallFact, OutputFact))
    kernel = where.event.kernel if isinstance(where, LaunchFact) else None
    related = common.origin(t)
    if at is not None and isinstance(use, (LaunchFact, CallFact, OutputFact)):
        related.append(Related("they are used here", use.event.loc))
    if v is not None and at is None:
        related.append(Related(f"{v.param.name}[{v.access.text}]", v.access.loc))
    witness = {**fault.sizes, **(fault.witness or {})}
    if v is not None and fault.witness is not None:
        witness = common.with_names(v, witness) or witness
    sizes = f" at {common.witness_text(fault.sizes)}" if fault.sizes else ""
    return rule.finding(
        message + sizes, where.event.loc, severity=severity, related=related, storage=t.storage.root.name,
        tensor=t.label, base=t.base, kernel=kernel, parameter=v.param.name if v is not None and at is None else None,
        launch_line=where.event.loc.line if kernel else None,
        op=use.event.op if isinstance(use, CallFact) and at is None else None,
        source_nodes=common.source_nodes(analysis, t, where if isinstance(where, LaunchFact) else None),
        evidence=Evidence(
            access="read", min=fault.first, max=fault.last, available=fault.capacity, witness=witness or None,
            sizes=common.numbers(t.sizes), strides=common.numbers(t.strides), offset=common.number(t.offset),
        ),
    )  # fmt: skip


def lost_in_copies(analysis: Analysis, fault: Fault) -> bool:
    """Whether writes to this storage went into packed copies: that is reported as such, and is the cause."""
    storage = fault.tensor.storage
    return any(
        copy.root is storage and any(packed_copies.writers(body, copy) for body in analysis.bodies)
        for copy in packed_copies.copies(analysis)
    )
