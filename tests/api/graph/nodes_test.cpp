// Every kind of node: what it does, what it says of itself, and what is refused.
#include <atomic>
#include <chrono>
#include <thread>

#include "api/captured_log.hpp"
#include "api/graph/fixture.hpp"

namespace cuprum::tests {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class GraphNodesTest : public GraphTest {};

TEST_F(GraphNodesTest, AKernelNodeSaysWhatItLaunches) {
  GraphDefinition graph;
  const Kernel shape = kernel("shape");
  const KernelNode node = graph.launch({.grid = {2, 3, 4}, .block = {5, 6, 7}, .shmem_size = 1024}, shape, data);
  EXPECT_EQ(node.type(), GraphNodeType::kernel);
  EXPECT_EQ(node.grid(), Dim3(2, 3, 4));
  EXPECT_EQ(node.block(), Dim3(5, 6, 7));
  EXPECT_EQ(node.shmem_size(), 1024u);
  EXPECT_EQ(node.kernel(), shape);
  EXPECT_EQ(node.config(), (LaunchConfig{.grid = {2, 3, 4}, .block = {5, 6, 7}, .shmem_size = 1024}));
  run(graph);
  EXPECT_THAT(cells.first(6), ElementsAre(2, 3, 4, 5, 6, 7));
}

TEST_F(GraphNodesTest, AKernelNodeTakesArgumentsAsLaunchDoes) {
  GraphDefinition graph;
  int amount = 5;
  graph.launch(one, kernel("add"), data, amount);
  const DevicePointer target = cell(1);
  const void* addresses[] = {&target, &amount};
  const std::size_t sizes[] = {sizeof target, sizeof amount};
  graph.launch(one, kernel("add"), KernelArguments{addresses, sizes});
  graph.launch(one, kernel("add"), reinterpret_cast<int*>(cell(2)), amount);
  amount = 100;  // the node has a copy
  run(graph);
  EXPECT_THAT(cells.first(3), ElementsAre(5, 5, 5));
}

TEST_F(GraphNodesTest, AKernelNodeChecksArgumentsAndShape) {
  GraphDefinition graph;
  EXPECT_THAT(error_of<InvalidArgument>([&] { graph.launch(one, kernel("add"), data); }), HasSubstr("add"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { graph.launch(one, kernel("add"), data, 1.0); }), HasSubstr("add"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { graph.launch({.grid = 1, .block = 5000}, kernel("nothing")); }),
              HasSubstr("5000"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { graph.launch({.grid = 0, .block = 1}, kernel("nothing")); }),
              HasSubstr("grid"));
  EXPECT_THAT(error_of<InvalidArgument>([&] {
                graph.launch({.grid = 1, .block = 1, .programmatic_stream_serialization = true}, kernel("nothing"));
              }),
              HasSubstr("programmatic_stream_serialization"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { graph.launch(one, Kernel()); }), HasSubstr("empty"));
  EXPECT_THAT(graph.nodes(), IsEmpty());
}

TEST_F(GraphNodesTest, KernelNodesHaveClustersAndPriorities) {
  if (device.compute_capability() < ComputeCapability{9, 0}) GTEST_SKIP() << "no clusters";
  GraphDefinition graph;
  const LaunchConfig config{.grid = 2, .block = 8, .cluster = Dim3(2), .priority = 0};
  const KernelNode node = graph.launch(config, kernel("shape"), data);
  EXPECT_EQ(node.grid(), Dim3(4)) << "blocks";
  EXPECT_EQ(node.config().cluster, Dim3(2));
  EXPECT_EQ(node.config().grid, Dim3(2)) << "clusters";
  run(graph);
  EXPECT_THAT(cells.first(6), ElementsAre(4, 1, 1, 8, 1, 1));
}

TEST_F(GraphNodesTest, KernelNodesCanBeCooperative) {
  GraphDefinition graph;
  const KernelNode node = graph.launch({.grid = 2, .block = 8, .is_cooperative = true}, kernel("shape"), data);
  EXPECT_TRUE(node.config().is_cooperative);
  run(graph);
  EXPECT_EQ(cells[0], 2);
}

TEST_F(GraphNodesTest, AMemsetNodeFillsRows) {
  GraphDefinition graph;
  const MemsetNode node = graph.memset<int>(data, 7, 2, 3, 16);
  EXPECT_EQ(node.type(), GraphNodeType::memset);
  EXPECT_EQ(node.dptr(), data.handle());
  EXPECT_EQ(node.value(), 7u);
  EXPECT_EQ(node.element_size(), 4u);
  EXPECT_EQ(node.width(), 2u);
  EXPECT_EQ(node.height(), 3u);
  EXPECT_EQ(node.pitch(), 16u);
  run(graph);
  EXPECT_THAT(cells.first(12), ElementsAre(7, 7, 0, 0, 7, 7, 0, 0, 7, 7, 0, 0));
}

TEST_F(GraphNodesTest, MemsetNodesHaveValuesOfOneTwoAndFourBytes) {
  GraphDefinition graph;
  graph.memset<std::uint8_t>(cell(0), 0x11, 4);
  graph.memset<std::uint16_t>(cell(1), 0x2222, 2);
  graph.memset<float>(cell(2), 1.0f, 1);
  run(graph);
  EXPECT_THAT(cells.first(3), ElementsAre(0x11111111, 0x22222222, 0x3f800000));
}

TEST_F(GraphNodesTest, AMemsetOfNothingIsRefused) {
  GraphDefinition graph;
  EXPECT_THAT(error_of<InvalidArgument>([&] { graph.memset<int>(data, 1, 0); }), HasSubstr("nothing to fill"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { graph.memset<int>(data, 1, 2, 0, 8); }), HasSubstr("nothing to fill"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { graph.memset<int>(data, 1, 4, 2, 8); }), HasSubstr("pitch"));
  // Rows whose bytes are more than a number can hold, which as a product are 4.
  constexpr std::size_t too_many = SIZE_MAX / sizeof(int) + 2;
  for (const std::size_t height : {1, 2})
    EXPECT_THAT(error_of<InvalidArgument>([&] { graph.memset<int>(data, 1, too_many, height, 8); }),
                HasSubstr("no memory is that large"));
  EXPECT_THAT(graph.nodes(), IsEmpty());
}

TEST_F(GraphNodesTest, AMemcpyNodeCopiesBetweenAllKindsOfMemory) {
  const Buffer on_device = ints({1, 2, 3, 4});
  std::vector<int> pageable(4);
  GraphDefinition graph;
  const MemcpyNode down = graph.memcpy(data, on_device, 16);
  const MemcpyNode across = down.memcpy(pageable.data(), data, 16);
  EXPECT_EQ(down.type(), GraphNodeType::memcpy);
  EXPECT_EQ(down.dst(), data.handle());
  EXPECT_EQ(down.src(), on_device.handle());
  EXPECT_EQ(down.size(), 16u);
  EXPECT_EQ(across.dst(), reinterpret_cast<DevicePointer>(pageable.data()));
  run(graph);
  EXPECT_THAT(pageable, ElementsAre(1, 2, 3, 4));
}

TEST_F(GraphNodesTest, AMemcpyNodeCopiesInTwoDimensions) {
  const Buffer from = ints({1, 2, 3, 4, 5, 6});
  GraphDefinition graph;
  const MemcpyNode node =
      graph.memcpy(data, from, CopyExtent{.width = 8, .height = 2, .dst_pitch = 16, .src_pitch = 12});
  EXPECT_EQ(node.size(), 16u);
  EXPECT_EQ(node.extent().height, 2u);
  EXPECT_EQ(node.extent().dst_pitch, 16u);
  EXPECT_EQ(node.extent().src_pitch, 12u);
  run(graph);
  EXPECT_THAT(cells.first(8), ElementsAre(1, 2, 0, 0, 4, 5, 0, 0));
}

TEST_F(GraphNodesTest, AMemcpyNodeCopiesInThreeDimensions) {
  std::vector<int> values(24);
  std::iota(values.begin(), values.end(), 1);
  const Buffer from = upload(values, stream);
  stream.sync();
  GraphDefinition graph;
  // Slices of 3 by 4 integers, of which 2 by 2 go to slices of 2 by 2 without gaps.
  const MemcpyNode node =
      graph.memcpy(data, from, CopyExtent{.width = 8, .height = 2, .depth = 2, .src_pitch = 16, .src_height = 3});
  EXPECT_EQ(node.size(), 32u);
  run(graph);
  EXPECT_THAT(cells.first(9), ElementsAre(1, 2, 5, 6, 13, 14, 17, 18, 0));
}

TEST_F(GraphNodesTest, CopiesThatCanNotBeAreRefused) {
  GraphDefinition graph;
  EXPECT_THAT(error_of<InvalidArgument>([&] { graph.memcpy(data, data, 0); }), HasSubstr("nothing to copy"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { graph.memcpy(data, data, CopyExtent{.width = 8, .height = 0}); }),
              HasSubstr("nothing to copy"));
  EXPECT_THAT(
      error_of<InvalidArgument>([&] { graph.memcpy(data, data, CopyExtent{.width = 8, .height = 2, .dst_pitch = 4}); }),
      HasSubstr("pitches 4 and 0"));
  EXPECT_THAT(error_of<InvalidArgument>(
                  [&] { graph.memcpy(data, data, CopyExtent{.width = 8, .height = 2, .depth = 2, .src_height = 1}); }),
              HasSubstr("heights 0 and 1"));
  Buffer closed = ints({1});
  closed.close();
  EXPECT_THAT(error_of<InvalidArgument>([&] { graph.memcpy(data, closed, 4); }), HasSubstr("closed"));
  EXPECT_THAT(graph.nodes(), IsEmpty());
}

TEST_F(GraphNodesTest, MemoryIsAllocatedAndFreedInAGraph) {
  GraphDefinition graph;
  const AllocNode allocated = graph.allocate(64);
  EXPECT_EQ(allocated.type(), GraphNodeType::alloc);
  EXPECT_NE(allocated.dptr(), 0u);
  EXPECT_EQ(allocated.bytesize(), 64u);
  EXPECT_EQ(allocated.device_id(), 0);
  EXPECT_EQ(allocated.memory_type(), GraphMemoryType::device);
  EXPECT_THAT(allocated.peer_access(), IsEmpty());
  const MemsetNode filled = allocated.memset<int>(allocated.dptr(), 42, 16);
  const MemcpyNode copied = filled.memcpy(data, allocated.dptr(), 64);
  const FreeNode freed = copied.deallocate(allocated);
  EXPECT_EQ(freed.type(), GraphNodeType::free);
  EXPECT_EQ(freed.dptr(), allocated.dptr());
  const Graph executable = graph.instantiate();
  run(executable);
  EXPECT_THAT(cells.first(16), Each(42));
  std::fill(cells.begin(), cells.end(), 0);
  run(executable);
  EXPECT_THAT(cells.first(16), Each(42));
}

TEST_F(GraphNodesTest, ManagedMemoryIsAllocatedInAGraph) {
  GraphDefinition graph;
  AllocNode allocated;
  try {
    allocated = graph.allocate(64, {.memory_type = GraphMemoryType::managed});
  } catch (const Error& error) {
    GTEST_SKIP() << "no managed memory in graphs: " << error.what();
  }
  EXPECT_EQ(allocated.memory_type(), GraphMemoryType::managed);
  allocated.memset<int>(allocated.dptr(), 3, 16).memcpy(data, allocated.dptr(), 64).deallocate(allocated);
  run(graph);
  EXPECT_THAT(cells.first(16), Each(3));
}

TEST_F(GraphNodesTest, HostMemoryIsAllocatedInAGraph) {
  GraphDefinition graph;
  AllocNode allocated;
  try {
    allocated = graph.allocate(64, {.memory_type = GraphMemoryType::host});
  } catch (const Error& error) {
    GTEST_SKIP() << "no host memory in graphs: " << error.what();
  }
  EXPECT_EQ(allocated.memory_type(), GraphMemoryType::host);
  allocated.memset<int>(allocated.dptr(), 4, 16).memcpy(data, allocated.dptr(), 64).deallocate(allocated);
  run(graph);
  EXPECT_THAT(cells.first(16), Each(4));
}

TEST_F(GraphNodesTest, AnAllocationOfNothingIsRefused) {
  GraphDefinition graph;
  EXPECT_THAT(error_of<InvalidArgument>([&] { graph.allocate(0); }), HasSubstr("0 bytes"));
  EXPECT_THROW(graph.deallocate(data.handle()), DriverError);
  EXPECT_THAT(graph.nodes(), IsEmpty());
}

TEST_F(GraphNodesTest, MemoryOfAGraphIsFreedAtTheNextLaunchWhenAskedFor) {
  GraphDefinition graph;
  const AllocNode allocated = graph.allocate(64);
  allocated.memset<int>(allocated.dptr(), 8, 16).memcpy(data, allocated.dptr(), 64);
  const Graph once = graph.instantiate({.auto_free_on_launch = true});
  run(once);
  run(once);
  EXPECT_THAT(cells.first(16), Each(8));
  driver::call<&driver::Api::cuMemFreeAsync>(allocated.dptr(), stream.handle());
  stream.sync();
}

TEST_F(GraphNodesTest, AChildGraphIsACopy) {
  GraphDefinition child;
  add(child, 1);
  GraphDefinition graph;
  const ChildGraphNode node = graph.embed(child);
  EXPECT_EQ(node.type(), GraphNodeType::child_graph);
  EXPECT_NE(node.child_graph(), child);
  EXPECT_EQ(node.child_graph().nodes().size(), 1u);
  add(child, 10);  // too late for the copy
  add(node, 100);
  run(graph);
  EXPECT_EQ(cells[0], 101);
}

TEST_F(GraphNodesTest, TheGraphInANodeCanBeChanged) {
  GraphDefinition child;
  add(child, 1);
  GraphDefinition graph;
  const ChildGraphNode node = graph.embed(child);
  const GraphDefinition inner = node.child_graph();
  EXPECT_EQ(inner, node.child_graph());
  ASSERT_TRUE(inner.nodes()[0].as<KernelNode>());
  EXPECT_EQ(inner.nodes()[0].as<KernelNode>()->kernel(), kernel("add"));
  add(inner, 20, 1);
  run(graph);
  EXPECT_EQ(cells[0], 1);
  EXPECT_EQ(cells[1], 20);
}

TEST_F(GraphNodesTest, AViewOfAGraphInANodeKeepsTheWhole) {
  GraphDefinition inner;
  {
    GraphDefinition child;
    add(child, 1);
    GraphDefinition graph;
    inner = graph.embed(child).child_graph();
  }
  EXPECT_EQ(inner.nodes().size(), 1u);
}

TEST_F(GraphNodesTest, AGraphInADestroyedNodeIsGone) {
  GraphDefinition child;
  add(child, 1);
  GraphDefinition graph;
  const ChildGraphNode node = graph.embed(child);
  const GraphDefinition inner = node.child_graph();
  const GraphNode inside = inner.nodes()[0];
  node.destroy();
  EXPECT_FALSE(inner.is_valid());
  EXPECT_FALSE(inside.is_valid());
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)inner.nodes(); }), HasSubstr("is gone"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { add(inner, 1); }), HasSubstr("is gone"));
  EXPECT_THAT(graph.nodes(), IsEmpty());
}

TEST_F(GraphNodesTest, ChildGraphsHaveChildGraphs) {
  GraphDefinition innermost;
  add(innermost, 1);
  GraphDefinition middle;
  add(middle.embed(innermost), 10);
  GraphDefinition graph;
  add(graph.embed(middle), 100);
  run(graph);
  EXPECT_EQ(cells[0], 111);
}

TEST_F(GraphNodesTest, ChildrenThatTheDriverRefusesLeaveTheGraphAsItWas) {
  GraphDefinition child;
  const AllocNode allocated = child.allocate(16);
  allocated.deallocate(allocated);
  GraphDefinition graph;
  EXPECT_THROW((void)graph.embed(child), Error);
  EXPECT_THAT(graph.nodes(), IsEmpty());
}

TEST_F(GraphNodesTest, EventNodesOrderGraphsAndStreams) {
  const Event event = device.create_event();
  GraphDefinition graph;
  const EventRecordNode recorded = add(graph, 1).record(event);
  EXPECT_EQ(recorded.type(), GraphNodeType::event_record);
  EXPECT_EQ(recorded.event(), event);
  GraphDefinition waits;
  const EventWaitNode waited = waits.wait(event);
  affine(waited, 10, 2);
  EXPECT_EQ(waited.type(), GraphNodeType::event_wait);
  EXPECT_EQ(waited.event(), event);
  Stream other = device.create_stream();
  const Graph first = graph.instantiate();
  const Graph second = waits.instantiate();
  first.launch(stream);
  second.launch(other);
  other.sync();
  EXPECT_EQ(cells[0], 12);
  event.sync();
}

TEST_F(GraphNodesTest, ACallbackNodeCallsAFunctionInOrder) {
  GraphDefinition graph;
  int seen = 0;
  const HostCallbackNode node = add(graph, 5).callback([&] { seen = cells[0]; });
  affine(node, 2, 0);
  EXPECT_EQ(node.type(), GraphNodeType::host);
  ASSERT_TRUE(node.callback());
  run(graph);
  EXPECT_EQ(seen, 5);
  EXPECT_EQ(cells[0], 10);
  node.callback()();
  EXPECT_EQ(seen, 10);
}

TEST_F(GraphNodesTest, ACallbackNodeCallsACFunctionAndKeepsItsData) {
  auto value = std::make_shared<std::atomic<int>>(0);
  {
    GraphDefinition graph;
    const HostCallbackNode node =
        graph.callback([](void* argument) { ++*static_cast<std::atomic<int>*>(argument); }, value.get(), value);
    EXPECT_FALSE(node.callback());
    EXPECT_GT(value.use_count(), 1);
    run(graph);
  }
  stream.sync();
  EXPECT_EQ(*value, 1);
  // Drivers let go of what a graph kept when it suits them.
  for (int i = 0; i < 200 && value.use_count() > 1; ++i) {
    (void)live_objects();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(value.use_count(), 1);
}

TEST_F(GraphNodesTest, EmptyCallbacksAndClosedEventsAreRefused) {
  GraphDefinition graph;
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)graph.callback(std::function<void()>()); }), HasSubstr("empty"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)graph.callback(nullptr, nullptr); }), HasSubstr("null"));
  Event event = device.create_event();
  event.close();
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)graph.record(event); }), HasSubstr("closed"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)graph.wait(Event()); }), HasSubstr("empty"));
  EXPECT_THAT(graph.nodes(), IsEmpty());
}

TEST_F(GraphNodesTest, WhatACallbackThrowsGoesToTheLog) {
  CapturedLog log;
  {
    GraphDefinition graph;
    graph.callback([] { throw std::runtime_error("no luck"); });
    run(graph);
  }
  EXPECT_THAT(log.lines, ElementsAre(HasSubstr("no luck")));
}

TEST_F(GraphNodesTest, CallbacksFollowCallbacks) {
  std::vector<int> seen;
  GraphDefinition graph;
  const HostCallbackNode last = graph.callback([&] { seen.push_back(1); }).callback([&] { seen.push_back(2); });
  EXPECT_TRUE(last.callback());
  EXPECT_EQ(last.pred().size(), 1u);
  run(graph);
  EXPECT_EQ(seen, (std::vector<int>{1, 2}));
}

TEST_F(GraphNodesTest, TheTimeBetweenRecordedEventsIsMeasured) {
  const Event start = device.create_event({.timing_enabled = true}),
              end = device.create_event({.timing_enabled = true});
  GraphDefinition graph;
  graph.record(start).launch(one, kernel("add"), data, 1).record(end);
  const Graph executable = graph.instantiate();
  EXPECT_THAT(error_of<WrongState>([&] { (void)(end - start); }), HasSubstr("the start event"));
  EXPECT_THAT(error_of<WrongState>([&] { (void)(end - start); }), HasSubstr("never recorded"));
  run(executable);
  EXPECT_GE(end - start, 0.0f);
}

}  // namespace
}  // namespace cuprum::tests
