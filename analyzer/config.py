"""Settings of a check: defaults, the configuration file, and the options that override it.

``[tool.aoti-lint]`` of a ``pyproject.toml``, or an ``aoti-lint.toml``, whichever is nearest upwards.  Every
mistake raises :class:`ConfigError` with one sentence that names the nearest right word.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import date, datetime
from pathlib import Path
from typing import Any, Literal, TypeAlias

from .model.codes import UnknownCode, expand, nearest
from .model.record import field, record, replace
from .toml_table import Table, read_toml

#: Names that ``--format`` takes, the default first.
FORMATS: tuple[str, ...] = ("text", "json", "sarif", "github", "gitlab", "junit")

FailOn: TypeAlias = Literal["error", "warning", "note", "never"]
FAIL_ON: tuple[FailOn, ...] = ("error", "warning", "note", "never")
#: A dynamic size's inclusive bounds; the upper one None when open.
Range: TypeAlias = "tuple[int, int | None]"


class ConfigError(Exception):
    """Wrong usage or configuration: one sentence for the user, exit code 2."""


@record(frozen=True)
class Output:
    """One report to write: a format's name and the file it goes to (None: standard output)."""

    format: str
    file: Path | None = None


@record(frozen=True)
class Suppression:
    """One ``[[suppress]]`` entry; ``code`` may be a prefix, the patterns are shell patterns."""

    code: str
    reason: str
    path: str | None = None
    kernel: str | None = None
    buffer: str | None = None
    fingerprint: str | None = None
    expires: date | None = None
    line: int = 1


@record(frozen=True)
class Settings:
    """Everything a check is told. ``file`` is the configuration file, None when there is none."""

    runtimes: tuple[str, ...] = ("auto",)
    outputs: tuple[Output, ...] = ()
    select: frozenset[str] | None = None
    ignore: frozenset[str] = frozenset()
    fail_on: FailOn = "error"
    strict: bool = False
    baseline: Path | None = None
    sizes: dict[str, Range] = field(default_factory=dict)
    jobs: int | None = None
    cache_dir: Path | None = None
    exclude: tuple[str, ...] = ()
    statistics: bool = False
    quiet: bool = False
    verbose: bool = False
    no_color: bool = False
    suppress: tuple[Suppression, ...] = ()
    file: Path | None = None

    @property
    def root(self) -> Path:
        """The folder that patterns of the configuration are relative to."""
        return self.file.parent if self.file else Path.cwd()

    def wants(self, code: str) -> bool:
        """Whether findings of this code are asked for."""
        return (self.select is None or code in self.select) and code not in self.ignore


# -- values, as options and files both write them --------------------------------------------------


def parse_codes(words: list[str]) -> frozenset[str]:
    """Codes, prefixes or names, each word possibly a comma-separated list."""
    try:
        return expand(part for word in words for part in word.split(","))
    except UnknownCode as e:
        raise ConfigError(str(e)) from None


def parse_format(text: str) -> Output:
    """``NAME`` or ``NAME=FILE``."""
    name, eq, file = text.partition("=")
    if name not in FORMATS:
        raise ConfigError(f"no format is called {name!r}{nearest(name, FORMATS)} ({', '.join(FORMATS)})")
    if eq and not file:
        raise ConfigError(f"format {text!r} names no file")
    return Output(name, Path(file) if file else None)


def parse_size(text: str) -> tuple[str, Range]:
    """``NAME=VALUE``, VALUE being ``8``, ``1..512`` or ``2..``."""
    m = re.fullmatch(r"(\w+)=(\d+)(?:(\.\.)(\d*))?", text.strip())
    if m is None:
        raise ConfigError(f"size {text!r} is not NAME=VALUE, such as s77=8 or s77=1..512")
    lo = int(m[2])
    hi = lo if m[3] is None else int(m[4]) if m[4] else None
    if hi is not None and hi < lo:
        raise ConfigError(f"size {text!r} is an empty range")
    return m[1], (lo, hi)


def parse_shard(text: str) -> tuple[int, int]:
    """``I/N``, I from 1 to N."""
    m = re.fullmatch(r"(\d+)/(\d+)", text)
    if m is None or not 1 <= int(m[1]) <= int(m[2]):
        raise ConfigError(f"shard {text!r} is not I/N with 1 <= I <= N")
    return int(m[1]), int(m[2])


def parse_runtime(text: str) -> str:
    """The name of a profile or the path of a profile file, as it is when there is such a one."""
    from .runtimes import resolve

    try:
        resolve(text)
    except (LookupError, ValueError) as e:
        raise ConfigError(str(e)) from None
    return text


def parse_runtimes(names: str | Iterable[str]) -> tuple[str, ...]:
    """Profiles by name or file; ``all`` stands for every version that runs a wrapper's device."""
    from .runtimes import ALL

    listed = [names] if isinstance(names, str) else names
    return tuple(name if name == ALL else parse_runtime(name) for name in listed)


def parse_fail_on(text: str) -> FailOn:
    for known in FAIL_ON:
        if text == known:
            return known
    raise ConfigError(f"fail-on must be one of {', '.join(FAIL_ON)}, not {text!r}{nearest(text, FAIL_ON)}")


def override(settings: Settings, **options: Any) -> Settings:
    """The settings with command-line options over them; None means not given.

    Options are named as the command line names them, with underscores; ``output`` is where the format without
    a file goes.  At most one format can have standard output; when all have files, text goes there.
    """
    given = {k: v for k, v in options.items() if v is not None}
    output = given.pop("output", None)
    read: dict[str, Callable[[Any], Any]] = {
        "runtimes": parse_runtimes,
        "select": parse_codes,
        "ignore": parse_codes,
        "fail_on": parse_fail_on,
        "exclude": lambda v: (*settings.exclude, *v),
        "outputs": lambda v: tuple(parse_format(f) for f in v),
        "sizes": lambda v: {**settings.sizes, **dict(parse_size(s) for s in v)},
    }
    changed = replace(settings, **{k: read[k](v) if k in read else v for k, v in given.items()})
    outputs = list(changed.outputs)
    if all(o.file is not None for o in outputs):
        outputs.insert(0, Output(FORMATS[0]))
    loose = [o for o in outputs if o.file is None]
    if len(loose) > 1:
        names = " and ".join(o.format for o in loose)
        raise ConfigError(f"{names} cannot both go to one place: write --format {loose[-1].format}=FILE")
    return replace(changed, outputs=tuple(Output(o.format, o.file or output) for o in outputs))


# -- the file ---------------------------------------------------------------------------------------


def find(start: Path) -> Path | None:
    """The configuration nearest upwards from a folder; a pyproject.toml counts when it has our table."""
    for folder in (start, *start.parents):
        own = folder / "aoti-lint.toml"
        if own.is_file():
            return own
        shared = folder / "pyproject.toml"
        if shared.is_file() and _table(shared) is not None:
            return shared
    return None


def load(file: Path | None) -> Settings:
    """The settings of a configuration file; without one, the defaults."""
    if file is None:
        return Settings()
    table = _table(file)
    if table is None:
        raise ConfigError(f"{file} has no [tool.aoti-lint] table")
    settings = Settings(file=file.resolve())
    for key in table.names():
        reader = KEYS.get(key)
        if reader is None:
            where = (
                " (only pyproject.toml has [tool.aoti-lint]; here keys stand alone)" if key == "tool" else ""
            )
            raise ConfigError(f"{file}: unknown key {key!r}{where or nearest(key, KEYS)}")
        try:
            settings = replace(settings, **reader(table, key, settings))
        except ConfigError as e:
            raise ConfigError(f"{file}: {key}: {e}") from None
        except ValueError as e:  # the table's own, which names file and key
            raise ConfigError(str(e)) from None
    return settings


def _table(file: Path) -> Table | None:
    """Our table of a TOML file: the whole of aoti-lint.toml, [tool.aoti-lint] of a pyproject.toml."""
    try:
        document = Table(read_toml(file), str(file))
        if file.name != "pyproject.toml":
            return document
        tools = document.data.get("tool")
        if not isinstance(tools, dict) or "aoti-lint" not in tools:
            return None
        return Table(tools["aoti-lint"], str(file))
    except ValueError as e:
        raise ConfigError(str(e)) from None


Reader: TypeAlias = Callable[[Table, str, Settings], "dict[str, Any]"]


def _runtime(t: Table, key: str, settings: Settings) -> dict[str, Any]:
    names = t.words(key)
    if not names:
        raise ConfigError("expected a runtime's name or several")
    return {"runtimes": parse_runtimes(str(settings.root / n) if n.endswith(".toml") else n for n in names)}


def _flag(name: str) -> Reader:
    return lambda t, key, _: {name: t.flag(key, False)}


def _codes(name: str) -> Reader:
    return lambda t, key, _: {name: parse_codes(t.words(key))}


def _path(name: str) -> Reader:
    return lambda t, key, settings: {name: settings.root / t.text(key)}


def _formats(t: Table, key: str, settings: Settings) -> dict[str, Any]:
    outputs = [parse_format(v) for v in t.words(key)]
    return {"outputs": tuple(Output(o.format, o.file and settings.root / o.file) for o in outputs)}


def _sizes(t: Table, key: str, _: Settings) -> dict[str, Any]:
    table = t.table(key)
    return {"sizes": dict(parse_size(f"{name}={size}") for name, size in table.data.items())}


def _jobs(t: Table, key: str, _: Settings) -> dict[str, Any]:
    if t.integer(key) < 1:
        raise ConfigError("expected at least 1")
    return {"jobs": t.integer(key)}


def _suppress(t: Table, key: str, settings: Settings) -> dict[str, Any]:
    lines = _entry_lines(settings.file)
    read = []
    for n, entry in enumerate(t.tables(key)):
        line = lines[n] if n < len(lines) else 1
        try:
            read.append(_suppression(entry, line))
        except ConfigError as e:
            raise ConfigError(f"entry {n + 1} (line {line}): {e}") from None
    return {"suppress": tuple(read)}


_ENTRY_KEYS = ("code", "path", "kernel", "buffer", "fingerprint", "reason", "expires")


def _suppression(entry: Table, line: int) -> Suppression:
    for key in entry.data:
        if key not in _ENTRY_KEYS:
            raise ConfigError(f"unknown key {key!r}{nearest(key, _ENTRY_KEYS)}")
    for key in ("code", "reason"):
        if not entry.text(key, "").strip():
            raise ConfigError(
                f"{key!r} is missing: say {'what' if key == 'code' else 'why it'} is suppressed"
            )
    parse_codes([entry.text("code")])
    return Suppression(
        code=entry.text("code"), reason=entry.text("reason"), path=entry.text("path", "") or None,
        kernel=entry.text("kernel", "") or None, buffer=entry.text("buffer", "") or None,
        fingerprint=entry.text("fingerprint", "") or None,
        expires=_date(entry.data.get("expires")), line=line,
    )  # fmt: skip


def _date(value: Any) -> date | None:
    if isinstance(value, datetime):
        return value.date()
    if value is None or isinstance(value, date):
        return value
    try:
        return date.fromisoformat(value)
    except (ValueError, TypeError):
        raise ConfigError(f"expires must be a date such as 2027-01-31, not {value!r}") from None


def _entry_lines(file: Path | None) -> list[int]:
    """Lines of the ``[[suppress]]`` headers: the TOML reader keeps no positions."""
    text = file.read_text(encoding="utf-8") if file else ""
    header = re.compile(r"\s*\[\[\s*(tool\s*\.\s*[\"']?aoti-lint[\"']?\s*\.\s*)?suppress\s*\]\]")
    return [n for n, line in enumerate(text.splitlines(), 1) if header.match(line)]


#: Keys of a configuration file: the options of ``aoti-lint check`` that belong to a project.
KEYS: dict[str, Reader] = {
    "runtime": _runtime,
    "format": _formats,
    "select": _codes("select"),
    "ignore": _codes("ignore"),
    "fail-on": lambda t, key, _: {"fail_on": parse_fail_on(t.text(key))},
    "strict": _flag("strict"),
    "baseline": _path("baseline"),
    "size": _sizes,
    "jobs": _jobs,
    "exclude": lambda t, key, _: {"exclude": tuple(t.words(key))},
    "cache-dir": _path("cache_dir"),
    "statistics": _flag("statistics"),
    "quiet": _flag("quiet"),
    "verbose": _flag("verbose"),
    "no-color": _flag("no_color"),
    "suppress": _suppress,
}
