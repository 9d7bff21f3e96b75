"""Finding profiles by name."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..model.record import record
from ..toml_table import read_toml
from .build import build_profile
from .profile import Profile

_HERE = Path(__file__).parent
_AUTO = {"mps": "executorch-metal"}
#: What stands for every version of every runtime, where several are taken.
ALL = "all"

#: Lists of ``[symbols]`` that a profile adds to; every other list replaces the one it extends.
_GROWING = ("present", "maybe", "throws")


@record(frozen=True)
class Version:
    """A built-in profile: ``id`` follows the @, ``date`` is when it came into force."""

    family: str
    id: str
    date: str
    aliases: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return f"{self.family}@{self.id}"

    @property
    def released(self) -> bool:
        return self.date != "proposed"


@record(frozen=True)
class _Family:
    """``newest`` is the id of the newest released version; versions are oldest first; no ``devices`` means all."""

    newest: str
    versions: tuple[Version, ...]
    devices: tuple[str, ...]

    def runs(self, device: str) -> bool:
        return not self.devices or device in self.devices


@lru_cache(maxsize=1)
def _families() -> dict[str, _Family]:
    out = {}
    for family, entry in read_toml(_HERE / "versions.toml").items():
        versions = (
            Version(family, v["id"], v["date"], tuple(v.get("aliases", ()))) for v in entry["versions"]
        )
        out[family] = _Family(entry["newest"], tuple(versions), tuple(entry.get("devices", ())))
    return out


def versions(family: str) -> tuple[Version, ...]:
    """The versions of a family, oldest first. Raises KeyError."""
    return _families()[family].versions


def families() -> tuple[str, ...]:
    return tuple(_families())


def devices(name: str) -> tuple[str, ...]:
    """The devices whose wrappers a built-in runtime is made for; empty for any, and for a profile of one's own."""
    family = _families().get(name.partition("@")[0])
    return family.devices if family else ()


def resolve(name: str, device: str = "cpu") -> Profile:
    """The profile a user means by ``name``.

    ``auto`` (by the device of the wrapper), a family (its newest released version), ``family@id``, an alias
    (``m2``), ``family@YYYY-MM[-DD]`` (in force at the end of that month or day), or the path of a TOML file.
    Raises LookupError with the nearest names, ValueError for a faulty file.
    """
    if name == "auto":
        name = _AUTO.get(device, "libtorch")
    if name.endswith(".toml"):
        return _load_file(Path(name))
    return _load(find(name).name)


def resolve_all(names: Iterable[str], device: str) -> tuple[Profile, ...]:
    """The profiles that ``names`` mean, each once; ``all``: every version that runs wrappers of the device.

    Raises as :func:`resolve` does.
    """
    found: dict[str, Profile] = {}
    for name in names:
        every = [v.name for f in _families().values() if f.runs(device) for v in f.versions]
        for profile in (resolve(n, device) for n in (every if name == ALL else [name])):
            found.setdefault(profile.name, profile)
    return tuple(found.values())


def find(name: str) -> Version:
    """The built-in version ``name`` means. Raises LookupError."""
    family, _, wanted = name.partition("@")
    known = _families()
    if family in known and not wanted:
        wanted = known[family].newest
    for version in (v for f in known for v in versions(f)):
        names = {version.id, *version.aliases}
        if version.family == family and wanted in names:
            return version
        if not wanted and any(name in (a, f"{version.family}-{a}") for a in version.aliases):
            return version
    if family in known and _is_date(wanted) and not family.startswith("libtorch"):
        in_force = [v for v in versions(family) if v.released and _end(v.date) <= _end(wanted)]
        if in_force:
            return in_force[-1]
        raise LookupError(f"{family} is not known before {versions(family)[0].date}")
    raise LookupError(f"unknown runtime {name!r}; {_listed(_nearest(name))}")


def _is_date(text: str) -> bool:
    return re.fullmatch(r"\d{4}-(0?[1-9]|1[0-2])(-\d\d?)?", text) is not None


def _end(date: str) -> str:
    """The last day of a month or day, comparable as text; "" sorts first."""
    year, _, rest = date.partition("-")
    month, _, day = rest.partition("-")
    return f"{year}-{month:0>2}-{day or '31':0>2}" if date else ""


def _nearest(name: str) -> list[str]:
    names = [*families(), *(v.name for f in families() for v in versions(f))]
    return difflib.get_close_matches(name, names, 4, 0.4) or list(families())


def _listed(names: Any) -> str:
    return "try " + ", ".join(names)


def all_profiles() -> tuple[Profile, ...]:
    """Every built-in profile, by family, oldest first."""
    return tuple(_load(v.name) for f in families() for v in versions(f))


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


@lru_cache(maxsize=64)
def _tables(name: str) -> dict[str, Any]:
    """The tables of a built-in profile with everything it extends."""
    return _extended(read_toml(_HERE / f"{name}.toml"), f"{name}.toml")


def _extended(data: dict[str, Any], file: str) -> dict[str, Any]:
    parent = data.get("extends")
    if parent is None:
        return data
    if not isinstance(parent, str):
        raise ValueError(f"{file}: extends: must be the name of a profile, not {parent!r}")
    try:
        inherited = _tables(find(parent).name)
    except LookupError as e:
        raise ValueError(f"{file}: extends: {e}") from None
    inherited = {k: v for k, v in inherited.items() if k not in ("title", "note", "proposed")}
    return merge(inherited, {k: v for k, v in data.items() if k != "extends"})


@lru_cache(maxsize=64)
def _load(name: str) -> Profile:
    version = find(name)
    return build_profile(_tables(name), f"{name}.toml", name, version.family, version.date)


def _load_file(path: Path) -> Profile:
    data = read_toml(path)
    return build_profile(_extended(data, str(path)), str(path), path.stem, path.stem, "")
