"""Comments of the generator that say where code comes from."""

from __future__ import annotations

import re

_COMMENT = re.compile(
    r"//\s*(?:Topologically )?(?:Uns|S)(?:orted|ource)[^\[\n]*\[([^\]\n]*)\](?:, Original ATen: \[([^\]\n]*)\])?"
)
_BETWEEN = re.compile(
    r"(?:static )?const|AtenTensorHandle|RAIIAtenTensorHandle|int64_t|//|auto var_|int\d+_t var|double var"
)


def source_nodes(text: str, start: int) -> tuple[str, ...]:
    """Model operations named in the comment above the statement at ``start``."""
    line_start = text.rfind("\n", 0, start) + 1
    for _ in range(12):
        before = text.rfind("\n", 0, max(line_start - 1, 0)) + 1
        line = text[before : line_start - 1].strip()
        m = _COMMENT.search(line)
        if m:
            return tuple(x.strip() for g in m.groups() if g for x in g.split(",") if x.strip())
        if not _BETWEEN.match(line):
            break
        line_start = before
    return ()
