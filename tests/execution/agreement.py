"""Does the product say what execution shows?

For every launch and pointer: what the product proves must not leave its storage when it runs, what it calls a
fault must, and everything that is touched must lie in the range it computed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from aoti_lint.analyzer.analysis import Analysis
from aoti_lint.analyzer.memory.trace import Verdict
from aoti_lint.analyzer.model.location import Loc
from aoti_lint.analyzer.model.program import Launch
from aoti_lint.analyzer.pipeline import analyse, read
from aoti_lint.analyzer.reporting.footprints import rows
from aoti_lint.analyzer.sources import WrapperSource

from .results import Execution, Ran, Touched
from .run import execute
from .script import ALIASES, COPIES, Memory

#: The memory model that stands for a runtime.
MODELS = {"libtorch": ALIASES, "executorch-metal": COPIES}


@dataclass(slots=True)
class Agreement:
    """Counts over launch arguments, and every disagreement as one line."""

    proved: int = 0
    fault: int = 0
    unknown: int = 0
    equal: int = 0
    wider: int = 0
    not_run: int = 0
    disagreements: list[str] = field(default_factory=list)

    def __iadd__(self, other: Agreement) -> Agreement:
        for name in ("proved", "fault", "unknown", "equal", "wider", "not_run"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.disagreements += other.disagreements
        return self

    def __str__(self) -> str:
        return (
            f"{self.proved} proved and held, {self.fault} faults that happened, {self.unknown} unknown; ranges {self.equal} "
            f"equal, {self.wider} wider; {self.not_run} not run; {len(self.disagreements)} disagreements"
        )


def agree(source: WrapperSource, runtime: str, sizes: Mapping[str, int] | None = None) -> Agreement:
    """Compare one wrapper under one runtime. Raises NotRun, NotBuilt (see :mod:`.emulate`)."""
    memory = MODELS[runtime]
    execution = execute(source, memory, sizes)
    result = Agreement()
    general = analyse(source, runtime, {})
    faults = _statuses(general, execution, result)
    exact = analyse(source, runtime, {n: (v, v) for n, v in execution.sizes.items()})
    _ranges(exact, execution, result)
    for verdict in faults:
        _fault(source, memory, verdict, result)
    return result


def _key(loc: Loc, param: str) -> tuple[int, int, str]:
    return loc.line, loc.column, param


def _touched(execution: Execution) -> dict[tuple[int, int, str], list[tuple[Ran, Touched]]]:
    found: dict[tuple[int, int, str], list[tuple[Ran, Touched]]] = {}
    for ran in execution.launches():
        for t in ran.touched:
            found.setdefault(_key(ran.event.loc, t.name), []).append((ran, t))
    return found


def _by_argument(verdicts: Iterable[Verdict]) -> dict[tuple[int, int, str], list[Verdict]]:
    found: dict[tuple[int, int, str], list[Verdict]] = {}
    for v in verdicts:
        found.setdefault(_key(v.launch.event.loc, v.access.param), []).append(v)
    return found


def _statuses(analysis: Analysis, execution: Execution, result: Agreement) -> list[Verdict]:
    """Check what is proved for all sizes at the sizes that were run; the first fault of each argument is returned."""
    touched = _touched(execution)
    faults = []
    for key, verdicts in _by_argument(analysis.bodies[-1].verdicts).items():
        statuses = {v.decision.status for v in verdicts}
        if "fault" in statuses:
            faults.append(next(v for v in verdicts if v.decision.status == "fault"))
        elif key not in touched:
            result.not_run += 1
        elif "unknown" in statuses:
            result.unknown += 1
        else:
            bad = [t for _, t in touched[key] if t.bad_reads or t.bad_writes]
            result.proved += not bad
            result.disagreements += [f"{_where(verdicts[0])}: proved, but {_story(t)}" for t in bad[:1]]
    return faults


def _ranges(analysis: Analysis, execution: Execution, result: Agreement) -> None:
    touched = _touched(execution)
    lines = {
        (e.loc.line, e.kernel): e.loc
        for e in (r.event for r in execution.launches())
        if isinstance(e, Launch)
    }
    for row in rows(analysis):
        loc = lines.get((row["launch_line"], row["kernel"]))
        seen = touched.get(_key(loc, row["parameter"]), []) if loc else []
        for ran, t in seen[:1]:
            if ran.failed:
                continue
            states = [_compare(row["reads"], t.reads), _compare(row["writes"], t.writes)]
            if "outside" in states:
                result.disagreements.append(
                    f"{row['path']}:{row['launch_line']} {row['kernel']} {row['parameter']}: computed reads {row['reads']} "
                    f"writes {row['writes']}, but {_story(t)}"
                )
            elif "wider" in states:
                result.wider += 1
            elif "open" not in states:
                result.equal += 1


def _compare(computed: Mapping[str, int | str | None] | None, ran: tuple[int, int] | None) -> str:
    if computed is None or ran is None:
        return "equal" if computed is ran else "outside" if computed is None else "wider"
    lo, hi = computed["min"], computed["max"]
    if not isinstance(lo, int) or not isinstance(hi, int):
        return "open"
    return "equal" if (lo, hi) == ran else "wider" if lo <= ran[0] and ran[1] <= hi else "outside"


def _fault(source: WrapperSource, memory: Memory, verdict: Verdict, result: Agreement) -> None:
    """Run at the sizes of the witness: the launch must leave its storage, and reach the witness's index.

    It need not reach that very index where it depends on loaded data or a check of the kernel stops it early; when it
    then stays inside, nothing was seen.
    """
    witness = verdict.decision.witness or {}
    symbols = {s.name for s in read(source).symbols}
    sizes = {n: v for n, v in witness.items() if n in symbols}
    seen = _touched(execute(source, memory, sizes)).get(
        _key(verdict.launch.event.loc, verdict.access.param), []
    )
    if not seen:
        result.not_run += 1
        return
    index = verdict.decision.index
    kind = "writes" if verdict.access.kind == "store" else "reads"
    free = any(ran.failed for ran, _ in seen) or any(v.kind == "data" for v in verdict.vars)
    for _, t in seen:
        bad = t.bad_writes if kind == "writes" else t.bad_reads
        ends: tuple[int, int] | None = getattr(t, kind)
        if bad and ends is not None and index is not None and (free or ends[0] <= index <= ends[1]):
            result.fault += 1
            return
    if free:
        result.not_run += 1
        return
    result.disagreements.append(f"{_where(verdict)}: fault at {index}, but {_story(seen[0][1])}")


def _where(v: Verdict) -> str:
    loc = v.launch.event.loc
    return f"{loc.path}:{loc.line} {v.launch.event.kernel} {v.access.param}[{v.access.text}]"


def _story(t: Touched) -> str:
    return f"{t.name} ran reads {t.reads} writes {t.writes} of {t.available}, {t.bad_reads}+{t.bad_writes} outside"
