// A graph keeps what its nodes use, and no longer than it must; nothing is released on the driver's threads.
#include <thread>

#include "api/gate.hpp"
#include "api/graph/fixture.hpp"

namespace cuprum::tests {
namespace {

class GraphLifetimeTest : public GraphTest {
 protected:
  /// Memory that tells whether somebody still keeps it.
  struct Watched {
    Buffer buffer;
    std::weak_ptr<void> owner;
  };
  Watched watched() const {
    auto owner = std::make_shared<int>(0);
    return {Buffer::from_handle(data.handle(), 64, owner), owner};
  }

  /// Drivers may take a while to let go.
  static bool is_released(const std::weak_ptr<void>& owner) {
    for (int i = 0; i < 2000 && !owner.expired(); ++i) {
      (void)live_objects();
      if (!owner.expired()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return owner.expired();
  }
  static bool is_kept(const std::weak_ptr<void>& owner) {
    (void)live_objects();
    return !owner.expired();
  }
};

TEST_F(GraphLifetimeTest, ADefinitionKeepsTheMemoryOfItsNodes) {
  Watched fill = watched(), from = watched(), to = watched(), argument = watched();
  {
    GraphDefinition graph;
    graph.memset<int>(fill.buffer, 1, 1);
    graph.memcpy(to.buffer, from.buffer, 4);
    graph.launch(one, kernel("add"), argument.buffer, 1);
    for (Watched* each : {&fill, &from, &to, &argument}) each->buffer = Buffer();
    for (Watched* each : {&fill, &from, &to, &argument}) EXPECT_TRUE(is_kept(each->owner));
  }
  for (Watched* each : {&fill, &from, &to, &argument}) EXPECT_TRUE(is_released(each->owner));
}

TEST_F(GraphLifetimeTest, ACapturedStreamLeavesItsOwnersToTheGraph) {
  auto owner = std::make_shared<int>(0);
  const std::weak_ptr<void> watch = owner;
  GraphBuilder builder = stream.create_graph_builder().begin_building();
  builder.stream().keep(std::move(owner));
  data.fill<int>(0, builder.stream());
  Graph graph = builder.end_building().complete();
  builder.close();
  EXPECT_TRUE(is_kept(watch));
  run(graph);
  EXPECT_TRUE(is_kept(watch));
  graph.close();
  EXPECT_TRUE(is_released(watch));
}

TEST_F(GraphLifetimeTest, CapturedCopiesBetweenViewsKeepTheirMemory) {
  Watched from = watched(), to = watched();
  const StridedLayout layout({4}, sizeof(int));
  GraphBuilder builder = stream.create_graph_builder().begin_building();
  StridedMemoryView::from_buffer(to.buffer, layout)
      .copy_from(StridedMemoryView::from_buffer(from.buffer, layout), builder.stream(), {.blocking = false});
  Graph graph = builder.end_building().complete();
  builder.close();
  for (Watched* each : {&from, &to}) each->buffer = Buffer();
  for (Watched* each : {&from, &to}) EXPECT_TRUE(is_kept(each->owner));
  graph.close();
  for (Watched* each : {&from, &to}) EXPECT_TRUE(is_released(each->owner));
}

TEST_F(GraphLifetimeTest, OwnersOfAddressesAreKept) {
  auto owner = std::make_shared<int>(0);
  const std::weak_ptr<void> watch = owner;
  GraphDefinition graph;
  const MemsetNode node = graph.memset<int>(Operand(cell(0), owner), 1, 1);
  owner.reset();
  EXPECT_TRUE(is_kept(watch));
  node.destroy();
  EXPECT_TRUE(is_released(watch));
}

TEST_F(GraphLifetimeTest, ADestroyedNodeLetsGo) {
  Watched memory = watched();
  GraphDefinition graph;
  const MemsetNode node = graph.memset<int>(memory.buffer, 1, 1);
  memory.buffer = Buffer();
  node.destroy();
  EXPECT_TRUE(is_released(memory.owner));
}

TEST_F(GraphLifetimeTest, AnUpdatedNodeLetsGoOfWhatItHad) {
  Watched before = watched(), after = watched();
  GraphDefinition graph;
  const MemsetNode node = graph.memset<int>(before.buffer, 1, 1);
  node.update(after.buffer);
  before.buffer = after.buffer = Buffer();
  EXPECT_TRUE(is_released(before.owner));
  EXPECT_TRUE(is_kept(after.owner));
  node.update_value<int>(2);
  EXPECT_TRUE(is_kept(after.owner)) << "another value for the same memory";
}

TEST_F(GraphLifetimeTest, OneSideOfACopyIsReplacedAndTheOtherKept) {
  Watched from = watched(), to = watched(), other = watched();
  GraphDefinition graph;
  const MemcpyNode node = graph.memcpy(to.buffer, from.buffer, 4);
  node.update_dst(other.buffer);
  from.buffer = to.buffer = other.buffer = Buffer();
  EXPECT_TRUE(is_kept(from.owner));
  EXPECT_TRUE(is_released(to.owner));
  EXPECT_TRUE(is_kept(other.owner));
  node.update_src(cell(1));
  EXPECT_TRUE(is_released(from.owner));
  EXPECT_TRUE(is_kept(other.owner));
}

TEST_F(GraphLifetimeTest, AShapeIsReplacedAndArgumentsKept) {
  Watched argument = watched();
  GraphDefinition graph;
  const KernelNode node = graph.launch(one, kernel("shape"), argument.buffer);
  argument.buffer = Buffer();
  node.update({.grid = 2, .block = 2});
  EXPECT_TRUE(is_kept(argument.owner));
  node.update_arguments(cell(0));
  EXPECT_TRUE(is_released(argument.owner));
}

TEST_F(GraphLifetimeTest, AnExecutableGraphKeepsWhatItsDefinitionHad) {
  Watched memory = watched();
  Graph executable;
  {
    GraphDefinition graph;
    const MemsetNode node = graph.memset<int>(memory.buffer, 1, 1);
    executable = graph.instantiate();
    node.update(cell(3));
    memory.buffer = Buffer();
  }
  EXPECT_TRUE(is_kept(memory.owner));
  run(executable);
  EXPECT_EQ(cells[0], 1);
  executable.close();
  EXPECT_TRUE(is_released(memory.owner));
}

TEST_F(GraphLifetimeTest, ALaunchThatRunsKeepsWhatItUses) {
  Watched memory = watched();
  {
    Gate gate(stream);
    {
      GraphDefinition graph;
      graph.memset<int>(memory.buffer, 6, 1);
      Graph executable = graph.instantiate();
      memory.buffer = Buffer();
      executable.launch(stream);
      executable.close();
    }
    EXPECT_TRUE(is_kept(memory.owner));
  }
  EXPECT_EQ(cells[0], 6);
  EXPECT_TRUE(is_released(memory.owner));
}

TEST_F(GraphLifetimeTest, ClonesAndChildrenKeepForThemselves) {
  Watched memory = watched();
  GraphDefinition copy;
  GraphDefinition parent;
  {
    GraphDefinition graph;
    graph.memset<int>(memory.buffer, 1, 1);
    copy = graph.clone();
    (void)parent.embed(graph);
    memory.buffer = Buffer();
  }
  EXPECT_TRUE(is_kept(memory.owner));
  copy.nodes()[0].destroy();
  EXPECT_TRUE(is_kept(memory.owner)) << "the child has it";
  parent.nodes()[0].destroy();
  EXPECT_TRUE(is_released(memory.owner));
}

TEST_F(GraphLifetimeTest, ConditionalBodiesKeepWhatTheirNodesUse) {
  Watched memory = watched();
  GraphDefinition graph;
  const IfNode node = graph.if_then(graph.create_condition(1));
  node.then().memset<int>(memory.buffer, 4, 1);
  memory.buffer = Buffer();
  EXPECT_TRUE(is_kept(memory.owner));
  run(graph);
  EXPECT_EQ(cells[0], 4);
  node.destroy();
  EXPECT_TRUE(is_released(memory.owner));
}

TEST_F(GraphLifetimeTest, UpdatesOfExecutableNodesAreKept) {
  Watched first = watched(), second = watched();
  GraphDefinition graph;
  const MemsetNode node = graph.memset<int>(cell(0), 1, 1);
  Graph executable = graph.instantiate();
  executable[node].update<int>(first.buffer, 2, 1);
  first.buffer = Buffer();
  EXPECT_TRUE(is_kept(first.owner));
  run(executable);
  EXPECT_EQ(cells[0], 2);
  executable[node].update<int>(second.buffer, 3, 1);
  second.buffer = Buffer();
  executable[node].update<int>(cell(0), 4, 1);
  executable[node].update<int>(cell(0), 5, 1);
  EXPECT_TRUE(is_released(first.owner)) << "nothing runs that could use it";
  EXPECT_TRUE(is_released(second.owner));
}

TEST_F(GraphLifetimeTest, WhatARunningLaunchUsesIsKeptThroughUpdates) {
  Watched memory = watched();
  GraphDefinition graph;
  const MemsetNode node = graph.memset<int>(cell(1), 1, 1);
  const Graph executable = graph.instantiate();
  executable[node].update<int>(memory.buffer, 7, 1);
  memory.buffer = Buffer();
  {
    Gate gate(stream);
    executable.launch(stream);
    for (int i = 0; i < 5; ++i) executable[node].update<int>(cell(1), i, 1);
    EXPECT_TRUE(is_kept(memory.owner));
  }
  EXPECT_EQ(cells[0], 7);
  executable[node].update<int>(cell(1), 1, 1);
  EXPECT_TRUE(is_released(memory.owner));
}

TEST_F(GraphLifetimeTest, AWholeUpdateBringsWhatTheOtherGraphKeeps) {
  Watched before = watched(), after = watched(), updated = watched();
  Graph executable;
  {
    GraphDefinition graph;
    const MemsetNode node = graph.memset<int>(before.buffer, 1, 1);
    executable = graph.instantiate();
    executable[node].update<int>(updated.buffer, 1, 1);
    GraphDefinition other;
    other.memset<int>(after.buffer, 2, 1);
    executable.update(other);
    before.buffer = after.buffer = updated.buffer = Buffer();
  }
  EXPECT_TRUE(is_kept(after.owner));
  EXPECT_TRUE(is_released(before.owner));
  EXPECT_TRUE(is_released(updated.owner));
  run(executable);
  EXPECT_EQ(cells[0], 2);
  executable.close();
  EXPECT_TRUE(is_released(after.owner));
}

TEST_F(GraphLifetimeTest, AnUpdateThatFailsKeepsNothing) {
  Watched memory = watched();
  GraphDefinition graph;
  add(graph, 1);
  const Graph executable = graph.instantiate();
  {
    GraphDefinition other;
    other.memset<int>(memory.buffer, 1, 1);
    EXPECT_THROW(executable.update(other), InvalidArgument);
    memory.buffer = Buffer();
  }
  EXPECT_TRUE(is_released(memory.owner));
}

TEST_F(GraphLifetimeTest, KernelsEventsAndFunctionsAreKept) {
  Graph executable;
  int calls = 0;
  {
    const Kernel own = ObjectCode::from_ptx(graph_test_code()).get_kernel("add");
    const Event event = device.create_event();
    GraphDefinition graph;
    graph.launch(one, own, cell(0), 3).record(event).callback([&, kept = std::make_shared<int>(5)] { calls += *kept; });
    executable = graph.instantiate();
  }
  EXPECT_EQ(live_objects().events, 1u);
  EXPECT_EQ(live_objects().object_codes, 2u);
  run(executable);
  EXPECT_EQ(cells[0], 3);
  EXPECT_EQ(calls, 5);
}

TEST_F(GraphLifetimeTest, FunctionsAreDestroyedByThreadsThatMayUseCuda) {
  std::thread::id destroyed_by;
  struct Noting {
    std::thread::id* by;
    Buffer buffer;
    ~Noting() { *by = std::this_thread::get_id(); }
  };
  auto noting = std::make_shared<Noting>(Noting{&destroyed_by, device.allocate(64, stream)});
  const std::weak_ptr<void> watch = noting;
  {
    Gate gate(stream);
    GraphDefinition graph;
    graph.callback([noting] {});
    graph.instantiate().launch(stream);
    noting.reset();
  }
  EXPECT_TRUE(is_released(watch));
  EXPECT_EQ(destroyed_by, std::this_thread::get_id());
}

TEST_F(GraphLifetimeTest, ACapturedGraphKeepsKernelsAndBuffersOfLaunches) {
  Watched argument = watched();
  Graph executable;
  {
    const Kernel own = ObjectCode::from_ptx(graph_test_code()).get_kernel("add");
    const GraphBuilder builder = device.create_graph_builder().begin_building();
    launch(builder, one, own, argument.buffer, 4);
    executable = builder.end_building().complete();
    argument.buffer = Buffer();
  }
  EXPECT_TRUE(is_kept(argument.owner));
  EXPECT_EQ(live_objects().object_codes, 2u);
  run(executable);
  EXPECT_EQ(cells[0], 4);
  executable.close();
  EXPECT_TRUE(is_released(argument.owner));
}

TEST_F(GraphLifetimeTest, ACapturedGraphKeepsTheMemoryOfCopiesAndFills) {
  Watched from = watched(), to = watched(), filled = watched(), host = watched();
  std::vector<std::byte> pageable(64);
  Graph executable;
  {
    const GraphBuilder builder = device.create_graph_builder().begin_building();
    const Stream other = device.create_stream();
    to.buffer.copy_from(from.buffer, builder);
    other.wait(builder.stream());
    filled.buffer.fill<int>(3, other);
    builder.stream().wait(other);
    host.buffer.copy_to(pageable, builder);
    executable = builder.end_building().complete();
    for (Watched* each : {&from, &to, &filled, &host}) each->buffer.close();
  }
  for (Watched* each : {&from, &to, &filled, &host}) EXPECT_TRUE(is_kept(each->owner));
  run(executable);
  EXPECT_EQ(cells[0], 3);
  executable.close();
  for (Watched* each : {&from, &to, &filled, &host}) EXPECT_TRUE(is_released(each->owner));
}

TEST_F(GraphLifetimeTest, CloseTakesNothingAwayFromAGraph) {
  Watched fill = watched(), argument = watched();
  Event event = device.create_event();
  GraphDefinition graph;
  const EventRecordNode recorded = graph.memset<int>(fill.buffer, 4, 1).record(event);
  recorded.launch(one, kernel("add"), argument.buffer, 2);
  fill.buffer.close();
  argument.buffer.close();
  event.close();
  EXPECT_TRUE(is_kept(fill.owner));
  EXPECT_TRUE(is_kept(argument.owner));
  EXPECT_EQ(live_objects().events, 1u);
  run(graph);
  EXPECT_EQ(cells[0], 6);
  recorded.event().sync();
}

TEST_F(GraphLifetimeTest, NothingIsKeptForWorkThatIsNotCaptured) {
  Watched memory = watched();
  const GraphBuilder builder = device.create_graph_builder().begin_building();
  memory.buffer.fill<int>(8, stream);
  stream.sync();
  memory.buffer = Buffer();
  EXPECT_TRUE(is_released(memory.owner));
  builder.end_building();
  EXPECT_TRUE(builder.graph_definition().nodes().empty());
}

TEST_F(GraphLifetimeTest, ACaptureThatIsGivenUpKeepsNothing) {
  Watched closed = watched(), broken = watched();
  GraphBuilder builder = device.create_graph_builder().begin_building();
  launch(builder, one, kernel("add"), closed.buffer, 4);
  builder.keep(std::make_shared<Buffer>(closed.buffer));
  closed.buffer = Buffer();
  EXPECT_TRUE(is_kept(closed.owner));
  builder.close();
  EXPECT_TRUE(is_released(closed.owner));
  const GraphBuilder other = stream.create_graph_builder().begin_building();
  launch(other, one, kernel("add"), broken.buffer, 4);
  broken.buffer = Buffer();
  EXPECT_THROW(stream.sync(), DriverError);
  EXPECT_THROW(other.end_building(), DriverError);
  EXPECT_TRUE(is_released(broken.owner));
}

TEST_F(GraphLifetimeTest, GraphsGoInAnyOrder) {
  GraphDefinition child;
  add(child, 1);
  auto graph = std::make_unique<GraphDefinition>();
  auto node = std::make_unique<ChildGraphNode>(graph->embed(child));
  auto inner = std::make_unique<GraphDefinition>(node->child_graph());
  auto inside = std::make_unique<GraphNode>(inner->nodes()[0]);
  auto executable = std::make_unique<Graph>(graph->instantiate());
  graph.reset();
  inner.reset();
  EXPECT_TRUE(inside->is_valid());
  node.reset();
  EXPECT_TRUE(inside->is_valid());
  inside.reset();
  run(*executable);
  EXPECT_EQ(cells[0], 1);
}

}  // namespace
}  // namespace cuprum::tests
