"""Known faults of runtimes that a wrapper can run into."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from ..model.record import record
from ..toml_table import Table, read_toml
from .catalog import find, versions
from .profile import Profile

_FILE = Path(__file__).parent / "latent-bugs.toml"


@record(frozen=True)
class LatentBug:
    """``construct`` in a wrapper has ``effect``; ``names`` are the profiles it happens on.

    ``kind`` is how the effect is known: executed, read or inferred. ``fixed_by`` is "" when nothing fixes it.
    """

    id: str
    names: tuple[str, ...]
    construct: str
    effect: str
    source: str
    kind: str
    fixed_by: str

    def affects(self, profile: Profile) -> bool:
        return profile.name in self.names


@lru_cache(maxsize=1)
def latent_bugs() -> dict[str, LatentBug]:
    """Every known bug by id."""
    top = Table(read_toml(_FILE), _FILE.name)
    return {key: _bug(top.table(key), key) for key in top.names()}


def latent_bug(id: str) -> LatentBug:
    """The bug of that id. Raises KeyError."""
    return latent_bugs()[id]


def _bug(t: Table, id: str) -> LatentBug:
    names = tuple(n for spec in t.texts("on") for n in _names(spec))
    bug = LatentBug(
        id=id,
        names=names,
        construct=t.text("construct"),
        effect=t.text("effect"),
        source=t.text("source"),
        kind=t.text("kind", among=("executed", "read", "inferred")),
        fixed_by=t.text("fixed_by"),
    )
    t.done()
    return bug


def _names(spec: str) -> list[str]:
    """Profiles meant by ``family``, ``family@version`` or ``family@first..last``."""
    family, _, span = spec.partition("@")
    names = [v.name for v in versions(family)]
    if not span:
        return names
    first, _, last = span.partition("..")
    start = names.index(find(f"{family}@{first}").name)
    end = names.index(find(f"{family}@{last or first}").name)
    return names[start : end + 1]
