// The sides of two- and three-dimensional copies.
#pragma once

#include <array>

#include "softgpu/api/base/call.hpp"
#include "softgpu/runtime/memory/memory_operations.hpp"

namespace softgpu::api {

struct Place {
  std::byte* first = nullptr;
  std::size_t pitch = 0, slice = 0;
  runtime::Side side = runtime::Side::any;
};

inline void set_target(runtime::Copy& copy, const Place& place) {
  copy.target = place.first;
  copy.target_pitch = place.pitch;
  copy.target_slice = place.slice;
  copy.target_side = place.side;
}
inline void set_source(runtime::Copy& copy, const Place& place) {
  copy.source = place.first;
  copy.source_pitch = place.pitch;
  copy.source_slice = place.slice;
  copy.source_side = place.side;
}

// Where a copy's extents are in an array, from an offset in bytes, rows and slices on. Throws CUDA_ERROR_INVALID_HANDLE
// for what is no array and CUDA_ERROR_INVALID_VALUE for what is not inside it or cuts texels in two.
Place place_in_array(CUarray array, const std::array<std::size_t, 3>& offset, const runtime::Copy& copy);

}  // namespace softgpu::api
