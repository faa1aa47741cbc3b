// Memory that graphs allocate.
#include <semaphore>
#include <sstream>

#include "api/graph/fixture.hpp"

namespace cuprum::tests {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class GraphMemoryResourceTest : public GraphTest {
 protected:
  std::vector<GraphNodeType> types(const GraphBuilder& builder) const {
    std::vector<GraphNodeType> types;
    for (const GraphNode& node : builder.graph_definition().nodes()) types.push_back(node.type());
    return types;
  }

  GraphMemoryResource memory{device};
};

TEST_F(GraphMemoryResourceTest, ThereIsOneForADevice) {
  EXPECT_EQ(memory, GraphMemoryResource(device));
  EXPECT_EQ(memory.device_id(), 0);
  EXPECT_TRUE(memory.is_device_accessible());
  EXPECT_FALSE(memory.is_host_accessible());
  EXPECT_FALSE(memory.is_managed());
  const MemoryResource resource = memory;
  EXPECT_TRUE(resource.as<GraphMemoryResource>().has_value());
  EXPECT_FALSE(resource.as<DeviceMemoryResource>().has_value());
  EXPECT_FALSE(MemoryResource(DeviceMemoryResource(device)).as<GraphMemoryResource>().has_value());
  memory.close();
  EXPECT_EQ(memory, GraphMemoryResource(device));
}

TEST_F(GraphMemoryResourceTest, AllocatesUsesAndFreesInAGraph) {
  const GraphBuilder builder = stream.create_graph_builder().begin_building();
  Buffer scratch = memory.allocate(64, builder);
  EXPECT_EQ(scratch.memory_resource(), memory);
  scratch.fill<int>(5, builder);
  data.slice(0, 64).copy_from(scratch, builder);
  scratch.close(builder);
  builder.end_building();
  EXPECT_THAT(types(builder), ::testing::UnorderedElementsAre(GraphNodeType::alloc, GraphNodeType::memset,
                                                              GraphNodeType::memcpy, GraphNodeType::free));
  const Graph graph = builder.complete();
  run(graph);
  EXPECT_THAT(cells.first(16), Each(5));
  std::fill(cells.begin(), cells.end(), 0);
  run(graph);
  EXPECT_THAT(cells.first(16), Each(5));
}

TEST_F(GraphMemoryResourceTest, ABufferThatGoesDuringTheCaptureIsFreedInTheGraph) {
  const GraphBuilder builder = stream.create_graph_builder().begin_building();
  {
    const Buffer scratch = memory.allocate(64, builder);
  }
  builder.end_building();
  EXPECT_THAT(types(builder), ::testing::UnorderedElementsAre(GraphNodeType::alloc, GraphNodeType::free));
  const Graph graph = builder.complete();
  run(graph);
  run(graph);
}

TEST_F(GraphMemoryResourceTest, ABufferThatGoesBeforeAnyLaunchFreesNothing) {
  const GraphBuilder builder = stream.create_graph_builder().begin_building();
  {
    const Buffer scratch = memory.allocate(64, builder);
    scratch.fill<int>(1, builder);
    builder.end_building();
  }
  EXPECT_THAT(builder.graph_definition().nodes(), SizeIs(2));
}

TEST_F(GraphMemoryResourceTest, MemoryOutlivesTheLaunchAndIsFreedOnTheStream) {
  const GraphBuilder builder = stream.create_graph_builder().begin_building();
  Buffer scratch = memory.allocate(64, builder);
  scratch.fill<int>(9, builder);
  const Graph graph = builder.end_building().complete();
  graph.launch(stream);
  EXPECT_THAT(download<int>(scratch, stream), Each(9));
  scratch.close(stream);
  graph.launch(stream);  // it can be allocated again
  stream.sync();
  driver::api().cuMemFreeAsync(builder.graph_definition().nodes()[0].as<AllocNode>()->dptr(), stream.handle());
  stream.sync();
}

TEST_F(GraphMemoryResourceTest, ABufferThatGoesIsFreedBehindALaunchOnAnotherStream) {
  std::binary_semaphore gate(0);
  const Stream other = device.create_stream();
  const GraphBuilder builder = stream.create_graph_builder().begin_building();
  std::optional<Buffer> scratch = memory.allocate(1 << 22, builder);
  scratch->fill<int>(9, builder);
  builder.callback([&] { gate.acquire(); });
  data.copy_from(scratch->slice(0, data.size()), builder);
  const Graph graph = builder.end_building().complete();
  graph.launch(other);
  scratch.reset();
  const auto sweep = [&] {  // what was freed is another's now
    const GraphBuilder second = device.create_graph_builder().begin_building();
    Buffer again = memory.allocate(1 << 22, second);
    again.fill<int>(1, second);
    again.close(second);
    const Stream third = device.create_stream();
    second.end_building().complete().launch(third);
    third.sync();
    memory.trim();
  };
  sweep();
  gate.release();
  other.sync();
  EXPECT_THAT(cells, Each(9));
  stream.sync();
  sweep();
  EXPECT_EQ(memory.attributes().used_mem_current(), 0u);
}

TEST_F(GraphMemoryResourceTest, MemoryCrossesGraphs) {
  const GraphBuilder first = stream.create_graph_builder().begin_building();
  Buffer shared = memory.allocate(64, first);
  shared.fill<int>(6, first);
  const Graph makes = first.end_building().complete();
  const GraphBuilder second = stream.create_graph_builder().begin_building();
  data.slice(0, 64).copy_from(shared, second);
  shared.close(second);
  const Graph uses = second.end_building().complete();
  EXPECT_THAT(types(second), ::testing::UnorderedElementsAre(GraphNodeType::memcpy, GraphNodeType::free));
  for (int i = 0; i < 2; ++i) {
    std::fill(cells.begin(), cells.end(), 0);
    makes.launch(stream);
    uses.launch(stream);
    stream.sync();
    EXPECT_THAT(cells.first(16), Each(6));
  }
}

TEST_F(GraphMemoryResourceTest, AllocatingFromAPoolOnABuilderIsAllocatingInTheGraph) {
  const GraphBuilder builder = stream.create_graph_builder().begin_building();
  {
    const Buffer scratch = device.allocate(64, builder);
    EXPECT_EQ(scratch.memory_resource(), memory);
    launch(builder, {.grid = 1, .block = 1}, kernel("add"), scratch, 1);
    scratch.fill<int>(2, builder);
    data.slice(0, 64).copy_from(scratch, builder);
  }
  builder.end_building();
  EXPECT_THAT(types(builder),
              ::testing::UnorderedElementsAre(GraphNodeType::alloc, GraphNodeType::kernel, GraphNodeType::memset,
                                              GraphNodeType::memcpy, GraphNodeType::free));
  const Graph graph = builder.complete();
  run(graph);
  run(graph);
  EXPECT_THAT(cells.first(16), Each(2));
  const Buffer ordinary = device.allocate(64, stream);
  EXPECT_NE(ordinary.memory_resource(), memory);
}

TEST_F(GraphMemoryResourceTest, OtherStreamsAllocateAsEverDuringACapture) {
  const Stream other = device.create_stream();
  const GraphBuilder builder = stream.create_graph_builder().begin_building();
  const Buffer ordinary = device.allocate(64, other);
  EXPECT_NE(ordinary.memory_resource(), memory);
  ordinary.fill<int>(1, other);
  other.sync();
  builder.end_building();
  EXPECT_THAT(builder.graph_definition().nodes(), SizeIs(0));
}

TEST_F(GraphMemoryResourceTest, AllocatesOnlyDuringACapture) {
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)memory.allocate(64, stream); }),
              AllOf(HasSubstr("is not being captured"), HasSubstr("DeviceMemoryResource")));
}

TEST_F(GraphMemoryResourceTest, TellsHowMuchThereIsAndGivesItBack) {
  memory.trim();
  const GraphMemoryResourceAttributes attributes = memory.attributes();
  attributes.reset_used_mem_high();
  attributes.reset_reserved_mem_high();
  const std::uint64_t before = attributes.used_mem_current();
  const GraphBuilder builder = stream.create_graph_builder().begin_building();
  Buffer scratch = memory.allocate(1 << 20, builder);
  scratch.fill<int>(1, builder);
  Graph graph = builder.end_building().complete();
  run(graph);
  EXPECT_GE(attributes.used_mem_current(), before + (1 << 20));
  EXPECT_GE(attributes.used_mem_high(), attributes.used_mem_current());
  EXPECT_GE(attributes.reserved_mem_current(), attributes.used_mem_current());
  EXPECT_GE(attributes.reserved_mem_high(), attributes.reserved_mem_current());
  std::ostringstream out;
  out << attributes;
  EXPECT_THAT(out.str(), AllOf(HasSubstr("reserved_mem_current="), HasSubstr(", used_mem_high=")));
  scratch.close(stream);
  stream.sync();
  graph.close();  // until now it may keep the memory for its next launch
  memory.trim();
  EXPECT_EQ(attributes.used_mem_current(), before);
  attributes.reset_used_mem_high();
  EXPECT_EQ(attributes.used_mem_high(), attributes.used_mem_current());
}

}  // namespace
}  // namespace cuprum::tests
