// C++ kernels: vectors, masks, reductions, templates of GEMM and attention. Only the shape of the syntax tree
// matters, so every vector and mask of every element type is one class, and half-precision numbers are floats.
// Optional arguments are overloads: a default argument would show up as an operand.
using ushort = unsigned short;
using uint = unsigned int;
extern "C" int omp_get_thread_num(); extern "C" int omp_get_num_threads(); extern "C" int omp_get_max_threads();
#define __at_align__
#define C10_ALWAYS_INLINE_ATTRIBUTE
#define RECORD_FUNCTION(...)
struct RAIIAtenRecordFunctionHandle { RAIIAtenRecordFunctionHandle(const char*, const void*); };
namespace std {
template <bool B, class T = void> struct enable_if {}; template <class T> struct enable_if<true, T> { using type = T; };
template <bool B, class T = void> using enable_if_t = typename enable_if<B, T>::type;
template <class I, class T> I find(I, I, const T&);
}
namespace c10 {
using BFloat16 = float; using Half = float; using Float8_e4m3fn = float; using Float8_e5m2 = float;
using Float8_e4m3fnuz = float; using Float8_e5m2fnuz = float; using Float8_e8m0fnu = float;
template <class T> struct complex { complex(); complex(T); complex(T, T); T real() const; T imag() const; };
template <class T> complex<T> operator+(complex<T>, complex<T>); template <class T> complex<T> operator-(complex<T>, complex<T>);
template <class T> complex<T> operator*(complex<T>, complex<T>); template <class T> complex<T> operator/(complex<T>, complex<T>);
template <class T, class U> T convert(const U&); template <class T, class U> T bit_cast(const U&);
template <class A, class B> constexpr int64_t div_floor_integer(A, B) { return 0; }
template <class A, class B> A div_floor_floating(A, B); template <class A, class B> A div_mod(A, B);
template <int N> struct ForcedUnroll { template <class F, class... A> void operator()(const F&, A&&...) const {} };
template <class T> inline constexpr bool is_reduced_floating_point_v = false;
template <class T> struct range_t { int64_t* begin() const; int64_t* end() const; };
range_t<int64_t> irange(int64_t, int64_t); range_t<int64_t> irange(int64_t);
}
namespace at {
using namespace c10;
template <class T> using opmath_type = float;
struct data_ptr_t { void* get() const; }; struct allocator_t { data_ptr_t allocate(size_t); };
allocator_t* getCPUAllocator(); int get_thread_num(); int kBFloat16, kHalf;
template <class F> void parallel_for(int64_t, int64_t, int64_t, const F&) {}
namespace vec {
struct vec_t {
  vec_t(); template <class T> vec_t(const T&); template <class A, class B, class... R> vec_t(A, B, R...);
  static constexpr int size() { return 16; }
  static vec_t loadu(const void*); static vec_t loadu(const void*, int64_t); template <class U, int N> vec_t loadu(const void*) const;
  void store(void*) const; void store(void*, int64_t) const;
  static vec_t blendv(const vec_t&, const vec_t&, const vec_t&); template <int64_t M> static vec_t blend(const vec_t&, const vec_t&); template <class A, class B> static vec_t arange(A, B);
  static vec_t set(const vec_t&, const vec_t&, int64_t);
  template <class T> static vec_t from(const T&); template <class T> static vec_t from(const T&, int64_t); template <class T, int N> static vec_t from(const vec_t&);
  template <class U, int N> vec_t cast() const; template <class U, int N> vec_t to() const;
  bool all_zero() const; bool all_masked() const; bool is_masked(int64_t) const;
  vec_t& operator[](int64_t) const; vec_t& operator+=(const vec_t&);
#define M(n) vec_t n() const;
  M(exp) M(exp2) M(exp_u20) M(fexp_u20) M(expm1) M(log) M(log2) M(log10) M(log1p) M(sqrt) M(rsqrt) M(sin) M(cos) M(tan) M(tanh) M(sinh) M(cosh)
  M(asin) M(acos) M(atan) M(asinh) M(acosh) M(atanh) M(erf) M(erfc) M(erfinv) M(lgamma) M(digamma) M(i0) M(i0e) M(abs) M(neg) M(floor) M(ceil)
  M(trunc) M(round) M(frac) M(reciprocal) M(isnan) M(real) M(imag) M(conj) M(angle)
#undef M
#define M(n) vec_t n(const vec_t&) const;
  M(pow) M(copysign) M(atan2) M(fmod) M(hypot) M(nextafter) M(igamma) M(igammac) M(eq) M(ne) M(lt) M(le) M(gt) M(ge)
#undef M
};
#define O(o) vec_t operator o(const vec_t&, const vec_t&);
O(+) O(-) O(*) O(/) O(%) O(&) O(|) O(^) O(<<) O(>>) O(==) O(!=) O(<) O(>) O(<=) O(>=) O(&&) O(||)
#undef O
vec_t operator-(const vec_t&); vec_t operator~(const vec_t&); vec_t operator!(const vec_t&);
template <class T> using Vectorized = vec_t; template <class T, int N> using VectorizedN = vec_t; template <class T, int N> using VecMask = vec_t;
template <class D, int ND = 1, class S = D, int NS = 1> vec_t convert(const vec_t&);
#define F(n) template <class A, class B> vec_t n(const A&, const B&);
F(maximum) F(minimum) F(clamp_min) F(clamp_max)
#undef F
vec_t fmadd(const vec_t&, const vec_t&, const vec_t&); vec_t fmsub(const vec_t&, const vec_t&, const vec_t&); vec_t clamp(const vec_t&, const vec_t&, const vec_t&);
template <class T, int N = 1, class F, class V> T vec_reduce_all(const F&, const V&) { return T(); }
template <class F> float vec_reduce_all(const F&, const vec_t&) { return 0; }
template <class T, int M, int N, bool A = false> void transpose_mxn(const T*, int64_t, T*, int64_t);
template <class T, int M, int N, bool A = false> void transpose_mxn(const T*, int64_t, T*, int64_t, int, int);
template <class T, bool A = false> void transpose_mxn(const T*, int64_t, T*, int64_t, int, int);
template <class V> void transpose_block(V&); template <class... A> void pack_vnni2(A&&...); template <class... A> void pack_vnni4(A&&...);
template <class T, class F, class... A> void map(const F&, A&&...) {}
}
namespace native {
template <class T, class... A> void _store(T*, A&&...);
template <class... A> void data_index_init(int64_t, A&&...); template <class... A> bool data_index_step(A&&...);
namespace cpublas { template <class... A> void brgemm(A&&...); void brgemm_release(bool); void brgemm_release(); bool could_pack(int); }
namespace utils { template <class T, class... A> void transpose(A&&...); }
}
}
using std::exp; using std::log; using std::sqrt; using std::pow; using std::sin; using std::cos; using std::tanh; using std::erf;
using std::abs; using std::fabs; using std::floor; using std::ceil; using std::trunc; using std::round; using std::isnan; using std::isinf;
using at::vec::vec_t; using at::vec::transpose_mxn;
using bfloat16 = float; using half = float; using float8_e4m3fn = float; using float8_e5m2 = float;
template <class T> struct IndexValue { int64_t index; T value; };
template <class T, int N, class M> vec_t inductor_vec_mask_cast(const M&);
template <class T, int N, int M> struct IndexValueVec { vec_t index, value; IndexValueVec(); template <class U> IndexValueVec(U); };
template <class T, class... A> struct Welford { T mean, m2, weight; int64_t index; Welford(); template <class... B> Welford(B...); };
template <class T, int64_t N = 0> struct WelfordHelper { WelfordHelper(int64_t); }; template <class T, int64_t N = 0> struct CascadeSumHelper { CascadeSumHelper(int64_t); };
template <class T, int64_t N = 0> struct WeightRecp { WeightRecp(int64_t); };
template <class T, class... A> Welford<T> welford_combine(const Welford<T>&, A&&...); template <class V> Welford<float> welford_vec_reduce_all(const V&);
template <class T, class... A> T cascade_sum_combine(const T&, A&&...); template <class T, int64_t N> T cascade_sum_final(CascadeSumHelper<T, N>*);
template <class T, class... A> IndexValue<T> argmax_combine(const IndexValue<T>&, A&&...); template <class T, class... A> IndexValue<T> argmin_combine(const IndexValue<T>&, A&&...);
template <class T, int N, int M, bool H = false, class... A> IndexValueVec<T, N, M> argmax_combine_vec(A&&...);
template <class T, int N, int M, bool H = false, class... A> IndexValueVec<T, N, M> argmin_combine_vec(A&&...);
template <class T, int N, int M> IndexValue<T> argmax_vec_reduce_all(const IndexValueVec<T, N, M>&); template <class T, int N, int M> IndexValue<T> argmin_vec_reduce_all(const IndexValueVec<T, N, M>&);
#define F(n) template <class T, class... A> T n(const T&, A&&...);
F(sum_masked_reduce) F(prod_masked_reduce) F(max_masked_reduce) F(min_masked_reduce) F(any_masked_reduce) F(xor_sum_masked_reduce)
F(max_propagate_nan) F(min_propagate_nan) F(floor_divide_integral) F(remainder_integral) F(calc_erfinv) F(calc_digamma) F(calc_igamma) F(calc_i0)
F(inductor_pow) F(rsqrt) F(div_floor_floating_vec) F(div_floor_integer_vec)
#undef F
template <class T, class U> void atomic_add(T*, U); template <class T, int N, int M, class I, class V> void atomic_add_vec(T*, const I&, const V&);
template <class T, int N, int M, class I, class V> void atomic_add_vec(T*, const I&, const V&, int64_t);
template <class A, class B> A mod(A, B);
float normalized_rand_cpu(int64_t, int64_t); float randn_cpu(int64_t, int64_t); int64_t randint64_cpu(int64_t, int64_t, int64_t, int64_t);
extern std::atomic<int>* inductor_cpu_integer_div_error_flag; void inductor_cpu_throw_if_integer_div_error(std::atomic<int>&);
template <class... A> void AOTI_TORCH_CHECK(bool, A&&...); template <class... A> void TORCH_CHECK(bool, A&&...);
template <class A, class B, class... R> void mm_get_cache_blocking(R&&...);
struct amx_tilecfg; struct AMXState { template <class... A> void configure(A&&...) {} template <class F> void release(const F&) {} };
#define F(n) template <class... A> void n(A&&...);
F(_tile_loadconfig) F(_tile_release) F(_tile_loadd) F(_tile_stream_loadd) F(_tile_stored) F(_tile_zero) F(_tile_dpbf16ps) F(_tile_dpfp16ps) F(_tile_dpbssd) F(_tile_dpbusd)
#undef F
