"""Metal libraries inside a file: where they are, what they are called, and the kernel function of each."""

from __future__ import annotations

import re

from ...model.record import record

_LITERAL = re.compile(r"R\"(\w*)\(|\"\"\"|'''")
#: What stands before the literal: ``const char* mps_lib_3_source = (``, ``DynamicMetalShaderLibrary mps_lib_0(``,
#: and in Python ``mps_lib_3 = compile_mps_shader(``, ``generated_kernel_1 = async_compile.metal('...', ``.
_OWNER = re.compile(r"\b(\w+?)(?:_source)?\s*(?:=\s*[\w.]*)?\s*\(?\s*(?:'[^'\n]*',\s*)?\Z")
_KERNEL = re.compile(r"\bkernel\s+void\s+(\w+)\s*\(")
_ATTRIBUTE = re.compile(r"\[\[.*?\]\]", re.S)


@record(frozen=True)
class Library:
    """A library in a file: ``text`` is its last kernel function (to the end of the literal), at ``offset``."""

    name: str
    function: str
    text: str
    offset: int


def libraries(text: str) -> list[Library]:
    """Every Metal library of a C++ or Python file that holds a kernel function, in order."""
    out: list[Library] = []
    at = 0
    while m := _LITERAL.search(text, at):
        at = m.end()
        owner = _OWNER.search(text, max(0, m.start() - 120), m.start())
        close = f'){m[1]}"' if m[1] is not None else m[0]
        end = text.find(close, at)
        if owner is None or end < 0:
            continue
        at = end + len(close)
        # Inlined headers come first and may hold kernels of their own.
        start = text.rfind("kernel", m.end(), end)
        while start >= 0 and not (found := _KERNEL.match(text, start, end)):
            start = text.rfind("kernel", m.end(), start)
        if start >= 0 and found:
            out.append(Library(owner[1], found.group(1), text[start:end], start))
    return out


def blank_attributes(text: str) -> str:
    """``[[...]]`` as spaces, so that offsets and lines hold."""
    return _ATTRIBUTE.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)
