// Graphs captured from streams.
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>

#include "api/gate.hpp"
#include "api/graph/fixture.hpp"

namespace cuprum::tests {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class GraphBuilderTest : public GraphTest {
 protected:
  void add_to(const Stream& queue, int amount, std::size_t index = 0) const {
    launch(queue, one, kernel("add"), cell(index), amount);
  }
  void add_to(const GraphBuilder& queue, int amount, std::size_t index = 0) const {
    launch(queue, one, kernel("add"), cell(index), amount);
  }
  static CUstreamCaptureStatus status(const Stream& queue) {
    CUstreamCaptureStatus status{};
    driver::call<&driver::Api::cuStreamIsCapturing>(queue.handle(), &status);
    return status;
  }
};

TEST_F(GraphBuilderTest, WhatIsCapturedRunsWhenLaunched) {
  const GraphBuilder builder = stream.create_graph_builder();
  EXPECT_EQ(builder.stream(), stream);
  EXPECT_FALSE(builder.is_building());
  EXPECT_FALSE(builder.is_join_required());
  builder.begin_building();
  EXPECT_TRUE(builder.is_building());
  add_to(builder, 1);
  add_to(builder, 10);
  const Graph graph = builder.end_building().complete();
  EXPECT_FALSE(builder.is_building());
  stream.sync();
  EXPECT_EQ(cells[0], 0);
  graph.upload(stream);
  run(graph);
  run(graph);
  EXPECT_EQ(cells[0], 22);
}

TEST_F(GraphBuilderTest, ADevicesBuilderHasAStreamOfItsOwn) {
  const GraphBuilder builder = device.create_graph_builder();
  EXPECT_NE(builder.stream(), stream);
  EXPECT_EQ(builder.stream().device(), device);
  builder.begin_building();
  add_to(builder, 2);
  run(builder.end_building().complete());
  EXPECT_EQ(cells[0], 2);
}

TEST_F(GraphBuilderTest, CopiesAndFillsAreCaptured) {
  const Buffer from = ints({1, 2, 3, 4});
  const Buffer to = ints({0, 0, 0, 0});
  std::vector<int> host(4);
  const GraphBuilder builder = device.create_graph_builder();
  builder.begin_building();
  to.copy_from(from, builder);
  from.fill<int>(9, builder);
  to.copy_to(std::span(host), builder);
  data.slice(0, 16).copy_from(from, builder);
  const Graph graph = builder.end_building().complete();
  EXPECT_THAT(builder.graph_definition().nodes(), SizeIs(4));
  run(graph);
  EXPECT_THAT(host, ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(cells.first(4), Each(9));
}

TEST_F(GraphBuilderTest, OtherStreamsTakePartByWaiting) {
  const Stream other = device.create_stream();
  const GraphBuilder builder = stream.create_graph_builder();
  builder.begin_building();
  launch(builder, one, kernel("affine"), cell(0), 0, 3);
  other.wait(builder.stream());
  launch(other, one, kernel("affine"), cell(0), 5, 0);
  stream.wait(other);
  launch(builder, one, kernel("affine"), cell(0), 1, 2);
  builder.end_building();
  EXPECT_THAT(builder.graph_definition().nodes(), SizeIs(3));
  run(builder.complete());
  EXPECT_EQ(cells[0], 17);
}

TEST_F(GraphBuilderTest, EventsOrderWhatIsCaptured) {
  const Stream other = device.create_stream();
  const GraphBuilder builder = stream.create_graph_builder();
  builder.begin_building();
  const Event first = builder.stream().record();
  other.wait(first);
  add_to(other, 4, 1);
  builder.stream().wait(other.record());
  builder.end_building();
  run(builder.complete());
  EXPECT_EQ(cells[1], 4);
}

TEST_F(GraphBuilderTest, ABuilderIsSplitAndJoined) {
  const GraphBuilder builder = stream.create_graph_builder();
  builder.begin_building();
  launch(builder, one, kernel("affine"), cell(0), 0, 1);
  const std::vector<GraphBuilder> parts = builder.split(3);
  ASSERT_THAT(parts, SizeIs(3));
  EXPECT_EQ(parts[0], builder);
  EXPECT_FALSE(parts[0].is_join_required());
  EXPECT_TRUE(parts[1].is_join_required());
  EXPECT_TRUE(parts[2].is_building());
  for (std::size_t i = 0; i < 3; ++i) launch(parts[i], one, kernel("sum"), cell(i + 1), cell(0), cell(0));
  const GraphBuilder joined = GraphBuilder::join(parts);
  EXPECT_EQ(joined, builder);
  launch(joined, one, kernel("sum"), cell(4), cell(2), cell(3));
  joined.end_building();
  const GraphDefinition graph = joined.graph_definition();
  EXPECT_THAT(graph.nodes(), SizeIs(5));
  EXPECT_THAT(graph.edges(), SizeIs(6));
  run(joined.complete());
  EXPECT_THAT(cells.first(5), ElementsAre(1, 2, 2, 2, 4));
}

TEST_F(GraphBuilderTest, JoinClosesTheOthers) {
  const GraphBuilder builder = stream.create_graph_builder().begin_building();
  const std::vector<GraphBuilder> parts = builder.split(2);
  EXPECT_EQ(GraphBuilder::join(parts[1], parts[0]), builder) << "the one that was split, wherever it stands";
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)parts[1].stream(); }), HasSubstr("closed"));
  builder.end_building();
}

TEST_F(GraphBuilderTest, PartsAreSplitAndJoinedAmongThemselves) {
  const GraphBuilder builder = stream.create_graph_builder().begin_building();
  const std::vector<GraphBuilder> parts = builder.split(3);
  const std::vector<GraphBuilder> more = parts[1].split(2);
  add_to(parts[0], 1, 0);
  add_to(more[0], 2, 1);
  add_to(more[1], 3, 2);
  add_to(parts[2], 4, 3);
  const GraphBuilder first = GraphBuilder::join(more[0], more[1]);
  EXPECT_EQ(first, parts[1]);
  GraphBuilder::join(GraphBuilder::join(first, parts[2]), builder);
  run(builder.end_building().complete());
  EXPECT_THAT(cells.first(4), ElementsAre(1, 2, 3, 4));
}

TEST_F(GraphBuilderTest, SplitAndJoinCheckWhatTheyGet) {
  const GraphBuilder builder = stream.create_graph_builder();
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)builder.split(2); }), HasSubstr("must be building"));
  builder.begin_building();
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)builder.split(1); }), HasSubstr("at least 2"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)GraphBuilder::join({builder}); }), HasSubstr("at least 2"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)GraphBuilder::join(builder, builder); }), HasSubstr("twice"));
  builder.end_building();
}

TEST_F(GraphBuilderTest, StepsOutOfOrderAreRefused) {
  const GraphBuilder builder = stream.create_graph_builder();
  EXPECT_THAT(error_of<InvalidArgument>([&] { builder.end_building(); }), HasSubstr("begin_building() comes first"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)builder.complete(); }), HasSubstr("has not finished building"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)builder.graph_definition(); }), HasSubstr("no graph yet"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { builder.debug_dot_print("/tmp/x"); }), HasSubstr("end_building()"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)builder.create_condition(); }), HasSubstr("not building"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { builder.callback([] {}); }), HasSubstr("nothing is captured"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { builder.keep(nullptr); }), HasSubstr("begin_building()"));
  builder.begin_building();
  EXPECT_THAT(error_of<InvalidArgument>([&] { builder.begin_building(); }), HasSubstr("is already building"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)builder.graph_definition(); }), HasSubstr("end_building()"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)builder.complete(); }), HasSubstr("end_building()"));
  const std::vector<GraphBuilder> parts = builder.split(2);
  EXPECT_THAT(error_of<InvalidArgument>([&] { parts[1].end_building(); }), HasSubstr("join() it"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)parts[1].graph_definition(); }), HasSubstr("split()"));
  GraphBuilder::join(parts);
  builder.end_building();
  EXPECT_THAT(error_of<InvalidArgument>([&] { builder.begin_building(); }), HasSubstr("make another"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { builder.end_building(); }), HasSubstr("not building"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)GraphBuilder().stream(); }), HasSubstr("empty"));
}

TEST_F(GraphBuilderTest, AHostCallIsRefusedAndBreaksNothing) {
  const GraphBuilder builder = stream.create_graph_builder().begin_building();
  add_to(builder, 1);
  EXPECT_THAT(error_of<WrongState>([&] { stream.host_call([] {}); }), HasSubstr("GraphBuilder::callback"));
  builder.end_building().complete().launch(stream);
  stream.host_call([] {});
  stream.sync();
  EXPECT_EQ(cells[0], 1);
}

TEST_F(GraphBuilderTest, AClosedBuilderEndsItsCapture) {
  GraphBuilder builder = stream.create_graph_builder().begin_building();
  GraphBuilder copy = builder;
  add_to(builder, 1);
  builder.close();
  builder.close();
  EXPECT_EQ(status(stream), CU_STREAM_CAPTURE_STATUS_NONE);
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)copy.is_building(); }), HasSubstr("closed"));
  add_to(stream, 3);
  stream.sync();
  EXPECT_EQ(cells[0], 3);
}

TEST_F(GraphBuilderTest, ABuilderThatGoesEndsItsCapture) {
  {
    stream.create_graph_builder().begin_building();
  }
  EXPECT_EQ(status(stream), CU_STREAM_CAPTURE_STATUS_NONE);
  {
    const GraphBuilder builder = stream.create_graph_builder().begin_building();
    const std::vector<GraphBuilder> parts = builder.split(2);
    add_to(parts[1], 1);
  }
  EXPECT_EQ(status(stream), CU_STREAM_CAPTURE_STATUS_NONE);
  stream.sync();
}

TEST_F(GraphBuilderTest, TheGraphIsADefinitionThatCanBeChanged) {
  const GraphBuilder builder = stream.create_graph_builder().begin_building();
  add_to(builder, 1);
  builder.end_building();
  const GraphDefinition graph = builder.graph_definition();
  ASSERT_THAT(graph.nodes(), SizeIs(1));
  const auto node = graph.nodes()[0].as<KernelNode>();
  ASSERT_TRUE(node);
  EXPECT_EQ(node->grid(), Dim3(1));
  affine(*node, 7, 0);
  run(builder.complete());
  EXPECT_EQ(cells[0], 7);
}

TEST_F(GraphBuilderTest, CapturedKernelsAreReadBack) {
  const GraphBuilder inner = device.create_graph_builder().begin_building();
  launch(inner, one, kernel("add"), data, 1);
  inner.end_building();
  const GraphBuilder builder = stream.create_graph_builder().begin_building();
  launch(stream, one, kernel("affine"), cell(0), 1, 1);
  const std::vector<GraphBuilder> parts = builder.split(2);
  launch(parts[1], one, kernel("affine"), cell(1), 1, 1);
  GraphBuilder::join(parts).embed(inner);
  const GraphBuilder body = builder.if_then(builder.create_condition(1)).begin_building();
  launch(body, one, kernel("sum"), cell(0), cell(1), cell(1));
  body.end_building();
  builder.end_building();

  std::multiset<std::string> names;
  const std::function<void(const GraphDefinition&)> read = [&](const GraphDefinition& graph) {
    for (const GraphNode& node : graph.nodes()) {
      if (const auto found = node.as<KernelNode>()) names.emplace(found->kernel().name());
      if (const auto child = node.as<ChildGraphNode>()) read(child->child_graph());
      if (const auto conditional = node.as<IfNode>()) read(conditional->then());
    }
  };
  read(builder.graph_definition());
  EXPECT_EQ(names, (std::multiset<std::string>{"add", "affine", "affine", "sum"}));

  const GraphDefinition copy = inner.graph_definition().clone();
  const auto node = copy.nodes()[0].as<KernelNode>();
  EXPECT_EQ(node->kernel(), kernel("add"));
  node->update_arguments(data, 5);
  run(copy);
  EXPECT_EQ(cells[0], 5);
}

TEST_F(GraphBuilderTest, TheDefinitionOutlivesTheBuilder) {
  GraphDefinition graph;
  {
    GraphBuilder builder = device.create_graph_builder().begin_building();
    add_to(builder, 6);
    graph = builder.end_building().graph_definition();
    builder.close();
  }
  run(graph);
  EXPECT_EQ(cells[0], 6);
}

TEST_F(GraphBuilderTest, AnExecutableGraphIsUpdatedFromABuilder) {
  const auto build = [&](int amount) {
    const GraphBuilder builder = stream.create_graph_builder().begin_building();
    add_to(builder, amount);
    return builder;
  };
  const Graph graph = build(1).end_building().complete();
  const GraphBuilder other = build(30);
  EXPECT_THAT(error_of<InvalidArgument>([&] { graph.update(other); }), HasSubstr("has not finished building"));
  graph.update(other.end_building());
  run(graph);
  EXPECT_EQ(cells[0], 30);
}

TEST_F(GraphBuilderTest, ABuilderPrintsADotFile) {
  const GraphBuilder builder = stream.create_graph_builder().begin_building();
  add_to(builder, 1);
  builder.end_building();
  const std::string path = ::testing::TempDir() + "graph_builder_test.dot";
  builder.debug_dot_print(path, {.kernel_node_params = true, .handles = true});
  std::ifstream file(path);
  EXPECT_THAT(std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>()),
              HasSubstr("digraph"));
  std::filesystem::remove(path);
  std::ostringstream out;
  out << builder << ", " << GraphBuilder();
  EXPECT_THAT(out.str(), AllOf(HasSubstr("graph builder on stream 0x"), HasSubstr(", an empty graph builder")));
}

TEST_F(GraphBuilderTest, CallbacksAreCalledInOrderAndKept) {
  auto calls = std::make_shared<int>(0);
  const GraphBuilder builder = stream.create_graph_builder().begin_building();
  add_to(builder, 5);
  builder.callback([calls, this] { *calls += cells[0]; });
  launch(builder, one, kernel("affine"), cell(0), 2, 0);
  builder.callback([](void* argument) { *static_cast<int*>(argument) *= 10; }, calls.get(), calls);
  run(builder.end_building().complete());
  EXPECT_EQ(*calls, 50);
  EXPECT_EQ(cells[0], 10);
  EXPECT_GT(calls.use_count(), 1);
}

TEST_F(GraphBuilderTest, GraphsAreEmbedded) {
  const GraphBuilder child = device.create_graph_builder().begin_building();
  launch(child, one, kernel("affine"), cell(0), 10, 1);
  GraphDefinition explicit_child;
  affine(explicit_child, 10, 2);
  const GraphBuilder builder = stream.create_graph_builder().begin_building();
  EXPECT_THAT(error_of<InvalidArgument>([&] { builder.embed(child); }), HasSubstr("has not finished building"));
  child.end_building();
  add_to(builder, 3);
  builder.embed(child);
  builder.embed(explicit_child);
  launch(builder, one, kernel("affine"), cell(0), 10, 3);
  builder.end_building();
  EXPECT_THAT(builder.graph_definition().edges(), SizeIs(3));
  run(builder.complete());
  EXPECT_EQ(cells[0], 3123);
}

TEST_F(GraphBuilderTest, AnExecutableGraphIsNotLaunchedOnABuilder) {
  GraphDefinition child;
  add(child, 4);
  const Graph executable = child.instantiate();
  const GraphBuilder builder = stream.create_graph_builder().begin_building();
  EXPECT_THROW(executable.launch(builder), DriverError);
  EXPECT_THAT(error_of<DriverError>([&] { builder.end_building(); }), HasSubstr("what broke it: launching executable"));
}

// ---- Conditions -----------------------------------------------------------------------------------------------------

TEST_F(GraphBuilderTest, AnIfIsCaptured) {
  for (const unsigned value : {0u, 1u}) {
    cells[0] = 0;
    const GraphBuilder builder = stream.create_graph_builder().begin_building();
    const GraphCondition condition = builder.create_condition();
    launch(builder, one, kernel("set_condition"), condition, value);
    const GraphBuilder body = builder.if_then(condition);
    body.begin_building();
    add_to(body, 5);
    body.end_building();
    add_to(builder, 100);
    run(builder.end_building().complete());
    EXPECT_EQ(cells[0], value ? 105 : 100);
  }
}

TEST_F(GraphBuilderTest, AnIfElseIsCaptured) {
  for (const unsigned value : {0u, 1u}) {
    cells[0] = 0;
    const GraphBuilder builder = stream.create_graph_builder().begin_building();
    const GraphCondition condition = builder.create_condition();
    launch(builder, one, kernel("set_condition"), condition, value);
    const auto [then, otherwise] = builder.if_else(condition);
    add_to(then.begin_building(), 5);
    then.end_building();
    add_to(otherwise.begin_building(), 7);
    otherwise.end_building();
    run(builder.end_building().complete());
    EXPECT_EQ(cells[0], value ? 5 : 7);
  }
}

TEST_F(GraphBuilderTest, ASwitchIsCaptured) {
  for (const unsigned value : {0u, 2u, 3u}) {
    cells[0] = 0;
    const GraphBuilder builder = stream.create_graph_builder().begin_building();
    const GraphCondition condition = builder.create_condition(value);
    const std::vector<GraphBuilder> branches = builder.switch_(condition, 3);
    ASSERT_THAT(branches, SizeIs(3));
    for (int i = 0; i < 3; ++i) {
      const GraphBuilder& branch = branches[static_cast<std::size_t>(i)];
      add_to(branch.begin_building(), 10 + i);
      branch.end_building();
    }
    EXPECT_THAT(error_of<InvalidArgument>([&] { (void)builder.switch_(condition, 0); }), HasSubstr("0 branches"));
    run(builder.end_building().complete());
    EXPECT_EQ(cells[0], value < 3 ? 10 + static_cast<int>(value) : 0);
  }
}

TEST_F(GraphBuilderTest, AWhileLoopIsCapturedWithAnIfInside) {
  cells[1] = 6;
  const GraphBuilder builder = stream.create_graph_builder().begin_building();
  const GraphCondition loop = builder.create_condition(1);
  const GraphBuilder body = builder.while_loop(loop);
  body.begin_building();
  add_to(body, 2);
  const GraphCondition rest = body.create_condition();
  launch(body, one, kernel("set_condition_from"), rest, cell(1));
  const GraphBuilder inner = body.if_then(rest);
  add_to(inner.begin_building(), 100, 2);
  inner.end_building();
  launch(body, one, kernel("count_down"), loop, cell(1));
  body.end_building();
  run(builder.end_building().complete());
  EXPECT_EQ(cells[0], 12);
  EXPECT_EQ(cells[2], 600);
}

TEST_F(GraphBuilderTest, ABodyCanBePutTogetherInsteadOfCaptured) {
  const GraphBuilder builder = stream.create_graph_builder().begin_building();
  const GraphBuilder body = builder.if_then(builder.create_condition(1));
  add(body.graph_definition(), 8);
  EXPECT_THAT(body.graph_definition().nodes(), SizeIs(1));
  run(builder.end_building().complete());
  EXPECT_EQ(cells[0], 8);
}

// ---- Captures that break --------------------------------------------------------------------------------------------

TEST_F(GraphBuilderTest, ABrokenCaptureSaysWhatBrokeItAndLeavesTheStreamUsable) {
  const GraphBuilder builder = stream.create_graph_builder().begin_building();
  add_to(builder, 1);
  EXPECT_THROW(stream.sync(), DriverError);
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)builder.is_building(); }),
              AllOf(HasSubstr("is broken"), HasSubstr("cuStreamSynchronize")));
  EXPECT_THAT(error_of<DriverError>([&] { builder.end_building(); }),
              AllOf(HasSubstr("ending the capture of stream"), HasSubstr("what broke it: waiting for stream"),
                    HasSubstr("cuStreamSynchronize")));
  EXPECT_EQ(status(stream), CU_STREAM_CAPTURE_STATUS_NONE);
  add_to(stream, 2);
  stream.sync();
  EXPECT_EQ(cells[0], 2);
}

TEST_F(GraphBuilderTest, WhatFailsBecauseACaptureIsBrokenIsNotWhatBrokeIt) {
  const GraphBuilder builder = stream.create_graph_builder().begin_building();
  EXPECT_THROW(stream.sync(), DriverError);
  EXPECT_THROW(add_to(builder, 1), DriverError);
  EXPECT_THROW(data.fill<int>(1, builder), DriverError);
  EXPECT_THAT(error_of<DriverError>([&] { builder.end_building(); }), HasSubstr("what broke it: waiting for stream"));
}

TEST_F(GraphBuilderTest, BuildingBeginsAnewAfterABrokenCapture) {
  const GraphBuilder builder = stream.create_graph_builder().begin_building();
  EXPECT_THROW(stream.sync(), DriverError);
  EXPECT_THROW(builder.end_building(), DriverError);
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)builder.complete(); }), HasSubstr("has not finished"));
  builder.begin_building();
  add_to(builder, 7);
  run(builder.end_building().complete());
  EXPECT_EQ(cells[0], 7);
}

TEST_F(GraphBuilderTest, APartThatWasNotJoinedIsNamed) {
  const GraphBuilder builder = stream.create_graph_builder().begin_building();
  const std::vector<GraphBuilder> parts = builder.split(2);
  add_to(parts[1], 1);
  EXPECT_THAT(error_of<DriverError>([&] { builder.end_building(); }), HasSubstr("join() what split() made"));
  EXPECT_EQ(status(stream), CU_STREAM_CAPTURE_STATUS_NONE);
}

TEST_F(GraphBuilderTest, WhatOtherCodeBrokeIsSaidToBeItsDoing) {
  const GraphBuilder builder = stream.create_graph_builder().begin_building();
  EXPECT_NE(driver::api().cuStreamSynchronize(stream.handle()), CUDA_SUCCESS);
  EXPECT_THAT(error_of<DriverError>([&] { builder.end_building(); }), HasSubstr("other code did"));
}

TEST_F(GraphBuilderTest, UnsafeCallsBreakCapturesByTheirMode) {
  const auto unsafe = [&] { return LegacyPinnedMemoryResource().allocate(64, device.default_stream()); };
  for (const CaptureMode mode : {CaptureMode::global, CaptureMode::thread_local_}) {
    const GraphBuilder builder = device.create_graph_builder().begin_building(mode);
    EXPECT_THROW((void)unsafe(), DriverError);
    EXPECT_THAT(error_of<DriverError>([&] { builder.end_building(); }), HasSubstr("what broke it: allocating 64"));
  }
  const GraphBuilder builder = device.create_graph_builder().begin_building(CaptureMode::relaxed);
  {
    const Buffer allocated = unsafe();
    builder.end_building();
  }
}

TEST_F(GraphBuilderTest, TheLegacyStreamIsNotCaptured) {
  const GraphBuilder builder = Stream::legacy_default().create_graph_builder();
  EXPECT_THROW(builder.begin_building(), DriverError);
  Stream closed = device.create_stream();
  closed.close();
  EXPECT_THROW((void)closed.create_graph_builder(), InvalidArgument);
}

}  // namespace
}  // namespace cuprum::tests
