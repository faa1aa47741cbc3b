#include "softgpu/texture/blend.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace softgpu::texture {
namespace {

struct Sum {
  std::int64_t value = 0;
  std::int32_t exponent = std::numeric_limits<std::int32_t>::min();
};

constexpr int kWordBits = 63;

// Mantissas lose what is below the last guard bit of the largest exponent, whatever the sign.
Sum sum_of_group(std::span<const Scaled> values, std::span<const std::int32_t> weights, int guard_bits) {
  Sum sum;
  for (const Scaled& value : values) sum.exponent = std::max(sum.exponent, value.exponent);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::int64_t mantissa = std::int64_t{values[i].mantissa} * (1 << guard_bits);
    const std::int64_t divisor = std::int64_t{1} << std::min(sum.exponent - values[i].exponent, kWordBits - 1);
    sum.value += mantissa / divisor * weights[i];
  }
  sum.exponent -= guard_bits + kWeightBits;
  return sum;
}

// Half away from zero.
double rounded(std::int64_t value, int exponent, Precision precision) {
  const auto magnitude = static_cast<std::uint64_t>(std::abs(value));
  const int surplus =
      std::max(static_cast<int>(std::bit_width(magnitude)) - precision.bits, precision.lowest - exponent);
  if (surplus <= 0) return std::ldexp(static_cast<double>(value), exponent);
  if (surplus > kWordBits) return 0;
  const std::uint64_t kept = (magnitude + (std::uint64_t{1} << (surplus - 1))) >> surplus;
  return std::copysign(std::ldexp(static_cast<double>(kept), exponent + surplus), static_cast<double>(value));
}

}  // namespace

double blend_scaled(const Corners& corners, std::span<const Scaled> values, GuardBits guard, Precision precision) {
  std::array<Sum, Corners::kGroups> sums;
  std::int32_t exponent = std::numeric_limits<std::int32_t>::min();
  unsigned first = 0;
  for (unsigned group = 0; group < corners.groups; ++group) {
    const unsigned count = corners.ends[group] - first;
    sums[group] = sum_of_group(values.subspan(first, count), std::span(corners.weights).subspan(first, count),
                               static_cast<int>(guard));
    exponent = std::max(exponent, sums[group].exponent);
    first = corners.ends[group];
  }
  // Groups are aligned with one bit more, and towards minus infinity.
  std::int64_t total = 0;
  for (unsigned group = 0; group < corners.groups; ++group)
    total += sums[group].value * 2 >> std::min(exponent - sums[group].exponent, kWordBits);
  return rounded(total, exponent - 1, precision);
}

}  // namespace softgpu::texture
