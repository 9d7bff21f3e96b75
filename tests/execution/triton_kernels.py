"""Triton kernels of a wrapper, taken from the comments they stand in, as functions over checked pointers."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .numpy_machine import Arg
from .triton_language import CheckFailed, DType, Pointer, element_type, language

#: Most programs of one launch that are run (each costs about a millisecond).
MAX_PROGRAMS = 20_000
_LAUNCHER = re.compile(r"\bcall_(\w+)\(\s*const [^{]*\{\s*/\*(.*?)\*/", re.DOTALL)
_BUILTINS = {f.__name__: f for f in (range, len, min, max, int, float, bool, abs, isinstance)}


@dataclass(frozen=True, slots=True)
class TritonKernel:
    """``params`` in order; ``types`` the element types of pointer parameters."""

    name: str
    params: tuple[str, ...]
    types: Mapping[str, DType]
    module: Any


def triton_kernels(text: str) -> dict[str, TritonKernel]:
    """Kernels by the name that launches use."""
    found = {}
    for m in _LAUNCHER.finditer(text):
        parts = re.split(r"'''|\"\"\"", m[2])
        source = textwrap.dedent(parts[1] if len(parts) > 1 else m[2])
        tree = ast.parse(source)
        functions = [n for n in tree.body if isinstance(n, ast.FunctionDef)]
        kernel = next(f for f in functions if re.search(r"signature", ast.unparse(f)) and f.decorator_list)
        signature = _signature(kernel)
        for f in functions:
            f.decorator_list = []
        constants = [n for n in tree.body if isinstance(n, (ast.Assign, ast.AnnAssign))]
        code = compile(ast.Module([*constants, *functions], []), f"<{kernel.name}>", "exec")
        params = tuple(a.arg for a in kernel.args.args)
        types = {p: element_type(t) for p, t in signature.items() if t.startswith("*")}
        found[m[1] if kernel.name == "triton_" else kernel.name] = TritonKernel(
            kernel.name, params, types, code
        )
    return found


def _signature(f: ast.FunctionDef) -> dict[str, str]:
    for node in (n for d in f.decorator_list for n in ast.walk(d)):
        if isinstance(node, ast.Dict):
            for k, v in zip(node.keys, node.values, strict=True):
                if isinstance(k, ast.Constant) and k.value == "signature":
                    return {str(a): str(b) for a, b in ast.literal_eval(v).items()}
    return {}


def run_launch(kernel: TritonKernel, args: Sequence[Arg | int | float], grid: Sequence[int]) -> str:
    """Run every program of a launch in order; the text of the check that stopped it, if one did."""
    values: dict[str, Any] = {}
    for name, a in zip(kernel.params, args, strict=True):
        if isinstance(a, Arg):
            a.item = kernel.types[name].item
            values[name] = Pointer(a, kernel.types[name])
        else:
            values[name] = a
    pid = [0, 0, 0]
    names: dict[str, Any] = {"__builtins__": _BUILTINS, **language(pid, grid)}
    exec(kernel.module, names)
    try:
        for index in np.ndindex(grid[2], grid[1], grid[0]):
            pid[:] = reversed(index)
            names[kernel.name](**values)
    except CheckFailed as e:
        return str(e)
    return ""
