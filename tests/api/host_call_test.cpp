// Functions that streams call on the host. What they are ordered with is in ordering_test.cpp.
#include <cstdlib>
#include <cuprum/driver.hpp>
#include <semaphore>
#include <thread>

#include "api/captured_log.hpp"
#include "api/gate.hpp"
#include "api/latch.hpp"

namespace cuprum::tests {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class HostCallTest : public ApiTest {
 protected:
  Stream stream = device.create_stream();
};

TEST_F(HostCallTest, IsMadeOnAnotherThread) {
  std::thread::id caller;
  stream.host_call([&] { caller = std::this_thread::get_id(); });
  stream.sync();
  EXPECT_NE(caller, std::thread::id());
  EXPECT_NE(caller, std::this_thread::get_id());
}

TEST_F(HostCallTest, HasTheStateThatItWasGiven) {
  std::vector<int> given = {1, 2, 3};
  std::vector<int> seen;
  stream.host_call([given, &seen] { seen = given; });
  given.clear();
  stream.sync();
  EXPECT_THAT(seen, ElementsAre(1, 2, 3));
}

TEST_F(HostCallTest, WorksOnDefaultStreams) {
  int calls = 0;
  Stream::legacy_default().host_call([&] { ++calls; });
  Stream::legacy_default().sync();
  Stream::per_thread_default().host_call([&] { ++calls; });
  Stream::per_thread_default().sync();
  EXPECT_EQ(calls, 2);
}

TEST_F(HostCallTest, WhatItThrowsGoesToTheLog) {
  CapturedLog log;
  stream.host_call([] { throw std::runtime_error("it is raining"); });
  stream.host_call([] { throw 1; });
  stream.sync();
  EXPECT_THAT(log.lines, ElementsAre("a host call threw: it is raining",
                                     "a host call threw something that is not a std::exception"));
}

TEST_F(HostCallTest, WorkGoesOnAfterItThrew) {
  CapturedLog log;
  Buffer buffer = device.allocate(sizeof(int), stream);
  stream.host_call([] { throw std::runtime_error("it is raining"); });
  buffer.fill<int>(3, stream);
  EXPECT_EQ(download<int>(buffer, stream).front(), 3);
}

TEST_F(HostCallTest, AnEmptyFunctionIsRefused) {
  EXPECT_THAT(error_of<InvalidArgument>([&] { stream.host_call(nullptr); }), HasSubstr("the function is empty"));
}

TEST_F(HostCallTest, MayNotUseCuda) {
  std::string refusal;
  stream.host_call([&] {
    try {
      device.create_event();
    } catch (const Error& error) {
      refusal = error.what();
    }
  });
  stream.sync();
  EXPECT_THAT(refusal, HasSubstr("CUDA_ERROR_NOT_PERMITTED"));
}

TEST_F(HostCallTest, IsDestroyedByWhoWaitsForTheStream) {
  auto state = std::make_shared<int>(0);
  stream.host_call([state] { ++*state; });
  stream.sync();
  EXPECT_EQ(*state, 1);
  EXPECT_EQ(state.use_count(), 1);
}

TEST_F(HostCallTest, IsDestroyedByWhoWaitsForAnEventOrTheDevice) {
  auto state = std::make_shared<int>(0);
  stream.host_call([state] { ++*state; });
  stream.record().sync();
  EXPECT_EQ(state.use_count(), 1);
  stream.host_call([state] { ++*state; });
  device.sync();
  EXPECT_EQ(state.use_count(), 1);
}

TEST_F(HostCallTest, IsDestroyedByTheNextOne) {
  auto state = std::make_shared<int>(0);
  std::binary_semaphore called(0);
  stream.host_call([state] {});
  stream.host_call([&] { called.release(); });  // when this is called, the first one has returned
  called.acquire();
  stream.host_call([] {});
  EXPECT_EQ(state.use_count(), 1);
  stream.sync();
}

TEST_F(HostCallTest, MayOwnWhatIsReleasedWithCuda) {
  std::optional<Buffer> buffer = device.allocate(1024, stream);
  std::optional<Event> event = stream.record();
  Gate gate(stream);  // the call does not run yet
  stream.host_call([owned = *buffer, also = *event] {});
  buffer.reset();
  event.reset();
  EXPECT_EQ(live_objects().buffers, 1u);
  gate.open();
  stream.sync();
  EXPECT_EQ(live_objects().buffers, 0u);
  EXPECT_EQ(live_objects().events, 0u);
}

TEST_F(HostCallTest, AStreamKeepsAnOwnerUntilItsWorkIsDone) {
  auto owner = std::make_shared<int>(0);
  Gate gate(stream);
  stream.keep(owner);
  stream.keep(nullptr);
  EXPECT_EQ(owner.use_count(), 2);
  gate.open();
  stream.sync();
  EXPECT_EQ(owner.use_count(), 1);
}

// CUDA may not be used in there, so what is let go of has to wait.
TEST_F(HostCallTest, WhatItLetsGoOfIsReleasedByWhoWaits) {
  if (!device.properties().memory_pools_supported()) GTEST_SKIP() << "the device has no memory pools";
  std::optional<Buffer> buffer = device.allocate(1024, stream);
  std::optional<Event> event = stream.record();
  std::optional<Stream> other = device.create_stream();
  std::optional<DeviceMemoryResource> pool = DeviceMemoryResource(device, {.max_size = 1 << 21});
  std::optional<Kernel> kernel = compile(R"(extern "C" __global__ void nothing() {})", "nothing");
  std::optional<graph::GraphDefinition> definition = graph::GraphDefinition();
  std::optional<graph::Graph> executable = definition->instantiate();
  std::optional<graph::GraphBuilder> builder = device.create_graph_builder();
  builder->begin_building();
  std::optional<Buffer> closed = device.allocate(1024, stream);
  LiveObjects inside;
  stream.host_call([&] {
    buffer.reset();
    event.reset();
    other.reset();
    pool.reset();
    kernel.reset();
    builder.reset();
    executable.reset();
    definition.reset();
    closed->close();
    inside = live_objects();
  });
  stream.sync();
  EXPECT_EQ(inside.buffers, 2u);
  EXPECT_EQ(inside.memory_pools, 1u);
  EXPECT_EQ(inside.object_codes, 1u);
  EXPECT_EQ(inside.graphs, 2u);
  EXPECT_EQ(inside.executable_graphs, 1u);
  EXPECT_EQ(inside.graph_builders, 1u);
  EXPECT_FALSE(error_of<WrongState>([&] { closed->size(); }).empty());  // for the program it is closed at once
  const LiveObjects after = live_objects();
  EXPECT_EQ(after.buffers, 0u);
  EXPECT_EQ(after.events, 0u);
  EXPECT_EQ(after.streams, 1u);
  EXPECT_EQ(after.memory_pools, 0u);
  EXPECT_EQ(after.object_codes, 0u);
  EXPECT_EQ(after.graphs, 0u);
  EXPECT_EQ(after.executable_graphs, 0u);
  EXPECT_EQ(after.graph_builders, 0u);
}

TEST_F(HostCallTest, WhatANodeOfAGraphLetsGoOfIsReleasedByWhoWaits) {
  std::optional<Buffer> buffer = device.allocate(1024, stream);
  graph::GraphDefinition definition;
  definition.callback([&] { buffer.reset(); });
  graph::Graph executable = definition.instantiate();
  executable.launch(stream);
  stream.sync();
  EXPECT_EQ(live_objects().buffers, 0u);
}

TEST_F(HostCallTest, OutlivesTheHandleOfItsStream) {
  std::binary_semaphore called(0);
  {
    Stream temporary = device.create_stream();
    temporary.host_call([&] { called.release(); });
  }
  called.acquire();
  device.sync();
}

TEST_F(HostCallTest, IsNotMadeAfterAnErrorButItsStateIsReleased) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        set_log_hook([](std::string_view) {});
        const SharedIntegers go(device, 1);
        Kernel fail = compile(
            R"(extern "C" __global__ void fail(volatile int* go) { while (!*go) __nanosleep(1000); __trap(); })",
            "fail");
        auto state = std::make_shared<bool>(false);
        launch(stream, {.grid = 1, .block = 1}, fail, go.address());
        stream.host_call([state] { *state = true; });
        go.store(0, 1);
        bool failed = false;
        try {
          stream.sync();
        } catch (const DriverError&) {
          failed = true;
        }
        // The driver may tell the error before it gets to the call.
        for (int i = 0; i < 1000 && state.use_count() != 1; ++i) {
          try {
            stream.sync();
          } catch (const DriverError&) {
            std::this_thread::yield();
          }
        }
        std::_Exit(failed && !*state && state.use_count() == 1 ? 7 : 8);
      },
      ::testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace cuprum::tests
