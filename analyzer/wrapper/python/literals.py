"""String literals of a Python text: their value, and which line of the file each line of the value stands on."""

from __future__ import annotations

import ast
import io
import re
import tokenize

from ...model.kernel import Kernel
from ...model.location import Loc
from ...model.record import record, replace

#: Escapes of a literal that is not raw. Those of a line break have no part in the value.
_ESCAPE = re.compile(
    r"\\(?:\n|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|N\{[^}]*\}|[0-7]{1,3}|.)", re.S
)


@record(frozen=True)
class Literal:
    """A literal: ``lines[i]`` is the line of the file on which line ``i`` of ``value`` begins."""

    value: str
    lines: tuple[int, ...]

    @property
    def line(self) -> int:
        return self.lines[0]

    @property
    def straight(self) -> bool:
        """Whether lines of the value follow each other as they do in the file."""
        return self.lines[-1] - self.lines[0] == len(self.lines) - 1


def literal(node: ast.Constant, rows: list[str]) -> Literal:
    """The literal at a node of the text with these ``rows``; pieces that stand side by side are one."""
    value = str(node.value)
    first, last = node.lineno, node.end_lineno or node.lineno
    breaks = value.count("\n")
    if breaks == last - first and "\\" not in "".join(rows[first - 1 : last]):
        return Literal(value, tuple(range(first, last + 1)))
    lines = [first]
    for line, text in _pieces("".join(rows[first - 1 : last]), node.col_offset):
        at = first + line - 1
        for part in text:
            if part == "\n":
                at += 1
                lines.append(at)
            elif part.startswith("\\"):
                at += part.count("\n")
                if _breaks(part):
                    lines.append(at)
    if len(lines) != breaks + 1:  # a form of literal that is not followed: every line is its first
        lines = [first] * (breaks + 1)
    return Literal(value, tuple(lines))


def _breaks(escape: str) -> bool:
    """Whether an escape stands for a line break."""
    return escape in ("\\n", "\\x0a", "\\x0A", "\\12", "\\012", "\\u000a", "\\u000A")


def _pieces(text: str, column: int) -> list[tuple[int, list[str]]]:
    """(line in ``text``, line breaks and escapes of the literal in order) of each piece."""
    padded = " " * column + text.encode()[column:].decode("utf-8", "replace")
    out: list[tuple[int, list[str]]] = []
    try:
        for token in tokenize.generate_tokens(
            io.StringIO("(" + padded[1:] if column else "(" + padded).readline
        ):
            if token.type == tokenize.STRING:
                out.append((token.start[0], _parts(token.string)))
            elif token.type == tokenize.OP and token.string in ",)":
                break
    except (tokenize.TokenError, SyntaxError):
        pass
    return out


def _parts(token: str) -> list[str]:
    raw = "r" in token[: re.match(r"\w*", token).end()].lower()  # type: ignore[union-attr]
    if raw:
        return ["\n"] * token.count("\n")
    return [m.group() for m in re.finditer(rf"{_ESCAPE.pattern}|\n", token, re.S)]


def relocated(kernel: Kernel, source: Literal) -> Kernel:
    """A kernel whose places are lines of the value, as it stands in the file."""

    def line(n: int) -> int:
        return source.lines[min(max(n, 1), len(source.lines)) - 1] if n else 0

    def move(loc: Loc) -> Loc:
        return Loc(loc.path, line(loc.line), loc.column, line(loc.end_line), loc.end_column)

    return replace(
        kernel,
        loc=move(kernel.loc),
        accesses=tuple(replace(a, loc=move(a.loc)) for a in kernel.accesses),
        unmodelled=tuple((text, move(loc)) for text, loc in kernel.unmodelled),
    )
