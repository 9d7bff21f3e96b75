"""Concrete sizes at which a dynamic program is looked at."""

from __future__ import annotations

from .assumptions import Ranges

#: Sizes tried for dynamic wrappers.
SAMPLES = 2


def sizes_to_try(ranges: Ranges) -> list[dict[str, int]]:
    """A few small admitted sizes, none of them zero at first."""
    names = sorted(ranges.bounds)
    out: list[dict[str, int]] = []
    for step in (None, 0, 1, 3):
        env = {}
        for n in names:
            lo, hi = ranges.bounds[n]
            value = max(lo or 0, 1) + 1 if step is None else max(lo or 0, 0) + step
            if step is None and lo is not None and lo >= 2:
                value = lo
            env[n] = value if hi is None else min(value, hi)
        if env not in out and ranges.admits(env):
            out.append(env)
    return (out or ranges.samples(names, SAMPLES))[:SAMPLES]
