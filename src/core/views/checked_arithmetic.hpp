// Arithmetic on sizes and offsets that can't wrap.
#pragma once

#include <cstdint>
#include <cuprum/error.hpp>
#include <ostream>
#include <span>

#include "support/text.hpp"

namespace cuprum::core {

/// Names the volume of a shape; written when it is printed, which is hardly ever.
struct VolumeOf {
  std::span<const std::int64_t> shape;
  friend std::ostream& operator<<(std::ostream& out, const VolumeOf& volume) {
    return out << "the volume of shape (" << support::join(volume.shape) << ")";
  }
};

/// `what` names the result in the message: "the stride of axis 2".
inline std::int64_t checked_product(std::int64_t a, std::int64_t b, const auto&... what) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result))
    throw InvalidArgument(support::text(what..., " does not fit into 64 bits: ", a, " * ", b));
  return result;
}

inline std::int64_t checked_sum(std::int64_t a, std::int64_t b, const auto&... what) {
  std::int64_t result = 0;
  if (__builtin_add_overflow(a, b, &result))
    throw InvalidArgument(support::text(what..., " does not fit into 64 bits: ", a, " + ", b));
  return result;
}

}  // namespace cuprum::core
