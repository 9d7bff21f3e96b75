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
#: The name for whichever of ExecuTorch's two runtimes runs a wrapper, and the key each has in the table of releases.
EXECUTORCH = "executorch"
_BY_DEVICE = {"cuda": "executorch-cuda"}
#: Lists of ``[symbols]`` that a profile adds to; every other list replaces the one it extends.
_GROWING = ("present", "maybe", "throws", "absent")


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
class Release:
    """A release of ExecuTorch: ``profiles`` has the profile of each family it ships; ``known`` is how that is told."""

    name: str
    date: str
    torch: str
    profiles: Mapping[str, str]
    known: str


@record(frozen=True)
class _Family:
    """Versions are oldest first; no ``devices`` means all.

    ``released`` is the family's key in the table of releases, "" when it has none; then ``newest`` is the id that a
    bare name means.
    """

    newest: str
    versions: tuple[Version, ...]
    devices: tuple[str, ...]
    released: str

    def runs(self, device: str) -> bool:
        return not self.devices or device in self.devices


@lru_cache(maxsize=1)
def _families() -> dict[str, _Family]:
    return {family: _family(family, entry) for family, entry in read_toml(_HERE / "versions.toml").items()}


def _family(family: str, entry: dict[str, Any]) -> _Family:
    found = (Version(family, v["id"], v["date"], tuple(v.get("aliases", ()))) for v in entry["versions"])
    return _Family(
        entry.get("newest", ""), tuple(found), tuple(entry.get("devices", ())), entry.get("released", "")
    )


@lru_cache(maxsize=1)
def _release_rows() -> list[dict[str, str]]:
    rows: list[dict[str, str]] = read_toml(_HERE / "releases.toml")["releases"]
    return rows


def releases() -> tuple[Release, ...]:
    """ExecuTorch's releases, oldest first."""
    keys = {f.released: family for family, f in _families().items() if f.released}
    return tuple(
        Release(
            r["name"], r["date"], r["torch"],
            {family: f"{family}@{r[key]}" for key, family in keys.items() if key in r}, r["known"],
        )
        for r in _release_rows()
    )  # fmt: skip


def releases_of(name: str) -> tuple[str, ...]:
    """The releases that ship a built-in profile, oldest first."""
    return tuple(r.name for r in releases() if name in r.profiles.values())


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

    ``auto`` (by the device of the wrapper), a family (its newest release), ``family@release``, ``executorch@release``
    (the family that runs the device), ``family@id``, an alias (``m2``), ``family@YYYY-MM[-DD]`` (in force at the end of
    that month or day), or the path of a TOML file.  Raises LookupError with the nearest names, ValueError for a
    faulty file.
    """
    if name == "auto":
        name = _AUTO.get(device, "libtorch")
    if name.endswith(".toml"):
        return _load_file(Path(name))
    return _load(find(name, device).name)


def resolve_all(names: Iterable[str], device: str) -> tuple[Profile, ...]:
    """The profiles that ``names`` mean, each once; ``all``: every version that runs wrappers of the device, of
    libtorch the newest.

    Raises as :func:`resolve` does.
    """
    found: dict[str, Profile] = {}
    for name in names:
        for profile in (resolve(n, device) for n in (_every(device) if name == ALL else [name])):
            found.setdefault(profile.name, profile)
    return tuple(found.values())


def _every(device: str) -> list[str]:
    return [
        v.name
        for family, f in _families().items()
        if f.runs(device)
        for v in f.versions
        if f.released or v.id == f.newest
    ]


def find(name: str, device: str = "cpu") -> Version:
    """The built-in version ``name`` means. Raises LookupError."""
    family, _, wanted = name.partition("@")
    if family == EXECUTORCH:
        # A wrapper for neither device runs nowhere; the caller says so of the runtime it gets.
        family = _BY_DEVICE.get(device, "executorch-metal")
    known = _families()
    if family in known and not wanted:
        wanted = _newest(family)
    for version in (v for f in known for v in versions(f)):
        names = {version.id, *version.aliases}
        if version.family == family and wanted in names:
            return version
        if not wanted and any(name in (a, f"{version.family}-{a}") for a in version.aliases):
            return version
    if family in known and known[family].released:
        found = _dated(family, wanted) if _is_date(wanted) else _released(family, wanted)
        if found is not None:
            return found
    elif family in known and re.fullmatch(r"\d+\.\d+\.\d+\S*", wanted):
        return find(f"{family}@{'.'.join(wanted.split('.')[:2])}")
    raise LookupError(f"unknown runtime {name!r}; {_listed(_nearest(name))}")


def _newest(family: str) -> str:
    """The id that a bare name means."""
    f = _families()[family]
    return f.newest or next(r[f.released] for r in reversed(_release_rows()) if f.released in r)


def _dated(family: str, wanted: str) -> Version:
    """What was in force at the end of a month or on a day."""
    in_force = [v for v in versions(family) if v.released and _end(v.date) <= _end(wanted)]
    if in_force:
        return in_force[-1]
    raise LookupError(f"{family} is not known before {versions(family)[0].date}")


def _released(family: str, wanted: str) -> Version | None:
    """The version a release has: ``1.4.1``, or ``1.4`` and ``1`` for the newest of them; None for no such number."""
    if not re.fullmatch(r"v?\d+(\.\d+){0,2}", wanted):
        return None
    number = wanted.removeprefix("v")
    same = [r for r in releases() if f"{r.name}.".startswith(f"{number}.")]
    having = [r for r in same if family in r.profiles]
    if having:
        return find(having[-1].profiles[family])
    known = [r.name for r in releases() if family in r.profiles]
    if same:
        raise LookupError(f"ExecuTorch {number} has no such runtime: {family} comes with {known[0]}")
    raise LookupError(
        f"no release {number} of ExecuTorch is known; those with {family} are {', '.join(known)}"
    )


def _is_date(text: str) -> bool:
    return re.fullmatch(r"\d{4}-(0?[1-9]|1[0-2])(-\d\d?)?", text) is not None


def _end(date: str) -> str:
    """The last day of a month or day, comparable as text; "" sorts first."""
    year, _, rest = date.partition("-")
    month, _, day = rest.partition("-")
    return f"{year}-{month:0>2}-{day or '31':0>2}" if date else ""


def _nearest(name: str) -> list[str]:
    names = [*families(), EXECUTORCH, *(v.name for f in families() for v in versions(f))]
    names += [f"{f}@{r.name}" for r in releases() for f in r.profiles]
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
