// Changing what nodes of a definition do.
#include "api/graph/fixture.hpp"

namespace cuprum::tests {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class GraphUpdateTest : public GraphTest {};

TEST_F(GraphUpdateTest, AKernelNodeGetsOtherArguments) {
  GraphDefinition graph;
  const KernelNode node = add(graph, 1);
  node.update_arguments(cell(2), 9);
  EXPECT_EQ(node.kernel(), kernel("add"));
  EXPECT_EQ(node.config(), one);
  run(graph);
  EXPECT_THAT(cells.first(3), ElementsAre(0, 0, 9));
}

TEST_F(GraphUpdateTest, ArgumentsKnownAtRunTimeReplaceOthersAndKeepTheirBuffers) {
  GraphDefinition graph;
  const KernelNode node = graph.launch(one, kernel("add"), data, 1);
  Buffer other = upload(std::vector<int>{10}, stream);
  stream.sync();
  const DevicePointer address = other.handle();
  const int amount = 7;
  const void* addresses[] = {&address, &amount};
  const std::size_t sizes[] = {sizeof address, sizeof amount};
  const KernelArguments arguments{addresses, sizes, {&other, 1}};
  node.update_arguments(arguments);
  Graph executable = graph.instantiate();
  executable.launch(stream);
  executable[node].update(one, kernel("add"), arguments);
  const Buffer copy = other.slice(0, sizeof(int));
  other.close();
  executable.launch(stream);
  EXPECT_EQ(download<int>(copy, stream).at(0), 24);
  EXPECT_EQ(cells[0], 0) << "the first arguments were replaced before any launch";
}

TEST_F(GraphUpdateTest, AFillTakesTheBytesOfAValue) {
  GraphDefinition graph;
  const std::uint16_t value = 0x0102;
  const auto bytes = std::as_bytes(std::span(&value, 1));
  const MemsetNode node = graph.memset(data, bytes, 2);
  EXPECT_EQ(node.element_size(), 2u);
  run(graph);
  EXPECT_EQ(cells[0], 0x01020102);
  node.update(node.dst_operand(), bytes.first(1), 4);
  run(graph);
  EXPECT_EQ(cells[0], 0x02020202);
  const std::byte three[3] = {};
  EXPECT_THAT(error_of<InvalidArgument>([&] { graph.memset(data, three, 1); }), HasSubstr("3 bytes"));
}

TEST_F(GraphUpdateTest, AKernelNodeGetsAnotherShapeAndKeepsItsArguments) {
  GraphDefinition graph;
  const KernelNode node = graph.launch(one, kernel("shape"), data);
  node.update({.grid = {3, 2}, .block = 4, .shmem_size = 256});
  EXPECT_EQ(node.grid(), Dim3(3, 2));
  EXPECT_EQ(node.block(), Dim3(4));
  EXPECT_EQ(node.shmem_size(), 256u);
  run(graph);
  EXPECT_THAT(cells.first(6), ElementsAre(3, 2, 1, 4, 1, 1));
}

TEST_F(GraphUpdateTest, AKernelNodeLosesWhatItsNewShapeDoesNotHave) {
  GraphDefinition graph;
  const KernelNode node =
      graph.launch({.grid = 1, .block = 1, .is_cooperative = true, .priority = -1}, kernel("shape"), data);
  EXPECT_EQ(node.config().priority, -1);
  EXPECT_TRUE(node.config().is_cooperative);
  node.update({.grid = 3, .block = 1});
  EXPECT_EQ(node.config(), (LaunchConfig{.grid = 3, .block = 1}));
  run(graph);
  EXPECT_EQ(cells[0], 3);
}

TEST_F(GraphUpdateTest, AKernelNodeGetsAndLosesClusters) {
  if (device.compute_capability() < ComputeCapability{9, 0}) GTEST_SKIP() << "the device has no clusters";
  GraphDefinition graph;
  const KernelNode node = graph.launch({.grid = 1, .block = 1, .cluster = Dim3(2)}, kernel("shape"), data);
  node.update({.grid = 3, .block = 1});
  EXPECT_EQ(node.config().cluster, std::nullopt);
  EXPECT_EQ(node.config().grid, Dim3(3));
  run(graph);
  EXPECT_EQ(cells[0], 3);
  node.update({.grid = 2, .block = 1, .cluster = Dim3(4)}, kernel("shape"), data);
  EXPECT_EQ(node.config().cluster, Dim3(4));
  run(graph);
  EXPECT_EQ(cells[0], 8);
}

TEST_F(GraphUpdateTest, AKernelNodeGetsAnotherKernel) {
  GraphDefinition graph;
  const KernelNode node = add(graph, 1);
  node.update({.grid = 1, .block = 1}, kernel("affine"), cell(0), 3, 4);
  EXPECT_EQ(node.kernel(), kernel("affine"));
  cells[0] = 2;
  run(graph);
  EXPECT_EQ(cells[0], 10);
}

TEST_F(GraphUpdateTest, AnUpdateThatIsRefusedChangesNothing) {
  GraphDefinition graph;
  const KernelNode node = add(graph, 1);
  EXPECT_THAT(error_of<InvalidArgument>([&] { node.update_arguments(cell(0)); }), HasSubstr("add"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { node.update_arguments(cell(0), 1.0); }), HasSubstr("add"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { node.update({.grid = 1, .block = 5000}); }), HasSubstr("5000"));
  EXPECT_THROW(node.update(one, Kernel()), InvalidArgument);
  run(graph);
  EXPECT_EQ(cells[0], 1);
}

TEST_F(GraphUpdateTest, AMemsetNodeGetsOtherMemoryOrAnotherValue) {
  GraphDefinition graph;
  const MemsetNode node = graph.memset<int>(cell(0), 1, 4);
  node.update(cell(4));
  EXPECT_EQ(node.dptr(), cell(4));
  EXPECT_EQ(node.width(), 4u);
  run(graph);
  node.update_value<int>(6);
  EXPECT_EQ(node.dptr(), cell(4));
  run(graph);
  EXPECT_THAT(cells.first(8), ElementsAre(0, 0, 0, 0, 6, 6, 6, 6));
  node.update<std::uint8_t>(cell(8), 0xff, 8);
  EXPECT_EQ(node.element_size(), 1u);
  run(graph);
  EXPECT_THAT(cells.subspan(8, 3), ElementsAre(-1, -1, 0));
}

TEST_F(GraphUpdateTest, AMemsetNodesValueMayHaveAnotherSize) {
  GraphDefinition graph;
  const MemsetNode node = graph.memset<std::uint8_t>(cell(0), 1, 6);
  node.update_value<std::uint16_t>(0x0202);
  EXPECT_EQ(node.width(), 3u);
  EXPECT_THAT(error_of<InvalidArgument>([&] { node.update_value<int>(1); }), HasSubstr("multiple"));
  run(graph);
  EXPECT_THAT(cells.first(2), ElementsAre(0x02020202, 0x0202));
}

TEST_F(GraphUpdateTest, AMemcpyNodeGetsOtherMemory) {
  const Buffer a = ints({1, 2});
  const Buffer b = ints({3, 4});
  GraphDefinition graph;
  const MemcpyNode node = graph.memcpy(cell(0), a, 8);
  node.update_src(b);
  EXPECT_EQ(node.src(), b.handle());
  EXPECT_EQ(node.dst(), cell(0));
  node.update_dst(cell(2));
  EXPECT_EQ(node.dst(), cell(2));
  EXPECT_EQ(node.src(), b.handle());
  EXPECT_EQ(node.size(), 8u);
  run(graph);
  EXPECT_THAT(cells.first(4), ElementsAre(0, 0, 3, 4));
  node.update(cell(4), a, 4);
  run(graph);
  EXPECT_THAT(cells.subspan(4, 2), ElementsAre(1, 0));
}

TEST_F(GraphUpdateTest, AMemcpyNodeGetsAnotherShape) {
  const Buffer from = ints({1, 2, 3, 4});
  GraphDefinition graph;
  const MemcpyNode node = graph.memcpy(data, from, 16);
  node.update(data, from, CopyExtent{.width = 4, .height = 2, .dst_pitch = 12, .src_pitch = 8});
  run(graph);
  EXPECT_THAT(cells.first(4), ElementsAre(1, 0, 0, 3));
}

TEST_F(GraphUpdateTest, EventNodesGetOtherEvents) {
  const Event first = device.create_event();
  const Event second = device.create_event();
  GraphDefinition graph;
  const EventRecordNode recorded = graph.record(first);
  const EventWaitNode waited = graph.wait(first);
  recorded.update(second);
  waited.update(second);
  EXPECT_EQ(recorded.event(), second);
  EXPECT_EQ(waited.event(), second);
  run(graph);
}

TEST_F(GraphUpdateTest, ACallbackNodeGetsAnotherFunction) {
  int calls = 0;
  GraphDefinition graph;
  const HostCallbackNode node = graph.callback([&] { calls += 1; });
  node.update([&] { calls += 10; });
  run(graph);
  EXPECT_EQ(calls, 10);
  node.update([](void* argument) { *static_cast<int*>(argument) += 100; }, &calls);
  EXPECT_FALSE(node.callback());
  run(graph);
  EXPECT_EQ(calls, 110);
  EXPECT_THROW(node.update(std::function<void()>()), InvalidArgument);
}

TEST_F(GraphUpdateTest, AChildGraphNodeGetsAnotherGraph) {
  GraphDefinition first;
  add(first, 1);
  GraphDefinition second;
  add(second, 10);
  GraphDefinition graph;
  const ChildGraphNode node = graph.embed(first);
  const GraphDefinition before = node.child_graph();
  node.update(second);
  EXPECT_FALSE(before.is_valid());
  EXPECT_EQ(node.child_graph().nodes().size(), 1u);
  run(graph);
  EXPECT_EQ(cells[0], 10);
  EXPECT_THAT(error_of<InvalidArgument>([&] { node.update(graph); }), HasSubstr("clone()"));
}

TEST_F(GraphUpdateTest, UpdatesDoNotReachGraphsThatAreExecutable) {
  GraphDefinition graph;
  const KernelNode node = add(graph, 1);
  const Graph executable = graph.instantiate();
  node.update_arguments(cell(0), 50);
  run(executable);
  EXPECT_EQ(cells[0], 1);
  run(graph);
  EXPECT_EQ(cells[0], 51);
}

TEST_F(GraphUpdateTest, NodesOfChildGraphsAreUpdated) {
  GraphDefinition child;
  add(child, 1);
  GraphDefinition graph;
  const ChildGraphNode node = graph.embed(child);
  node.child_graph().nodes()[0].as<KernelNode>()->update_arguments(cell(1), 8);
  run(graph);
  EXPECT_THAT(cells.first(2), ElementsAre(0, 8));
}

TEST_F(GraphUpdateTest, AClonedGraphIsIndependent) {
  GraphDefinition graph;
  const KernelNode node = add(graph, 1);
  const GraphDefinition copy = graph.clone();
  EXPECT_NE(copy, graph);
  ASSERT_EQ(copy.nodes().size(), 1u);
  const auto found = copy.find_in_clone(node);
  ASSERT_TRUE(found);
  EXPECT_NE(*found, node);
  ASSERT_TRUE(found->as<KernelNode>());
  EXPECT_EQ(found->as<KernelNode>()->kernel(), kernel("add"));
  found->as<KernelNode>()->update_arguments(cell(1), 5);
  add(graph, 20);
  run(copy);
  EXPECT_THAT(cells.first(2), ElementsAre(0, 5));
  run(graph);
  EXPECT_THAT(cells.first(2), ElementsAre(21, 5));
}

TEST_F(GraphUpdateTest, OnlyNodesThatWereClonedAreFoundInAClone) {
  GraphDefinition graph;
  const KernelNode node = add(graph, 1);
  const GraphDefinition copy = graph.clone();
  const KernelNode later = add(graph, 2);
  EXPECT_FALSE(copy.find_in_clone(later).has_value());
  copy.find_in_clone(node)->destroy();
  EXPECT_FALSE(copy.find_in_clone(node).has_value());
  EXPECT_TRUE(node.is_valid());
}

TEST_F(GraphUpdateTest, CallbacksOfClonesAreKnown) {
  int calls = 0;
  GraphDefinition graph;
  const HostCallbackNode node = graph.callback([&] { ++calls; });
  const GraphDefinition copy = graph.clone();
  const auto found = copy.find_in_clone(node)->as<HostCallbackNode>();
  ASSERT_TRUE(found->callback());
  found->callback()();
  run(copy);
  EXPECT_EQ(calls, 2);
}

}  // namespace
}  // namespace cuprum::tests
