// Events between processes. Order is shown with kernels that wait for a flag, in memory that its process sets.
#include <cstring>
#include <vector>

#include "conformance/child.hpp"
#include "conformance/kernels.hpp"

namespace conformance {
namespace {

constexpr unsigned kShared = CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING;

CUipcEventHandle exported(CUevent event) {
  CUipcEventHandle handle{};
  EXPECT_SUCCESS(CU(cuIpcGetEventHandle)(&handle, event));
  return handle;
}

CUevent opened(const CUipcEventHandle& handle) {
  CUevent event = nullptr;
  EXPECT_SUCCESS(CU(cuIpcOpenEventHandle)(&event, handle));
  return event;
}

class EventIpc : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    int supported = 0;
    ASSERT_SUCCESS(CU(cuDeviceGetAttribute)(&supported, CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED, 0));
    if (supported == 0) GTEST_SKIP() << "the device has no events between processes";
    const TestEvent event(kShared);
    CUipcEventHandle handle{};
    const CUresult result = CU(cuIpcGetEventHandle)(&handle, event.get());
    if (result == CUDA_ERROR_NOT_SUPPORTED || result == CUDA_ERROR_NOT_PERMITTED ||
        result == CUDA_ERROR_OPERATING_SYSTEM)
      GTEST_SKIP() << "cuIpcGetEventHandle: " << name_of(result);
    ASSERT_SUCCESS(result);
  }
};

// A stream with a kernel in it that runs until it is released.
class HeldStream {
 public:
  HeldStream() { EXPECT_SUCCESS(launch(module_.function("wait_for"), 1, 1, stream_.get(), flag_.device())); }
  ~HeldStream() {
    release();
    EXPECT_SUCCESS(CU(cuStreamSynchronize)(stream_.get()));
  }
  CUstream get() const { return stream_.get(); }
  void release() { static_cast<volatile int&>(flag_[0]) = 1; }

 private:
  const TestModule module_{kKernels};
  const PinnedMemory<int> flag_{1};
  const TestStream stream_{CU_STREAM_NON_BLOCKING};
};

class EventOpener : public ChildProcess {
 protected:
  void SetUp() override {
    ChildProcess::SetUp();
    event_ = opened(parent().receive<CUipcEventHandle>());
  }
  void TearDown() override {
    EXPECT_SUCCESS(CU(cuEventDestroy)(event_));
    ChildProcess::TearDown();
  }
  CUevent event_ = nullptr;
};

// ---- Recorded here, seen there

TEST_F(EventOpener, DISABLED_SeesItReached) {
  parent().await();
  EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_READY, CU(cuEventQuery)(event_));
  parent().signal();
  EXPECT_SUCCESS(CU(cuEventSynchronize)(event_));
  EXPECT_SUCCESS(CU(cuEventQuery)(event_));
}
TEST_F(EventIpc, OpenerSynchronizesWithTheExporter) {
  const TestEvent event(kShared);
  Child child("EventOpener.DISABLED_SeesItReached");
  child.channel().send(exported(event.get()));
  HeldStream held;
  ASSERT_SUCCESS(CU(cuEventRecord)(event.get(), held.get()));
  child.channel().signal();
  child.channel().await();
  held.release();
  EXPECT_EQ(child.wait(), 0);
  EXPECT_SUCCESS(CU(cuEventSynchronize)(event.get()));
}

TEST_F(EventOpener, DISABLED_WaitsInAStream) {
  parent().await();
  const TestStream stream(CU_STREAM_NON_BLOCKING);
  const DeviceMemory memory(4);
  ASSERT_SUCCESS(CU(cuStreamWaitEvent)(stream.get(), event_, 0));
  ASSERT_SUCCESS(CU(cuMemsetD32Async)(memory.get(), 1, 1, stream.get()));
  EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_READY, CU(cuStreamQuery)(stream.get()));
  parent().signal();
  EXPECT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  EXPECT_SUCCESS(CU(cuEventQuery)(event_));
}
TEST_F(EventIpc, StreamWaitsForTheExporter) {
  const TestEvent event(kShared);
  Child child("EventOpener.DISABLED_WaitsInAStream");
  child.channel().send(exported(event.get()));
  HeldStream held;
  ASSERT_SUCCESS(CU(cuEventRecord)(event.get(), held.get()));
  child.channel().signal();
  child.channel().await();
  held.release();
  EXPECT_EQ(child.wait(), 0);
}

TEST_F(EventOpener, DISABLED_IsReachedAtOnce) {
  EXPECT_SUCCESS(CU(cuEventQuery)(event_));
  EXPECT_SUCCESS(CU(cuEventSynchronize)(event_));
  const TestStream stream;
  EXPECT_SUCCESS(CU(cuStreamWaitEvent)(stream.get(), event_, 0));
  EXPECT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
}
TEST_F(EventIpc, EventThatWasNeverRecordedIsReached) {
  const TestEvent event(kShared);
  Child child("EventOpener.DISABLED_IsReachedAtOnce");
  child.channel().send(exported(event.get()));
  EXPECT_EQ(child.wait(), 0);
}

TEST_F(EventIpc, EventThatWasReachedBeforeItWasOpenedIsReached) {
  const TestEvent event(kShared);
  ASSERT_SUCCESS(CU(cuEventRecord)(event.get(), nullptr));
  ASSERT_SUCCESS(CU(cuEventSynchronize)(event.get()));
  Child child("EventOpener.DISABLED_IsReachedAtOnce");
  child.channel().send(exported(event.get()));
  EXPECT_EQ(child.wait(), 0);
}

TEST_F(EventIpc, EventRecordedBeforeItWasExportedIsSeen) {
  const TestEvent event(kShared);
  HeldStream held;
  ASSERT_SUCCESS(CU(cuEventRecord)(event.get(), held.get()));
  Child child("EventOpener.DISABLED_SeesItReached");
  child.channel().send(exported(event.get()));
  child.channel().signal();
  child.channel().await();
  held.release();
  EXPECT_EQ(child.wait(), 0);
}

// ---- Recorded there, seen here

TEST_F(EventOpener, DISABLED_RecordsBehindAKernel) {
  HeldStream held;
  EXPECT_SUCCESS(CU(cuEventRecord)(event_, held.get()));
  parent().signal();
  parent().await();
  held.release();
  EXPECT_SUCCESS(CU(cuEventSynchronize)(event_));
  parent().await();
}
TEST_F(EventIpc, ExporterSynchronizesWithTheOpener) {
  const TestEvent event(kShared);
  Child child("EventOpener.DISABLED_RecordsBehindAKernel");
  child.channel().send(exported(event.get()));
  child.channel().await();
  EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_READY, CU(cuEventQuery)(event.get()));
  child.channel().signal();
  EXPECT_SUCCESS(CU(cuEventSynchronize)(event.get()));
  EXPECT_SUCCESS(CU(cuEventQuery)(event.get()));
  child.channel().signal();
  EXPECT_EQ(child.wait(), 0);
}

TEST_F(EventIpc, StreamWaitsForTheOpener) {
  const TestEvent event(kShared);
  const TestStream stream(CU_STREAM_NON_BLOCKING);
  Child child("EventOpener.DISABLED_RecordsBehindAKernel");
  child.channel().send(exported(event.get()));
  child.channel().await();
  ASSERT_SUCCESS(CU(cuStreamWaitEvent)(stream.get(), event.get(), 0));
  EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_READY, CU(cuStreamQuery)(stream.get()));
  child.channel().signal();
  EXPECT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  child.channel().signal();
  EXPECT_EQ(child.wait(), 0);
}

TEST_F(EventIpc, ManyStreamsWaitForTheOpener) {
  const TestEvent event(kShared);
  std::vector<CUstream> streams(16);
  Child child("EventOpener.DISABLED_RecordsBehindAKernel");
  child.channel().send(exported(event.get()));
  child.channel().await();
  for (CUstream& stream : streams) {
    ASSERT_SUCCESS(CU(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING));
    ASSERT_SUCCESS(CU(cuStreamWaitEvent)(stream, event.get(), 0));
    ASSERT_SUCCESS(CU(cuStreamWaitEvent)(stream, event.get(), 0));
  }
  child.channel().signal();
  for (const CUstream stream : streams) {
    EXPECT_SUCCESS(CU(cuStreamSynchronize)(stream));
    EXPECT_SUCCESS(CU(cuStreamDestroy)(stream));
  }
  child.channel().signal();
  EXPECT_EQ(child.wait(), 0);
}

// Each process waits for the other's last recording, many times over.
TEST_F(EventOpener, DISABLED_PlaysBack) {
  CUevent back = opened(parent().receive<CUipcEventHandle>());
  const TestStream stream(CU_STREAM_NON_BLOCKING);
  for (int i = 0; i < 100; ++i) {
    parent().await();
    EXPECT_SUCCESS(CU(cuStreamWaitEvent)(stream.get(), event_, 0));
    EXPECT_SUCCESS(CU(cuEventRecord)(back, stream.get()));
    parent().signal();
  }
  EXPECT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  EXPECT_SUCCESS(CU(cuEventDestroy)(back));
}
TEST_F(EventIpc, TwoProcessesTakeTurns) {
  const TestEvent to(kShared), from(kShared);
  const TestStream stream(CU_STREAM_NON_BLOCKING);
  Child child("EventOpener.DISABLED_PlaysBack");
  child.channel().send(exported(to.get()));
  child.channel().send(exported(from.get()));
  for (int i = 0; i < 100; ++i) {
    ASSERT_SUCCESS(CU(cuEventRecord)(to.get(), stream.get()));
    child.channel().signal();
    child.channel().await();
    ASSERT_SUCCESS(CU(cuStreamWaitEvent)(stream.get(), from.get(), 0));
  }
  EXPECT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  EXPECT_EQ(child.wait(), 0);
}

TEST_F(EventOpener, DISABLED_SeesTheSecondRecording) {
  parent().await();
  EXPECT_SUCCESS(CU(cuEventSynchronize)(event_));
  parent().signal();
  parent().await();
  EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_READY, CU(cuEventQuery)(event_));
  parent().signal();
  EXPECT_SUCCESS(CU(cuEventSynchronize)(event_));
}
TEST_F(EventIpc, EventCanBeRecordedAgain) {
  const TestEvent event(kShared);
  Child child("EventOpener.DISABLED_SeesTheSecondRecording");
  child.channel().send(exported(event.get()));
  ASSERT_SUCCESS(CU(cuEventRecord)(event.get(), nullptr));
  child.channel().signal();
  child.channel().await();
  HeldStream held;
  ASSERT_SUCCESS(CU(cuEventRecord)(event.get(), held.get()));
  child.channel().signal();
  child.channel().await();
  held.release();
  EXPECT_EQ(child.wait(), 0);
}

// ---- In one process

TEST_F(EventIpc, WorksWithinItsProcess) {
  const TestEvent event(kShared);
  const TestStream stream(CU_STREAM_NON_BLOCKING);
  EXPECT_SUCCESS(CU(cuEventQuery)(event.get()));
  {
    HeldStream held;
    ASSERT_SUCCESS(CU(cuEventRecord)(event.get(), held.get()));
    EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_READY, CU(cuEventQuery)(event.get()));
    ASSERT_SUCCESS(CU(cuStreamWaitEvent)(stream.get(), event.get(), 0));
    EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_READY, CU(cuStreamQuery)(stream.get()));
  }
  EXPECT_SUCCESS(CU(cuEventSynchronize)(event.get()));
  EXPECT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
}

TEST_F(EventIpc, TimingHasToBeDisabled) {
  CUevent event = nullptr;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuEventCreate)(&event, CU_EVENT_INTERPROCESS));
}

TEST_F(EventIpc, HasNoTime) {
  const TestEvent start(kShared), end(kShared);
  ASSERT_SUCCESS(CU(cuEventRecord)(start.get(), nullptr));
  ASSERT_SUCCESS(CU(cuEventRecord)(end.get(), nullptr));
  ASSERT_SUCCESS(CU(cuEventSynchronize)(end.get()));
  float milliseconds = 0;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_HANDLE, CU(cuEventElapsedTime)(&milliseconds, start.get(), end.get()));
}

TEST_F(EventIpc, OtherEventsAreNotExported) {
  const TestEvent event(CU_EVENT_DISABLE_TIMING);
  CUipcEventHandle handle{};
  EXPECT_FALSE(succeeded(CU(cuIpcGetEventHandle)(&handle, event.get())));
}

TEST_F(EventIpc, ExportingChecksItsArguments) {
  const TestEvent event(kShared);
  CUipcEventHandle handle{};
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuIpcGetEventHandle)(nullptr, event.get()));
  EXPECT_FALSE(succeeded(CU(cuIpcGetEventHandle)(&handle, nullptr)));
}

TEST_F(EventIpc, HandleCanBeAskedForOften) {
  const TestEvent event(kShared), other(kShared);
  const CUipcEventHandle first = exported(event.get()), second = exported(event.get()), third = exported(other.get());
  EXPECT_EQ(std::memcmp(&first, &second, sizeof first), 0);
  EXPECT_NE(std::memcmp(&first, &third, sizeof first), 0);
}

TEST_F(EventIpc, OwnHandleIsNotOpened) {
  const TestEvent event(kShared);
  CUevent again = nullptr;
  EXPECT_FALSE(succeeded(CU(cuIpcOpenEventHandle)(&again, exported(event.get()))));
}

TEST_F(EventIpc, NonsenseIsNotOpened) {
  CUipcEventHandle handle{};
  CUevent event = nullptr;
  EXPECT_FALSE(succeeded(CU(cuIpcOpenEventHandle)(&event, handle)));
  std::memset(&handle, 0x5a, sizeof handle);
  EXPECT_FALSE(succeeded(CU(cuIpcOpenEventHandle)(&event, handle)));
}

// ---- Bad handles, and processes that end

TEST_F(ChildProcess, DISABLED_TriesChangedEventHandles) {
  const auto handle = parent().receive<CUipcEventHandle>();
  for (std::size_t i = 0; i < sizeof handle; ++i) {
    CUipcEventHandle changed = handle;
    changed.reserved[i] = static_cast<char>(changed.reserved[i] ^ 0x40);
    CUevent event = nullptr;
    EXPECT_FALSE(succeeded(CU(cuIpcOpenEventHandle)(&event, changed))) << "byte " << i;
  }
  CUipcMemHandle memory;
  std::memcpy(&memory, &handle, sizeof memory);
  CUdeviceptr pointer = 0;
  EXPECT_FALSE(succeeded(CU(cuIpcOpenMemHandle)(&pointer, memory, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS)));
}
TEST_F(EventIpc, ChangedHandlesAreRefused) {
  if (!is_softgpu()) GTEST_SKIP() << "a GPU's driver does not promise to notice";
  const TestEvent event(kShared);
  Child child("ChildProcess.DISABLED_TriesChangedEventHandles");
  child.channel().send(exported(event.get()));
  EXPECT_EQ(child.wait(), 0);
}

TEST_F(ChildProcess, DISABLED_OpensADestroyedEvent) {
  CUevent event = nullptr;
  EXPECT_FALSE(succeeded(CU(cuIpcOpenEventHandle)(&event, parent().receive<CUipcEventHandle>())));
}
TEST_F(EventIpc, ReplayedHandleOfADestroyedEventIsRefused) {
  if (!is_softgpu()) GTEST_SKIP() << "undefined for a GPU's driver";
  Child child("ChildProcess.DISABLED_OpensADestroyedEvent");
  CUipcEventHandle handle;
  {
    const TestEvent event(kShared);
    handle = exported(event.get());
  }
  const TestEvent again(kShared);
  child.channel().send(handle);
  EXPECT_EQ(child.wait(), 0);
}

TEST_F(EventIpc, EventOutlivesTheExporters) {
  if (!is_softgpu()) GTEST_SKIP() << "undefined for a GPU's driver";
  Child child("EventOpener.DISABLED_SeesItReached");
  HeldStream held;
  {
    const TestEvent event(kShared);
    child.channel().send(exported(event.get()));
    ASSERT_SUCCESS(CU(cuEventRecord)(event.get(), held.get()));
    child.channel().signal();
    child.channel().await();
  }
  held.release();
  EXPECT_EQ(child.wait(), 0);
}

// The child dies with a recording that was not reached.
class DeadRecorder : public EventIpc {
 protected:
  void SetUp() override {
    EventIpc::SetUp();
    if (!IsSkipped() && !is_softgpu()) GTEST_SKIP() << "undefined for a GPU's driver";
  }
};

TEST_F(DeadRecorder, IsNotWaitedForByThreads) {
  const TestEvent event(kShared);
  Child child("EventOpener.DISABLED_RecordsBehindAKernel");
  child.channel().send(exported(event.get()));
  child.channel().await();
  EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_READY, CU(cuEventQuery)(event.get()));
  child.kill();
  EXPECT_SUCCESS(CU(cuEventSynchronize)(event.get()));
  EXPECT_SUCCESS(CU(cuEventQuery)(event.get()));
}

TEST_F(DeadRecorder, IsNotWaitedForByStreams) {
  const TestEvent event(kShared);
  const TestStream stream(CU_STREAM_NON_BLOCKING);
  Child child("EventOpener.DISABLED_RecordsBehindAKernel");
  child.channel().send(exported(event.get()));
  child.channel().await();
  ASSERT_SUCCESS(CU(cuStreamWaitEvent)(stream.get(), event.get(), 0));
  EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_READY, CU(cuStreamQuery)(stream.get()));
  child.kill();
  EXPECT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
}

TEST_F(DeadRecorder, IsNotTakenForTheNextProcess) {
  const TestEvent event(kShared);
  const TestStream stream(CU_STREAM_NON_BLOCKING);
  Child child("EventOpener.DISABLED_RecordsBehindAKernel");
  child.channel().send(exported(event.get()));
  child.channel().await();
  ASSERT_SUCCESS(CU(cuStreamWaitEvent)(stream.get(), event.get(), 0));
  child.kill();
  Child next("EventOpener.DISABLED_IsReachedAtOnce");
  next.channel().send(exported(event.get()));
  EXPECT_EQ(next.wait(), 0);
  EXPECT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
}

TEST_F(DeadRecorder, LeavesTheEventUsable) {
  const TestEvent event(kShared);
  {
    Child child("EventOpener.DISABLED_RecordsBehindAKernel");
    child.channel().send(exported(event.get()));
    child.channel().await();
  }
  HeldStream held;
  ASSERT_SUCCESS(CU(cuEventRecord)(event.get(), held.get()));
  EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_READY, CU(cuEventQuery)(event.get()));
  held.release();
  EXPECT_SUCCESS(CU(cuEventSynchronize)(event.get()));
}

TEST_F(ChildProcess, DISABLED_WaitsAndIsKilled) {
  CUevent event = opened(parent().receive<CUipcEventHandle>());
  const TestStream stream(CU_STREAM_NON_BLOCKING);
  ASSERT_SUCCESS(CU(cuStreamWaitEvent)(stream.get(), event, 0));
  parent().signal();
  parent().await();
}
TEST_F(EventIpc, WaiterThatDiesHarmsNobody) {
  const TestEvent event(kShared);
  HeldStream held;
  ASSERT_SUCCESS(CU(cuEventRecord)(event.get(), held.get()));
  Child child("ChildProcess.DISABLED_WaitsAndIsKilled");
  child.channel().send(exported(event.get()));
  child.channel().await();
  child.kill();
  EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_READY, CU(cuEventQuery)(event.get()));
  held.release();
  EXPECT_SUCCESS(CU(cuEventSynchronize)(event.get()));
}

}  // namespace
}  // namespace conformance
