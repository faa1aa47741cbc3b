// Two devices, and whether one may use memory of the other.
#pragma once

#include "conformance/driver.hpp"

namespace conformance {

inline CUmemLocation on(CUdevice device) {
  CUmemLocation result{};
  result.type = CU_MEM_LOCATION_TYPE_DEVICE;
  result.id = device;
  return result;
}

// Memory of a device by cuMemCreate, in several pieces that lie in a row; nobody may use it until access is given.
class MappedMemory {
 public:
  explicit MappedMemory(int device, std::size_t pieces = 1) : pieces_(pieces) {
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = on(device);
    EXPECT_SUCCESS(CU(cuMemGetAllocationGranularity)(&bytes_, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    EXPECT_SUCCESS(CU(cuMemAddressReserve)(&base_, pieces * bytes_, 0, 0, 0));
    for (std::size_t i = 0; i < pieces; ++i) {
      CUmemGenericAllocationHandle memory = 0;
      EXPECT_SUCCESS(CU(cuMemCreate)(&memory, bytes_, &properties, 0));
      EXPECT_SUCCESS(CU(cuMemMap)(get(i), bytes_, 0, memory, 0));
      EXPECT_SUCCESS(CU(cuMemRelease)(memory));
    }
  }
  ~MappedMemory() {
    EXPECT_SUCCESS(CU(cuMemUnmap)(base_, pieces_ * bytes_));
    EXPECT_SUCCESS(CU(cuMemAddressFree)(base_, pieces_ * bytes_));
  }
  MappedMemory(const MappedMemory&) = delete;
  MappedMemory& operator=(const MappedMemory&) = delete;
  CUdeviceptr get(std::size_t piece = 0) const { return base_ + piece * bytes_; }
  std::size_t piece_bytes() const { return bytes_; }
  CUresult give_access(int device, CUmemAccess_flags flags, std::size_t piece = 0) const {
    CUmemAccessDesc access{};
    access.location = on(device);
    access.flags = flags;
    return CU(cuMemSetAccess)(get(piece), bytes_, &access, 1);
  }

 private:
  std::size_t pieces_, bytes_ = 0;
  CUdeviceptr base_ = 0;
};

// Two devices that can use each other's memory, with their primary contexts.
class Peer : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_SUCCESS(CU(cuInit)(0));
    int count = 0, can = 0;
    ASSERT_SUCCESS(CU(cuDeviceGetCount)(&count));
    if (count < 2) GTEST_SKIP() << "needs two devices";
    ASSERT_SUCCESS(CU(cuDeviceCanAccessPeer)(&can, 0, 1));
    if (can == 0) GTEST_SKIP() << "the devices can't use each other's memory";
    for (int i = 0; i < 2; ++i) ASSERT_SUCCESS(CU(cuDevicePrimaryCtxRetain)(&contexts_[i], i));
    use(0);
  }
  void TearDown() override {
    if (contexts_[0] == nullptr) return;
    for (int i = 0; i < 2; ++i) {
      use(i);
      EXPECT_SUCCESS(CU(cuCtxSynchronize)());
      EXPECT_SUCCESS(CU(cuDevicePrimaryCtxRelease)(i));
    }
    EXPECT_SUCCESS(CU(cuCtxSetCurrent)(nullptr));
  }

  void use(int device) { ASSERT_SUCCESS(CU(cuCtxSetCurrent)(contexts_[device])); }
  CUdeviceptr allocate(int device, unsigned fill) {
    use(device);
    CUdeviceptr pointer = 0;
    EXPECT_SUCCESS(CU(cuMemAlloc)(&pointer, kBytes));
    EXPECT_SUCCESS(CU(cuMemsetD32)(pointer, fill, kBytes / 4));
    EXPECT_SUCCESS(CU(cuCtxSynchronize)());
    return pointer;
  }
  int first_of(CUdeviceptr pointer) {
    int value = 0;
    EXPECT_SUCCESS(CU(cuMemcpyDtoH)(&value, pointer, 4));
    return value;
  }
  CUmemoryPool make_pool(int device) {
    CUmemPoolProps properties{};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = on(device);
    CUmemoryPool pool = nullptr;
    EXPECT_SUCCESS(CU(cuMemPoolCreate)(&pool, &properties));
    return pool;
  }
  static CUresult give_access(CUmemoryPool pool, int device, CUmemAccess_flags flags) {
    CUmemAccessDesc access{};
    access.location = on(device);
    access.flags = flags;
    return CU(cuMemPoolSetAccess)(pool, &access, 1);
  }

  static constexpr std::size_t kBytes = 4096;
  CUcontext contexts_[2] = {};
};

// In a process of its own each: the context of device 0 is of no more use afterwards.
class PeerFault : public Peer {
 protected:
  void TearDown() override {}
  template <typename... Arguments>
  static CUresult run(const TestModule& module, const char* kernel, Arguments... arguments) {
    EXPECT_SUCCESS(launch(module.function(kernel), 2, 64, nullptr, arguments...));
    return CU(cuCtxSynchronize)();
  }
};
#define PEER_FAULT_TEST(name)                                                     \
  TEST_F(Peer, name) { EXPECT_EQ(run_in_child("PeerFault.DISABLED_" #name), 0); } \
  TEST_F(PeerFault, DISABLED_##name)

}  // namespace conformance
