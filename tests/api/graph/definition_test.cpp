// Graphs put together node by node: structure.
#include <filesystem>
#include <fstream>
#include <sstream>
#include <unordered_set>

#include "api/graph/fixture.hpp"

namespace cuprum::tests {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class GraphDefinitionTest : public GraphTest {};

TEST_F(GraphDefinitionTest, ANewGraphIsEmptyAndCanBeLaunched) {
  GraphDefinition graph;
  EXPECT_THAT(graph.nodes(), IsEmpty());
  EXPECT_THAT(graph.edges(), IsEmpty());
  EXPECT_TRUE(graph.is_valid());
  EXPECT_NE(graph.handle(), nullptr);
  run(graph);
}

TEST_F(GraphDefinitionTest, CopiesAreOneGraph) {
  GraphDefinition graph;
  GraphDefinition copy = graph;
  const EmptyNode node = copy.empty();
  EXPECT_EQ(graph, copy);
  EXPECT_EQ(std::hash<GraphDefinition>()(graph), std::hash<GraphDefinition>()(copy));
  EXPECT_THAT(graph.nodes(), ElementsAre(node));
  EXPECT_NE(graph, GraphDefinition());
}

TEST_F(GraphDefinitionTest, NodesOfADefinitionWaitForNothing) {
  GraphDefinition graph;
  const KernelNode first = add(graph, 1);
  const KernelNode second = add(graph, 2, 1);
  EXPECT_THAT(graph.nodes(), UnorderedElementsAre(first, second));
  EXPECT_THAT(graph.edges(), IsEmpty());
  EXPECT_TRUE(first.pred().empty());
  EXPECT_TRUE(second.succ().empty());
}

TEST_F(GraphDefinitionTest, NodesOfANodeComeAfterIt) {
  GraphDefinition graph;
  const KernelNode first = add(graph, 3);
  const KernelNode second = affine(first, 5, 0);
  const KernelNode third = affine(second, 1, 7);
  EXPECT_THAT(graph.edges(), UnorderedElementsAre(std::pair<GraphNode, GraphNode>(first, second),
                                                  std::pair<GraphNode, GraphNode>(second, third)));
  EXPECT_THAT(as_vector(second.pred()), ElementsAre(first));
  EXPECT_THAT(as_vector(second.succ()), ElementsAre(third));
  run(graph);
  EXPECT_EQ(cells[0], 22);
}

TEST_F(GraphDefinitionTest, JoinWaitsForAll) {
  GraphDefinition graph;
  const KernelNode left = add(graph, 1, 1);
  const KernelNode right = add(graph, 2, 2);
  const EmptyNode joined = graph.join(left, right);
  joined.launch(one, kernel("sum"), cell(0), cell(1), cell(2));
  EXPECT_EQ(joined.type(), GraphNodeType::empty);
  EXPECT_THAT(as_vector(joined.pred()), UnorderedElementsAre(left, right));
  run(graph);
  EXPECT_EQ(cells[0], 3);
}

TEST_F(GraphDefinitionTest, JoinOfANodeIncludesItAndNobodyTwice) {
  GraphDefinition graph;
  const EmptyNode a = graph.empty();
  const EmptyNode b = graph.empty();
  EXPECT_THAT(as_vector(a.join(b).pred()), UnorderedElementsAre(a, b));
  EXPECT_THAT(as_vector(a.join(a, b, b).pred()), UnorderedElementsAre(a, b));
  EXPECT_THAT(as_vector(a.join().pred()), ElementsAre(a));
}

TEST_F(GraphDefinitionTest, JoinRefusesNodesOfAnotherGraph) {
  GraphDefinition graph;
  GraphDefinition other;
  const EmptyNode mine = graph.empty();
  const EmptyNode theirs = other.empty();
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)mine.join(theirs); }), HasSubstr("is of another graph"));
  EXPECT_EQ(graph.nodes().size(), 1u);
}

TEST_F(GraphDefinitionTest, EdgesAreAddedAndRemoved) {
  GraphDefinition graph;
  const KernelNode first = affine(graph, 0, 5);
  const KernelNode second = affine(graph, 2, 1);
  second.pred().add(first);
  EXPECT_TRUE(second.pred().contains(first));
  EXPECT_TRUE(first.succ().contains(second));
  run(graph);
  EXPECT_EQ(cells[0], 11);
  first.succ().discard(second);
  EXPECT_FALSE(second.pred().contains(first));
  EXPECT_THAT(graph.edges(), IsEmpty());
}

TEST_F(GraphDefinitionTest, AddingAnEdgeTwiceAddsItOnce) {
  GraphDefinition graph;
  const EmptyNode a = graph.empty();
  const EmptyNode b = graph.empty();
  b.pred().add(a);
  b.pred().add(a);
  a.succ().update({b, b});
  EXPECT_EQ(graph.edges().size(), 1u);
  b.pred().discard(a);
  b.pred().discard(a);
  EXPECT_THAT(graph.edges(), IsEmpty());
}

TEST_F(GraphDefinitionTest, SetsOfNeighboursAreReplaced) {
  GraphDefinition graph;
  const EmptyNode a = graph.empty();
  const EmptyNode b = graph.empty();
  const EmptyNode c = graph.empty();
  const EmptyNode d = graph.empty();
  d.set_pred({a, b});
  d.set_pred({b, c});
  EXPECT_THAT(as_vector(d.pred()), UnorderedElementsAre(b, c));
  a.set_succ({b, c});
  EXPECT_THAT(as_vector(a.succ()), UnorderedElementsAre(b, c));
  a.succ().clear();
  EXPECT_TRUE(a.succ().empty());
  d.pred().difference_update({b, a});
  EXPECT_THAT(as_vector(d.pred()), ElementsAre(c));
  EXPECT_EQ(d.pred().size(), 1u);
}

TEST_F(GraphDefinitionTest, EdgesToItselfAndToOthersAreRefused) {
  GraphDefinition graph;
  GraphDefinition other;
  const EmptyNode a = graph.empty();
  const EmptyNode foreign = other.empty();
  EXPECT_THAT(error_of<InvalidArgument>([&] { a.pred().add(a); }), HasSubstr("to itself"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { a.pred().add(foreign); }), HasSubstr("of two graphs"));
  EXPECT_FALSE(a.pred().contains(foreign));
}

TEST_F(GraphDefinitionTest, ACycleCanNotRun) {
  GraphDefinition graph;
  const EmptyNode a = graph.empty();
  const EmptyNode b = a.join();
  const EmptyNode c = b.join();
  bool refused = false;
  try {
    a.pred().add(c);
  } catch (const DriverError&) {
    refused = true;  // drivers differ in when they notice
  }
  if (!refused)
    EXPECT_THAT(error_of<InvalidArgument>([&] { (void)graph.instantiate(); }), HasSubstr("there is a cycle"));
  else
    EXPECT_EQ(graph.edges().size(), 2u);
}

TEST_F(GraphDefinitionTest, ADestroyedNodeIsGoneWithItsEdges) {
  GraphDefinition graph;
  const KernelNode first = add(graph, 1);
  const KernelNode second = add(first, 10);
  const KernelNode copy = second;
  const KernelNode third = add(second, 100);
  second.destroy();
  EXPECT_FALSE(second.is_valid());
  EXPECT_FALSE(copy.is_valid());
  EXPECT_EQ(copy.handle(), nullptr);
  EXPECT_THAT(graph.nodes(), UnorderedElementsAre(first, third));
  EXPECT_THAT(graph.edges(), IsEmpty());
  second.destroy();
  run(graph);
  EXPECT_EQ(cells[0] % 10, 1);
}

TEST_F(GraphDefinitionTest, UsingADestroyedNodeThrows) {
  GraphDefinition graph;
  const KernelNode node = add(graph, 1);
  const AdjacencySet before = node.pred();
  node.destroy();
  for (const auto& use : std::vector<std::function<void()>>{
           [&] { (void)node.type(); }, [&] { (void)node.grid(); }, [&] { (void)node.pred(); },
           [&] { (void)before.size(); }, [&] { (void)node.config(); }, [&] { node.update(one); },
           [&] { (void)node.join(); }, [&] { (void)graph.join(node); }}) {
    EXPECT_THAT(error_of<InvalidArgument>(use), HasSubstr("destroyed"));
  }
}

TEST_F(GraphDefinitionTest, EmptyHandlesAreRefused) {
  const GraphNode nothing;
  EXPECT_FALSE(nothing.is_valid());
  EXPECT_EQ(nothing, GraphNode());
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)nothing.type(); }), HasSubstr("empty"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)KernelNode().kernel(); }), HasSubstr("empty"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)nothing.pred(); }), HasSubstr("empty"));
}

TEST_F(GraphDefinitionTest, NodesFoundAgainAreTheSame) {
  GraphDefinition graph;
  const KernelNode node = add(graph, 1);
  const std::vector<GraphNode> found = graph.nodes();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0], node);
  EXPECT_EQ(std::hash<GraphNode>()(found[0]), std::hash<GraphNode>()(node));
  EXPECT_EQ(std::unordered_set<GraphNode>({found[0], node}).size(), 1u);
  EXPECT_EQ(found[0].graph(), graph);
  ASSERT_TRUE(found[0].as<KernelNode>().has_value());
  EXPECT_EQ(found[0].as<KernelNode>()->kernel(), kernel("add"));
  EXPECT_FALSE(found[0].as<MemsetNode>().has_value());
  EXPECT_FALSE(found[0].as<EmptyNode>().has_value());
}

TEST_F(GraphDefinitionTest, AHandleOfANodeKeepsTheGraph) {
  KernelNode node;
  {
    GraphDefinition graph;
    node = add(graph, 4);
  }
  EXPECT_TRUE(node.is_valid());
  run(node.graph());
  EXPECT_EQ(cells[0], 4);
}

TEST_F(GraphDefinitionTest, NodesThatOtherCodeAddsAreKnownByWhatTheDriverTells) {
  GraphDefinition graph;
  CUgraphNode raw = nullptr;
  CUDA_MEMSET_NODE_PARAMS params{};
  params.dst = cell(3);
  params.value = 9;
  params.elementSize = 4;
  params.width = 2;
  params.height = 1;
  CUcontext context = nullptr;
  driver::call<&driver::Api::cuCtxGetCurrent>(&context);
  driver::call<&driver::Api::cuGraphAddMemsetNode>(&raw, graph.handle(), static_cast<const CUgraphNode*>(nullptr),
                                                   std::size_t{0}, static_cast<const CUDA_MEMSET_NODE_PARAMS*>(&params),
                                                   context);
  ASSERT_EQ(graph.nodes().size(), 1u);
  const auto node = graph.nodes()[0].as<MemsetNode>();
  ASSERT_TRUE(node.has_value());
  EXPECT_EQ(node->dptr(), cell(3));
  EXPECT_EQ(node->value(), 9u);
  EXPECT_EQ(node->width(), 2u);
  driver::call<&driver::Api::cuGraphDestroyNode>(raw);
  EXPECT_THAT(graph.nodes(), IsEmpty());
  EXPECT_FALSE(node->is_valid()) << "found out when the nodes were asked for";
}

TEST_F(GraphDefinitionTest, AWrappedGraphIsNotDestroyed) {
  CUgraph raw = nullptr;
  driver::call<&driver::Api::cuGraphCreate>(&raw, 0u);
  auto owner = std::make_shared<int>(1);
  {
    const GraphDefinition graph = GraphDefinition::from_handle(raw, owner);
    add(graph, 6);
    EXPECT_EQ(owner.use_count(), 2);
    run(graph);
  }
  EXPECT_EQ(owner.use_count(), 1);
  std::size_t nodes = 0;
  driver::call<&driver::Api::cuGraphGetNodes>(raw, static_cast<CUgraphNode*>(nullptr), &nodes);
  EXPECT_EQ(nodes, 1u);
  driver::call<&driver::Api::cuGraphDestroy>(raw);
  EXPECT_EQ(cells[0], 6);
  EXPECT_THROW((void)GraphDefinition::from_handle(nullptr), InvalidArgument);
}

TEST_F(GraphDefinitionTest, GraphsAndNodesPrintWhatTheyAre) {
  GraphDefinition graph;
  const KernelNode node = add(graph, 1);
  std::ostringstream out;
  out << graph << "; " << node << "; " << graph.instantiate();
  EXPECT_THAT(out.str(), AllOf(HasSubstr(" of 1 node; kernel node 0x"), HasSubstr("; executable graph 0x")));
  node.destroy();
  std::ostringstream gone;
  gone << node << ", " << Graph();
  EXPECT_EQ(gone.str(), "a destroyed graph node, an empty executable graph");
}

TEST_F(GraphDefinitionTest, TheDriverPrintsADotFile) {
  GraphDefinition graph;
  add(add(graph, 1), 2);
  const std::string path = ::testing::TempDir() + "graph_definition_test.dot";
  graph.debug_dot_print(path, {.verbose = true});
  std::ifstream file(path);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_THAT(text, AllOf(HasSubstr("digraph"), HasSubstr("->")));
  std::filesystem::remove(path);
  EXPECT_THROW(graph.debug_dot_print("/nowhere/at/all.dot"), DriverError);
}

}  // namespace
}  // namespace cuprum::tests
