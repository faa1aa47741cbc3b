// Threads share devices, streams, kernels and programs.
#include <functional>
#include <thread>

#include "api/fixture.hpp"

namespace cuprum::tests {
namespace {

class ThreadsTest : public ApiTest {
 protected:
  static constexpr int thread_count = 4;

  static void in_threads(const std::function<void(int)>& work) {
    std::vector<std::thread> threads;
    for (int id = 0; id < thread_count; ++id) threads.emplace_back(work, id);
    for (std::thread& thread : threads) thread.join();
  }
};

TEST_F(ThreadsTest, ShareAKernelOnStreamsOfTheirOwn) {
  Kernel scale = compile(scale_source, "scale");
  in_threads([&](int id) {
    Stream stream = device.create_stream();
    Buffer data = device.allocate(1000 * sizeof(float), stream);
    for (int round = 0; round < 20; ++round) {
      data.fill(static_cast<float>(id + 1), stream);
      launch(stream, {.grid = 4, .block = 256}, scale, data, 3.0f, std::size_t{1000});
      EXPECT_EQ(download<float>(data, stream), std::vector<float>(1000, 3.0f * static_cast<float>(id + 1)));
    }
  });
}

TEST_F(ThreadsTest, ShareOneStream) {
  Kernel scale = compile(scale_source, "scale");
  Stream stream = device.create_stream();
  std::vector<Buffer> buffers;
  for (int id = 0; id < thread_count; ++id) buffers.push_back(upload(numbers(256), stream));
  in_threads([&](int id) {
    for (int round = 0; round < 10; ++round) {
      launch(stream, {.block = 256}, scale, buffers[static_cast<std::size_t>(id)], 2.0f, std::size_t{256});
    }
    stream.sync();
  });
  for (const Buffer& buffer : buffers) EXPECT_EQ(download<float>(buffer, stream)[255], 255.0f * 1024);
}

TEST_F(ThreadsTest, LoadOneObjectCodeAtTheSameTime) {
  ObjectCode code = Program(scale_source).compile(Target::cubin);
  std::vector<std::optional<Kernel>> kernels(thread_count);
  in_threads([&](int id) { kernels[static_cast<std::size_t>(id)] = code.get_kernel("scale"); });
  for (const auto& kernel : kernels) EXPECT_EQ(kernel->handle(), kernels[0]->handle());
}

TEST_F(ThreadsTest, CompileOneProgramAtTheSameTime) {
  Program program("template <int N> __global__ void k(int* p) { *p = N; }");
  in_threads([&](int id) {
    const std::string name = "k<" + std::to_string(id) + ">";
    Kernel kernel = program.compile(Target::ptx, {.name_expressions = {name}}).get_kernel(name);
    Stream stream = device.create_stream();
    Buffer out = device.allocate(sizeof(int), stream);
    launch(stream, {}, kernel, out);
    EXPECT_EQ(download<int>(out, stream).front(), id);
  });
}

TEST_F(ThreadsTest, AllocateAndFreeFromOneResource) {
  in_threads([&](int id) {
    Stream stream = device.create_stream();
    for (int round = 0; round < 100; ++round) {
      Buffer buffer = device.allocate(static_cast<std::size_t>(64 * (round + 1)), stream);
      buffer.fill(id, stream);
      if (round % 10 == 0) {
        EXPECT_EQ(download<int>(buffer, stream).back(), id);
      }
    }
  });
}

}  // namespace
}  // namespace cuprum::tests
