"""Reads ordinary command lines without the option parser, whose import takes longer than many a check.

Anything but a known command with complete options and arguments (help, mistakes, joined short options) is left
to :mod:`.shell`, which is made from the same commands and has the last word.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import NoneType
from typing import Any, get_args, get_origin

from .options import Command, Option


def parameters(command: Command) -> dict[str, tuple[Any, Option]]:
    """The type and the option of every parameter of a command."""
    found = {}
    for name, text in command.__annotations__.items():
        if name != "return":
            kind, option = get_args(eval(text, command.__globals__))
            found[name] = kind, option
    return found


def read(commands: Mapping[str, Command], line: Sequence[str]) -> Callable[[], int] | None:
    """The call that a command line means; None when it takes the option parser to know that."""
    command = commands.get(line[0]) if line else None
    if command is None or "_AOTI_LINT_COMPLETE" in os.environ:
        return None
    names: dict[str, tuple[str, Any, Option]] = {}
    place: tuple[str, Any] = "", str
    for name, (kind, option) in parameters(command).items():
        if not option.names:
            place = name, kind
            if option.takes_rest:
                return None
        for spelling in option.names:
            for each in spelling.split("/"):
                names[each] = name, _bare(kind), option
    values: dict[str, Any] = {}
    arguments: list[str] = []
    words = iter(line[1:])
    for word in words:
        if word == "-" or not word.startswith("-"):
            arguments.append(word)
            continue
        spelled, joined, text = word.partition("=") if word.startswith("--") else (word, "", "")
        if spelled not in names:
            return None
        name, kind, option = names[spelled]
        if kind is bool:
            if joined:
                return None
            values[name] = not spelled.startswith("--no-") or option.names[0] == spelled
            continue
        if not joined:
            text = next(words, "-")
        value = None if text.startswith("-") else _value(text, kind, option)
        if value is None:
            return None
        if get_origin(kind) is list:
            values.setdefault(name, []).append(value)
        else:
            values[name] = value
    name, kind = place
    if get_origin(kind) is list and arguments:
        values[name] = arguments
    elif len(arguments) == 1:
        values[name] = arguments[0]
    elif arguments or not command.__defaults__ or len(command.__defaults__) < command.__code__.co_argcount:
        return None
    return partial(command, **values)


def _bare(kind: Any) -> Any:
    """A type without its None."""
    if get_origin(kind) is list:
        return kind
    return next((k for k in get_args(kind) if k is not NoneType), kind)


def _value(text: str, kind: Any, option: Option) -> Any:
    if kind is Path:
        return Path(text)
    if kind is not int:
        return text
    return int(text) if text.isdecimal() and int(text) >= (option.least or 0) else None
