"""Rows as an aligned text table."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """The rows under their heads, columns two spaces apart; numbers to the right, None as a dash."""
    cells = [["-" if v is None else str(v) for v in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(head, *cells, strict=True)]
    right = [bool(rows) and all(isinstance(row[n], int | None) for row in rows) for n in range(len(head))]
    lines = [
        "  ".join(
            cell.rjust(w) if r else cell.ljust(w) for cell, w, r in zip(row, widths, right, strict=True)
        )
        for row in [list(head), *cells]
    ]
    return "".join(line.rstrip() + "\n" for line in lines)


def kernel_report(rows: Sequence[Mapping[str, Any]], format: str) -> str:
    """The rows of ``aoti-lint kernels``; for people the ends are ``min..max`` and the files are headings."""
    if format == "json":
        return json.dumps({"rows": rows}, indent=1) + "\n"
    parts: list[str] = []
    for path in dict.fromkeys(row["path"] for row in rows):
        mine = [
            (
                row["launch_line"], row["kernel"], row["parameter"], row["tensor"], row["storage"], row["offset"],
                row["capacity"], _ends(row["reads"]), _ends(row["writes"]), row["verdict"], row["reason"] or "",
            )
            for row in rows
            if row["path"] == path
        ]  # fmt: skip
        parts.append(f"{path}\n{table(_KERNEL_HEAD, mine)}")
    return "\n".join(parts)


_KERNEL_HEAD = (
    "line", "kernel", "parameter", "tensor", "storage", "offset", "capacity", "reads", "writes", "verdict", "reason"
)  # fmt: skip


def _ends(ends: Mapping[str, Any] | None) -> str | None:
    if ends is None:
        return None
    if "text" in ends:
        return str(ends["text"])
    lo, hi = ("?" if ends[end] is None else ends[end] for end in ("min", "max"))
    return f"{lo}..{hi}"
