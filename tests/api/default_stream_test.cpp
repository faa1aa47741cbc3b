// Default streams are names: each use means the stream of that name in the context that is current then.
#include <stdlib.h>

#include <cuprum/driver.hpp>
#include <thread>
#include <unordered_map>

#include "api/fixture.hpp"

namespace cuprum::tests {
namespace {

using driver::Api;

class DefaultStreamTest : public ApiTest, public ::testing::WithParamInterface<Stream (*)()> {
 protected:
  ~DefaultStreamTest() override { device.set_current(); }
  Stream stream = GetParam()();
  const Context own = device.create_context();
};

TEST_P(DefaultStreamTest, RunsWork) {
  Buffer buffer = device.allocate(64, stream);
  buffer.fill<int>(7, stream);
  EXPECT_EQ(download<int>(buffer, stream), std::vector<int>(16, 7));
}

TEST_P(DefaultStreamTest, RunsKernels) {
  Kernel scale = compile(scale_source, "scale");
  Buffer data = upload(numbers(64), stream);
  launch(stream, {.grid = 1, .block = 64}, scale, data, 2.0f, std::size_t{64});
  EXPECT_EQ(download<float>(data, stream)[63], 126.0f);
}

TEST_P(DefaultStreamTest, FollowsTheCurrentContext) {
  const Context primary = device.context();
  EXPECT_EQ(stream.context(), primary);
  device.set_current(own);
  EXPECT_EQ(stream.context(), own);
  EXPECT_EQ(stream.record().context(), own);
  device.set_current();
  EXPECT_EQ(stream.context(), primary);
  EXPECT_EQ(stream.record().context(), primary);
}

TEST_P(DefaultStreamTest, LookingAtItDoesNotBindIt) {
  (void)::testing::PrintToString(stream);
  (void)stream.device();
  (void)stream.priority();
  stream.sync();
  device.set_current(own);
  EXPECT_EQ(stream.context(), own);
}

TEST_P(DefaultStreamTest, RunsKernelsInWhicheverContextIsCurrent) {
  Kernel scale = compile(scale_source, "scale");
  for (int round = 0; round < 4; ++round) {
    if (round % 2 == 0) {
      device.set_current(own);
    } else {
      device.set_current();
    }
    Buffer data = upload(numbers(64), stream);
    launch(stream, {.grid = 1, .block = 64}, scale, data, 2.0f, std::size_t{64});
    EXPECT_EQ(download<float>(data, stream)[63], 126.0f);
  }
}

TEST_P(DefaultStreamTest, WorksOnAThreadWithoutAContext) {
  std::thread([&] {
    Buffer buffer = device.allocate(64, stream);
    buffer.fill<int>(7, stream);
    EXPECT_EQ(download<int>(buffer, stream).front(), 7);
    EXPECT_EQ(stream.device(), device);
    CUcontext current = nullptr;
    driver::call<&Api::cuCtxGetCurrent>(&current);
    EXPECT_EQ(current, nullptr) << "the caller's context is left as it was";
  }).join();
}

TEST_P(DefaultStreamTest, ABufferKeepsTheContextItWasAllocatedIn) {
  Context temporary = device.create_context();
  device.set_current(temporary);
  Buffer buffer = device.allocate(64, stream);
  buffer.fill<int>(7, stream);
  device.set_current();
  const CUcontext handle = temporary.handle();
  temporary.close();
  unsigned version = 0;
  EXPECT_EQ(driver::api().cuCtxGetApiVersion(handle, &version), CUDA_SUCCESS);
  buffer.close();
  EXPECT_NE(driver::api().cuCtxGetApiVersion(handle, &version), CUDA_SUCCESS);
}

TEST_P(DefaultStreamTest, IsEqualToItselfOnly) {
  EXPECT_EQ(stream, GetParam()());
  EXPECT_EQ(stream, Stream::from_handle(stream.handle()));
  EXPECT_NE(stream, device.create_stream());
  EXPECT_NE(Stream::legacy_default(), Stream::per_thread_default());
  const std::unordered_map<Stream, int> values = {{Stream::legacy_default(), 1}, {Stream::per_thread_default(), 2}};
  EXPECT_EQ(values.size(), 2u);
}

TEST_P(DefaultStreamTest, IsBlocking) { EXPECT_FALSE(stream.is_nonblocking()); }

TEST_P(DefaultStreamTest, ClosingItOnlyLetsGoOfTheName) {
  stream.close();
  EXPECT_THROW(stream.sync(), InvalidArgument);
  GetParam()().sync();
}

INSTANTIATE_TEST_SUITE_P(All, DefaultStreamTest,
                         ::testing::Values(&Stream::legacy_default, &Stream::per_thread_default),
                         [](const auto& test) { return test.index == 0 ? "Legacy" : "PerThread"; });

using DefaultStreamNamesTest = ApiTest;

TEST_F(DefaultStreamNamesTest, HaveCudasHandles) {
  EXPECT_EQ(Stream::legacy_default().handle(), CU_STREAM_LEGACY);
  EXPECT_EQ(Stream::per_thread_default().handle(), CU_STREAM_PER_THREAD);
  EXPECT_EQ(device.default_stream().handle(), CU_STREAM_LEGACY);
}

TEST_F(DefaultStreamNamesTest, ANullHandleIsTheLegacyOne) {
  EXPECT_EQ(Stream::from_handle(nullptr), Stream::legacy_default());
}

TEST_F(DefaultStreamNamesTest, AreTheSameForDevicesAndFunctions) {
  EXPECT_EQ(device.default_stream(), Stream::legacy_default());
  EXPECT_EQ(default_stream(), Stream::legacy_default());
  EXPECT_EQ(std::hash<Stream>()(device.default_stream()), std::hash<Stream>()(Stream::legacy_default()));
}

class UsualDefaultStreamTest : public ApiTest {
 protected:
  static constexpr const char* name = "CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM";
  ~UsualDefaultStreamTest() override { unsetenv(name); }

  Stream with(const char* value) {
    setenv(name, value, true);
    EXPECT_EQ(device.default_stream(), default_stream());
    return default_stream();
  }
};

TEST_F(UsualDefaultStreamTest, IsWhatTheEnvironmentSays) {
  EXPECT_EQ(with("1"), Stream::per_thread_default());
  EXPECT_EQ(with("123foo"), Stream::per_thread_default());
  EXPECT_EQ(with("0"), Stream::legacy_default());
  EXPECT_EQ(with("no number"), Stream::legacy_default());
  EXPECT_EQ(with(""), Stream::legacy_default());
}

TEST_F(DefaultStreamNamesTest, CopiesOfAClosedOneGoOn) {
  Stream stream = device.default_stream();
  const Stream copy = stream;
  stream.close();
  stream.close();
  EXPECT_THAT(error_of<InvalidArgument>([&] { stream.sync(); }), ::testing::HasSubstr("this stream is closed"));
  copy.sync();
  EXPECT_EQ(copy, Stream::legacy_default());
  EXPECT_NE(stream, copy);
}

TEST_F(DefaultStreamNamesTest, HandlesShareOneRecord) {
  const Stream stream = Stream::legacy_default();
  const Stream of_device = device.default_stream();
  EXPECT_EQ(live_objects().streams, 0u) << "which is never given back, so it is no live object";
}

TEST_F(DefaultStreamNamesTest, ADevicesDefaultStreamIsThatOfItsContext) {
  const Context own = device.create_context();
  const Stream stream = device.default_stream();
  EXPECT_EQ(stream.context(), device.context());
  device.set_current(own);
  EXPECT_EQ(stream.context(), own);
  device.set_current();
}

}  // namespace
}  // namespace cuprum::tests
