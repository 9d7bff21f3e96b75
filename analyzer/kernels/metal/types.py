"""Types of Metal: names to dtypes, and the type of a result."""

from __future__ import annotations

import re

from ...model.dtypes import from_cxx
from ..interpret.integers import int_type, promoted

_POINTER = re.compile(r"\*\s*\Z")
_VECTOR = re.compile(r"(\w+?)([234])\Z")


def dtype_of(text: str) -> str:
    """The dtype a type names, without qualifiers; ``""`` for what is no scalar known here."""
    words = [w for w in text.split() if w not in ("thread", "constexpr", "static")]
    name = " ".join(words)
    if name.startswith("metal::"):
        name = name.removeprefix("metal::")
    found = from_cxx(name)
    return "" if found is None or found.startswith("complex") else found


def component_of(text: str) -> str:
    """The dtype of the components of a vector type (``uint2``), or of a scalar type itself."""
    m = _VECTOR.match(text.strip())
    return dtype_of(m[1] if m and dtype_of(m[1]) else text)


def result_type(a: str, b: str) -> str:
    """The type of ``a + b``: C++'s usual conversions; of floats the wider, half taking part as itself."""
    ta, tb = int_type(a), int_type(b)
    if ta is not None and tb is not None:
        return promoted(ta, tb).name
    if ta is None and tb is None:
        return a if a == b else next((t for t in (a, b) if t not in ("float16", "bfloat16")), "float32")
    return a if ta is None else b
