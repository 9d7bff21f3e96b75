"""How reports write paths and counts."""

from __future__ import annotations


def shown(path: str, root: str) -> str:
    """A path as people and CI services want it: relative to ``root`` when inside, with forward slashes."""
    posix = path.replace("\\", "/")
    base = root.replace("\\", "/").rstrip("/") + "/"
    return posix[len(base) :] if root and posix.startswith(base) else posix.removeprefix("./")


def plural(count: int, noun: str) -> str:
    """``1 error``, ``2 errors``, ``1,200 accesses``."""
    ending = "" if count == 1 else "es" if noun.endswith("ss") else "s"
    return f"{count:,} {noun}{ending}"
