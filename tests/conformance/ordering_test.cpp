// Order, proven with kernels that wait for the host: what must wait has not happened while the latch is closed, what
// must not wait gets done meanwhile.
#include <memory>
#include <thread>

#include "conformance/driver.hpp"
#include "conformance/gate.hpp"

namespace conformance {
namespace {

class Ordering : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    mark_ = std::make_unique<PinnedMemory<int>>(1);
  }
  void TearDown() override {
    mark_.reset();
    DriverTest::TearDown();
  }

  void mark(CUstream stream) { ASSERT_SUCCESS(CU(cuMemsetD32Async)(mark_->device(), 1, 1, stream)); }
  bool marked() const { return peek(mark_->data()) != 0; }

  // A stream that is not held back is waited for, so that this is no question of time.
  void expect_free(CUstream stream) {
    mark(stream);
    EXPECT_SUCCESS(CU(cuStreamSynchronize)(stream));
    EXPECT_TRUE(marked());
  }
  void expect_held(CUstream stream) {
    mark(stream);
    EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_READY, CU(cuStreamQuery)(stream));
    EXPECT_FALSE(marked());
  }
  void expect_released(CUstream stream) {
    EXPECT_SUCCESS(CU(cuStreamSynchronize)(stream));
    EXPECT_TRUE(marked());
  }

 private:
  std::unique_ptr<PinnedMemory<int>> mark_;
};

TEST_F(Ordering, AStreamWaitsForItsOwnKernels) {
  const TestStream stream(CU_STREAM_NON_BLOCKING);
  Latch latch(stream.get());
  expect_held(stream.get());
  latch.open();
  expect_released(stream.get());
}

TEST_F(Ordering, StreamsDoNotWaitForEachOther) {
  const TestStream a, b;
  Latch latch(a.get());
  expect_free(b.get());
}

TEST_F(Ordering, WaitingForAnEventHoldsAStream) {
  const TestStream a(CU_STREAM_NON_BLOCKING), b(CU_STREAM_NON_BLOCKING);
  const TestEvent event;
  Latch latch(a.get());
  ASSERT_SUCCESS(CU(cuEventRecord)(event.get(), a.get()));
  ASSERT_SUCCESS(CU(cuStreamWaitEvent)(b.get(), event.get(), 0));
  expect_held(b.get());
  latch.open();
  expect_released(b.get());
}

TEST_F(Ordering, AnEventIsThePointWhereItWasRecorded) {
  const TestStream a(CU_STREAM_NON_BLOCKING), b(CU_STREAM_NON_BLOCKING);
  const TestEvent event;
  ASSERT_SUCCESS(CU(cuEventRecord)(event.get(), a.get()));
  Latch latch(a.get());
  ASSERT_SUCCESS(CU(cuStreamWaitEvent)(b.get(), event.get(), 0));
  expect_free(b.get());
}

TEST_F(Ordering, AWaitIsForTheRecordOfItsTime) {
  const TestStream a(CU_STREAM_NON_BLOCKING), b(CU_STREAM_NON_BLOCKING);
  const TestEvent event;
  ASSERT_SUCCESS(CU(cuEventRecord)(event.get(), a.get()));
  ASSERT_SUCCESS(CU(cuStreamWaitEvent)(b.get(), event.get(), 0));
  Latch latch(a.get());
  ASSERT_SUCCESS(CU(cuEventRecord)(event.get(), a.get()));
  expect_free(b.get());
}

TEST_F(Ordering, RecordingWithFlagsRecords) {
  const TestStream a(CU_STREAM_NON_BLOCKING), b(CU_STREAM_NON_BLOCKING);
  const TestEvent event;
  Latch latch(a.get());
  ASSERT_SUCCESS(CU(cuEventRecordWithFlags)(event.get(), a.get(), CU_EVENT_RECORD_DEFAULT));
  EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_READY, CU(cuEventQuery)(event.get()));
  ASSERT_SUCCESS(CU(cuStreamWaitEvent)(b.get(), event.get(), CU_EVENT_WAIT_DEFAULT));
  expect_held(b.get());
  latch.open();
  expect_released(b.get());
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuEventRecordWithFlags)(event.get(), a.get(), 0x10));
}

TEST_F(Ordering, LegacyStreamWaitsForBlockingOnes) {
  const TestStream stream;
  Latch latch(stream.get());
  expect_held(CU_STREAM_LEGACY);
  latch.open();
  expect_released(CU_STREAM_LEGACY);
}

TEST_F(Ordering, BlockingStreamsWaitForTheLegacyOne) {
  const TestStream stream;
  Latch latch(nullptr);
  expect_held(stream.get());
  latch.open();
  expect_released(stream.get());
}

TEST_F(Ordering, BlockingStreamsWaitForEachOtherThroughTheLegacyOne) {
  const TestStream a, b;
  const DeviceMemory memory(4);
  Latch latch(a.get());
  ASSERT_SUCCESS(CU(cuMemsetD32Async)(memory.get(), 1, 1, nullptr));
  expect_held(b.get());
  latch.open();
  expect_released(b.get());
}

TEST_F(Ordering, NonBlockingStreamsDoNotWaitForTheLegacyOne) {
  const TestStream stream(CU_STREAM_NON_BLOCKING);
  Latch latch(nullptr);
  expect_free(stream.get());
}

TEST_F(Ordering, LegacyStreamDoesNotWaitForNonBlockingOnes) {
  const TestStream stream(CU_STREAM_NON_BLOCKING);
  Latch latch(stream.get());
  expect_free(CU_STREAM_LEGACY);
}

TEST_F(Ordering, PerThreadStreamWaitsForTheLegacyOne) {
  Latch latch(nullptr);
  expect_held(CU_STREAM_PER_THREAD);
  latch.open();
  expect_released(CU_STREAM_PER_THREAD);
}

TEST_F(Ordering, PerThreadStreamsDoNotWaitForOtherStreams) {
  const TestStream stream;
  Latch latch(stream.get());
  expect_free(CU_STREAM_PER_THREAD);
}

TEST_F(Ordering, PerThreadStreamsOfTwoThreadsAreApart) {
  Latch latch(CU_STREAM_PER_THREAD);
  std::thread([&] {
    EXPECT_SUCCESS(CU(cuCtxSetCurrent)(context_));
    expect_free(CU_STREAM_PER_THREAD);
  }).join();
}

TEST_F(Ordering, EntryPointsForThreadsTakeTheNullStreamForThePerThreadOne) {
  void* address = nullptr;
  ASSERT_SUCCESS(CU(cuGetProcAddress)("cuMemsetD32Async", &address, 13000,
                                      CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, nullptr));
  const auto set = reinterpret_cast<CUresult (*)(CUdeviceptr, unsigned, size_t, CUstream)>(address);
  const TestStream stream;
  const PinnedMemory<int> memory(1);
  Latch latch(stream.get());
  ASSERT_SUCCESS(set(memory.device(), 5, 1, nullptr));
  EXPECT_SUCCESS(CU(cuStreamSynchronize)(CU_STREAM_PER_THREAD)) << "the legacy stream would wait for the latch";
  EXPECT_EQ(memory[0], 5);
}

TEST_F(Ordering, ADestroyedStreamsWorkIsStillWaitedFor) {
  CUstream stream = nullptr;
  ASSERT_SUCCESS(CU(cuStreamCreate)(&stream, CU_STREAM_DEFAULT));
  Latch latch(stream);
  ASSERT_SUCCESS(CU(cuStreamDestroy)(stream));
  expect_held(CU_STREAM_LEGACY);
  latch.open();
  expect_released(CU_STREAM_LEGACY);
}

TEST_F(Ordering, StreamOrderedFreeComesAfterTheKernelBefore) {
  const TestStream stream(CU_STREAM_NON_BLOCKING);
  const PinnedMemory<int> result(1);
  CUdeviceptr pointer = 0;
  ASSERT_SUCCESS(CU(cuMemAllocAsync)(&pointer, 4096, stream.get()));
  ASSERT_SUCCESS(CU(cuMemsetD32Async)(pointer, 3, 1024, stream.get()));
  Latch latch(stream.get());
  ASSERT_SUCCESS(CU(cuMemcpyDtoHAsync)(result.data(), pointer, 4, stream.get()));
  ASSERT_SUCCESS(CU(cuMemFreeAsync)(pointer, stream.get()));
  EXPECT_EQ(peek(result.data()), 0);
  latch.open();
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  EXPECT_EQ(result[0], 3);
}

TEST_F(Ordering, ReusedMemoryIsWrittenAfterItsLastReader) {
  const TestStream stream(CU_STREAM_NON_BLOCKING);
  const PinnedMemory<int> result(2);
  CUdeviceptr first = 0, second = 0;
  ASSERT_SUCCESS(CU(cuMemAllocAsync)(&first, 1 << 20, stream.get()));
  ASSERT_SUCCESS(CU(cuMemsetD32Async)(first, 1, 1, stream.get()));
  Latch latch(stream.get());
  ASSERT_SUCCESS(CU(cuMemcpyDtoHAsync)(&result[0], first, 4, stream.get()));
  ASSERT_SUCCESS(CU(cuMemFreeAsync)(first, stream.get()));
  ASSERT_SUCCESS(CU(cuMemAllocAsync)(&second, 1 << 20, stream.get()));
  ASSERT_SUCCESS(CU(cuMemsetD32Async)(second, 2, 1, stream.get()));
  ASSERT_SUCCESS(CU(cuMemcpyDtoHAsync)(&result[1], second, 4, stream.get()));
  ASSERT_SUCCESS(CU(cuMemFreeAsync)(second, stream.get()));
  latch.open();
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  EXPECT_EQ(result[0], 1);
  EXPECT_EQ(result[1], 2);
}

TEST_F(Ordering, SynchronousCopiesWaitForTheLegacyStream) {
  const PinnedMemory<int> flag(1);
  const DeviceMemory memory(4);
  const TestModule module(kKernels);
  ASSERT_SUCCESS(CU(cuMemsetD32)(memory.get(), 1, 1));
  ASSERT_SUCCESS(launch(module.function("wait_for"), 1, 1, nullptr, flag.device()));
  ASSERT_SUCCESS(CU(cuMemsetD32Async)(memory.get(), 2, 1, nullptr));
  std::thread opener([&] { reinterpret_cast<volatile int&>(flag[0]) = 1; });
  int value = 0;
  EXPECT_SUCCESS(CU(cuMemcpyDtoH)(&value, memory.get(), 4));
  EXPECT_EQ(value, 2);
  opener.join();
}

// The same with a single thread for kernels: latches must not keep it from other work.
TEST(OrderingOnOneWorker, MakesProgress) {
  if (!is_softgpu()) GTEST_SKIP() << "a setting of softgpu";
  EXPECT_EQ(run_in_child("Ordering.*:PoolReuse.AFreedBlock*:Cooperative.*:StreamMemory.*", {"SOFTGPU_WORKERS=1"}), 0);
}

}  // namespace
}  // namespace conformance
