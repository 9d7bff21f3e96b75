"""Metal kernels in short: a body to a lowered kernel, and every index an access reaches."""

from __future__ import annotations

from itertools import product
from typing import Any

from aoti_lint.analyzer.kernels.metal.reader import find_kernels
from aoti_lint.analyzer.model.kernel import Access, Kernel
from aoti_lint.analyzer.symbolic import evaluate, evaluate_cond

#: Declarations a kernel of the tests starts with.
ONE_D = "uint xindex [[thread_position_in_grid]]"
REDUCTION = "uint2 thread_pos [[thread_position_in_grid]], uint2 group_pos [[thread_position_in_threadgroup]]"


def lower(params: str, body: str) -> Kernel:
    text = f'const char* mps_lib_0_source = (R"MTL(\nkernel void generated_kernel({params}) {{\n{body}\n}}\n)MTL");\n'
    kernel = find_kernels(text, "w.cpp")["mps_lib_0"]
    assert kernel.unmodelled == ()
    return kernel


def points(a: Access, **env: int) -> list[int]:
    """Every index the access reaches, by trying all iterations. Loaded values run over their given range."""
    axes: list[Any] = []
    for v in a.vars:
        if v.extent is None:
            axes.append(range(env[v.name + "_lo"], env[v.name + "_hi"] + 1))
        else:
            axes.append(range(evaluate(v.extent, env)))
    out = []
    for values in product(*axes):
        at = {**env, **dict(zip((v.name for v in a.vars), values, strict=True))}
        if evaluate_cond(a.guard, at):
            assert a.index is not None
            out.append(evaluate(a.index, at))
    return out
