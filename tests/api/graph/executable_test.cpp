// Graphs that are ready to run: launching, updating as a whole and node by node, closing.
#include <unordered_set>

#include "api/gate.hpp"
#include "api/graph/fixture.hpp"

namespace cuprum::tests {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class GraphExecutableTest : public GraphTest {};

TEST_F(GraphExecutableTest, AGraphIsLaunchedAgainAndAgain) {
  GraphDefinition graph;
  affine(graph, 2, 1);
  const Graph executable = graph.instantiate();
  for (int i = 0; i < 5; ++i) executable.launch(stream);
  stream.sync();
  EXPECT_EQ(cells[0], 31);
}

TEST_F(GraphExecutableTest, LaunchesAreOrderedWithTheStreamsWork) {
  GraphDefinition graph;
  affine(graph, 3, 0);
  const Graph executable = graph.instantiate();
  launch(stream, one, kernel("add"), data, 2);
  executable.launch(stream);
  launch(stream, one, kernel("add"), data, 1);
  executable.launch(stream);
  stream.sync();
  EXPECT_EQ(cells[0], 21);
}

TEST_F(GraphExecutableTest, ALaunchWaitsForTheOneBeforeOnAnyStream) {
  GraphDefinition graph;
  affine(graph, 2, 1);
  const Graph executable = graph.instantiate();
  Stream other = device.create_stream();
  for (int i = 0; i < 3; ++i) {
    executable.launch(stream);
    executable.launch(other);
  }
  other.sync();
  EXPECT_EQ(cells[0], 63);
}

TEST_F(GraphExecutableTest, UploadingChangesNothingThatIsSeen) {
  GraphDefinition graph;
  add(graph, 4);
  const Graph executable = graph.instantiate();
  executable.upload(stream);
  stream.sync();
  EXPECT_EQ(cells[0], 0);
  run(executable);
  EXPECT_EQ(cells[0], 4);
}

TEST_F(GraphExecutableTest, AGraphIsUploadedWhenItIsMade) {
  GraphDefinition graph;
  add(graph, 4);
  const Graph executable = graph.instantiate({.upload_stream = stream});
  run(executable);
  EXPECT_EQ(cells[0], 4);
}

TEST_F(GraphExecutableTest, OptionsThatDoNotGoTogetherAreRefused) {
  GraphDefinition graph;
  EXPECT_THAT(
      error_of<InvalidArgument>([&] { (void)graph.instantiate({.auto_free_on_launch = true, .device_launch = true}); }),
      HasSubstr("don't go together"));
}

TEST_F(GraphExecutableTest, KernelsRunWithTheirOwnPriority) {
  GraphDefinition graph;
  add(graph, 4);
  run(graph.instantiate({.use_node_priority = true}));
  EXPECT_EQ(cells[0], 4);
}

TEST_F(GraphExecutableTest, AGraphThatKernelsLaunchTakesNoCallbacks) {
  GraphDefinition graph;
  const HostCallbackNode node = graph.callback([] {});
  std::string message;
  try {
    (void)graph.instantiate({.device_launch = true});
  } catch (const Error& error) {
    message = error.what();
  }
  EXPECT_THAT(message, HasSubstr("instantiat"));
}

TEST_F(GraphExecutableTest, CopiesAreOneGraphAndCloseClosesAll) {
  GraphDefinition graph;
  add(graph, 1);
  Graph executable = graph.instantiate();
  Graph copy = executable;
  EXPECT_EQ(copy, executable);
  EXPECT_EQ(std::unordered_set<Graph>({copy, executable}).size(), 1u);
  EXPECT_EQ(copy.handle(), executable.handle());
  const std::size_t hash = std::hash<Graph>()(copy);
  executable.close();
  executable.close();
  EXPECT_NE(copy, graph.instantiate());
  EXPECT_EQ(copy, executable);
  EXPECT_EQ(std::hash<Graph>()(copy), hash);
  Graph other = graph.instantiate();
  other.close();
  EXPECT_NE(copy, other);
  EXPECT_NE(copy, Graph());
  for (const auto& use : std::vector<std::function<void()>>{
           [&] { copy.launch(stream); }, [&] { copy.upload(stream); }, [&] { copy.update(graph); },
           [&] { copy[graph.nodes()[0].as<KernelNode>().value()].disable(); }}) {
    EXPECT_THAT(error_of<InvalidArgument>(use), HasSubstr("closed"));
  }
  EXPECT_EQ(copy.handle(), nullptr);
  EXPECT_EQ(Graph().handle(), nullptr);
  EXPECT_THAT(error_of<InvalidArgument>([&] { Graph().launch(stream); }), HasSubstr("empty"));
}

TEST_F(GraphExecutableTest, AGraphCanBeClosedWhileItRuns) {
  GraphDefinition graph;
  affine(add(graph, 1), 4, 0);
  Graph executable = graph.instantiate();
  {
    Gate gate(stream);
    executable.launch(stream);
    executable.close();
    EXPECT_EQ(cells[0], 0);
  }
  EXPECT_EQ(cells[0], 4);
}

TEST_F(GraphExecutableTest, AGraphNeedsNoDefinition) {
  Graph executable;
  {
    GraphDefinition graph;
    add(graph, 6);
    executable = graph.instantiate();
  }
  run(executable);
  EXPECT_EQ(cells[0], 6);
}

TEST_F(GraphExecutableTest, AClosedStreamIsRefused) {
  GraphDefinition graph;
  const Graph executable = graph.instantiate();
  Stream closed = device.create_stream();
  closed.close();
  EXPECT_THAT(error_of<InvalidArgument>([&] { executable.launch(closed); }), HasSubstr("closed"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)graph.instantiate({.upload_stream = closed}); }),
              HasSubstr("closed"));
}

TEST_F(GraphExecutableTest, GraphsRunOnDefaultStreams) {
  GraphDefinition graph;
  add(graph, 1);
  const Graph executable = graph.instantiate();
  for (const Stream& queue : {Stream::legacy_default(), Stream::per_thread_default(), device.default_stream()}) {
    executable.launch(queue);
    queue.sync();
  }
  EXPECT_EQ(cells[0], 3);
}

// ---- Updating as a whole --------------------------------------------------------------------------------------------

TEST_F(GraphExecutableTest, AWholeGraphIsUpdated) {
  GraphDefinition graph;
  affine(add(graph, 1), 2, 0);
  const Graph executable = graph.instantiate();
  GraphDefinition other;
  affine(add(other, 5), 10, 3);
  executable.update(other);
  run(executable);
  EXPECT_EQ(cells[0], 53);
}

TEST_F(GraphExecutableTest, AnUpdateSaysWhyItCanNotBe) {
  GraphDefinition graph;
  add(graph, 1);
  const Graph executable = graph.instantiate();
  GraphDefinition larger;
  add(add(larger, 1), 1);
  EXPECT_THAT(error_of<InvalidArgument>([&] { executable.update(larger); }),
              AllOf(HasSubstr("updating executable graph"), HasSubstr("it has other nodes or edges")));
  GraphDefinition another_kind;
  another_kind.memset<int>(data, 1, 1);
  EXPECT_THAT(error_of<InvalidArgument>([&] { executable.update(another_kind); }),
              AnyOf(HasSubstr("of another type"), HasSubstr("other nodes")));
  run(executable);
  EXPECT_EQ(cells[0], 1) << "nothing has changed";
}

TEST_F(GraphExecutableTest, AnUpdateHoldsForLaterLaunchesOnly) {
  GraphDefinition graph;
  add(graph, 1);
  GraphDefinition other;
  add(other, 10);
  const Graph executable = graph.instantiate();
  {
    Gate gate(stream);
    executable.launch(stream);
    executable.update(other);
    executable.launch(stream);
  }
  EXPECT_EQ(cells[0], 11);
}

TEST_F(GraphExecutableTest, AnUpdateFromTheChangedDefinition) {
  GraphDefinition graph;
  const KernelNode node = add(graph, 1);
  const Graph executable = graph.instantiate();
  for (int i = 0; i < 10; ++i) {
    node.update_arguments(cell(0), i);
    executable.update(graph);
    executable.launch(stream);
  }
  stream.sync();
  EXPECT_EQ(cells[0], 45);
}

// ---- Nodes ----------------------------------------------------------------------------------------------------------

TEST_F(GraphExecutableTest, AKernelNodeIsUpdated) {
  GraphDefinition graph;
  const KernelNode node = add(graph, 1);
  const Graph executable = graph.instantiate();
  executable[node].update(one, kernel("add"), cell(1), 7);
  run(executable);
  EXPECT_THAT(cells.first(2), ElementsAre(0, 7));
  run(graph);
  EXPECT_THAT(cells.first(2), ElementsAre(1, 7)) << "the definition has not changed";
  EXPECT_THAT(error_of<InvalidArgument>([&] { executable[node].update(one, kernel("add"), cell(1)); }),
              HasSubstr("add"));
}

TEST_F(GraphExecutableTest, AKernelNodesShapeIsUpdated) {
  GraphDefinition graph;
  const KernelNode node = graph.launch(one, kernel("shape"), data);
  const Graph executable = graph.instantiate();
  executable[node].update({.grid = 5, .block = 6}, kernel("shape"), data);
  run(executable);
  EXPECT_THAT(cells.first(4), ElementsAre(5, 1, 1, 6));
  EXPECT_THAT(error_of<InvalidArgument>([&] {
                executable[node].update({.grid = 1, .block = 1, .is_cooperative = true}, kernel("shape"), data);
              }),
              HasSubstr("in its definition only"));
}

// The driver takes the attributes that the executable graph was made with, and doesn't tell them.
TEST_F(GraphExecutableTest, AKernelNodeWhoseAttributesChangedSinceIsNotUpdated) {
  GraphDefinition graph;
  const KernelNode node = graph.launch(one, kernel("shape"), data);
  const Graph before = graph.instantiate();
  const LaunchConfig cooperative{.grid = 2, .block = 1, .is_cooperative = true};
  node.update(cooperative);
  for (const LaunchConfig& config : {one, cooperative})
    EXPECT_THAT(error_of<InvalidArgument>([&] { before[node].update(config, kernel("shape"), data); }),
                HasSubstr("since the executable graph was made"));
  const Graph after = graph.instantiate();
  after[node].update({.grid = 4, .block = 1, .is_cooperative = true}, kernel("shape"), data);
  run(after);
  EXPECT_EQ(cells[0], 4);
  run(before);
  EXPECT_EQ(cells[0], 1);
}

TEST_F(GraphExecutableTest, NodesAreDisabledAndEnabled) {
  GraphDefinition graph;
  const KernelNode kernel_node = add(graph, 1);
  const MemsetNode memset_node = graph.memset<int>(cell(1), 2, 1);
  const Buffer from = ints({3});
  const MemcpyNode memcpy_node = graph.memcpy(cell(2), from, 4);
  const Graph executable = graph.instantiate();
  EXPECT_TRUE(executable[kernel_node].is_enabled());
  EXPECT_TRUE(executable[memset_node].is_enabled());
  EXPECT_TRUE(executable[memcpy_node].is_enabled());
  executable[kernel_node].disable();
  executable[memset_node].disable();
  executable[memcpy_node].disable();
  EXPECT_FALSE(executable[kernel_node].is_enabled());
  EXPECT_FALSE(executable[memset_node].is_enabled());
  EXPECT_FALSE(executable[memcpy_node].is_enabled());
  run(executable);
  EXPECT_THAT(cells.first(3), Each(0));
  executable[kernel_node].enable();
  executable[memset_node].enable();
  executable[memcpy_node].enable();
  run(executable);
  EXPECT_THAT(cells.first(3), ElementsAre(1, 2, 3));
}

TEST_F(GraphExecutableTest, ADisabledNodeStillOrders) {
  GraphDefinition graph;
  const KernelNode first = affine(graph, 0, 5);
  const KernelNode middle = add(first, 1000);
  affine(middle, 2, 1);
  const Graph executable = graph.instantiate();
  executable[middle].disable();
  run(executable);
  EXPECT_EQ(cells[0], 11);
}

TEST_F(GraphExecutableTest, AMemsetNodeIsUpdated) {
  GraphDefinition graph;
  const MemsetNode node = graph.memset<int>(cell(0), 1, 2);
  const Graph executable = graph.instantiate();
  executable[node].update<int>(cell(2), 5, 2);
  run(executable);
  EXPECT_THAT(cells.first(5), ElementsAre(0, 0, 5, 5, 0));
}

TEST_F(GraphExecutableTest, AMemcpyNodeIsUpdated) {
  const Buffer a = ints({1, 2});
  const Buffer b = ints({3, 4});
  GraphDefinition graph;
  const MemcpyNode node = graph.memcpy(cell(0), a, 8);
  const Graph executable = graph.instantiate();
  executable[node].update(cell(2), b, 8);
  run(executable);
  EXPECT_THAT(cells.first(4), ElementsAre(0, 0, 3, 4));
}

TEST_F(GraphExecutableTest, AChildGraphNodeIsUpdated) {
  GraphDefinition child;
  add(child, 1);
  GraphDefinition graph;
  const ChildGraphNode node = graph.embed(child);
  const Graph executable = graph.instantiate();
  GraphDefinition other;
  add(other, 20);
  executable[node].update(other);
  run(executable);
  EXPECT_EQ(cells[0], 20);
}

TEST_F(GraphExecutableTest, EventNodesAreUpdated) {
  const Event first = device.create_event();
  const Event second = device.create_event();
  GraphDefinition graph;
  const EventRecordNode recorded = add(graph, 1).record(first);
  const EventWaitNode waited = graph.wait(first);
  const Graph executable = graph.instantiate();
  executable[recorded].update(second);
  executable[waited].update(second);
  executable.launch(stream);
  second.sync();
  EXPECT_EQ(cells[0], 1);
  stream.sync();
}

TEST_F(GraphExecutableTest, ACallbackNodeIsUpdated) {
  int calls = 0;
  GraphDefinition graph;
  const HostCallbackNode node = graph.callback([&] { calls += 1; });
  const Graph executable = graph.instantiate();
  executable[node].update([&] { calls += 10; });
  run(executable);
  executable[node].update([](void* argument) { *static_cast<int*>(argument) += 100; }, &calls);
  run(executable);
  EXPECT_EQ(calls, 110);
}

TEST_F(GraphExecutableTest, NodesOfOtherGraphsAndDestroyedOnesAreRefused) {
  GraphDefinition graph;
  const KernelNode node = add(graph, 1);
  GraphDefinition other;
  const KernelNode foreign = add(other, 1);
  const Graph executable = graph.instantiate();
  EXPECT_THROW(executable[foreign].update(one, kernel("add"), cell(0), 1), DriverError);
  node.destroy();
  EXPECT_THAT(error_of<InvalidArgument>([&] { executable[node].update(one, kernel("add"), cell(0), 2); }),
              HasSubstr("destroyed"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { executable[node].disable(); }), HasSubstr("destroyed"));
  run(executable);
  EXPECT_EQ(cells[0], 1);
}

TEST_F(GraphExecutableTest, UpdatesOfANodeHoldForLaterLaunchesOnly) {
  GraphDefinition graph;
  const KernelNode node = add(graph, 1);
  const Graph executable = graph.instantiate();
  {
    Gate gate(stream);
    for (int i = 1; i <= 4; ++i) {
      executable[node].update(one, kernel("add"), cell(0), i * i);
      executable.launch(stream);
    }
  }
  EXPECT_EQ(cells[0], 30);
}

}  // namespace
}  // namespace cuprum::tests
