"""When a runtime's answer is a fault, and for which sizes; shared by rules on copies and on outputs."""

from __future__ import annotations

from ..analyzer.model.findings import Severity
from ..analyzer.model.record import record
from ..analyzer.runtimes.model import Judgement
from ..analyzer.runtimes.profile import Outcome

_EFFECTS = {
    "abort": "the process ends", "error": "the call fails", "undefined": "the runtime misbehaves",
    "wrong": "wrong elements arrive",
}  # fmt: skip


@record(frozen=True)
class Refusal:
    """``sizes`` at which it happens, empty for all; only then it is an error. ``stops``: the run ends there."""

    reason: str
    severity: Severity
    sizes: dict[str, int] | None
    stops: bool


def refusal(outcome: Outcome, kinds: tuple[str, ...] = ("reject", "corrupt")) -> Refusal | None:
    """What goes wrong, for every size or for some admitted one; None when nothing is known to."""
    if outcome.kind in kinds:
        return Refusal(f"{outcome.reason}; {effect(outcome)}", "error", None, ends_run(outcome))
    found = next((dict(sizes) for kind, sizes in outcome.cases if kind in kinds), None)
    return None if found is None else Refusal(outcome.reason, "warning", found, ends_run(outcome))


def ends_run(outcome: Outcome | Judgement) -> bool:
    """Whether the process or the call ends, rather than going on with wrong data."""
    return outcome.effect in ("abort", "error")


def effect(outcome: Outcome | Judgement) -> str:
    """What happens, in words, with the error code if there is one."""
    text = _EFFECTS.get(outcome.effect, "the call fails")
    code = outcome.error
    return f"{text} ({code})" if code and code not in ("abort", "error", "undefined") else text
