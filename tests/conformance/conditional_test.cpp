// Conditional nodes: if, else, while and switch.
#include "conformance/conditional.hpp"

#include "conformance/gate.hpp"

namespace conformance {
namespace {

TEST_F(ConditionalTest, AnIfRunsItsBodyUnlessTheNumberIsZero) {
  for (const unsigned number : {0u, 1u, 7u}) {
    value(0) = 0;
    const TestGraph graph;
    const Conditional branch = add_conditional(graph.get(), {}, handle(graph.get(), number), CU_GRAPH_COND_TYPE_IF);
    EXPECT_EQ(type_of(branch.node), CU_GRAPH_NODE_TYPE_CONDITIONAL);
    add_node(branch.bodies[0], {}, 5);
    const TestGraphExec exec(graph.get());
    exec.run(stream());
    EXPECT_EQ(value(0), number != 0 ? 5 : 0) << number;
  }
}

TEST_F(ConditionalTest, AnIfWithTwoBodiesRunsOneOfThem) {
  for (const unsigned number : {0u, 1u}) {
    value(0) = 0;
    const TestGraph graph;
    const Conditional branch = add_conditional(graph.get(), {}, handle(graph.get(), number), CU_GRAPH_COND_TYPE_IF, 2);
    add_node(branch.bodies[0], {}, 1);
    add_node(branch.bodies[1], {}, 10);
    const TestGraphExec exec(graph.get());
    exec.run(stream());
    EXPECT_EQ(value(0), number != 0 ? 1 : 10);
  }
}

TEST_F(ConditionalTest, AKernelBeforeTheNodeDecides) {
  const TestGraph graph;
  const CUgraphConditionalHandle number = handle(graph.get());
  const CUgraphNode set = add_kernel(graph.get(), {}, condition("set_from"), number, data(1));
  const Conditional branch = add_conditional(graph.get(), {set}, number, CU_GRAPH_COND_TYPE_IF);
  add_node(branch.bodies[0], {}, 1);
  const TestGraphExec exec(graph.get());
  int expected = 0;
  for (const int now : {0, 3, 0, 0, 1}) {
    value(1) = now;
    exec.run(stream());
    expected += now != 0 ? 1 : 0;
    EXPECT_EQ(value(0), expected);
  }
}

TEST_F(ConditionalTest, AWhileRepeatsItsBody) {
  const TestGraph graph;
  const CUgraphConditionalHandle number = handle(graph.get(), 1);
  const Conditional loop = add_conditional(graph.get(), {}, number, CU_GRAPH_COND_TYPE_WHILE);
  const CUgraphNode added = add_node(loop.bodies[0], {}, 2);
  add_kernel(loop.bodies[0], {added}, condition("count_down"), number, data(1));
  const TestGraphExec exec(graph.get());
  value(1) = 100;
  exec.run(stream());
  EXPECT_EQ(value(0), 200);
  EXPECT_EQ(value(1), 0);
  value(1) = 7;
  exec.run(stream());
  EXPECT_EQ(value(0), 214);
}

TEST_F(ConditionalTest, AWhileMayRunNever) {
  const TestGraph graph;
  const CUgraphConditionalHandle number = handle(graph.get(), 0);
  const Conditional loop = add_conditional(graph.get(), {}, number, CU_GRAPH_COND_TYPE_WHILE);
  add_node(loop.bodies[0], {}, 1);
  const TestGraphExec exec(graph.get());
  exec.run(stream());
  EXPECT_EQ(value(0), 0);
}

TEST_F(ConditionalTest, ASwitchRunsTheBodyOfTheNumber) {
  const TestGraph graph;
  const CUgraphConditionalHandle number = handle(graph.get());
  const CUgraphNode set = add_kernel(graph.get(), {}, condition("set_from"), number, data(1));
  const Conditional cases = add_conditional(graph.get(), {set}, number, CU_GRAPH_COND_TYPE_SWITCH, 4);
  for (int i = 0; i < 4; ++i) add_node(cases.bodies[static_cast<size_t>(i)], {}, i + 1, static_cast<size_t>(4 + i));
  const TestGraphExec exec(graph.get());
  for (const int now : {3, 0, 1, 2, 3, 4, -1}) {
    value(1) = now;
    exec.run(stream());
  }
  EXPECT_EQ(value(4), 1);
  EXPECT_EQ(value(5), 2);
  EXPECT_EQ(value(6), 3);
  EXPECT_EQ(value(7), 8);
}

TEST_F(ConditionalTest, TheDefaultIsAssignedAtEveryLaunch) {
  const TestGraph graph;
  const CUgraphConditionalHandle number = handle(graph.get(), 1);
  const Conditional branch = add_conditional(graph.get(), {}, number, CU_GRAPH_COND_TYPE_IF);
  add_node(branch.bodies[0], {}, 1);
  add_kernel(graph.get(), {branch.node}, condition("set_condition"), number, 0);
  const TestGraphExec exec(graph.get());
  for (int i = 0; i < 3; ++i) ASSERT_SUCCESS(CU(cuGraphLaunch)(exec.get(), stream()));
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream()));
  EXPECT_EQ(value(0), 3);
}

TEST_F(ConditionalTest, WhatComesAfterTheNodeComesAfterItsBody) {
  const TestGraph graph;
  const CUgraphConditionalHandle number = handle(graph.get(), 1);
  const CUgraphNode before = add_node(graph.get(), {}, 1);
  const Conditional loop = add_conditional(graph.get(), {before}, number, CU_GRAPH_COND_TYPE_WHILE);
  add_kernel(loop.bodies[0], {add_node(loop.bodies[0], {}, 1)}, condition("count_down"), number, data(1));
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = data();
  copy.dstDevice = data(2);
  copy.WidthInBytes = 4;
  copy.Height = copy.Depth = 1;
  CUgraphNode copied = nullptr;
  ASSERT_SUCCESS(CU(cuGraphAddMemcpyNode)(&copied, graph.get(), &loop.node, 1, &copy, context_));
  const TestGraphExec exec(graph.get());
  value(1) = 50;
  ASSERT_SUCCESS(CU(cuGraphLaunch)(exec.get(), stream()));
  add(stream(), 1000);
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream()));
  EXPECT_EQ(value(2), 51);
  EXPECT_EQ(value(0), 1051);
}

TEST_F(ConditionalTest, ConditionsNest) {
  const TestGraph graph;
  const CUgraphConditionalHandle outer = handle(graph.get(), 1), inner = handle(graph.get());
  const Conditional loop = add_conditional(graph.get(), {}, outer, CU_GRAPH_COND_TYPE_WHILE);
  // Each time round the outer loop, the inner one runs three times.
  const CUgraph body = loop.bodies[0];
  CUgraphNode filled = nullptr;
  CUDA_MEMSET_NODE_PARAMS three{};
  three.dst = data(2);
  three.value = 3;
  three.elementSize = 4;
  three.width = three.height = 1;
  ASSERT_SUCCESS(CU(cuGraphAddMemsetNode)(&filled, body, nullptr, 0, &three, context_));
  const CUgraphNode set = add_kernel(body, {filled}, condition("set_condition"), inner, 1);
  const Conditional nested = add_conditional(body, {set}, inner, CU_GRAPH_COND_TYPE_WHILE);
  add_kernel(nested.bodies[0], {add_node(nested.bodies[0], {}, 1)}, condition("count_down"), inner, data(2));
  add_kernel(body, {nested.node}, condition("count_down"), outer, data(1));
  const TestGraphExec exec(graph.get());
  value(1) = 5;
  exec.run(stream());
  EXPECT_EQ(value(0), 15);
}

TEST_F(ConditionalTest, BodiesHaveBranchesAndChildGraphs) {
  const TestGraph graph, child;
  add_node(child.get(), {}, 1);
  add_node(child.get(), {}, 1, 1);
  const Conditional branch = add_conditional(graph.get(), {}, handle(graph.get(), 1), CU_GRAPH_COND_TYPE_IF);
  const CUgraph body = branch.bodies[0];
  CUgraphNode empty = nullptr, nested = nullptr;
  ASSERT_SUCCESS(CU(cuGraphAddEmptyNode)(&empty, body, nullptr, 0));
  const CUgraphNode left = add_node(body, {empty}, 10), right = add_node(body, {empty}, 10, 1);
  const CUgraphNode both[] = {left, right};
  ASSERT_SUCCESS(CU(cuGraphAddChildGraphNode)(&nested, body, both, 2, child.get()));
  add_node(body, {nested}, 100);
  const TestGraphExec exec(graph.get());
  exec.run(stream());
  EXPECT_EQ(value(0), 111);
  EXPECT_EQ(value(1), 11);
}

TEST_F(ConditionalTest, BodiesAreCaptured) {
  const TestGraph graph;
  const CUgraphConditionalHandle number = handle(graph.get(), 1);
  const Conditional loop = add_conditional(graph.get(), {}, number, CU_GRAPH_COND_TYPE_WHILE);
  ASSERT_SUCCESS(CU(cuStreamBeginCaptureToGraph)(stream(), loop.bodies[0], nullptr, nullptr, 0,
                                                 CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  add(stream(), 1);
  EXPECT_SUCCESS(launch(condition("count_down"), 1, 1, stream(), number, data(1)));
  CUgraph captured = nullptr;
  ASSERT_SUCCESS(CU(cuStreamEndCapture)(stream(), &captured));
  EXPECT_EQ(captured, loop.bodies[0]);
  const TestGraphExec exec(graph.get());
  value(1) = 4;
  exec.run(stream());
  EXPECT_EQ(value(0), 4);
}

TEST_F(ConditionalTest, ANodeTakesItsPlaceInACapture) {
  const TestGraph graph(capture(stream(), [&] {
    add(stream(), 1);
    CUstreamCaptureStatus status{};
    CUgraph inside = nullptr;
    const CUgraphNode* after = nullptr;
    size_t count = 0;
    ASSERT_SUCCESS(CU(cuStreamGetCaptureInfo)(stream(), &status, nullptr, &inside, &after, nullptr, &count));
    const Conditional branch =
        add_conditional(inside, {after, after + count}, handle(inside, 1), CU_GRAPH_COND_TYPE_IF);
    add_node(branch.bodies[0], {}, 10);
    CUgraphNode node = branch.node;
    ASSERT_SUCCESS(
        CU(cuStreamUpdateCaptureDependencies)(stream(), &node, nullptr, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    add(stream(), 100);
  }));
  EXPECT_EQ(graph.edges(), 2u);
  const TestGraphExec exec(graph.get());
  exec.run(stream());
  EXPECT_EQ(value(0), 111);
}

// The host goes on while the loop runs, and ends it.
TEST_F(ConditionalTest, ALoopRunsBesideTheHost) {
  const TestGraph graph;
  const CUgraphConditionalHandle number = handle(graph.get(), 1);
  const Conditional loop = add_conditional(graph.get(), {}, number, CU_GRAPH_COND_TYPE_WHILE);
  add_kernel(loop.bodies[0], {}, condition("set_from"), number, data(1));
  const TestGraphExec exec(graph.get());
  value(1) = 1;
  ASSERT_SUCCESS(CU(cuGraphLaunch)(exec.get(), stream()));
  EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_READY, CU(cuStreamQuery)(stream()));
  reinterpret_cast<volatile int&>(value(1)) = 0;
  EXPECT_SUCCESS(CU(cuStreamSynchronize)(stream()));
}

TEST_F(ConditionalTest, AnExecutableGraphMayGoWhileItsLoopRuns) {
  if (!is_softgpu()) GTEST_SKIP() << "NVIDIA's driver waits for the loop before it lets the graph go";
  Latch latch(stream());
  {
    const TestGraph graph;
    const CUgraphConditionalHandle number = handle(graph.get(), 1);
    const Conditional loop = add_conditional(graph.get(), {}, number, CU_GRAPH_COND_TYPE_WHILE);
    add_kernel(loop.bodies[0], {add_node(loop.bodies[0], {}, 1)}, condition("count_down"), number, data(1));
    const TestGraphExec exec(graph.get());
    value(1) = 9;
    ASSERT_SUCCESS(CU(cuGraphLaunch)(exec.get(), stream()));
  }
  latch.open();
  EXPECT_SUCCESS(CU(cuStreamSynchronize)(stream()));
  EXPECT_EQ(value(0), 9);
}

TEST_F(ConditionalTest, NodesOfBodiesAreChangedForLaterLaunches) {
  const TestGraph graph;
  const Conditional branch = add_conditional(graph.get(), {}, handle(graph.get(), 1), CU_GRAPH_COND_TYPE_IF);
  const CUgraphNode node = add_node(branch.bodies[0], {}, 1);
  const TestGraphExec exec(graph.get());
  CUdeviceptr target = data();
  int count = 1, amount = 10;
  void* arguments[] = {&target, &count, &amount};
  const CUDA_KERNEL_NODE_PARAMS changed = kernel_params(arguments);
  Latch latch(stream());
  ASSERT_SUCCESS(CU(cuGraphLaunch)(exec.get(), stream()));
  ASSERT_SUCCESS(CU(cuGraphExecKernelNodeSetParams)(exec.get(), node, &changed));
  latch.open();
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream()));
  EXPECT_EQ(value(0), 1);
  exec.run(stream());
  EXPECT_EQ(value(0), 11);
}

// Each turn of the loop begins while the node gets other parameters.
TEST_F(ConditionalTest, NodesOfBodiesAreChangedWhileTheLoopRuns) {
  const TestGraph graph;
  const CUgraphConditionalHandle number = handle(graph.get(), 1);
  const Conditional loop = add_conditional(graph.get(), {}, number, CU_GRAPH_COND_TYPE_WHILE);
  const CUgraphNode counts = add_kernel(loop.bodies[0], {}, condition("count_down"), number, data(1));
  const CUgraphNode adds = add_node(loop.bodies[0], {counts}, 1);
  const TestGraphExec exec(graph.get());
  CUDA_KERNEL_NODE_PARAMS same{};
  ASSERT_SUCCESS(CU(cuGraphKernelNodeGetParams)(adds, &same));
  value(1) = 2000;
  ASSERT_SUCCESS(CU(cuGraphLaunch)(exec.get(), stream()));
  while (CU(cuStreamQuery)(stream()) == CUDA_ERROR_NOT_READY)
    ASSERT_SUCCESS(CU(cuGraphExecKernelNodeSetParams)(exec.get(), adds, &same));
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream()));
  EXPECT_EQ(value(0), 2000);
}

TEST_F(ConditionalTest, AnUpdateTakesBodiesAndDefaults) {
  const auto fill = [&](CUgraph graph, unsigned at_launch, int amount) {
    const Conditional branch = add_conditional(graph, {}, handle(graph, at_launch), CU_GRAPH_COND_TYPE_IF, 2);
    add_node(branch.bodies[0], {}, amount);
    add_node(branch.bodies[1], {}, amount, 1);
  };
  const TestGraph graph, other;
  fill(graph.get(), 1, 1);
  fill(other.get(), 0, 10);
  const TestGraphExec exec(graph.get());
  exec.run(stream());
  EXPECT_EQ(value(0), 1);
  CUgraphExecUpdateResultInfo info{};
  ASSERT_SUCCESS(CU(cuGraphExecUpdate)(exec.get(), other.get(), &info));
  exec.run(stream());
  EXPECT_EQ(value(0), 1);
  EXPECT_EQ(value(1), 10);
}

// The kernels of the other graph set the number by the handle of that one.
TEST_F(ConditionalTest, AnUpdateTakesTheHandleThatTheNewKernelsSet) {
  const auto fill = [&](CUgraph graph, int chosen, int amount) {
    const CUgraphConditionalHandle number = handle(graph);
    const CUgraphNode set = add_kernel(graph, {}, condition("set_condition"), number, chosen);
    const Conditional branch = add_conditional(graph, {set}, number, CU_GRAPH_COND_TYPE_IF, 2);
    add_node(branch.bodies[0], {}, amount);
    add_node(branch.bodies[1], {}, amount, 1);
  };
  const TestGraph graph, other;
  fill(graph.get(), 0, 1);
  fill(other.get(), 1, 10);
  const TestGraphExec exec(graph.get());
  CUgraphExecUpdateResultInfo info{};
  ASSERT_SUCCESS(CU(cuGraphExecUpdate)(exec.get(), other.get(), &info));
  exec.run(stream());
  EXPECT_EQ(value(0), 10);
  EXPECT_EQ(value(1), 0);
}

TEST_F(ConditionalTest, AnUpdateComparesBodies) {
  const TestGraph graph, other;
  const Conditional mine = add_conditional(graph.get(), {}, handle(graph.get(), 1), CU_GRAPH_COND_TYPE_IF);
  const Conditional theirs = add_conditional(other.get(), {}, handle(other.get(), 1), CU_GRAPH_COND_TYPE_IF);
  add_node(mine.bodies[0], {}, 1);
  add_node(theirs.bodies[0], {add_node(theirs.bodies[0], {}, 1)}, 1);
  const TestGraphExec exec(graph.get());
  CUgraphExecUpdateResultInfo info{};
  EXPECT_CUDA_ERROR(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, CU(cuGraphExecUpdate)(exec.get(), other.get(), &info));
  EXPECT_NE(info.result, CU_GRAPH_EXEC_UPDATE_SUCCESS);
  exec.run(stream());
  EXPECT_EQ(value(0), 1);
}

TEST_F(ConditionalTest, GraphsWithConditionsAreNeitherClonedNorChildren) {
  const TestGraph graph, parent;
  add_conditional(graph.get(), {}, handle(graph.get(), 1), CU_GRAPH_COND_TYPE_IF);
  CUgraph clone = nullptr;
  EXPECT_NE(CU(cuGraphClone)(&clone, graph.get()), CUDA_SUCCESS);
  CUgraphNode node = nullptr;
  EXPECT_NE(CU(cuGraphAddChildGraphNode)(&node, parent.get(), nullptr, 0, graph.get()), CUDA_SUCCESS);
}

TEST_F(ConditionalTest, GraphsWithConditionsHaveOneExecutableGraphAtATime) {
  const TestGraph graph;
  const Conditional branch = add_conditional(graph.get(), {}, handle(graph.get(), 1), CU_GRAPH_COND_TYPE_IF);
  add_node(branch.bodies[0], {}, 1);
  {
    const TestGraphExec exec(graph.get());
    CUgraphExec second = nullptr;
    EXPECT_NE(CU(cuGraphInstantiateWithFlags)(&second, graph.get(), 0), CUDA_SUCCESS);
  }
  const TestGraphExec exec(graph.get());
  exec.run(stream());
  EXPECT_EQ(value(0), 1);
}

TEST_F(ConditionalTest, HostFunctionsAreNotForBodies) {
  const TestGraph graph;
  const Conditional branch = add_conditional(graph.get(), {}, handle(graph.get(), 1), CU_GRAPH_COND_TYPE_IF);
  CUDA_HOST_NODE_PARAMS host{[](void*) {}, nullptr};
  CUgraphNode node = nullptr;
  // Whether adding or instantiating says so is the driver's choice.
  CUresult result = CU(cuGraphAddHostNode)(&node, branch.bodies[0], nullptr, 0, &host);
  CUgraphExec exec = nullptr;
  if (result == CUDA_SUCCESS) result = CU(cuGraphInstantiateWithFlags)(&exec, graph.get(), 0);
  EXPECT_NE(result, CUDA_SUCCESS);
}

TEST_F(ConditionalTest, TheParametersAreChecked) {
  const TestGraph graph, other;
  const CUgraphConditionalHandle number = handle(graph.get());
  const auto refused = [&](CUgraphNodeParams request) {
    CUgraphNode node = nullptr;
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuGraphAddNode)(&node, graph.get(), nullptr, nullptr, 0, &request));
  };
  refused(params(number, CU_GRAPH_COND_TYPE_IF, 0));
  refused(params(number, CU_GRAPH_COND_TYPE_IF, 3));
  refused(params(number, CU_GRAPH_COND_TYPE_WHILE, 2));
  refused(params(number, CU_GRAPH_COND_TYPE_SWITCH, 0));
  CUgraphConditionalHandle none = 0;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuGraphConditionalHandleCreate)(&none, graph.get(), context_, 0, 2));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuGraphConditionalHandleCreate)(nullptr, graph.get(), context_, 0, 0));
  EXPECT_TRUE(graph.nodes().empty());
}

TEST_F(ConditionalTest, AHandleWithoutANodeIsNamed) {
  const TestGraph graph;
  handle(graph.get(), 1);
  add_node(graph.get(), {}, 1);
  CUDA_GRAPH_INSTANTIATE_PARAMS request{};
  CUgraphExec exec = nullptr;
  if (CU(cuGraphInstantiateWithParams)(&exec, graph.get(), &request) == CUDA_SUCCESS)
    EXPECT_SUCCESS(CU(cuGraphExecDestroy)(exec));
  else
    EXPECT_EQ(request.result_out, CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED);
}

TEST_F(ConditionalTest, BodiesGoWithTheirNode) {
  const TestGraph graph;
  const Conditional branch = add_conditional(graph.get(), {}, handle(graph.get(), 1), CU_GRAPH_COND_TYPE_IF);
  add_node(branch.bodies[0], {}, 1);
  CUgraphExec exec = nullptr;
  EXPECT_NE(CU(cuGraphInstantiateWithFlags)(&exec, branch.bodies[0], 0), CUDA_SUCCESS);
  EXPECT_SUCCESS(CU(cuGraphDestroyNode)(branch.node));
  EXPECT_TRUE(graph.nodes().empty());
}

}  // namespace
}  // namespace conformance
