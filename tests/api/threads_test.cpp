// Threads share devices, streams, kernels and programs.
#include <atomic>
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
      data.fill<float>(static_cast<float>(id + 1), stream);
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
      launch(stream, {.grid = 1, .block = 256}, scale, buffers[static_cast<std::size_t>(id)], 2.0f, std::size_t{256});
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
    launch(stream, {.grid = 1, .block = 1}, kernel, out);
    EXPECT_EQ(download<int>(out, stream).front(), id);
  });
}

TEST_F(ThreadsTest, AllocateAndFreeFromOneResource) {
  in_threads([&](int id) {
    Stream stream = device.create_stream();
    for (int round = 0; round < 100; ++round) {
      Buffer buffer = device.allocate(static_cast<std::size_t>(64 * (round + 1)), stream);
      buffer.fill<int>(id, stream);
      if (round % 10 == 0) {
        EXPECT_EQ(download<int>(buffer, stream).back(), id);
      }
    }
  });
}

TEST_F(ThreadsTest, RecordAndWaitOnSharedStreams) {
  Stream first = device.create_stream();
  Stream second = device.create_stream();
  in_threads([&](int id) {
    const Stream& mine = id % 2 == 0 ? first : second;
    const Stream& other = id % 2 == 0 ? second : first;
    for (int round = 0; round < 50; ++round) {
      Event event = mine.record();
      other.wait(event);
      mine.wait(other);
      if (round % 10 == 0) event.sync();
    }
  });
  device.sync();
  EXPECT_TRUE(first.is_done());
  EXPECT_TRUE(second.is_done());
}

TEST_F(ThreadsTest, RecordAndWaitForOneEvent) {
  Event event = device.create_event();
  in_threads([&](int) {
    Stream stream = device.create_stream();
    for (int round = 0; round < 50; ++round) {
      stream.record(event);
      stream.wait(event);
      event.sync();
      (void)event.is_done();
    }
  });
}

TEST_F(ThreadsTest, ShareAContext) {
  const Context own = device.create_context();
  in_threads([&](int id) {
    device.set_current(own);
    Stream stream = id % 2 == 0 ? own.create_stream() : device.create_stream();
    EXPECT_EQ(stream.context(), own);
    for (int round = 0; round < 20; ++round) {
      Buffer buffer = device.allocate(256, stream);
      buffer.fill<int>(id, stream);
      EXPECT_EQ(download<int>(buffer, stream).back(), id);
    }
  });
}

TEST_F(ThreadsTest, MakeAndLeaveContextsOfTheirOwn) {
  in_threads([&](int id) {
    for (int round = 0; round < 5; ++round) {
      Context own = device.create_context();
      device.set_current(own);
      Buffer buffer = device.allocate(64, Stream::legacy_default());
      buffer.fill<int>(id, Stream::legacy_default());
      EXPECT_EQ(download<int>(buffer, Stream::legacy_default()).back(), id);
      EXPECT_EQ(Stream::legacy_default().context(), own);
      device.set_current();
    }
  });
}

TEST_F(ThreadsTest, UseTheDefaultStreamsAtTheSameTime) {
  in_threads([&](int id) {
    device.set_current();
    for (const Stream& stream : {Stream::legacy_default(), Stream::per_thread_default()}) {
      for (int round = 0; round < 20; ++round) {
        Buffer buffer = device.allocate(64, stream);
        buffer.fill<int>(id, stream);
        EXPECT_EQ(download<int>(buffer, stream).back(), id);
      }
    }
  });
}

TEST_F(ThreadsTest, MakeHostCallsAtTheSameTime) {
  Stream shared = device.create_stream();
  std::atomic<int> calls = 0;
  in_threads([&](int) {
    Stream own = device.create_stream();
    for (int round = 0; round < 25; ++round) {
      auto state = std::make_shared<int>(round);
      shared.host_call([&calls, state] { ++calls; });
      own.host_call([&calls, state] { ++calls; });
      if (round % 5 == 0) own.sync();
    }
    own.sync();
  });
  shared.sync();
  EXPECT_EQ(calls, 2 * 25 * thread_count);
}

TEST_F(ThreadsTest, ReadPropertiesAtTheSameTime) {
  in_threads([&](int) {
    for (const Device& each : Device::all()) {
#define CUPRUM_DEVICE_PROPERTY(type, name, attribute) (void)each.properties().name();
#include <cuprum/detail/device_properties.def>
    }
  });
}

TEST_F(ThreadsTest, ReleaseWhatOthersMade) {
  std::vector<std::optional<Stream>> streams(thread_count);
  std::vector<std::optional<Buffer>> buffers(thread_count);
  const Context own = device.create_context();
  in_threads([&](int id) {
    const auto mine = static_cast<std::size_t>(id);
    streams[mine] = own.create_stream();
    buffers[mine] = device.allocate(1024, Stream::per_thread_default());
    buffers[mine]->fill<int>(id, Stream::per_thread_default());
    Stream::per_thread_default().sync();
  });
  in_threads([&](int id) {
    const auto neighbour = static_cast<std::size_t>((id + 1) % thread_count);
    streams[neighbour].reset();
    buffers[neighbour].reset();
  });
  EXPECT_EQ(live_objects().streams, 0u);
}

}  // namespace
}  // namespace cuprum::tests
