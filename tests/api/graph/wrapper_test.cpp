// Several wrappers of one graph of the driver's stand for one graph.
#include <unordered_set>

#include "api/graph/fixture.hpp"

namespace cuprum::tests {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

class GraphWrapperTest : public GraphTest {
 protected:
  static GraphDefinition again(const GraphDefinition& graph) { return GraphDefinition::from_handle(graph.handle()); }

  GraphDefinition graph;
};

TEST_F(GraphWrapperTest, EqualGraphsHashAlike) {
  const GraphDefinition other = again(graph);
  ASSERT_EQ(other, graph);
  EXPECT_EQ(std::hash<GraphDefinition>()(other), std::hash<GraphDefinition>()(graph));
  EXPECT_EQ(std::unordered_set<GraphDefinition>({graph, other}).size(), 1u);
}

TEST_F(GraphWrapperTest, EqualNodesHashAlike) {
  const KernelNode node = add(graph, 1);
  const GraphDefinition other = again(graph);
  const std::vector<GraphNode> found = other.nodes();
  ASSERT_THAT(found, ElementsAre(node));
  EXPECT_EQ(std::hash<GraphNode>()(found[0]), std::hash<GraphNode>()(node));
  EXPECT_TRUE(std::unordered_set<GraphNode>({node}).contains(found[0]));
}

TEST_F(GraphWrapperTest, HashesStayWhenANodeAndTheGraphInItAreGone) {
  const ChildGraphNode node = graph.embed(GraphDefinition());
  const GraphDefinition child = node.child_graph();
  std::unordered_set<GraphNode> nodes{node};
  std::unordered_set<GraphDefinition> graphs{child};
  node.destroy();
  EXPECT_TRUE(nodes.contains(node));
  EXPECT_TRUE(graphs.contains(child));
}

TEST_F(GraphWrapperTest, NodesOfBothAreJoined) {
  const KernelNode left = add(graph, 1, 1);
  const GraphDefinition other = again(graph);
  const KernelNode right = add(other, 2, 2);
  EXPECT_THAT(as_vector(graph.join(left, right).pred()), UnorderedElementsAre(left, right));
  EXPECT_THAT(as_vector(right.join(left).pred()), UnorderedElementsAre(left, right));
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)left.join(GraphDefinition().empty()); }),
              HasSubstr("is of another graph"));
}

TEST_F(GraphWrapperTest, ANodeDoesNotGetAGraphThatItIsPartOf) {
  const ChildGraphNode node = graph.embed(GraphDefinition());
  const auto refused = [&](const GraphDefinition& child) {
    return error_of<InvalidArgument>([&] { node.update(child); });
  };
  EXPECT_THAT(refused(graph), HasSubstr("part of that graph"));
  EXPECT_THAT(refused(again(graph)), HasSubstr("part of that graph"));
  EXPECT_THAT(refused(node.child_graph()), HasSubstr("part of that graph"));
  EXPECT_EQ(graph.nodes().size(), 1u);
}

TEST_F(GraphWrapperTest, ANodeInsideDoesNotGetAGraphAroundIt) {
  GraphDefinition middle;
  (void)middle.embed(GraphDefinition());
  const GraphDefinition inner = graph.embed(middle).child_graph();
  const ChildGraphNode node = *inner.nodes().at(0).as<ChildGraphNode>();
  EXPECT_THAT(error_of<InvalidArgument>([&] { node.update(again(graph)); }), HasSubstr("part of that graph"));
}

// It goes with what the node had before.
TEST_F(GraphWrapperTest, ANodeDoesNotGetAGraphInsideOfIt) {
  GraphDefinition middle;
  add(middle.embed(GraphDefinition()), 1);
  const ChildGraphNode node = graph.embed(middle);
  const GraphDefinition inside = again(node.child_graph());
  (void)inside.nodes();
  EXPECT_THAT(error_of<InvalidArgument>([&] { node.update(inside); }), HasSubstr("part of"));
  EXPECT_EQ(node.child_graph().nodes().size(), 2u);
}

}  // namespace
}  // namespace cuprum::tests
