// What is known of a pointer, for each kind of memory.
#include <cstdint>
#include <vector>

#include "conformance/driver.hpp"

namespace conformance {
namespace {

template <typename T>
T attribute(CUpointer_attribute which, CUdeviceptr pointer) {
  T value{};
  EXPECT_SUCCESS(CU(cuPointerGetAttribute)(&value, which, pointer)) << which;
  return value;
}

// A kind of memory: how it is made and given back, and what its pointers say.
struct MemoryKind {
  const char* name;
  CUresult (*make)(CUdeviceptr*, std::size_t);
  CUresult (*drop)(CUdeviceptr);
  unsigned type;
  bool managed, host;

  friend void PrintTo(const MemoryKind& kind, std::ostream* out) { *out << kind.name; }
};

CUresult free_host(CUdeviceptr pointer) { return CU(cuMemFreeHost)(reinterpret_cast<void*>(pointer)); }

const MemoryKind kKinds[] = {
    {"Device", [](CUdeviceptr* p, std::size_t n) { return CU(cuMemAlloc)(p, n); },
     [](CUdeviceptr p) { return CU(cuMemFree)(p); }, CU_MEMORYTYPE_DEVICE, false, false},
    {"Pool",
     [](CUdeviceptr* p, std::size_t n) {
       const CUresult result = CU(cuMemAllocAsync)(p, n, nullptr);
       return result != CUDA_SUCCESS ? result : CU(cuStreamSynchronize)(nullptr);
     },
     [](CUdeviceptr p) { return CU(cuMemFree)(p); }, CU_MEMORYTYPE_DEVICE, false, false},
    {"Host", [](CUdeviceptr* p, std::size_t n) { return CU(cuMemAllocHost)(reinterpret_cast<void**>(p), n); },
     free_host, CU_MEMORYTYPE_HOST, false, true},
    {"HostPortable",
     [](CUdeviceptr* p, std::size_t n) {
       return CU(cuMemHostAlloc)(reinterpret_cast<void**>(p), n, CU_MEMHOSTALLOC_PORTABLE);
     },
     free_host, CU_MEMORYTYPE_HOST, false, true},
    {"Managed", [](CUdeviceptr* p, std::size_t n) { return CU(cuMemAllocManaged)(p, n, CU_MEM_ATTACH_GLOBAL); },
     [](CUdeviceptr p) { return CU(cuMemFree)(p); }, CU_MEMORYTYPE_DEVICE, true, true},
};

class Pointer : public DriverTest, public testing::WithParamInterface<MemoryKind> {
 protected:
  static constexpr std::size_t kBytes = 100000;

  void SetUp() override {
    DriverTest::SetUp();
    ASSERT_SUCCESS(GetParam().make(&memory_, kBytes));
  }
  void TearDown() override {
    EXPECT_SUCCESS(GetParam().drop(memory_));
    DriverTest::TearDown();
  }

  CUdeviceptr memory_ = 0;
};

TEST_P(Pointer, KnowsTheTypeOfMemory) {
  EXPECT_EQ(attribute<unsigned>(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory_ + 10), GetParam().type);
  EXPECT_EQ(attribute<unsigned>(CU_POINTER_ATTRIBUTE_IS_MANAGED, memory_ + 10), GetParam().managed ? 1u : 0u);
}

TEST_P(Pointer, KnowsItsDevice) { EXPECT_EQ(attribute<int>(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, memory_), device_); }

TEST_P(Pointer, KnowsItsRange) {
  EXPECT_EQ(attribute<CUdeviceptr>(CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, memory_ + 777), memory_);
  EXPECT_GE(attribute<std::size_t>(CU_POINTER_ATTRIBUTE_RANGE_SIZE, memory_ + 777), kBytes);
  EXPECT_EQ(attribute<unsigned>(CU_POINTER_ATTRIBUTE_MAPPED, memory_ + 777), 1u);
  CUdeviceptr base = 0;
  size_t bytes = 0;
  ASSERT_SUCCESS(CU(cuMemGetAddressRange)(&base, &bytes, memory_ + 777));
  EXPECT_EQ(base, memory_);
  EXPECT_GE(bytes, kBytes);
}

TEST_P(Pointer, KnowsItsAddressOnTheDevice) {
  EXPECT_EQ(attribute<CUdeviceptr>(CU_POINTER_ATTRIBUTE_DEVICE_POINTER, memory_ + 5), memory_ + 5);
}

TEST_P(Pointer, KnowsItsAddressOnTheHost) {
  void* host = nullptr;
  const CUresult result = CU(cuPointerGetAttribute)(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, memory_ + 5);
  if (GetParam().host) {
    EXPECT_SUCCESS(result);
    EXPECT_EQ(host, reinterpret_cast<void*>(memory_ + 5));
  } else {
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, result);
  }
}

TEST_P(Pointer, HasAnIdOfItsOwn) {
  CUdeviceptr other = 0;
  ASSERT_SUCCESS(GetParam().make(&other, kBytes));
  EXPECT_NE(attribute<unsigned long long>(CU_POINTER_ATTRIBUTE_BUFFER_ID, memory_),
            attribute<unsigned long long>(CU_POINTER_ATTRIBUTE_BUFFER_ID, other));
  EXPECT_EQ(attribute<unsigned long long>(CU_POINTER_ATTRIBUTE_BUFFER_ID, memory_),
            attribute<unsigned long long>(CU_POINTER_ATTRIBUTE_BUFFER_ID, memory_ + 100));
  EXPECT_SUCCESS(GetParam().drop(other));
}

TEST_P(Pointer, IsReadAndWrittenByItsDevice) {
  EXPECT_EQ(attribute<unsigned>(CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, memory_),
            static_cast<unsigned>(CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE));
}

TEST_P(Pointer, KnowsItsPool) {
  CUmemoryPool expected = nullptr;
  if (std::string(GetParam().name) == "Pool") {
    ASSERT_SUCCESS(CU(cuDeviceGetMemPool)(&expected, device_));
  }
  EXPECT_EQ(attribute<CUmemoryPool>(CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, memory_), expected);
}

INSTANTIATE_TEST_SUITE_P(Of, Pointer, testing::ValuesIn(kKinds),
                         [](const auto& kind) { return std::string(kind.param.name); });

using PointerElsewhere = DriverTest;

TEST_F(PointerElsewhere, UnknownMemoryHasNoAttributes) {
  int local = 0;
  unsigned value = 0;
  const auto pointer = reinterpret_cast<CUdeviceptr>(&local);
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE,
                    CU(cuPointerGetAttribute)(&value, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, pointer));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE,
                    CU(cuPointerGetAttribute)(&value, CU_POINTER_ATTRIBUTE_IS_MANAGED, pointer));
}

TEST_F(PointerElsewhere, SeveralAtOnceGiveNullValuesForIt) {
  int local = 0;
  unsigned type = 7, managed = 7;
  CUcontext context = context_;
  CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                      CU_POINTER_ATTRIBUTE_CONTEXT};
  void* values[] = {&type, &managed, &context};
  ASSERT_SUCCESS(CU(cuPointerGetAttributes)(3, attributes, values, reinterpret_cast<CUdeviceptr>(&local)));
  EXPECT_EQ(type, 0u);
  EXPECT_EQ(managed, 0u);
  EXPECT_EQ(context, nullptr);
}

TEST_F(PointerElsewhere, SeveralAtOnceDoNotFailWhereOneHasNoValue) {
  const DeviceMemory memory(64);
  void* host = &host;
  unsigned type = 0;
  CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_HOST_POINTER, CU_POINTER_ATTRIBUTE_MEMORY_TYPE};
  void* values[] = {&host, &type};
  ASSERT_SUCCESS(CU(cuPointerGetAttributes)(2, attributes, values, memory.get()));
  EXPECT_EQ(host, nullptr);
  EXPECT_EQ(type, static_cast<unsigned>(CU_MEMORYTYPE_DEVICE));
}

TEST_F(PointerElsewhere, UnknownAttributesAreRefused) {
  const DeviceMemory memory(64);
  unsigned value = 0;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE,
                    CU(cuPointerGetAttribute)(&value, static_cast<CUpointer_attribute>(31), memory.get()));
}

TEST_F(PointerElsewhere, SynchronousOperationsCanBeSet) {
  const DeviceMemory memory(64);
  unsigned on = 1;
  EXPECT_EQ(attribute<unsigned>(CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, memory.get()), 0u);
  ASSERT_SUCCESS(CU(cuPointerSetAttribute)(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, memory.get()));
  EXPECT_EQ(attribute<unsigned>(CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, memory.get()), 1u);
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE,
                    CU(cuPointerSetAttribute)(&on, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory.get()));
}

TEST_F(PointerElsewhere, RegisteredMemoryIsHostMemory) {
  std::vector<char> memory(1 << 16);
  const auto pointer = reinterpret_cast<CUdeviceptr>(memory.data());
  ASSERT_SUCCESS(CU(cuMemHostRegister)(memory.data(), memory.size(), CU_MEMHOSTREGISTER_PORTABLE));
  EXPECT_EQ(attribute<unsigned>(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, pointer), static_cast<unsigned>(CU_MEMORYTYPE_HOST));
  EXPECT_EQ(attribute<unsigned>(CU_POINTER_ATTRIBUTE_IS_MANAGED, pointer), 0u);
  CUdeviceptr device = 0;
  ASSERT_SUCCESS(CU(cuMemHostGetDevicePointer)(&device, memory.data(), 0));
  EXPECT_EQ(attribute<CUdeviceptr>(CU_POINTER_ATTRIBUTE_DEVICE_POINTER, pointer), device);
  unsigned flags = 0;
  ASSERT_SUCCESS(CU(cuMemHostGetFlags)(&flags, memory.data()));
  EXPECT_NE(flags & CU_MEMHOSTREGISTER_PORTABLE, 0u);
  EXPECT_SUCCESS(CU(cuMemHostUnregister)(memory.data()));
}

TEST_F(PointerElsewhere, FreedMemoryIsUnknown) {
  CUdeviceptr pointer = 0;
  ASSERT_SUCCESS(CU(cuMemAlloc)(&pointer, std::size_t{64} << 20));
  ASSERT_SUCCESS(CU(cuMemFree)(pointer));
  unsigned value = 0;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE,
                    CU(cuPointerGetAttribute)(&value, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, pointer));
}

TEST_F(PointerElsewhere, HostMemoryHasADevicePointerWithoutFlagsOnly) {
  const PinnedMemory<int> memory(16);
  CUdeviceptr pointer = 0;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemHostGetDevicePointer)(&pointer, memory.data(), 1));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemHostGetDevicePointer)(&pointer, nullptr, 0));
}

TEST_F(PointerElsewhere, RegisteringNeedsMemoryAndKnownFlags) {
  std::vector<char> memory(4096);
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemHostRegister)(nullptr, 4096, 0));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemHostRegister)(memory.data(), 0, 0));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemHostRegister)(memory.data(), 4096, 0x1000));
  void* pointer = nullptr;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemHostAlloc)(&pointer, 4096, 0x1000));
}

TEST_F(PointerElsewhere, NoBytesOfHostMemoryCanBeAllocated) {
  void* pointer = nullptr;
  EXPECT_SUCCESS(CU(cuMemHostAlloc)(&pointer, 0, 0));
  if (pointer != nullptr) {
    EXPECT_SUCCESS(CU(cuMemFreeHost)(pointer));
  }
}

}  // namespace
}  // namespace conformance
