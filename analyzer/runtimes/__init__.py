"""Runtime profiles: dated data on what a runtime does with what a wrapper asks."""

from .catalog import ALL, all_profiles, families, find, resolve, resolve_all, versions
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
    "ViewOutcome",
    "all_profiles",
    "families",
    "find",
    "resolve",
    "resolve_all",
    "versions",
]
