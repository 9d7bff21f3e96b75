"""Tables of a TOML file, of a configuration or a profile: every key is checked while it is read, and none is left over."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .model.codes import nearest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def read_toml(path: Path) -> dict[str, Any]:
    """The tables of a file. Raises ValueError naming the file when it can't be read as TOML."""
    try:
        tables: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as e:
        raise ValueError(f"cannot read {path}: {e.strerror or e}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as e:
        raise ValueError(f"{path}: not valid TOML: {e}") from None
    return tables


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
            raise self.error(key, f"must be {_listed(among)}, not {value!r}{nearest(value, among)}")
        return value

    def flag(self, key: str, default: bool) -> bool:
        value: bool = self._get(key, bool, "true or false", default)
        return value

    def integer(self, key: str, default: int | None = None) -> int:
        value: int = self._get(key, int, "a whole number", default)
        return value

    def words(self, key: str) -> list[str]:
        """One text, or a list of them."""
        return [self.text(key)] if isinstance(self.data.get(key), str) else list(self.texts(key))

    def texts(self, key: str, among: Iterable[str] | None = None) -> tuple[str, ...]:
        values: list[str] = self._items(key, str, "text")
        for v in values:
            if among is not None and v not in among:
                raise self.error(key, f"{v!r} is none of {_listed(among)}{nearest(v, among)}")
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
                raise self.error(key, f"unknown key{nearest(key, self.asked)}")


def _listed(names: Iterable[str]) -> str:
    return " or ".join(sorted(names))
