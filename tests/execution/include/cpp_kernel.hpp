// What the text of C++ kernels refers to.
#pragma once
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>

#include "vec.hpp"

namespace at {
using run::BFloat16;
using run::Float8_e4m3fn;
using run::Float8_e5m2;
using run::Half;
template <class T> using complex = std::complex<T>;
}  // namespace at
using at::BFloat16;
using at::Half;
using bfloat16 = at::BFloat16;
using half = at::Half;

namespace c10 {
template <class T> using complex = std::complex<T>;
using at::BFloat16;
using at::Half;
template <class To, class From> To convert(const From& v) { return run::to<To>(v); }
template <class To, class From> To bit_cast(const From& v) {
  static_assert(sizeof(To) == sizeof(From));
  To r;
  std::memcpy(&r, &v, sizeof r);
  return r;
}
template <class T> T div_floor_integer(T a, T b) {
  T q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}
template <class T> T div_floor_floating(T a, T b) { return std::floor(a / b); }
template <class T> T div_mod(T a, T b) {
  T m = std::fmod(a, b);
  return m != 0 && (b < 0) != (m < 0) ? m + b : m;
}
template <int n> struct ForcedUnroll {
  template <class F, class... A> void operator()(const F& f, A... a) const {
    ForcedUnroll<n - 1>{}(f, a...);
    f(std::integral_constant<int, n - 1>{}, a...);
  }
};
template <> struct ForcedUnroll<0> {
  template <class F, class... A> void operator()(const F&, A...) const {}
};
}  // namespace c10

#define C10_LIKELY(x) (x)
#define C10_UNLIKELY(x) (x)
#define C10_ALWAYS_INLINE_ATTRIBUTE
#define __at_align__ alignas(64)
#define AOTI_TORCH_CHECK(cond, ...) \
  if (!(cond)) throw run::CheckFailed { #cond }
#define TORCH_CHECK AOTI_TORCH_CHECK

inline std::atomic<int>* inductor_cpu_integer_div_error_flag = nullptr;
inline void inductor_cpu_throw_if_integer_div_error(const std::atomic<int>&) {}
inline int omp_get_thread_num() { return 0; }
inline int omp_get_max_threads() { return 1; }

template <class T> T max_propagate_nan(T a, T b) { return at::vec::larger(a, b); }
template <class T> T min_propagate_nan(T a, T b) { return at::vec::smaller(a, b); }
// Floor division and its remainder, of numbers and of vectors; zero where the divisor is.
template <class T> T floor_of(T a, T b) { return b == 0 ? T(0) : c10::div_floor_integer(a, b); }
template <class T, class U> auto floor_divide_integral(const T& a, const U& b) {
  if constexpr (std::is_arithmetic_v<T>) return floor_of<decltype(a + b)>(a, b);
  else return a.map(b, [](auto x, auto y) { return floor_of(x, y); });
}
template <class T, class U> auto remainder_integral(const T& a, const U& b) {
  if constexpr (std::is_arithmetic_v<T>) return decltype(a + b)(a - floor_of<decltype(a + b)>(a, b) * b);
  else return a.map(b, [](auto x, auto y) { return decltype(x)(x - floor_of(x, y) * y); });
}
inline double bessel_j0_forward(double x) { return std::cyl_bessel_j(0, std::abs(x)); }
template <class T> T calc_digamma(T x) { return x; }
template <class T> T calc_erfinv(T x) { return x; }
template <class T> T calc_i0(T x) { return x; }

// -- reductions -----------------------------------------------------------------------------------

#define MASKED_REDUCE(name, expr) \
  template <class A, class B> A name(const A& acc, const B& value, int64_t n) { \
    A r = acc; \
    for (int i = 0; i < n && i < r.size(); i++) { \
      auto x = acc.v[i]; \
      auto y = decltype(x)(value.v[i]); \
      r.v[i] = expr; \
    } \
    return r; \
  }
MASKED_REDUCE(sum_masked_reduce, x + y) MASKED_REDUCE(prod_masked_reduce, x* y)
MASKED_REDUCE(max_masked_reduce, at::vec::larger(x, y)) MASKED_REDUCE(min_masked_reduce, at::vec::smaller(x, y))
MASKED_REDUCE(any_masked_reduce, x || y) MASKED_REDUCE(xor_sum_masked_reduce, x != y)
#undef MASKED_REDUCE

template <class T> struct Welford {
  T mean = T(0);
  T m2 = T(0);
  T weight = T(0);
  int64_t index = 0;
};
template <class T, int64_t Chunk> struct WelfordHelper {
  explicit WelfordHelper(int64_t) {}
};
template <class T> struct WeightRecp {
  explicit WeightRecp(int64_t) {}
};
template <class T> T divided(T a, T b) { return b == T(0) ? T(0) : a / b; }
template <class T, int N> at::vec::Vn<T, N> divided(const at::vec::Vn<T, N>& a, const at::vec::Vn<T, N>& b) {
  return a.map(b, [](T x, T y) { return y == T(0) ? T(0) : x / y; });
}
template <class T> Welford<T> welford_combine(const Welford<T>& a, const Welford<T>& b) {
  T w = a.weight + b.weight;
  T d = b.mean - a.mean;
  T f = divided(b.weight, w);
  return {a.mean + d * f, a.m2 + b.m2 + d * d * a.weight * f, w};
}
// A helper alone: what it gathered is in the accumulator already here.
template <class T, class H> Welford<T> welford_combine(const Welford<T>& a, H*) { return a; }
template <class T, class U, class... H> Welford<T> welford_combine(const Welford<T>& a, const U& x, H*...) {
  return welford_combine(a, Welford<T>{T(x), T(0), T(1)});
}
template <class T, int N, class... H>
Welford<at::vec::Vn<T, N>> welford_combine(const Welford<at::vec::Vn<T, N>>& a, const at::vec::Vn<T, N>& x, int64_t n, H...) {
  using V = at::vec::Vn<T, N>;
  auto r = welford_combine(a, Welford<V>{x, V(0), V(1)});
  return {V::set(a.mean, r.mean, n), V::set(a.m2, r.m2, n), V::set(a.weight, r.weight, n)};
}
template <class T, int N> Welford<T> welford_vec_reduce_all(const Welford<at::vec::Vn<T, N>>& a) {
  Welford<T> r;
  for (int i = 0; i < a.mean.size(); i++)
    r = welford_combine(r, Welford<T>{a.mean.v[i], a.m2.v[i], a.weight.v[i]});
  return r;
}

template <class T, int64_t Chunk> struct CascadeSumHelper {
  T sum = T(0);
  explicit CascadeSumHelper(int64_t) {}
};
template <class T, int64_t C> T cascade_sum_combine(const T& x, CascadeSumHelper<T, C>* h) { return h->sum = h->sum + x; }
template <class T, int64_t C> T cascade_sum_combine(const T& x, int64_t n, CascadeSumHelper<T, C>* h) {
  return h->sum = sum_masked_reduce(h->sum, x, n);
}
template <class T, int64_t C> T cascade_sum_final(CascadeSumHelper<T, C>* h) { return h->sum; }

template <class T> struct IndexValue {
  int64_t index = 0;
  T value{};
};
template <class T, int NV, int NI> struct IndexValueVec {
  at::vec::VectorizedN<T, NV> value;
  at::vec::VectorizedN<int64_t, NI> index;
  IndexValueVec() = default;
  explicit IndexValueVec(T v) : value(v), index(0) {}
};
template <bool Max, class T> bool beats(T x, int64_t i, T y, int64_t j) {
  return Max ? x > y || (x == y && i < j) : x < y || (x == y && i < j);
}
#define ARG_REDUCE(name, is_max) \
  template <class T> IndexValue<T> name##_combine(IndexValue<T> a, T x, int64_t i, bool = false) { \
    return beats<is_max>(x, i, a.value, a.index) ? IndexValue<T>{i, x} : a; \
  } \
  template <class T> IndexValue<T> name##_combine(IndexValue<T> a, IndexValue<T> b, bool = false) { \
    return name##_combine(a, b.value, b.index); \
  } \
  template <class T, int NV, int NI, bool horizontal> \
  IndexValueVec<T, NV, NI> name##_combine_vec(IndexValueVec<T, NV, NI> a, const at::vec::VectorizedN<T, NV>& x, int64_t at, \
                                              int64_t n = NV * VECTOR_BYTES / sizeof(T)) { \
    for (int l = 0; l < n; l++) { \
      int64_t i = horizontal ? at + l : at; \
      if (beats<is_max>(x.v[l], i, a.value.v[l], a.index.v[l])) a.value.v[l] = x.v[l], a.index.v[l] = i; \
    } \
    return a; \
  } \
  template <class T, int NV, int NI> IndexValue<T> name##_vec_reduce_all(const IndexValueVec<T, NV, NI>& a) { \
    IndexValue<T> r{a.index.v[0], a.value.v[0]}; \
    for (int l = 1; l < a.value.size(); l++) r = name##_combine(r, a.value.v[l], a.index.v[l]); \
    return r; \
  }
ARG_REDUCE(argmax, true) ARG_REDUCE(argmin, false)
#undef ARG_REDUCE

// -- memory ---------------------------------------------------------------------------------------

template <class T, class S, class D> void transpose_lanes(S src, int64_t lds, D dst, int64_t ldd, int64_t M, int64_t N) {
  for (int64_t i = 0; i < M; i++)
    for (int64_t j = 0; j < N; j++) run::put(dst, j * ldd + i, run::get(src, i * lds + j));
}
template <class T, int64_t M, int64_t N, bool = false, class S, class D>
void transpose_mxn(S src, int64_t lds, D dst, int64_t ldd) {
  transpose_lanes<T>(src, lds, dst, ldd, M, N);
}
template <class T, bool = false, class S, class D>
void transpose_mxn(S src, int64_t lds, D dst, int64_t ldd, int64_t M, int64_t N) {
  transpose_lanes<T>(src, lds, dst, ldd, M, N);
}
template <class T, class U> void atomic_add(const run::Ptr<T>& p, U v) { p.store(T(p.load() + v)); }
template <class T, int NI, int NV, class P, class I, class V>
void atomic_add_vec(P p, const I& index, const V& value, int64_t n = V::size()) {
  for (int l = 0; l < n; l++) run::put(p, index.v[l], T(run::get(p, index.v[l]) + value.v[l]));
}

// How a matrix product is cut up at run time: any number of blocks from one to all of them may come out.
template <class X, class W>
void mm_get_cache_blocking(int, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t m, int64_t n, int64_t k,
                           int64_t& mc, int64_t& nc, int64_t& kc, uint32_t, uint32_t) {
  mc = (m + 1) / 2, nc = (n + 1) / 2, kc = (k + 1) / 2;
}

// -- random numbers: any number in the range does ----------------------------------------------------

inline uint64_t mixed(uint64_t seed, uint64_t offset) {
  uint64_t x = (seed * 0x9e3779b97f4a7c15ull + offset) * 0xbf58476d1ce4e5b9ull;
  return x ^ (x >> 31);
}
inline float normalized_rand_cpu(int64_t seed, int64_t offset) { return float(mixed(seed, offset) % 65536) / 65536; }
inline float randn_cpu(int64_t seed, int64_t offset) { return normalized_rand_cpu(seed, offset) * 2 - 1; }
inline int64_t randint64_cpu(int64_t seed, int64_t offset, int64_t low, int64_t high) {
  return low + int64_t(mixed(seed, offset) % uint64_t(std::max<int64_t>(1, high - low)));
}
