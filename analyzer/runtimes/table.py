"""Reading a TOML profile: merging what it extends, and checking every key while it is read."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

#: Lists of ``[symbols]`` that a profile adds to; every other list replaces the one it extends.
_GROWING = ("present", "maybe", "throws")


def read_toml(path: Path) -> dict[str, Any]:
    """The tables of a file. Raises ValueError naming the file when it can't be read as TOML."""
    try:
        tables: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as e:
        raise ValueError(f"{path}: {e.strerror or e}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as e:
        raise ValueError(f"{path}: {e}") from None
    return tables


def merge(parent: Mapping[str, Any], child: Mapping[str, Any], where: str = "") -> dict[str, Any]:
    """``parent`` overlaid by ``child``: tables merge, other values replace."""
    out = dict(parent)
    for key, value in child.items():
        before = out.get(key)
        if isinstance(before, dict) and isinstance(value, dict):
            out[key] = merge(before, value, key)
        elif where == "symbols" and key in _GROWING and isinstance(before, list) and isinstance(value, list):
            out[key] = [*before, *value]
        else:
            out[key] = value
    return out


class Table:
    """A TOML table that knows where it is; a key nobody asks for is an error.

    Every reader raises ValueError with the file and the dotted key.
    """

    def __init__(self, data: Any, file: str, path: str = "") -> None:
        self.file, self.path = file, path
        self.asked: set[str] = set()
        if not isinstance(data, dict):
            raise self.error("", "must be a table")
        self.data: dict[str, Any] = data

    def error(self, key: str, what: str) -> ValueError:
        where = ".".join(x for x in (self.path, key) if x)
        return ValueError(f"{self.file}: {where}: {what}")

    def _get(self, key: str, kind: type, wanted: str, default: Any) -> Any:
        self.asked.add(key)
        if key not in self.data:
            if default is None:
                raise self.error(key, f"missing, must be {wanted}")
            return default
        value = self.data[key]
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise self.error(key, f"must be {wanted}, not {value!r}")
        return value

    def text(self, key: str, default: str | None = None, among: Iterable[str] | None = None) -> str:
        value: str = self._get(key, str, "text", default)
        if among is not None and value != default and value not in among:
            raise self.error(key, f"must be {_listed(among)}, not {value!r}{_nearest(value, among)}")
        return value

    def flag(self, key: str, default: bool) -> bool:
        value: bool = self._get(key, bool, "true or false", default)
        return value

    def integer(self, key: str, default: int | None = None) -> int:
        value: int = self._get(key, int, "a whole number", default)
        return value

    def texts(self, key: str, among: Iterable[str] | None = None) -> tuple[str, ...]:
        values: list[str] = self._items(key, str, "text")
        for v in values:
            if among is not None and v not in among:
                raise self.error(key, f"{v!r} is none of {_listed(among)}{_nearest(v, among)}")
        return tuple(values)

    def numbers(self, key: str) -> tuple[int, ...]:
        return tuple(self._items(key, int, "whole numbers"))

    def _items(self, key: str, kind: type, wanted: str) -> list[Any]:
        values: list[Any] = self._get(key, list, f"a list of {wanted}", [])
        for v in values:
            if not isinstance(v, kind) or isinstance(v, bool):
                raise self.error(key, f"must be a list of {wanted}, not {v!r} in it")
        return values

    def table(self, key: str, required: bool = False) -> Table:
        self.asked.add(key)
        if required and key not in self.data:
            raise self.error(key, "missing: give this table, or extend a profile that has it")
        return Table(self.data.get(key, {}), self.file, f"{self.path}.{key}" if self.path else key)

    def tables(self, key: str) -> list[Table]:
        values = self._get(key, list, "a list of tables", [])
        path = f"{self.path}.{key}" if self.path else key
        return [Table(v, self.file, f"{path}[{i}]") for i, v in enumerate(values)]

    def names(self) -> list[str]:
        """All keys, for a table whose keys are names."""
        self.asked.update(self.data)
        return list(self.data)

    def done(self) -> None:
        """Raise ValueError if there are keys that were not read."""
        for key in self.data:
            if key not in self.asked:
                raise self.error(key, f"unknown key{_nearest(key, self.asked)}")


def _listed(names: Iterable[str]) -> str:
    return " or ".join(sorted(names))


def _nearest(name: str, names: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, list(names), 1)
    return f", did you mean {close[0]!r}?" if close else ""
