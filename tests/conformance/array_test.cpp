// CUDA arrays: what they are made of, and copies from and to them.
#include <numeric>

#include "conformance/texture.hpp"

namespace conformance {
namespace {

using Array = DriverTest;

std::vector<std::uint8_t> numbers(std::size_t count) {
  std::vector<std::uint8_t> values(count);
  std::iota(values.begin(), values.end(), static_cast<std::uint8_t>(1));
  return values;
}

TEST_F(Array, KeepsItsDescriptor) {
  const auto asked = array_descriptor(20, 10, 4, CU_AD_FORMAT_UNSIGNED_INT16, 2, CUDA_ARRAY3D_SURFACE_LDST);
  const TestArray array(asked);
  CUDA_ARRAY3D_DESCRIPTOR full{};
  ASSERT_SUCCESS(CU(cuArray3DGetDescriptor)(&full, array.get()));
  EXPECT_EQ(full.Width, 20u);
  EXPECT_EQ(full.Height, 10u);
  EXPECT_EQ(full.Depth, 4u);
  EXPECT_EQ(full.Format, CU_AD_FORMAT_UNSIGNED_INT16);
  EXPECT_EQ(full.NumChannels, 2u);
  EXPECT_EQ(full.Flags, unsigned{CUDA_ARRAY3D_SURFACE_LDST});
}

TEST_F(Array, OfTwoDimensionsHasAShorterDescriptorToo) {
  const CUDA_ARRAY_DESCRIPTOR asked{.Width = 7, .Height = 3, .Format = CU_AD_FORMAT_HALF, .NumChannels = 4};
  CUarray array = nullptr;
  ASSERT_SUCCESS(CU(cuArrayCreate)(&array, &asked));
  CUDA_ARRAY_DESCRIPTOR found{};
  EXPECT_SUCCESS(CU(cuArrayGetDescriptor)(&found, array));
  EXPECT_EQ(found.Width, 7u);
  EXPECT_EQ(found.Height, 3u);
  EXPECT_EQ(found.Format, CU_AD_FORMAT_HALF);
  EXPECT_EQ(found.NumChannels, 4u);
  EXPECT_SUCCESS(CU(cuArrayDestroy)(array));
}

TEST_F(Array, RefusesWhatIsNoArray) {
  const auto refused = [](const CUDA_ARRAY3D_DESCRIPTOR& descriptor) {
    CUarray array = nullptr;
    return CU(cuArray3DCreate)(&array, &descriptor);
  };
  const auto format = CU_AD_FORMAT_FLOAT;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, refused(array_descriptor(0, 0, 0)));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, refused(array_descriptor(8, 8, 0, format, 3)));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, refused(array_descriptor(8, 0, 8)));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, refused(array_descriptor(8, 4, 6, format, 1, CUDA_ARRAY3D_CUBEMAP)));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, refused(array_descriptor(8, 8, 5, format, 1, CUDA_ARRAY3D_CUBEMAP)));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, refused(array_descriptor(8, 8, 0, static_cast<CUarray_format>(0x77))));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, refused(array_descriptor(std::size_t{1} << 20, 8, 0)));
}

TEST_F(Array, RefusesSurfacesAndLevelsThatAreTooLarge) {
  const auto limit = [&](CUdevice_attribute attribute) {
    int value = 0;
    EXPECT_SUCCESS(CU(cuDeviceGetAttribute)(&value, attribute, 0));
    return static_cast<std::size_t>(value);
  };
  const std::size_t line = limit(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH);
  if (const std::size_t width = limit(CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_WIDTH) + 1; width <= line) {
    const auto descriptor = [&](unsigned flags) {
      return array_descriptor(width, 0, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, flags);
    };
    CUarray array = nullptr;
    const auto surface = descriptor(CUDA_ARRAY3D_SURFACE_LDST), texture = descriptor(0);
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuArray3DCreate)(&array, &surface));
    ASSERT_SUCCESS(CU(cuArray3DCreate)(&array, &texture));
    EXPECT_SUCCESS(CU(cuArrayDestroy)(array));
  }
  const std::size_t width = limit(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH) + 1;
  const auto descriptor = array_descriptor(width, 0, 0, CU_AD_FORMAT_UNSIGNED_INT8);
  CUmipmappedArray array = nullptr;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMipmappedArrayCreate)(&array, &descriptor, 2));
}

TEST_F(Array, MipmappedHasAtLeastOneLevelAndNoneBelowASingleTexel) {
  const auto descriptor = array_descriptor(16, 12, 0, CU_AD_FORMAT_UNSIGNED_INT8);
  for (const auto& [asked, there] : {std::pair(0u, 1u), std::pair(40u, 5u)}) {
    CUmipmappedArray array = nullptr;
    ASSERT_SUCCESS(CU(cuMipmappedArrayCreate)(&array, &descriptor, asked));
    CUarray level = nullptr;
    EXPECT_SUCCESS(CU(cuMipmappedArrayGetLevel)(&level, array, there - 1));
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMipmappedArrayGetLevel)(&level, array, there));
    EXPECT_SUCCESS(CU(cuMipmappedArrayDestroy)(array));
  }
}

TEST_F(Array, TakesRowsFromTheHostAndGivesThemBack) {
  const TestArray array(array_descriptor(5, 3, 2, CU_AD_FORMAT_UNSIGNED_INT8, 4));
  fill_array(array.get(), 20, 3, 2, numbers(120));
  EXPECT_EQ(read_array<std::uint8_t>(array.get(), 20, 3, 2), numbers(120));
}

TEST_F(Array, CopiesAPartToAPlaceInsideAnother) {
  const TestArray from(array_descriptor(8, 8, 0, CU_AD_FORMAT_UNSIGNED_INT8));
  const TestArray to(array_descriptor(8, 8, 0, CU_AD_FORMAT_UNSIGNED_INT8));
  fill_array(from.get(), 8, 8, 1, numbers(64));
  fill_array(to.get(), 8, 8, 1, std::vector<std::uint8_t>(64));
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.srcArray = from.get();
  copy.dstArray = to.get();
  copy.srcXInBytes = 1;
  copy.srcY = 2;
  copy.dstXInBytes = 4;
  copy.dstY = 5;
  copy.WidthInBytes = 3;
  copy.Height = 2;
  ASSERT_SUCCESS(CU(cuMemcpy2D)(&copy));
  const auto result = read_array<std::uint8_t>(to.get(), 8, 8, 1);
  for (std::size_t y = 0; y < 8; ++y)
    for (std::size_t x = 0; x < 8; ++x) {
      const bool inside = x >= 4 && x < 7 && y >= 5 && y < 7;
      EXPECT_EQ(result[8 * y + x], inside ? 8 * (y - 3) + (x - 3) + 1 : 0) << x << ", " << y;
    }
}

TEST_F(Array, CopiesInAStreamFromDeviceMemory) {
  const TestArray array(array_descriptor(16, 4, 0, CU_AD_FORMAT_UNSIGNED_INT8));
  const DeviceMemory memory(64);
  const auto in = numbers(64);
  ASSERT_SUCCESS(CU(cuMemcpyHtoD)(memory.get(), in.data(), 64));
  const TestStream stream;
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = memory.get();
  copy.srcPitch = 16;
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.dstArray = array.get();
  copy.WidthInBytes = 16;
  copy.Height = 4;
  ASSERT_SUCCESS(CU(cuMemcpy2DAsync)(&copy, stream.get()));
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  EXPECT_EQ(read_array<std::uint8_t>(array.get(), 16, 4, 1), in);
}

TEST_F(Array, CopiesBytesOfALine) {
  const TestArray first(array_descriptor(64, 0, 0, CU_AD_FORMAT_UNSIGNED_INT8));
  const TestArray second(array_descriptor(64, 0, 0, CU_AD_FORMAT_UNSIGNED_INT8));
  const DeviceMemory memory(64);
  const auto in = numbers(64);
  std::vector<std::uint8_t> out(64);
  ASSERT_SUCCESS(CU(cuMemcpyHtoA)(first.get(), 0, in.data(), 64));
  ASSERT_SUCCESS(CU(cuMemcpyAtoD)(memory.get(), first.get(), 0, 64));
  ASSERT_SUCCESS(CU(cuMemcpyDtoA)(second.get(), 0, memory.get(), 64));
  ASSERT_SUCCESS(CU(cuMemcpyAtoA)(second.get(), 32, first.get(), 0, 16));
  ASSERT_SUCCESS(CU(cuMemcpyAtoH)(out.data(), second.get(), 0, 64));
  for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ(out[i], i >= 32 && i < 48 ? i - 31 : i + 1) << i;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpyAtoH)(out.data(), first.get(), 32, 64));
}

TEST_F(Array, RefusesCopiesBeyondItsEdges) {
  const TestArray array(array_descriptor(8, 4, 0, CU_AD_FORMAT_FLOAT));
  std::vector<float> host(64);
  const auto copied = [&](std::size_t x, std::size_t y, std::size_t width, std::size_t height) {
    CUDA_MEMCPY3D copy = whole_array(array.get(), 32, 4, 1, host.data(), true);
    copy.dstXInBytes = x;
    copy.dstY = y;
    copy.WidthInBytes = width;
    copy.Height = height;
    return CU(cuMemcpy3D)(&copy);
  };
  EXPECT_SUCCESS(copied(0, 0, 32, 4));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, copied(4, 0, 32, 4));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, copied(0, 1, 32, 4));
}

TEST_F(Array, MipmappedHasLevelsOfHalfTheSize) {
  const auto descriptor = array_descriptor(16, 12, 0, CU_AD_FORMAT_UNSIGNED_INT8);
  CUmipmappedArray array = nullptr;
  ASSERT_SUCCESS(CU(cuMipmappedArrayCreate)(&array, &descriptor, 3));
  for (unsigned level = 0; level < 3; ++level) {
    CUarray plane = nullptr;
    ASSERT_SUCCESS(CU(cuMipmappedArrayGetLevel)(&plane, array, level));
    CUDA_ARRAY3D_DESCRIPTOR found{};
    ASSERT_SUCCESS(CU(cuArray3DGetDescriptor)(&found, plane));
    EXPECT_EQ(found.Width, 16u >> level);
    EXPECT_EQ(found.Height, 12u >> level);
    const std::size_t width = found.Width, height = found.Height;
    fill_array(plane, width, height, 1, numbers(width * height));
    EXPECT_EQ(read_array<std::uint8_t>(plane, width, height, 1), numbers(width * height));
  }
  CUarray none = nullptr;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMipmappedArrayGetLevel)(&none, array, 3));
  EXPECT_SUCCESS(CU(cuMipmappedArrayDestroy)(array));
}

TEST_F(Array, CountsAsMemoryInUse) {
  if (!is_softgpu()) GTEST_SKIP() << "other processes change how much memory a GPU has free";
  const std::size_t bytes = std::size_t{64} << 20;
  std::size_t before = 0, during = 0, total = 0;
  ASSERT_SUCCESS(CU(cuMemGetInfo)(&before, &total));
  {
    const TestArray array(array_descriptor(4096, 4096, 0, CU_AD_FORMAT_FLOAT));
    ASSERT_SUCCESS(CU(cuMemGetInfo)(&during, &total));
  }
  EXPECT_LE(during + bytes, before);
}

TEST_F(Array, WithMemoryOfItsOwnHasNoRequirements) {
  const TestArray array(array_descriptor(8, 8, 0));
  CUDA_ARRAY_MEMORY_REQUIREMENTS requirements{};
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuArrayGetMemoryRequirements)(&requirements, array.get(), device_));
  CUDA_ARRAY_SPARSE_PROPERTIES properties{};
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuArrayGetSparseProperties)(&properties, array.get()));
}

}  // namespace
}  // namespace conformance
