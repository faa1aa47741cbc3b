// Memory that tests create, reserve and map themselves.
#pragma once

#include <utility>
#include <vector>

#include "conformance/driver.hpp"

namespace conformance {

inline CUmemAllocationProp memory_properties(CUmemAllocationHandleType handles = CU_MEM_HANDLE_TYPE_NONE,
                                             CUmemLocationType location = CU_MEM_LOCATION_TYPE_DEVICE) {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.requestedHandleTypes = handles;
  properties.location.type = location;
  return properties;
}

inline std::size_t granularity(const CUmemAllocationProp& properties = memory_properties()) {
  std::size_t bytes = 0;
  EXPECT_SUCCESS(CU(cuMemGetAllocationGranularity)(&bytes, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  return bytes;
}

inline CUmemAccessDesc access_for(CUmemAccess_flags flags, CUmemLocationType location = CU_MEM_LOCATION_TYPE_DEVICE) {
  CUmemAccessDesc access{};
  access.location.type = location;
  access.flags = flags;
  return access;
}

inline CUresult set_access(CUdeviceptr pointer, std::size_t bytes, CUmemAccess_flags flags) {
  const CUmemAccessDesc access = access_for(flags);
  return CU(cuMemSetAccess)(pointer, bytes, &access, 1);
}

inline CUmemAccess_flags access_of(CUdeviceptr pointer) {
  const CUmemLocation location{CU_MEM_LOCATION_TYPE_DEVICE, 0};
  unsigned long long flags = 99;
  EXPECT_SUCCESS(CU(cuMemGetAccess)(&flags, &location, pointer));
  return static_cast<CUmemAccess_flags>(flags);
}

// Physical memory, released with the object.
class CreatedMemory {
 public:
  explicit CreatedMemory(std::size_t bytes, const CUmemAllocationProp& properties = memory_properties()) {
    EXPECT_SUCCESS(CU(cuMemCreate)(&handle_, bytes, &properties, 0));
  }
  explicit CreatedMemory(CUmemGenericAllocationHandle handle) : handle_(handle) {}
  ~CreatedMemory() { release(); }
  CreatedMemory(const CreatedMemory&) = delete;
  CreatedMemory& operator=(const CreatedMemory&) = delete;
  CUmemGenericAllocationHandle get() const { return handle_; }

  void release() {
    if (handle_ == 0) return;
    EXPECT_SUCCESS(CU(cuMemRelease)(std::exchange(handle_, 0)));
  }

 private:
  CUmemGenericAllocationHandle handle_ = 0;
};

// Addresses, given back with the object.
class ReservedRange {
 public:
  explicit ReservedRange(std::size_t bytes, std::size_t alignment = 0, CUdeviceptr hint = 0) : bytes_(bytes) {
    EXPECT_SUCCESS(CU(cuMemAddressReserve)(&base_, bytes, alignment, hint, 0));
  }
  ~ReservedRange() { EXPECT_SUCCESS(CU(cuMemAddressFree)(base_, bytes_)); }
  ReservedRange(const ReservedRange&) = delete;
  ReservedRange& operator=(const ReservedRange&) = delete;
  CUdeviceptr get() const { return base_; }
  std::size_t size() const { return bytes_; }

 private:
  CUdeviceptr base_ = 0;
  std::size_t bytes_;
};

// Unmapped with the object.
class MappedRange {
 public:
  MappedRange(CUdeviceptr base, std::size_t bytes, const CreatedMemory& memory,
              CUmemAccess_flags flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
      : base_(base), bytes_(bytes) {
    EXPECT_SUCCESS(CU(cuMemMap)(base, bytes, 0, memory.get(), 0));
    if (flags != CU_MEM_ACCESS_FLAGS_PROT_NONE) {
      EXPECT_SUCCESS(set_access(base, bytes, flags));
    }
  }
  ~MappedRange() { EXPECT_SUCCESS(CU(cuMemUnmap)(base_, bytes_)); }
  MappedRange(const MappedRange&) = delete;
  MappedRange& operator=(const MappedRange&) = delete;
  CUdeviceptr get() const { return base_; }

 private:
  CUdeviceptr base_;
  std::size_t bytes_;
};

// All of it at once: `bytes` of memory that the device may use.
class VirtualBlock {
 public:
  explicit VirtualBlock(std::size_t bytes, CUmemAccess_flags flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
      : memory_(bytes), range_(bytes), mapped_(range_.get(), bytes, memory_, flags) {}
  CUdeviceptr get() const { return range_.get(); }
  CUmemGenericAllocationHandle handle() const { return memory_.get(); }

 private:
  CreatedMemory memory_;
  ReservedRange range_;
  MappedRange mapped_;
};

inline std::vector<int> read(CUdeviceptr pointer, std::size_t count) {
  std::vector<int> values(count);
  EXPECT_SUCCESS(CU(cuMemcpyDtoH)(values.data(), pointer, count * sizeof(int)));
  return values;
}

// Done when it returns: a mapping must not change while the device works on it.
inline void fill(CUdeviceptr pointer, int value, std::size_t count) {
  EXPECT_SUCCESS(CU(cuMemsetD32)(pointer, static_cast<unsigned>(value), count));
  EXPECT_SUCCESS(CU(cuCtxSynchronize)());
}

inline std::size_t free_memory() {
  std::size_t free = 0, total = 0;
  EXPECT_SUCCESS(CU(cuCtxSynchronize)());
  EXPECT_SUCCESS(CU(cuMemGetInfo)(&free, &total));
  return free;
}

inline bool supports(CUdevice_attribute attribute) {
  int value = 0;
  EXPECT_SUCCESS(CU(cuDeviceGetAttribute)(&value, attribute, 0));
  return value != 0;
}

// Skips where the device can't do it.
class VirtualMemoryTest : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    int supported = 0;
    ASSERT_SUCCESS(
        CU(cuDeviceGetAttribute)(&supported, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, device_));
    if (supported == 0) GTEST_SKIP() << "no virtual memory management on this device";
    bytes_ = granularity();
  }
  std::size_t bytes_ = 0;  // the granularity
};

}  // namespace conformance
