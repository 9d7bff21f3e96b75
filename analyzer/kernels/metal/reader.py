"""Metal kernels of a wrapper file, lowered to the program model."""

from __future__ import annotations

from collections.abc import Iterable

from ...cxx.clang_unit import Unit
from ...cxx.nodes import Node, Text
from ...model.kernel import Kernel
from ...model.location import Loc
from ...model.record import replace
from ..interpret.engine import interpret
from .lower import lower
from .signature import read_signature
from .source import blank_attributes, libraries


def find_kernels(text: str, path: str) -> dict[str, Kernel]:
    """Every Metal kernel of a C++ or Python file by the name of its library, with locations in that file."""
    found = libraries(text)
    if not found:
        return {}
    lowered = _lower_all(dict.fromkeys(lib.text for lib in found))
    out: dict[str, Kernel] = {}
    line, at = 1, 0
    for lib in found:
        line, at = line + text.count("\n", at, lib.offset), lib.offset
        column = at - text.rfind("\n", 0, at)
        out[lib.name] = _relocated(lowered[lib.text], lib.name, Loc(path, line, column))
    return out


def _relocated(kernel: Kernel, name: str, start: Loc) -> Kernel:
    """The kernel as it stands in a file, its text beginning at ``start``."""

    def move(loc: Loc) -> Loc:
        return Loc(
            start.path,
            loc.line + start.line - 1,
            loc.column + (start.column - 1 if loc.line == 1 else 0),
            loc.end_line + start.line - 1 if loc.end_line else 0,
            loc.end_column + (start.column - 1 if loc.end_line == 1 else 0),
        )

    return replace(
        kernel,
        name=name,
        loc=move(kernel.loc),
        accesses=tuple(replace(a, loc=move(a.loc)) for a in kernel.accesses),
        unmodelled=tuple((t, move(loc)) for t, loc in kernel.unmodelled),
        arrays=tuple(
            replace(x, accesses=tuple(replace(a, loc=move(a.loc)) for a in x.accesses)) for x in kernel.arrays
        ),
    )


#: Kernels by their text, with locations relative to it: models repeat kernels, and runs repeat models.
_CACHE: dict[str, Kernel] = {}


def _lower_all(texts: Iterable[str]) -> dict[str, Kernel]:
    """Lower kernel functions given by their texts."""
    texts = list(texts)
    new = [t for t in texts if t not in _CACHE]
    whole = [t for t in new if t.count("{") == t.count("}")]
    _lower_together(whole)
    for t in new:
        if t not in _CACHE:  # a text with a bracket too few would swallow what follows it
            _lower_together([t])
    return {t: _CACHE[t] for t in texts}


def _lower_together(texts: list[str]) -> None:
    """Lower in one translation unit, in a namespace each: starting libclang costs more than a kernel."""
    if not texts:
        return
    pieces: list[str] = []
    bases: list[int] = []
    at = 0
    for i, t in enumerate(texts):
        head = f"namespace k{i} {{ "
        pieces += [head, blank_attributes(t), "\n}\n"]
        bases.append(at + len(head))
        at += sum(map(len, pieces[-3:]))
    unit = Unit(Text("", "".join(pieces)), "prelude_metal.hpp")
    bodies = [(unit.extent(c)[0], unit.body(c)) for _, c in unit.functions()]
    errors = unit.diagnostics()
    for t, base, end in zip(texts, bases, [*bases[1:], at], strict=True):
        body = next((b for start, b in bodies if base <= start < end), None)
        wrong = [(min(o - base, len(t)), m) for o, m in errors if base <= o <= end]
        _CACHE[t] = _lower(t, base, body, wrong)


def _lower(text: str, base: int, body: Node | None, errors: Iterable[tuple[int, str]]) -> Kernel:
    source = Text("", text)
    errors = list(errors)
    signature = read_signature(text, body)
    end = text.rfind("}") + 1
    loc = source.loc(0, end)
    unread = [(piece, source.loc(offset)) for offset, piece in signature.unread]
    if body is None:
        unread.append((text[:200], source.loc(0)))
        unread += [(message, source.loc(offset)) for offset, message in errors]
        return Kernel("", "metal", tuple(signature.params), (), loc, tuple(unread))
    program = lower(text, base, body, signature, tuple(offset for offset, _ in errors))
    found = interpret(program, errors)
    return Kernel(
        "", "metal", program.params, found.accesses, loc, (*unread, *found.unmodelled), arrays=found.arrays
    )
