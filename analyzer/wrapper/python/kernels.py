"""The kernels a Python wrapper defines as strings, read by the readers of their dialects."""

from __future__ import annotations

import ast
import re
from typing import Literal as Fixed

from ...kernels.triton.reader import TritonLauncher, read_launcher
from ...kernels.triton.source import LauncherText, PythonText, decorator_metadata
from ...model.kernel import Kernel
from ...model.location import Loc
from ...model.record import record, replace
from .grids import grid_text
from .literals import Literal, literal, relocated
from .module import Module, dotted

Dialect = Fixed["triton", "cpp", "metal"]
_ENTRY = re.compile(r'extern\s+"C"[^;{"(]*?\bvoid\s+(kernel)\s*\(')
#: What may stand before the only function of a C++ source.
_PLAIN = re.compile(r'\s*(?:#[^\n]*\s*)*extern\s+"C"')


@record(frozen=True)
class Definition:
    """A kernel by the name the host code calls it by. ``choices``: any of these runs. ``reason``: it can't be read."""

    dialect: Dialect
    kernel: Kernel
    launcher: TritonLauncher | None = None
    reason: str | None = None
    choices: tuple[tuple[str, Definition], ...] = ()
    #: Parameters that a launch gives values for, as the signature has them.
    stated: tuple[str, ...] = ()


def definitions(m: Module, processes: int = 1) -> dict[str, Definition]:
    """Every kernel of a module, by name."""
    out: dict[str, Definition] = {}
    cpp: dict[str, Literal] = {}
    metal: dict[str, ast.Constant] = {}
    several: dict[str, ast.Call] = {}
    for name, node in m.names.items():
        if isinstance(node, ast.FunctionDef):
            if _jitted(node):
                out[name] = _user_kernel(m, node)
            continue
        what = dotted(node.func, {}) if isinstance(node, ast.Call) else None
        if not isinstance(node, ast.Call) or what is None:
            continue
        kind = what.rpartition(".")[2]
        texts = [a for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
        if kind == "triton":
            out[name] = _triton(m, name, texts[-1] if texts else None, node)
        elif kind in ("cpp_pybinding", "cpp") and texts:
            cpp[name] = literal(texts[-1], m.rows)
        elif kind in ("metal", "compile_mps_shader") and texts:
            metal[name] = texts[-1]
        elif kind == "multi_kernel":
            several[name] = node
        elif kind in ("cpp_pybinding", "metal", "compile_mps_shader"):
            dialect: Dialect = "cpp" if kind.startswith("cpp") else "metal"
            out[name] = _without(m, name, node, dialect, "its source is no string literal")
    out |= _cpp(m, cpp, processes)
    out |= _metal(m, metal)
    for name, node in several.items():
        choices = [n.id for a in node.args for n in ast.walk(a) if isinstance(n, ast.Name) and n.id in out]
        if choices:
            first = out[choices[0]]
            out[name] = replace(first, choices=tuple((n, out[n]) for n in choices))
    return out


def _loc(m: Module, node: ast.AST) -> Loc:
    return Loc(m.path, node.lineno)  # type: ignore[attr-defined]


def _without(m: Module, name: str, node: ast.AST, dialect: Dialect, reason: str) -> Definition:
    loc = _loc(m, node)
    return Definition(dialect, Kernel(name, dialect, (), (), loc, ((reason, loc),)), None, reason)


# -- Triton -------------------------------------------------------------------------------------


def _jitted(fn: ast.FunctionDef) -> bool:
    return any((dotted(d, {}) or "").endswith("triton.jit") for d in fn.decorator_list)


def _user_kernel(m: Module, fn: ast.FunctionDef) -> Definition:
    """A function under ``@triton.jit`` in the module's own text, with the helpers that stand there too."""
    start = min([d.lineno for d in fn.decorator_list] + [fn.lineno])
    source = "".join(m.rows[start - 1 : fn.end_lineno])
    return _read(m, fn.name, Literal(source, tuple(range(start, (fn.end_lineno or start) + 1))), fn)


def _triton(m: Module, name: str, text: ast.Constant | None, node: ast.Call) -> Definition:
    if text is None:
        return _without(m, name, node, "triton", "its source is no string literal")
    return _read(m, name, literal(text, m.rows), node)


def _read(m: Module, name: str, source: Literal, node: ast.AST) -> Definition:
    fn = _kernel_function(source.value)
    if fn is None:
        return _without(m, name, node, "triton", "the Triton source holds no kernel that can be read")
    meta = decorator_metadata(fn) or {}
    triton_meta, inductor_meta = (
        x if isinstance(x, dict) else {} for x in (meta.get("triton_meta"), meta.get("inductor_meta"))
    )
    signature = triton_meta.get("signature")
    signature = signature if isinstance(signature, dict) else {}
    names = [a.arg for a in (*fn.args.posonlyargs, *fn.args.args, *fn.args.kwonlyargs)]
    notes = {a.arg: ast.unparse(a.annotation) for a in fn.args.args if a.annotation is not None}
    # Numbers that are constants in the signature are given all the same; older files leave them out.
    params = [n for n in names if "constexpr" not in notes.get(n, "")]
    blocks = [n for n in names if n not in params]
    stated = [n for n in params if signature.get(n) != "constexpr"]
    grid = grid_text(inductor_meta, params, blocks)
    text = LauncherText(
        f"call_{name}", (*params, *grid.extra), source.line, PythonText(source.value, source.line, 0), grid.host,
        grid.grid, source.line, True,
    )  # fmt: skip
    launcher = read_launcher(text, m.path)
    kernel = replace(launcher.kernel, name=name)
    if not source.straight:
        kernel = relocated(_shifted(kernel, 1 - source.line), source)
    return Definition(
        "triton", kernel, replace(launcher, kernel=kernel), launcher.reason, (), (*stated, *grid.extra)
    )


def _shifted(kernel: Kernel, by: int) -> Kernel:
    """A kernel whose places are counted from the first line of its text again."""
    last = max((a.loc.end_line for a in kernel.accesses), default=0) + max(
        kernel.loc.end_line, kernel.loc.line
    )
    return relocated(kernel, Literal("", tuple(n + by for n in range(1, last + 2))))


def _kernel_function(source: str) -> ast.FunctionDef | None:
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    found = [n for n in tree.body if isinstance(n, ast.FunctionDef)]
    return next((f for f in found if decorator_metadata(f) is not None), found[-1] if found else None)


# -- C++ ----------------------------------------------------------------------------------------


def _cpp(m: Module, sources: dict[str, Literal], processes: int) -> dict[str, Definition]:
    """C++ kernels: all that are one function are read in one go, each where it stands in the file."""
    if not sources:
        return {}
    from ...kernels.cpp.reader import parse_kernels, vector_bytes_of
    from ...kernels.cpp.shares import parse_shares

    width = vector_bytes_of(m.text)
    together: dict[str, tuple[str, Literal]] = {}
    out: dict[str, Definition] = {}
    for i, (name, source) in enumerate(sources.items()):
        entry = _ENTRY.search(source.value)
        if entry is None:
            loc = Loc(m.path, source.line)
            kernel = Kernel(name, "cpp", (), (), loc, (("no function called kernel", loc),))
            out[name] = Definition("cpp", kernel, None, "its source has no function called kernel")
        elif (
            source.straight
            and _PLAIN.match(source.value)
            and len(_ENTRY.findall(source.value)) == 1
            and i < 36**4
        ):
            together[name] = (_label(i), source)
        else:
            found = parse_kernels(source.value, m.path, 1, width).get("kernel")
            out[name] = _cpp_definition(m, name, source, relocated(found, source) if found else None)
    if together:
        kernels = parse_shares(_sheet(together), m.path, width, processes)
        for name, (label, source) in together.items():
            out[name] = _cpp_definition(m, name, source, kernels.get(label))
    return out


def _cpp_definition(m: Module, name: str, source: Literal, kernel: Kernel | None) -> Definition:
    if kernel is None:
        loc = Loc(m.path, source.line)
        kernel = Kernel(name, "cpp", (), (), loc, (("the C++ source could not be read", loc),))
        return Definition("cpp", kernel, None, "its source could not be read")
    return Definition("cpp", replace(kernel, name=name))


def _label(n: int) -> str:
    """A name as long as ``kernel``, which all of them have."""
    digits = ""
    for _ in range(4):
        n, d = divmod(n, 36)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[d] + digits
    return f"k_{digits}"


def _sheet(sources: dict[str, tuple[str, Literal]]) -> str:
    """Sources at the lines where they stand in the file, each function under a name of its own."""
    rows: list[str] = []
    for label, source in sorted(sources.values(), key=lambda s: s[1].line):
        entry = _ENTRY.search(source.value)
        start, end = entry.span(1) if entry else (0, 0)
        text = source.value[:start] + label + source.value[end:]
        lines = text.split("\n")
        rows += [""] * (source.line - 1 - len(rows))
        if len(rows) == source.line:  # two literals that share a line
            rows[-1] += lines.pop(0)
        rows += lines
    return "\n".join(rows)


# -- Metal --------------------------------------------------------------------------------------


def _metal(m: Module, sources: dict[str, ast.Constant]) -> dict[str, Definition]:
    if not sources:
        return {}
    from ...kernels.metal.reader import find_kernels

    rows = [""] * len(m.rows)
    for name, node in sources.items():  # only the definitions that count, each under its name
        first, last = node.lineno, node.end_lineno or node.lineno
        text = "".join(m.rows[first - 1 : last]).encode()[node.col_offset :].decode("utf-8", "replace")
        text = re.sub(r"^[rRbBuU]*", "", text)
        pieces = f"{name} = async_compile.metal('', {text}".split("\n")
        for i, piece in enumerate(pieces[: last - first + 1]):
            rows[first - 1 + i] = piece
    found = find_kernels("\n".join(rows), m.path)
    out: dict[str, Definition] = {}
    for name, node in sources.items():
        kernel = found.get(name)
        if kernel is None:
            out[name] = _without(m, name, node, "metal", "no kernel function in its source")
        else:
            out[name] = Definition("metal", kernel)
    return out
