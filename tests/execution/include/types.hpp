// Number types of kernels that C++ lacks: reduced floats kept as bits, arithmetic in float.
#pragma once
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace run {

inline float bits_to_float(uint32_t b) {
  float f;
  std::memcpy(&f, &b, 4);
  return f;
}
inline uint32_t float_to_bits(float f) {
  uint32_t b;
  std::memcpy(&b, &f, 4);
  return b;
}

// A float of `Exp` exponent and `Man` mantissa bits; rounds towards zero, saturates to the largest value.
template <class Bits, int Exp, int Man> struct Small {
  Bits bits = 0;
  Small() = default;
  Small(float f) {
    uint32_t b = float_to_bits(f);
    uint32_t sign = b >> 31 << (Exp + Man);
    int e = int(b >> 23 & 255) - 127 + (1 << (Exp - 1)) - 1;
    uint32_t top = ((1u << Exp) - 1) << Man;
    if (e >= (1 << Exp) - 1) bits = Bits(sign | (std::isnan(f) ? top | 1 : top));
    else if (e <= 0) bits = Bits(sign);
    else bits = Bits(sign | uint32_t(e) << Man | (b & 0x7fffff) >> (23 - Man));
  }
  operator float() const {
    uint32_t sign = uint32_t(bits) >> (Exp + Man) << 31;
    int e = int(bits >> Man) & ((1 << Exp) - 1);
    if (e == 0) return bits_to_float(sign);
    if (e == (1 << Exp) - 1) return bits_to_float(sign | 0x7f800000u);
    return bits_to_float(sign | uint32_t(e + 127 - (1 << (Exp - 1)) + 1) << 23 |
                         (uint32_t(bits) & ((1u << Man) - 1)) << (23 - Man));
  }
};
using Half = Small<uint16_t, 5, 10>;
using BFloat16 = Small<uint16_t, 8, 7>;
using Float8_e4m3fn = Small<uint8_t, 4, 3>;
using Float8_e5m2 = Small<uint8_t, 5, 2>;

template <class T> struct is_small : std::false_type {};
template <class B, int E, int M> struct is_small<Small<B, E, M>> : std::true_type {};

// Conversions of kernels; the order of integer and float steps is C++'s own.
template <class To, class From> To to(const From& v) {
  if constexpr (is_small<To>::value) return To(float(v));
  else if constexpr (is_small<From>::value) return To(float(v));
  else return static_cast<To>(v);
}

}  // namespace run

namespace std {
template <class B, int E, int M> struct numeric_limits<run::Small<B, E, M>> : numeric_limits<float> {};
}  // namespace std
