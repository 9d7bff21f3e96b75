"""From paths to reports: sources, readers, replay, verdicts, and the rules that are handed in."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Protocol, TextIO

from .memory.trace import LaunchFact, ViewFact
from .model.findings import Counts, FileReport, Finding, Report
from .model.record import replace
from .sources import Failure, WrapperSource, load
from .sources.task import Task
from .symbolic.assumptions import Interval

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from .analysis import Analysis
    from .bounds.model import Decision
    from .model.program import Program
    from .runtimes import Profile

#: Runs the rules over an analysis; handed in, as this package knows no rules.
Rules = Callable[["Analysis"], list[Finding]]


class Results(Protocol):
    """Reports kept from earlier runs."""

    def get(self, task: Task) -> list[FileReport] | None:
        """Those of a task, when nothing it depends on has changed."""

    def put(self, task: Task, reports: list[FileReport]) -> None: ...


def read(source: WrapperSource, processes: int = 1) -> Program:
    """The program of a wrapper, large kernel files read by several processes. Raises NotAWrapper with one line."""
    if source.python:
        from .wrapper.python.reader import read_python

        return read_python(source.wrapper.text, source.wrapper.path, processes)
    from .wrapper.reader import read_program

    kernels = [(k.path, k.text) for k in source.kernels]
    return read_program(
        source.wrapper.text, source.wrapper.path, kernels, source.wrapper.first_line, processes
    )


def analyse(source: WrapperSource, runtime: str, sizes: Mapping[str, Interval]) -> Analysis:
    """One wrapper under one runtime. Raises NotAWrapper, LookupError (runtime), KeyError (size)."""
    from .analysis import analyze
    from .runtimes import resolve

    program = read(source)
    return analyze(
        program, resolve(_runtimes((runtime,), program)[0], program.device), _known(sizes, program)
    )


def _runtimes(names: tuple[str, ...], program: Program) -> tuple[str, ...]:
    """The runtimes asked for; what ``torch.compile`` generates runs where it was generated, in libtorch."""
    if program.dialect != "python":
        return tuple("libtorch" if n == "auto" and program.dialect == "cpp_wrapper" else n for n in names)
    return tuple(n for n in names if n.partition("@")[0] == "libtorch") or ("libtorch",)


def _known(sizes: Mapping[str, Interval], program: Program) -> dict[str, Interval]:
    """Those of the sizes that the program has."""
    known = {s.name for s in program.symbols}
    return {name: interval for name, interval in sizes.items() if name in known}


def check_source(task: Task, rules: Rules, processes: int = 1) -> list[FileReport]:
    """The report of one wrapper under each runtime; whatever goes wrong is a one-line error. It is read once."""
    from .runtimes import resolve_all
    from .wrapper.errors import NotAWrapper

    source = task.source
    if isinstance(source, Failure):
        return [FileReport(source.path, "failed", source.error)]
    path = source.wrapper.path
    try:
        program = read(source, processes)
    except NotAWrapper as e:
        return [FileReport(path, "failed", str(e))]
    except Exception as e:
        return [_internal(path, e)]
    decisions: dict[object, Decision] = {}
    return [
        _check(source, program, profile, task.sizes, rules, decisions)
        for profile in resolve_all(_runtimes(task.runtimes, program), program.device)
    ]


def _remembered(task: Task, rules: Rules, results: Results, processes: int = 1) -> list[FileReport]:
    """The report kept of an unchanged wrapper, or a new one, which is kept."""
    if isinstance(task.source, Failure):
        return check_source(task, rules)
    found = results.get(task)
    if found is None:
        found = check_source(task, rules, processes)
        results.put(task, found)
    return found


def _check(
    source: WrapperSource,
    program: Program,
    profile: Profile,
    sizes: Mapping[str, Interval],
    rules: Rules,
    decisions: dict[object, Decision],
) -> FileReport:
    from .analysis import analyze

    try:
        analysis = analyze(program, profile, _known(sizes, program), decisions)
        findings = rules(analysis)
        if program.dialect == "python":
            findings = _guarded(analysis, findings, sizes, rules)
        return _report(source, analysis, findings)
    except Exception as e:
        return replace(_internal(source.wrapper.path, e), runtime=profile.name, runtime_date=profile.date)


def _guarded(
    analysis: Analysis, findings: list[Finding], sizes: Mapping[str, Interval], rules: Rules
) -> list[Finding]:
    """The findings, where those that guards outside the file may rule out are no errors."""
    from .analysis import analyze
    from .checks.unseen_guards import weakened

    program, known = analysis.program, _known(sizes, analysis.program)
    several = [name for name, lo, hi in analysis.symbols if lo != hi]
    return weakened(
        program, findings, known, several, lambda at: rules(analyze(program, analysis.profile, at))
    )


def _internal(path: str, e: Exception) -> FileReport:
    if os.environ.get("AOTI_LINT_DEBUG"):
        raise e
    if "RecursionError" in f"{type(e).__name__} {e}":
        return FileReport(path, "failed", "an expression is nested too deeply to be read")
    text = " ".join(str(e).split())[:160]
    return FileReport(path, "failed", f"internal error, please report it: {type(e).__name__}: {text}")


def _report(source: WrapperSource, analysis: Analysis, findings: list[Finding]) -> FileReport:
    from .runtimes import releases_of

    program, profile = analysis.program, analysis.profile
    return FileReport(
        program.path, "analysed", None, program.device, program.torch, program.dialect, profile.name, profile.date,
        releases_of(profile.name), counts(analysis), list(analysis.symbols), findings, list(analysis.unknowns), _lines(source, findings),
    )  # fmt: skip


def counts(analysis: Analysis) -> Counts:
    """Verdict and event counts of an analysis."""
    from .analysis import unmodelled_statements
    from .memory.trace import CallFact

    out = Counts(
        storages=sum(len(b.storages) for b in analysis.bodies),
        views=sum(1 for _ in analysis.facts(ViewFact)),
        launches=sum(1 for _ in analysis.facts(LaunchFact)),
        extern_calls=sum(1 for _ in analysis.facts(CallFact)),
        unmodelled_statements=len(unmodelled_statements(analysis)),
    )
    for v in analysis.all_verdicts:
        if v.decision.status == "proved":
            out.proved += 1
        elif v.decision.status == "fault":
            out.fault += 1
        else:
            out.unknown += 1
    return out


def _lines(source: WrapperSource, findings: Sequence[Finding]) -> dict[tuple[str, int], str]:
    """The source lines findings point at."""
    wanted: dict[str, set[int]] = {}
    for f in findings:
        for loc in (f.loc, *(r.loc for r in f.related)):
            wanted.setdefault(loc.path, set()).add(loc.line)
    out: dict[tuple[str, int], str] = {}
    for text in (source.wrapper, *source.kernels):
        lines = wanted.get(text.path)
        if not lines:
            continue
        rows = text.text.split("\n")
        for n in lines:
            if 0 <= n - text.first_line < len(rows):
                out[text.path, n] = rows[n - text.first_line]
    return out


def tasks(
    paths: Iterable[str],
    runtimes: tuple[str, ...],
    sizes: Mapping[str, Interval],
    stdin: TextIO | None = None,
    exclude: Sequence[str] = (),
    stdin_name: str | None = None,
) -> Iterator[Task]:
    """A task for each wrapper at ``paths``: once, by whatever ways the paths lead there; none that ``exclude`` names."""
    seen: set[tuple[str, int]] = set()
    for path in paths:
        for source in load(path, stdin):
            if path == "-" and stdin_name is not None:
                source = _renamed(source, stdin_name)
            name, line = (
                (source.path, 0)
                if isinstance(source, Failure)
                else (source.wrapper.path, source.wrapper.first_line)
            )
            here = (_real(name), line)
            if here in seen or any(_matches(name, pattern) for pattern in exclude):
                continue
            seen.add(here)
            yield Task(source, runtimes, sizes)


def _real(path: str) -> str:
    """A path without links and detours; what is inside a package stays as it is."""
    outside, mark, inside = path.partition("!")
    return os.path.realpath(outside) + mark + inside


def _matches(path: str, pattern: str) -> bool:
    """Whether a shell pattern names a path, its end after any folder, or a folder it is in."""
    from fnmatch import fnmatchcase

    parts = path.replace("\\", "/").split("/")
    wanted = pattern.rstrip("/").removeprefix("./")
    ends = range(len(parts), 0, -1)
    return any(fnmatchcase("/".join(parts[start:end]), wanted) for end in ends for start in range(end))


def _renamed(source: WrapperSource | Failure, name: str) -> WrapperSource | Failure:
    """What came on standard input under the name it is said to have."""
    if isinstance(source, Failure):
        return replace(source, path=name)
    return replace(source, wrapper=replace(source.wrapper, path=name))


def check_paths(
    paths: Sequence[str],
    rules: Rules,
    *,
    runtime: str | Iterable[str] = "auto",
    sizes: Mapping[str, Interval] | None = None,
    jobs: int | None = None,
    shard: tuple[int, int] | None = None,
    stdin: TextIO | None = None,
    executor: Executor | None = None,
    progress: Callable[[int, int], None] | None = None,
    results: Results | None = None,
    exclude: Sequence[str] = (),
    stdin_name: str | None = None,
) -> Report:
    """Check every wrapper at ``paths`` but those ``exclude`` names (shell patterns). ``shard`` (I, N) keeps every N-th; ``progress(done, total)``.

    ``results`` are kept from earlier runs; what has not changed is taken from there.

    With several runtimes, or ``all``, the report has an entry for each wrapper under each of them.
    Raises LookupError for an unknown runtime.
    """
    from .. import __version__

    runtimes = (runtime,) if isinstance(runtime, str) else tuple(runtime)
    todo = list(tasks(paths, runtimes, sizes or {}, stdin, exclude, stdin_name))
    if shard is not None:
        todo = todo[shard[0] - 1 :: shard[1]]
    if results is None:
        work = partial(check_source, rules=rules)
    else:
        work = partial(_remembered, rules=rules, results=results)
    files: list[FileReport] = []
    done = 0
    try:
        for done, reports in enumerate(_run(work, todo, jobs, executor), 1):
            files += reports
            if progress is not None:
                progress(done, len(todo))
    except KeyboardInterrupt:
        return Report(files, __version__, left=len(todo) - done)
    return Report(files, __version__)


def _run(
    work: Callable[..., list[FileReport]],
    todo: Sequence[Task],
    jobs: int | None,
    executor: Executor | None,
) -> Iterator[list[FileReport]]:
    if executor is not None:
        yield from executor.map(work, todo)
        return
    jobs = jobs or os.cpu_count() or 1
    size = sum(t.source.size for t in todo if isinstance(t.source, WrapperSource))
    if min(jobs, len(todo)) <= 1 or (len(todo) < 4 and size < 4_000_000):
        yield from map(partial(work, processes=jobs), todo)
        return
    from concurrent.futures import ProcessPoolExecutor

    pool = ProcessPoolExecutor(min(jobs, len(todo)), initializer=_leave_interrupts)
    try:
        yield from pool.map(work, todo)
    except KeyboardInterrupt:
        import multiprocessing
        import threading

        # The pool's own thread takes workers that are gone for a fault and says so; this run is over.
        threading.excepthook = lambda _: None
        for child in multiprocessing.active_children():
            child.terminate()
        raise
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _leave_interrupts() -> None:
    """A worker ends when its parent says so; Ctrl-C reaches both."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)


def analyses(
    path: str, runtime: str = "auto", sizes: Mapping[str, Interval] | None = None
) -> Iterator[Analysis | Failure]:
    """The analysis of every wrapper at ``path``, or why there is none."""
    from .wrapper.errors import NotAWrapper

    for source in load(path):
        if isinstance(source, Failure):
            yield source
            continue
        try:
            yield analyse(source, runtime, sizes or {})
        except NotAWrapper as e:
            yield Failure(source.wrapper.path, str(e))
