// Arithmetic with sizes that programs give: what does not fit 64 bits is refused, because a size that wrapped around
// would pass every check of a range.
#pragma once

#include <cstddef>

#include "softgpu/runtime/base/error.hpp"

namespace softgpu::runtime {

// Throw CUDA_ERROR_INVALID_VALUE.
inline std::size_t checked_sum(std::size_t a, std::size_t b) {
  std::size_t sum = 0;
  require(!__builtin_add_overflow(a, b, &sum), CUDA_ERROR_INVALID_VALUE, "a size or offset beyond 64 bits");
  return sum;
}

inline std::size_t checked_product(std::size_t a, std::size_t b) {
  std::size_t product = 0;
  require(!__builtin_mul_overflow(a, b, &product), CUDA_ERROR_INVALID_VALUE, "a size or offset beyond 64 bits");
  return product;
}

}  // namespace softgpu::runtime
