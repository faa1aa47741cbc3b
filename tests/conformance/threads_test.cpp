#include <atomic>
#include <thread>
#include <vector>

#include "conformance/driver.hpp"
#include "conformance/kernels.hpp"

namespace conformance {
namespace {

class Threads : public DriverTest {
 protected:
  static constexpr int kThreads = 4, kRounds = 50;

  template <typename Body>
  void in_threads(Body body) {
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i)
      threads.emplace_back([this, body, i] {
        ASSERT_SUCCESS(CU(cuCtxSetCurrent)(context_));
        body(i);
      });
    for (std::thread& thread : threads) thread.join();
  }
};

TEST_F(Threads, ShareAStreamAndAModule) {
  const TestModule module(kKernels);
  const TestStream stream;
  const DeviceMemory memory(400);
  const CUfunction increment = module.function("increment");
  ASSERT_SUCCESS(CU(cuMemsetD32)(memory.get(), 0, 100));
  ASSERT_SUCCESS(CU(cuCtxSynchronize)());
  in_threads([&](int) {
    for (int i = 0; i < kRounds; ++i) ASSERT_SUCCESS(launch(increment, 4, 32, stream.get(), memory.get(), 100));
    ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  });
  std::vector<int> values(100);
  ASSERT_SUCCESS(CU(cuMemcpyDtoH)(values.data(), memory.get(), 400));
  EXPECT_EQ(values, std::vector<int>(100, kThreads * kRounds));
}

TEST_F(Threads, HaveStreamsOfTheirOwnAndOneModule) {
  const TestModule module(kKernels);
  const CUfunction increment = module.function("increment");
  in_threads([&](int thread) {
    const TestStream stream(thread % 2 == 0 ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT);
    const TestEvent event;
    for (int i = 0; i < kRounds; ++i) {
      CUdeviceptr memory = 0;
      int value = 0;
      ASSERT_SUCCESS(CU(cuMemAllocAsync)(&memory, 400, stream.get()));
      ASSERT_SUCCESS(CU(cuMemsetD32Async)(memory, thread, 100, stream.get()));
      ASSERT_SUCCESS(launch(increment, 4, 32, stream.get(), memory, 100));
      ASSERT_SUCCESS(CU(cuMemcpyDtoHAsync)(&value, memory + 396, 4, stream.get()));
      ASSERT_SUCCESS(CU(cuMemFreeAsync)(memory, stream.get()));
      ASSERT_SUCCESS(CU(cuEventRecord)(event.get(), stream.get()));
      ASSERT_SUCCESS(CU(cuEventSynchronize)(event.get()));
      ASSERT_EQ(value, thread + 1);
    }
  });
}

TEST_F(Threads, LoadAndUnloadModules) {
  in_threads([&](int) {
    for (int i = 0; i < 5; ++i) {
      const TestModule module(kKernels);
      const DeviceMemory memory(400);
      int value = 0;
      ASSERT_SUCCESS(CU(cuMemsetD32)(memory.get(), 3, 100));
      ASSERT_SUCCESS(launch(module.function("increment"), 4, 32, nullptr, memory.get(), 100));
      ASSERT_SUCCESS(CU(cuMemcpyDtoH)(&value, memory.get(), 4));
      ASSERT_EQ(value, 4);
    }
  });
}

TEST_F(Threads, WaitForEachOthersEvents) {
  const DeviceMemory memory(400);
  const TestModule module(kKernels);
  const CUfunction increment = module.function("increment");
  ASSERT_SUCCESS(CU(cuMemsetD32)(memory.get(), 0, 100));
  ASSERT_SUCCESS(CU(cuCtxSynchronize)());
  const TestEvent event(CU_EVENT_DISABLE_TIMING);
  std::atomic<int> turn{0};
  // One thread after the other puts its kernel behind the event, and the event behind its kernel.
  in_threads([&](int thread) {
    const TestStream stream(CU_STREAM_NON_BLOCKING);
    while (turn.load() != thread) std::this_thread::yield();
    ASSERT_SUCCESS(CU(cuStreamWaitEvent)(stream.get(), event.get(), 0));
    for (int i = 0; i < kRounds; ++i) ASSERT_SUCCESS(launch(increment, 4, 32, stream.get(), memory.get(), 100));
    ASSERT_SUCCESS(CU(cuEventRecord)(event.get(), stream.get()));
    turn = thread + 1;
    ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  });
  ASSERT_SUCCESS(CU(cuEventSynchronize)(event.get()));
  std::vector<int> values(100);
  ASSERT_SUCCESS(CU(cuMemcpyDtoH)(values.data(), memory.get(), 400));
  EXPECT_EQ(values, std::vector<int>(100, kThreads * kRounds));
}

}  // namespace
}  // namespace conformance
