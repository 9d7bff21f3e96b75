"""Packed copies that kernels write themselves: what was stored by a stride is found by that stride."""

from __future__ import annotations

import pytest
from aoti_lint.analyzer.pipeline import Task, check_source
from aoti_lint.analyzer.sources import WrapperSource
from aoti_lint.rules.registry import run_rules

from .execution.build import CXX
from .execution.contents import contents, uses
from .execution.run import execute
from .execution.script import COPIES
from .execution.texts import empty, metal_launch, metal_library, view, wrapper

#: Row ``i // 4``, column ``i % 4`` of a {4, 4} view with strides {8, 1}.
STORE = "out_ptr0[8*(xindex / 4) + (xindex % 4)] = static_cast<float>(2.0);"
LOAD = "out_ptr0[xindex] = in_ptr0[8*(xindex / 4) + (xindex % 4)];"
POSITION = "uint xindex [[thread_position_in_grid]]"


def stored_then_loaded(stored: int) -> WrapperSource:
    """``stored`` threads write a view of a filled buffer, then eight threads read it (elements 0-3 and 8-11)."""
    library = (
        metal_library(
            "mps_lib_0",
            f"device float* out_ptr0,\n {POSITION}",
            "out_ptr0[xindex] = static_cast<float>(1.0);",
        )
        + metal_library("mps_lib_1", f"device float* out_ptr0,\n {POSITION}", STORE)
        + metal_library("mps_lib_2", f"device float* out_ptr0,\n constant float* in_ptr0,\n {POSITION}", LOAD)
    )
    body = (
        empty("buf0", (4, 8), (8, 1), "mps")
        + metal_launch("mps_lib_0", ["buf0"], (32,), 0)
        + view("buf1", "buf0", (4, 4), (8, 1), 0)
        + (metal_launch("mps_lib_1", ["buf1"], (stored,), 1) if stored else "")
        + empty("buf2", (8,), (1,), "mps")
        + metal_launch("mps_lib_2", ["buf2", "buf1"], (8,), 2)
        + "    output_handles[0] = buf2.release();\n"
    )
    return wrapper("mps", library, [], body)


@pytest.mark.skipif(CXX is None, reason="no g++")
@pytest.mark.parametrize(("stored", "misread"), [(0, 4), (4, 4), (8, 0)])
def test_misreads_end_where_a_kernel_stored(stored: int, misread: int) -> None:
    """Position 8 of the copy holds element 16 of the buffer until the eight threads' store replaces it."""
    source = stored_then_loaded(stored)
    load = [t for _, t in uses(execute(source, COPIES)) if t.name == "in_ptr0"]
    assert [(t.reads, t.misread) for t in load] == [((0, 11), misread)]
    (report,) = check_source(Task(source, ("executorch-metal",), {}), run_rules)
    found = [f for f in report.findings if f.code == "AL204"]
    assert bool(found) is (misread > 0)
    if found:
        assert "reads element 8 of buf1" in found[0].message and "holds element 16" in found[0].message
    assert not contents(source, "executorch-metal", COPIES).wrong
