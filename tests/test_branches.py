"""Handles that branches fill: what is known of them afterwards, and that what is not known is said."""

from __future__ import annotations

import pytest
from aoti_lint.analyzer.model.findings import FileReport
from aoti_lint.analyzer.pipeline import Task, check_source
from aoti_lint.rules.registry import run_rules

from .execution.texts import empty, wrapper

PROTO = 'extern "C"  void  cpp_fused_add_0(float* out_ptr0);\n'
KERNEL = """extern "C"  void  cpp_fused_add_0(float* out_ptr0)
{
    for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(8L); x0+=static_cast<int64_t>(1L))
    {
        out_ptr0[static_cast<int64_t>(x0)] = static_cast<float>(1.0);
    }
}
"""
BRANCH = """    RAIIAtenTensorHandle buf3;
    int64_t flag;
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_item_int64(arg0_1, &flag));
    if (flag == 0) {{
{first}        buf3.reset();
        buf3 = std::move(buf0);
    }} else {{
{second}        buf3.reset();
        buf3 = std::move(buf1);
    }}
    auto buf4 = std::move(buf3);  // reuse
"""
LAUNCH = "    cpp_fused_add_0((float*)({name}.data_ptr()));\n"


def report(body: str) -> FileReport:
    source = wrapper("cpu", PROTO, [("arg0_1", (), ())], body, kernel_file=KERNEL)
    (found,) = check_source(Task(source, ("libtorch",), {}), run_rules)
    return found


def branch(first: int, second: int) -> str:
    return BRANCH.format(
        first=empty("buf0", (first,), (1,), "cpu"), second=empty("buf1", (second,), (1,), "cpu")
    )


@pytest.mark.parametrize(
    ("first", "second", "verdict"), [(8, 8, "proved"), (7, 7, "fault"), (8, 7, "unknown")]
)
def test_a_handle_filled_by_both_arms(first: int, second: int, verdict: str) -> None:
    """The kernel writes eight elements of whatever the branch made."""
    counts = report(branch(first, second) + LAUNCH.format(name="buf4")).counts.accesses
    assert counts["total"] == counts[verdict] == 1


def test_moved_twice_after_a_branch() -> None:
    found = report(branch(8, 8) + "    auto buf5 = std::move(buf3);\n" + LAUNCH.format(name="buf4"))
    assert [f.code for f in found.findings if f.severity == "error"] == ["AL302"]


def test_a_launch_on_a_handle_nothing_is_known_of() -> None:
    """A tensor that no statement made: no access is passed over in silence."""
    found = report("    auto buf1 = std::move(buf0);\n" + LAUNCH.format(name="buf1"))
    assert not found.counts.accesses["proved"]
    assert found.counts.accesses["unknown"] == found.counts.accesses["total"] == 1
    (lost,) = (u for u in found.unknowns if "nothing is known" in u.reason)
    assert lost.what == "cpp_fused_add_0 store out_ptr0[x0]"
