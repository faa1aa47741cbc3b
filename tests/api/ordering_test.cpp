// What streams, events and host calls order, and what they don't: shown with kernels that wait for the host.
//
// A test holds one stream and queues work on others. Work that must not wait is waited for while the stream is held,
// which would never end if it did. Work that must wait is shown to be unfinished when a later, independent piece of
// work has run, and comes later in the trace.
#include <semaphore>
#include <thread>

#include "api/latch.hpp"

namespace cuprum::tests {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class OrderingTest : public ApiTest {
 protected:
  /// Lets the device do what it can: something else runs from beginning to end.
  void give_others_time() {
    bystander.sync();
    for (int i = 0; i < 3; ++i) {
      idle.fill<int>(i, bystander);
      bystander.sync();
    }
  }

  /// `waiting` must wait for what the latch holds: the note that is about to be put on it comes after 1.
  void expect_held(const Stream& waiting) {
    trace.note(2, waiting);
    give_others_time();
    EXPECT_THAT(trace.noted(), IsEmpty());
    latch.open();
    waiting.sync();
    EXPECT_THAT(trace.noted(), ElementsAre(1, 2));
  }

  /// `going` must not wait for it.
  void expect_free(const Stream& going) {
    trace.note(2, going);
    going.sync();
    EXPECT_THAT(trace.noted(), ElementsAre(2));
    latch.open();
  }

  /// From here on `stream` is held; then it notes 1.
  void hold(const Stream& stream) {
    latch.hold(stream);
    trace.note(1, stream);
  }

  Stream bystander = device.create_stream();
  Stream first = device.create_stream();
  Stream second = device.create_stream();
  Stream blocking = device.create_stream({.nonblocking = false});
  Buffer idle = device.allocate(sizeof(int), bystander);
  Trace trace{device};
  Latch latch{device};
};

TEST_F(OrderingTest, WorkOnOneStreamRunsInOrder) {
  hold(first);
  expect_held(first);
}

TEST_F(OrderingTest, StreamsDoNotWaitForEachOther) {
  hold(first);
  expect_free(second);
}

TEST_F(OrderingTest, WaitForAStreamHoldsLaterWork) {
  hold(first);
  second.wait(first);
  expect_held(second);
}

TEST_F(OrderingTest, WaitForAStreamDoesNotHoldEarlierWork) {
  latch.hold(first);
  trace.note(1, second);
  Event before = second.record();
  second.wait(first);
  before.sync();
  EXPECT_THAT(trace.noted(), ElementsAre(1));
}

TEST_F(OrderingTest, WaitForAStreamDoesNotCoverItsLaterWork) {
  second.wait(first);
  hold(first);
  expect_free(second);
}

TEST_F(OrderingTest, AStreamMayBeClosedAfterItIsWaitedFor) {
  Stream temporary = device.create_stream();
  hold(first);
  temporary.wait(first);
  second.wait(temporary);
  temporary.close();
  expect_held(second);
}

TEST_F(OrderingTest, WaitForAnEventHoldsLaterWork) {
  hold(first);
  second.wait(first.record());
  expect_held(second);
}

TEST_F(OrderingTest, WaitForAnEventDoesNotCoverWorkAfterIt) {
  Event early = first.record();
  hold(first);
  second.wait(early);
  expect_free(second);
}

TEST_F(OrderingTest, AnEventMayBeClosedAfterItIsWaitedFor) {
  hold(first);
  Event event = first.record();
  second.wait(event);
  event.close();
  expect_held(second);
}

TEST_F(OrderingTest, AnEventThatWasNeverRecordedIsNotWaitedFor) {
  Event event = device.create_event();
  hold(first);
  second.wait(event);
  expect_free(second);
}

TEST_F(OrderingTest, RecordingAgainMovesAnEvent) {
  Event event = first.record();
  event.sync();
  hold(first);
  first.record(event);
  EXPECT_FALSE(event.is_done());
  second.wait(event);
  expect_held(second);
}

TEST_F(OrderingTest, RecordingAgainDoesNotAffectWhoWaitsAlready) {
  Event event = first.record();
  second.wait(event);
  hold(first);
  first.record(event);
  expect_free(second);
}

TEST_F(OrderingTest, RecordingAgainOnAnotherStreamForgetsTheFirst) {
  hold(first);
  Event event = first.record();
  EXPECT_FALSE(event.is_done());
  bystander.record(event);
  event.sync();
  second.wait(event);
  expect_free(second);
}

TEST_F(OrderingTest, WaitsGoThroughAChainOfStreams) {
  Stream third = device.create_stream();
  hold(first);
  third.wait(first);
  second.wait(third);
  expect_held(second);
}

TEST_F(OrderingTest, AStreamCanWaitForSeveral) {
  Latch other(device);
  other.hold(bystander);
  latch.hold(first);
  second.wait(bystander);
  second.wait(first);
  trace.note(2, second);
  latch.open();
  first.sync();
  EXPECT_FALSE(second.is_done());
  other.open();
  second.sync();
  EXPECT_THAT(trace.noted(), ElementsAre(2));
}

TEST_F(OrderingTest, AStreamIsDoneWhenItsWorkIs) {
  EXPECT_TRUE(first.is_done());
  latch.hold(first);
  EXPECT_FALSE(first.is_done());
  EXPECT_TRUE(second.is_done());
  latch.open();
  first.sync();
  EXPECT_TRUE(first.is_done());
}

TEST_F(OrderingTest, AnEventIsDoneWhenTheWorkBeforeItIs) {
  latch.hold(first);
  Event event = first.record();
  EXPECT_FALSE(event.is_done());
  latch.open();
  event.sync();
  EXPECT_TRUE(event.is_done());
}

TEST_F(OrderingTest, WaitingForAnEventOnTheHostDoesNotWaitForWorkAfterIt) {
  trace.note(1, first);
  Event event = first.record();
  latch.hold(first);
  event.sync();
  EXPECT_THAT(trace.noted(), ElementsAre(1));
}

TEST_F(OrderingTest, AnEventThatSleepsWaitsAsWell) {
  trace.note(1, first);
  Event event = first.record({.blocking_sync = true});
  latch.hold(first);
  event.sync();
  EXPECT_THAT(trace.noted(), ElementsAre(1));
}

TEST_F(OrderingTest, DeviceSyncWaitsForAllStreams) {
  hold(first);
  trace.note(2, second);
  std::atomic<bool> returned = false;
  std::thread waiting([&] {
    device.sync();
    returned = true;
  });
  second.sync();
  give_others_time();
  EXPECT_FALSE(returned);
  latch.open();
  waiting.join();
  EXPECT_THAT(trace.noted(), ElementsAre(2, 1));
}

// The default streams.

TEST_F(OrderingTest, TheLegacyDefaultStreamWaitsForBlockingStreams) {
  hold(blocking);
  expect_held(Stream::legacy_default());
}

TEST_F(OrderingTest, BlockingStreamsWaitForTheLegacyDefaultStream) {
  hold(Stream::legacy_default());
  expect_held(blocking);
}

TEST_F(OrderingTest, TheLegacyDefaultStreamDoesNotWaitForNonblockingStreams) {
  hold(first);
  expect_free(Stream::legacy_default());
}

TEST_F(OrderingTest, NonblockingStreamsDoNotWaitForTheLegacyDefaultStream) {
  hold(Stream::legacy_default());
  expect_free(first);
}

TEST_F(OrderingTest, BlockingStreamsDoNotWaitForEachOther) {
  hold(blocking);
  expect_free(device.create_stream({.nonblocking = false}));
}

TEST_F(OrderingTest, ADevicesDefaultStreamIsItsLegacyDefaultStream) {
  hold(blocking);
  expect_held(device.default_stream());
}

TEST_F(OrderingTest, TheLegacyDefaultStreamCanBeWaitedFor) {
  hold(Stream::legacy_default());
  second.wait(Stream::legacy_default());
  expect_held(second);
}

TEST_F(OrderingTest, TheLegacyDefaultStreamCanWait) {
  hold(first);
  Stream::legacy_default().wait(first);
  expect_held(Stream::legacy_default());
}

TEST_F(OrderingTest, ThePerThreadDefaultStreamWaitsForTheLegacyOne) {
  hold(Stream::legacy_default());
  expect_held(Stream::per_thread_default());
}

TEST_F(OrderingTest, TheLegacyDefaultStreamWaitsForThePerThreadOne) {
  hold(Stream::per_thread_default());
  expect_held(Stream::legacy_default());
}

TEST_F(OrderingTest, ThePerThreadDefaultStreamDoesNotWaitForOtherStreams) {
  latch.hold(blocking);
  hold(first);
  expect_free(Stream::per_thread_default());
}

TEST_F(OrderingTest, StreamsDoNotWaitForThePerThreadDefaultStream) {
  hold(Stream::per_thread_default());
  expect_free(blocking);
}

TEST_F(OrderingTest, ThePerThreadDefaultStreamsOfTwoThreadsDoNotWaitForEachOther) {
  hold(Stream::per_thread_default());
  std::thread([&] {
    device.set_current();
    expect_free(Stream::per_thread_default());
  }).join();
  Stream::per_thread_default().sync();
}

TEST_F(OrderingTest, OneHandleOfThePerThreadDefaultStreamIsAnotherStreamInEachThread) {
  const Stream shared = Stream::per_thread_default();
  hold(shared);
  std::thread([&] {
    device.set_current();
    expect_free(shared);
  }).join();
  shared.sync();
}

// Host calls.

TEST_F(OrderingTest, AHostCallComesAfterEarlierWork) {
  std::atomic<bool> called = false;
  hold(first);
  first.host_call([&] { called = true; });
  give_others_time();
  EXPECT_FALSE(called);
  latch.open();
  first.sync();
  EXPECT_TRUE(called);
}

TEST_F(OrderingTest, LaterWorkWaitsForAHostCall) {
  std::binary_semaphore go(0);
  first.host_call([&] { go.acquire(); });
  trace.note(1, first);
  give_others_time();
  EXPECT_THAT(trace.noted(), IsEmpty());
  go.release();
  first.sync();
  EXPECT_THAT(trace.noted(), ElementsAre(1));
}

TEST_F(OrderingTest, HostCallsOfOneStreamComeInOrder) {
  std::vector<int> order;
  latch.hold(first);
  for (int i = 0; i < 10; ++i) first.host_call([&order, i] { order.push_back(i); });
  latch.open();
  first.sync();
  EXPECT_THAT(order, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
}

TEST_F(OrderingTest, AHostCallSeesWhatKernelsWrote) {
  std::vector<int> seen;
  trace.note(7, first);
  first.host_call([&] { seen = trace.noted(); });
  first.sync();
  EXPECT_THAT(seen, ElementsAre(7));
}

TEST_F(OrderingTest, AHostCallOnTheLegacyDefaultStreamWaitsForBlockingStreams) {
  std::vector<int> seen;
  hold(blocking);
  Stream::legacy_default().host_call([&] { seen = trace.noted(); });
  latch.open();
  Stream::legacy_default().sync();
  EXPECT_THAT(seen, ElementsAre(1));
}

// Memory.

TEST_F(OrderingTest, FreedMemoryIsNotReusedByAnotherStreamWhileItIsNeeded) {
  Buffer result = device.allocate(sizeof(int), first);
  Buffer temporary = device.allocate(sizeof(int), first);
  Stream other = device.create_stream();
  temporary.fill<int>(5, first);
  latch.hold(first);
  result.copy_from(temporary, first);
  temporary.close();
  for (int i = 0; i < 4; ++i) {
    Buffer next = device.allocate(sizeof(int), other);
    next.fill<int>(6, other);
    other.sync();
  }
  latch.open();
  EXPECT_EQ(download<int>(result, first).front(), 5);
}

TEST_F(OrderingTest, ABufferClosedOnAnotherStreamIsFreedInThatOnesOrder) {
  Buffer result = device.allocate(sizeof(int), first);
  Buffer temporary = device.allocate(sizeof(int), first);
  temporary.fill<int>(5, first);
  latch.hold(first);
  result.copy_from(temporary, first);
  second.wait(first);
  temporary.close(second);
  Buffer next = device.allocate(sizeof(int), second);
  next.fill<int>(6, second);
  latch.open();
  EXPECT_EQ(download<int>(result, first).front(), 5);
  second.sync();
}

TEST_F(OrderingTest, ABufferOfTheDefaultStreamIsFreedInTheContextWhereItWasAllocated) {
  const Context own = device.create_context();
  Buffer result = device.allocate(sizeof(int), Stream::legacy_default());
  Buffer temporary = device.allocate(sizeof(int), Stream::legacy_default());
  temporary.fill<int>(5, Stream::legacy_default());
  latch.hold(Stream::legacy_default());
  result.copy_from(temporary, Stream::legacy_default());
  device.set_current(own);
  temporary.close();  // the legacy default stream of this context has nothing to do with the other
  device.set_current();
  for (int i = 0; i < 4; ++i) {
    Buffer next = device.allocate(sizeof(int), second);
    next.fill<int>(6, second);
    second.sync();
  }
  latch.open();
  EXPECT_EQ(download<int>(result, Stream::legacy_default()).front(), 5);
}

TEST_F(OrderingTest, ABufferOfAThreadsDefaultStreamIsFreedInItsOrderByAnyThread) {
  const Stream mine = Stream::per_thread_default();
  Buffer result = device.allocate(sizeof(int), mine);
  Buffer temporary = device.allocate(sizeof(int), mine);
  temporary.fill<int>(5, mine);
  latch.hold(mine);
  result.copy_from(temporary, mine);
  std::thread([&] {
    temporary.close();
    for (int i = 0; i < 4; ++i) {
      Buffer next = device.allocate(sizeof(int), second);
      next.fill<int>(6, second);
      second.sync();
    }
  }).join();
  latch.open();
  EXPECT_EQ(download<int>(result, mine).front(), 5);
}

// Contexts: held by host calls, because a GPU need not run kernels of two contexts at the same time.

TEST_F(OrderingTest, StreamsWaitForStreamsOfOtherContexts) {
  std::binary_semaphore go(0);
  std::atomic<bool> reached = false;
  const Context own = device.create_context();
  Stream there = own.create_stream();
  there.host_call([&] {
    go.acquire();
    reached = true;
  });
  bool seen = false;
  first.wait(there);
  first.host_call([&] { seen = reached; });
  give_others_time();
  EXPECT_FALSE(first.is_done());
  go.release();
  first.sync();
  EXPECT_TRUE(seen);
}

TEST_F(OrderingTest, LegacyDefaultStreamsOfTwoContextsDoNotWaitForEachOther) {
  const Context own = device.create_context();
  std::binary_semaphore go(0);
  Stream::legacy_default().host_call([&] { go.acquire(); });
  device.set_current(own);
  EXPECT_TRUE(Stream::legacy_default().is_done());
  Stream::legacy_default().sync();
  device.set_current();
  EXPECT_FALSE(Stream::legacy_default().is_done());
  go.release();
  Stream::legacy_default().sync();
}

}  // namespace
}  // namespace cuprum::tests
