// What generated Metal kernels name, as plain C++ for libclang. Declarations only: types matter just enough
// for a text to be accepted, because the reader works out element types from the text itself.
#define kernel
#define device
#define threadgroup
#define thread
#define constant const
#define HUGE_VALF __builtin_huge_valf()
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define M_PI_F 3.14159274f
#define TORCH_REPORT_ERROR(buffer, ...) report_error(buffer)
using uint = unsigned int; using uchar = unsigned char; using ushort = unsigned short; using ulong = unsigned long;
using uint8_t = unsigned char; using uint16_t = unsigned short; using uint32_t = unsigned; using uint64_t = unsigned long;
using int8_t = signed char; using int16_t = short; using int32_t = int; using int64_t = long; using size_t = unsigned long;
// Sixteen-bit floats take part in the same arithmetic as float.
using half = float; using bfloat = float; using bfloat16_t = float; using half_t = float;
template <class T, int N> struct vec {
  T x, y, z, w;
  vec(); template <class... A> vec(A...);
  T& operator[](int); const T& operator[](int) const;
  template <class A> vec& operator+=(A); template <class A> vec& operator-=(A); template <class A> vec& operator*=(A);
};
#define VECTORS(T) using T##2 = vec<T, 2>; using T##3 = vec<T, 3>; using T##4 = vec<T, 4>;
VECTORS(float) VECTORS(int) VECTORS(uint) VECTORS(long) VECTORS(ulong) VECTORS(short) VECTORS(ushort) VECTORS(char) VECTORS(uchar) VECTORS(bool)
#undef VECTORS
using half2 = float2; using half3 = float3; using half4 = float4; using bfloat2 = float2; using bfloat4 = float4;
#define OPERATOR(op, result) \
  template <class T, int N> result operator op(vec<T, N>, vec<T, N>); \
  template <class T, int N, class S> result operator op(vec<T, N>, S); template <class T, int N, class S> result operator op(S, vec<T, N>);
#define ARITHMETIC vec<T, N>
OPERATOR(+, ARITHMETIC) OPERATOR(-, ARITHMETIC) OPERATOR(*, ARITHMETIC) OPERATOR(/, ARITHMETIC) OPERATOR(==, bool) OPERATOR(!=, bool)
#undef OPERATOR
#undef ARITHMETIC
template <class T, int N> vec<T, N> operator-(vec<T, N>);
template <class D, class S> D as_type(S);
template <class A> void report_error(A);
#define MAP1(f) template <class T> T f(T);
#define MAP2(f) template <class A, class B> auto f(A a, B b) -> decltype(a + b);
#define MAP3(f) template <class A, class B, class C> auto f(A a, B b, C c) -> decltype(a + b + c);
#define TEST(f) template <class T> bool f(T);
namespace metal {
enum class mem_flags { mem_none, mem_threadgroup, mem_device, mem_texture, mem_threadgroup_imageblock };
template <class T> struct numeric_limits { static T max(); static T min(); static T lowest(); static T infinity(); static T quiet_NaN(); };
MAP1(abs) MAP1(fabs) MAP1(floor) MAP1(ceil) MAP1(trunc) MAP1(rint) MAP1(round) MAP1(sign) MAP1(fract) MAP1(popcount)
MAP2(min) MAP2(max) MAP2(fmin) MAP2(fmax)
MAP3(clamp) MAP3(fma) MAP3(select)
template <class T> T frexp(T, int&); template <class T> T modf(T, T&); template <class T> T sincos(T, T&); template <class T> T ldexp(T, int);
TEST(isnan) TEST(isinf) TEST(isfinite) TEST(signbit) TEST(all) TEST(any)
#define FLOATING \
  MAP1(sqrt) MAP1(rsqrt) MAP1(exp) MAP1(exp2) MAP1(exp10) MAP1(log) MAP1(log2) MAP1(log10) MAP1(sin) MAP1(cos) MAP1(tan) MAP1(asin) MAP1(acos) \
  MAP1(atan) MAP1(sinh) MAP1(cosh) MAP1(tanh) MAP1(asinh) MAP1(acosh) MAP1(atanh) MAP2(pow) MAP2(powr) MAP2(fmod) MAP2(atan2) MAP2(copysign)
FLOATING
namespace precise { FLOATING MAP1(divide) }
namespace fast { FLOATING }
}
using metal::mem_flags;
void threadgroup_barrier(metal::mem_flags); void simdgroup_barrier(metal::mem_flags);
namespace metal { using ::threadgroup_barrier; using ::simdgroup_barrier; using ::as_type; }
namespace c10 { namespace metal {
struct ErrorMessages;
template <class T> using opmath_t = T; template <class T> using accum_t = T; template <class T> using vec2type_t = vec<T, 2>;
MAP2(floor_divide) MAP2(remainder) MAP2(safe_mod) MAP2(fmod) MAP2(pow) MAP2(min) MAP2(max) MAP2(mul) MAP2(div) MAP2(xlogy) MAP2(xlog1py) MAP2(zeta) MAP2(polygamma)
MAP2(copysign) MAP2(hypot) MAP2(nextafter) MAP2(igamma) MAP2(igammac)
MAP1(erf) MAP1(erfc) MAP1(erfinv) MAP1(erfcx) MAP1(log1p) MAP1(expm1) MAP1(sinc) MAP1(digamma) MAP1(log_gamma) MAP1(entr) MAP1(i0) MAP1(i0e) MAP1(i1) MAP1(i1e) MAP1(log_ndtr)
MAP1(ndtri) MAP1(spherical_bessel_j0) MAP1(bessel_j0_forward) MAP1(bessel_j1_forward) MAP1(bessel_y0_forward) MAP1(bessel_y1_forward)
MAP1(modified_bessel_i0_forward) MAP1(modified_bessel_i1_forward) MAP1(modified_bessel_k0_forward) MAP1(modified_bessel_k1_forward)
MAP1(scaled_modified_bessel_k0_forward) MAP1(scaled_modified_bessel_k1_forward)
MAP2(chebyshev_polynomial_t_forward) MAP2(chebyshev_polynomial_u_forward) MAP2(chebyshev_polynomial_v_forward) MAP2(chebyshev_polynomial_w_forward)
MAP2(shifted_chebyshev_polynomial_t_forward) MAP2(shifted_chebyshev_polynomial_u_forward) MAP2(shifted_chebyshev_polynomial_v_forward)
MAP2(shifted_chebyshev_polynomial_w_forward) MAP2(hermite_polynomial_h_forward) MAP2(hermite_polynomial_he_forward) MAP2(laguerre_polynomial_l_forward)
MAP2(legendre_polynomial_p_forward)
MAP3(fma)
float rand(long, long); float randn(long, long); long randint64(long, long, long, long);
#define REDUCER(Op) template <class T> struct Op { static T identity(); template <class A, class B> static T combine(A, B); template <class A, class B> static bool replace(A, B); };
REDUCER(SumOp) REDUCER(ProdOp) REDUCER(MaxOp) REDUCER(MinOp)
#undef REDUCER
#define GROUP(f) template <class T, class... A> T f(threadgroup T*, A...);
GROUP(threadgroup_sum) GROUP(threadgroup_prod) GROUP(threadgroup_max) GROUP(threadgroup_min)
GROUP(threadgroup_welford_combine)
#undef GROUP
template <class T> float3 threadgroup_welford_reduce(threadgroup T*, uint);
template <class T, class I, class V, class J> I threadgroup_argmax(threadgroup T*, threadgroup I*, V, J, uint, uint);
template <class T, class I, class V, class J> I threadgroup_argmin(threadgroup T*, threadgroup I*, V, J, uint, uint);
template <class T> int threadgroup_argmax(threadgroup T*, uint); template <class T> int threadgroup_argmin(threadgroup T*, uint);
template <class A, class B> float3 welford_combine(A, B);
template <class T> struct AtomicType {
  struct type;
  template <class V> static void atomic_add(type*, long, V);
};
} }
#undef MAP1
#undef MAP2
#undef MAP3
#undef TEST
