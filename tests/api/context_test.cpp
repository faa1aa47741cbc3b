#include <cuprum/driver.hpp>
#include <thread>
#include <unordered_set>

#include "api/fixture.hpp"

namespace cuprum::tests {
namespace {

using driver::Api;
using ::testing::AllOf;
using ::testing::HasSubstr;

CUcontext current_context() {
  CUcontext context = nullptr;
  driver::call<&Api::cuCtxGetCurrent>(&context);
  return context;
}

bool exists(CUcontext context) {
  unsigned version = 0;
  return driver::api().cuCtxGetApiVersion(context, &version) == CUDA_SUCCESS;
}

class ContextTest : public ApiTest {
 protected:
  ~ContextTest() override { device.set_current(); }
  Context own = device.create_context();
};

TEST_F(ContextTest, ADeviceUsesItsPrimaryContextUnlessAnotherIsCurrent) {
  CUcontext primary = nullptr;
  driver::call<&Api::cuDevicePrimaryCtxRetain>(&primary, device.device_id());
  driver::call<&Api::cuDevicePrimaryCtxRelease>(device.device_id());
  EXPECT_EQ(device.context().handle(), primary);
  driver::call<&Api::cuCtxSetCurrent>(nullptr);
  EXPECT_EQ(device.context().handle(), primary);
  device.set_current(own);
  EXPECT_EQ(device.context(), own);
}

TEST_F(ContextTest, CreatingOneDoesNotMakeItCurrent) {
  EXPECT_EQ(current_context(), device.context().handle());
  EXPECT_NE(own.handle(), device.context().handle());
}

TEST_F(ContextTest, KnowsItsDevice) {
  EXPECT_EQ(own.device(), device);
  EXPECT_EQ(device.context().device(), device);
}

TEST_F(ContextTest, IsNotGreen) {
  EXPECT_FALSE(own.is_green());
  EXPECT_FALSE(device.context().is_green());
}

TEST_F(ContextTest, PrintsWhatItIs) {
  EXPECT_THAT(::testing::PrintToString(own), AllOf(HasSubstr("context 0x"), HasSubstr(" of device 0")));
  own.close();
  EXPECT_EQ(::testing::PrintToString(own), "a closed context");
}

TEST_F(ContextTest, HandlesOfOneContextAreEqualAndHashAlike) {
  Stream first = device.create_stream();
  Stream second = device.create_stream();
  EXPECT_EQ(first.context(), second.context());
  EXPECT_EQ(std::hash<Context>()(first.context()), std::hash<Context>()(second.context()));
  EXPECT_NE(own, first.context());
  const std::unordered_set<Context> contexts = {own, first.context(), second.context(), own};
  EXPECT_EQ(contexts.size(), 2u);
}

TEST_F(ContextTest, AStreamMadeInItBelongsToItWhateverIsCurrent) {
  Stream stream = own.create_stream();
  EXPECT_EQ(stream.context(), own);
  EXPECT_EQ(stream.device(), device);
  EXPECT_EQ(current_context(), device.context().handle()) << "the caller's context is left as it was";
  CUcontext actual = nullptr;
  driver::call<&Api::cuStreamGetCtx>(stream.handle(), &actual);
  EXPECT_EQ(actual, own.handle());
}

TEST_F(ContextTest, AStreamMadeInItHasTheOptionsAskedFor) {
  EXPECT_TRUE(own.create_stream().is_nonblocking());
  EXPECT_FALSE(own.create_stream({.nonblocking = false}).is_nonblocking());
  EXPECT_THAT(error_of<InvalidArgument>([&] { own.create_stream({.priority = 1000}); }),
              HasSubstr("stream priority 1000: device 0 has priorities from "));
}

TEST_F(ContextTest, WorkRunsInIt) {
  Stream stream = own.create_stream();
  Kernel scale = compile(scale_source, "scale");
  Buffer data = upload(numbers(256), stream);
  launch(stream, {.grid = 1, .block = 256}, scale, data, 3.0f, std::size_t{256});
  EXPECT_EQ(download<float>(data, stream)[255], 765.0f);
}

TEST_F(ContextTest, EventsOfItsStreamsBelongToIt) {
  Stream stream = own.create_stream();
  EXPECT_EQ(stream.record().context(), own);
  EXPECT_EQ(device.create_event().context(), device.context());
}

TEST_F(ContextTest, SetCurrentReturnsWhatWasCurrent) {
  const Context primary = device.context();
  EXPECT_EQ(device.set_current(own), primary);
  EXPECT_EQ(current_context(), own.handle());
  EXPECT_EQ(device.set_current(), own);
  EXPECT_EQ(current_context(), primary.handle());
}

TEST_F(ContextTest, SetCurrentReturnsNothingWhenNothingWasCurrent) {
  driver::call<&Api::cuCtxSetCurrent>(nullptr);
  EXPECT_FALSE(device.set_current().has_value());
  std::thread([&] { EXPECT_FALSE(device.set_current(own).has_value()); }).join();
}

TEST_F(ContextTest, WhatWasCurrentCanBeMadeCurrentAgain) {
  const std::optional<Context> before = device.set_current(own);
  device.set_current(*before);
  EXPECT_EQ(current_context(), before->handle());
}

TEST_F(ContextTest, AThreadKeepsTheContextThatItMadeCurrent) {
  const CUcontext handle = own.handle();
  device.set_current(own);
  own = device.context();
  EXPECT_EQ(current_context(), handle);
  Stream stream = device.create_stream();
  EXPECT_EQ(stream.context().handle(), handle);
  stream.sync();
}

TEST_F(ContextTest, IsDestroyedWithTheLastHandle) {
  const CUcontext handle = own.handle();
  Context copy = own;
  own = device.context();
  EXPECT_TRUE(exists(handle));
  copy = own;
  EXPECT_FALSE(exists(handle));
}

TEST_F(ContextTest, CloseClosesAllCopies) {
  Context copy = own;
  own.close();
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)copy.device(); }), HasSubstr("this context is closed"));
  EXPECT_THROW((void)copy.device(), InvalidArgument);
  EXPECT_THROW((void)copy.is_green(), InvalidArgument);
  EXPECT_THROW(copy.create_stream(), InvalidArgument);
  EXPECT_THROW(device.set_current(copy), InvalidArgument);
  EXPECT_EQ(live_objects().contexts, 0u);
  own.close();
}

TEST_F(ContextTest, CloseIsRefusedWhileItIsCurrent) {
  device.set_current(own);
  EXPECT_THAT(error_of<InvalidArgument>([&] { own.close(); }),
              AllOf(HasSubstr("closing context "), HasSubstr("it is current on this thread")));
  EXPECT_EQ(device.context(), own);
  device.set_current();
  own.close();
}

TEST_F(ContextTest, WhatWasMadeInItKeepsItAfterClose) {
  const CUcontext handle = own.handle();
  Stream stream = own.create_stream();
  Buffer buffer = device.allocate(4, stream);
  Event event = stream.record();
  own.close();
  buffer.fill<int>(7, stream);
  EXPECT_EQ(download<int>(buffer, stream).front(), 7);
  stream.close();
  event.close();
  EXPECT_TRUE(exists(handle)) << "the buffer is yet to be freed on the stream";
  buffer.close();
  EXPECT_FALSE(exists(handle));
}

TEST_F(ContextTest, ANewContextIsNotTakenForAnOldOne) {
  Kernel scale = compile(scale_source, "scale");
  for (int round = 0; round < 5; ++round) {
    Context fresh = device.create_context();
    device.set_current(fresh);
    Stream stream = Stream::legacy_default();
    Buffer data = upload(numbers(32), stream);
    launch(stream, {.grid = 1, .block = 32}, scale, data, 2.0f, std::size_t{32});
    EXPECT_EQ(download<float>(data, stream)[31], 62.0f);
    data.close();
    device.set_current();
  }
}

TEST_F(ContextTest, SchedulingIsWhatWasAskedFor) {
  Context sleepy =
      device.create_context({.scheduling = ContextScheduling::blocking_sync, .sync_memory_operations = true});
  device.set_current(sleepy);
  unsigned flags = 0;
  driver::call<&Api::cuCtxGetFlags>(&flags);
  EXPECT_EQ(flags & CU_CTX_SCHED_MASK, CU_CTX_SCHED_BLOCKING_SYNC);
  EXPECT_NE(flags & CU_CTX_SYNC_MEMOPS, 0u);
  device.set_current();
}

TEST_F(ContextTest, SchedulingThatThereIsNotIsRefused) {
  EXPECT_THAT(error_of<InvalidArgument>(
                  [&] { (void)device.create_context({.scheduling = static_cast<ContextScheduling>(9)}); }),
              HasSubstr("there is no scheduling 9"));
}

}  // namespace
}  // namespace cuprum::tests
