// Using addresses without memory or without the right to; and several devices, which softgpu has as many of as it is
// told.
#include <vector>

#include "conformance/kernels.hpp"
#include "conformance/virtual_memory.hpp"

namespace conformance {
namespace {

// What may leave a context unusable is tried in a process of its own: a driver may refuse it at once, or find it while
// the work is done.
class Faulting : public VirtualMemoryTest {
 protected:
  void TearDown() override {}

  static void expect_refused(CUresult result) {
    if (result == CUDA_SUCCESS) result = CU(cuCtxSynchronize)();
    EXPECT_TRUE(result == CUDA_ERROR_INVALID_VALUE || result == CUDA_ERROR_ILLEGAL_ADDRESS) << name_of(result);
  }
  void store_to(CUdeviceptr pointer) {
    CUmodule module = nullptr;
    CUfunction store = nullptr;
    ASSERT_SUCCESS(CU(cuModuleLoadData)(&module, kKernels));
    ASSERT_SUCCESS(CU(cuModuleGetFunction)(&store, module, "store_to"));
    ASSERT_SUCCESS(launch(store, 1, 1, nullptr, pointer));
    EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, CU(cuCtxSynchronize)());
    EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, CU(cuCtxSynchronize)());
  }
  CUdeviceptr reserve(std::size_t bytes) {
    CUdeviceptr base = 0;
    EXPECT_SUCCESS(CU(cuMemAddressReserve)(&base, bytes, 0, 0, 0));
    return base;
  }
  CUdeviceptr mapped(CUmemAccess_flags flags) {
    const CUmemAllocationProp properties = memory_properties();
    CUmemGenericAllocationHandle handle = 0;
    const CUdeviceptr base = reserve(bytes_);
    EXPECT_SUCCESS(CU(cuMemCreate)(&handle, bytes_, &properties, 0));
    EXPECT_SUCCESS(CU(cuMemMap)(base, bytes_, 0, handle, 0));
    if (flags != CU_MEM_ACCESS_FLAGS_PROT_NONE) {
      EXPECT_SUCCESS(set_access(base, bytes_, flags));
    }
    return base;
  }
};

TEST_F(Faulting, DISABLED_StoresToReservedAddresses) { store_to(reserve(bytes_)); }
TEST(VirtualMemoryFaults, KernelCantUseReservedAddresses) {
  EXPECT_EQ(run_in_child("Faulting.DISABLED_StoresToReservedAddresses"), 0);
}

TEST_F(Faulting, DISABLED_StoresWithoutAccess) { store_to(mapped(CU_MEM_ACCESS_FLAGS_PROT_NONE)); }
TEST(VirtualMemoryFaults, KernelNeedsAccess) { EXPECT_EQ(run_in_child("Faulting.DISABLED_StoresWithoutAccess"), 0); }

TEST_F(Faulting, DISABLED_StoresToReadOnlyMemory) { store_to(mapped(CU_MEM_ACCESS_FLAGS_PROT_READ)); }
TEST(VirtualMemoryFaults, KernelCantWriteReadOnlyMemory) {
  EXPECT_EQ(run_in_child("Faulting.DISABLED_StoresToReadOnlyMemory"), 0);
}

TEST_F(Faulting, DISABLED_StoresToUnmappedMemory) {
  const CUdeviceptr base = mapped(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  fill(base, 1, 10);
  ASSERT_SUCCESS(CU(cuMemUnmap)(base, bytes_));
  store_to(base);
}
TEST(VirtualMemoryFaults, KernelCantUseUnmappedMemory) {
  EXPECT_EQ(run_in_child("Faulting.DISABLED_StoresToUnmappedMemory"), 0);
}

TEST_F(Faulting, DISABLED_StoresBehindTheMapping) {
  const CUmemAllocationProp properties = memory_properties();
  CUmemGenericAllocationHandle handle = 0;
  const CUdeviceptr base = reserve(2 * bytes_);
  ASSERT_SUCCESS(CU(cuMemCreate)(&handle, bytes_, &properties, 0));
  ASSERT_SUCCESS(CU(cuMemMap)(base, bytes_, 0, handle, 0));
  ASSERT_SUCCESS(set_access(base, bytes_, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
  store_to(base + bytes_);
}
TEST(VirtualMemoryFaults, KernelCantUseWhatIsBehindAMapping) {
  EXPECT_EQ(run_in_child("Faulting.DISABLED_StoresBehindTheMapping"), 0);
}

TEST_F(Faulting, DISABLED_StoresAfterAccessWasTaken) {
  const CUdeviceptr base = mapped(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  fill(base, 1, 10);
  ASSERT_SUCCESS(set_access(base, bytes_, CU_MEM_ACCESS_FLAGS_PROT_NONE));
  store_to(base);
}
TEST(VirtualMemoryFaults, AccessCanBeTakenAway) {
  EXPECT_EQ(run_in_child("Faulting.DISABLED_StoresAfterAccessWasTaken"), 0);
}

TEST_F(Faulting, DISABLED_CopiesWithoutAccess) {
  int value = 0;
  expect_refused(CU(cuMemcpyDtoH)(&value, mapped(CU_MEM_ACCESS_FLAGS_PROT_NONE), sizeof value));
}
TEST(VirtualMemoryFaults, CopyNeedsAccess) { EXPECT_EQ(run_in_child("Faulting.DISABLED_CopiesWithoutAccess"), 0); }

TEST_F(Faulting, DISABLED_SetsWithoutAccess) {
  expect_refused(CU(cuMemsetD32)(mapped(CU_MEM_ACCESS_FLAGS_PROT_NONE), 1, 10));
}
TEST(VirtualMemoryFaults, SetNeedsAccess) { EXPECT_EQ(run_in_child("Faulting.DISABLED_SetsWithoutAccess"), 0); }

TEST_F(Faulting, DISABLED_WritesReadOnlyMemory) {
  const int value = 0;
  expect_refused(CU(cuMemcpyHtoD)(mapped(CU_MEM_ACCESS_FLAGS_PROT_READ), &value, sizeof value));
}
TEST(VirtualMemoryFaults, CopyCantWriteReadOnlyMemory) {
  EXPECT_EQ(run_in_child("Faulting.DISABLED_WritesReadOnlyMemory"), 0);
}

TEST_F(Faulting, DISABLED_CopiesPastTheMapping) {
  const CUdeviceptr base = mapped(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  std::vector<char> values(8);
  expect_refused(CU(cuMemcpyDtoH)(values.data(), base + bytes_ - 4, 8));
}
TEST(VirtualMemoryFaults, CopyCantGoPastAMapping) {
  EXPECT_EQ(run_in_child("Faulting.DISABLED_CopiesPastTheMapping"), 0);
}

// ---- With several devices, which softgpu has as many of as it is told.

TEST(WithDevices, DISABLED_CountMemoryEachForItself) {
  ASSERT_SUCCESS(CU(cuInit)(0));
  CUmemAllocationProp properties = memory_properties();
  properties.location.id = 2;
  CUmemGenericAllocationHandle handle = 0, more = 0;
  const std::size_t bytes = std::size_t{40} << 20;
  ASSERT_SUCCESS(CU(cuMemCreate)(&handle, bytes, &properties, 0));
  EXPECT_CUDA_ERROR(CUDA_ERROR_OUT_OF_MEMORY, CU(cuMemCreate)(&more, bytes, &properties, 0));
  properties.location.id = 1;
  EXPECT_SUCCESS(CU(cuMemCreate)(&more, bytes, &properties, 0));
  properties.location.id = 2;
  EXPECT_SUCCESS(CU(cuMemRelease)(handle));
  EXPECT_SUCCESS(CU(cuMemCreate)(&handle, bytes, &properties, 0));
}
TEST(VirtualMemoryDevices, CountMemoryEachForItself) {
  if (!is_softgpu()) GTEST_SKIP() << "settings of softgpu";
  EXPECT_EQ(run_in_child("WithDevices.DISABLED_CountMemoryEachForItself", {"SOFTGPU_DEVICES=3", "SOFTGPU_MEMORY=64M"}),
            0);
}

TEST(WithDevices, DISABLED_HaveRightsOfTheirOwn) {
  ASSERT_SUCCESS(CU(cuInit)(0));
  const std::size_t bytes = granularity();
  const VirtualBlock block(bytes);
  CUmemAccessDesc access[2] = {access_for(CU_MEM_ACCESS_FLAGS_PROT_READWRITE),
                               access_for(CU_MEM_ACCESS_FLAGS_PROT_READ)};
  access[1].location.id = 1;
  ASSERT_SUCCESS(CU(cuMemSetAccess)(block.get(), bytes, access, 2));
  const CUmemAccess_flags expected[3] = {CU_MEM_ACCESS_FLAGS_PROT_READWRITE, CU_MEM_ACCESS_FLAGS_PROT_READ,
                                         CU_MEM_ACCESS_FLAGS_PROT_NONE};
  for (int i = 0; i < 3; ++i) {
    const CUmemLocation location{CU_MEM_LOCATION_TYPE_DEVICE, i};
    unsigned long long flags = 99;
    ASSERT_SUCCESS(CU(cuMemGetAccess)(&flags, &location, block.get()));
    EXPECT_EQ(flags, expected[i]) << "device " << i;
  }
}
TEST(VirtualMemoryDevices, HaveRightsOfTheirOwn) {
  if (!is_softgpu()) GTEST_SKIP() << "settings of softgpu";
  EXPECT_EQ(run_in_child("WithDevices.DISABLED_HaveRightsOfTheirOwn", {"SOFTGPU_DEVICES=3"}), 0);
}

}  // namespace
}  // namespace conformance
