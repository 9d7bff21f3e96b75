"""Metal kernels in short: a body to a lowered kernel, and every index an access reaches."""

from __future__ import annotations

from aoti_lint.analyzer.kernels.metal.reader import find_kernels
from aoti_lint.analyzer.model.kernel import Kernel

#: Declarations a kernel of the tests starts with.
ONE_D = "uint xindex [[thread_position_in_grid]]"
REDUCTION = "uint2 thread_pos [[thread_position_in_grid]], uint2 group_pos [[thread_position_in_threadgroup]]"


def lower(params: str, body: str) -> Kernel:
    text = f'const char* mps_lib_0_source = (R"MTL(\nkernel void generated_kernel({params}) {{\n{body}\n}}\n)MTL");\n'
    kernel = find_kernels(text, "w.cpp")["mps_lib_0"]
    assert kernel.unmodelled == ()
    return kernel
