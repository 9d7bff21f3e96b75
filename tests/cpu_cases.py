"""C++ kernels for tests: lowering of a body, and enumeration of what an access touches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from aoti_lint.analyzer.kernels.cpp.reader import parse_kernels
from aoti_lint.analyzer.model.kernel import Access, Kernel
from aoti_lint.analyzer.symbolic import evaluate, evaluate_cond

HEAD = "#include <torch/csrc/inductor/cpp_prefix.h>\n"


def lower(params: str, body: str, vector_bytes: int | None = 64, helpers: str = "") -> Kernel:
    """The kernel ``k`` with these parameters and body; everything in it must be understood."""
    text = f'{HEAD}{helpers}extern "C"  void  k({params})\n{{\n{body}\n}}\n'
    kernel = parse_kernels(text, "m.kernel.cpp", vector_bytes=vector_bytes)["k"]
    assert kernel.unmodelled == ()
    return kernel


def points(access: Access, data: Mapping[str, range] | None = None, **scalars: int) -> list[int]:
    """Every index an access touches, in order of its variables, by trying all values of them.

    ``data`` gives the values tried for variables that come from memory.
    """
    assert access.index is not None
    return [evaluate(access.index, env) for env in _envs(access, dict(scalars), dict(data or {}), 0)]


def _envs(a: Access, env: dict[str, int], data: dict[str, range], i: int) -> Iterator[dict[str, int]]:
    if i == len(a.vars):
        if evaluate_cond(a.guard, env):
            yield dict(env)
        return
    v = a.vars[i]
    if v.extent is None:
        low, high = v.lo, v.hi
        tried = data.get(v.name)
        if tried is None:
            assert low is not None and high is not None, f"no values for {v.name}"
            tried = range(low, high + 1)
        values = [n for n in tried if (low is None or n >= low) and (high is None or n <= high)]
    else:
        values = list(range(evaluate(v.extent, env)))
    for n in values:
        yield from _envs(a, {**env, v.name: n}, data, i + 1)


def touched(
    kernel: Kernel, param: str, kind: str, data: Mapping[str, range] | None = None, **scalars: int
) -> set[int]:
    """All elements of a parameter that are loaded, stored or updated."""
    out: set[int] = set()
    for a in kernel.accesses:
        if a.param == param and a.kind == kind:
            out |= set(points(a, data, **scalars))
    return out


def only(kernel: Kernel, param: str, kind: str) -> Access:
    (found,) = (a for a in kernel.accesses if a.param == param and a.kind == kind)
    return found
