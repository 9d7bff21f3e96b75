"""The command line: options in, one exit code out. The only module that prints.

Everything heavy is imported by the command that needs it: ``--help`` should answer at once.
"""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

from .commands import plain
from .commands.options import (
    GRAPHS,
    Baseline,
    CacheDir,
    Command,
    ConfigFile,
    FailOn,
    File,
    Formats,
    Ignore,
    Jobs,
    NewBaseline,
    NoColor,
    OnePath,
    OutputFile,
    Paths,
    Quiet,
    Runtime,
    Runtimes,
    Select,
    Shard,
    Size,
    Statistics,
    Strict,
    TextOrJson,
    Verbose,
    argument,
    option,
)  # fmt: skip

if TYPE_CHECKING:
    from .analyzer.config import Range, Settings
    from .analyzer.model.findings import Report
    from .analyzer.reporting.cache import Results
    from .analyzer.sources import Failure

COMMANDS: dict[str, Command] = {}


def command(function: Command) -> Command:
    """A command of the same name: its parameters say what it takes, it returns the exit code."""
    COMMANDS[function.__name__] = function
    return function


def main() -> NoReturn:
    """The console script: no traceback for the user unless ``AOTI_LINT_DEBUG`` asks for it."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character must not end the run.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        call = plain.read(COMMANDS, sys.argv[1:])
        if call is None:
            from .commands.shell import application

            call = partial(application(COMMANDS), prog_name="aoti-lint")
        sys.exit(call())
    except Exception as e:
        from .analyzer.config import ConfigError

        if isinstance(e, ConfigError):
            _say(f"aoti-lint: error: {e}")
            sys.exit(2)
        if os.environ.get("AOTI_LINT_DEBUG"):
            raise
        _say(
            f"aoti-lint: internal error: {type(e).__name__}: {e} (please report; AOTI_LINT_DEBUG=1 shows where)"
        )
        sys.exit(3)


def _say(text: str) -> None:
    """A line for the person at the terminal, apart from the output."""
    sys.stderr.write(" ".join(text.splitlines()) + "\n")


def _write(text: str, file: Path | None) -> None:
    """A result, to a file or to standard output (whose reader may have gone)."""
    if file is not None:
        from .analyzer.config import ConfigError

        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        except OSError as e:
            raise ConfigError(f"cannot write {file}: {e.strerror}") from None
        return
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        # Python would complain once more when it closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


# -- check ------------------------------------------------------------------------------------------


@command
def check(
    paths: Paths,
    runtime: Runtimes = None,
    format: Formats = None,
    output: OutputFile = None,
    select: Select = None,
    ignore: Ignore = None,
    fail_on: FailOn = None,
    strict: Strict = None,
    baseline: Baseline = None,
    write_baseline: NewBaseline = None,
    size: Size = None,
    jobs: Jobs = None,
    cache_dir: CacheDir = None,
    shard: Shard = None,
    statistics: Statistics = None,
    quiet: Quiet = None,
    verbose: Verbose = None,
    no_color: NoColor = None,
    config: ConfigFile = None,
) -> int:
    """Lint wrappers: prove every access inside its storage, or say where it is not.

    PATH is a *.wrapper.cpp, a *.pt2 package, a *.so (its sources are looked for beside it), a folder (searched
    for all of these), or - for the text of a wrapper on standard input.
    """
    from .analyzer.config import parse_shard

    settings = _settings(
        config, runtimes=runtime, outputs=format, output=output, select=select, ignore=ignore, fail_on=fail_on,
        strict=strict, baseline=baseline, sizes=size, jobs=jobs, cache_dir=cache_dir, statistics=statistics, quiet=quiet, verbose=verbose,
        no_color=no_color,
    )  # fmt: skip
    part = parse_shard(shard) if shard else None
    report = _analyse(paths, settings, part)
    return _conclude(report, settings, write_baseline, complete=part is None)


def _settings(file: Path | None, **options: Any) -> Settings:
    """The configuration file's settings with the options over them."""
    from .analyzer.config import find, load, override

    return override(load(file or find(Path.cwd())), **options)


def _analyse(paths: list[str], settings: Settings, shard: tuple[int, int] | None = None) -> Report:
    """The engine's report, with a progress bar when that takes more than a moment."""
    from .analyzer.pipeline import check_paths
    from .analyzer.reporting.formats.progress import Bar
    from .analyzer.runtimes.catalog import devices
    from .rules.registry import run_rules

    with Bar(sys.stderr, wanted=not settings.quiet) as progress:
        report = check_paths(
            paths, run_rules, runtime=settings.runtimes, sizes=settings.sizes, jobs=settings.jobs, shard=shard,
            progress=progress, results=_kept(settings.cache_dir),
        )  # fmt: skip
    known = {name for file in report.files for name, _, _ in file.symbols}
    for name in sorted(settings.sizes.keys() - known):
        _say(f"aoti-lint: warning: no input has a free size called {name}, so --size {name} does nothing")
    other = {
        (f.runtime, f.device): f.path
        for f in report.files
        if f.runtime and f.device not in (None, *devices(f.runtime))
    }
    for (runtime, device), path in other.items():
        if made_for := " or ".join(devices(runtime)):
            _say(f"aoti-lint: warning: {runtime} is for {made_for} wrappers; {path} is for {device}")
    return report


def _kept(folder: Path | None) -> Results | None:
    if folder is None:
        return None
    from .analyzer.reporting.cache import Results

    return Results(folder)


def _conclude(report: Report, settings: Settings, new_baseline: Path | None, *, complete: bool) -> int:
    """Writes every output and returns the exit code."""
    from .analyzer.reporting.conclude import conclude
    from .rules.registry import load_rules

    texts, code = conclude(
        report, settings, load_rules(), new_baseline=new_baseline, complete=complete, terminal=_terminal()
    )
    for output, text in texts:
        _write(text, output.file)
    return code


def _terminal() -> tuple[bool, int]:
    """Whether to colour standard output, and its width in characters."""
    import shutil

    terminal = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    color = (terminal or bool(os.environ.get("FORCE_COLOR"))) and not os.environ.get("NO_COLOR")
    return color, shutil.get_terminal_size((160, 24)).columns if terminal else 160


# -- the other commands -----------------------------------------------------------------------------


@command
def run(
    command: Annotated[list[str], argument("CMD", takes_rest=True)],
    runtime: Runtimes = None,
    format: Formats = None,
    output: OutputFile = None,
    fail_on: FailOn = None,
    strict: Strict = None,
    cache: Annotated[File, option("--cache", metavar="DIR", help="Generate there and keep it.")] = None,
    quiet: Quiet = None,
    verbose: Verbose = None,
    config: ConfigFile = None,
) -> int:
    """Run an export command and lint every wrapper it generates.

    The command gets a fresh Inductor cache. Findings point at the export call of the command's script. CMD is best set apart: aoti-lint run -- python
    export.py. The exit code is the command's own when it fails. Wrappers with findings are kept.
    """
    import shutil
    import tempfile

    from .integrations import exporter

    settings = _settings(
        config, runtimes=runtime, outputs=format, output=output, fail_on=fail_on, strict=strict, quiet=quiet,
        verbose=verbose,
    )  # fmt: skip
    folder = cache or Path(tempfile.mkdtemp(prefix="aoti-lint-"))
    code = exporter.run(command, folder)
    if code:
        _say(f"aoti-lint: the command failed with exit code {code}")
    report = _analyse([str(folder)], settings)
    nothing = exporter.nothing_generated(report, folder)
    exporter.point_at_script(report, command)
    found = _conclude(report, settings, None, complete=False)
    if cache is None and (nothing or not any(file.findings or file.error for file in report.files)):
        shutil.rmtree(folder, ignore_errors=True)
    return code or found


@command
def rule(
    code: Annotated[str, argument("[CODE|all]")] = "",
    format: TextOrJson = "text",
) -> int:
    """Say what a rule means, with a bad and a good example; without CODE list all."""
    from .rules import docs

    _write(docs.answer(code, _one_of(format, "text", "json")), None)
    return 0


@command
def runtimes(name: Annotated[str, argument("[NAME]")] = "", format: TextOrJson = "text") -> int:
    """List the runtime profiles, or say what one assumes, with dates and sources."""
    from .analyzer.reporting.formats import runtimes as profiles

    _write(profiles.answer(name, _one_of(format, "text", "json")), None)
    return 0


@command
def kernels(
    path: OnePath,
    runtime: Runtime = None,
    size: Size = None,
    format: TextOrJson = "text",
    output: OutputFile = None,
) -> int:
    """Show what every kernel launch touches through every pointer.

    One row each: the indices read and written, where the pointer is in its storage, what the storage holds, and the
    verdict. PATH as for check. In JSON the ends are numbers over all admitted sizes, null where there is no bound; with
    text where they depend on sizes.
    """
    from .analyzer.pipeline import kernel_rows
    from .analyzer.reporting.formats.table import kernel_report

    _one_of(format, "text", "json")
    rows, failures = kernel_rows(path, *_scope(runtime, size))
    _write(kernel_report(rows, format), output)
    return _failed(failures)


@command
def graph(
    path: OnePath,
    runtime: Runtime = None,
    size: Size = None,
    format: Annotated[str, option("--format", "-f", metavar="NAME", help=GRAPHS)] = "text",
    output: OutputFile = None,
) -> int:
    """Show the alias graph: storages, the tensors in them, views, moves and copies.

    PATH as for check; each of several wrappers has a graph of its own.
    """
    from .analyzer.reporting.pages import graph_text

    wanted = _one_of(format, "text", "dot", "json", "svg", "html")
    text, failures = graph_text(path, wanted, *_scope(runtime, size))
    _write(text, output)
    return _failed(failures)


@command
def report(
    path: OnePath,
    output: OutputFile = None,
    runtime: Runtimes = None,
    size: Size = None,
    select: Select = None,
    ignore: Ignore = None,
    config: ConfigFile = None,
) -> int:
    """Write one HTML page that loads nothing: findings, their source, every storage over time. PATH as for check."""
    from .analyzer.reporting.pages import report_page
    from .rules.registry import run_rules

    if output is None and sys.stdout.isatty():
        from .analyzer.config import ConfigError

        raise ConfigError(f"a page is for a file: aoti-lint report {path} -o report.html")
    settings = _settings(config, runtimes=runtime, sizes=size, select=select, ignore=ignore)
    text, failures = report_page(path, run_rules, settings)
    _write(text, output)
    return _failed(failures)


@command
def witness(
    path: OnePath,
    finding: Annotated[int, option("--finding", metavar="N", least=1, help="Which of them, in order.")] = 1,
    output: OutputFile = None,
    runtime: Runtime = None,
    size: Size = None,
) -> int:
    """Write a C++ program that repeats an access outside its storage (AL201, AL202), for -fsanitize=address.

    The program needs nothing else: it allocates what the runtime does, checks the guards of the witness and touches the
    element. PATH as for check.
    """
    from .analyzer.reporting.witness_program import program_for
    from .rules.registry import run_rules

    text, failures = program_for(path, run_rules, finding, *_scope(runtime, size))
    if text:
        _write(text, output)
    return _failed(failures)


def _scope(runtime: str | None, sizes: list[str] | None) -> tuple[str, dict[str, Range]]:
    """What --runtime and --size say."""
    from .analyzer.config import parse_runtime, parse_size

    return parse_runtime(runtime or "auto"), dict(map(parse_size, sizes or []))


def _failed(failures: list[Failure]) -> int:
    """Says what could not be analysed; the exit code."""
    for failure in failures:
        _say(f"aoti-lint: error: {failure.path}: {failure.error}")
    return 3 if failures else 0


def _one_of(value: str, *known: str) -> str:
    from .analyzer.config import ConfigError
    from .analyzer.model.codes import nearest

    if value not in known:
        raise ConfigError(f"--format must be one of {', '.join(known)}, not {value!r}{nearest(value, known)}")
    return value
