// Fields of parameters that mean nothing yet.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "softgpu/api/base/call.hpp"

namespace softgpu::api {

template <std::size_t kCount>
void require_zero(const unsigned (&reserved)[kCount]) {
  require(std::all_of(std::begin(reserved), std::end(reserved), [](unsigned word) { return word == 0; }),
          CUDA_ERROR_INVALID_VALUE, "what is reserved must be zero");
}

}  // namespace softgpu::api
