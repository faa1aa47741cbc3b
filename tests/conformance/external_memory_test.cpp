// External memory: importing it, and buffers of it.
#include "conformance/external_memory.hpp"

#include <algorithm>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include "conformance/checkpoint.hpp"
#include "conformance/gate.hpp"

namespace conformance {
namespace {

CUresult import(const CUDA_EXTERNAL_MEMORY_HANDLE_DESC& description) {
  return import_and_destroy(CU(cuImportExternalMemory), CU(cuDestroyExternalMemory), description);
}

CUresult map(CUdeviceptr* pointer, CUexternalMemory memory, size_t offset, size_t bytes, unsigned flags = 0) {
  CUDA_EXTERNAL_MEMORY_BUFFER_DESC description{};
  description.offset = offset;
  description.size = bytes;
  description.flags = flags;
  return CU(cuExternalMemoryGetMappedBuffer)(pointer, memory, &description);
}

TEST_F(ExternalMemfd, IsWhatTheProgramHas) {
  const SharedMemory memory(16384);
  const CUexternalMemory external = imported(memory);
  CUdeviceptr buffer = 0;
  ASSERT_SUCCESS(map(&buffer, external, 0, 16384));
  ASSERT_SUCCESS(CU(cuDestroyExternalMemory)(external));  // what is mapped stays
  const TestModule module(kKernels);
  const TestStream stream;
  auto* values = reinterpret_cast<int*>(memory.data());
  values[5] = 37;
  EXPECT_SUCCESS(launch(module.function("add_value"), 1, 1, stream.get(), buffer + 5 * sizeof(int), 1, 5));
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  EXPECT_EQ(values[5], 42);
  EXPECT_SUCCESS(CU(cuMemFree)(buffer));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemFree)(buffer));
}

TEST_F(ExternalMemfd, IsMemoryOfTheDevice) {
  const SharedMemory memory(8192);
  const CUexternalMemory external = imported(memory);
  CUdeviceptr buffer = 0, base = 0;
  ASSERT_SUCCESS(map(&buffer, external, 100, 1000));
  size_t bytes = 0;
  EXPECT_SUCCESS(CU(cuMemGetAddressRange)(&base, &bytes, buffer + 10));
  EXPECT_EQ(base, buffer);
  EXPECT_EQ(bytes, 1000U);
  unsigned type = 0;
  EXPECT_SUCCESS(CU(cuPointerGetAttribute)(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, buffer));
  EXPECT_EQ(type, unsigned{CU_MEMORYTYPE_DEVICE});
  CUipcMemHandle handle{};
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuIpcGetMemHandle)(&handle, buffer));
  EXPECT_SUCCESS(CU(cuMemsetD8)(buffer, 7, 1000));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemsetD8)(buffer, 7, 1001));
  EXPECT_EQ(memory.data()[99], 0);
  EXPECT_EQ(memory.data()[100], 7);
  EXPECT_EQ(memory.data()[1099], 7);
  EXPECT_EQ(memory.data()[1100], 0);
  EXPECT_SUCCESS(CU(cuMemFree)(buffer));
  EXPECT_SUCCESS(CU(cuDestroyExternalMemory)(external));
}

// Buffers at any offset, against a copy of the memory.
TEST_F(ExternalMemfd, BuffersShowTheirPart) {
  constexpr size_t kBytes = 40'000;
  const SharedMemory memory(kBytes);
  const CUexternalMemory external = imported(memory);
  std::vector<unsigned char> model(kBytes);
  std::mt19937 random(7);
  const auto below = [&](size_t end) { return static_cast<size_t>(random()) % end; };
  std::vector<CUdeviceptr> buffers;
  for (int i = 0; i < 200; ++i) {
    const size_t offset = below(kBytes), bytes = 1 + below(kBytes - offset);
    CUdeviceptr buffer = 0;
    ASSERT_SUCCESS(map(&buffer, external, offset, bytes));
    const size_t from = below(bytes), count = 1 + below(bytes - from);
    const auto value = static_cast<unsigned char>(random());
    ASSERT_SUCCESS(CU(cuMemsetD8)(buffer + from, value, count));
    std::fill_n(model.begin() + static_cast<std::ptrdiff_t>(offset + from), count, value);
    ASSERT_EQ(std::memcmp(model.data(), memory.data(), kBytes), 0) << i;
    buffers.push_back(buffer);
    if (buffers.size() > 8) {
      std::swap(buffers[below(buffers.size())], buffers.back());
      ASSERT_SUCCESS(CU(cuMemFree)(buffers.back()));
      buffers.pop_back();
    }
  }
  for (const CUdeviceptr buffer : buffers) EXPECT_SUCCESS(CU(cuMemFree)(buffer));
  EXPECT_SUCCESS(CU(cuDestroyExternalMemory)(external));
}

TEST_F(ExternalMemfd, BadCallsAreRefused) {
  const SharedMemory memory(4096);
  const int descriptor = memory.descriptor().get();
  const auto good = memory_description(descriptor, 4096);
  CUexternalMemory external = nullptr;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuImportExternalMemory)(nullptr, &good));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuImportExternalMemory)(&external, nullptr));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, import(memory_description(descriptor, 0)));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, import(memory_description(descriptor, 4097)));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_HANDLE, import(memory_description(-1, 4096)));
  const Eventfd other;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_HANDLE, import(memory_description(other.descriptor(), 4096)));
  const OwnedDescriptor unsealable(memfd_create("unsealable", 0));
  ASSERT_EQ(ftruncate(unsealable.get(), 4096), 0);
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_HANDLE, import(memory_description(unsealable.get(), 4096)));
  auto bad = good;
  bad.flags = 2;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, import(bad));
  bad = good;
  bad.reserved[0] = 1;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, import(bad));
  bad = good;
  bad.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_D3D12_HEAP;
  EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_SUPPORTED, import(bad));
  EXPECT_TRUE(is_open(descriptor));

  external = imported(memory);
  CUdeviceptr buffer = 0;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, map(nullptr, external, 0, 1));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuExternalMemoryGetMappedBuffer)(&buffer, external, nullptr));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, map(&buffer, external, 0, 0));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, map(&buffer, external, 0, 4097));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, map(&buffer, external, 4096, 1));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, map(&buffer, external, 1, SIZE_MAX));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, map(&buffer, external, 0, 1, 1));
  EXPECT_SUCCESS(CU(cuDestroyExternalMemory)(external));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_HANDLE, map(&buffer, external, 0, 1));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_HANDLE, CU(cuDestroyExternalMemory)(external));
}

TEST_F(ExternalMemfd, CantBeCutShort) {
  const SharedMemory memory(8192);
  const CUexternalMemory external = imported(memory);
  EXPECT_NE(ftruncate(memory.descriptor().get(), 0), 0);
  EXPECT_SUCCESS(CU(cuDestroyExternalMemory)(external));
}

// Whose mappings the system makes of whole huge pages, whatever length it is asked for.
TEST_F(ExternalMemfd, OfHugePagesTakesNothingFromItsNeighbours) {
  constexpr size_t kHugePage = size_t{2} << 20, kBytes = 2 * kHugePage;
  const int descriptor = memfd_create("huge", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB);
  if (descriptor < 0) GTEST_SKIP() << "the system has no huge pages";
  const OwnedDescriptor file(descriptor);
  ASSERT_EQ(ftruncate(descriptor, kBytes), 0) << "huge pages of 2 MiB";
  void* own = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (own == MAP_FAILED) GTEST_SKIP() << "the system has no free huge pages";
  CUexternalMemory external = nullptr;
  const auto description = memory_description(file.duplicate(), kBytes);
  ASSERT_SUCCESS(CU(cuImportExternalMemory)(&external, &description));
  constexpr std::pair<size_t, size_t> kParts[] = {
      {100, 1000}, {0, kHugePage + 4096}, {kHugePage + 100, 50}, {kHugePage - 8, 16}, {0, kBytes}};
  std::vector<CUdeviceptr> buffers, neighbours;
  for (const auto& [offset, bytes] : kParts) {
    buffers.emplace_back();
    ASSERT_SUCCESS(map(&buffers.back(), external, offset, bytes)) << offset;
    neighbours.emplace_back();
    ASSERT_SUCCESS(CU(cuMemAlloc)(&neighbours.back(), 4096));
    ASSERT_SUCCESS(CU(cuMemsetD8)(neighbours.back(), 1, 4096));
  }
  for (size_t i = 0; i < buffers.size(); ++i) {
    ASSERT_SUCCESS(CU(cuMemsetD8)(buffers[i], static_cast<unsigned char>(10 + i), kParts[i].second));
    ASSERT_SUCCESS(CU(cuCtxSynchronize)());
    EXPECT_EQ(static_cast<unsigned char*>(own)[kParts[i].first + kParts[i].second - 1], 10 + i);
  }
  for (size_t i = 0; i < buffers.size(); ++i) {
    EXPECT_SUCCESS(CU(cuMemFree)(buffers[i]));
    std::vector<unsigned char> found(4096);
    EXPECT_SUCCESS(CU(cuMemcpyDtoH)(found.data(), neighbours[i], found.size()));
    EXPECT_EQ(found, std::vector<unsigned char>(4096, 1)) << i;
    EXPECT_SUCCESS(CU(cuMemFree)(neighbours[i]));
  }
  EXPECT_SUCCESS(CU(cuDestroyExternalMemory)(external));
  munmap(own, kBytes);
}

// That is mapped when its context goes.
TEST_F(ExternalMemfd, EndsWithItsContext) {
  const SharedMemory memory(4096);
  CUcontext context = nullptr;
  ASSERT_SUCCESS(CU(cuCtxCreate)(&context, nullptr, 0, device_));
  const CUexternalMemory external = imported(memory);
  CUdeviceptr buffer = 0;
  ASSERT_SUCCESS(map(&buffer, external, 64, 64));
  ASSERT_SUCCESS(CU(cuMemsetD8)(buffer, 3, 64));
  ASSERT_SUCCESS(CU(cuCtxDestroy)(context));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_HANDLE, CU(cuDestroyExternalMemory)(external));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemFree)(buffer));
  EXPECT_EQ(memory.data()[64], 3);
}

TEST_F(ExternalMemfd, IsNotAPool) {
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  CUmemoryPool pool = nullptr;
  ASSERT_SUCCESS(CU(cuMemPoolCreate)(&pool, &properties));
  int exported = -1;
  ASSERT_SUCCESS(CU(cuMemPoolExportToShareableHandle)(&exported, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  const OwnedDescriptor descriptor(exported);
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_HANDLE, import(memory_description(exported, 4096)));
  EXPECT_SUCCESS(CU(cuMemPoolDestroy)(pool));
}

// Others have it, so it can't be taken away.
TEST_F(ExternalMemfd, DISABLED_IsNotCheckpointed) {
  const SharedMemory memory(4096);
  const CUexternalMemory external = imported(memory);
  CUdeviceptr buffer = 0;
  ASSERT_SUCCESS(map(&buffer, external, 0, 4096));
  ASSERT_SUCCESS(lock(getpid()));
  EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_SUPPORTED, checkpoint(getpid()));
  ASSERT_SUCCESS(unlock(getpid()));
  ASSERT_SUCCESS(CU(cuMemFree)(buffer));
  ASSERT_SUCCESS(lock(getpid()));
  EXPECT_SUCCESS(checkpoint(getpid()));
  EXPECT_SUCCESS(restore(getpid()));
  ASSERT_SUCCESS(unlock(getpid()));
  EXPECT_SUCCESS(CU(cuDestroyExternalMemory)(external));
}
TEST_F(ExternalMemfd, KeepsAProcessFromBeingCheckpointed) {
  EXPECT_EQ(run_in_child("ExternalMemfd.DISABLED_IsNotCheckpointed"), 0);
}

// ---- Memory of cuMemCreate, which any driver imports

class ExternalMemory : public DriverTest {
 protected:
  static constexpr size_t kBytes = size_t{2} << 20;

  void SetUp() override {
    DriverTest::SetUp();
    int supported = 0;
    ASSERT_SUCCESS(
        CU(cuDeviceGetAttribute)(&supported, CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, device_));
    if (supported == 0) GTEST_SKIP() << "the device has no memory that is shared by descriptors";
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    CUmemGenericAllocationHandle handle = 0;
    ASSERT_SUCCESS(CU(cuMemCreate)(&handle, kBytes, &properties, 0));
    int exported = -1;
    ASSERT_SUCCESS(CU(cuMemExportToShareableHandle)(&exported, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    EXPECT_SUCCESS(CU(cuMemRelease)(handle));
    const auto description = memory_description(exported, kBytes);
    ASSERT_SUCCESS(CU(cuImportExternalMemory)(&external_, &description));
    EXPECT_FALSE(is_open(exported));
  }
  void TearDown() override {
    if (external_ != nullptr) {
      EXPECT_SUCCESS(CU(cuDestroyExternalMemory)(external_));
    }
    DriverTest::TearDown();
  }

  CUexternalMemory external_ = nullptr;
};

TEST_F(ExternalMemory, OfCuMemCreateIsMappedInParts) {
  CUdeviceptr all = 0, part = 0;
  ASSERT_SUCCESS(map(&all, external_, 0, kBytes));
  ASSERT_SUCCESS(CU(cuMemsetD8)(all, 0, kBytes));
  ASSERT_SUCCESS(map(&part, external_, 100, 64));
  CUdeviceptr base = 0;
  size_t bytes = 0;
  EXPECT_SUCCESS(CU(cuMemGetAddressRange)(&base, &bytes, part + 10));
  EXPECT_EQ(base, part);
  EXPECT_EQ(bytes, 64U);
  CUipcMemHandle handle{};
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuIpcGetMemHandle)(&handle, part));
  EXPECT_SUCCESS(CU(cuMemsetD8)(part, 7, 64));
  EXPECT_SUCCESS(CU(cuMemFree)(part));
  EXPECT_SUCCESS(CU(cuDestroyExternalMemory)(std::exchange(external_, nullptr)));  // what is mapped stays
  std::vector<unsigned char> found(kBytes), expected(kBytes);
  std::fill_n(expected.begin() + 100, 64, 7);
  EXPECT_SUCCESS(CU(cuMemcpyDtoH)(found.data(), all, kBytes));
  EXPECT_TRUE(found == expected);
  EXPECT_SUCCESS(CU(cuMemFree)(all));
}

TEST_F(ExternalMemory, HasNoPartsBeyondIt) {
  CUdeviceptr buffer = 0;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, map(&buffer, external_, 0, 0));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, map(&buffer, external_, 0, kBytes + 1));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, map(&buffer, external_, kBytes, 1));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, map(&buffer, external_, 0, kBytes, 1));
}

TEST_F(ExternalMemory, BadCallsAreRefused) {
  CUexternalMemory external = nullptr;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuImportExternalMemory)(&external, nullptr));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuDestroyExternalMemory)(nullptr));
  auto description = memory_description(-1, 0);
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuImportExternalMemory)(&external, &description));
  description.size = kBytes;
  description.flags = 2;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuImportExternalMemory)(&external, &description));
  description.flags = 0;
  description.type = static_cast<CUexternalMemoryHandleType>(0);
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuImportExternalMemory)(&external, &description));
  description.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32;
  EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_SUPPORTED, CU(cuImportExternalMemory)(&external, &description));
}

}  // namespace
}  // namespace conformance
