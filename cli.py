"""The command line: options in, one exit code out. The only module that prints; ``commands`` has the rest.

Everything heavy is imported by the command that needs it: ``--help`` should answer at once.
"""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

from .commands import plain
from .commands.options import (
    GRAPHS,
    Baseline,
    CacheDir,
    Command,
    ConfigFile,
    Exclude,
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
    StdinName,
    Strict,
    TextOrJson,
    Verbose,
    argument,
    option,
)  # fmt: skip

if TYPE_CHECKING:
    from .commands.outcome import Outcome

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
    except KeyboardInterrupt:
        _say("aoti-lint: interrupted")
        sys.exit(130)
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


def _finish(outcome: Outcome) -> int:
    """Says and writes what a command came to; its exit code."""
    for line in outcome.said:
        _say(f"aoti-lint: {line}")
    for text, file in outcome.texts:
        _write(text, file)
    return outcome.code


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
    exclude: Exclude = None,
    stdin_filename: StdinName = None,
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
    from .commands.check import check

    return _finish(
        check(
            paths, config=config, shard=shard, stdin_filename=stdin_filename, write_baseline=write_baseline, terminal=_terminal(), runtimes=runtime,
            outputs=format, output=output, select=select, ignore=ignore, fail_on=fail_on, strict=strict,
            baseline=baseline, sizes=size, jobs=jobs, cache_dir=cache_dir, exclude=exclude, statistics=statistics, quiet=quiet,
            verbose=verbose, no_color=no_color,
        )
    )  # fmt: skip


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
    select: Select = None,
    ignore: Ignore = None,
    fail_on: FailOn = None,
    strict: Strict = None,
    baseline: Baseline = None,
    write_baseline: NewBaseline = None,
    size: Size = None,
    jobs: Jobs = None,
    cache_dir: CacheDir = None,
    exclude: Exclude = None,
    shard: Shard = None,
    statistics: Statistics = None,
    cache: Annotated[File, option("--cache", metavar="DIR", help="Generate there and keep it.")] = None,
    quiet: Quiet = None,
    verbose: Verbose = None,
    no_color: NoColor = None,
    config: ConfigFile = None,
) -> int:
    """Run an export command and lint every wrapper it generates.

    The command gets a fresh Inductor cache. Findings point at the export call of the command's script. CMD is best set apart: aoti-lint run -- python
    export.py. The exit code is the command's own when it fails. Wrappers with findings are kept.
    """
    from .commands.run import run

    return _finish(
        run(
            command, cache=cache, config=config, shard=shard, write_baseline=write_baseline, terminal=_terminal(),
            runtimes=runtime, outputs=format, output=output, select=select, ignore=ignore, fail_on=fail_on,
            strict=strict, baseline=baseline, sizes=size, jobs=jobs, cache_dir=cache_dir, exclude=exclude, statistics=statistics,
            quiet=quiet, verbose=verbose, no_color=no_color,
        )
    )  # fmt: skip


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
    from .commands.kernels import kernels

    return _finish(kernels(path, runtime, size, _one_of(format, "text", "json"), output))


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
    from .commands.graph import FORMATS, graph

    return _finish(graph(path, runtime, size, _one_of(format, *FORMATS), output))


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
    from .commands.report import report

    return _finish(
        report(
            path,
            output,
            sys.stdout.isatty(),
            config,
            runtimes=runtime,
            sizes=size,
            select=select,
            ignore=ignore,
        )
    )


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
    from .commands.witness import witness

    return _finish(witness(path, finding, output, runtime, size))


def _one_of(value: str, *known: str) -> str:
    from .analyzer.config import ConfigError
    from .analyzer.model.codes import nearest

    if value not in known:
        raise ConfigError(f"--format must be one of {', '.join(known)}, not {value!r}{nearest(value, known)}")
    return value
