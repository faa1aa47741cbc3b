// A pool of worker processes that fill shared buffers: the ways in which they can learn of pools and buffers.
#include "api/ipc_memory_fixture.hpp"

namespace cuprum::tests {
namespace {

constexpr int workers = 2;
constexpr int tasks = 20;

/// How many memory pools the buffers are taken from in turn.
class IpcWorkerPoolTest : public ApiTest, public ::testing::WithParamInterface<int> {
 protected:
  void SetUp() override { SKIP_UNLESS_SHARED(PoolKind::device); }

  /// Starts the workers, lets `begin` greet each, has them fill all buffers, which `hand_over` describes to them, and
  /// looks at the results.
  template <typename Begin, typename HandOver>
  void run(const std::string& test, Begin&& begin, HandOver&& hand_over) {
    std::vector<MemoryPool> pools;
    for (int i = 0; i < GetParam(); ++i) pools.push_back(make_pool(PoolKind::device));
    std::vector<Buffer> buffers;
    for (int i = 0; i < tasks; ++i)
      buffers.push_back(pools[static_cast<std::size_t>(i) % pools.size()].allocate(64, stream));
    stream.sync();

    std::vector<std::unique_ptr<ChildProcess>> processes;
    for (int i = 0; i < workers; ++i) {
      processes.push_back(std::make_unique<ChildProcess>("IpcWorker.DISABLED_" + test));
      begin(processes.back()->channel(), pools);
    }
    for (int i = 0; i < tasks; ++i) {
      const ipc::Channel& channel = processes[static_cast<std::size_t>(i % workers)]->channel();
      channel.send(std::to_string(i));
      hand_over(channel, buffers[static_cast<std::size_t>(i)], pools, static_cast<std::size_t>(i) % pools.size());
    }
    for (auto& process : processes) process->channel().send("end");
    for (auto& process : processes) EXPECT_TRUE(process->passed());
    for (int i = 0; i < tasks; ++i) {
      expect_all(buffers[static_cast<std::size_t>(i)], static_cast<std::uint8_t>(i + 1), stream);
    }
  }

  Stream stream = device.create_stream();
};

INSTANTIATE_TEST_SUITE_P(Pools, IpcWorkerPoolTest, ::testing::Values(1, 3),
                         [](const auto& count) { return count.param == 1 ? "One" : "Three"; });

class IpcWorker : public ApiTest {
 protected:
  /// Fills the buffers that `take` finds by what came after the number of a task.
  template <typename Take>
  void serve(Take&& take) {
    for (std::string task = channel.receive<std::string>(); task != "end"; task = channel.receive<std::string>()) {
      const Buffer buffer = take();
      put(buffer, static_cast<std::uint8_t>(std::stoi(task) + 1), stream);
    }
  }

  std::vector<DeviceMemoryResource> receive_pools() const {
    std::vector<DeviceMemoryResource> pools;
    const int count = std::stoi(channel.receive<std::string>());
    for (int i = 0; i < count; ++i) {
      pools.push_back(DeviceMemoryResource::from_allocation_handle(device, channel.receive<IPCAllocationHandle>()));
    }
    return pools;
  }

  const ipc::Channel channel = channel_to_parent();
  Stream stream = device.create_stream();
};

void send_pools(const ipc::Channel& channel, const std::vector<MemoryPool>& pools) {
  channel.send(std::to_string(pools.size()));
  for (const MemoryPool& pool : pools) channel.send(pool.allocation_handle());
}

TEST_F(IpcWorker, DISABLED_ReceivesThePoolWithEachBuffer) {
  serve([&] {
    const auto pool = DeviceMemoryResource::from_allocation_handle(device, channel.receive<IPCAllocationHandle>());
    return Buffer::from_ipc_descriptor(pool, channel.receive<IPCBufferDescriptor>(), stream);
  });
}

TEST_P(IpcWorkerPoolTest, ThePoolIsSentWithEachBuffer) {
  run(
      "ReceivesThePoolWithEachBuffer", [](const auto&...) {},
      [](const ipc::Channel& channel, const Buffer& buffer, const auto& pools, std::size_t pool) {
        channel.send(pools[pool].allocation_handle());
        channel.send(buffer.ipc_descriptor());
      });
}

TEST_F(IpcWorker, DISABLED_KnowsThePoolsByNumber) {
  const std::vector<DeviceMemoryResource> pools = receive_pools();
  serve([&] {
    const DeviceMemoryResource& pool = pools.at(std::stoul(channel.receive<std::string>()));
    return Buffer::from_ipc_descriptor(pool, channel.receive<IPCBufferDescriptor>(), stream);
  });
}

TEST_P(IpcWorkerPoolTest, PoolsAreSentAtTheBeginningAndNumbered) {
  run("KnowsThePoolsByNumber", send_pools,
      [](const ipc::Channel& channel, const Buffer& buffer, const auto&, std::size_t pool) {
        channel.send(std::to_string(pool));
        channel.send(buffer.ipc_descriptor());
      });
}

TEST_F(IpcWorker, DISABLED_FindsThePoolsByName) {
  const std::vector<DeviceMemoryResource> pools = receive_pools();
  serve([&] {
    const auto descriptor = channel.receive<IPCBufferDescriptor>();
    const auto pool = DeviceMemoryResource::from_registry(descriptor.memory_resource_uuid());
    return Buffer::from_ipc_descriptor(pool, descriptor, stream);
  });
}

TEST_P(IpcWorkerPoolTest, PoolsAreSentAtTheBeginningAndFoundByName) {
  run("FindsThePoolsByName", send_pools,
      [](const ipc::Channel& channel, const Buffer& buffer, const auto&, std::size_t) {
        channel.send(buffer.ipc_descriptor());
      });
}

}  // namespace
}  // namespace cuprum::tests
