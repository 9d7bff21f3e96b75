"""Wrappers of real models: correct under libtorch, and under executorch-metal exactly the faults that its rules imply.

The wrappers are generated from small models; what is not specific to a model was left out of the files.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from aoti_lint.analyzer.model.findings import FileReport
from aoti_lint.analyzer.pipeline import check_paths
from aoti_lint.rules.registry import run_rules

WRAPPERS = Path(__file__).parent.parent / "fixtures" / "wrappers"
PATHS = sorted(WRAPPERS.glob("*/*.wrapper.cpp"))
IDS = [f"{p.parent.name}-{p.name.split('.')[0]}" for p in PATHS]
METAL = "executorch-metal@2026-08"

#: Errors and warnings by code, each derived from the wrapper and what that runtime does.
EXPECTED: dict[str, dict[str, int]] = {
    "add_dynamic": {},
    # Four slots of a concatenated channels-last tensor {2,32,8,8}/{2048,1,256,32}: each slot of 8 channels spans
    # 4072 elements and holds 1024, so it is copied packed (AL102); the kernels write the slot's span into that copy
    # (AL202) and the parent never sees it (AL203).  Three convolutions take a channels-last input and weight, the
    # first one a packed copy and a channels-last weight: 3 * 2 + 1.  addmm_out came only later.
    # AL211: the packed copy of a slice of buf1 is made by the CPU right after addmm_out was queued to write buf1
    "c2f_3x3": {"AL102": 4, "AL202": 4, "AL203": 4, "AL211": 1, "AL401": 7, "AL402": 1},
    # {s,4,6,6}/{576,36,6,1}: four slots of a batch with 16 channels.
    "cat_conv_dim1_dynamic": {"AL102": 4, "AL202": 4, "AL203": 4},
    # Halves along the first dimension are packed; the view at an offset keeps its storage from being freed.
    "cat_dim0": {"AL306": 1},
    # {s,3,4,5}/{120,20,5,1}: two halves along the second dimension.
    "cat_dim1_dynamic": {"AL102": 2, "AL202": 2, "AL203": 2},
    "chunk_pointwise_dynamic": {},
    # A predicate is read through item_int64, which the runtime lacks.
    "cond_dynamic": {"AL402": 1},
    # The input of the convolution is channels-last; its result is row-major, the wrapper asserts channels-last.
    "conv": {"AL401": 1, "AL404": 1},
    "index_ops": {},
    # int8 can't be allocated, and there is no _int_mm_out.
    "int8_quant": {"AL402": 1, "AL403": 1},
    "interp_dynamic": {},
    "reductions2_dynamic": {},
    "reshape_guards_dynamic": {},
    # Output 4 is a transposed view: {s,6,6}/{36,1,6}.
    "roll_flip_dynamic": {"AL503": 1},
    "rope_interleaved": {},
    "slice_scatter_ops": {},
    # A channels-last input of a convolution; addmm_out.
    "split_dwconv_shuffle": {"AL401": 1, "AL402": 1},
    "split_qkv_dynamic": {},
    # Inputs {6,8}/{1,6}, {6,8}/{16,2} and {4,5}/{0,1} can't be handed over; the first is an operand of mm_out as
    # well, and output 0 has its strides.
    "strided_inputs": {"AL401": 1, "AL503": 1, "AL504": 3},
    # Heads of 16 elements are not among the sizes that attention takes, and a mask of one batch is indexed by the
    # batches and heads of the query.
    "t5_rel_bias_dynamic": {"AL401": 1, "AL403": 1},
    # Output 2 is permuted: {6,8,4}/{8,1,48}.
    "transposes": {"AL503": 1},
    # Output 2 is transposed: {6,4}/{1,6}.
    # AL211: two returned slices of buf0 are copied by the CPU right after mps_lib_0 was queued to write it
    "view_intermediate_outputs": {"AL211": 2, "AL503": 1},
}


@cache
def report_of(path: Path, runtime: str) -> FileReport:
    (file,) = check_paths([str(path)], run_rules, runtime=runtime, jobs=1).files
    return file


@pytest.mark.parametrize("path", PATHS, ids=IDS)
def test_nothing_is_wrong_under_libtorch(path: Path) -> None:
    file = report_of(path, "libtorch")
    assert file.status == "analysed", file.error
    assert not [f.message for f in file.findings if f.severity == "error"]
    assert file.counts.unmodelled_statements == 0


def test_nearly_every_access_is_decided() -> None:
    counts: Counter[str] = Counter()
    for path in PATHS:
        counts.update(report_of(path, "libtorch").counts.accesses)
    print(f"{len(PATHS)} wrappers: {dict(counts)}")
    assert counts["total"] >= 800 and counts["fault"] == 0
    assert counts["proved"] >= 0.95 * counts["total"]


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_findings_under_executorch_metal(name: str) -> None:
    file = report_of(WRAPPERS / "metal" / f"{name}.wrapper.cpp", METAL)
    assert file.status == "analysed", file.error
    got = Counter(f.code for f in file.findings if f.severity != "note")
    assert got == EXPECTED[name], [f.message for f in file.findings]


def test_every_metal_wrapper_is_expected_to_hold_something() -> None:
    assert {p.name.split(".")[0] for p in PATHS if p.parent.name == "metal"} == EXPECTED.keys()
