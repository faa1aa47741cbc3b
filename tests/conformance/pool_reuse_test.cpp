// When freed memory of a pool is used again: in its stream, where streams are ordered, when the free has been reached,
// or by waiting for it. Whether it is, shows in how much the pool has reserved.
#include <thread>

#include "conformance/driver.hpp"
#include "conformance/gate.hpp"

namespace conformance {
namespace {

constexpr std::size_t kBlock = std::size_t{64} << 20;

class PoolReuse : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    create(0);
  }
  void TearDown() override {
    EXPECT_SUCCESS(CU(cuCtxSynchronize)());
    EXPECT_SUCCESS(CU(cuMemPoolDestroy)(pool_));
    DriverTest::TearDown();
  }

  void create(std::size_t most) {
    if (pool_ != nullptr) {
      ASSERT_SUCCESS(CU(cuMemPoolDestroy)(pool_));
    }
    CUmemPoolProps properties{};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties.location.id = device_;
    properties.maxSize = most;
    ASSERT_SUCCESS(CU(cuMemPoolCreate)(&pool_, &properties));
    cuuint64_t keep = UINT64_MAX;
    ASSERT_SUCCESS(CU(cuMemPoolSetAttribute)(pool_, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep));
  }
  void allow(bool events, bool opportunistic, bool internal) {
    set(CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES, events);
    set(CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, opportunistic);
    set(CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES, internal);
  }
  void set(CUmemPool_attribute attribute, int value) {
    ASSERT_SUCCESS(CU(cuMemPoolSetAttribute)(pool_, attribute, &value));
  }
  CUresult try_allocate(CUdeviceptr& pointer, CUstream stream) {
    return CU(cuMemAllocFromPoolAsync)(&pointer, kBlock, pool_, stream);
  }
  CUdeviceptr allocate(CUstream stream) {
    CUdeviceptr pointer = 0;
    EXPECT_SUCCESS(try_allocate(pointer, stream));
    return pointer;
  }
  void free(CUdeviceptr pointer, CUstream stream) { EXPECT_SUCCESS(CU(cuMemFreeAsync)(pointer, stream)); }
  // How many blocks the pool has memory for.
  std::size_t blocks() {
    cuuint64_t bytes = 0;
    EXPECT_SUCCESS(CU(cuMemPoolGetAttribute)(pool_, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &bytes));
    return bytes / kBlock;
  }
  CUmemoryPool pool_ = nullptr;
};

TEST_F(PoolReuse, InItsStreamAtOnce) {
  allow(false, false, false);
  const TestStream stream(CU_STREAM_NON_BLOCKING);
  Gate gate(stream.get());
  const CUdeviceptr first = allocate(stream.get());
  free(first, stream.get());
  const CUdeviceptr second = allocate(stream.get());
  EXPECT_EQ(blocks(), 1u);
  free(second, stream.get());
}

TEST_F(PoolReuse, NotInAnotherStreamBeforeTheFree) {
  allow(false, false, false);
  const TestStream a(CU_STREAM_NON_BLOCKING), b(CU_STREAM_NON_BLOCKING);
  Gate gate(a.get());
  free(allocate(a.get()), a.get());
  const CUdeviceptr second = allocate(b.get());
  EXPECT_EQ(blocks(), 2u);
  free(second, b.get());
}

TEST_F(PoolReuse, WhereAnEventPutsTheStreamAfterTheFree) {
  allow(true, false, false);
  const TestStream a(CU_STREAM_NON_BLOCKING), b(CU_STREAM_NON_BLOCKING);
  const TestEvent freed;
  Gate gate(a.get());
  free(allocate(a.get()), a.get());
  ASSERT_SUCCESS(CU(cuEventRecord)(freed.get(), a.get()));
  ASSERT_SUCCESS(CU(cuStreamWaitEvent)(b.get(), freed.get(), 0));
  const CUdeviceptr second = allocate(b.get());
  EXPECT_EQ(blocks(), 1u);
  free(second, b.get());
}

TEST_F(PoolReuse, WhereEventsOfSeveralStreamsPutItThere) {
  allow(true, false, false);
  const TestStream a(CU_STREAM_NON_BLOCKING), b(CU_STREAM_NON_BLOCKING), c(CU_STREAM_NON_BLOCKING);
  const TestEvent first, second;
  Gate gate(a.get());
  free(allocate(a.get()), a.get());
  ASSERT_SUCCESS(CU(cuEventRecord)(first.get(), a.get()));
  ASSERT_SUCCESS(CU(cuStreamWaitEvent)(b.get(), first.get(), 0));
  ASSERT_SUCCESS(CU(cuEventRecord)(second.get(), b.get()));
  ASSERT_SUCCESS(CU(cuStreamWaitEvent)(c.get(), second.get(), 0));
  const CUdeviceptr again = allocate(c.get());
  EXPECT_EQ(blocks(), 1u);
  free(again, c.get());
}

TEST_F(PoolReuse, NotWhereTheEventIsBeforeTheFree) {
  allow(true, false, false);
  const TestStream a(CU_STREAM_NON_BLOCKING), b(CU_STREAM_NON_BLOCKING);
  const TestEvent before;
  Gate gate(a.get());
  const CUdeviceptr first = allocate(a.get());
  ASSERT_SUCCESS(CU(cuEventRecord)(before.get(), a.get()));
  free(first, a.get());
  ASSERT_SUCCESS(CU(cuStreamWaitEvent)(b.get(), before.get(), 0));
  const CUdeviceptr second = allocate(b.get());
  EXPECT_EQ(blocks(), 2u);
  free(second, b.get());
}

TEST_F(PoolReuse, NotByEventsWhenThatIsSwitchedOff) {
  allow(false, false, false);
  const TestStream a(CU_STREAM_NON_BLOCKING), b(CU_STREAM_NON_BLOCKING);
  const TestEvent freed;
  Gate gate(a.get());
  free(allocate(a.get()), a.get());
  ASSERT_SUCCESS(CU(cuEventRecord)(freed.get(), a.get()));
  ASSERT_SUCCESS(CU(cuStreamWaitEvent)(b.get(), freed.get(), 0));
  const CUdeviceptr second = allocate(b.get());
  EXPECT_EQ(blocks(), 2u);
  free(second, b.get());
}

TEST_F(PoolReuse, OnceTheFreeHasBeenReached) {
  allow(false, true, false);
  const TestStream a(CU_STREAM_NON_BLOCKING), b(CU_STREAM_NON_BLOCKING);
  const PinnedMemory<int> flag(1);
  free(allocate(a.get()), a.get());
  ASSERT_SUCCESS(CU(cuMemsetD32Async)(flag.device(), 1, 1, a.get()));
  while (reinterpret_cast<volatile int&>(flag[0]) == 0) std::this_thread::yield();
  const CUdeviceptr second = allocate(b.get());
  EXPECT_EQ(blocks(), 1u);
  free(second, b.get());
}

TEST_F(PoolReuse, WithoutOpportunismOnceAHostThreadHasWaited) {
  allow(false, false, false);
  const TestStream a(CU_STREAM_NON_BLOCKING), b(CU_STREAM_NON_BLOCKING);
  free(allocate(a.get()), a.get());
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(a.get()));
  const CUdeviceptr second = allocate(b.get());
  EXPECT_EQ(blocks(), 1u);
  free(second, b.get());
}

TEST_F(PoolReuse, ByWaitingWhereThereIsNoOtherMemory) {
  create(kBlock);
  allow(false, false, true);
  const TestStream a(CU_STREAM_NON_BLOCKING), b(CU_STREAM_NON_BLOCKING);
  Gate gate(a.get());
  free(allocate(a.get()), a.get());
  const CUdeviceptr second = allocate(b.get());
  ASSERT_SUCCESS(CU(cuMemsetD8Async)(second, 1, 16, b.get()));
  EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_READY, CU(cuStreamQuery)(b.get())) << "it has to wait for the free";
  gate.open();
  EXPECT_SUCCESS(CU(cuStreamSynchronize)(b.get()));
  free(second, b.get());
}

TEST_F(PoolReuse, NotByWaitingWhenThatIsSwitchedOff) {
  create(kBlock);
  allow(false, false, false);
  const TestStream a(CU_STREAM_NON_BLOCKING), b(CU_STREAM_NON_BLOCKING);
  {
    Gate gate(a.get());
    free(allocate(a.get()), a.get());
    CUdeviceptr second = 0;
    EXPECT_CUDA_ERROR(CUDA_ERROR_OUT_OF_MEMORY, try_allocate(second, b.get()));
  }
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(a.get()));
  free(allocate(b.get()), b.get());
}

TEST_F(PoolReuse, AttributesKeepWhatTheyAreSetTo) {
  for (const auto attribute :
       {CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC,
        CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES}) {
    int value = -1;
    ASSERT_SUCCESS(CU(cuMemPoolGetAttribute)(pool_, attribute, &value));
    EXPECT_EQ(value, 1) << "by default all are on";
    set(attribute, 0);
    ASSERT_SUCCESS(CU(cuMemPoolGetAttribute)(pool_, attribute, &value));
    EXPECT_EQ(value, 0);
  }
}

TEST_F(PoolReuse, AFreedBlockIsNotWrittenBeforeItsLastUse) {
  allow(true, true, true);
  const TestStream a(CU_STREAM_NON_BLOCKING), b(CU_STREAM_NON_BLOCKING);
  const PinnedMemory<int> seen(1);
  const CUdeviceptr first = allocate(a.get());
  ASSERT_SUCCESS(CU(cuMemsetD32Async)(first, 1, 1, a.get()));
  CUdeviceptr second = 0;
  {
    Latch latch(a.get());
    ASSERT_SUCCESS(CU(cuMemcpyDtoHAsync)(seen.data(), first, 4, a.get()));
    free(first, a.get());
    second = allocate(b.get());
    ASSERT_SUCCESS(CU(cuMemsetD32Async)(second, 2, 1, b.get()));
    latch.open();
    ASSERT_SUCCESS(CU(cuStreamSynchronize)(a.get()));
  }
  EXPECT_EQ(seen[0], 1);
  free(second, b.get());
}

TEST_F(PoolReuse, FreeingInAnotherStreamOrdersByThatOne) {
  allow(false, false, false);
  const TestStream a(CU_STREAM_NON_BLOCKING), b(CU_STREAM_NON_BLOCKING);
  const CUdeviceptr first = allocate(a.get());
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(a.get()));
  Gate gate(b.get());
  free(first, b.get());
  const CUdeviceptr again = allocate(b.get());
  EXPECT_EQ(blocks(), 1u) << "the stream that freed it";
  const CUdeviceptr other = allocate(a.get());
  EXPECT_EQ(blocks(), 2u) << "not the one that allocated it";
  free(again, b.get());
  free(other, a.get());
}

}  // namespace
}  // namespace conformance
