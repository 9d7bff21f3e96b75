// Vectors as arrays of lanes. Lanes are loaded and stored one by one through checked pointers.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>

#include "checked.hpp"
#include "types.hpp"

#ifndef VECTOR_BYTES
#define VECTOR_BYTES 64
#endif

namespace at::vec {

template <class T, int N> struct VectorizedN;
template <class T, int N = 1> struct VecMask;
template <class T> using Vectorized = VectorizedN<T, 1>;

template <class T, int N> struct VectorizedN {
  using value_type = T;
  static constexpr int L = N * VECTOR_BYTES / int(sizeof(T));
  std::array<T, L> v{};

  static constexpr int size() { return L; }
  VectorizedN() = default;
  template <class U, class = std::enable_if_t<std::is_convertible_v<U, T>>> VectorizedN(U s) { v.fill(run::to<T>(s)); }
  template <class U, int M> explicit VectorizedN(const VecMask<U, M>& m) {
    for (int i = 0; i < L && i < m.size(); i++) v[i] = T(m.v[i]);
  }

  template <class P> static VectorizedN loadu(P p, int64_t count = L) {
    VectorizedN r;
    for (int i = 0; i < count && i < L; i++) r.v[i] = run::get(p, i);
    return r;
  }
  template <class P> void store(P p, int64_t count = L) const {
    for (int i = 0; i < count && i < L; i++) run::put(p, i, v[i]);
  }
  template <class S, class D = int> static VectorizedN arange(S start, D step = 1) {
    VectorizedN r;
    for (int i = 0; i < L; i++) r.v[i] = run::to<T>(start + T(i) * T(step));
    return r;
  }
  template <class U, int M> static VectorizedN blendv(const VectorizedN& a, const VectorizedN& b, const VecMask<U, M>& m) {
    VectorizedN r = a;
    for (int i = 0; i < L && i < m.size(); i++)
      if (m.v[i]) r.v[i] = b.v[i];
    return r;
  }
  static VectorizedN set(const VectorizedN& a, const VectorizedN& b, int64_t count = L) {
    VectorizedN r = a;
    for (int i = 0; i < count && i < L; i++) r.v[i] = b.v[i];
    return r;
  }
  // The i-th register.
  Vectorized<T>& operator[](int i) { return reinterpret_cast<Vectorized<T>&>(v[i * (VECTOR_BYTES / int(sizeof(T)))]); }
  template <class F> auto map(F f) const {
    VectorizedN r;
    for (int i = 0; i < L; i++) r.v[i] = run::to<T>(f(v[i]));
    return r;
  }
  template <class F> VectorizedN map(const VectorizedN& o, F f) const {
    VectorizedN r;
    for (int i = 0; i < L; i++) r.v[i] = run::to<T>(f(v[i], o.v[i]));
    return r;
  }
  template <class F> VecMask<T, N> test(const VectorizedN& o, F f) const {
    VecMask<T, N> r;
    for (int i = 0; i < L; i++) r.v[i] = f(v[i], o.v[i]);
    return r;
  }

#define UNARY(name, expr) \
  VectorizedN name() const { \
    return map([](T x) { return expr; }); \
  }
  UNARY(exp, std::exp(double(x))) UNARY(exp_u20, std::exp(double(x))) UNARY(fexp_u20, std::exp(double(x))) UNARY(exp2, std::exp2(double(x)))
  UNARY(expm1, std::expm1(double(x))) UNARY(log, std::log(double(x))) UNARY(log2, std::log2(double(x))) UNARY(log10, std::log10(double(x)))
  UNARY(log1p, std::log1p(double(x))) UNARY(sqrt, std::sqrt(double(x))) UNARY(rsqrt, 1 / std::sqrt(double(x)))
  UNARY(reciprocal, 1 / double(x)) UNARY(sin, std::sin(double(x))) UNARY(cos, std::cos(double(x))) UNARY(tan, std::tan(double(x)))
  UNARY(asin, std::asin(double(x))) UNARY(acos, std::acos(double(x))) UNARY(atan, std::atan(double(x))) UNARY(sinh, std::sinh(double(x)))
  UNARY(cosh, std::cosh(double(x))) UNARY(tanh, std::tanh(double(x))) UNARY(asinh, std::asinh(double(x))) UNARY(acosh, std::acosh(double(x)))
  UNARY(atanh, std::atanh(double(x))) UNARY(erf, std::erf(double(x))) UNARY(erfc, std::erfc(double(x))) UNARY(lgamma, std::lgamma(double(x)))
  UNARY(erfinv, double(x)) UNARY(digamma, double(x)) UNARY(i0, double(x)) UNARY(i0e, double(x))
  UNARY(floor, std::floor(double(x))) UNARY(ceil, std::ceil(double(x))) UNARY(trunc, std::trunc(double(x))) UNARY(round, std::nearbyint(double(x)))
  UNARY(frac, double(x) - std::trunc(double(x))) UNARY(abs, x < T(0) ? -x : x) UNARY(neg, -x) UNARY(sgn, (T(0) < x) - (x < T(0)))
  UNARY(sigmoid, 1 / (1 + std::exp(-double(x))))
#undef UNARY
  VecMask<T, N> isnan() const {
    return test(*this, [](T x, T) { return x != x; });
  }
#define BINARY(name, expr) \
  VectorizedN name(const VectorizedN& o) const { \
    return map(o, [](T x, T y) { return expr; }); \
  }
  BINARY(pow, std::pow(double(x), double(y))) BINARY(fmod, std::fmod(double(x), double(y))) BINARY(atan2, std::atan2(double(x), double(y)))
  BINARY(hypot, std::hypot(double(x), double(y))) BINARY(copysign, std::copysign(double(x), double(y)))
  BINARY(nextafter, std::nextafter(double(x), double(y)))
#undef BINARY
  VectorizedN operator-() const { return neg(); }

  // Friends, so that a scalar on either side converts.
#define ARITH(op) \
  friend VectorizedN operator op(const VectorizedN& a, const VectorizedN& b) { \
    return a.map(b, [](T x, T y) { return x op y; }); \
  } \
  VectorizedN& operator op##=(const VectorizedN& b) { return *this = *this op b; }
  ARITH(+) ARITH(-) ARITH(*)
#undef ARITH
  friend VectorizedN operator/(const VectorizedN& a, const VectorizedN& b) {
    return a.map(b, [](T x, T y) {
      if constexpr (std::is_integral_v<T>) return y == 0 ? T(0) : T(x / y);
      else return x / y;
    });
  }
  friend VectorizedN operator%(const VectorizedN& a, const VectorizedN& b) {
    return a.map(b, [](T x, T y) { return y == 0 ? T(0) : T(x % y); });
  }
#define BITS(op) \
  friend VectorizedN operator op(const VectorizedN& a, const VectorizedN& b) { \
    return a.map(b, [](T x, T y) { return T(int64_t(x) op int64_t(y)); }); \
  }
  BITS(&) BITS(|) BITS(^) BITS(<<) BITS(>>)
#undef BITS
  VectorizedN operator~() const {
    return map([](T x) { return T(~int64_t(x)); });
  }
#define COMPARE(op) \
  friend VecMask<T, N> operator op(const VectorizedN& a, const VectorizedN& b) { \
    return a.test(b, [](T x, T y) { return x op y; }); \
  }
  COMPARE(<) COMPARE(<=) COMPARE(>) COMPARE(>=) COMPARE(==) COMPARE(!=)
#undef COMPARE
};

// A mask of as many lanes as VectorizedN<T, N>.
template <class T, int N> struct VecMask {
  static constexpr int L = VectorizedN<T, N>::L;
  std::array<bool, L> v{};

  static constexpr int size() { return L; }
  VecMask() = default;
  template <class U, int M> VecMask(const VecMask<U, M>& o) {
    for (int i = 0; i < L && i < o.size(); i++) v[i] = o.v[i];
  }
  explicit VecMask(const VectorizedN<T, N>& o) : VecMask(from(o)) {}

  static VecMask from(bool b) {
    VecMask r;
    r.v.fill(b);
    return r;
  }
  template <class U, int M> static VecMask from(const VectorizedN<U, M>& o) {
    VecMask r;
    for (int i = 0; i < L && i < o.size(); i++) r.v[i] = o.v[i] != U(0);
    return r;
  }
  template <class U, int M> static VecMask from(const VecMask<U, M>& o) { return VecMask(o); }
  template <class U> static VecMask from(const run::Ptr<U>& p, int64_t count = L) { return lanes(p, count); }
  template <class U> static VecMask from(U* p, int64_t count = L) { return lanes(p, count); }
  template <class P> static VecMask lanes(P p, int64_t count) {
    VecMask r;
    for (int i = 0; i < count && i < L; i++) r.v[i] = run::get(p, i) != 0;
    return r;
  }
  static VecMask set(const VecMask& a, const VecMask& b, int64_t count = L) {
    VecMask r = a;
    for (int i = 0; i < count && i < L; i++) r.v[i] = b.v[i];
    return r;
  }
  template <class U, int M> static VecMask blendv(const VecMask& a, const VecMask& b, const VecMask<U, M>& m) {
    VecMask r = a;
    for (int i = 0; i < L && i < m.size(); i++)
      if (m.v[i]) r.v[i] = b.v[i];
    return r;
  }
  template <class U, int M> VecMask<U, M> cast() const { return VecMask<U, M>(*this); }
  template <class U, int M> VectorizedN<U, M> to() const { return VectorizedN<U, M>(*this); }
  // Only the lanes of the mask are touched.
  template <class U, int M, class P> VectorizedN<U, M> loadu(P p) const {
    VectorizedN<U, M> r;
    for (int i = 0; i < r.size() && i < L; i++)
      if (v[i]) r.v[i] = run::get(p, i);
    return r;
  }
  template <class P> void store(P p, int64_t count = L) const {
    for (int i = 0; i < count && i < L; i++) run::put(p, i, v[i]);
  }
  bool is_masked(int i) const { return v[i]; }
  bool all_zero() const { return std::none_of(v.begin(), v.end(), [](bool b) { return b; }); }
  bool all_masked() const { return std::all_of(v.begin(), v.end(), [](bool b) { return b; }); }
  VecMask operator~() const {
    VecMask r;
    for (int i = 0; i < L; i++) r.v[i] = !v[i];
    return r;
  }
  VecMask operator!() const { return ~*this; }
};

#define LOGIC(op) \
  template <class T, int N, class U, int M> VecMask<T, N> operator op(const VecMask<T, N>& a, const VecMask<U, M>& b) { \
    VecMask<T, N> r; \
    for (int i = 0; i < r.size() && i < b.size(); i++) r.v[i] = bool(a.v[i] op b.v[i]); \
    return r; \
  }
LOGIC(&) LOGIC(|) LOGIC(^) LOGIC(&&) LOGIC(||) LOGIC(==) LOGIC(!=) LOGIC(<) LOGIC(>) LOGIC(<=) LOGIC(>=)
#undef LOGIC
// Masks take part in arithmetic as zero and one.
#define MIXED(op) \
  template <class T, int N, class U, int M> auto operator op(const VecMask<U, M>& a, const VectorizedN<T, N>& b) { \
    return VectorizedN<T, N>(a) op b; \
  } \
  template <class T, int N, class U, int M> auto operator op(const VectorizedN<T, N>& a, const VecMask<U, M>& b) { \
    return a op VectorizedN<T, N>(b); \
  }
MIXED(+) MIXED(-) MIXED(*) MIXED(&) MIXED(|) MIXED(==) MIXED(!=)
#undef MIXED

template <class T> T larger(T a, T b) { return a != a ? a : b != b ? b : a < b ? b : a; }
template <class T> T smaller(T a, T b) { return a != a ? a : b != b ? b : b < a ? b : a; }
template <class T, int N> using Vn = VectorizedN<T, N>;
#define PAIRWISE(name, expr) \
  template <class T, int N> Vn<T, N> name(const Vn<T, N>& a, const std::common_type_t<Vn<T, N>>& b) { \
    return a.map(b, [](T x, T y) { return expr; }); \
  }
PAIRWISE(maximum, larger(x, y)) PAIRWISE(minimum, smaller(x, y)) PAIRWISE(clamp_min, x < y ? y : x)
PAIRWISE(clamp_max, y < x ? y : x)
#undef PAIRWISE
template <class T, int N> Vn<T, N> clamp(const Vn<T, N>& a, const Vn<T, N>& lo, const Vn<T, N>& hi) {
  return clamp_max(clamp_min(a, lo), hi);
}
template <class T, int N> Vn<T, N> fmadd(const Vn<T, N>& a, const Vn<T, N>& b, const Vn<T, N>& c) { return a * b + c; }

// As many registers of another type (lanes that don't fit are dropped), or M registers of it.
template <class To, class From, int N> Vn<To, N> convert(const Vn<From, N>& a) {
  Vn<To, N> r;
  for (int i = 0; i < r.size() && i < a.size(); i++) r.v[i] = run::to<To>(a.v[i]);
  return r;
}
template <class To, int M, class From, int N> Vn<To, M> convert(const Vn<From, N>& a) {
  Vn<To, M> r;
  for (int i = 0; i < r.size() && i < a.size(); i++) r.v[i] = run::to<To>(a.v[i]);
  return r;
}
template <class To, class From, int N> auto convert(const VecMask<From, N>& a) { return convert<To>(Vn<From, N>(a)); }

template <class T, int N, class F, class V> T vec_reduce_all(F f, const V& a) {
  Vectorized<T> x(a.v[0]);
  for (int i = 1; i < a.size(); i++) {
    Vectorized<T> y(a.v[i]);
    x = f(x, y);
  }
  return x.v[0];
}

}  // namespace at::vec

template <class U, int M, class T, int N> at::vec::VecMask<U, M> inductor_vec_mask_cast(const at::vec::VecMask<T, N>& m) {
  return m.template cast<U, M>();
}
