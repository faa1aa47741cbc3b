#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include "conformance/driver.hpp"

namespace conformance {
namespace {

using Memory = DriverTest;

std::vector<int> numbers(std::size_t count) {
  std::vector<int> values(count);
  std::iota(values.begin(), values.end(), 1);
  return values;
}

TEST_F(Memory, CopiesThereAndBack) {
  const std::vector<int> in = numbers(1000);
  std::vector<int> out(in.size());
  const DeviceMemory a(in.size() * 4), b(in.size() * 4);
  ASSERT_SUCCESS(CU(cuMemcpyHtoD)(a.get(), in.data(), in.size() * 4));
  ASSERT_SUCCESS(CU(cuMemcpyDtoD)(b.get(), a.get(), in.size() * 4));
  ASSERT_SUCCESS(CU(cuMemcpyDtoH)(out.data(), b.get(), in.size() * 4));
  EXPECT_EQ(in, out);
}

TEST_F(Memory, CopiesOfUnknownDirection) {
  const std::vector<int> in = numbers(64);
  std::vector<int> out(in.size());
  const DeviceMemory a(256);
  ASSERT_SUCCESS(CU(cuMemcpy)(a.get(), reinterpret_cast<CUdeviceptr>(in.data()), 256));
  ASSERT_SUCCESS(CU(cuMemcpy)(reinterpret_cast<CUdeviceptr>(out.data()), a.get(), 256));
  EXPECT_EQ(in, out);
}

TEST_F(Memory, CopiesRowsOfAPitchedAllocation) {
  CUdeviceptr pointer = 0;
  size_t pitch = 0;
  ASSERT_SUCCESS(CU(cuMemAllocPitch)(&pointer, &pitch, 40, 3, 4));
  EXPECT_GE(pitch, 40u);
  const std::vector<int> in = numbers(30);
  std::vector<int> out(30);
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = in.data();
  copy.srcPitch = 40;
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = pointer;
  copy.dstPitch = pitch;
  copy.WidthInBytes = 40;
  copy.Height = 3;
  ASSERT_SUCCESS(CU(cuMemcpy2D)(&copy));
  std::swap(copy.srcMemoryType, copy.dstMemoryType);
  copy.srcDevice = pointer;
  copy.srcPitch = pitch;
  copy.dstHost = out.data();
  copy.dstPitch = 40;
  ASSERT_SUCCESS(CU(cuMemcpy2D)(&copy));
  EXPECT_EQ(in, out);
  int second_row = 0;
  ASSERT_SUCCESS(CU(cuMemcpyDtoH)(&second_row, pointer + pitch, 4));
  EXPECT_EQ(second_row, 11);
  EXPECT_SUCCESS(CU(cuMemFree)(pointer));
}

TEST_F(Memory, SetsElementsOfAllSizes) {
  const DeviceMemory memory(64);
  std::uint8_t bytes[64];
  ASSERT_SUCCESS(CU(cuMemsetD8)(memory.get(), 0xab, 64));
  ASSERT_SUCCESS(CU(cuMemsetD16)(memory.get() + 16, 0x1234, 4));
  ASSERT_SUCCESS(CU(cuMemsetD32)(memory.get() + 32, 0xdeadbeef, 2));
  ASSERT_SUCCESS(CU(cuMemcpyDtoH)(bytes, memory.get(), 64));
  EXPECT_EQ(bytes[0], 0xab);
  EXPECT_EQ(bytes[16], 0x34);
  EXPECT_EQ(bytes[23], 0x12);
  EXPECT_EQ(bytes[24], 0xab);
  EXPECT_EQ(bytes[32], 0xef);
  EXPECT_EQ(bytes[39], 0xde);
  EXPECT_EQ(bytes[40], 0xab);
}

TEST_F(Memory, SetsRows) {
  const DeviceMemory memory(64);
  std::uint8_t bytes[64];
  ASSERT_SUCCESS(CU(cuMemsetD8)(memory.get(), 0, 64));
  ASSERT_SUCCESS(CU(cuMemsetD2D8)(memory.get(), 16, 7, 4, 4));
  ASSERT_SUCCESS(CU(cuMemcpyDtoH)(bytes, memory.get(), 64));
  for (int y = 0; y < 4; ++y)
    for (int x = 0; x < 16; ++x) EXPECT_EQ(bytes[16 * y + x], x < 4 ? 7 : 0);
}

TEST_F(Memory, NothingIsNotAllocated) {
  CUdeviceptr pointer = 0;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemAlloc)(&pointer, 0));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemAlloc)(nullptr, 64));
}

TEST_F(Memory, TooMuchIsRefused) {
  CUdeviceptr pointer = 0;
  EXPECT_CUDA_ERROR(CUDA_ERROR_OUT_OF_MEMORY, CU(cuMemAlloc)(&pointer, std::size_t{1} << 50));
}

TEST_F(Memory, AllocatingTakesFromWhatIsFree) {
  if (!is_softgpu()) GTEST_SKIP() << "other processes change how much memory a GPU has free";
  size_t before = 0, during = 0, total = 0;
  constexpr std::size_t kBytes = std::size_t{64} << 20;
  ASSERT_SUCCESS(CU(cuMemGetInfo)(&before, &total));
  {
    const DeviceMemory memory(kBytes);
    ASSERT_SUCCESS(CU(cuMemGetInfo)(&during, &total));
    EXPECT_LE(during + kBytes, before);
  }
}

TEST_F(Memory, FreeingTwiceFails) {
  CUdeviceptr pointer = 0;
  ASSERT_SUCCESS(CU(cuMemAlloc)(&pointer, 64));
  ASSERT_SUCCESS(CU(cuMemFree)(pointer));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemFree)(pointer));
  EXPECT_SUCCESS(CU(cuMemFree)(0));
}

TEST_F(Memory, CopyPastTheEndFails) {
  const DeviceMemory memory(64);
  std::vector<char> host(std::size_t{8} << 20);
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpyHtoD)(memory.get(), host.data(), host.size()));
}

TEST_F(Memory, RangeOfAPointerInsideAnAllocation) {
  const DeviceMemory memory(1000);
  CUdeviceptr base = 0;
  size_t bytes = 0;
  ASSERT_SUCCESS(CU(cuMemGetAddressRange)(&base, &bytes, memory.get() + 100));
  EXPECT_EQ(base, memory.get());
  EXPECT_EQ(bytes, 1000u);
}

TEST_F(Memory, PointersKnowWhatTheyPointTo) {
  const DeviceMemory device(64);
  const PinnedMemory<int> host(16);
  unsigned type = 0;
  ASSERT_SUCCESS(CU(cuPointerGetAttribute)(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, device.get()));
  EXPECT_EQ(type, static_cast<unsigned>(CU_MEMORYTYPE_DEVICE));
  ASSERT_SUCCESS(
      CU(cuPointerGetAttribute)(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, reinterpret_cast<CUdeviceptr>(host.data())));
  EXPECT_EQ(type, static_cast<unsigned>(CU_MEMORYTYPE_HOST));
  int ordinal = -1;
  ASSERT_SUCCESS(CU(cuPointerGetAttribute)(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, device.get()));
  EXPECT_EQ(ordinal, 0);
  CUcontext context = nullptr;
  ASSERT_SUCCESS(CU(cuPointerGetAttribute)(&context, CU_POINTER_ATTRIBUTE_CONTEXT, device.get()));
  EXPECT_EQ(context, context_);
}

TEST_F(Memory, SeveralAttributesAtOnceDoNotFailForForeignPointers) {
  int local = 0, ordinal = 0;
  unsigned type = 7;
  CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
  void* values[] = {&type, &ordinal};
  ASSERT_SUCCESS(CU(cuPointerGetAttributes)(2, attributes, values, reinterpret_cast<CUdeviceptr>(&local)));
  EXPECT_EQ(type, 0u);
}

TEST_F(Memory, PinnedMemoryHasAddressAndFlags) {
  const PinnedMemory<int> host(16);
  EXPECT_NE(host.device(), 0u);
  unsigned flags = 0;
  ASSERT_SUCCESS(CU(cuMemHostGetFlags)(&flags, host.data()));
  EXPECT_NE(flags & CU_MEMHOSTALLOC_DEVICEMAP, 0u);
}

TEST_F(Memory, ForeignMemoryCanBeRegisteredOnce) {
  std::vector<char> memory(1 << 16);
  ASSERT_SUCCESS(CU(cuMemHostRegister)(memory.data(), memory.size(), CU_MEMHOSTREGISTER_DEVICEMAP));
  EXPECT_CUDA_ERROR(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, CU(cuMemHostRegister)(memory.data(), memory.size(), 0));
  EXPECT_SUCCESS(CU(cuMemHostUnregister)(memory.data()));
  EXPECT_CUDA_ERROR(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, CU(cuMemHostUnregister)(memory.data()));
}

TEST_F(Memory, ManagedMemoryIsBothSides) {
  CUdeviceptr pointer = 0;
  ASSERT_SUCCESS(CU(cuMemAllocManaged)(&pointer, 4096, CU_MEM_ATTACH_GLOBAL));
  ASSERT_SUCCESS(CU(cuMemsetD32)(pointer, 42, 1024));
  ASSERT_SUCCESS(CU(cuCtxSynchronize)());
  EXPECT_EQ(*reinterpret_cast<int*>(pointer), 42);
  unsigned managed = 0;
  ASSERT_SUCCESS(CU(cuPointerGetAttribute)(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, pointer));
  EXPECT_EQ(managed, 1u);
  EXPECT_SUCCESS(CU(cuMemFree)(pointer));
}

TEST_F(Memory, AsynchronousCopyFromPageableMemoryMayBeOverwrittenAtOnce) {
  const TestStream stream;
  const DeviceMemory memory(4096);
  std::vector<int> values(1024, 1);
  ASSERT_SUCCESS(CU(cuMemcpyHtoDAsync)(memory.get(), values.data(), 4096, stream.get()));
  std::fill(values.begin(), values.end(), 2);
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  ASSERT_SUCCESS(CU(cuMemcpyDtoH)(values.data(), memory.get(), 4096));
  EXPECT_EQ(values, std::vector<int>(1024, 1));
}

TEST_F(Memory, RegisteringAddressesWithoutMemoryFails) {
  constexpr std::size_t kPage = 4096;
  auto* const pages =
      static_cast<char*>(mmap(nullptr, 4 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(static_cast<void*>(pages), MAP_FAILED);
  ASSERT_EQ(munmap(pages + 2 * kPage, kPage), 0);
  ASSERT_EQ(mprotect(pages + 3 * kPage, kPage, PROT_NONE), 0);
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemHostRegister)(pages + 2 * kPage, kPage, 0));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemHostRegister)(pages, 3 * kPage, 0)) << "only its beginning is";
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemHostRegister)(pages + 3 * kPage, kPage, 0));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemHostRegister)(pages, ~std::size_t{0} - kPage, 0));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemHostRegister)(pages + 16, ~std::size_t{0}, 0))
      << "ends before it";
  ASSERT_SUCCESS(CU(cuMemHostRegister)(pages, 2 * kPage, 0));
  EXPECT_SUCCESS(CU(cuMemHostUnregister)(pages));
  munmap(pages, 2 * kPage);
  munmap(pages + 3 * kPage, kPage);
}

}  // namespace
}  // namespace conformance
