#include <chrono>
#include <thread>
#include <vector>

#include "conformance/driver.hpp"
#include "conformance/gate.hpp"
#include "conformance/kernels.hpp"

namespace conformance {
namespace {

using Stream = DriverTest;

TEST_F(Stream, ReportsHowItWasMade) {
  CUstream stream = nullptr;
  int greatest = 0, priority = 1;
  unsigned flags = 7;
  ASSERT_SUCCESS(CU(cuCtxGetStreamPriorityRange)(nullptr, &greatest));
  ASSERT_SUCCESS(CU(cuStreamCreateWithPriority)(&stream, CU_STREAM_NON_BLOCKING, greatest - 100));
  ASSERT_SUCCESS(CU(cuStreamGetPriority)(stream, &priority));
  EXPECT_EQ(priority, greatest) << "priorities are clamped";
  ASSERT_SUCCESS(CU(cuStreamGetFlags)(stream, &flags));
  EXPECT_EQ(flags, static_cast<unsigned>(CU_STREAM_NON_BLOCKING));
  CUcontext context = nullptr;
  ASSERT_SUCCESS(CU(cuStreamGetCtx)(stream, &context));
  EXPECT_EQ(context, context_);
  EXPECT_SUCCESS(CU(cuStreamDestroy)(stream));
}

TEST_F(Stream, RefusesUnknownFlags) {
  CUstream stream = nullptr;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuStreamCreate)(&stream, 0x1000));
}

TEST_F(Stream, IdsDiffer) {
  const TestStream a, b;
  unsigned long long first = 0, second = 0;
  ASSERT_SUCCESS(CU(cuStreamGetId)(a.get(), &first));
  ASSERT_SUCCESS(CU(cuStreamGetId)(b.get(), &second));
  EXPECT_NE(first, second);
}

TEST_F(Stream, QueryTellsWhetherItIsBusy) {
  const TestStream stream(CU_STREAM_NON_BLOCKING);
  EXPECT_SUCCESS(CU(cuStreamQuery)(stream.get()));
  Gate gate(stream.get());
  EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_READY, CU(cuStreamQuery)(stream.get()));
  gate.open();
  EXPECT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  EXPECT_SUCCESS(CU(cuStreamQuery)(stream.get()));
}

TEST_F(Stream, OperationsRunInOrder) {
  const TestStream stream(CU_STREAM_NON_BLOCKING);
  const PinnedMemory<int> source(1), result(1);
  const DeviceMemory memory(4);
  ASSERT_SUCCESS(CU(cuMemsetD32Async)(memory.get(), 5, 1, stream.get()));
  Gate gate(stream.get());
  source[0] = 1;
  ASSERT_SUCCESS(CU(cuMemcpyHtoDAsync)(memory.get(), source.data(), 4, stream.get()));
  ASSERT_SUCCESS(CU(cuMemcpyDtoHAsync)(result.data(), memory.get(), 4, stream.get()));
  source[0] = 2;  // page-locked memory is read when it is the copy's turn
  gate.open();
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  EXPECT_EQ(result[0], 2);
}

TEST_F(Stream, HostFunctionsRunInOrderAndMayNotCallTheDriver) {
  const TestStream stream;
  struct Record {
    std::vector<int> order;
    CUresult called = CUDA_SUCCESS;
  } record;
  ASSERT_SUCCESS(
      CU(cuLaunchHostFunc)(stream.get(), [](void* r) { static_cast<Record*>(r)->order.push_back(1); }, &record));
  ASSERT_SUCCESS(CU(cuLaunchHostFunc)(
      stream.get(),
      [](void* r) {
        CUdeviceptr pointer = 0;
        static_cast<Record*>(r)->order.push_back(2);
        static_cast<Record*>(r)->called = CU(cuMemAlloc)(&pointer, 64);
      },
      &record));
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  EXPECT_EQ(record.order, (std::vector<int>{1, 2}));
  EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_PERMITTED, record.called);
}

TEST_F(Stream, CallbacksGetTheStreamAndItsState) {
  const TestStream stream;
  struct Record {
    CUstream stream = nullptr;
    CUresult status = CUDA_ERROR_UNKNOWN;
  } record;
  const auto callback = [](CUstream s, CUresult status, void* r) { *static_cast<Record*>(r) = {s, status}; };
  ASSERT_SUCCESS(CU(cuStreamAddCallback)(stream.get(), callback, &record, 0));
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  EXPECT_EQ(record.stream, stream.get());
  EXPECT_SUCCESS(record.status);
}

TEST_F(Stream, CanBeDestroyedWithWorkUnderWay) {
  CUstream stream = nullptr;
  const PinnedMemory<int> result(1);
  const DeviceMemory memory(4);
  ASSERT_SUCCESS(CU(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING));
  {
    Gate gate(stream);
    ASSERT_SUCCESS(CU(cuMemsetD32Async)(memory.get(), 8, 1, stream));
    ASSERT_SUCCESS(CU(cuMemcpyDtoHAsync)(result.data(), memory.get(), 4, stream));
    EXPECT_SUCCESS(CU(cuStreamDestroy)(stream));
    gate.open();
    ASSERT_SUCCESS(CU(cuCtxSynchronize)());
  }
  EXPECT_EQ(result[0], 8);
}

class DefaultStream : public DriverTest {
 protected:
  // Whether a set in `later` waits for `earlier`, which is held back.
  bool waits(CUstream earlier, CUstream later) {
    const DeviceMemory memory(4);
    Gate gate(earlier);
    EXPECT_SUCCESS(CU(cuMemsetD32Async)(memory.get(), 1, 1, later));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const bool waiting = CU(cuStreamQuery)(later) == CUDA_ERROR_NOT_READY;
    gate.open();
    EXPECT_SUCCESS(CU(cuCtxSynchronize)());
    return waiting;
  }
};

TEST_F(DefaultStream, LegacyOneWaitsForBlockingStreams) {
  const TestStream stream;
  EXPECT_TRUE(waits(stream.get(), nullptr));
  EXPECT_TRUE(waits(stream.get(), CU_STREAM_LEGACY));
}

TEST_F(DefaultStream, BlockingStreamsWaitForTheLegacyOne) {
  const TestStream stream;
  EXPECT_TRUE(waits(nullptr, stream.get()));
}

TEST_F(DefaultStream, NonBlockingStreamsAreApart) {
  const TestStream stream(CU_STREAM_NON_BLOCKING);
  EXPECT_FALSE(waits(stream.get(), nullptr));
  EXPECT_FALSE(waits(nullptr, stream.get()));
}

TEST_F(DefaultStream, OtherStreamsAreApartFromEachOther) {
  const TestStream a, b;
  EXPECT_FALSE(waits(a.get(), b.get()));
}

TEST_F(DefaultStream, PerThreadOneIsABlockingStream) {
  const TestStream other;
  EXPECT_TRUE(waits(CU_STREAM_PER_THREAD, nullptr));
  EXPECT_TRUE(waits(nullptr, CU_STREAM_PER_THREAD));
  EXPECT_FALSE(waits(other.get(), CU_STREAM_PER_THREAD));
}

TEST_F(DefaultStream, PerThreadFormsTakeTheNullStreamForTheThreads) {
  const auto query = reinterpret_cast<CUresult (*)(CUstream)>(symbol("cuStreamQuery_ptsz"));
  Gate gate(CU_STREAM_PER_THREAD);
  EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_READY, query(nullptr));
  std::thread([&] {
    EXPECT_SUCCESS(CU(cuCtxSetCurrent)(context_));
    EXPECT_SUCCESS(query(nullptr)) << "another thread's default stream is idle";
  }).join();
  gate.open();
  EXPECT_SUCCESS(CU(cuCtxSynchronize)());
}

using Event = DriverTest;

TEST_F(Event, WaitMakesLaterWorkSeeWhatCameBefore) {
  const TestStream producer(CU_STREAM_NON_BLOCKING), consumer(CU_STREAM_NON_BLOCKING);
  const TestEvent event;
  const PinnedMemory<int> result(1);
  const DeviceMemory memory(4);
  ASSERT_SUCCESS(CU(cuMemsetD32Async)(memory.get(), 0, 1, producer.get()));
  Gate gate(producer.get());
  ASSERT_SUCCESS(CU(cuMemsetD32Async)(memory.get(), 6, 1, producer.get()));
  ASSERT_SUCCESS(CU(cuEventRecord)(event.get(), producer.get()));
  ASSERT_SUCCESS(CU(cuStreamWaitEvent)(consumer.get(), event.get(), 0));
  ASSERT_SUCCESS(CU(cuMemcpyDtoHAsync)(result.data(), memory.get(), 4, consumer.get()));
  EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_READY, CU(cuEventQuery)(event.get()));
  EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_READY, CU(cuStreamQuery)(consumer.get()));
  gate.open();
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(consumer.get()));
  EXPECT_EQ(result[0], 6);
  EXPECT_SUCCESS(CU(cuEventQuery)(event.get()));
}

TEST_F(Event, RecordingAgainMovesIt) {
  const TestStream stream(CU_STREAM_NON_BLOCKING);
  const TestEvent event;
  ASSERT_SUCCESS(CU(cuEventRecord)(event.get(), stream.get()));
  ASSERT_SUCCESS(CU(cuEventSynchronize)(event.get()));
  Gate gate(stream.get());
  ASSERT_SUCCESS(CU(cuEventRecord)(event.get(), stream.get()));
  EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_READY, CU(cuEventQuery)(event.get()));
  gate.open();
  EXPECT_SUCCESS(CU(cuEventSynchronize)(event.get()));
}

TEST_F(Event, NeverRecordedCountsAsReached) {
  const TestEvent event;
  const TestStream stream;
  EXPECT_SUCCESS(CU(cuEventQuery)(event.get()));
  EXPECT_SUCCESS(CU(cuEventSynchronize)(event.get()));
  EXPECT_SUCCESS(CU(cuStreamWaitEvent)(stream.get(), event.get(), 0));
}

TEST_F(Event, MeasuresTime) {
  const TestStream stream(CU_STREAM_NON_BLOCKING);
  const TestEvent start, end;
  ASSERT_SUCCESS(CU(cuEventRecord)(start.get(), stream.get()));
  ASSERT_SUCCESS(CU(cuLaunchHostFunc)(
      stream.get(), [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }, nullptr));
  ASSERT_SUCCESS(CU(cuEventRecord)(end.get(), stream.get()));
  ASSERT_SUCCESS(CU(cuEventSynchronize)(end.get()));
  float milliseconds = 0;
  ASSERT_SUCCESS(CU(cuEventElapsedTime)(&milliseconds, start.get(), end.get()));
  EXPECT_GE(milliseconds, 19.0f);
  EXPECT_LT(milliseconds, 5000.0f);
}

TEST_F(Event, TimeNeedsRecordedTimedAndReachedOnes) {
  const TestStream stream(CU_STREAM_NON_BLOCKING);
  const TestEvent recorded, fresh, untimed(CU_EVENT_DISABLE_TIMING);
  float milliseconds = 0;
  ASSERT_SUCCESS(CU(cuEventRecord)(recorded.get(), stream.get()));
  ASSERT_SUCCESS(CU(cuEventRecord)(untimed.get(), stream.get()));
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_HANDLE, CU(cuEventElapsedTime)(&milliseconds, recorded.get(), fresh.get()));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_HANDLE, CU(cuEventElapsedTime)(&milliseconds, recorded.get(), untimed.get()));
  Gate gate(stream.get());
  ASSERT_SUCCESS(CU(cuEventRecord)(fresh.get(), stream.get()));
  EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_READY, CU(cuEventElapsedTime)(&milliseconds, recorded.get(), fresh.get()));
}

TEST_F(Event, CanBeDestroyedBeforeItIsReached) {
  const TestStream stream(CU_STREAM_NON_BLOCKING);
  CUevent event = nullptr;
  ASSERT_SUCCESS(CU(cuEventCreate)(&event, CU_EVENT_DISABLE_TIMING));
  Gate gate(stream.get());
  ASSERT_SUCCESS(CU(cuEventRecord)(event, stream.get()));
  EXPECT_SUCCESS(CU(cuEventDestroy)(event));
  gate.open();
  EXPECT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
}

TEST_F(Event, RefusesUnknownFlags) {
  CUevent event = nullptr;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuEventCreate)(&event, 0x1000));
}

}  // namespace
}  // namespace conformance
