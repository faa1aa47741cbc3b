// Long rows of small kernels, which a driver may run without coming back in between: nothing of that may be seen.
#include "api/gate.hpp"
#include "api/graph/fixture.hpp"

namespace cuprum::tests {
namespace {

class GraphChainTest : public GraphTest {
 protected:
  /// x -> 3 x + i for i = 0, 1, …; what that gives is told by all of them having run, in this order.
  std::vector<KernelNode> row(const NodePlace& place, int length, std::size_t index = 0) const {
    std::vector<KernelNode> nodes;
    for (int i = 0; i < length; ++i) {
      nodes.push_back(nodes.empty() ? affine(place, 3, i, index) : affine(nodes.back(), 3, i, index));
    }
    return nodes;
  }
  static int expected(int length, unsigned start = 0, int left_out = -1) {
    unsigned x = start;
    for (int i = 0; i < length; ++i) {
      if (i != left_out) x = 3 * x + static_cast<unsigned>(i);
    }
    return static_cast<int>(x);
  }
};

TEST_F(GraphChainTest, RowsOfAllLengthsRunInOrder) {
  for (const int length : {1, 2, 3, 63, 64, 65, 66, 128, 129, 200, 500}) {
    cells[0] = 0;
    GraphDefinition graph;
    row(graph, length);
    const Graph executable = graph.instantiate();
    run(executable);
    EXPECT_EQ(cells[0], expected(length)) << length;
    run(executable);
    EXPECT_EQ(cells[0], expected(length, static_cast<unsigned>(expected(length)))) << length;
  }
}

TEST_F(GraphChainTest, RowsSideBySideAndBehindEachOther) {
  GraphDefinition graph;
  const auto start = row(graph, 5);
  std::vector<GraphNode> ends;
  for (std::size_t i = 1; i <= 8; ++i) {
    const KernelNode copied = start.back().launch(one, kernel("sum"), cell(i), cell(0), cell(0));
    ends.push_back(row(copied, 70, i).back());
  }
  const KernelNode last = graph.join(ends).launch(one, kernel("sum"), cell(9), cell(1), cell(8));
  row(last, 3, 9);
  run(graph);
  const auto x = static_cast<unsigned>(expected(5));
  const auto y = static_cast<unsigned>(expected(70, 2 * x));
  for (std::size_t i = 1; i <= 8; ++i) EXPECT_EQ(cells[i], static_cast<int>(y)) << i;
  EXPECT_EQ(cells[9], expected(3, 2 * y));
}

TEST_F(GraphChainTest, OneOfARowIsUpdatedDisabledAndEnabled) {
  GraphDefinition graph;
  const std::vector<KernelNode> nodes = row(graph, 10);
  const Graph executable = graph.instantiate();
  run(executable);
  executable[nodes[4]].disable();
  cells[0] = 0;
  run(executable);
  EXPECT_EQ(cells[0], expected(10, 0, 4));
  executable[nodes[4]].enable();
  executable[nodes[4]].update(one, kernel("affine"), cell(0), 3, 4);
  cells[0] = 0;
  run(executable);
  EXPECT_EQ(cells[0], expected(10));
  executable[nodes[9]].update(one, kernel("affine"), cell(0), 0, 77);
  run(executable);
  EXPECT_EQ(cells[0], 77);
}

TEST_F(GraphChainTest, UpdatesDoNotReachLaunchesThatWait) {
  GraphDefinition graph;
  const std::vector<KernelNode> nodes = row(graph, 10);
  const Graph executable = graph.instantiate();
  {
    Gate gate(stream);
    executable.launch(stream);
    executable[nodes[9]].update(one, kernel("affine"), cell(1), 0, 5);
    executable.launch(stream);
  }
  const auto first = static_cast<unsigned>(expected(10));
  EXPECT_EQ(cells[0], expected(9, first));
  EXPECT_EQ(cells[1], 5);
}

TEST_F(GraphChainTest, LargeKernelsInARow) {
  GraphDefinition graph;
  const std::vector<KernelNode> before = row(graph, 4);
  const KernelNode large = before.back().launch({.grid = 20, .block = 64}, kernel("shape"), cell(10));
  const KernelNode after = large.launch(one, kernel("affine"), cell(0), 3, 4);
  after.launch(one, kernel("affine"), cell(0), 3, 5);
  run(graph);
  EXPECT_EQ(cells[0], expected(6));
  EXPECT_EQ(cells[10], 20);
}

TEST_F(GraphChainTest, RowsInChildGraphsAndBodies) {
  GraphDefinition child;
  row(child, 12);
  GraphDefinition graph;
  const ChildGraphNode node = graph.embed(child);
  const WhileNode loop = node.while_loop(graph.create_condition(1));
  cells[1] = 3;
  row(loop.body(), 12).back().launch(one, kernel("count_down"), *loop.condition(), cell(1));
  run(graph);
  unsigned x = 0;
  for (int i = 0; i < 4; ++i) x = static_cast<unsigned>(expected(12, x));
  EXPECT_EQ(cells[0], static_cast<int>(x));
}

TEST_F(GraphChainTest, WholeUpdatesOfRows) {
  GraphDefinition graph;
  row(graph, 80);
  const Graph executable = graph.instantiate();
  GraphDefinition other;
  row(other, 80, 3);
  run(executable);
  executable.update(other);
  run(executable);
  EXPECT_EQ(cells[0], expected(80));
  EXPECT_EQ(cells[3], expected(80));
}

TEST_F(GraphChainTest, OtherStreamsGoOnMeanwhile) {
  GraphDefinition graph;
  row(graph, 300);
  const Graph executable = graph.instantiate();
  const Stream other = device.create_stream();
  for (int i = 0; i < 10; ++i) {
    executable.launch(stream);
    launch(other, one, kernel("add"), cell(5), 1);
  }
  other.sync();
  EXPECT_EQ(cells[5], 10);
  stream.sync();
  unsigned x = 0;
  for (int i = 0; i < 10; ++i) x = static_cast<unsigned>(expected(300, x));
  EXPECT_EQ(cells[0], static_cast<int>(x));
}

}  // namespace
}  // namespace cuprum::tests
