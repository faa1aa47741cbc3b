// Memory pools between processes. In each test the child imports what the test exports.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <numeric>
#include <vector>

#include "conformance/child.hpp"
#include "conformance/kernels.hpp"

namespace conformance {
namespace {

constexpr auto kDescriptor = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
constexpr int kCount = 1000;
constexpr std::size_t kBytes = kCount * sizeof(int);

CUmemPoolProps properties_of(CUmemLocationType location, CUmemAllocationHandleType handles = kDescriptor) {
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.handleTypes = handles;
  properties.location.type = location;
  return properties;
}

int attribute_of_device(CUdevice_attribute attribute) {
  int value = 0;
  EXPECT_SUCCESS(CU(cuDeviceGetAttribute)(&value, attribute, 0));
  return value;
}

// A pool, created to be shared unless told otherwise.
class SharedPool {
 public:
  explicit SharedPool(CUmemLocationType location = CU_MEM_LOCATION_TYPE_DEVICE,
                      CUmemAllocationHandleType handles = kDescriptor) {
    const CUmemPoolProps properties = properties_of(location, handles);
    EXPECT_SUCCESS(CU(cuMemPoolCreate)(&pool_, &properties));
  }
  ~SharedPool() { destroy(); }
  SharedPool(const SharedPool&) = delete;
  SharedPool& operator=(const SharedPool&) = delete;
  CUmemoryPool get() const { return pool_; }

  void destroy() {
    if (pool_ == nullptr) return;
    EXPECT_SUCCESS(CU(cuMemPoolDestroy)(pool_));
    pool_ = nullptr;
  }
  int exported() const {
    int descriptor = -1;
    EXPECT_SUCCESS(CU(cuMemPoolExportToShareableHandle)(&descriptor, pool_, kDescriptor, 0));
    return descriptor;
  }
  void send(Channel& channel) const {
    const int descriptor = exported();
    channel.send_descriptor(descriptor);
    close(descriptor);
  }
  // Memory whose allocation is done.
  CUdeviceptr allocate(std::size_t bytes = kBytes) const {
    CUdeviceptr pointer = 0;
    EXPECT_SUCCESS(CU(cuMemAllocFromPoolAsync)(&pointer, bytes, pool_, nullptr));
    EXPECT_SUCCESS(CU(cuStreamSynchronize)(nullptr));
    return pointer;
  }

 private:
  CUmemoryPool pool_ = nullptr;
};

CUmemPoolPtrExportData exported(CUdeviceptr pointer) {
  CUmemPoolPtrExportData data{};
  EXPECT_SUCCESS(CU(cuMemPoolExportPointer)(&data, pointer));
  return data;
}

void put(CUdeviceptr pointer, int value) {
  EXPECT_SUCCESS(CU(cuMemsetD32)(pointer, static_cast<unsigned>(value), kCount));
  EXPECT_SUCCESS(CU(cuStreamSynchronize)(nullptr));
}

void expect_values(CUdeviceptr pointer, int value) {
  std::vector<int> values(kCount);
  EXPECT_SUCCESS(CU(cuMemcpyDtoH)(values.data(), pointer, kBytes));
  EXPECT_EQ(values, std::vector<int>(kCount, value));
}

void free_now(CUdeviceptr pointer) {
  EXPECT_SUCCESS(CU(cuMemFreeAsync)(pointer, nullptr));
  EXPECT_SUCCESS(CU(cuStreamSynchronize)(nullptr));
}

CUmemoryPool import_pool(int descriptor) {
  CUmemoryPool pool = nullptr;
  EXPECT_SUCCESS(CU(cuMemPoolImportFromShareableHandle)(&pool, reinterpret_cast<void*>(std::intptr_t{descriptor}),
                                                        kDescriptor, 0));
  close(descriptor);
  return pool;
}

CUdeviceptr import_pointer(CUmemoryPool pool, CUmemPoolPtrExportData data) {
  CUdeviceptr pointer = 0;
  EXPECT_SUCCESS(CU(cuMemPoolImportPointer)(&pointer, pool, &data));
  return pointer;
}

CUresult try_import(CUmemoryPool pool, CUmemPoolPtrExportData data) {
  CUdeviceptr pointer = 0;
  return CU(cuMemPoolImportPointer)(&pointer, pool, &data);
}

class PoolIpc : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    if ((attribute_of_device(CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES) & kDescriptor) == 0)
      GTEST_SKIP() << "the device's pools can't be shared by file descriptor";
  }
};

// The child gets the pool and an allocation of it that holds `before`, does its part and ends, and leaves `after` in
// it.
void share_with(const char* test, int before, int after) {
  const SharedPool pool;
  Child child(test);
  pool.send(child.channel());
  const CUdeviceptr memory = pool.allocate();
  put(memory, before);
  child.channel().send(exported(memory));
  EXPECT_EQ(child.wait(), 0);
  expect_values(memory, after);
  free_now(memory);
}

// The other side of share_with().
class Importer : public ChildProcess {
 protected:
  void SetUp() override {
    ChildProcess::SetUp();
    pool_ = import_pool(parent().receive_descriptor());
    data_ = parent().receive<CUmemPoolPtrExportData>();
    memory_ = import_pointer(pool_, data_);
  }
  void TearDown() override {
    if (memory_ != 0) free_now(memory_);
    if (pool_ != nullptr) {
      EXPECT_SUCCESS(CU(cuMemPoolDestroy)(pool_));
    }
    ChildProcess::TearDown();
  }
  CUmemoryPool pool_ = nullptr;
  CUmemPoolPtrExportData data_{};
  CUdeviceptr memory_ = 0;
};

TEST_F(Importer, DISABLED_Reads) { expect_values(memory_, 7); }
TEST_F(PoolIpc, ImporterSeesWhatTheExporterWrote) { share_with("Importer.DISABLED_Reads", 7, 7); }

TEST_F(Importer, DISABLED_Writes) { put(memory_, 8); }
TEST_F(PoolIpc, ExporterSeesWhatTheImporterWrote) { share_with("Importer.DISABLED_Writes", 7, 8); }

TEST_F(Importer, DISABLED_LaunchesAKernel) {
  const TestModule module(kKernels);
  EXPECT_SUCCESS(launch(module.function("increment"), 8, 128, nullptr, memory_, kCount));
  EXPECT_SUCCESS(CU(cuCtxSynchronize)());
}
TEST_F(PoolIpc, KernelsUseImportedMemory) { share_with("Importer.DISABLED_LaunchesAKernel", 1, 2); }

TEST_F(Importer, DISABLED_Copies) {
  const DeviceMemory other(kBytes);
  EXPECT_SUCCESS(CU(cuMemcpyDtoD)(other.get(), memory_, kBytes));
  expect_values(other.get(), 3);
  EXPECT_SUCCESS(CU(cuMemsetD32)(other.get(), 4, kCount));
  EXPECT_SUCCESS(CU(cuMemcpyDtoD)(memory_, other.get(), kBytes));
  EXPECT_SUCCESS(CU(cuCtxSynchronize)());
}
TEST_F(PoolIpc, ImportedMemoryIsCopiedLikeAnyOther) { share_with("Importer.DISABLED_Copies", 3, 4); }

TEST_F(Importer, DISABLED_FreesSynchronously) { EXPECT_SUCCESS(CU(cuMemFree)(std::exchange(memory_, 0))); }
TEST_F(PoolIpc, ImportedMemoryIsFreedByMemFree) { share_with("Importer.DISABLED_FreesSynchronously", 1, 1); }

TEST_F(Importer, DISABLED_FreesInAStream) {
  const TestStream stream;
  EXPECT_SUCCESS(CU(cuMemsetD32Async)(memory_, 6, kCount, stream.get()));
  EXPECT_SUCCESS(CU(cuMemFreeAsync)(std::exchange(memory_, 0), stream.get()));
  EXPECT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
}
TEST_F(PoolIpc, ImportedMemoryIsFreedInStreamOrder) { share_with("Importer.DISABLED_FreesInAStream", 1, 6); }

TEST_F(Importer, DISABLED_FreesAndImportsAgain) {
  free_now(memory_);
  memory_ = import_pointer(pool_, data_);
  expect_values(memory_, 5);
}
TEST_F(PoolIpc, FreedImportCanBeImportedAgain) { share_with("Importer.DISABLED_FreesAndImportsAgain", 5, 5); }

TEST_F(Importer, DISABLED_Allocates) {
  CUdeviceptr pointer = 0;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemAllocFromPoolAsync)(&pointer, 64, pool_, nullptr));
}
TEST_F(PoolIpc, NothingIsAllocatedFromAnImportedPool) { share_with("Importer.DISABLED_Allocates", 1, 1); }

TEST_F(Importer, DISABLED_MakesItTheDevicesPool) {
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuDeviceSetMemPool)(0, pool_));
}
TEST_F(PoolIpc, ImportedPoolCantBeTheDevicesPool) { share_with("Importer.DISABLED_MakesItTheDevicesPool", 1, 1); }

TEST_F(Importer, DISABLED_DestroysThePoolFirst) {
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemPoolDestroy)(pool_));
  expect_values(memory_, 9);
}
TEST_F(PoolIpc, ImportedPoolStaysWhileItsMemoryIsUsed) { share_with("Importer.DISABLED_DestroysThePoolFirst", 9, 9); }

TEST_F(Importer, DISABLED_LooksAtTheMemory) {
  unsigned type = 0;
  int ordinal = -1;
  CUdeviceptr base = 0;
  std::size_t bytes = 0;
  EXPECT_SUCCESS(CU(cuPointerGetAttribute)(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory_ + 4));
  EXPECT_SUCCESS(CU(cuPointerGetAttribute)(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, memory_ + 4));
  EXPECT_SUCCESS(CU(cuMemGetAddressRange)(&base, &bytes, memory_ + 4));
  EXPECT_EQ(type, CU_MEMORYTYPE_DEVICE);
  EXPECT_EQ(ordinal, 0);
  EXPECT_EQ(base, memory_);
  EXPECT_GE(bytes, kBytes);
}
TEST_F(PoolIpc, PointerAttributesKnowImportedMemory) { share_with("Importer.DISABLED_LooksAtTheMemory", 1, 1); }

TEST_F(Importer, DISABLED_RefusesNonsense) {
  CUmemPoolPtrExportData nonsense{};
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, try_import(pool_, nonsense));
  std::memset(&nonsense, 0xff, sizeof nonsense);
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, try_import(pool_, nonsense));
}
TEST_F(PoolIpc, MalformedPointerDataIsRefused) { share_with("Importer.DISABLED_RefusesNonsense", 1, 1); }

TEST_F(Importer, DISABLED_RefusesEveryChangedByte) {
  for (std::size_t i = 0; i < sizeof data_; ++i) {
    CUmemPoolPtrExportData changed = data_;
    changed.reserved[i] ^= 0x40;
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, try_import(pool_, changed)) << "byte " << i;
  }
}
TEST_F(PoolIpc, ChangedPointerDataIsRefused) {
  if (!is_softgpu()) GTEST_SKIP() << "a GPU's driver does not promise to notice";
  share_with("Importer.DISABLED_RefusesEveryChangedByte", 1, 1);
}

TEST_F(Importer, DISABLED_RefusesNullPointers) {
  CUdeviceptr pointer = 0;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemPoolImportPointer)(nullptr, pool_, &data_));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemPoolImportPointer)(&pointer, pool_, nullptr));
}
TEST_F(PoolIpc, ImportingChecksItsArguments) { share_with("Importer.DISABLED_RefusesNullPointers", 1, 1); }

TEST_F(ChildProcess, DISABLED_ImportsFromTheWrongPool) {
  CUmemoryPool pool = import_pool(parent().receive_descriptor());
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, try_import(pool, parent().receive<CUmemPoolPtrExportData>()));
  EXPECT_SUCCESS(CU(cuMemPoolDestroy)(pool));
}
TEST_F(PoolIpc, PointerOfAnotherPoolIsRefused) {
  const SharedPool pool, other;
  Child child("ChildProcess.DISABLED_ImportsFromTheWrongPool");
  pool.send(child.channel());
  close(other.exported());  // what comes before exporting its memory
  const CUdeviceptr memory = other.allocate();
  child.channel().send(exported(memory));
  EXPECT_EQ(child.wait(), 0);
  free_now(memory);
}

TEST_F(ChildProcess, DISABLED_ImportsMany) {
  CUmemoryPool pool = import_pool(parent().receive_descriptor());
  std::vector<CUdeviceptr> memory;
  for (int i = 0; i < 20; ++i) {
    memory.push_back(import_pointer(pool, parent().receive<CUmemPoolPtrExportData>()));
    expect_values(memory.back(), i);
  }
  for (const CUdeviceptr pointer : memory) free_now(pointer);
  EXPECT_SUCCESS(CU(cuMemPoolDestroy)(pool));
}
TEST_F(PoolIpc, ManyPointersOfOnePoolAreShared) {
  const SharedPool pool;
  Child child("ChildProcess.DISABLED_ImportsMany");
  pool.send(child.channel());
  std::vector<CUdeviceptr> memory;
  for (int i = 0; i < 20; ++i) {
    memory.push_back(pool.allocate());
    put(memory.back(), i);
    child.channel().send(exported(memory.back()));
  }
  EXPECT_EQ(child.wait(), 0);
  for (const CUdeviceptr pointer : memory) free_now(pointer);
}

// Both sides see the other's changes as they are made.
TEST_F(ChildProcess, DISABLED_AnswersEachValue) {
  CUmemoryPool pool = import_pool(parent().receive_descriptor());
  const CUdeviceptr memory = import_pointer(pool, parent().receive<CUmemPoolPtrExportData>());
  for (int i = 0; i < 10; ++i) {
    parent().await();
    expect_values(memory, 2 * i);
    put(memory, 2 * i + 1);
    parent().signal();
  }
  free_now(memory);
  EXPECT_SUCCESS(CU(cuMemPoolDestroy)(pool));
}
TEST_F(PoolIpc, BothProcessesWorkOnTheSameMemory) {
  const SharedPool pool;
  Child child("ChildProcess.DISABLED_AnswersEachValue");
  pool.send(child.channel());
  const CUdeviceptr memory = pool.allocate();
  child.channel().send(exported(memory));
  for (int i = 0; i < 10; ++i) {
    put(memory, 2 * i);
    child.channel().signal();
    child.channel().await();
    expect_values(memory, 2 * i + 1);
  }
  EXPECT_EQ(child.wait(), 0);
  free_now(memory);
}

TEST_F(ChildProcess, DISABLED_ImportsAndWaitsToBeKilled) {
  CUmemoryPool pool = import_pool(parent().receive_descriptor());
  const CUdeviceptr memory = import_pointer(pool, parent().receive<CUmemPoolPtrExportData>());
  put(memory, 5);
  parent().signal();
  parent().await();
}
TEST_F(PoolIpc, ImporterThatDiesHarmsNobody) {
  const SharedPool pool;
  Child child("ChildProcess.DISABLED_ImportsAndWaitsToBeKilled");
  pool.send(child.channel());
  const CUdeviceptr memory = pool.allocate();
  child.channel().send(exported(memory));
  child.channel().await();
  child.kill();
  expect_values(memory, 5);
  free_now(memory);
  const CUdeviceptr again = pool.allocate();
  put(again, 6);
  expect_values(again, 6);
  free_now(again);
}

TEST_F(ChildProcess, DISABLED_ExportsAndEnds) {
  const SharedPool pool;
  pool.send(parent());
  const CUdeviceptr memory = pool.allocate();
  put(memory, 11);
  parent().send(exported(memory));
  parent().await();
}
TEST_F(PoolIpc, ImportedMemoryOutlivesTheExporter) {
  Child child("ChildProcess.DISABLED_ExportsAndEnds");
  CUmemoryPool pool = import_pool(child.channel().receive_descriptor());
  const CUdeviceptr memory = import_pointer(pool, child.channel().receive<CUmemPoolPtrExportData>());
  child.kill();
  expect_values(memory, 11);
  put(memory, 12);
  expect_values(memory, 12);
  free_now(memory);
  EXPECT_SUCCESS(CU(cuMemPoolDestroy)(pool));
}

TEST_F(ChildProcess, DISABLED_ImportsBeforeAndAfterTheFree) {
  CUmemoryPool pool = import_pool(parent().receive_descriptor());
  const auto data = parent().receive<CUmemPoolPtrExportData>();
  free_now(import_pointer(pool, data));
  parent().signal();
  parent().await();
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, try_import(pool, data));
  parent().signal();
  parent().await();
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, try_import(pool, data)) << "the block is in use again";
  EXPECT_SUCCESS(CU(cuMemPoolDestroy)(pool));
}
TEST_F(PoolIpc, ReplayedPointerDataOfFreedMemoryIsRefused) {
  if (!is_softgpu()) GTEST_SKIP() << "what a GPU's driver does then is not specified";
  const SharedPool pool;
  Child child("ChildProcess.DISABLED_ImportsBeforeAndAfterTheFree");
  pool.send(child.channel());
  const CUdeviceptr memory = pool.allocate();
  child.channel().send(exported(memory));
  child.channel().await();
  free_now(memory);
  child.channel().signal();
  child.channel().await();
  const CUdeviceptr again = pool.allocate();
  exported(again);
  child.channel().signal();
  EXPECT_EQ(child.wait(), 0);
  free_now(again);
}

TEST_F(PoolIpc, ExportedMemoryOutlivesItsPool) {
  SharedPool pool;
  Child child("Importer.DISABLED_Reads");
  pool.send(child.channel());
  const CUdeviceptr memory = pool.allocate();
  put(memory, 7);
  pool.destroy();
  child.channel().send(exported(memory));
  EXPECT_EQ(child.wait(), 0);
  free_now(memory);
}

TEST_F(PoolIpc, EveryExportOfAPointerCanBeImported) {
  const SharedPool pool;
  const CUdeviceptr memory = pool.allocate();
  put(memory, 7);
  for (int i = 0; i < 2; ++i) {
    Child child("Importer.DISABLED_Reads");
    pool.send(child.channel());
    child.channel().send(exported(memory));
    EXPECT_EQ(child.wait(), 0);
  }
  free_now(memory);
}

TEST_F(PoolIpc, SeveralProcessesImportOnePool) {
  const SharedPool pool;
  const CUdeviceptr memory = pool.allocate();
  put(memory, 7);
  Child first("Importer.DISABLED_Reads"), second("Importer.DISABLED_Reads");
  for (Child* child : {&first, &second}) {
    pool.send(child->channel());
    child->channel().send(exported(memory));
  }
  EXPECT_EQ(first.wait(), 0);
  EXPECT_EQ(second.wait(), 0);
  free_now(memory);
}

TEST_F(PoolIpc, SharedPoolAllocatesLikeAnyOther) {
  const SharedPool pool;
  const TestStream stream;
  CUdeviceptr pointer = 0;
  cuuint64_t used = 0;
  ASSERT_SUCCESS(CU(cuMemAllocFromPoolAsync)(&pointer, 1 << 20, pool.get(), stream.get()));
  ASSERT_SUCCESS(CU(cuMemPoolGetAttribute)(pool.get(), CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
  EXPECT_GE(used, 1u << 20);
  ASSERT_SUCCESS(CU(cuMemsetD8Async)(pointer, 1, 1 << 20, stream.get()));
  ASSERT_SUCCESS(CU(cuMemFreeAsync)(pointer, stream.get()));
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  ASSERT_SUCCESS(CU(cuMemPoolGetAttribute)(pool.get(), CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
  EXPECT_EQ(used, 0u);
}

TEST_F(PoolIpc, EveryExportOfAPoolIsADescriptorOfItsOwn) {
  const SharedPool pool;
  const int first = pool.exported(), second = pool.exported();
  EXPECT_NE(first, second);
  EXPECT_EQ(close(first), 0);
  EXPECT_EQ(close(second), 0);
}

TEST_F(PoolIpc, ExportedDescriptorIsNotInheritedByPrograms) {
  if (!is_softgpu()) GTEST_SKIP() << "the descriptors of a GPU's driver are inherited";
  const SharedPool pool;
  const int descriptor = pool.exported();
  EXPECT_NE(fcntl(descriptor, F_GETFD) & FD_CLOEXEC, 0);
  close(descriptor);
}

TEST_F(PoolIpc, PoolThatWasNotCreatedForItIsNotExported) {
  const SharedPool pool(CU_MEM_LOCATION_TYPE_DEVICE, CU_MEM_HANDLE_TYPE_NONE);
  int descriptor = -1;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE,
                    CU(cuMemPoolExportToShareableHandle)(&descriptor, pool.get(), kDescriptor, 0));
}

TEST_F(PoolIpc, DefaultPoolIsNotExported) {
  CUmemoryPool pool = nullptr;
  int descriptor = -1;
  ASSERT_SUCCESS(CU(cuDeviceGetDefaultMemPool)(&pool, 0));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemPoolExportToShareableHandle)(&descriptor, pool, kDescriptor, 0));
}

TEST_F(PoolIpc, ExportingChecksItsArguments) {
  const SharedPool pool;
  int descriptor = -1;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE,
                    CU(cuMemPoolExportToShareableHandle)(nullptr, pool.get(), kDescriptor, 0));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE,
                    CU(cuMemPoolExportToShareableHandle)(&descriptor, pool.get(), kDescriptor, 1));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE,
                    CU(cuMemPoolExportToShareableHandle)(&descriptor, pool.get(), CU_MEM_HANDLE_TYPE_NONE, 0));
}

TEST_F(PoolIpc, MemoryOfOtherPoolsIsNotExported) {
  const SharedPool pool(CU_MEM_LOCATION_TYPE_DEVICE, CU_MEM_HANDLE_TYPE_NONE);
  const CUdeviceptr memory = pool.allocate();
  CUmemPoolPtrExportData data;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemPoolExportPointer)(&data, memory));
  free_now(memory);
}

TEST_F(PoolIpc, MemoryOfNoPoolIsNotExported) {
  const DeviceMemory memory(64);
  CUmemPoolPtrExportData data;
  int here = 0;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemPoolExportPointer)(&data, memory.get()));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemPoolExportPointer)(&data, reinterpret_cast<CUdeviceptr>(&here)));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemPoolExportPointer)(nullptr, memory.get()));
}

TEST_F(PoolIpc, DescriptorsOfOtherFilesAreRefused) {
  int ends[2] = {-1, -1};
  ASSERT_EQ(pipe(ends), 0);
  const int memory = memfd_create("something else", MFD_CLOEXEC), null = open("/dev/null", O_RDWR | O_CLOEXEC);
  ASSERT_EQ(ftruncate(memory, 1 << 22), 0);
  for (const int descriptor : {-1, 1 << 20, ends[0], ends[1], memory, null}) {
    CUmemoryPool pool = nullptr;
    EXPECT_FALSE(succeeded(CU(cuMemPoolImportFromShareableHandle)(
        &pool, reinterpret_cast<void*>(std::intptr_t{descriptor}), kDescriptor, 0)))
        << descriptor;
  }
  for (const int descriptor : {ends[0], ends[1], memory, null}) close(descriptor);
}

TEST_F(PoolIpc, ImportingAPoolChecksItsArguments) {
  const SharedPool pool;
  const int descriptor = pool.exported();
  void* as_pointer = reinterpret_cast<void*>(std::intptr_t{descriptor});
  CUmemoryPool imported = nullptr;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE,
                    CU(cuMemPoolImportFromShareableHandle)(nullptr, as_pointer, kDescriptor, 0));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE,
                    CU(cuMemPoolImportFromShareableHandle)(&imported, as_pointer, kDescriptor, 1));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE,
                    CU(cuMemPoolImportFromShareableHandle)(&imported, as_pointer, CU_MEM_HANDLE_TYPE_NONE, 0));
  close(descriptor);
}

TEST_F(PoolIpc, PoolOfTheHostCantBeShared) {
  if (attribute_of_device(CU_DEVICE_ATTRIBUTE_HOST_MEMORY_POOLS_SUPPORTED) == 0) GTEST_SKIP() << "no pools on the host";
  const CUmemPoolProps properties = properties_of(CU_MEM_LOCATION_TYPE_HOST);
  CUmemoryPool pool = nullptr;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemPoolCreate)(&pool, &properties));
}

TEST_F(PoolIpc, PoolOfANumaNodeCanBeShared) {
  if (attribute_of_device(CU_DEVICE_ATTRIBUTE_HOST_NUMA_MEMORY_POOLS_SUPPORTED) == 0)
    GTEST_SKIP() << "no pools on the host's NUMA nodes";
  const SharedPool pool(CU_MEM_LOCATION_TYPE_HOST_NUMA);
  CUmemAccessDesc access{};
  access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  ASSERT_SUCCESS(CU(cuMemPoolSetAccess)(pool.get(), &access, 1));
  Child child("ChildProcess.DISABLED_ReadsOnTheHost");
  pool.send(child.channel());
  const CUdeviceptr memory = pool.allocate();
  auto* values = reinterpret_cast<int*>(memory);
  std::iota(values, values + kCount, 1);
  child.channel().send(exported(memory));
  EXPECT_EQ(child.wait(), 0);
  EXPECT_EQ(values[0], 77);
  free_now(memory);
}
TEST_F(ChildProcess, DISABLED_ReadsOnTheHost) {
  CUmemoryPool pool = import_pool(parent().receive_descriptor());
  const CUdeviceptr memory = import_pointer(pool, parent().receive<CUmemPoolPtrExportData>());
  auto* values = reinterpret_cast<int*>(memory);
  EXPECT_EQ(std::accumulate(values, values + kCount, 0), kCount * (kCount + 1) / 2);
  values[0] = 77;
  free_now(memory);
  EXPECT_SUCCESS(CU(cuMemPoolDestroy)(pool));
}

}  // namespace
}  // namespace conformance
