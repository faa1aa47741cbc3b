#include "softgpu/api/memory/array_places.hpp"

#include "softgpu/runtime/memory/array.hpp"

namespace softgpu::api {

Place place_in_array(CUarray handle, const std::array<std::size_t, 3>& offset, const runtime::Copy& copy) {
  const auto array = find(Driver::get().memory().arrays, handle, "not an array, or one that was destroyed");
  const texture::Level& level = array->image().levels[0];
  const auto [x, y, z] = offset;
  const auto inside = [](std::size_t from, std::size_t count, std::size_t size) {
    return from <= size && count <= size - from;
  };
  require(
      inside(x, copy.width, level.pitch) && inside(y, copy.height, level.height) && inside(z, copy.depth, level.slices),
      CUDA_ERROR_INVALID_VALUE, "the copy reaches beyond the array");
  const unsigned texel = array->image().format.bytes();
  require(x % texel == 0 && copy.width % texel == 0, CUDA_ERROR_INVALID_VALUE,
          "the copy starts or ends inside a texel of the array");
  return {level.row(static_cast<std::uint32_t>(y), static_cast<std::uint32_t>(z)) + x, level.pitch, level.slice_bytes,
          runtime::Side::device};
}

}  // namespace softgpu::api
