"""A Python wrapper as a module: its functions, the kernels it defines, and what it says about its inputs."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator

from ...model.record import field, record
from ..errors import NotAWrapper

#: Most code a file may have outside its strings and comments, characters: trees take a hundred times the memory.
MAX_CODE = 6_000_000
_STRINGS = re.compile(r"r?('''|\"\"\").*?\1|#[^\n]*", re.S)
_TORCH = re.compile(r"#\s*torch(?: version)?:?\s*(\d+\.\d+[\w.+]*)")


@record(frozen=True)
class Example:
    """What ``get_args`` makes for one input: an integer, or a tensor of some dtype and device."""

    integer: int | None = None
    number: bool = False
    dtype: str | None = None
    device: str | None = None


@record
class Module:
    """``names``: what each name of the module is bound to last. ``rows``: lines of the text, with their ends.

    ``partitions``: functions in the order the runner holds them. ``examples``: by position of the input.
    ``loose``: statements of the module itself that are no definition.
    """

    path: str
    text: str
    rows: list[str]
    names: dict[str, ast.AST] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    partitions: tuple[str, ...] = ()
    examples: tuple[Example | None, ...] = ()
    torch: str | None = None

    def function(self, name: str) -> ast.FunctionDef | None:
        found = self.names.get(name)
        return found if isinstance(found, ast.FunctionDef) else None

    def source(self, node: ast.AST) -> str:
        """The text of a node on one line; only its first lines where it is long."""
        line, end = getattr(node, "lineno", 1), getattr(node, "end_lineno", 1)
        start, stop = getattr(node, "col_offset", 0), getattr(node, "end_col_offset", 0)
        rows = [r.encode() for r in self.rows[line - 1 : min(end, line + 4)]]
        if rows and end <= line + 4:
            rows[-1] = rows[-1][:stop]
        return " ".join(b"".join(rows)[start:].decode("utf-8", "replace").split())[:300]


def parse(text: str, path: str) -> Module:
    """The module of a text. Raises NotAWrapper."""
    if len(text) > MAX_CODE and len(_STRINGS.sub("", text)) > MAX_CODE:
        raise NotAWrapper(f"more than {MAX_CODE // 1_000_000} MB of Python code: no generator writes that")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the user's text, and of no use to them here
            tree = ast.parse(text)
    except SyntaxError as e:
        raise NotAWrapper(f"not valid Python: {e.msg} (line {e.lineno})") from None
    except (RecursionError, MemoryError):
        raise NotAWrapper("an expression is nested too deeply to be read") from None
    except ValueError as e:
        raise NotAWrapper(f"not valid Python: {' '.join(str(e).split())[:80]}") from None
    m = Module(path, text, text.splitlines(keepends=True))
    # Lines are those of the parser, which knows fewer line ends than splitlines.
    if len(m.rows) != text.count("\n") + (not text.endswith("\n")):
        m.rows = [r + "\n" for r in text.split("\n")]
    for node in tree.body:
        _bind(m, node)
    torch = _TORCH.search(text)
    m.torch = torch.group(1) if torch else None
    m.examples = _examples(m)
    return m


def _bind(m: Module, node: ast.stmt) -> None:
    """Note what a statement of the module binds: the last binding of a name counts."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        m.names[node.name] = node
        m.aliases.pop(node.name, None)
        for d in node.body if isinstance(node, ast.ClassDef) else ():
            if isinstance(d, ast.FunctionDef):
                m.names[f"{node.name}.{d.name}"] = d
    elif isinstance(node, ast.Assign):
        for target in node.targets:
            for name in _names(target):
                m.names[name] = node.value
                m.aliases[name] = dotted(node.value, m.aliases) or ""
        if isinstance(node.value, ast.Call):
            for k in node.value.keywords:
                if k.arg == "partitions" and isinstance(k.value, (ast.List, ast.Tuple)):
                    m.partitions = tuple(dotted(e, {}) or "" for e in k.value.elts)
    elif isinstance(node, ast.ImportFrom):
        for a in node.names:
            name = a.asname or a.name
            m.names.pop(name, None)
            m.aliases[name] = f"{node.module or ''}.{a.name}"
    elif isinstance(node, (ast.With, ast.If, ast.Try)) and not _is_main(node):
        for inner in node.body:
            _bind(m, inner)


def _is_main(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "__main__" in ast.dump(node.test)


def _names(target: ast.expr) -> Iterator[str]:
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, (ast.Tuple, ast.List)):
        for e in target.elts:
            yield from _names(e)


def dotted(node: ast.AST, aliases: dict[str, str]) -> str | None:
    """``a.b.c`` with the module's own names for things put in full; None for what is no dotted name."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    parts.append(aliases.get(node.id) or node.id)
    return ".".join(reversed(parts))


# -- what the benchmark's arguments say ---------------------------------------------------------


def _examples(m: Module) -> tuple[Example | None, ...]:
    """The arguments that ``get_args`` returns, or that an older file makes for its benchmark."""
    fn = m.function("get_args") or m.function("benchmark_compiled_module")
    if fn is None:
        return ()
    made: dict[str, Example | None] = {}
    for node in fn.body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            made[node.targets[0].id] = _example(node.value)
        order = _order(node)
        if order is not None:
            return tuple(made.get(e.id) if isinstance(e, ast.Name) else _example(e) for e in order)
    return ()


def _order(node: ast.stmt) -> list[ast.expr] | None:
    """``return [a, b]``, or the list in ``fn = lambda: call([a, b])``."""
    if isinstance(node, ast.Return) and isinstance(node.value, (ast.List, ast.Tuple)):
        return node.value.elts
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda):
        call = node.value.body
        if isinstance(call, ast.Call) and call.args and isinstance(call.args[0], ast.List):
            return call.args[0].elts
    return None


def _example(node: ast.expr) -> Example | None:
    if (
        isinstance(node, ast.UnaryOp)
        and isinstance(node.op, ast.USub)
        and isinstance(node.operand, ast.Constant)
    ):
        value = node.operand.value
        return Example(-value) if type(value) is int else Example(number=True)
    if isinstance(node, ast.Constant):
        return Example(node.value) if type(node.value) is int else Example(number=True)
    if not isinstance(node, ast.Call):
        return None
    words = {k.arg: k.value for k in node.keywords}
    device, dtype = words.get("device"), dotted(words.get("dtype", node), {}) or ""
    return Example(
        dtype=dtype.removeprefix("torch.") if dtype.startswith("torch.") else None,
        device=str(device.value).partition(":")[0] if isinstance(device, ast.Constant) else None,
    )
