"""Triton kernels over numpy: language, ranges, and that both machines answer the same."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from aoti_lint.analyzer.sources import SourceText, WrapperSource

from .execution.agreement import agree
from .execution.build import CXX, program
from .execution.numpy_machine import Arg, NumpyMachine
from .execution.run import execute
from .execution.triton_kernels import run_launch, triton_kernels
from .execution.triton_language import Block, language

LAUNCHER = """
template <typename in_ptr0_type_, typename out_ptr0_type_, typename kernels_type_>
static inline void call_{name}(
    const in_ptr0_type_& in_ptr0,
    const out_ptr0_type_& out_ptr0,
    int64_t xnumel,
    int32_t device_idx_,
    cudaStream_t stream_,
    kernels_type_& kernels_,
    const std::optional<std::string>& cubin_dir_ = std::nullopt
){{
    /*
    async_compile.triton('{name}', \'\'\'
    import triton
    import triton.language as tl

    @triton_heuristics.pointwise(
        size_hints={{'x': 1024}},
        triton_meta={{'signature': {{'in_ptr0': '*fp32', 'out_ptr0': '*fp32', 'xnumel': 'i32', 'XBLOCK': 'constexpr'}}}},
        inductor_meta={{'grid_type': 'Grid1D'}},
    )
    @triton.jit
    def {name}(in_ptr0, out_ptr0, xnumel, XBLOCK : tl.constexpr):
        xnumel = 1000
        xoffset = tl.program_id(0) * XBLOCK
        xindex = xoffset + tl.arange(0, XBLOCK)[:]
        xmask = xindex < xnumel
        x0 = xindex
        tmp0 = tl.load(in_ptr0 + (x0), {mask})
        tmp1 = tmp0 * 2.0
        tl.store(out_ptr0 + (999 - x0), tmp1, xmask)
    \'\'\', device_str='cuda')
    */
    uint32_t grid_0 = ((xnumel + (256 - 1)) / (256));
    uint32_t grid_1 = 1;
    uint32_t grid_2 = 1;
    if (grid_0 == 0 || grid_1 == 0 || grid_2 == 0) return;
    CUdeviceptr var_0 = reinterpret_cast<CUdeviceptr>(in_ptr0.data_ptr());
    CUdeviceptr var_1 = reinterpret_cast<CUdeviceptr>(out_ptr0.data_ptr());
    int32_t var_2 = xnumel;
    void* kernel_args_[] = {{&var_0, &var_1, &var_2}};
    launchKernel(kernels_.{name}, grid_0, grid_1, grid_2, 4, 0, kernel_args_, stream_);
}}
"""
MODEL = """#include <torch/csrc/inductor/aoti_include/cuda.h>
CACHE_TORCH_DTYPE(float32);
CACHE_TORCH_DEVICE(cuda);
{launcher}
namespace torch::aot_inductor {{
void AOTInductorModel::run_impl(
    AtenTensorHandle* input_handles,
    AtenTensorHandle* output_handles,
    DeviceStreamType stream,
    AOTIProxyExecutorHandle proxy_executor
) {{
    auto inputs = steal_from_raw_handles_to_raii_handles(input_handles, 1);
    auto arg0_1 = std::move(inputs[0]);
    inputs.clear();
    [[maybe_unused]] auto& kernels = static_cast<AOTInductorModelKernels&>(*this->kernels_.get());
    assert_size_stride(arg0_1, {{1000L}}, {{1L}}, "input");
    static constexpr int64_t int_array_0[] = {{1000L, }};
    static constexpr int64_t int_array_1[] = {{1L, }};
    AtenTensorHandle buf0_handle;
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_empty_strided(1, int_array_0, int_array_1, cached_torch_dtype_float32, cached_torch_device_type_cuda, this->device_idx_, &buf0_handle));
    RAIIAtenTensorHandle buf0(buf0_handle);
    call_triton_poi_fused_mul_0(arg0_1, buf0, 1000L, this->device_idx_, stream, kernels, this->cubin_dir_);
    output_handles[0] = buf0.release();
}} // AOTInductorModel::run_impl
}} // namespace torch::aot_inductor
"""


def model(mask: str) -> WrapperSource:
    launcher = LAUNCHER.format(name="triton_poi_fused_mul_0", mask=mask)
    return WrapperSource(SourceText("model.wrapper.cpp", MODEL.format(launcher=launcher)))


@pytest.mark.parametrize(("mask", "last"), [("xmask", 999), ("None", 1023)])
def test_ranges_with_and_without_a_mask(mask: str, last: int) -> None:
    """Four programs of 256 cover 1000 elements; without a mask the last one reads to 1023."""
    run = execute(model(mask))
    source, target = run.launches()[0].touched
    assert source.reads == (0, last) and source.bad_reads == max(0, last - 999)
    assert target.writes == (0, 999) and not target.bad_writes
    found = agree(model(mask), "libtorch")
    assert not found.disagreements and (found.proved, found.fault) == ((2, 0) if mask == "xmask" else (1, 1))


def test_values_go_through() -> None:
    """The kernel doubles its input and stores it backwards."""
    kernel = triton_kernels(LAUNCHER.format(name="triton_poi_fused_mul_0", mask="xmask"))[
        "triton_poi_fused_mul_0"
    ]
    seen: dict[str, Any] = {}

    def launch(_: int, args: Sequence[Arg | int | float]) -> str:
        failed = run_launch(kernel, args, (4, 1, 1))
        seen.update(
            {
                n: a.storage.data.view(np.float32)
                for n, a in zip("xy", args, strict=False)
                if isinstance(a, Arg)
            }
        )
        return failed

    script = ["S 0 4000", "S 1 4000", "F 0 0 4 1 1000 1 f 0 1 5", "L 0 4 p 0 0 p 1 0 i 1000 i 256"]
    NumpyMachine(launch).run(script)
    assert np.array_equal(seen["y"], 2 * seen["x"][::-1]) and seen["x"].any()


def test_language() -> None:
    names = language([1, 0, 0], [2, 1, 1])
    tl, helpers = names["tl"], names["triton_helpers"]
    x = tl.arange(0, 4)[None, :] - 2
    assert (x // 2).a.tolist() == [[-1, 0, 0, 0]], "integer division rounds towards zero"
    assert (x % 2).a.tolist() == [[0, -1, 0, 1]], "and the remainder has the sign of the dividend"
    assert tl.program_id(0).a == 1 and tl.num_programs(0).a == 2
    assert tl.sum(tl.broadcast_to(x, [3, 4]), 1)[:, None].a.tolist() == [[-2]] * 3
    scan = tl.associative_scan(x.to(tl.float32), 1, lambda a, b: a + b)
    assert scan.a.tolist() == [[-2, -3, -3, -2]]
    value, index = helpers.max_with_index(Block(np.array([[3, 9, 4]])), Block(np.array([[5, 6, 7]])), 1)
    assert (value.a.tolist(), index.a.tolist()) == ([9], [6])
    mean, _, n = helpers.welford(
        Block(np.float32([[1, 3]])), Block(np.zeros((1, 2), "f4")), Block(np.float32([[1, 1]])), 1
    )
    assert (mean.a.tolist(), n.a.tolist()) == ([2], [2])


SCRIPT = """\
S 0 96
F 0 0 4 2 3 4 8 1 f 0 1 3
S 1 48
M 1 0 16 4 2 3 4 8 1
X 1 1 0 4 1 12 1 1 1 0 4 2 3 4 4 1 f
X 1 0 0 4 2 3 8 8 1 0
C 0 0 4 1 4 1 1 16 4 1 4 1
O 0 0 4 2 3 9 8 1
O 1 32 4 1 6 1
S 2 40
C 2 0 4 1 10 1 0 0 4 1 10 1
O 2 0 4 1 10 1
D 1
O 2 -8 4 1 3 1
"""


@pytest.mark.skipif(CXX is None, reason="no g++")
def test_both_machines_answer_the_same(tmp_path: Path) -> None:
    def told(answers: list[dict[str, Any]]) -> list[Any]:
        return [a["args"] for a in answers]

    binary = program([], "cpp")
    done = subprocess.run([str(binary)], input=SCRIPT, capture_output=True, text=True, check=True)
    compiled = [json.loads(line) for line in done.stdout.splitlines()]
    python = NumpyMachine(lambda *_: "").run(SCRIPT.splitlines())
    assert told(compiled) == told(python)
    lost = python[1]["args"][0]
    assert lost["stale"] == lost["unwritten"] == 12, "the copy was written, the half it was made of never was"
