#include <torch/csrc/inductor/aoti_include/mps.h>
#include <torch/csrc/inductor/aoti_torch/c/shim_mps.h>

const char* mps_lib_0_source = (R"MTL(
    kernel void generated_kernel(
        device float* out_ptr0,
        constant float* in_ptr0,
        uint2 thread_pos [[thread_position_in_grid]]
    ) {
        int x1 = thread_pos.y;
        int y0 = thread_pos.x;
        auto tmp0 = in_ptr0[x1 + 64*y0];
        out_ptr0[y0 + 8*x1] = static_cast<float>(tmp0);
    }
)MTL");

const char* mps_lib_1_source = (R"MTL(
    kernel void generated_kernel(
        device float* out_ptr0,
        constant float* in_ptr0,
        uint2 thread_pos [[thread_position_in_grid]]
    ) {
        int x1 = thread_pos.y;
        int y0 = thread_pos.x;
        auto tmp0 = in_ptr0[x1 + 64*y0];
        auto tmp1 = tmp0 + tmp0;
        out_ptr0[4 + y0 + 8*x1] = static_cast<float>(tmp1);
    }
)MTL");

const char* mps_lib_2_source = (R"MTL(
    kernel void generated_kernel(
        device float* out_ptr0,
        constant float* in_ptr0,
        uint2 thread_pos [[thread_position_in_grid]]
    ) {
        int x1 = thread_pos.y;
        int y0 = thread_pos.x;
        auto tmp0 = in_ptr0[y0 + 8*x1];
        out_ptr0[x1 + 64*y0] = static_cast<float>(tmp0);
    }
)MTL");
CACHE_TORCH_DTYPE(float32);
CACHE_TORCH_DEVICE(mps);

namespace torch::aot_inductor {

AOTIMetalKernelFunctionHandle get_mps_lib_0_handle() {
    static auto kernel_handle = []() {
        AOTIMetalShaderLibraryHandle lib_handle = nullptr;
        AOTIMetalKernelFunctionHandle kern_handle = nullptr;

        aoti_torch_mps_create_shader_library(mps_lib_0_source, &lib_handle);
        aoti_torch_mps_get_kernel_function(lib_handle, "generated_kernel", &kern_handle);
        return kern_handle;
    }();
    return kernel_handle;
}

AOTIMetalKernelFunctionHandle get_mps_lib_1_handle() {
    static auto kernel_handle = []() {
        AOTIMetalShaderLibraryHandle lib_handle = nullptr;
        AOTIMetalKernelFunctionHandle kern_handle = nullptr;

        aoti_torch_mps_create_shader_library(mps_lib_1_source, &lib_handle);
        aoti_torch_mps_get_kernel_function(lib_handle, "generated_kernel", &kern_handle);
        return kern_handle;
    }();
    return kernel_handle;
}

AOTIMetalKernelFunctionHandle get_mps_lib_2_handle() {
    static auto kernel_handle = []() {
        AOTIMetalShaderLibraryHandle lib_handle = nullptr;
        AOTIMetalKernelFunctionHandle kern_handle = nullptr;

        aoti_torch_mps_create_shader_library(mps_lib_2_source, &lib_handle);
        aoti_torch_mps_get_kernel_function(lib_handle, "generated_kernel", &kern_handle);
        return kern_handle;
    }();
    return kernel_handle;
}

void AOTInductorModel::run_impl(
    AtenTensorHandle* input_handles,
    AtenTensorHandle* output_handles,
    DeviceStreamType stream,
    AOTIProxyExecutorHandle proxy_executor
) {
    auto inputs = steal_from_raw_handles_to_raii_handles(input_handles, 1);
    auto arg0_1 = std::move(inputs[0]);
    inputs.clear();
    if (_check_aoti_runtime_check_inputs_env()) { assert_size_stride(arg0_1, {1L, 4L, 8L, 8L}, {256L, 64L, 8L, 1L}, "input"); }
    static constexpr int64_t int_array_0[] = {1L, 8L, 8L, 8L};
    static constexpr int64_t int_array_1[] = {512L, 1L, 64L, 8L};
    AtenTensorHandle buf1_handle;
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_empty_strided(4, int_array_0, int_array_1, cached_torch_dtype_float32, cached_torch_device_type_mps, this->device_idx_, &buf1_handle));
    RAIIAtenTensorHandle buf1(buf1_handle);
    static constexpr int64_t int_array_2[] = {1L, 4L, 8L, 8L};
    auto buf0 = wrap_with_raii_handle_if_needed(reinterpret_tensor_wrapper(buf1, 4, int_array_2, int_array_1, 0L));  // alias
    auto mps_lib_0_lambda_0 = [&](AOTIMetalKernelFunctionHandle handle) {
        aoti_torch_mps_start_encoding(handle);
        aoti_torch_mps_set_arg_tensor(handle, 0, buf0);
        aoti_torch_mps_set_arg_tensor(handle, 1, arg0_1);
        {
            uint64_t mps_lib_0_threads_array[] = {static_cast<uint64_t>(4L), static_cast<uint64_t>(64L)};
            aoti_torch_mps_dispatch_array(handle, mps_lib_0_threads_array, 2);
        }
    };

    std::function<void(AOTIMetalKernelFunctionHandle)> mps_lib_0_func_wrapper_0 = mps_lib_0_lambda_0;
    aoti_torch_mps_run_command_block(get_mps_lib_0_handle(), aoti_torch_mps_shared_callback, &mps_lib_0_func_wrapper_0);
    buf0.reset();
    auto mps_lib_1_lambda_1 = [&](AOTIMetalKernelFunctionHandle handle) {
        aoti_torch_mps_start_encoding(handle);
        aoti_torch_mps_set_arg_tensor(handle, 0, buf1);
        aoti_torch_mps_set_arg_tensor(handle, 1, arg0_1);
        {
            uint64_t mps_lib_1_threads_array[] = {static_cast<uint64_t>(4L), static_cast<uint64_t>(64L)};
            aoti_torch_mps_dispatch_array(handle, mps_lib_1_threads_array, 2);
        }
    };

    std::function<void(AOTIMetalKernelFunctionHandle)> mps_lib_1_func_wrapper_1 = mps_lib_1_lambda_1;
    aoti_torch_mps_run_command_block(get_mps_lib_1_handle(), aoti_torch_mps_shared_callback, &mps_lib_1_func_wrapper_1);
    arg0_1.reset();
    static constexpr int64_t int_array_3[] = {512L, 64L, 8L, 1L};
    AtenTensorHandle buf2_handle;
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_empty_strided(4, int_array_0, int_array_3, cached_torch_dtype_float32, cached_torch_device_type_mps, this->device_idx_, &buf2_handle));
    RAIIAtenTensorHandle buf2(buf2_handle);
    auto mps_lib_2_lambda_2 = [&](AOTIMetalKernelFunctionHandle handle) {
        aoti_torch_mps_start_encoding(handle);
        aoti_torch_mps_set_arg_tensor(handle, 0, buf2);
        aoti_torch_mps_set_arg_tensor(handle, 1, buf1);
        {
            uint64_t mps_lib_2_threads_array[] = {static_cast<uint64_t>(8L), static_cast<uint64_t>(64L)};
            aoti_torch_mps_dispatch_array(handle, mps_lib_2_threads_array, 2);
        }
    };

    std::function<void(AOTIMetalKernelFunctionHandle)> mps_lib_2_func_wrapper_2 = mps_lib_2_lambda_2;
    aoti_torch_mps_run_command_block(get_mps_lib_2_handle(), aoti_torch_mps_shared_callback, &mps_lib_2_func_wrapper_2);
    buf1.reset();
    output_handles[0] = buf2.release();
} // AOTInductorModel::run_impl
} // namespace torch::aot_inductor
