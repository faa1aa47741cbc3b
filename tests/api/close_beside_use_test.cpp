// Objects that one thread closes while another uses them: what has begun keeps them to its end, and what comes later
// says that they are closed. ThreadSanitizer and AddressSanitizer see whether that is so.
#include <atomic>
#include <cuprum/ipc_channel.hpp>
#include <thread>

#include "api/graph/fixture.hpp"

namespace cuprum::tests {
namespace {

class CloseBesideUse : public GraphTest {
 protected:
  static constexpr int rounds = 50;

  /// Uses something until it is closed, which another thread does after a few times.
  template <typename Closed, typename Use, typename Close>
  static void race(Use&& use, Close&& close) {
    std::atomic<int> used = 0;
    std::thread user([&] {
      try {
        for (;; ++used) use();
      } catch (const Closed&) {
        used = -1;  // as it should be
      }
    });
    while (used >= 0 && used < 3) std::this_thread::yield();
    close();
    user.join();
    EXPECT_EQ(used, -1);
  }
};

TEST_F(CloseBesideUse, BuffersOfALaunch) {
  const Kernel added = kernel("add");
  for (int i = 0; i < rounds; ++i) {
    Buffer buffer = device.allocate(sizeof(int), stream);
    buffer.fill<int>(0, stream);
    race<WrongState>([&] { launch(stream, one, added, buffer, 1); }, [&] { buffer.close(); });
  }
  stream.sync();
}

TEST_F(CloseBesideUse, BuffersOfATypedLaunch) {
  const TypedKernel<void(int*, int)> added(kernel("add"));
  for (int i = 0; i < rounds; ++i) {
    Buffer buffer = device.allocate(sizeof(int), stream);
    race<WrongState>([&] { launch(stream, one, added, buffer, 1); }, [&] { buffer.close(); });
  }
  stream.sync();
}

TEST_F(CloseBesideUse, BuffersThatAreCopied) {
  for (int i = 0; i < rounds; ++i) {
    Buffer buffer = device.allocate(64, stream);
    const Buffer other = device.allocate(64, stream);
    race<WrongState>([&] { other.copy_from(buffer, stream); }, [&] { buffer.close(); });
  }
  stream.sync();
}

TEST_F(CloseBesideUse, Streams) {
  const Kernel added = kernel("add");
  for (int i = 0; i < rounds; ++i) {
    Stream other = device.create_stream();
    race<WrongState>([&] { launch(other, one, added, data, 1); }, [&] { other.close(); });
  }
  device.sync();
}

TEST_F(CloseBesideUse, Events) {
  for (int i = 0; i < rounds; ++i) {
    Event event = device.create_event();
    race<WrongState>([&] { stream.record(event); }, [&] { event.close(); });
  }
  stream.sync();
}

TEST_F(CloseBesideUse, GraphBuilders) {
  const Kernel added = kernel("add");
  for (int i = 0; i < rounds; ++i) {
    GraphBuilder builder = device.create_graph_builder().begin_building();
    race<WrongState>([&] { launch(builder, one, added, data, 1); }, [&] { builder.close(); });
  }
  EXPECT_EQ(cells[0], 0) << "a launch was not captured";
}

TEST_F(CloseBesideUse, CallbacksOfGraphBuilders) {
  for (int i = 0; i < rounds; ++i) {
    GraphBuilder builder = device.create_graph_builder().begin_building();
    race<WrongState>(
        [&] {
          builder.callback([] {});
          EXPECT_NE(builder.stream().handle(), nullptr);
        },
        [&] { builder.close(); });
  }
}

TEST_F(CloseBesideUse, ExecutableGraphs) {
  GraphDefinition definition;
  add(definition, 1);
  for (int i = 0; i < rounds; ++i) {
    Graph executable = definition.instantiate();
    race<WrongState>([&] { executable.launch(stream); }, [&] { executable.close(); });
  }
  stream.sync();
}

TEST_F(CloseBesideUse, Channels) {
  for (int i = 0; i < rounds; ++i) {
    auto [here, there] = ipc::Channel::pair({.timeout_ms = 10000});
    race<ipc::ChannelError>(
        [&] {
          here.send("to");
          EXPECT_EQ(there.receive<std::string>(), "to");
        },
        [&] { here.close(); });
    EXPECT_THROW(here.send("to"), ipc::ChannelError);
  }
}

TEST_F(CloseBesideUse, ChannelsThatWait) {
  for (int i = 0; i < rounds; ++i) {
    auto [here, there] = ipc::Channel::pair({.timeout_ms = 10000});
    std::atomic<bool> waits = false;
    std::thread receiver([&] {
      waits = true;
      EXPECT_THROW(there.receive<std::string>(), ipc::ChannelError);
    });
    while (!waits) std::this_thread::yield();
    there.close();
    receiver.join();
  }
}

TEST_F(CloseBesideUse, PoolsThatAreSent) {
  if (!device.properties().memory_pools_supported()) GTEST_SKIP() << "the device has no memory pools to share";
  const DeviceMemoryResource pool(device, {.ipc_enabled = true});
  for (int i = 0; i < rounds; ++i) {
    const auto [here, there] = ipc::Channel::pair({.timeout_ms = 10000});
    IPCAllocationHandle handle = pool.allocation_handle();
    race<WrongState>(
        [&] {
          here.send(handle);
          EXPECT_EQ(there.receive<IPCAllocationHandle>().uuid(), pool.uuid());
        },
        [&] { handle.close(); });
  }
}

}  // namespace
}  // namespace cuprum::tests
