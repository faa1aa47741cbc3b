// Conditional nodes.
#include "api/graph/fixture.hpp"

namespace cuprum::tests {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class GraphConditionalTest : public GraphTest {
 protected:
  KernelNode set(const NodePlace& place, const GraphCondition& condition, unsigned value) const {
    return place.launch(one, kernel("set_condition"), condition, value);
  }
};

TEST_F(GraphConditionalTest, AnIfNodeRunsItsBodyWhenTheConditionHolds) {
  for (const unsigned value : {0u, 1u, 7u}) {
    cells[0] = 0;
    GraphDefinition graph;
    const GraphCondition condition = graph.create_condition();
    const IfNode node = set(graph, condition, value).if_then(condition);
    add(node.then(), 5);
    EXPECT_EQ(node.type(), GraphNodeType::conditional);
    run(graph);
    EXPECT_EQ(cells[0], value ? 5 : 0);
  }
}

TEST_F(GraphConditionalTest, AnIfElseNodeRunsOneOfTwo) {
  for (const unsigned value : {0u, 1u}) {
    cells[0] = 0;
    GraphDefinition graph;
    const GraphCondition condition = graph.create_condition();
    const IfElseNode node = set(graph, condition, value).if_else(condition);
    add(node.then(), 5);
    add(node.else_(), 7);
    run(graph);
    EXPECT_EQ(cells[0], value ? 5 : 7);
  }
}

TEST_F(GraphConditionalTest, AWhileNodeRepeatsItsBody) {
  cells[1] = 10;
  GraphDefinition graph;
  const GraphCondition condition = graph.create_condition(1);
  const WhileNode node = graph.while_loop(condition);
  add(node.body(), 3).launch(one, kernel("count_down"), condition, cell(1));
  run(graph);
  EXPECT_EQ(cells[0], 30);
}

TEST_F(GraphConditionalTest, ASwitchNodeRunsTheBodyOfThatNumber) {
  for (const unsigned value : {0u, 1u, 2u, 3u}) {
    cells[0] = 0;
    GraphDefinition graph;
    const GraphCondition condition = graph.create_condition();
    const SwitchNode node = set(graph, condition, value).switch_(condition, 3);
    ASSERT_THAT(node.branches(), SizeIs(3));
    for (int i = 0; i < 3; ++i) add(node.branches()[static_cast<std::size_t>(i)], 10 + i);
    run(graph);
    EXPECT_EQ(cells[0], value < 3 ? 10 + static_cast<int>(value) : 0);
  }
}

TEST_F(GraphConditionalTest, ADefaultIsAssignedAtEachLaunch) {
  GraphDefinition graph;
  const GraphCondition condition = graph.create_condition(1);
  const IfNode node = graph.if_then(condition);
  const KernelNode added = add(node.then(), 1);
  added.launch(one, kernel("set_condition"), condition, 0u);
  const Graph executable = graph.instantiate();
  run(executable);
  run(executable);
  EXPECT_EQ(cells[0], 2);
}

TEST_F(GraphConditionalTest, ConditionsAreNested) {
  cells[1] = 4;
  cells[2] = 0;
  GraphDefinition graph;
  const GraphCondition loop = graph.create_condition(1);
  const GraphCondition branch = graph.create_condition(0);
  const WhileNode outer = graph.while_loop(loop);
  const GraphDefinition body = outer.body();
  const KernelNode looked = body.launch(one, kernel("set_condition_from"), branch, cell(1));
  const IfNode inner = looked.if_then(branch);
  add(inner.then(), 1);
  inner.launch(one, kernel("count_down"), loop, cell(1));
  run(graph);
  EXPECT_EQ(cells[0], 4);
}

TEST_F(GraphConditionalTest, ANodeKnowsItsConditionKindAndBranches) {
  GraphDefinition graph;
  const GraphCondition conditions[] = {graph.create_condition(0), graph.create_condition(0), graph.create_condition(0),
                                       graph.create_condition(0)};
  const IfNode if_node = graph.if_then(conditions[0]);
  const IfElseNode if_else_node = graph.if_else(conditions[1]);
  const WhileNode while_node = graph.while_loop(conditions[2]);
  const SwitchNode switch_node = graph.switch_(conditions[3], 5);
  EXPECT_EQ(if_node.condition(), conditions[0]);
  EXPECT_EQ(if_node.cond_type(), GraphConditionalType::if_);
  EXPECT_EQ(if_else_node.cond_type(), GraphConditionalType::if_);
  EXPECT_EQ(while_node.cond_type(), GraphConditionalType::while_);
  EXPECT_EQ(switch_node.cond_type(), GraphConditionalType::switch_);
  EXPECT_THAT(if_node.branches(), ElementsAre(if_node.then()));
  EXPECT_THAT(if_else_node.branches(), ElementsAre(if_else_node.then(), if_else_node.else_()));
  EXPECT_THAT(while_node.branches(), ElementsAre(while_node.body()));
  EXPECT_THAT(switch_node.branches(), SizeIs(5));
  EXPECT_NE(if_else_node.then(), if_else_node.else_());
}

TEST_F(GraphConditionalTest, NodesFoundAgainAreOfTheirKind) {
  GraphDefinition graph;
  (void)graph.if_else(graph.create_condition(0));
  const GraphNode found = graph.nodes()[0];
  EXPECT_TRUE(found.as<ConditionalNode>().has_value());
  EXPECT_TRUE(found.as<IfElseNode>().has_value());
  EXPECT_FALSE(found.as<IfNode>().has_value());
  EXPECT_FALSE(found.as<WhileNode>().has_value());
  EXPECT_FALSE(found.as<SwitchNode>().has_value());
  EXPECT_FALSE(found.as<KernelNode>().has_value());
}

TEST_F(GraphConditionalTest, BodiesGoWithTheirNode) {
  GraphDefinition graph;
  const IfNode node = graph.if_then(graph.create_condition(0));
  const GraphDefinition body = node.then();
  const KernelNode inside = add(body, 1);
  node.destroy();
  EXPECT_FALSE(body.is_valid());
  EXPECT_FALSE(inside.is_valid());
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)node.then(); }), HasSubstr("destroyed"));
}

TEST_F(GraphConditionalTest, AConditionThatNobodyUsesIsRefused) {
  GraphDefinition graph;
  (void)graph.create_condition();
  add(graph, 1);
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)graph.instantiate(); }), HasSubstr("no conditional node uses"));
}

TEST_F(GraphConditionalTest, AConditionOfAnotherGraphIsRefused) {
  GraphDefinition graph;
  GraphDefinition other;
  const GraphCondition theirs = other.create_condition(0);
  EXPECT_THROW((void)graph.if_then(theirs), DriverError);
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)graph.switch_(graph.create_condition(0), 0); }),
              HasSubstr("0 branches"));
}

TEST_F(GraphConditionalTest, ConditionsAreComparedByTheirHandle) {
  GraphDefinition graph;
  const GraphCondition a = graph.create_condition(0);
  const GraphCondition b = graph.create_condition(0);
  EXPECT_EQ(a, GraphCondition::from_handle(a.handle()));
  EXPECT_NE(a, b);
  EXPECT_EQ(std::hash<GraphCondition>()(a), std::hash<GraphCondition>()(GraphCondition::from_handle(a.handle())));
}

TEST_F(GraphConditionalTest, GraphsWithConditionsAreNeitherClonedNorEmbedded) {
  GraphDefinition graph;
  (void)graph.if_then(graph.create_condition(0));
  GraphDefinition parent;
  EXPECT_THROW((void)parent.embed(graph), Error);
  EXPECT_TRUE(parent.nodes().empty());
}

}  // namespace
}  // namespace cuprum::tests
