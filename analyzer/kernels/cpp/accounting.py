"""Every mention of a pointer is an access, was followed, or makes what it points to unknown.

The interpretation notes which names it evaluated, and which parts of the text can't run. Any other mention of a
pointer parameter, or of a name that was bound to one, went unread: of a statement libclang gave no tree to, of a form
nobody models, of code that a jump reaches. The parameter then has an access that is not known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...cxx.nodes import Node
from ...symbolic import const
from .templates import Interpreter
from .values import Ptr

_NO_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\n\\]|\\.)*"', re.DOTALL)
#: What a mention may stand in without being evaluated: the list of captures, the size of it, its type.
_UNEVALUATED = re.compile(r"\[[\w&*,\s]*\](?=\s*[({])|\b(?:sizeof|decltype|alignof)\s*\([^()]*\)")


def account(run: Interpreter, body: Node, end: int) -> None:
    """Record an unknown access for every mention that was not followed, in a kernel and in what it called."""
    unused = [(n.start, n.end) for at, n in run.written.items() if at not in run.entered]
    skipped = sorted((*run.unreached, *unused))
    everywhere = run.jumps
    for start, stop in ((body.start, end), *((h.body.start, h.body.end) for h in run.inlined.values())):
        for at, name in _mentions(run, start, stop):
            if everywhere or not (at in run.seen or any(a <= at < b for a, b in skipped)):
                node = Node("name", name, [], at, at + len(name))
                for base in sorted(run.held[name]):
                    run.vars.clear()
                    why = "the order of the statements is not followed" if everywhere else _why(run, at)
                    run.lose(Ptr(base, const(0)), node, why)
            if everywhere:
                run.held[name] = set()


def _mentions(run: Interpreter, start: int, stop: int) -> Iterator[tuple[int, str]]:
    """(offset, name) of names that hold pointers to parameters, where they are not declared."""
    names = [re.escape(n) for n in run.held if n]
    if not names:
        return
    text = _NO_CODE.sub(_blank, run.source.text[start:stop])
    text = _UNEVALUATED.sub(_blank, text)
    for m in re.finditer(rf"(?<![\w.:])(?<!->)(?:{'|'.join(names)})\b(?!\s*=[^=])", text):
        yield start + m.start(), m.group()


def _why(run: Interpreter, at: int) -> str:
    text = run.source.text
    start = max(text.rfind(c, 0, at) for c in ";{}") + 1
    ends = [e for c in ";{}" if (e := text.find(c, at)) >= 0]
    return f"{' '.join(text[start : min(ends, default=len(text))].split())[:120]} is not understood"


def _blank(m: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", m.group())
