// Whatever allocation of the host's memory fails, std::bad_alloc comes out, nothing leaks, and nobody calls
// std::terminate.
#include <cuprum/dlpack.hpp>
#include <cuprum/ipc_channel.hpp>
#include <sstream>

#include "api/faults.hpp"
#include "api/graph/fixture.hpp"
#include "support/temporary_folder.hpp"

namespace cuprum::tests {
namespace {

class HostMemoryFaults : public GraphTest {
 protected:
  const std::string arch = "sm_" + device.arch();
  const ObjectCode scaling = Program(scale_source, {.arch = arch}).compile(Target::cubin);
};

TEST_F(HostMemoryFaults, StreamsAndEvents) {
  fail_each_allocation([&] {
    const Stream first = device.create_stream();
    const Stream second = device.create_stream({.priority = 0});
    const Event event = first.record({.timing_enabled = true});
    second.wait(first);
    second.wait(event);
    event.sync();
    first.sync();
    EXPECT_EQ(Stream::from_handle(first.handle()).handle(), first.handle());
    EXPECT_TRUE(first.context() == second.context());
  });
}

TEST_F(HostMemoryFaults, Launches) {
  fail_each_allocation([&] {
    const Kernel scale = scaling.get_kernel("scale");
    const Buffer values = device.allocate(16, stream);
    launch(stream, {.grid = 1, .block = 4}, scale, values, 2.0f, std::size_t{4});
    PreparedLaunch step = prepare(stream, {.grid = 1, .block = 4}, scale, values, 2.0f, std::size_t{4});
    step();
    EXPECT_EQ(scale.num_arguments(), 3u);
    stream.sync();
  });
}

TEST_F(HostMemoryFaults, Code) {
  fail_each_allocation([&] {
    const ObjectCode code = ObjectCode::from_cubin(scaling.code(), {.name = "copied"});
    EXPECT_EQ(code.name(), "copied");
    EXPECT_EQ(scaling.kernel_names(), std::vector<std::string>{"scale"});
    EXPECT_GT(scaling.get_kernel("scale").attributes().max_threads_per_block(), 0);
  });
}

TEST_F(HostMemoryFaults, Memory) {
  if (!device.properties().memory_pools_supported()) GTEST_SKIP() << "the device has no memory pools";
  if (driver::info().kind != driver::Choice::softgpu)
    GTEST_SKIP()
        << "NVIDIA's driver 580 hung here once, in an allocation from a new pool, after an old one was destroyed "
           "while its memory was being freed";
  std::vector<int> seen(16);
  fail_each_allocation([&] {
    const DeviceMemoryResource pool(device, {.max_size = 1 << 25});
    const Buffer buffer = pool.allocate(64, stream);
    const Buffer host = PinnedMemoryResource().allocate(64, stream);
    buffer.fill<int>(3, stream);
    host.copy_from(buffer, stream);
    copy_batch(stream, {host}, {buffer});
    buffer.slice(0, 32).copy_to(host.slice(32, 32), stream);
    host.copy_to(std::span(seen), stream);
    stream.sync();
    EXPECT_EQ(seen, std::vector<int>(16, 3));
    EXPECT_EQ(Buffer::from_handle(buffer.handle(), 64).device_id(), 0);
  });
}

TEST_F(HostMemoryFaults, VirtualMemory) {
  fail_each_allocation([&] {
    VirtualMemoryResource resource(device);
    Buffer buffer = resource.allocate(64, stream);
    resource.modify_allocation(buffer, 2 * resource.granularity());
    EXPECT_GE(buffer.size(), 2 * resource.granularity());
  });
}

TEST_F(HostMemoryFaults, Views) {
  const Buffer buffer = device.allocate(64, stream);
  fail_each_allocation([&] {
    const auto view = StridedMemoryView::from_buffer<float>(buffer, {4, 4});
    const DLPackTensorVersioned exported = to_dlpack_versioned(view);
    EXPECT_NE(exported, nullptr);
    EXPECT_EQ(view.layout().ndim(), 2);
  });
}

TEST_F(HostMemoryFaults, Compiling) {
  fail_each_allocation([&] {
    std::ostringstream log;
    const ObjectCode code =
        Program("template <typename T> __global__ void twice(T* p) { *p *= 2; }", {.arch = arch})
            .compile(Target::ptx, {.name_expressions = {"twice<float>"}, .log = &log, .cache = nullptr});
    EXPECT_FALSE(code.code().empty());
  });
}

TEST_F(HostMemoryFaults, CompilingWithACache) {
  const TemporaryFolder folder;
  FileStreamProgramCache cache(folder / "cache");
  const LogHook usual = set_log_hook([](std::string_view) {});
  fail_each_allocation(
      [&] {
        EXPECT_FALSE(Program(scale_source, {.arch = arch}).compile(Target::ptx, {.cache = &cache}).code().empty());
      },
      1000);  // compiling gets by without a cache
  set_log_hook(usual);
}

TEST_F(HostMemoryFaults, Linking) {
  const ProgramOptions relocatable = {.arch = arch, .relocatable_device_code = true};
  const std::vector<ObjectCode> parts = {Program(scale_source, relocatable).compile(Target::ptx)};
  fail_each_allocation([&] {
    Linker linker(parts, {.arch = arch});
    EXPECT_FALSE(linker.link(Target::cubin).code().empty());
  });
}

TEST_F(HostMemoryFaults, GraphDefinitions) {
  const Kernel added = kernel("add");
  fail_each_allocation([&] {
    graph::GraphDefinition graph;
    const graph::KernelNode first = graph.launch(one, added, data, 1);
    const graph::MemsetNode filled = first.memset<int>(cell(4), 1, 2);
    filled.memcpy(cell(8), cell(4), 8).callback([] {});
    EXPECT_EQ(graph.nodes().size(), 4u);
    const graph::Graph executable = graph.instantiate();
    executable.launch(stream);
    executable[first].update(one, added, data, 5);
    stream.sync();
  });
}

TEST_F(HostMemoryFaults, Captures) {
  const Kernel added = kernel("add");
  fail_each_allocation([&] {
    const graph::GraphBuilder builder = device.create_graph_builder();
    builder.begin_building();
    launch(builder, one, added, data, 1);
    const std::vector<graph::GraphBuilder> parts = builder.split(2);
    launch(parts[1], one, added, cell(1), 1);
    graph::GraphBuilder::join(parts);
    builder.callback([] {});
    const graph::Graph executable = builder.end_building().complete();
    executable.launch(stream);
    stream.sync();
  });
}

TEST_F(HostMemoryFaults, Channels) {
  fail_each_allocation([&] {
    const auto [here, there] = ipc::Channel::pair();
    here.send("a text that does not fit into a small string, so that it is allocated");
    EXPECT_EQ(there.receive<std::string>().substr(0, 6), "a text");
  });
}

TEST_F(HostMemoryFaults, Messages) {
  fail_each_allocation([&] {
    try {
      launch(stream, one, scaling.get_kernel("scale"), 1);
      ADD_FAILURE() << "it was launched";
    } catch (const InvalidArgument&) {
      // Says which arguments it takes, in memory that it allocates.
    }
  });
}

}  // namespace
}  // namespace cuprum::tests
