// Mipmapped arrays of external memory: what the program has in its memory is what textures and copies see.
#include <cstdint>
#include <numeric>
#include <vector>

#include "conformance/external_memory.hpp"
#include "conformance/texture.hpp"

namespace conformance {
namespace {

constexpr size_t kLevelAlignment = 512;

CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC description_of(const CUDA_ARRAY3D_DESCRIPTOR& array, unsigned levels,
                                                         size_t offset = 0) {
  CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC description{};
  description.offset = offset;
  description.arrayDesc = array;
  description.numLevels = levels;
  return description;
}

class ExternalArray : public ExternalMemfd {
 protected:
  static CUmipmappedArray mapped(CUexternalMemory external,
                                 const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC& description) {
    CUmipmappedArray array = nullptr;
    EXPECT_SUCCESS(CU(cuExternalMemoryGetMappedMipmappedArray)(&array, external, &description));
    return array;
  }
  static CUresult map(CUexternalMemory external, const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC& description) {
    CUmipmappedArray array = nullptr;
    return CU(cuExternalMemoryGetMappedMipmappedArray)(&array, external, &description);
  }
  static CUarray level(CUmipmappedArray array, unsigned index) {
    CUarray found = nullptr;
    EXPECT_SUCCESS(CU(cuMipmappedArrayGetLevel)(&found, array, index));
    return found;
  }
};

TEST_F(ExternalArray, HasItsLevelsBehindEachOther) {
  const SharedMemory memory(3 * 4096);
  std::iota(memory.data(), memory.data() + memory.bytes(), 0);
  const CUexternalMemory external = imported(memory);
  const auto shape = array_descriptor(40, 30, 0, CU_AD_FORMAT_UNSIGNED_INT8);
  const CUmipmappedArray array = mapped(external, description_of(shape, 3, 1024));
  ASSERT_SUCCESS(CU(cuDestroyExternalMemory)(external));  // what is mapped stays
  size_t offset = 1024;
  for (unsigned index = 0; index < 3; ++index) {
    const size_t width = 40u >> index, height = 30u >> index;
    const auto texels = read_array<std::uint8_t>(level(array, index), width, height, 1);
    EXPECT_EQ(texels, std::vector<std::uint8_t>(memory.data() + offset, memory.data() + offset + width * height));
    std::vector<std::uint8_t> changed(width * height, static_cast<std::uint8_t>(100 + index));
    fill_array(level(array, index), width, height, 1, changed);
    EXPECT_EQ(memory.data()[offset + width * height - 1], 100 + index);
    offset += (width * height + kLevelAlignment - 1) / kLevelAlignment * kLevelAlignment;
  }
  EXPECT_SUCCESS(CU(cuMipmappedArrayDestroy)(array));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_HANDLE, CU(cuMipmappedArrayDestroy)(array));
  EXPECT_EQ(memory.data()[1024], 100);
}

TEST_F(ExternalArray, IsReadByTexturesAndWrittenBySurfaces) {
  const SharedMemory memory(4096);
  const CUexternalMemory external = imported(memory);
  const auto shape = array_descriptor(4, 4, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SURFACE_LDST);
  const CUmipmappedArray array = mapped(external, description_of(shape, 1));
  auto* values = reinterpret_cast<float*>(memory.data());
  for (int i = 0; i < 16; ++i) values[i] = static_cast<float>(i);
  {
    const TestTexture texture(resource_of(level(array, 0)), nearest_texel());
    const auto read = sample("tex.2d.v4.f32.f32 {%r4, %r5, %r6, %r7}, [%h, {%f0, %f1}];", texture.get(),
                             {lanes(1.5f, 2.5f), lanes(3.5f, 3.5f)});
    EXPECT_EQ(read, (std::vector<float>{9, 15}));
    const TestSurface surface(level(array, 0));
    run_on_lanes("sust.b.2d.b32.trap [%h, {%r0, %r1}], %r2;", surface.get(), {{8, 1, bits(37), 0}});
    EXPECT_EQ(values[6], 37);
  }
  EXPECT_SUCCESS(CU(cuMipmappedArrayDestroy)(array));
  EXPECT_SUCCESS(CU(cuDestroyExternalMemory)(external));
}

// The last texel of the last level may be the last of the memory.
TEST_F(ExternalArray, IsInTheMemoryAsAWhole) {
  const SharedMemory memory(512 + 8 * 8);
  const CUexternalMemory external = imported(memory);
  const auto shape = array_descriptor(16, 16, 0, CU_AD_FORMAT_UNSIGNED_INT8);
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, map(external, description_of(shape, 3)));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, map(external, description_of(shape, 2, 512)));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, map(external, description_of(shape, 1, 1024)));
  const CUmipmappedArray array = mapped(external, description_of(shape, 2));
  fill_array(level(array, 1), 8, 8, 1, std::vector<std::uint8_t>(64, 7));
  EXPECT_EQ(memory.data()[511], 0);
  EXPECT_EQ(memory.data()[512], 7);
  EXPECT_EQ(memory.data()[575], 7);
  EXPECT_SUCCESS(CU(cuMipmappedArrayDestroy)(array));
  EXPECT_SUCCESS(CU(cuDestroyExternalMemory)(external));
}

TEST_F(ExternalArray, GoesWithItsContext) {
  const SharedMemory memory(4096);
  CUcontext context = nullptr;
  ASSERT_SUCCESS(CU(cuCtxCreate)(&context, nullptr, 0, device_));
  const CUexternalMemory external = imported(memory);
  const CUmipmappedArray array = mapped(external, description_of(array_descriptor(8, 8, 0), 1));
  fill_array(level(array, 0), 8, 8, 1, std::vector<float>(64, 1.0f));
  ASSERT_SUCCESS(CU(cuCtxDestroy)(context));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_HANDLE, CU(cuMipmappedArrayDestroy)(array));
  EXPECT_EQ(reinterpret_cast<const float*>(memory.data())[63], 1.0f);
}

TEST_F(ExternalArray, BadCallsAreRefused) {
  const SharedMemory memory(4096);
  const CUexternalMemory external = imported(memory);
  const auto shape = array_descriptor(8, 8, 0);
  const auto good = description_of(shape, 1);
  CUmipmappedArray array = nullptr;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuExternalMemoryGetMappedMipmappedArray)(nullptr, external, &good));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuExternalMemoryGetMappedMipmappedArray)(&array, external, nullptr));
  auto bad = good;
  bad.reserved[3] = 1;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, map(external, bad));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, map(external, description_of(shape, 1, 4)));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, map(external, description_of(array_descriptor(0, 8, 0), 1)));
  EXPECT_SUCCESS(CU(cuDestroyExternalMemory)(external));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_HANDLE, map(external, good));
}

}  // namespace
}  // namespace conformance
