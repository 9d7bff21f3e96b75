"""Runtime profiles: dated data on what a runtime does with what a wrapper asks."""

from .catalog import all_profiles, families, find, resolve, versions
from .model import Judgement, Layout
from .ops import OpPolicy
from .profile import AllocOutcome, Outcome, Profile, ViewOutcome

__all__ = [
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
    "versions",
]
