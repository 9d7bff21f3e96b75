// Host side: tensors, the model class, runtime helpers. Every kind of tensor handle is one type here, so that
// the syntax tree holds no conversions between them. C shim functions and kernels are declared per file.
struct handle_t {
  handle_t(); handle_t(std::nullptr_t); handle_t(const handle_t&);
  template <class A, class B, class... R> handle_t(A&&, B&&, R&&...);
  handle_t& operator=(const handle_t&);
  handle_t get() const; handle_t release(); void reset(); explicit operator bool() const;
  int64_t size(int64_t); int64_t stride(int64_t); int64_t storage_offset(); int64_t numel() const;
  void* data_ptr() const; void* data() const; int64_t* sizes() const; int64_t* strides() const;
};
using AtenTensorHandle = handle_t; using RAIIAtenTensorHandle = handle_t; using ConstantHandle = handle_t;
struct opaque_t { opaque_t(); template <class T> opaque_t(T&&); opaque_t* operator->() const; opaque_t* get() const; };
using AOTIProxyExecutorHandle = opaque_t*; using AOTInductorModelHandle = opaque_t*; using AOTIMetalKernelFunctionHandle = opaque_t*;
using AOTIMetalShaderLibraryHandle = opaque_t*; using AOTIMetalShaderLibraryOpaque = opaque_t; using AOTIMetalKernelFunctionOpaque = opaque_t;
using CUstream_st = opaque_t; using cudaStream_t = opaque_t*; using hipStream_t = opaque_t*; using CUfunction = opaque_t*;
using hipFunction_t = opaque_t*; using CUdeviceptr = unsigned long long; using AOTITorchError = int32_t; using AOTIRuntimeError = int32_t;
using MTLFunction_t = void*; using CUmodule = opaque_t*; using hipDeviceptr_t = void*;
namespace sycl { struct kernel {}; struct queue {}; }
namespace py { struct gil_scoped_release_simple {}; struct gil_scoped_acquire_simple {}; }
template <class... A> opaque_t* loadKernel(A&&...) { return nullptr; }
struct Grid { Grid(uint32_t, uint32_t, uint32_t); uint32_t grid_x, grid_y, grid_z; bool is_non_zero(); };
struct AOTInductorArrayRefTensor { void* data; };
namespace torch { namespace aot_inductor {
using DeviceStreamType = opaque_t*;
enum class ConstantType : uint8_t { Unknown, Parameter, Buffer, TensorConstant, FoldedConstant };
template <class T> using ArrayRefTensor = handle_t;
template <class T> struct ThreadLocalCachedOutputTensor { explicit ThreadLocalCachedOutputTensor(const handle_t&); void copy_data_from(const handle_t&); handle_t tensor() const; };
template <class T> struct ThreadLocalCachedOutputArray { explicit ThreadLocalCachedOutputArray(const handle_t&); void copy_data_from(const handle_t&); template <class U> handle_t arrayref_tensor() const; };
using ConstantMap = std::unordered_map<std::string, AtenTensorHandle>;
struct AOTInductorModelKernelsBase {}; struct AOTInductorModelKernels : AOTInductorModelKernelsBase {};
struct ConstInfo {
  std::string name, original_fqn; std::vector<int64_t> shape, stride; std::vector<uint8_t> opaque_metadata;
  int32_t dtype, device_type, layout, type; int64_t offset, opaque_metadata_size; size_t data_size; bool from_folded;
};
struct AOTInductorModelInputs {}; struct AOTInductorModelOutputs {};
struct ParamInfo { const char* name; const char* shape; };
struct AOTInductorModelBase {
  template <class... A> AOTInductorModelBase(A&&...);
  std::vector<ParamInfo> inputs_info_, outputs_info_; std::vector<ConstInfo> constants_info_;
  std::shared_ptr<ConstantMap> constants_map_; std::shared_ptr<std::vector<ConstantHandle>> constants_;
  std::string in_spec_, out_spec_; std::optional<std::string> cubin_dir_; int32_t device_idx_;
  std::unique_ptr<AOTInductorModelKernelsBase> kernels_;
  void update_constants_map(std::shared_ptr<ConstantMap>); void update_constants_array(std::shared_ptr<std::vector<ConstantHandle>>);
};
struct AOTInductorModel : AOTInductorModelBase {
  AOTInductorModel(std::shared_ptr<ConstantMap>, std::shared_ptr<std::vector<ConstantHandle>>, const std::string&, std::optional<std::string>);
  std::unordered_map<std::string, AtenTensorHandle> const_run_impl(DeviceStreamType, AOTIProxyExecutorHandle, bool);
  void _const_run_impl(std::vector<AtenTensorHandle>&, DeviceStreamType, AOTIProxyExecutorHandle);
  void run_impl(AtenTensorHandle*, AtenTensorHandle*, DeviceStreamType, AOTIProxyExecutorHandle);
  template <class I, class O> O run_impl_minimal_arrayref_interface(const I&, DeviceStreamType, AOTIProxyExecutorHandle);
  void run_impl_minimal_arrayref_interface_v2_raw(const AOTInductorArrayRefTensor*, AOTInductorArrayRefTensor*, DeviceStreamType, AOTIProxyExecutorHandle);
};
std::vector<RAIIAtenTensorHandle> steal_from_raw_handles_to_raii_handles(AtenTensorHandle*, size_t);
std::vector<RAIIAtenTensorHandle> alloc_tensors_by_stealing_from_handles(AtenTensorHandle*, size_t);
AtenTensorHandle reinterpret_tensor_wrapper(const handle_t&, int64_t, const int64_t*, const int64_t*, int64_t);
AtenTensorHandle wrap_with_raii_handle_if_needed(const handle_t&);
template <class T> T& temporary_reference(T&&);
template <class... A> void assert_size_stride(const handle_t&, std::initializer_list<int64_t>, std::initializer_list<int64_t>, A&&...);
template <class T> RAIIAtenTensorHandle scalar_to_tensor_handle(T);
void* get_data_ptr_wrapper(const handle_t&);
handle_t borrow_arrayref_tensor_as_tensor(const handle_t&); handle_t copy_arrayref_tensor_to_tensor(const handle_t&);
handle_t expensive_copy_to_tensor_if_needed(const handle_t&); handle_t convert_arrayref_tensor_to_tensor(const handle_t&);
template <class T> handle_t c_to_arrayref_tensor(const AOTInductorArrayRefTensor&);
template <size_t I, class... T> handle_t get_input_(T&&...);
struct KernelContext; struct KernelContextGuard { KernelContextGuard(const char*, const char*); };
struct RAIIAtenRecordFunctionHandle { template <class... A> RAIIAtenRecordFunctionHandle(const char*, A&&...); };
struct AOTICudaStreamGuard { AOTICudaStreamGuard(DeviceStreamType, int32_t); void reset(); };
struct AOTICudaGuard { AOTICudaGuard(int32_t); void set_index(int32_t); };
struct C10IValueHandle_; using C10IValueHandle = C10IValueHandle_*; struct RAIIC10IValueHandle { RAIIC10IValueHandle(C10IValueHandle); };
} }
namespace std { template <size_t I, class T> handle_t& get(T&&); }
#define AOTI_NOINLINE
template <class T> void AOTI_TORCH_ERROR_CODE_CHECK(T&&);
template <class... A> void AOTI_TORCH_WARN(A&&...);
template <class... A> void AOTI_TORCH_CHECK(bool, A&&...);
template <class... A> void TORCH_CHECK(bool, A&&...);
template <class T> void CUDA_DRIVER_CHECK(T&&);
template <class T> void AOTI_RUNTIME_CUDA_CHECK(T&&);
#define CONVERT_EXCEPTION_TO_ERROR_CODE(...) { __VA_ARGS__ }
#define CACHE_TORCH_DTYPE(t) static int32_t cached_torch_dtype_##t
#define CACHE_TORCH_DEVICE(d) static int32_t cached_torch_device_type_##d
#define CACHE_TORCH_LAYOUT(d) static int32_t cached_torch_layout_##d
#define CACHE_TORCH_MEMORY_FORMAT(d) static int32_t cached_torch_memory_format_##d
#define __at_align__
namespace c10 {
template <class A, class B> constexpr int64_t div_floor_integer(A, B) { return 0; }
template <class A, class B> int64_t div_mod(A, B);
template <class A, class B> double div_floor_floating(A, B);
template <class T> struct complex { T re, im; };
}
namespace at { struct BFloat16 { BFloat16(); template <class T> BFloat16(T); operator float() const; }; struct Half { Half(); template <class T> Half(T); operator float() const; };
  template <class T> struct complex { T re, im; }; struct Float8_e4m3fn {}; struct Float8_e5m2 {}; struct Float8_e4m3fnuz {}; struct Float8_e5m2fnuz {};
  namespace native { namespace mps { using DynamicMetalShaderLibrary = opaque_t; using MetalKernelFunction = opaque_t; } } }
using bfloat16 = at::BFloat16; using half = at::Half; using float8_e4m3fn = at::Float8_e4m3fn; using float8_e5m2 = at::Float8_e5m2;
using namespace torch::aot_inductor;
