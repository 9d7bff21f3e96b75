"""What the text says about a Triton kernel besides its body: argument types, constants, block sizes, grid.

Block sizes are read off the grid arithmetic of the launcher.  A block size that is not in the text (the
reduction block of a loop, kernels that are tuned when first run) is replaced by the largest one that the size
hints allow: block sizes are powers of two, so the range any smaller one covers is contained in that one's.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable, Mapping
from itertools import product

from ...model.dtypes import TRITON
from ...model.kernel import Param
from ...model.record import record
from ...symbolic import Expr, sym
from .host import host_expression
from .source import LauncherText, PythonText, decorator_metadata
from .values import Unsupported

#: The largest block sizes that tuning may choose, by size-hint prefix.
_MAX_BLOCK = {"x": 4096, "y": 1024, "z": 1024, "r": 65536, "r0_": 65536, "r1_": 32768}
_ALIGNMENT = 16
#: Configurations of a tuned kernel that are told apart.
_MAX_CHOICES = 32
#: A block size that is only known after tuning, as the grid arithmetic of such launchers names it.
_TUNED = re.compile(r"\b\w+_result\.(x|y|z|r0)blocks\[\d+\]")


@record(frozen=True)
class KernelText:
    """One Triton kernel with its metadata, before its body is read."""

    fn: ast.FunctionDef
    functions: Mapping[str, ast.FunctionDef]
    module_constants: Mapping[str, ast.expr]
    python: PythonText
    lines: tuple[str, ...]
    params: tuple[Param, ...]
    #: Values of compile-time arguments: an integer, float, bool, string or None.
    constants: Mapping[str, object]
    #: Compile-time arguments nothing is known about, and why.
    unknown: Mapping[str, str]
    alignments: tuple[tuple[str, int], ...]
    assumption: str
    grid: tuple[Expr, Expr, Expr] | None
    name: str
    #: Whether device assertions are compiled in.
    asserts: bool = True
    #: Further values that compile-time arguments may have, each set with its text; ``constants`` are the first.
    choices: tuple[tuple[str, Mapping[str, object]], ...] = ()
    #: The first choice reaches all that the others reach.
    widest: bool = False


def read_kernel(launcher: LauncherText, python: PythonText) -> KernelText:
    """Parse the Python source of a launcher. Raises Unsupported when it holds no kernel."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)  # of the user's text, and of no use to them here
            module = ast.parse(python.source)
    except (SyntaxError, ValueError) as e:
        raise Unsupported(f"the Triton source does not parse: {e}") from e
    functions = {n.name: n for n in module.body if isinstance(n, ast.FunctionDef)}
    fn = _kernel_function(functions.values(), launcher.name)
    meta = decorator_metadata(fn) or {}
    names = [a.arg for a in [*fn.args.posonlyargs, *fn.args.args, *fn.args.kwonlyargs]]
    triton_meta = _mapping(meta.get("triton_meta"))
    inductor_meta = _mapping(meta.get("inductor_meta"))
    signature = _by_name(_mapping(triton_meta.get("signature")), names)
    constants = _by_name(_mapping(triton_meta.get("constants")), names)
    constants |= {str(k): _unquote(v) for k, v in _mapping(inductor_meta.get("config_args")).items()}
    constants |= _common_config(meta.get("configs"))
    constants |= _common_config(_matching_configs(inductor_meta.get("precomputed_grids"), launcher))
    compile_time = [
        n for n in names if n not in constants and (signature.get(n) == "constexpr" or _is_constexpr(fn, n))
    ]
    blocks, notes, unknown = _block_sizes(launcher, compile_time, meta, inductor_meta)
    tuned = _tuned_choices(meta.get("configs"), inductor_meta.get("precomputed_grids"), unknown, launcher)
    if tuned:
        unknown = {k: why for k, why in unknown.items() if k not in tuned[0]}
    known = {**constants, **blocks, **(tuned[0] if tuned else {})}
    choices = tuple((_said(c), {**known, **c}) for c in tuned[1:])
    assumed = {
        n: v for n in blocks if f"{n} is not in the text" in " ".join(notes) and type(v := blocks[n]) is int
    }
    widest = not tuned and all(_only_cuts(fn, n) for n in assumed)
    if assumed and not tuned:
        values = _block_choices(fn, assumed)
        if _grid(launcher, known) == _grid(launcher, {**known, **values[-1]}) and len(values) <= _MAX_CHOICES:
            choices = tuple((_said(c), {**known, **c}) for c in values[1:])
        elif not widest:
            unknown |= {n: f"{n} is not in the text, and too much depends on it" for n in assumed}
            known = {n: v for n, v in known.items() if n not in assumed}
    shown = str(inductor_meta.get("kernel_name") or launcher.name.removeprefix("call_"))
    return KernelText(
        fn, functions, _module_constants(module), python, tuple(python.source.split("\n")),
        tuple(_param(n, signature.get(n)) for n in names if n not in compile_time and signature.get(n) != "constexpr"),
        known, unknown, _alignments(triton_meta, list(signature), names),
        "; ".join(notes), _grid(launcher, known), shown if fn.name == "triton_" else fn.name,
        inductor_meta.get("assert_indirect_indexing", True) is not False, choices, widest,
    )  # fmt: skip


def _kernel_function(functions: Iterable[ast.FunctionDef], launcher: str) -> ast.FunctionDef:
    found = list(functions)
    for fn in found:
        if decorator_metadata(fn) is not None:
            return fn
    for fn in found:
        if launcher.endswith(fn.name):
            return fn
    raise Unsupported("the Triton source holds no kernel function")


def _mapping(x: object) -> dict[object, object]:
    return x if isinstance(x, dict) else {}


def _by_name(table: Mapping[object, object], names: list[str]) -> dict[str, object]:
    """Older versions key by argument position (or a tuple of it), newer ones by name."""
    out: dict[str, object] = {}
    for k, v in table.items():
        k = k[0] if isinstance(k, tuple) and len(k) == 1 else k
        if isinstance(k, int) and k < len(names):
            out[names[k]] = v
        elif isinstance(k, str):
            out[k] = v
    return out


def _unquote(v: object) -> object:
    return v[1:-1] if isinstance(v, str) and len(v) > 1 and v[0] == v[-1] == "'" else v


def _common_config(configs: object) -> dict[str, object]:
    """Arguments that every configuration of a tuned kernel sets to the same value."""
    if not isinstance(configs, tuple) or not all(isinstance(c, dict) for c in configs) or not configs:
        return {}
    flat = [{**_mapping(c), **_mapping(_mapping(c).get("kwargs"))} for c in configs]
    return {str(k): v for k, v in flat[0].items() if all(c.get(k) == v for c in flat[1:])}


def _matching_configs(grids: object, launcher: LauncherText) -> object:
    """Configurations of a tuned kernel whose grid is the one the launcher computes."""
    host = dict(launcher.host)
    stated = tuple(host.get(f"grid_{k}") for k in range(3))
    entries = [_mapping(e) for e in grids] if isinstance(grids, tuple) else []
    return tuple(e.get("config") for e in entries if e.get("cpp") == stated)


def _tuned_choices(
    configs: object, grids: object, names: Mapping[str, str], launcher: LauncherText
) -> list[dict[str, object]]:
    """The values of ``names`` under each configuration that fits the launcher's grid; none if one lacks a value."""
    entries = _matching_configs(grids, launcher) or configs
    out: list[dict[str, object]] = []
    for config in entries if isinstance(entries, tuple) else ():
        flat = {**_mapping(config), **_mapping(_mapping(config).get("kwargs"))}
        chosen = {n: flat[n] for n in names if n in flat}
        if chosen not in out:
            out.append(chosen)
    if not out or len(out) > _MAX_CHOICES or any(c.keys() != out[0].keys() for c in out) or not out[0]:
        return []
    return out


def _block_choices(fn: ast.FunctionDef, largest: Mapping[str, int]) -> list[dict[str, object]]:
    """Sizes that blocks may have, the largest first: both ends where a size only cuts a range, else all of them."""
    sizes = [
        [most, 1] if _only_cuts(fn, n) else [1 << k for k in reversed(range(most.bit_length()))]
        for n, most in largest.items()
    ]
    return [dict(zip(largest, v, strict=True)) for v in product(*sizes)]


def _only_cuts(fn: ast.FunctionDef, name: str) -> bool:
    """Whether a block size only cuts a range: ``pid * B + arange(0, B)``, ``range(0, n, B)``, and in shapes.

    With the largest such a kernel covers all that it covers with a smaller one.
    """
    parents = {id(k): n for n in ast.walk(fn) for k in ast.iter_child_nodes(n)}
    uses = [n for n in ast.walk(fn) if isinstance(n, ast.Name) and n.id == name]
    return all(_cuts(n, parents[id(n)], fn) for n in uses)


def _cuts(n: ast.Name, up: ast.AST, fn: ast.FunctionDef) -> bool:
    if isinstance(up, (ast.List, ast.Tuple)):
        return True
    if isinstance(up, ast.Call):
        name = up.func.attr if isinstance(up.func, ast.Attribute) else ast.unparse(up.func)
        return (name == "arange" and n is up.args[-1]) or (name == "range" and up.args[2:] == [n])
    if isinstance(up, ast.BinOp) and isinstance(up.op, ast.Mult):
        other = up.left if up.right is n else up.right
        return ast.unparse(other).startswith(("tl.program_id(", "(tl.program_id("))
    if isinstance(up, (ast.AnnAssign, ast.Assign)):  # another name for it, that nothing uses
        target = up.targets[0] if isinstance(up, ast.Assign) else up.target
        alias = target.id if isinstance(target, ast.Name) else None
        return not any(
            isinstance(m, ast.Name) and m.id == alias and isinstance(m.ctx, ast.Load) for m in ast.walk(fn)
        )
    return False


def _said(values: Mapping[str, object]) -> str:
    return ", ".join(f"{k} = {v}" for k, v in values.items())


def _is_constexpr(fn: ast.FunctionDef, name: str) -> bool:
    args = [*fn.args.posonlyargs, *fn.args.args, *fn.args.kwonlyargs]
    note = next((a.annotation for a in args if a.arg == name), None)
    return note is not None and "constexpr" in ast.unparse(note)


def _module_constants(module: ast.Module) -> dict[str, ast.expr]:
    out: dict[str, ast.expr] = {}
    for n in module.body:
        if isinstance(n, ast.Assign) and len(n.targets) == 1 and isinstance(n.targets[0], ast.Name):
            out[n.targets[0].id] = n.value
        elif isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name) and n.value is not None:
            out[n.target.id] = n.value
    return out


def _param(name: str, kind: object) -> Param:
    text = kind if isinstance(kind, str) else ""
    if text.startswith("*"):
        return Param(name, True, TRITON.get(text[1:].removeprefix("k")))
    if text.startswith(("tensordesc", "nvTmaDesc")):
        return Param(name, True, None)
    return Param(name, False, TRITON.get(text))


def _alignments(
    meta: Mapping[object, object], order: list[str], names: list[str]
) -> tuple[tuple[str, int], ...]:
    """Arguments the kernel was specialised for as divisible by 16, by position in the signature."""
    order = order if len(order) >= len(names) else names
    out: list[tuple[str, int]] = []
    for config in meta.get("configs") or ():  # type: ignore[attr-defined]
        for key, attrs in _mapping(config).items():
            i = key[0] if isinstance(key, tuple) and key else key
            if isinstance(i, int) and i < len(order) and attrs and "tt.divisibility" in str(attrs):
                out.append((order[i], _ALIGNMENT))
    return tuple(out)


# -- block sizes and grid -----------------------------------------------------------------------


def _block_sizes(
    launcher: LauncherText,
    names: list[str],
    meta: Mapping[str, object],
    inductor_meta: Mapping[object, object],
) -> tuple[dict[str, object], list[str], dict[str, str]]:
    """(values, assumptions, unknown names with the reason) of compile-time arguments."""
    hints = _size_hints(meta.get("size_hints"), launcher.params)
    grid_type = str(inductor_meta.get("grid_type", ""))
    values: dict[str, object] = {}
    notes: list[str] = []
    unknown: dict[str, str] = {}
    for name in names:
        prefix = name.removesuffix("BLOCK").lower()
        stated = _stated_block(launcher, name, prefix, grid_type)
        hint = hints.get(prefix, hints.get("r0_") if prefix == "r" else None)
        if stated is not None:
            values[name] = stated
        elif name.endswith("BLOCK") and hint is not None:
            values[name] = min(hint, _MAX_BLOCK.get(prefix, hint))
            notes.append(f"{name} is not in the text: all powers of two up to {values[name]} are covered")
        else:
            unknown[name] = f"{name} is chosen by tuning and not in the text"
    return values, notes, unknown


def _size_hints(hints: object, params: tuple[str, ...]) -> dict[str, int]:
    """Powers of two by prefix (``x``, ``r0_``); older versions give a list in the order of the numels."""
    if isinstance(hints, dict):
        return {str(k): v for k, v in hints.items() if isinstance(v, int)}
    if isinstance(hints, tuple):
        order = [p.removesuffix("numel") for p in params if re.fullmatch(r"[xyz]numel|r\d?_?numel", p)]
        return {p: v for p, v in zip(order, hints, strict=False) if isinstance(v, int)}
    return {}


def _stated_block(launcher: LauncherText, name: str, prefix: str, grid_type: str) -> int | None:
    """The block size in ``(xnumel + (512 - 1)) / (512)``; 1 where the grid is the numel itself."""
    values = dict(launcher.host)
    if name == "RSPLIT" and grid_type.startswith("Cooperative"):
        return int(values["grid_0"]) if values.get("grid_0", "").isdigit() else None
    mixed = grid_type.startswith("MixOrder")
    if mixed != (name == "RSPLIT_SIZE") or not (mixed or name.endswith("BLOCK")):
        return None
    numel = rf"{'x' if mixed else prefix}numel(?:_\d+)?"
    for host_name, text in values.items():
        m = re.search(rf"\b{numel} \+ \((\d+) - 1\)\) / \((\d+)\)", text)
        if m is not None and m.group(1) == m.group(2):
            return int(m.group(1))
        if re.fullmatch(r"grid_\d|y_grid_raw_", host_name) and re.fullmatch(numel, text):
            return 1
    return None


def _grid(launcher: LauncherText, constants: Mapping[str, object]) -> tuple[Expr, Expr, Expr] | None:
    if launcher.grid is None:
        return None

    def tuned(m: re.Match[str]) -> str:
        name = "R0_BLOCK" if m.group(1) == "r0" else f"{m.group(1).upper()}BLOCK"
        value = constants.get(name)
        return str(value) if isinstance(value, int) else m.group(0)

    names: dict[str, Expr] = {p: sym(p) for p in launcher.params}
    try:
        for name, text in launcher.host:
            try:
                names[name] = host_expression(_TUNED.sub(tuned, text), names)
            except Unsupported:
                names.pop(name, None)
        g0, g1, g2 = (_grid_value(a, names) for a in launcher.grid)
    except Unsupported:
        return None
    return g0, g1, g2


def _grid_value(text: str, names: Mapping[str, Expr]) -> Expr:
    value = host_expression(text, names)
    if not value.symbols <= names.keys():
        raise Unsupported(f"grid {text!r}")
    return value
