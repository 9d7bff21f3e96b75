// What the text of Metal kernels refers to, for one thread after another.
//
// Threads of a group do not wait for each other here, so a reduction over the group gives some value that
// depends on this thread's own part: right for where a kernel reads and writes, not for what it computes.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "checked.hpp"
#include "types.hpp"

using uint = uint32_t;
using ulong = uint64_t;
using uchar = uint8_t;
using ushort = uint16_t;
using half = run::Half;
using bfloat = run::BFloat16;

template <class T> struct vec2 {
  T x{}, y{};
};
template <class T> struct vec3 {
  T x{}, y{}, z{};
  vec3() = default;
  vec3(double a) : x(T(a)), y(T(a)), z(T(a)) {}
  vec3(T a, T b, T c) : x(a), y(b), z(c) {}
};
using uint2 = vec2<uint>;
using uint3 = vec3<uint>;
using float2 = vec2<float>;
using float3 = vec3<float>;
inline float2 operator+(float2 a, float2 b) { return {a.x + b.x, a.y + b.y}; }
inline float2 operator-(float2 a, float2 b) { return {a.x - b.x, a.y - b.y}; }
inline float2 operator*(float2 a, float b) { return {a.x * b, a.y * b}; }

#define device
#define constant const
#define threadgroup
#define threadgroup_barrier(...) (void)0
#define TORCH_REPORT_ERROR(...) (void)0
template <class To, class From> To as_type(const From& v) {
  static_assert(sizeof(To) == sizeof(From));
  To r;
  std::memcpy(&r, &v, sizeof r);
  return r;
}

namespace metal {
#define ONE(name, expr) \
  template <class T> auto name(T v) { \
    using std::abs; \
    auto x = +v; \
    return decltype(x)(expr); \
  }
ONE(exp, std::exp(x)) ONE(exp2, std::exp2(x)) ONE(log, std::log(x)) ONE(log2, std::log2(x)) ONE(log10, std::log10(x))
ONE(sqrt, std::sqrt(x)) ONE(rsqrt, 1 / std::sqrt(x)) ONE(sin, std::sin(x)) ONE(cos, std::cos(x)) ONE(tan, std::tan(x))
ONE(asin, std::asin(x)) ONE(acos, std::acos(x)) ONE(atan, std::atan(x)) ONE(sinh, std::sinh(x)) ONE(cosh, std::cosh(x))
ONE(tanh, std::tanh(x)) ONE(asinh, std::asinh(x)) ONE(acosh, std::acosh(x)) ONE(atanh, std::atanh(x))
ONE(floor, std::floor(x)) ONE(ceil, std::ceil(x)) ONE(trunc, std::trunc(x)) ONE(rint, std::rint(x)) ONE(round, std::round(x))
ONE(abs, x < 0 ? -x : x) ONE(sign, (x > 0) - (x < 0)) ONE(isnan, x != x) ONE(isinf, std::isinf(double(x)))
#undef ONE
#define TWO(name, expr) \
  template <class T, class U> auto name(T x, U y) { return expr; }
TWO(min, y < x ? y : x) TWO(max, x < y ? y : x) TWO(pow, std::pow(x, y)) TWO(fmod, std::fmod(x, y)) TWO(atan2, std::atan2(x, y))
TWO(copysign, std::copysign(x, y))
#undef TWO
template <class T> T clamp(T x, T lo, T hi) { return min(max(x, lo), hi); }
namespace precise {
using namespace metal;
}
namespace fast {
using namespace metal;
}
namespace mem_flags {
constexpr int mem_threadgroup = 1, mem_device = 2;
}
}  // namespace metal

namespace c10::metal {
template <class T, class U> auto floor_divide(T x, U y) -> decltype(x / y) {
  if constexpr (std::is_floating_point_v<decltype(x / y)>) return std::floor(x / y);
  else return y == 0 ? 0 : x / y - ((x % y != 0) && ((x < 0) != (y < 0)));
}
template <class T, class U> auto safe_mod(T x, U y) -> decltype(x % y) { return y == 0 ? 0 : x % y; }
template <class T, class U> auto remainder(T x, U y) -> decltype(x - y) {
  if constexpr (std::is_floating_point_v<decltype(x - y)>) return x - y * std::floor(x / y);
  else return y == 0 ? 0 : x - floor_divide(x, y) * y;
}
template <class T, class U> auto max(T x, U y) { return ::metal::max(x, y); }
template <class T, class U> auto min(T x, U y) { return ::metal::min(x, y); }
template <class T> auto erf(T x) { return std::erf(x); }
template <class T> auto erfc(T x) { return std::erfc(x); }
template <class T> auto log1p(T x) { return std::log1p(x); }
template <class T> auto expm1(T x) { return std::expm1(x); }
template <class T> T erfinv(T x) { return x; }
template <class T> T log_gamma(T x) { return std::lgamma(x); }
template <class T> T digamma(T x) { return x; }
template <class T> T i0(T x) { return x; }
template <class T> T sinc(T x) { return x == 0 ? 1 : std::sin(x) / x; }
inline float rand(long seed, long offset) { return float((seed * 7919 + offset * 104729) & 65535) / 65536; }
inline float randn(long seed, long offset) { return rand(seed, offset) * 2 - 1; }
inline long randint64(long seed, long offset, long low, long high) {
  return low + (seed * 7919 + offset * 104729) % std::max(1l, high - low);
}

template <class T> struct MaxOp {
  static T identity() { return std::numeric_limits<T>::lowest(); }
  static bool replace(T v, T best) { return v > best || v != v; }
};
template <class T> struct MinOp {
  static T identity() { return std::numeric_limits<T>::max(); }
  static bool replace(T v, T best) { return v < best || v != v; }
};
template <class T> struct AtomicType {
  template <class V> static void atomic_add(const run::Ptr<T>& p, long i, V v) { p.store(T(p.load(i) + v), i); }
};

// Reductions over a group, with and without the shared buffers of the various releases.
#define GROUP(name) \
  template <class B, class T, class... A> T name(B&&, T v, A...) { return v; }
GROUP(threadgroup_sum) GROUP(threadgroup_prod) GROUP(threadgroup_max) GROUP(threadgroup_min)
#undef GROUP
template <class B, class I, class T, class... A> long threadgroup_argmax(B&&, I&&, T, long index, A...) { return index; }
template <class B, class I, class T, class... A> long threadgroup_argmin(B&&, I&&, T, long index, A...) { return index; }
inline float3 welford_combine(float3 a, float3 b) {
  float n = a.z + b.z, d = b.x - a.x;
  return n == 0 ? a : float3(a.x + d * b.z / n, a.y + b.y + d * d * a.z * b.z / n, n);
}
template <class B> float3 threadgroup_welford_combine(B& buffer, long i, long) { return buffer[i]; }
template <class B, class T, class... A> float3 threadgroup_welford_reduce(B&, T v, A...) { return {float(v), 0, 1}; }
}  // namespace c10::metal
