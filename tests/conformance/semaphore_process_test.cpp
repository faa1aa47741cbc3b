// External semaphores between processes that die, are locked, or close their side.
#include <chrono>
#include <thread>

#include "conformance/checkpoint.hpp"
#include "conformance/kernels.hpp"
#include "conformance/semaphore.hpp"

namespace conformance {
namespace {

using SemaphoreProcesses = SemaphoreTest;

TEST_F(ChildProcess, DISABLED_SignalsAfterWaiting) {
  const TestSemaphore wanted(kEventfdType, parent().receive_descriptor()),
      given(kTimelineType, parent().receive_descriptor());
  const TestStream stream;
  wanted.wait(stream.get());
  given.signal(stream.get(), 5);
  parent().signal();
  EXPECT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
}

// A process that waits for a request and then gives an answer.
struct Answerer {
  Answerer() {
    process.channel().send_descriptor(request.descriptor());
    const OwnedDescriptor sent(answer.duplicate());
    process.channel().send_descriptor(sent.get());
  }
  const Eventfd request;
  const Timeline answer;
  Child process{"ChildProcess.DISABLED_SignalsAfterWaiting"};
};

TEST_F(SemaphoreProcesses, SignalEachOther) {
  Answerer answerer;
  const TestSemaphore to(kEventfdType, answerer.request.duplicate()), from(kTimelineType, answerer.answer.duplicate());
  const TestStream stream;
  to.signal(stream.get());
  from.wait(stream.get(), 5);
  EXPECT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  EXPECT_EQ(answerer.process.wait(), 0);
}

// Nobody can end the wait any more, and it goes on; the program can, since it has the semaphore, too.
TEST_F(SemaphoreProcesses, ASignallerThatDiesLeavesTheSemaphoreAsItWas) {
  Answerer answerer;
  answerer.process.channel().await();
  const TestSemaphore from(kTimelineType, answerer.answer.duplicate());
  const TestStream stream;
  from.wait(stream.get(), 5);
  answerer.process.kill();
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_READY, CU(cuStreamQuery)(stream.get()));
  answerer.answer.signal(6);
  EXPECT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
}

TEST_F(SemaphoreProcesses, TheProgramsSideMayBeClosed) {
  auto own = std::make_unique<Eventfd>();
  auto memory = std::make_unique<Timeline>();
  const TestSemaphore a(kEventfdType, own->duplicate()), b(kTimelineType, memory->duplicate());
  own.reset();
  memory.reset();
  const TestStream stream;
  a.signal(stream.get());
  a.wait(stream.get());
  b.signal(stream.get(), 1);
  b.wait(stream.get(), 1);
  EXPECT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
}

// A stream that waits is work, and a process with work is not locked; a signal from outside ends it, locked out or not.
TEST_F(SemaphoreProcesses, DISABLED_LockWhileAStreamWaits) {
  const Eventfd own;
  const Timeline timeline;
  const TestSemaphore a(kEventfdType, own.duplicate()), b(kTimelineType, timeline.duplicate());
  const TestModule module(kKernels);
  const PinnedMemory<int> value(1);
  const TestStream stream;
  a.wait(stream.get());
  b.wait(stream.get(), 1);
  EXPECT_SUCCESS(launch(module.function("add_value"), 1, 1, stream.get(), value.device(), 1, 1));
  EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_READY, lock(getpid(), 100));
  std::thread signaller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    own.add();
    timeline.signal(1);
  });
  EXPECT_SUCCESS(lock(getpid()));
  signaller.join();
  EXPECT_EQ(value[0], 1);
  EXPECT_SUCCESS(checkpoint(getpid()));
  EXPECT_SUCCESS(restore(getpid()));
  EXPECT_SUCCESS(unlock(getpid()));
  a.signal(stream.get());
  b.signal(stream.get(), 2);
  EXPECT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  EXPECT_EQ(own.drain(), 1U);
  EXPECT_EQ(timeline.value(), 2U);
}
TEST_F(SemaphoreProcesses, AreLockedWhenTheirWaitsAreOver) {
  EXPECT_EQ(run_in_child("SemaphoreProcesses.DISABLED_LockWhileAStreamWaits"), 0);
}

}  // namespace
}  // namespace conformance
