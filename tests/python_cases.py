"""Python wrappers for tests, put together from the statements of ``call`` and what stands around them."""

from __future__ import annotations

import textwrap

from aoti_lint.analyzer.analysis import Analysis, analyze
from aoti_lint.analyzer.model.findings import Finding
from aoti_lint.analyzer.model.program import Program
from aoti_lint.analyzer.runtimes import resolve
from aoti_lint.analyzer.wrapper.python.reader import read_python
from aoti_lint.rules.registry import run_rules

HEAD = """\
import torch
from torch._inductor.async_compile import AsyncCompile
from torch._inductor.select_algorithm import extern_kernels
aten = torch.ops.aten
assert_size_stride = torch._C._dynamo.guards.assert_size_stride
empty_strided_cpu = torch._C._dynamo.guards._empty_strided_cpu
empty_strided_cuda = torch._C._dynamo.guards._empty_strided_cuda
reinterpret_tensor = torch._C._dynamo.guards._reinterpret_tensor
alloc_from_pool = torch.ops.inductor._alloc_from_pool
async_compile = AsyncCompile()
"""

#: ``copy(in, out, n)`` reads and writes elements 0 to n-1; ``fill(out, n)`` writes them.
COPY = """\
copy = async_compile.cpp_pybinding(['const float*', 'float*', 'const int64_t'], r'''
extern "C"  void  kernel(const float* in_ptr0, float* out_ptr0, const int64_t ks0)
{
    for(int64_t x0=0L; x0<ks0; x0+=1L)
    {
        auto tmp0 = in_ptr0[static_cast<int64_t>(x0)];
        out_ptr0[static_cast<int64_t>(x0)] = tmp0;
    }
}
''')
fill = async_compile.cpp_pybinding(['float*', 'const int64_t'], r'''
extern "C"  void  kernel(float* out_ptr0, const int64_t ks0)
{
    for(int64_t x0=0L; x0<ks0; x0+=1L)
    {
        out_ptr0[static_cast<int64_t>(x0)] = static_cast<float>(1);
    }
}
''')
"""


def wrapper(call: str, kernels: str = COPY, functions: str = "", args: str = "", partitions: str = "") -> str:
    """A wrapper whose graph is ``call``; ``args`` are the statements of ``get_args``."""
    body = textwrap.indent(textwrap.dedent(call).strip("\n"), " " * 8)
    made = f"\ndef get_args():\n{textwrap.indent(textwrap.dedent(args).strip(), ' ' * 4)}\n" if args else ""
    return (
        f"{HEAD}{kernels}{functions}\nclass Runner:\n    def call(self, args):\n{body}\n\n"
        f"runner = Runner(partitions=[{partitions}])\n{made}"
    )


def program(call: str, **more: str) -> Program:
    return read_python(wrapper(call, **more), "w.py")


def analysis(call: str, **more: str) -> Analysis:
    p = program(call, **more)
    return analyze(p, resolve("libtorch", p.device))


def findings(call: str, **more: str) -> list[Finding]:
    return run_rules(analysis(call, **more))


def codes(call: str, **more: str) -> list[str]:
    """Codes of errors and warnings."""
    return sorted(f.code for f in findings(call, **more) if f.severity != "note")


def verdicts(call: str, **more: str) -> list[str]:
    return [v.decision.status for v in analysis(call, **more).verdicts]
