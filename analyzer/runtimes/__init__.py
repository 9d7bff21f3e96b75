"""Runtime profiles: dated data on what a runtime does with what a wrapper asks."""

from .catalog import (
    ALL,
    Release,
    all_profiles,
    families,
    find,
    releases,
    releases_of,
    resolve,
    resolve_all,
    versions,
)  # fmt: skip
from .model import Judgement, Layout
from .ops import OpPolicy
from .profile import AllocOutcome, Outcome, Profile, ViewOutcome

__all__ = [
    "ALL",
    "AllocOutcome",
    "Judgement",
    "Layout",
    "OpPolicy",
    "Outcome",
    "Profile",
    "Release",
    "ViewOutcome",
    "all_profiles",
    "families",
    "find",
    "releases",
    "releases_of",
    "resolve",
    "resolve_all",
    "versions",
]
