// Resources are released from any thread, with any or no context current, and while the process exits.
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
  everything.buffer.fill(1.0f, everything.stream);
  launch(everything.stream, {.grid = 4, .block = 256}, everything.kernel, everything.buffer, 3.0f, std::size_t{1024});
  EXPECT_EQ(download<float>(everything.buffer, everything.stream).back(), 3.0f);
  CUcontext current = nullptr;
  driver::call<&driver::Api::cuCtxGetCurrent>(&current);
  EXPECT_EQ(current, nullptr) << "the caller's context is left as it was";
}

TEST_F(LifetimeTest, AKernelMayGoWhileItRuns) {
  Stream stream = device.create_stream();
  Buffer out = device.allocate(sizeof(unsigned), stream);
  out.fill(0u, stream);
  {
    Kernel spin = compile(spin_source, "spin");
    launch(stream, {}, spin, out, 5'000'000u);
  }
  EXPECT_NE(download<unsigned>(out, stream).front(), 0u);
}

TEST_F(LifetimeTest, ABufferMayGoWhileItsStreamStillUsesIt) {
  Stream stream = device.create_stream();
  Buffer result = device.allocate(sizeof(int), stream);
  Gate gate(stream);
  {
    Buffer temporary = device.allocate(sizeof(int), stream);
    temporary.fill(5, stream);
    result.copy_from(temporary, stream);
  }
  Buffer next = device.allocate(sizeof(int), stream);
  next.fill(6, stream);
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
    data.fill(8, temporary);
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

}  // namespace
}  // namespace cuprum::tests
