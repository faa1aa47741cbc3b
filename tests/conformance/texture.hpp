// Arrays, textures and surfaces for tests, and kernels that use them.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "conformance/driver.hpp"

namespace conformance {

inline CUDA_ARRAY3D_DESCRIPTOR array_descriptor(std::size_t width, std::size_t height, std::size_t depth,
                                                CUarray_format format = CU_AD_FORMAT_FLOAT, unsigned channels = 1,
                                                unsigned flags = 0) {
  return {.Width = width, .Height = height, .Depth = depth, .Format = format, .NumChannels = channels, .Flags = flags};
}

class TestArray {
 public:
  explicit TestArray(const CUDA_ARRAY3D_DESCRIPTOR& descriptor) {
    EXPECT_SUCCESS(CU(cuArray3DCreate)(&array_, &descriptor));
  }
  ~TestArray() { CU(cuArrayDestroy)(array_); }
  TestArray(const TestArray&) = delete;
  TestArray& operator=(const TestArray&) = delete;
  CUarray get() const { return array_; }

 private:
  CUarray array_ = nullptr;
};

// Between an array as a whole and rows in host memory; an axis that the array does not have counts as 1.
inline CUDA_MEMCPY3D whole_array(CUarray array, std::size_t row_bytes, std::size_t rows, std::size_t slices, void* host,
                                 bool to_array) {
  CUDA_MEMCPY3D copy{};
  copy.WidthInBytes = row_bytes;
  copy.Height = rows;
  copy.Depth = slices;
  (to_array ? copy.srcMemoryType : copy.dstMemoryType) = CU_MEMORYTYPE_HOST;
  (to_array ? copy.dstMemoryType : copy.srcMemoryType) = CU_MEMORYTYPE_ARRAY;
  (to_array ? copy.dstArray : copy.srcArray) = array;
  if (to_array)
    copy.srcHost = host;
  else
    copy.dstHost = host;
  (to_array ? copy.srcPitch : copy.dstPitch) = row_bytes;
  (to_array ? copy.srcHeight : copy.dstHeight) = rows;
  return copy;
}

template <typename T>
void fill_array(CUarray array, std::size_t values_per_row, std::size_t rows, std::size_t slices,
                std::vector<T> values) {
  ASSERT_EQ(values.size(), values_per_row * rows * slices);
  const CUDA_MEMCPY3D copy = whole_array(array, values_per_row * sizeof(T), rows, slices, values.data(), true);
  ASSERT_SUCCESS(CU(cuMemcpy3D)(&copy));
}

template <typename T>
std::vector<T> read_array(CUarray array, std::size_t values_per_row, std::size_t rows, std::size_t slices) {
  std::vector<T> values(values_per_row * rows * slices);
  const CUDA_MEMCPY3D copy = whole_array(array, values_per_row * sizeof(T), rows, slices, values.data(), false);
  EXPECT_SUCCESS(CU(cuMemcpy3D)(&copy));
  return values;
}

inline CUDA_RESOURCE_DESC resource_of(CUarray array) {
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = array;
  return resource;
}

// Clamped coordinates in texels, the nearest texel, its elements as they are.
inline CUDA_TEXTURE_DESC nearest_texel() {
  CUDA_TEXTURE_DESC sampling{};
  for (CUaddress_mode& mode : sampling.addressMode) mode = CU_TR_ADDRESS_MODE_CLAMP;
  sampling.flags = CU_TRSF_READ_AS_INTEGER;
  return sampling;
}
inline CUDA_TEXTURE_DESC linear_filter() {
  CUDA_TEXTURE_DESC sampling = nearest_texel();
  sampling.filterMode = CU_TR_FILTER_MODE_LINEAR;
  return sampling;
}

class TestTexture {
 public:
  TestTexture(const CUDA_RESOURCE_DESC& resource, const CUDA_TEXTURE_DESC& sampling,
              const CUDA_RESOURCE_VIEW_DESC* view = nullptr) {
    EXPECT_SUCCESS(CU(cuTexObjectCreate)(&texture_, &resource, &sampling, view));
  }
  ~TestTexture() { CU(cuTexObjectDestroy)(texture_); }
  TestTexture(const TestTexture&) = delete;
  TestTexture& operator=(const TestTexture&) = delete;
  CUtexObject get() const { return texture_; }

 private:
  CUtexObject texture_ = 0;
};

class TestSurface {
 public:
  explicit TestSurface(CUarray array) {
    const CUDA_RESOURCE_DESC resource = resource_of(array);
    EXPECT_SUCCESS(CU(cuSurfObjectCreate)(&surface_, &resource));
  }
  ~TestSurface() { CU(cuSurfObjectDestroy)(surface_); }
  TestSurface(const TestSurface&) = delete;
  TestSurface& operator=(const TestSurface&) = delete;
  CUsurfObject get() const { return surface_; }

 private:
  CUsurfObject surface_ = 0;
};

using Lanes = std::array<std::uint32_t, 4>;
inline std::uint32_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }
inline float as_float(std::uint32_t word) { return std::bit_cast<float>(word); }
inline Lanes lanes(float x, float y = 0, float z = 0, float w = 0) { return {bits(x), bits(y), bits(z), bits(w)}; }

// Every thread runs a piece of PTX on its four 32-bit inputs: %f0 … %f3, or the same bits as %r0 … %r3. %h is the
// handle. What it leaves in %r4 … %r7 is the thread's result.
std::vector<Lanes> run_on_lanes(const std::string& ptx, std::uint64_t handle, const std::vector<Lanes>& inputs);

// The first channel that a piece of PTX reads into %r4 … %r7, as a float.
std::vector<float> sample(const std::string& ptx, CUtexObject texture, const std::vector<Lanes>& inputs);

}  // namespace conformance
