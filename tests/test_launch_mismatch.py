"""AL210 on C++ kernels: what stops short is a loop; single elements are as many as were written."""

from __future__ import annotations

import pytest
from aoti_lint.analyzer.pipeline import Task, check_source
from aoti_lint.rules.registry import run_rules

from .execution.texts import empty, wrapper

KERNEL = """extern "C"  void  cpp_fused_add_0(const float* in_ptr0, float* out_ptr0)
{{
    {body}
}}
"""
LAUNCH = "    cpp_fused_add_0((const float*)(arg0_1.data_ptr()), (float*)(buf{n}.data_ptr()));\n"
USE = "    cpp_fused_copy_1((const float*)(buf0.data_ptr()), (float*)(buf1.data_ptr()));\n"
COPY = """extern "C"  void  cpp_fused_copy_1(const float* in_ptr0, float* out_ptr0)
{
    for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(10L); x0+=static_cast<int64_t>(1L))
    {
        out_ptr0[static_cast<int64_t>(x0)] = in_ptr0[static_cast<int64_t>(x0)];
    }
}
"""


def severities(body: str) -> list[str]:
    """Severities of AL210 where ten elements are read after a kernel with this body."""
    declared = (
        'extern "C"  void  cpp_fused_add_0(const float* in_ptr0, float* out_ptr0);\n'
        'extern "C"  void  cpp_fused_copy_1(const float* in_ptr0, float* out_ptr0);\n'
    )
    text = empty("buf0", (10,), (1,), "cpu") + empty("buf1", (10,), (1,), "cpu") + LAUNCH.format(n=0) + USE
    source = wrapper(
        "cpu", declared, [("arg0_1", (10,), (1,))], text, kernel_file=KERNEL.format(body=body) + COPY
    )
    (found,) = check_source(Task(source, ("libtorch",), {}), run_rules)
    assert found.status == "analysed" and not found.counts.unmodelled_statements
    return [f.severity for f in found.findings if f.code == "AL210"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("int64_t i = 9; out_ptr0[i++] = 1.0f;", ["warning"]),
        ("out_ptr0[0] = 1.0f; out_ptr0[9] = in_ptr0[3];", ["warning"]),
        ("for (int64_t x0 = 0; x0 < 9; x0 += 1) { out_ptr0[x0] = in_ptr0[x0]; }", ["error"]),
        ("for (int64_t x0 = 0; x0 < 9; x0 += 1) { out_ptr0[x0] = 0.0f; } out_ptr0[8] = 1.0f;", ["error"]),
        ("for (int64_t x0 = 0; x0 < 9; x0 += 1) { out_ptr0[x0] = 0.0f; } out_ptr0[9] = 1.0f;", []),
    ],
)
def test_what_stops_short_is_a_loop(body: str, expected: list[str]) -> None:
    assert severities(body) == expected
