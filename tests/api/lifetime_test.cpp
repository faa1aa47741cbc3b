// Resources are released from any thread, with any or no context current, and while the process exits.
#include <atomic>
#include <cstdlib>
#include <cuprum/driver.hpp>
#include <optional>
#include <thread>

#include "api/fixture.hpp"
#include "api/gate.hpp"

namespace cuprum::tests {
namespace {

class LifetimeTest : public ApiTest {};

struct Everything {
  explicit Everything(const Device& device)
      : stream(device.create_stream()),
        event(stream.record()),
        buffer(device.allocate(4096, stream)),
        pinned(PinnedMemoryResource().allocate(4096, stream)),
        pooled(DeviceMemoryResource(device, {.max_size = 1 << 25}).allocate(4096, stream)),
        kernel(compile(scale_source, "scale")) {}
  Stream stream;
  Event event;
  Buffer buffer;
  Buffer pinned;
  Buffer pooled;
  Kernel kernel;
};

TEST_F(LifetimeTest, ReleasingWorksOnAThreadWithoutAContext) {
  auto everything = std::make_unique<Everything>(device);
  std::thread([&] { everything.reset(); }).join();
}

TEST_F(LifetimeTest, ReleasingWorksWithoutACurrentContext) {
  auto everything = std::make_unique<Everything>(device);
  driver::call<&driver::Api::cuCtxSetCurrent>(nullptr);
  everything.reset();
}

TEST_F(LifetimeTest, ReleasingWorksWithAnotherDevicesContextCurrent) {
  auto everything = std::make_unique<Everything>(device);
  Device(Device::count() - 1).set_current();
  everything.reset();
}

TEST_F(LifetimeTest, WorkingNeedsNoCurrentContext) {
  driver::call<&driver::Api::cuCtxSetCurrent>(nullptr);
  Everything everything(device);
  everything.buffer.fill<float>(1.0f, everything.stream);
  launch(everything.stream, {.grid = 4, .block = 256}, everything.kernel, everything.buffer, 3.0f, std::size_t{1024});
  EXPECT_EQ(download<float>(everything.buffer, everything.stream).back(), 3.0f);
  CUcontext current = nullptr;
  driver::call<&driver::Api::cuCtxGetCurrent>(&current);
  EXPECT_EQ(current, nullptr) << "the caller's context is left as it was";
}

TEST_F(LifetimeTest, AKernelMayGoWhileItRuns) {
  Stream stream = device.create_stream();
  Buffer out = device.allocate(sizeof(unsigned), stream);
  out.fill<unsigned>(0u, stream);
  {
    Kernel spin = compile(spin_source, "spin");
    launch(stream, {.grid = 1, .block = 1}, spin, out, 5'000'000u);
  }
  EXPECT_NE(download<unsigned>(out, stream).front(), 0u);
}

TEST_F(LifetimeTest, ABufferMayGoWhileItsStreamStillUsesIt) {
  Stream stream = device.create_stream();
  Buffer result = device.allocate(sizeof(int), stream);
  Gate gate(stream);
  {
    Buffer temporary = device.allocate(sizeof(int), stream);
    temporary.fill<int>(5, stream);
    result.copy_from(temporary, stream);
  }
  Buffer next = device.allocate(sizeof(int), stream);
  next.fill<int>(6, stream);
  gate.open();
  EXPECT_EQ(download<int>(result, stream).front(), 5);
}

TEST_F(LifetimeTest, AStreamMayGoWhileItsWorkIsWaiting) {
  Stream stream = device.create_stream();
  Buffer data = device.allocate(sizeof(int), stream);
  Event filled = device.create_event();
  Stream other = device.create_stream();
  Gate gate(other);
  {
    Stream temporary = device.create_stream();
    temporary.wait(stream);  // for the allocation
    temporary.wait(other);
    data.fill<int>(8, temporary);
    temporary.record(filled);
  }
  gate.open();
  stream.wait(filled);
  EXPECT_EQ(download<int>(data, stream).front(), 8);
}

TEST_F(LifetimeTest, HandlesInStaticVariablesAreReleasedAtExit) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        static std::optional<Everything> forever;
        set_log_hook([](std::string_view) { std::_Exit(3); });
        forever.emplace(device);
        std::exit(7);
      },
      ::testing::ExitedWithCode(7), "");
}

/// Everything that lives in a context, in one of our own.
struct EverythingInAContext {
  explicit EverythingInAContext(const Device& device)
      : context(device.create_context()),
        stream(context.create_stream()),
        event(stream.record()),
        buffer(device.allocate(4096, stream)) {}
  Context context;
  Stream stream;
  Event event;
  Buffer buffer;
};

TEST_F(LifetimeTest, ACreatedContextIsReleasedOnAThreadWithoutAContext) {
  auto everything = std::make_unique<EverythingInAContext>(device);
  std::thread([&] { everything.reset(); }).join();
  EXPECT_EQ(live_objects(), LiveObjects{});
}

TEST_F(LifetimeTest, ACreatedContextIsReleasedWithoutACurrentContext) {
  auto everything = std::make_unique<EverythingInAContext>(device);
  driver::call<&driver::Api::cuCtxSetCurrent>(nullptr);
  everything.reset();
  CUcontext current = nullptr;
  driver::call<&driver::Api::cuCtxGetCurrent>(&current);
  EXPECT_EQ(current, nullptr);
}

TEST_F(LifetimeTest, ACreatedContextIsReleasedWhileAnotherIsCurrent) {
  const Context other = device.create_context();
  auto everything = std::make_unique<EverythingInAContext>(device);
  device.set_current(other);
  everything.reset();
  EXPECT_EQ(device.context(), other);
  device.set_current();
}

TEST_F(LifetimeTest, AContextOutlivesItsHandleAsLongAsSomethingIsInIt) {
  auto everything = std::make_unique<EverythingInAContext>(device);
  everything->context.close();
  EXPECT_EQ(live_objects().contexts, 1u);
  everything->buffer.fill<int>(1, everything->stream);
  everything->stream.sync();
  everything->stream.close();
  everything->buffer.close();
  EXPECT_TRUE(everything->event.is_done());
  everything->event.close();
  EXPECT_EQ(live_objects().contexts, 0u);
}

TEST_F(LifetimeTest, AThreadsContextIsReleasedWhenTheThreadEnds) {
  std::thread([&] {
    device.set_current(device.create_context());
    EXPECT_EQ(live_objects().contexts, 1u);
    device.create_stream().sync();
  }).join();
  EXPECT_EQ(live_objects().contexts, 0u);
}

TEST_F(LifetimeTest, AHostCallMayOutliveEveryHandle) {
  std::atomic<bool> called = false;
  {
    Context own = device.create_context();
    Stream stream = own.create_stream();
    stream.host_call([&] { called = true; });
    stream.sync();
  }
  EXPECT_TRUE(called);
}

/// A context that somebody else makes and destroys.
class ForeignContext {
 public:
  explicit ForeignContext(const Device& device) {
    driver::call<&driver::Api::cuCtxCreate>(&handle_, 0u, device.device_id());
  }
  void destroy() { driver::call<&driver::Api::cuCtxDestroy>(std::exchange(handle_, nullptr)); }
  CUcontext handle() const { return handle_; }

 private:
  CUcontext handle_ = nullptr;
};

TEST_F(LifetimeTest, AForeignContextThatIsCurrentIsUsed) {
  ForeignContext foreign(device);
  {
    EXPECT_EQ(device.context().handle(), foreign.handle());
    Stream stream = device.create_stream();
    EXPECT_EQ(stream.context().handle(), foreign.handle());
    EXPECT_EQ(stream.record().context().handle(), foreign.handle());
  }
  foreign.destroy();
  EXPECT_NE(device.context().handle(), nullptr);
}

TEST_F(LifetimeTest, WhatDiedWithAForeignContextIsNotReleasedAgain) {
  ForeignContext foreign(device);
  std::optional<Stream> stream = device.create_stream();
  std::optional<Event> event = stream->record();
  stream->sync();
  foreign.destroy();
  device.set_current();
  // Some of these may get the handles of those that died.
  std::vector<Stream> streams;
  std::vector<Event> events;
  for (int i = 0; i < 4; ++i) {
    streams.push_back(device.create_stream());
    events.push_back(streams.back().record());
  }
  stream.reset();
  event.reset();
  for (const Event& each : events) each.sync();
  for (const Stream& each : streams) each.sync();
}

TEST_F(LifetimeTest, WorkGoesOnWhenTheCurrentContextWasDestroyedElsewhere) {
  std::thread([&] {  // whose stack of contexts nobody needs afterwards
    ForeignContext foreign(device);
    std::thread([&] { foreign.destroy(); }).join();  // it is still what this thread has as current
    EXPECT_EQ(Device(), device);
    Stream stream = device.create_stream();
    stream.sync();
    device.set_current();
    stream.sync();
  })
      .join();
}

// Handles to what a reset of the primary context has ended. From then on a word in the log ends the process.
std::unique_ptr<Everything> died_in_a_reset(const Device& device) {
  set_log_hook([](std::string_view) { std::_Exit(3); });
  auto dead = std::make_unique<Everything>(device);
  dead->stream.sync();
  driver::call<&driver::Api::cuDevicePrimaryCtxReset>(device.device_id());
  return dead;
}

TEST_F(LifetimeTest, WhatDiedInAResetOfThePrimaryContextIsNotReleasedAgain) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        std::unique_ptr<Everything> dead = died_in_a_reset(device);
        device.set_current();
        std::vector<Stream> streams;
        std::vector<Event> events;
        for (int i = 0; i < 4; ++i) {
          streams.push_back(device.create_stream());
          events.push_back(streams.back().record());
        }
        dead.reset();
        for (const Event& each : events) each.sync();
        for (const Stream& each : streams) each.sync();
        std::_Exit(7);
      },
      ::testing::ExitedWithCode(7), "");
}

TEST_F(LifetimeTest, NothingIsReleasedAfterAResetOfThePrimaryContext) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        std::unique_ptr<Everything> dead = died_in_a_reset(device);
        dead.reset();
        std::_Exit(7);
      },
      ::testing::ExitedWithCode(7), "");
}

TEST_F(LifetimeTest, ADeviceCanBeUsedAfterAResetOfItsPrimaryContext) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        Kernel scale = compile(scale_source, "scale");
        {
          Stream before = device.create_stream();
          Buffer data = upload(numbers(32), before);
          launch(before, {.grid = 1, .block = 32}, scale, data, 2.0f, std::size_t{32});
          before.sync();
        }
        driver::call<&driver::Api::cuDevicePrimaryCtxReset>(device.device_id());
        device.set_current();
        const Stream stream = Stream::legacy_default();
        Buffer data = PinnedMemoryResource().allocate(32 * sizeof(float), stream);
        stream.sync();
        Kernel fresh = compile(scale_source, "scale");
        data.fill<float>(2.0f, stream);
        launch(stream, {.grid = 1, .block = 32}, fresh, data, 2.0f, std::size_t{32});
        stream.sync();
        std::_Exit(data.as_span<float>()[31] == 4.0f ? 7 : 8);
      },
      ::testing::ExitedWithCode(7), "");
}

TEST_F(LifetimeTest, CreatedContextsInStaticVariablesAreReleasedAtExit) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        static std::optional<EverythingInAContext> forever;
        set_log_hook([](std::string_view) { std::_Exit(3); });
        forever.emplace(device);
        device.set_current(forever->context);
        forever->stream.host_call([also = forever->buffer] {});
        std::exit(7);
      },
      ::testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace cuprum::tests
