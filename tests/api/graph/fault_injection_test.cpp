// Whatever call of the driver fails in what graphs do, it is reported and nothing leaks.
#include "api/failing_api.hpp"
#include "api/graph/fixture.hpp"

namespace cuprum::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class GraphFaultTest : public GraphTest {
 protected:
  GraphFaultTest() {
    // What is looked up once is looked up now.
    launch(stream, one, kernel("add"), data, 0);
    stream.sync();
  }
  FailingApi failing;
};

TEST_F(GraphFaultTest, EveryCallOfADefinition) {
  const Kernel added = kernel("add");
  const Kernel shape = kernel("shape");
  const Event event = device.create_event();
  EXPECT_GT(failing.fail_each_call([&] {
    GraphDefinition graph;
    const KernelNode first = graph.launch(one, added, data, 1);
    const MemsetNode filled = first.memset<int>(cell(4), 1, 2);
    const MemcpyNode copied = filled.memcpy(cell(8), cell(4), 8);
    const EventRecordNode recorded = copied.record(event);
    const EventWaitNode waited = recorded.wait(event);
    const HostCallbackNode called = waited.callback([] {});
    const EmptyNode joined = graph.join(called, first);
    graph.launch({.grid = 1, .block = 1, .is_cooperative = true}, shape, data);
    first.update_arguments(data, 2);
    filled.update_value<int>(3);
    copied.update_dst(cell(12));
    recorded.update(event);
    called.update([] {});
    joined.pred().discard(first);
    joined.pred().add(first);
    EXPECT_EQ(graph.nodes().size(), 8u);
    EXPECT_EQ(graph.edges().size(), 7u);
    EXPECT_EQ(first.config(), one);
    joined.destroy();
    EXPECT_FALSE(joined.is_valid());
  }),
            40);
}

TEST_F(GraphFaultTest, EveryCallOfClonesAndChildren) {
  const Kernel added = kernel("add");
  EXPECT_GT(failing.fail_each_call([&] {
    GraphDefinition child;
    child.launch(one, added, data, 1);
    GraphDefinition graph;
    const ChildGraphNode node = graph.embed(child);
    EXPECT_EQ(node.child_graph().nodes().size(), 1u);
    const GraphDefinition copy = graph.clone();
    EXPECT_EQ(copy.nodes().size(), 1u);
    node.update(child);
    EXPECT_EQ(node.child_graph().nodes().size(), 1u);
  }),
            8);
}

TEST_F(GraphFaultTest, EveryCallOfConditions) {
  const Kernel added = kernel("add");
  EXPECT_GT(failing.fail_each_call([&] {
    GraphDefinition graph;
    const IfElseNode node = graph.if_else(graph.create_condition(1));
    node.then().launch(one, added, data, 1);
    node.else_().launch(one, added, data, 1);
    const Graph executable = graph.instantiate();
    executable.launch(stream);
    stream.sync();
  }),
            8);
}

TEST_F(GraphFaultTest, EveryCallOfAnExecutableGraph) {
  const Kernel added = kernel("add");
  EXPECT_GT(failing.fail_each_call(
                [&] {
                  GraphDefinition graph;
                  const KernelNode node = graph.launch(one, added, data, 1);
                  const MemsetNode filled = node.memset<int>(cell(4), 1, 2);
                  const Graph executable = graph.instantiate({.upload_stream = stream});
                  executable.upload(stream);
                  executable.launch(stream);
                  executable[node].update(one, added, data, 5);
                  executable[filled].update<int>(cell(4), 2, 2);
                  executable[filled].disable();
                  EXPECT_FALSE(executable[filled].is_enabled());
                  executable.launch(stream);
                  executable.update(graph);
                  executable.launch(stream);
                  stream.sync();
                },
                {{"cuStreamQuery", "whether a launch is running decides only when what it used is let go"},
                 {"cuStreamIsCapturing", "the same"}}),
            15);
}

TEST_F(GraphFaultTest, EveryCallOfACapture) {
  const Kernel added = kernel("add");
  GraphDefinition child;
  child.launch(one, added, data, 1);
  EXPECT_GT(failing.fail_each_call([&] {
    const GraphBuilder builder = device.create_graph_builder();
    builder.begin_building();
    launch(builder, one, added, data, 1);
    const std::vector<GraphBuilder> parts = builder.split(2);
    launch(parts[1], one, added, cell(1), 1);
    GraphBuilder::join(parts);
    builder.callback([] {});
    builder.embed(child);
    const GraphBuilder body = builder.if_then(builder.create_condition(1));
    body.begin_building();
    launch(body, one, added, cell(2), 1);
    body.end_building();
    const Graph executable = builder.end_building().complete();
    EXPECT_GE(builder.graph_definition().nodes().size(), 4u);
    executable.launch(stream);
    stream.sync();
  }),
            25);
}

TEST_F(GraphFaultTest, EveryCallOfMemoryInACapture) {
  const GraphMemoryResource memory(device);
  EXPECT_GT(failing.fail_each_call([&] {
    const GraphBuilder builder = device.create_graph_builder().begin_building();
    {
      const Buffer scratch = memory.allocate(64, builder);
      scratch.fill<int>(1, builder);
    }
    const Graph executable = builder.end_building().complete();
    executable.launch(stream);
    stream.sync();
    (void)memory.attributes().used_mem_high();
  }),
            6);
}

TEST_F(GraphFaultTest, FailuresSayWhatWasBeingDone) {
  GraphDefinition graph;
  const Kernel added = kernel("add");
  failing.fail_next("cuGraphAddNode", CUDA_ERROR_UNKNOWN);
  EXPECT_THAT(error_of<DriverError>([&] { graph.launch(one, added, data, 1); }),
              AllOf(HasSubstr("adding a node (kernel for kernel add"), HasSubstr("cuGraphAddNode failed")));
  failing.fail_next("cuUserObjectCreate", CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_THAT(error_of<OutOfMemory>([&] { graph.launch(one, added, data, 1); }), HasSubstr("keep what a node uses"));
  failing.fail_next("cuGraphInstantiateWithParams", CUDA_ERROR_UNKNOWN);
  EXPECT_THAT(error_of<DriverError>([&] { (void)graph.instantiate(); }), HasSubstr("instantiating a graph"));
  const Graph executable = graph.instantiate();
  failing.fail_next("cuGraphLaunch", CUDA_ERROR_UNKNOWN);
  EXPECT_THAT(error_of<DriverError>([&] { executable.launch(stream); }),
              AllOf(HasSubstr("launching executable graph"), HasSubstr("on stream")));
  EXPECT_TRUE(graph.nodes().empty());
}

}  // namespace
}  // namespace cuprum::tests
