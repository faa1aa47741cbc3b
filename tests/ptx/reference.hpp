// What instructions compute, on the host.
#pragma once

#include <cfenv>
#include <string>

#include "ptx/values.hpp"

namespace ptx_test {

// The rounding modes of PTX.
struct Rounding {
  const char* suffix;
  int mode;  // for fesetround
};
inline constexpr Rounding kRoundings[] = {
    {".rn", FE_TONEAREST}, {".rz", FE_TOWARDZERO}, {".rm", FE_DOWNWARD}, {".rp", FE_UPWARD}};
inline constexpr Rounding kNearest = kRoundings[0];

// What `compute` gives when it rounds this way.
template <typename Compute>
auto rounded(Rounding rounding, Compute compute) {
  std::fesetround(rounding.mode);
  const volatile auto result = compute();
  std::fesetround(FE_TONEAREST);
  return static_cast<std::remove_cvref_t<decltype(compute())>>(result);
}

// .ftz: subnormal numbers become zeros of their sign.
float flush(float value);
// .sat: to [0, 1], and NaN to 0.
template <typename T>
T saturate(T value) {
  return value > T(0) ? value < T(1) ? value : T(1) : T(0);
}

double to_double(Half value);
double to_double(BFloat value);
Half to_half(double value, Rounding rounding = kNearest);
BFloat to_bfloat(double value, Rounding rounding = kNearest);
template <typename T>
T from_double(double value, Rounding rounding = kNearest) {
  if constexpr (std::is_same_v<T, Half>)
    return to_half(value, rounding);
  else if constexpr (std::is_same_v<T, BFloat>)
    return to_bfloat(value, rounding);
  else
    return rounded(rounding, [&] {
      const volatile double exact = value;
      return static_cast<T>(exact);
    });
}

// a + b, and when that is not exact a neighbour whose last bit is 1: rounding it again to fewer bits gives what
// rounding the exact sum gives.
double add_to_odd(double a, double b);

}  // namespace ptx_test
