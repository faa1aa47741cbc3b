// Copies and sets of rows and volumes.
#include <numeric>
#include <vector>

#include "conformance/driver.hpp"
#include "conformance/gate.hpp"

namespace conformance {
namespace {

std::vector<std::uint8_t> numbers(std::size_t count) {
  std::vector<std::uint8_t> values(count);
  std::iota(values.begin(), values.end(), static_cast<std::uint8_t>(1));
  return values;
}

// A plane of 8 rows of 16 bytes on either side; the copy takes 4 bytes of 3 rows.
class Copy2D : public DriverTest {
 protected:
  static constexpr std::size_t kPitch = 16, kRows = 8, kBytes = kPitch * kRows;

  static CUDA_MEMCPY2D request() {
    CUDA_MEMCPY2D copy{};
    copy.srcPitch = copy.dstPitch = kPitch;
    copy.WidthInBytes = 4;
    copy.Height = 3;
    return copy;
  }
  static void from_host(CUDA_MEMCPY2D& copy, const void* host) {
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = host;
  }
  static void to_device(CUDA_MEMCPY2D& copy, CUdeviceptr device) {
    copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = device;
  }
  std::vector<std::uint8_t> read(const DeviceMemory& memory) {
    std::vector<std::uint8_t> bytes(kBytes);
    EXPECT_SUCCESS(CU(cuMemcpyDtoH)(bytes.data(), memory.get(), kBytes));
    return bytes;
  }
  void clear(const DeviceMemory& memory) { EXPECT_SUCCESS(CU(cuMemsetD8)(memory.get(), 0, kBytes)); }
};

TEST_F(Copy2D, StartsAtItsOffsets) {
  const auto in = numbers(kBytes);
  const DeviceMemory memory(kBytes);
  clear(memory);
  CUDA_MEMCPY2D copy = request();
  from_host(copy, in.data());
  to_device(copy, memory.get());
  copy.srcXInBytes = 2;
  copy.srcY = 1;
  copy.dstXInBytes = 5;
  copy.dstY = 2;
  ASSERT_SUCCESS(CU(cuMemcpy2D)(&copy));
  const auto out = read(memory);
  for (std::size_t y = 0; y < kRows; ++y)
    for (std::size_t x = 0; x < kPitch; ++x) {
      const bool inside = y >= 2 && y < 5 && x >= 5 && x < 9;
      ASSERT_EQ(out[y * kPitch + x], inside ? in[(y - 1) * kPitch + x - 3] : 0) << x << ", " << y;
    }
}

TEST_F(Copy2D, UnifiedMemoryTypeFindsOutWhereMemoryIs) {
  auto in = numbers(kBytes);
  const DeviceMemory memory(kBytes);
  clear(memory);
  CUDA_MEMCPY2D copy = request();
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  copy.srcDevice = reinterpret_cast<CUdeviceptr>(in.data());
  copy.dstDevice = memory.get();
  ASSERT_SUCCESS(CU(cuMemcpy2D)(&copy));
  EXPECT_EQ(read(memory)[2 * kPitch + 3], in[2 * kPitch + 3]);
}

TEST_F(Copy2D, BetweenDevicePlanesOfDifferentPitch) {
  const auto in = numbers(kBytes);
  const DeviceMemory a(kBytes), b(kBytes);
  clear(b);
  ASSERT_SUCCESS(CU(cuMemcpyHtoD)(a.get(), in.data(), kBytes));
  CUDA_MEMCPY2D copy = request();
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = a.get();
  to_device(copy, b.get());
  copy.dstPitch = 4;
  ASSERT_SUCCESS(CU(cuMemcpy2D)(&copy));
  const auto out = read(b);
  for (std::size_t i = 0; i < 12; ++i) ASSERT_EQ(out[i], in[i / 4 * kPitch + i % 4]);
}

TEST_F(Copy2D, UnalignedFormDoesTheSame) {
  const auto in = numbers(kBytes);
  const DeviceMemory memory(kBytes);
  clear(memory);
  CUDA_MEMCPY2D copy = request();
  from_host(copy, in.data());
  to_device(copy, memory.get());
  copy.srcXInBytes = 3;
  ASSERT_SUCCESS(CU(cuMemcpy2DUnaligned)(&copy));
  EXPECT_EQ(read(memory)[0], in[3]);
}

TEST_F(Copy2D, OfNothingDoesNothing) {
  const DeviceMemory memory(kBytes);
  const auto in = numbers(kBytes);
  CUDA_MEMCPY2D copy = request();
  from_host(copy, in.data());
  to_device(copy, memory.get());
  copy.Height = 0;
  EXPECT_SUCCESS(CU(cuMemcpy2D)(&copy));
  copy.Height = 3;
  copy.WidthInBytes = 0;
  EXPECT_SUCCESS(CU(cuMemcpy2D)(&copy));
}

TEST_F(Copy2D, RowsHaveToFitIntoThePitch) {
  const DeviceMemory memory(kBytes);
  const auto in = numbers(kBytes);
  CUDA_MEMCPY2D copy = request();
  from_host(copy, in.data());
  to_device(copy, memory.get());
  copy.dstPitch = 3;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpy2D)(&copy));
  copy = request();
  from_host(copy, in.data());
  to_device(copy, memory.get());
  copy.dstXInBytes = 14;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpy2D)(&copy));
}

TEST_F(Copy2D, PitchHasALimit) {
  const DeviceMemory memory(kBytes);
  const auto in = numbers(kBytes);
  int limit = 0;
  ASSERT_SUCCESS(CU(cuDeviceGetAttribute)(&limit, CU_DEVICE_ATTRIBUTE_MAX_PITCH, device_));
  CUDA_MEMCPY2D copy = request();
  from_host(copy, in.data());
  to_device(copy, memory.get());
  copy.dstPitch = static_cast<std::size_t>(limit) + 1;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpy2D)(&copy));
}

TEST_F(Copy2D, BeyondTheAllocationFails) {
  const DeviceMemory memory(kBytes);
  std::vector<std::uint8_t> in(std::size_t{16} << 20);
  CUDA_MEMCPY2D copy = request();
  from_host(copy, in.data());
  to_device(copy, memory.get());
  copy.srcPitch = copy.dstPitch = std::size_t{4} << 20;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpy2D)(&copy));
}

TEST_F(Copy2D, AsynchronousFormTakesItsTurn) {
  const TestStream stream(CU_STREAM_NON_BLOCKING);
  const PinnedMemory<std::uint8_t> in(kBytes);
  const DeviceMemory memory(kBytes);
  clear(memory);
  ASSERT_SUCCESS(CU(cuCtxSynchronize)());
  {
    Gate gate(stream.get());
    CUDA_MEMCPY2D copy = request();
    from_host(copy, in.data());
    to_device(copy, memory.get());
    ASSERT_SUCCESS(CU(cuMemcpy2DAsync)(&copy, stream.get()));
    std::fill(in.data(), in.data() + kBytes, static_cast<std::uint8_t>(9));  // read when it is the copy's turn
  }
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  EXPECT_EQ(read(memory)[kPitch], 9);
}

class Copy3D : public DriverTest {
 protected:
  static constexpr std::size_t kPitch = 16, kRows = 4, kSlices = 3, kBytes = kPitch * kRows * kSlices;

  CUDA_MEMCPY3D request(const void* host, CUdeviceptr device) {
    CUDA_MEMCPY3D copy{};
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = host;
    copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = device;
    copy.srcPitch = copy.dstPitch = kPitch;
    copy.srcHeight = copy.dstHeight = kRows;
    copy.WidthInBytes = 4;
    copy.Height = 2;
    copy.Depth = 2;
    return copy;
  }
};

TEST_F(Copy3D, StartsAtItsOffsets) {
  const auto in = numbers(kBytes);
  std::vector<std::uint8_t> out(kBytes);
  const DeviceMemory memory(kBytes);
  ASSERT_SUCCESS(CU(cuMemsetD8)(memory.get(), 0, kBytes));
  CUDA_MEMCPY3D copy = request(in.data(), memory.get());
  copy.srcXInBytes = 1;
  copy.srcY = 1;
  copy.srcZ = 1;
  copy.dstXInBytes = 8;
  copy.dstY = 2;
  ASSERT_SUCCESS(CU(cuMemcpy3D)(&copy));
  ASSERT_SUCCESS(CU(cuMemcpyDtoH)(out.data(), memory.get(), kBytes));
  for (std::size_t z = 0; z < kSlices; ++z)
    for (std::size_t y = 0; y < kRows; ++y)
      for (std::size_t x = 0; x < kPitch; ++x) {
        const bool inside = z < 2 && y >= 2 && x >= 8 && x < 12;
        const std::size_t from = (z + 1) * kPitch * kRows + (y - 1) * kPitch + x - 7;
        ASSERT_EQ(out[(z * kRows + y) * kPitch + x], inside ? in[from] : 0) << x << ", " << y << ", " << z;
      }
}

TEST_F(Copy3D, SlicesHaveToFitIntoTheHeight) {
  const auto in = numbers(kBytes);
  const DeviceMemory memory(kBytes);
  CUDA_MEMCPY3D copy = request(in.data(), memory.get());
  copy.srcY = 3;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpy3D)(&copy));
  copy = request(in.data(), memory.get());
  copy.dstXInBytes = 13;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpy3D)(&copy));
}

TEST_F(Copy3D, OfNothingDoesNothing) {
  const auto in = numbers(kBytes);
  const DeviceMemory memory(kBytes);
  CUDA_MEMCPY3D copy = request(in.data(), memory.get());
  copy.Depth = 0;
  EXPECT_SUCCESS(CU(cuMemcpy3D)(&copy));
}

TEST_F(Copy3D, AsynchronousFormTakesItsTurn) {
  const TestStream stream(CU_STREAM_NON_BLOCKING);
  const PinnedMemory<std::uint8_t> in(kBytes), out(kBytes);
  const DeviceMemory memory(kBytes);
  {
    Gate gate(stream.get());
    ASSERT_SUCCESS(CU(cuMemsetD8Async)(memory.get(), 0, kBytes, stream.get()));
    CUDA_MEMCPY3D copy = request(in.data(), memory.get());
    ASSERT_SUCCESS(CU(cuMemcpy3DAsync)(&copy, stream.get()));
    ASSERT_SUCCESS(CU(cuMemcpyDtoHAsync)(out.data(), memory.get(), kBytes, stream.get()));
    std::fill(in.data(), in.data() + kBytes, static_cast<std::uint8_t>(9));
  }
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  EXPECT_EQ(out[kPitch * kRows + kPitch], 9);
}

TEST_F(Copy3D, PeerFormWorksWithinAContext) {
  const auto in = numbers(kBytes);
  std::uint8_t last = 0;
  const DeviceMemory memory(kBytes);
  CUDA_MEMCPY3D_PEER copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = in.data();
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = memory.get();
  copy.srcContext = copy.dstContext = context_;
  copy.srcPitch = copy.dstPitch = kPitch;
  copy.srcHeight = copy.dstHeight = kRows;
  copy.WidthInBytes = kPitch;
  copy.Height = kRows;
  copy.Depth = kSlices;
  ASSERT_SUCCESS(CU(cuMemcpy3DPeer)(&copy));
  ASSERT_SUCCESS(CU(cuMemcpyDtoH)(&last, memory.get() + kBytes - 1, 1));
  EXPECT_EQ(last, in.back());
}

class Set2D : public DriverTest {};

TEST_F(Set2D, OfAllElementSizes) {
  constexpr std::size_t kPitch = 16;
  const DeviceMemory memory(64);
  std::vector<std::uint8_t> bytes(64);
  ASSERT_SUCCESS(CU(cuMemsetD8)(memory.get(), 0, 64));
  ASSERT_SUCCESS(CU(cuMemsetD2D8)(memory.get(), kPitch, 1, 3, 2));
  ASSERT_SUCCESS(CU(cuMemsetD2D16)(memory.get() + 4, kPitch, 0x0203, 2, 2));
  ASSERT_SUCCESS(CU(cuMemsetD2D32)(memory.get() + 8, kPitch, 0x04050607, 1, 2));
  ASSERT_SUCCESS(CU(cuMemcpyDtoH)(bytes.data(), memory.get(), 64));
  const std::vector<std::uint8_t> row = {1, 1, 1, 0, 3, 2, 3, 2, 7, 6, 5, 4, 0, 0, 0, 0};
  for (std::size_t i = 0; i < 64; ++i) ASSERT_EQ(bytes[i], i < 32 ? row[i % 16] : 0) << i;
}

TEST_F(Set2D, AsynchronousFormsTakeTheirTurn) {
  const TestStream stream(CU_STREAM_NON_BLOCKING);
  const DeviceMemory memory(64);
  const PinnedMemory<std::uint8_t> bytes(64);
  {
    Gate gate(stream.get());
    ASSERT_SUCCESS(CU(cuMemsetD8Async)(memory.get(), 9, 64, stream.get()));
    ASSERT_SUCCESS(CU(cuMemsetD2D8Async)(memory.get(), 16, 1, 4, 4, stream.get()));
    ASSERT_SUCCESS(CU(cuMemsetD2D16Async)(memory.get() + 4, 16, 0x0202, 2, 4, stream.get()));
    ASSERT_SUCCESS(CU(cuMemsetD2D32Async)(memory.get() + 8, 16, 0x03030303, 1, 4, stream.get()));
    ASSERT_SUCCESS(CU(cuMemcpyDtoHAsync)(bytes.data(), memory.get(), 64, stream.get()));
  }
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  for (std::size_t i = 0; i < 64; ++i) ASSERT_EQ(bytes[i], i % 16 < 4 ? 1 : i % 16 < 8 ? 2 : i % 16 < 12 ? 3 : 9);
}

TEST_F(Set2D, AddressesAndPitchesAreMultiplesOfTheElement) {
  const DeviceMemory memory(64);
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemsetD16)(memory.get() + 1, 1, 4));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemsetD32)(memory.get() + 2, 1, 4));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemsetD2D32)(memory.get(), 10, 1, 1, 2));
}

class Pitched : public DriverTest, public testing::WithParamInterface<unsigned> {};

TEST_P(Pitched, RowsAreAlignedForTheElement) {
  CUdeviceptr pointer = 0;
  size_t pitch = 0;
  ASSERT_SUCCESS(CU(cuMemAllocPitch)(&pointer, &pitch, 100, 5, GetParam()));
  EXPECT_GE(pitch, 100u);
  EXPECT_EQ(pitch % GetParam(), 0u);
  EXPECT_EQ(pointer % 256, 0u);
  EXPECT_SUCCESS(CU(cuMemsetD8)(pointer, 1, pitch * 5));
  EXPECT_SUCCESS(CU(cuMemFree)(pointer));
}

INSTANTIATE_TEST_SUITE_P(Elements, Pitched, testing::Values(4u, 8u, 16u));

TEST_F(Set2D, PitchedMemoryHasElementsOfThreeSizes) {
  CUdeviceptr pointer = 0;
  size_t pitch = 0;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemAllocPitch)(&pointer, &pitch, 100, 5, 3));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemAllocPitch)(&pointer, &pitch, 0, 5, 4));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemAllocPitch)(&pointer, &pitch, 100, 0, 4));
}

// Sizes of which pitch times height does not fit 64 bits: each would wrap around to something small.
class HugeExtents : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    if (!is_softgpu()) GTEST_SKIP() << "NVIDIA's driver does not check them, and ends in a bad access";
  }
  static constexpr std::size_t kHuge = std::size_t{1} << 63;
};

TEST_F(HugeExtents, OfSetsAreRefused) {
  const DeviceMemory memory(4096);
  const CUdeviceptr target = memory.get();
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemsetD2D8)(target, kHuge, 1, 16, 3));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemsetD2D8)(target, std::size_t{1} << 33, 1, 16, kHuge >> 30));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemsetD2D32)(target, kHuge, 1, kHuge >> 1, 1));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemsetD2D8)(target, 16, 1, std::size_t{1} << 32, kHuge >> 31));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemsetD2D16Async)(target, kHuge, 1, 16, 3, nullptr));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemsetD32)(target, 1, kHuge >> 1));
  EXPECT_SUCCESS(CU(cuCtxSynchronize)());
}

TEST_F(HugeExtents, OfCopiesAreRefused) {
  const DeviceMemory memory(4096);
  std::vector<char> host(4096);
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = host.data();
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = memory.get();
  copy.WidthInBytes = 16;
  copy.Height = 2;
  copy.Depth = 2;
  copy.srcPitch = copy.dstPitch = std::size_t{1} << 30;
  copy.srcHeight = copy.dstHeight = std::size_t{1} << 34;  // a slice of 2 to the 64 bytes
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpy3D)(&copy));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpy3DAsync)(&copy, nullptr));
  copy.srcHeight = copy.dstHeight = 2;
  copy.Height = std::size_t{1} << 34;
  copy.Depth = 1;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpy3D)(&copy));
  copy.Height = 2;
  copy.srcY = std::size_t{1} << 34;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpy3D)(&copy));
  CUDA_MEMCPY2D plane{};
  plane.srcMemoryType = CU_MEMORYTYPE_HOST;
  plane.srcHost = host.data();
  plane.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  plane.dstDevice = memory.get();
  plane.WidthInBytes = 16;
  plane.srcPitch = plane.dstPitch = std::size_t{1} << 30;
  plane.Height = (std::size_t{1} << 34) + 1;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpy2D)(&plane));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpy2DAsync)(&plane, nullptr));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpyHtoD)(memory.get(), host.data(), ~std::size_t{0} - 64));
}

}  // namespace
}  // namespace conformance
