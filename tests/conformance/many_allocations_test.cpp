// Many allocations at once, and what the process can still do then.
#include <dlfcn.h>
#include <sys/mman.h>

#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#include "conformance/driver.hpp"

namespace conformance {
namespace {

using ManyAllocations = DriverTest;

// Each may take an entry of the system's table of mappings (65,530), of which the program needs some itself.
TEST_F(ManyAllocations, LeaveTheProgramItsThreadsMemoryAndLibraries) {
  constexpr int kCount = 200'000;
  std::vector<CUdeviceptr> pointers(kCount);
  for (CUdeviceptr& pointer : pointers) ASSERT_SUCCESS(CU(cuMemAlloc)(&pointer, 16));

  std::atomic<int> ran = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i) threads.emplace_back([&] { ++ran; });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ran, 16);
  for (int i = 0; i < 100; ++i) {
    void* const large = mmap(nullptr, std::size_t{1} << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(large, MAP_FAILED);
    void* const memory = std::malloc(std::size_t{8} << 20);
    ASSERT_NE(memory, nullptr);
    std::free(memory);
    munmap(large, std::size_t{1} << 20);
  }
  void* const library = dlopen("libutil.so.1", RTLD_NOW | RTLD_LOCAL);
  EXPECT_NE(library, nullptr) << dlerror();
  if (library != nullptr) dlclose(library);

  ASSERT_SUCCESS(CU(cuMemsetD8)(pointers[0], 1, 16));
  ASSERT_SUCCESS(CU(cuMemsetD8)(pointers[kCount - 1], 2, 16));
  unsigned char values[2] = {};
  ASSERT_SUCCESS(CU(cuMemcpyDtoH)(&values[0], pointers[0] + 15, 1));
  ASSERT_SUCCESS(CU(cuMemcpyDtoH)(&values[1], pointers[kCount - 1], 1));
  EXPECT_EQ(values[0], 1);
  EXPECT_EQ(values[1], 2);
  for (const CUdeviceptr pointer : pointers) ASSERT_SUCCESS(CU(cuMemFree)(pointer));
}

TEST_F(ManyAllocations, GiveTheirMemoryBack) {
  if (!is_softgpu()) GTEST_SKIP() << "what other processes use of a GPU's memory counts, too";
  size_t before = 0, after = 0, total = 0;
  ASSERT_SUCCESS(CU(cuMemGetInfo)(&before, &total));
  for (int round = 0; round < 2; ++round) {
    std::vector<CUdeviceptr> pointers(20'000);
    for (CUdeviceptr& pointer : pointers) ASSERT_SUCCESS(CU(cuMemAlloc)(&pointer, 4096));
    for (const CUdeviceptr pointer : pointers) ASSERT_SUCCESS(CU(cuMemFree)(pointer));
  }
  ASSERT_SUCCESS(CU(cuMemGetInfo)(&after, &total));
  EXPECT_GE(after + (std::size_t{64} << 20), before);
}

}  // namespace
}  // namespace conformance
