#include <thread>

#include "api/fixture.hpp"
#include "api/gate.hpp"

namespace cuprum::tests {
namespace {

using ::testing::HasSubstr;

class PreparedLaunchTest : public ApiTest {
 protected:
  Stream stream = device.create_stream();
  Kernel scale = compile(scale_source, "scale");
  TypedKernel<void(float*, float, std::size_t)> typed{scale};
  Buffer data = upload(std::vector<float>{1, 2, 3, 4}, stream);
  const LaunchConfig config{.grid = 1, .block = 4};
  const std::size_t n = 4;

  std::vector<float> result() { return download<float>(data, stream); }
};

TEST_F(PreparedLaunchTest, LaunchesAsOftenAsItIsCalled) {
  PreparedLaunch twice = prepare(stream, config, scale, data, 2.0f, n);
  EXPECT_EQ(result().front(), 1.0f);
  twice();
  twice();
  twice();
  EXPECT_EQ(result(), (std::vector<float>{8, 16, 24, 32}));
}

TEST_F(PreparedLaunchTest, TakesATypedKernel) {
  PreparedLaunch<float*, float, std::size_t> twice = prepare(stream, config, typed, data, 2, 4);
  twice();
  EXPECT_EQ(result(), (std::vector<float>{2, 4, 6, 8}));
}

TEST_F(PreparedLaunchTest, ChangesOneArgument) {
  PreparedLaunch step = prepare(stream, config, scale, data, 2.0f, n);
  step();
  step.set<1>(5.0f);
  step();
  step.set<2>(std::size_t{1});
  step();
  EXPECT_EQ(result(), (std::vector<float>{50, 20, 30, 40}));
}

TEST_F(PreparedLaunchTest, ChangesABuffer) {
  Buffer other = upload(std::vector<float>{1, 1, 1, 1}, stream);
  PreparedLaunch step = prepare(stream, config, scale, data, 2.0f, n);
  step.set<0>(other);
  step();
  EXPECT_EQ(result().front(), 1.0f);
  EXPECT_EQ(download<float>(other, stream).front(), 2.0f);
}

TEST_F(PreparedLaunchTest, TakesAPointerForABuffer) {
  PreparedLaunch step = prepare(stream, config, scale, data, 2.0f, n);
  step.set<0>(reinterpret_cast<float*>(data.handle()) + 2);
  step.set<2>(std::size_t{2});
  step();
  EXPECT_EQ(result(), (std::vector<float>{1, 2, 6, 8}));
}

TEST_F(PreparedLaunchTest, TakesABufferForAPointer) {
  PreparedLaunch step = prepare(stream, config, scale, static_cast<float*>(nullptr), 2.0f, std::size_t{0});
  step();
  step.set<0>(data);
  step.set<2>(n);
  step();
  EXPECT_EQ(result().front(), 2.0f);
}

TEST_F(PreparedLaunchTest, TakesSpansAndNullptr) {
  const std::span<float> upper(reinterpret_cast<float*>(data.handle()) + 2, 2);
  PreparedLaunch step = prepare(stream, config, scale, upper, 2.0f, upper.size());
  step();
  step.set<0>(nullptr);
  step.set<2>(0u);
  step();
  EXPECT_EQ(result(), (std::vector<float>{1, 2, 6, 8}));
}

TEST_F(PreparedLaunchTest, ConvertsToTheTypeItHas) {
  PreparedLaunch step = prepare(stream, config, scale, data, 2.0f, n);
  step.set<1>(3);
  step.set<2>(1);
  step();
  EXPECT_EQ(result(), (std::vector<float>{3, 2, 3, 4}));
}

TEST_F(PreparedLaunchTest, QueuedLaunchesKeepTheirArguments) {
  PreparedLaunch step = prepare(stream, config, scale, data, 2.0f, n);
  Gate gate(stream);
  step();
  step.set<1>(100.0f);
  gate.open();
  EXPECT_EQ(result().front(), 2.0f);
}

TEST_F(PreparedLaunchTest, GoesToAnotherStream) {
  Stream other = device.create_stream();
  PreparedLaunch step = prepare(stream, config, scale, data, 2.0f, n);
  stream.sync();
  Gate gate(stream);  // what is queued on `stream` does not run
  step(other);
  other.sync();
  gate.open();
  EXPECT_EQ(result().front(), 2.0f);
}

TEST_F(PreparedLaunchTest, GoesToAStreamOfAnotherContext) {
  CUcontext context = nullptr;
  driver::call<&driver::Api::cuCtxCreate>(&context, 0u, device.device_id());
  CUstream handle = nullptr;
  driver::call<&driver::Api::cuStreamCreate>(&handle, static_cast<unsigned>(CU_STREAM_NON_BLOCKING));
  driver::call<&driver::Api::cuCtxPopCurrent>(&context);
  {
    Stream foreign = Stream::from_handle(handle);
    PreparedLaunch step = prepare(stream, config, scale, static_cast<float*>(nullptr), 2.0f, std::size_t{0});
    step(foreign);
    step();
    foreign.sync();
    stream.sync();
  }
  driver::call<&driver::Api::cuCtxDestroy>(context);
}

TEST_F(PreparedLaunchTest, WorksWithAnyContextCurrent) {
  PreparedLaunch step = prepare(stream, config, scale, data, 2.0f, n);
  std::thread([&] { step(); }).join();  // a thread without a current context
  EXPECT_EQ(result().front(), 2.0f);
}

TEST_F(PreparedLaunchTest, ChangesItsConfiguration) {
  PreparedLaunch step = prepare(stream, config, scale, data, 2.0f, n);
  step.set_config({.grid = 1, .block = 2});
  EXPECT_EQ(step.config(), (LaunchConfig{.grid = 1, .block = 2}));
  step();
  EXPECT_EQ(result(), (std::vector<float>{2, 4, 3, 4}));
}

TEST_F(PreparedLaunchTest, ARefusedConfigurationLeavesTheOldOne) {
  PreparedLaunch step = prepare(stream, config, scale, data, 2.0f, n);
  EXPECT_THAT(error_of<InvalidArgument>([&] { step.set_config({.grid = 1, .block = 100000}); }),
              HasSubstr("launching kernel scale: block.x is 100000, over the limit of "));
  EXPECT_EQ(step.config(), config);
  step();
  EXPECT_EQ(result().back(), 8.0f);
}

TEST_F(PreparedLaunchTest, RefusesWhatLaunchRefuses) {
  EXPECT_THAT(error_of<InvalidArgument>([&] { prepare(stream, config, scale, data, 2.0f); }),
              HasSubstr("launching kernel scale: it takes 3 arguments"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { prepare(stream, config, scale, data, 2.0, n); }),
              HasSubstr("argument 2 of 3 has 8 bytes, but the kernel's parameter has 4"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { prepare(stream, {.grid = 0, .block = 1}, scale, data, 2.0f, n); }),
              HasSubstr("grid.x is 0; it must be at least 1"));
}

TEST_F(PreparedLaunchTest, RefusesClosedObjects) {
  Buffer closed = device.allocate(16, stream);
  closed.close();
  PreparedLaunch step = prepare(stream, config, scale, data, 2.0f, n);
  EXPECT_THAT(error_of<InvalidArgument>([&] { step.set<0>(closed); }), HasSubstr("this buffer is closed"));
  Stream gone = device.create_stream();
  gone.close();
  EXPECT_THAT(error_of<InvalidArgument>([&] { prepare(gone, config, scale, data, 2.0f, n); }),
              HasSubstr("this stream is closed"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { step(gone); }), HasSubstr("this stream is closed"));
}

TEST_F(PreparedLaunchTest, KeepsItsStreamWhenThatIsClosed) {
  stream.sync();  // `data` is on the other stream
  Stream own = device.create_stream();
  const std::size_t before = live_objects().streams;
  {
    PreparedLaunch step = prepare(own, config, scale, data, 2.0f, n);
    const PreparedLaunch copy = step;
    own.close();
    EXPECT_EQ(live_objects().streams, before);
    step();
    copy();
    step.set_config(config);
    step();
    EXPECT_EQ(step.stream().handle(), nullptr);
    device.sync();
    EXPECT_EQ(result().front(), 8.0f);
  }
  EXPECT_EQ(live_objects().streams, before - 1);
}

TEST_F(PreparedLaunchTest, KeepsTheKernelAlive) {
  std::optional<Kernel> own = compile(scale_source, "scale");
  PreparedLaunch step = prepare(stream, config, *own, data, 2.0f, n);
  own.reset();
  step();
  EXPECT_EQ(result().front(), 2.0f);
  EXPECT_EQ(step.kernel().name(), "scale");
}

TEST_F(PreparedLaunchTest, KeepsItsBuffersAlive) {
  const std::size_t before = live_objects().buffers;
  std::optional<Buffer> temporary = upload(std::vector<float>{1, 1, 1, 1}, stream);
  const DevicePointer address = temporary->handle();
  PreparedLaunch step = prepare(stream, config, scale, *temporary, 2.0f, n);
  temporary.reset();
  EXPECT_EQ(live_objects().buffers, before + 1);
  step();
  EXPECT_EQ(download<float>(Buffer::from_handle(address, 16), stream).front(), 2.0f);
  step.set<0>(data);
  EXPECT_EQ(live_objects().buffers, before);
}

TEST_F(PreparedLaunchTest, KeepsTheMemoryOfABufferThatIsClosed) {
  const std::size_t before = live_objects().buffers;
  Buffer temporary = upload(std::vector<float>{1, 1, 1, 1}, stream);
  const DevicePointer address = temporary.handle();
  PreparedLaunch step = prepare(stream, config, scale, temporary, 2.0f, n);
  temporary.close();
  EXPECT_EQ(live_objects().buffers, before + 1);
  step();
  EXPECT_EQ(download<float>(Buffer::from_handle(address, 16), stream).front(), 2.0f);
  step.set<0>(data);
  EXPECT_EQ(live_objects().buffers, before);
  step();
  EXPECT_EQ(result().front(), 2.0f);
}

TEST_F(PreparedLaunchTest, ForgetsABufferWhenAPointerTakesItsPlace) {
  const std::size_t before = live_objects().buffers;
  PreparedLaunch step = prepare(stream, config, scale, device.allocate(16, stream), 2.0f, n);
  EXPECT_EQ(live_objects().buffers, before + 1);
  step.set<0>(nullptr);
  EXPECT_EQ(live_objects().buffers, before);
}

TEST_F(PreparedLaunchTest, CopiesHaveTheirOwnArguments) {
  PreparedLaunch one = prepare(stream, config, scale, data, 2.0f, n);
  PreparedLaunch other = one;
  other.set<1>(10.0f);
  one();
  EXPECT_EQ(result().front(), 2.0f);
  other();
  EXPECT_EQ(result().front(), 20.0f);
  one = other;
  one();
  EXPECT_EQ(result().front(), 200.0f);
}

TEST_F(PreparedLaunchTest, ACopyKeepsTheBuffersToo) {
  const std::size_t before = live_objects().buffers;
  {
    std::optional<PreparedLaunch<const void*, float, std::size_t>> one =
        prepare(stream, config, scale, device.allocate(16, stream), 2.0f, n);
    PreparedLaunch other = *one;
    one.reset();
    EXPECT_EQ(live_objects().buffers, before + 1);
    other();
  }
  EXPECT_EQ(live_objects().buffers, before);
}

TEST_F(PreparedLaunchTest, NeedsNoArguments) {
  PreparedLaunch nothing =
      prepare(stream, {.grid = 1, .block = 1}, compile("extern \"C\" __global__ void nothing() {}", "nothing"));
  nothing();
  stream.sync();
}

struct Range {
  std::size_t first;
  std::size_t last;
};

TEST_F(PreparedLaunchTest, TakesStructs) {
  Kernel fill = compile(R"(
struct Range { size_t first, last; };
extern "C" __global__ void fill(float* data, Range range, float value) {
  for (size_t i = range.first; i < range.last; ++i) data[i] = value;
})",
                        "fill");
  PreparedLaunch step = prepare(stream, {.grid = 1, .block = 1}, fill, data, Range{0, 2}, 7.0f);
  step();
  step.set<1>({3, 4});
  step();
  EXPECT_EQ(result(), (std::vector<float>{7, 7, 3, 7}));
}

TEST_F(PreparedLaunchTest, GivesSharedMemoryOverTheUsualLimit) {
  const auto most = static_cast<std::size_t>(device.properties().max_shared_memory_per_block_optin());
  PreparedLaunch step = prepare(stream, {.grid = 1, .block = 4, .shmem_size = most}, scale, data, 2.0f, n);
  step();
  EXPECT_EQ(result().front(), 2.0f);
}

TEST_F(PreparedLaunchTest, ThreadsMayLaunchOneObject) {
  Kernel count = compile("extern \"C\" __global__ void count(int* threads) { atomicAdd(threads, 1); }", "count");
  Buffer counter = upload(std::vector<int>{0}, stream);
  const PreparedLaunch step = prepare(stream, {.grid = 1, .block = 1}, count, counter);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 100; ++j) step();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(download<int>(counter, stream).front(), 400);
}

TEST_F(PreparedLaunchTest, TellsWhatItWasMadeOf) {
  PreparedLaunch step = prepare(stream, config, scale, data, 2.0f, n);
  EXPECT_EQ(step.stream(), stream);
  EXPECT_EQ(step.kernel(), scale);
  EXPECT_EQ(step.config(), config);
}

}  // namespace
}  // namespace cuprum::tests
