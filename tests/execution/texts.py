"""Small wrappers written for tests: the statement forms are the generator's, the models are made up."""

from __future__ import annotations

from collections.abc import Sequence

from aoti_lint.analyzer.sources import SourceText, WrapperSource

_HEAD = """
#include <torch/csrc/inductor/aoti_include/{device}.h>
{kernels}
CACHE_TORCH_DTYPE(float32);
CACHE_TORCH_DTYPE(bool);
CACHE_TORCH_DTYPE(int64);
CACHE_TORCH_DEVICE({device});
namespace torch::aot_inductor {{
void AOTInductorModel::run_impl(
    AtenTensorHandle* input_handles,
    AtenTensorHandle* output_handles,
    DeviceStreamType stream,
    AOTIProxyExecutorHandle proxy_executor
) {{
    auto inputs = steal_from_raw_handles_to_raii_handles(input_handles, {n});
"""
_TAIL = """}} // AOTInductorModel::run_impl
}} // namespace torch::aot_inductor
"""


def ints(name: str, values: Sequence[int]) -> str:
    body = ", ".join(f"{v}L" for v in values) + (", " if len(values) == 1 else "")
    return f"    static constexpr int64_t {name}[] = {{{body}}};\n"


def empty(
    name: str, sizes: Sequence[int], strides: Sequence[int], device: str, dtype: str = "float32"
) -> str:
    return (
        ints(f"{name}_sizes", sizes)
        + ints(f"{name}_strides", strides)
        + f"    AtenTensorHandle {name}_handle;\n"
        f"    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_empty_strided({len(sizes)}, {name}_sizes, {name}_strides, "
        f"cached_torch_dtype_{dtype}, cached_torch_device_type_{device}, this->device_idx_, &{name}_handle));\n"
        f"    RAIIAtenTensorHandle {name}({name}_handle);\n"
    )


def view(name: str, base: str, sizes: Sequence[int], strides: Sequence[int], offset: int) -> str:
    return (
        ints(f"{name}_sizes", sizes)
        + ints(f"{name}_strides", strides)
        + f"    auto {name} = wrap_with_raii_handle_if_needed("
        f"reinterpret_tensor_wrapper({base}, {len(sizes)}, {name}_sizes, {name}_strides, {offset}L));\n"
    )


def metal_launch(library: str, handles: Sequence[str], threads: Sequence[int], number: int) -> str:
    array = ", ".join(f"static_cast<uint64_t>({t}L)" for t in threads)
    args = "".join(
        f"        aoti_torch_mps_set_arg_tensor(handle, {i}, {h});\n" for i, h in enumerate(handles)
    )
    return (
        f"    auto {library}_lambda_{number} = [&](AOTIMetalKernelFunctionHandle handle) {{\n"
        f"        aoti_torch_mps_start_encoding(handle);\n{args}        {{\n"
        f"            uint64_t {library}_threads_array[] = {{{array}}};\n"
        f"            aoti_torch_mps_dispatch_array(handle, {library}_threads_array, {len(threads)});\n        }}\n    }};\n\n"
        f"    std::function<void(AOTIMetalKernelFunctionHandle)> {library}_func_wrapper_{number} = {library}_lambda_{number};\n"
        f"    aoti_torch_mps_run_command_block(get_{library}_handle(), aoti_torch_mps_shared_callback, "
        f"&{library}_func_wrapper_{number});\n"
    )


def metal_library(name: str, signature: str, body: str) -> str:
    return (
        f'const char* {name}_source = (R"MTL(\n    kernel void generated_kernel(\n        {signature}\n    ) {{\n{body}\n    }}\n)MTL");\n'
        f"AOTIMetalKernelFunctionHandle get_{name}_handle() {{ return nullptr; }}\n"
    )


def wrapper(
    device: str,
    kernels: str,
    inputs: Sequence[tuple[str, Sequence[int], Sequence[int]]],
    body: str,
    *,
    kernel_file: str = "",
) -> WrapperSource:
    """A model with float inputs of stated sizes and strides."""
    text = _HEAD.format(device=device, kernels=kernels, n=len(inputs))
    for i, (name, sizes, strides) in enumerate(inputs):
        text += f"    auto {name} = std::move(inputs[{i}]);\n"
        shape, steps = (", ".join(f"{v}L" for v in x) for x in (sizes, strides))
        text += f'    assert_size_stride({name}, {{{shape}}}, {{{steps}}}, "input");\n'
    text += body + _TAIL.format()
    files = (SourceText("model.kernel.cpp", kernel_file),) if kernel_file else ()
    return WrapperSource(SourceText("model.wrapper.cpp", text), files)
