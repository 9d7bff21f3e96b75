"""AL903: an accepted finding that is no longer there."""

from __future__ import annotations

from .registry import Rule

RULE = Rule(
    code="AL903",
    name="unused-suppression",
    severity="note",
    summary="A suppression or baseline entry has expired or matches no finding any more.",
    explanation="""
    Suppressions live in the configuration, far from the file they speak about. One that matches nothing any
    more says that the fault was fixed, or that the pattern no longer fits; it would silently accept the next
    fault of its kind. One past its expiry date accepts nothing.

    An entry is judged only when a wrapper that its path fits was checked in this run. Under --strict this is
    an error.
    """,
    bad="""
    [[suppress]]
    code = "AL202"
    path = "models/*.wrapper.cpp"
    reason = "runtime fixed upstream, waiting for the release"
    expires = 2026-01-31      # has passed
    """,
    good="""
    [[suppress]]
    code = "AL202"
    path = "models/c2f.wrapper.cpp"
    kernel = "mps_lib_4"
    reason = "runtime fixed upstream, waiting for the release"
    expires = 2027-01-31
    """,
    since="0.1.0",
    help="Remove the entry or correct its pattern; for a baseline write it anew with --write-baseline.",
)
