"""The commands behind the full option parser: help, completion, and what is wrong with a command line."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from .options import Command, Option
from .plain import parameters


class _Commands(TyperGroup):
    """The commands; a path in the place of one is somebody who left out ``check``."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and args[0] == "help" and len(args) < 3:
            # As a question people ask; the answer is the one of --help.
            args = [*args[1:], "--help"]
        if args == ["--help"]:
            typer.echo(ctx.get_help())
            ctx.exit()
        if args and args[0] not in self.commands and Path(args[0]).exists():
            ctx.fail(f"{args[0]!r} is no command. Did you mean 'aoti-lint check {args[0]}'?")
        return super().resolve_command(ctx, args)


def application(commands: Mapping[str, Command]) -> typer.Typer:
    """A command line interface of these commands."""
    app = typer.Typer(
        cls=_Commands,
        help="Prove that the code AOTInductor generates touches only memory that backs its tensors.",
        epilog="Exit codes: 0 nothing found, 1 findings, 2 wrong usage, 3 an input could not be analysed, 130 ended by Ctrl-C.",
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )
    app.callback()(_app)
    for function in commands.values():
        hints = parameters(function)
        rest = any(option.takes_rest for _, option in hints.values())
        settings = {"allow_interspersed_args": False} if rest else {}
        app.command(context_settings=settings)(_typed(function, hints))
    return app


def _typed(function: Command, hints: Mapping[str, tuple[Any, Option]]) -> Callable[..., None]:
    """The command with the parser's own annotations; its result is the exit code."""

    @wraps(function)
    def call(**values: Any) -> None:
        raise typer.Exit(function(**values))

    types = {name: Annotated[kind, _option(option)] for name, (kind, option) in hints.items()}
    known = inspect.signature(function).parameters.values()
    call.__annotations__ = types
    call.__signature__ = inspect.Signature([p.replace(annotation=types[p.name]) for p in known])  # type: ignore[attr-defined]
    return call


def _option(o: Option) -> Any:
    if not o.names:
        return typer.Argument(metavar=o.metavar, hidden=True)
    return typer.Option(*o.names, metavar=o.metavar, help=o.help, autocompletion=o.complete, min=o.least)


def _version(wanted: bool) -> None:
    if wanted:
        from .. import __version__

        typer.echo(f"aoti-lint {__version__}")
        raise typer.Exit


def _app(
    version: Annotated[
        bool, typer.Option("--version", "-V", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass
