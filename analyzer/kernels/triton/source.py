"""Finding the Triton launchers of a wrapper: parameters, Python source, host statements, with true lines.

A launcher is a ``call_...`` function of the wrapper.  Its Python source stands in a comment inside it, or in
a raw string before it (kernels that are compiled when first run).
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator, Mapping

from ...model.record import record

_FUNCTION = re.compile(r"^(?:static|inline|void)\b[^\n;(]*?(?:\(\(\w+\)\)[^\n;(]*?)?\b(call_\w+)\(", re.M)
_RAW = re.compile(r'R"TRITON\((.*?)\)TRITON"', re.S)
_RAW_NAME = re.compile(r"(\w+)_source\s*=\s*$")
#: ``type name = value;`` and ``name = value;``, on a line of its own.
_HOST = re.compile(r"^[ \t]*(?:const\s+)?(?:(\w+)\s+)?(\w+)\s*=(?!=)\s*([^;{}]+);", re.M)
#: A variable that changes in another way than by a plain assignment.
_CHANGED = re.compile(r"(?:\+\+|--)\s*(\w+)|(\w+)\s*(?:\+\+|--|(?:[-+*/%&|^]|<<|>>)?=(?!=))")
_ARGUMENTS = re.compile(r"\bkernel_args_\s*\[\]\s*=\s*\{([^}]*)\}")
#: What a literal in quotes has to escape, as it stands in a comment.
_ESCAPED = re.compile(r"\\(['\"\\])")
#: Parameters of a launcher that are no arguments of the kernel.
_TRAILING = ("device_idx_", "stream_", "kernels_", "cubin_dir_")


@record(frozen=True)
class PythonText:
    """Python source and where it stands: ``line`` is the wrapper line of its first line, ``indent`` was removed."""

    source: str
    line: int
    indent: int


@record(frozen=True)
class LauncherText:
    """One launcher function.

    ``host``: its declarations and assignments in order; a value of "" is one that depends on what runs.
    ``types``: what its variables are declared as.  ``grid``: the launch's grid arguments.  ``arguments``: the
    variables whose addresses the kernel gets, in order; None where the text has no such array.
    """

    name: str
    params: tuple[str, ...]
    line: int
    python: PythonText | None
    host: tuple[tuple[str, str], ...]
    grid: tuple[str, str, str] | None
    grid_line: int
    returns_when_empty: bool
    types: tuple[tuple[str, str], ...] = ()
    arguments: tuple[str, ...] | None = None


def launcher_texts(text: str) -> Iterator[LauncherText]:
    """Every launcher function of a wrapper, in order."""
    raw = dict(_raw_sources(text))
    for m in _FUNCTION.finditer(text):
        close = _matching(text, m.end() - 1)
        brace = text.find("{", close)
        if close < 0 or brace < 0 or text[close + 1 : brace].strip():
            continue  # a declaration, or a call
        end = _body_end(text, brace)
        yield _launcher(text, m.group(1), m.start(), text[m.end() : close], brace, end, raw)


def _raw_sources(text: str) -> Iterator[tuple[str, tuple[str, int]]]:
    """(kernel, (source, line)) of sources in raw strings."""
    for m in _RAW.finditer(text):
        name = _RAW_NAME.search(text, text.rfind("\n", 0, m.start()) + 1, m.start())
        if name is not None:
            yield name.group(1), (m.group(1), text.count("\n", 0, m.start(1)) + 1)


def _launcher(
    text: str, name: str, start: int, params: str, brace: int, end: int, raw: Mapping[str, tuple[str, int]]
) -> LauncherText:
    comment = text.find("/*", brace, end)
    code_at = brace
    python: PythonText | None = None
    if comment >= 0:
        code_at = text.find("*/", comment) + 2
        python = _from_comment(text, comment, code_at)
    elif name.removeprefix("call_") in raw:
        source, line = raw[name.removeprefix("call_")]
        python = _python_text(source, line)
    code = text[code_at:end]
    grid_at = re.search(r"\bgrid_0\b", code)
    return LauncherText(
        name, _param_names(params), text.count("\n", 0, start) + 1, python,
        tuple(_assignments(code)),
        _grid_arguments(code),
        text.count("\n", 0, code_at + (grid_at.start() if grid_at else 0)) + 1,
        re.search(r"if\s*\([^)]*\bgrid_0\s*==\s*0[^)]*\)\s*\{?\s*return", code) is not None,
        tuple((m.group(2), m.group(1)) for m in _HOST.finditer(code) if m.group(1)),
        _arguments(code),
    )  # fmt: skip


def _assignments(code: str) -> Iterator[tuple[str, str]]:
    """(variable, text of its value) in order; the text is empty where the value depends on a branch or loop."""
    found: list[tuple[int, str, str]] = []
    for m in _HOST.finditer(code):
        found.append((m.start(), m.group(2), m.group(3).strip()))
    read = {m.start(2) for m in _HOST.finditer(code)}
    for m in _CHANGED.finditer(code):
        if m.start(2) not in read:
            found.append((m.start(), m.group(1) or m.group(2), ""))
    for at, name, value in sorted(found):
        inner = code.count("{", 0, at) - code.count("}", 0, at) > (1 if code.startswith("{") else 0)
        yield name, "" if inner or _guarded(code, at) else value


def _guarded(code: str, at: int) -> bool:
    """Whether a statement is the only one of an ``if`` or ``else`` without braces."""
    before = code[:at].rstrip()
    return before.endswith(("else", ")"))


def _arguments(code: str) -> tuple[str, ...] | None:
    m = _ARGUMENTS.search(code)
    return None if m is None else tuple(a.lstrip("&").strip() for a in split_arguments(m.group(1)))


def _body_end(text: str, brace: int) -> int:
    """The end of a function body: its closing brace stands at the start of a line, after any comment."""
    comment = text.find("/*", brace)
    close = re.compile(r"^\}", re.M)
    m = close.search(text, brace)
    if m is not None and 0 <= comment < m.start():
        m = close.search(text, max(text.find("*/", comment), brace))
    return m.start() if m else len(text)


def _matching(text: str, at: int) -> int:
    depth = 0
    for i in range(at, len(text)):
        if text[i] == "(":
            depth += 1
        elif text[i] == ")":
            depth -= 1
            if depth == 0:
                return i
    return -1


def split_arguments(text: str) -> list[str]:
    """Split at commas outside brackets."""
    out, depth, start = [], 0, 0
    for i, ch in enumerate(text):
        depth += (ch in "([{<") - (ch in ")]}>")
        if ch == "," and depth == 0:
            out.append(text[start:i])
            start = i + 1
    return [a.strip() for a in [*out, text[start:]] if a.strip()]


def _param_names(text: str) -> tuple[str, ...]:
    names = []
    for param in split_arguments(text):
        m = re.search(r"(\w+)\s*(?:=.*)?$", param, re.S)
        if m is None or m.group(1) in _TRAILING:
            break
        names.append(m.group(1))
    return tuple(names)


def _grid_arguments(code: str) -> tuple[str, str, str] | None:
    """The grid arguments of the launch, or the variables named ``grid_<k>`` where the call has another form."""
    m = re.search(r"\blaunchKernel\s*\(", code)
    if m is not None:
        args = split_arguments(code[m.end() : _matching(code, m.end() - 1)])
        if len(args) >= 4:
            return args[1], args[2], args[3]
    if all(re.search(rf"\bgrid_{k}\b", code) for k in range(3)):
        return "grid_0", "grid_1", "grid_2"
    return None


def _from_comment(text: str, start: int, end: int) -> PythonText | None:
    body = text[start:end]
    m = re.search(r"'''(.*?)'''", body, re.S)
    source, at = (m.group(1), m.start(1)) if m else (body[2:-2], 2)
    if "def " not in source:
        return None
    return _python_text(_ESCAPED.sub(r"\1", source), text.count("\n", 0, start + at) + 1)


def _python_text(source: str, line: int) -> PythonText:
    lines = source.split("\n")
    filled = [s for s in lines if s.strip()]
    indent = min((len(s) - len(s.lstrip(" ")) for s in filled), default=0)
    return PythonText(textwrap.dedent("\n".join(lines)), line, indent)


# -- metadata of a kernel -----------------------------------------------------------------------


def literal(node: ast.expr) -> object:
    """The literal a node denotes; parts that are no literals become None."""
    if isinstance(node, ast.Dict):
        return {literal(k): literal(v) for k, v in zip(node.keys, node.values, strict=True) if k is not None}
    if isinstance(node, (ast.List, ast.Tuple)):
        return tuple(literal(e) for e in node.elts)
    if isinstance(node, ast.Call):
        return _attrs_descriptor(node)
    try:
        value: object = ast.literal_eval(node)
    except ValueError:
        return None
    return value


def _attrs_descriptor(node: ast.Call) -> object:
    """``AttrsDescriptor(divisible_by_16=(0, 1), ...)`` of older versions, in the form of newer ones."""
    if not ast.unparse(node.func).startswith("AttrsDescriptor"):
        return None
    found: object = next((literal(k.value) for k in node.keywords if k.arg == "divisible_by_16"), ())
    if node.args:
        table = literal(node.args[0])
        props = table.get("arg_properties") if isinstance(table, dict) else None
        found = props.get("tt.divisibility", ()) if isinstance(props, dict) else ()
    if not isinstance(found, tuple):
        return None
    return {(i,): (("tt.divisibility", 16),) for i in found}


def decorator_metadata(fn: ast.FunctionDef) -> dict[str, object] | None:
    """Keyword arguments of the heuristics decorator, None for a function that has none (a helper)."""
    for d in fn.decorator_list:
        if isinstance(d, ast.Call) and "heuristics" in ast.unparse(d.func):
            return {k.arg: literal(k.value) for k in d.keywords if k.arg is not None}
    return None
