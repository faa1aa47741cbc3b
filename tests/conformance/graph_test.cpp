// Graphs that are put together node by node, and their executable form.
#include "conformance/graph.hpp"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <thread>

#include "conformance/gate.hpp"

namespace conformance {
namespace {

using Graphs = GraphTest;

TEST_F(Graphs, NodesRunInTheOrderOfTheirEdges) {
  const TestGraph graph;
  const DeviceMemory memory(4);
  CUDA_MEMSET_NODE_PARAMS fill{};
  fill.dst = memory.get();
  fill.value = 40;
  fill.elementSize = 4;
  fill.width = fill.height = 1;
  CUgraphNode filled = nullptr, copied = nullptr;
  ASSERT_SUCCESS(CU(cuGraphAddMemsetNode)(&filled, graph.get(), nullptr, 0, &fill, context_));
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = memory.get();
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = data_->data();
  copy.WidthInBytes = 4;
  copy.Height = copy.Depth = 1;
  ASSERT_SUCCESS(CU(cuGraphAddMemcpyNode)(&copied, graph.get(), &filled, 1, &copy, context_));
  const CUgraphNode added = add_node(graph.get(), {copied}, 2);
  CUDA_HOST_NODE_PARAMS host{[](void* value) { *static_cast<int*>(value) *= 10; }, data_->data()};
  CUgraphNode called = nullptr;
  ASSERT_SUCCESS(CU(cuGraphAddHostNode)(&called, graph.get(), &added, 1, &host));
  const TestGraphExec exec(graph.get());
  const TestStream stream;
  exec.run(stream.get());
  EXPECT_EQ(value(0), 420);
}

TEST_F(Graphs, AnEmptyGraphIsDoneAtOnce) {
  const TestGraph graph;
  const TestGraphExec exec(graph.get());
  const TestStream stream;
  exec.run(stream.get());
}

TEST_F(Graphs, LaunchesOfOneGraphFollowEachOther) {
  const TestGraph graph;
  add_node(graph.get(), {}, 1);
  const TestGraphExec exec(graph.get());
  const TestStream a, b;
  for (int i = 0; i < 50; ++i) {
    ASSERT_SUCCESS(CU(cuGraphLaunch)(exec.get(), a.get()));
    ASSERT_SUCCESS(CU(cuGraphLaunch)(exec.get(), b.get()));
  }
  ASSERT_SUCCESS(CU(cuCtxSynchronize)());
  EXPECT_EQ(value(0), 100);
}

TEST_F(Graphs, AGraphTakesItsPlaceInTheStream) {
  const TestGraph graph;
  add_node(graph.get(), {}, 1);
  add_node(graph.get(), {}, 1, 1);
  const TestGraphExec exec(graph.get());
  const TestStream stream;
  Latch latch(stream.get());
  ASSERT_SUCCESS(CU(cuGraphLaunch)(exec.get(), stream.get()));
  add(stream.get(), 10);
  EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_READY, CU(cuStreamQuery)(stream.get()));
  EXPECT_EQ(reinterpret_cast<volatile int&>(value(0)), 0);
  latch.open();
  EXPECT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  EXPECT_EQ(value(0), 11);
  EXPECT_EQ(value(1), 1);
}

TEST_F(Graphs, EdgesAreAddedAskedForAndRemoved) {
  const TestGraph graph;
  CUgraphNode a = nullptr, b = nullptr;
  ASSERT_SUCCESS(CU(cuGraphAddEmptyNode)(&a, graph.get(), nullptr, 0));
  ASSERT_SUCCESS(CU(cuGraphAddEmptyNode)(&b, graph.get(), nullptr, 0));
  ASSERT_SUCCESS(CU(cuGraphAddDependencies)(graph.get(), &a, &b, nullptr, 1));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuGraphAddDependencies)(graph.get(), &a, &b, nullptr, 1));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuGraphAddDependencies)(graph.get(), &a, &a, nullptr, 1));
  CUgraphNode found[3] = {b, b, b};
  size_t count = 3;
  ASSERT_SUCCESS(CU(cuGraphNodeGetDependencies)(b, found, nullptr, &count));
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(found[0], a);
  EXPECT_EQ(found[1], nullptr);
  count = 3;
  ASSERT_SUCCESS(CU(cuGraphNodeGetDependentNodes)(a, found, nullptr, &count));
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(found[0], b);
  ASSERT_SUCCESS(CU(cuGraphGetRootNodes)(graph.get(), nullptr, &count));
  EXPECT_EQ(count, 1u);
  ASSERT_SUCCESS(CU(cuGraphRemoveDependencies)(graph.get(), &a, &b, nullptr, 1));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuGraphRemoveDependencies)(graph.get(), &a, &b, nullptr, 1));
  EXPECT_EQ(graph.edges(), 0u);
  ASSERT_SUCCESS(CU(cuGraphDestroyNode)(a));
  EXPECT_EQ(graph.nodes(), std::vector{b});
}

TEST_F(Graphs, ACycleCanNotBeInstantiated) {
  const TestGraph graph;
  CUgraphNode a = nullptr, b = nullptr;
  ASSERT_SUCCESS(CU(cuGraphAddEmptyNode)(&a, graph.get(), nullptr, 0));
  ASSERT_SUCCESS(CU(cuGraphAddEmptyNode)(&b, graph.get(), &a, 1));
  ASSERT_SUCCESS(CU(cuGraphAddDependencies)(graph.get(), &b, &a, nullptr, 1));
  CUgraphExec exec = nullptr;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuGraphInstantiateWithFlags)(&exec, graph.get(), 0));
}

TEST_F(Graphs, InstantiatingNamesWhatIsWrong) {
  const TestGraph graph;
  CUgraphNode first = nullptr, a = nullptr, b = nullptr, behind = nullptr;
  ASSERT_SUCCESS(CU(cuGraphAddEmptyNode)(&first, graph.get(), nullptr, 0));
  ASSERT_SUCCESS(CU(cuGraphAddEmptyNode)(&a, graph.get(), &first, 1));
  ASSERT_SUCCESS(CU(cuGraphAddEmptyNode)(&b, graph.get(), &a, 1));
  ASSERT_SUCCESS(CU(cuGraphAddEmptyNode)(&behind, graph.get(), &b, 1));
  CUDA_GRAPH_INSTANTIATE_PARAMS params{};
  CUgraphExec exec = nullptr;
  params.hErrNode_out = first;
  ASSERT_SUCCESS(CU(cuGraphInstantiateWithParams)(&exec, graph.get(), &params));
  EXPECT_EQ(params.result_out, CUDA_GRAPH_INSTANTIATE_SUCCESS);
  EXPECT_EQ(params.hErrNode_out, nullptr);
  ASSERT_SUCCESS(CU(cuGraphExecDestroy)(exec));
  ASSERT_SUCCESS(CU(cuGraphAddDependencies)(graph.get(), &b, &a, nullptr, 1));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuGraphInstantiateWithParams)(&exec, graph.get(), &params));
  EXPECT_EQ(params.result_out, CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE);
  EXPECT_TRUE(params.hErrNode_out == a || params.hErrNode_out == b);
}

TEST_F(Graphs, UploadsAndPrioritiesAreNoFlagsOfTheExecutableGraph) {
  const TestGraph graph;
  add_node(graph.get(), {}, 1);
  const TestStream stream;
  CUDA_GRAPH_INSTANTIATE_PARAMS params{};
  params.flags = CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD | CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
  params.hUploadStream = stream.get();
  CUgraphExec exec = nullptr;
  ASSERT_SUCCESS(CU(cuGraphInstantiateWithParams)(&exec, graph.get(), &params));
  cuuint64_t flags = 0;
  EXPECT_SUCCESS(CU(cuGraphExecGetFlags)(exec, &flags));
  EXPECT_EQ(flags, 0u);
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  ASSERT_SUCCESS(CU(cuGraphExecDestroy)(exec));
}

TEST_F(Graphs, KernelNodesTellTheirParameters) {
  const TestGraph graph;
  const CUgraphNode node = add_node(graph.get(), {}, 5);
  CUDA_KERNEL_NODE_PARAMS params{};
  ASSERT_SUCCESS(CU(cuGraphKernelNodeGetParams)(node, &params));
  EXPECT_EQ(params.func, module_->function("add_value"));
  EXPECT_EQ(params.blockDimX, 1u);
  ASSERT_NE(params.kernelParams, nullptr);
  EXPECT_EQ(*static_cast<CUdeviceptr*>(params.kernelParams[0]), data());
  EXPECT_EQ(*static_cast<int*>(params.kernelParams[2]), 5);
  CUgraphNodeType type{};
  EXPECT_SUCCESS(CU(cuGraphNodeGetType)(node, &type));
  EXPECT_EQ(type, CU_GRAPH_NODE_TYPE_KERNEL);
  CUDA_HOST_NODE_PARAMS other{};
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuGraphHostNodeGetParams)(node, &other));
}

TEST_F(Graphs, CopyNodesTellTheirRequest) {
  const TestGraph graph;
  const DeviceMemory memory(64);
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = memory.get();
  copy.srcXInBytes = 4;
  copy.srcPitch = 16;
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = data_->data();
  copy.dstPitch = 8;
  copy.WidthInBytes = 8;
  copy.Height = 2;
  copy.Depth = 1;
  CUgraphNode node = nullptr;
  ASSERT_SUCCESS(CU(cuGraphAddMemcpyNode)(&node, graph.get(), nullptr, 0, &copy, context_));
  CUDA_MEMCPY3D told{};
  ASSERT_SUCCESS(CU(cuGraphMemcpyNodeGetParams)(node, &told));
  EXPECT_EQ(told.srcDevice, memory.get());
  EXPECT_EQ(told.srcXInBytes, 4u);
  EXPECT_EQ(told.dstHost, data_->data());
  EXPECT_EQ(told.WidthInBytes, 8u);
  EXPECT_EQ(told.Height, 2u);
}

TEST_F(Graphs, ChangingANodeChangesLaterInstances) {
  const TestGraph graph;
  const CUgraphNode node = add_node(graph.get(), {}, 1);
  const TestGraphExec before(graph.get());
  CUdeviceptr target = data();
  int count = 1, amount = 10;
  void* arguments[] = {&target, &count, &amount};
  const CUDA_KERNEL_NODE_PARAMS params = kernel_params(arguments);
  ASSERT_SUCCESS(CU(cuGraphKernelNodeSetParams)(node, &params));
  const TestGraphExec after(graph.get());
  const TestStream stream;
  before.run(stream.get());
  EXPECT_EQ(value(0), 1);
  after.run(stream.get());
  EXPECT_EQ(value(0), 11);
}

TEST_F(Graphs, ExecutableGraphsAreChangedForLaterLaunches) {
  const TestGraph graph;
  const CUgraphNode node = add_node(graph.get(), {}, 1);
  const TestGraphExec exec(graph.get());
  const TestStream stream;
  CUdeviceptr target = data();
  int count = 1, amount = 10;
  void* arguments[] = {&target, &count, &amount};
  const CUDA_KERNEL_NODE_PARAMS params = kernel_params(arguments);
  Latch latch(stream.get());
  ASSERT_SUCCESS(CU(cuGraphLaunch)(exec.get(), stream.get()));
  ASSERT_SUCCESS(CU(cuGraphExecKernelNodeSetParams)(exec.get(), node, &params));
  latch.open();
  EXPECT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  EXPECT_EQ(value(0), 1);
  exec.run(stream.get());
  EXPECT_EQ(value(0), 11);
  const TestGraph other;
  const CUgraphNode stranger = add_node(other.get(), {}, 1);
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuGraphExecKernelNodeSetParams)(exec.get(), stranger, &params));
}

TEST_F(Graphs, NodesCanBeDisabled) {
  const TestGraph graph;
  const CUgraphNode first = add_node(graph.get(), {}, 1);
  add_node(graph.get(), {first}, 10);
  const TestGraphExec exec(graph.get());
  const TestStream stream;
  unsigned enabled = 7;
  EXPECT_SUCCESS(CU(cuGraphNodeGetEnabled)(exec.get(), first, &enabled));
  EXPECT_EQ(enabled, 1u);
  EXPECT_SUCCESS(CU(cuGraphNodeSetEnabled)(exec.get(), first, 0));
  exec.run(stream.get());
  EXPECT_EQ(value(0), 10);
  EXPECT_SUCCESS(CU(cuGraphNodeSetEnabled)(exec.get(), first, 1));
  exec.run(stream.get());
  EXPECT_EQ(value(0), 21);
}

TEST_F(Graphs, AnUpdateTakesTheWorkOfALikeGraph) {
  const TestGraph graph, other;
  add_node(graph.get(), {add_node(graph.get(), {}, 1)}, 2);
  add_node(other.get(), {add_node(other.get(), {}, 10, 1)}, 20, 1);
  const TestGraphExec exec(graph.get());
  CUgraphExecUpdateResultInfo info{};
  ASSERT_SUCCESS(CU(cuGraphExecUpdate)(exec.get(), other.get(), &info));
  EXPECT_EQ(info.result, CU_GRAPH_EXEC_UPDATE_SUCCESS);
  const TestStream stream;
  exec.run(stream.get());
  EXPECT_EQ(value(0), 0);
  EXPECT_EQ(value(1), 30);
}

TEST_F(Graphs, AnUpdateSaysWhatDiffers) {
  const TestGraph graph;
  const CUgraphNode root = add_node(graph.get(), {}, 1);
  add_node(graph.get(), {root}, 2);
  const TestGraphExec exec(graph.get());
  CUgraphExecUpdateResultInfo info{};
  const auto expect = [&](const TestGraph& other, CUgraphExecUpdateResult result, CUgraphNode node) {
    EXPECT_CUDA_ERROR(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, CU(cuGraphExecUpdate)(exec.get(), other.get(), &info));
    EXPECT_EQ(info.result, result);
    EXPECT_EQ(info.errorNode, node);
  };
  const TestGraph fewer;
  add_node(fewer.get(), {}, 1);
  expect(fewer, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, nullptr);
  const TestGraph typed;
  CUgraphNode empty = nullptr;
  ASSERT_SUCCESS(CU(cuGraphAddEmptyNode)(&empty, typed.get(), nullptr, 0));
  add_node(typed.get(), {empty}, 1);
  expect(typed, CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, empty);
}

TEST_F(Graphs, ClonesAreIndependent) {
  const TestGraph graph;
  const CUgraphNode node = add_node(graph.get(), {}, 1);
  CUgraph handle = nullptr;
  ASSERT_SUCCESS(CU(cuGraphClone)(&handle, graph.get()));
  const TestGraph clone(handle);
  CUgraphNode twin = nullptr;
  ASSERT_SUCCESS(CU(cuGraphNodeFindInClone)(&twin, node, clone.get()));
  EXPECT_NE(twin, node);
  EXPECT_EQ(clone.nodes(), std::vector{twin});
  ASSERT_SUCCESS(CU(cuGraphDestroyNode)(node));
  EXPECT_EQ(clone.nodes().size(), 1u);
  const TestGraph stranger;
  CUgraphNode none = nullptr;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuGraphNodeFindInClone)(&none, twin, stranger.get()));
}

TEST_F(Graphs, ChildGraphsRunInTheirPlace) {
  const TestGraph child, parent;
  add_node(child.get(), {}, 1);
  add_node(child.get(), {}, 1, 1);
  const CUgraphNode before = add_node(parent.get(), {}, 10);
  CUgraphNode node = nullptr;
  ASSERT_SUCCESS(CU(cuGraphAddChildGraphNode)(&node, parent.get(), &before, 1, child.get()));
  add_node(parent.get(), {node}, 100, 1);
  CUgraph inside = nullptr;
  ASSERT_SUCCESS(CU(cuGraphChildGraphNodeGetGraph)(node, &inside));
  EXPECT_NE(inside, child.get());
  const TestGraphExec exec(parent.get());
  const TestStream stream;
  exec.run(stream.get());
  EXPECT_EQ(value(0), 11);
  EXPECT_EQ(value(1), 101);
}

TEST_F(Graphs, AGraphIsNotMovedIntoANodeOfItsOwn) {
  if (!is_softgpu()) GTEST_SKIP() << "not known of other drivers";
  const TestGraph child, parent;
  add_node(child.get(), {}, 1);
  CUgraphNode node = nullptr;
  ASSERT_SUCCESS(CU(cuGraphAddChildGraphNode)(&node, parent.get(), nullptr, 0, child.get()));
  CUgraph inside = nullptr;
  ASSERT_SUCCESS(CU(cuGraphChildGraphNodeGetGraph)(node, &inside));
  CUgraphNodeParams params{};
  params.type = CU_GRAPH_NODE_TYPE_GRAPH;
  params.graph.graph = parent.get();
  params.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuGraphAddNode)(&node, inside, nullptr, nullptr, 0, &params));
  EXPECT_EQ(parent.nodes().size(), 1u);
  const TestGraphExec exec(parent.get());
  exec.run(TestStream().get());
  EXPECT_EQ(value(0), 1);
}

TEST_F(Graphs, EventsOfNodesAreRecordedAndAwaitedAtTheLaunch) {
  const TestGraph graph;
  const TestEvent before, after;
  CUgraphNode wait = nullptr, record = nullptr;
  ASSERT_SUCCESS(CU(cuGraphAddEventWaitNode)(&wait, graph.get(), nullptr, 0, before.get()));
  const CUgraphNode added = add_node(graph.get(), {wait}, 1);
  ASSERT_SUCCESS(CU(cuGraphAddEventRecordNode)(&record, graph.get(), &added, 1, after.get()));
  const TestGraphExec exec(graph.get());
  const TestStream held, stream, follower;
  Latch latch(held.get());
  ASSERT_SUCCESS(CU(cuEventRecord)(before.get(), held.get()));
  ASSERT_SUCCESS(CU(cuGraphLaunch)(exec.get(), stream.get()));
  ASSERT_SUCCESS(CU(cuStreamWaitEvent)(follower.get(), after.get(), 0));
  add(follower.get(), 10);
  EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_READY, CU(cuEventQuery)(after.get()));
  EXPECT_EQ(reinterpret_cast<volatile int&>(value(0)), 0);
  latch.open();
  EXPECT_SUCCESS(CU(cuStreamSynchronize)(follower.get()));
  EXPECT_EQ(value(0), 11);
}

TEST_F(Graphs, AnEventMayBeRecordedAgainByTheLastNode) {
  const TestGraph graph;
  const TestEvent event;
  CUgraphNode first = nullptr, wait = nullptr, last = nullptr;
  ASSERT_SUCCESS(CU(cuGraphAddEventRecordNode)(&first, graph.get(), nullptr, 0, event.get()));
  ASSERT_SUCCESS(CU(cuGraphAddEventWaitNode)(&wait, graph.get(), &first, 1, event.get()));
  const CUgraphNode added = add_node(graph.get(), {wait}, 1);
  ASSERT_SUCCESS(CU(cuGraphAddEventRecordNode)(&last, graph.get(), &added, 1, event.get()));
  const TestGraphExec exec(graph.get());
  const TestStream stream;
  for (int launches = 1; launches <= 2; ++launches) {
    exec.run(stream.get());
    EXPECT_SUCCESS(CU(cuEventQuery)(event.get()));
    EXPECT_EQ(value(0), launches);
  }
}

TEST_F(Graphs, AnExecutableGraphMayGoWhileItRuns) {
  const TestStream stream;
  Latch latch(stream.get());
  {
    const TestGraph graph;
    add_node(graph.get(), {add_node(graph.get(), {}, 1)}, 1);
    const TestGraphExec exec(graph.get());
    ASSERT_SUCCESS(CU(cuGraphLaunch)(exec.get(), stream.get()));
  }
  latch.open();
  EXPECT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  EXPECT_EQ(value(0), 2);
}

TEST_F(Graphs, UserObjectsGoWithTheLastGraph) {
  static int destroyed;
  destroyed = 0;
  CUuserObject object = nullptr;
  ASSERT_SUCCESS(CU(cuUserObjectCreate)(
      &object, &destroyed, [](void* count) { ++*static_cast<int*>(count); }, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  {
    const TestGraph graph;
    ASSERT_SUCCESS(CU(cuGraphRetainUserObject)(graph.get(), object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    if (is_softgpu()) {  // NVIDIA's driver does not count
      EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuGraphReleaseUserObject)(graph.get(), object, 2));
    }
    const TestGraphExec exec(graph.get());
    EXPECT_EQ(destroyed, 0);
  }
  for (int i = 0; i < 5000 && destroyed == 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(destroyed, 1);
}

TEST_F(Graphs, AnUpdateTakesTheUserObjectsToo) {
  static std::atomic<int> destroyed;
  destroyed = 0;
  CUuserObject object = nullptr;
  ASSERT_SUCCESS(CU(cuUserObjectCreate)(
      &object, &destroyed, [](void* count) { ++*static_cast<std::atomic<int>*>(count); }, 1,
      CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  std::unique_ptr<TestGraphExec> exec;
  {
    const TestGraph graph;
    add_node(graph.get(), {}, 1);
    ASSERT_SUCCESS(CU(cuGraphRetainUserObject)(graph.get(), object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    exec = std::make_unique<TestGraphExec>(graph.get());
  }
  EXPECT_EQ(destroyed, 0) << "the executable graph has it";
  const TestGraph other;
  add_node(other.get(), {}, 2);
  CUgraphExecUpdateResultInfo info{};
  ASSERT_SUCCESS(CU(cuGraphExecUpdate)(exec->get(), other.get(), &info));
  for (int i = 0; i < 5000 && destroyed == 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(destroyed, 1);
}

TEST_F(Graphs, ADrawingSaysWhatItsFlagsAskFor) {
  const TestGraph graph;
  const CUgraphNode node = add_node(graph.get(), {}, 1);
  CUDA_HOST_NODE_PARAMS host{[](void*) {}, nullptr};
  CUgraphNode called = nullptr;
  ASSERT_SUCCESS(CU(cuGraphAddHostNode)(&called, graph.get(), &node, 1, &host));
  const std::string path = testing::TempDir() + "flags.dot";
  const auto drawn = [&](unsigned flags) {
    EXPECT_SUCCESS(CU(cuGraphDebugDotPrint)(graph.get(), path.c_str(), flags));
    std::ifstream file(path);
    return std::string{std::istreambuf_iterator<char>(file), {}};
  };
  const size_t plain = drawn(0).size();
  for (const unsigned flag : {CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE, CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_PARAMS,
                              CU_GRAPH_DEBUG_DOT_FLAGS_HOST_NODE_PARAMS, CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES})
    EXPECT_GT(drawn(flag).size(), plain) << flag;
  std::remove(path.c_str());
}

TEST_F(Graphs, AGraphCanBeDrawn) {
  const TestGraph graph;
  add_node(graph.get(), {add_node(graph.get(), {}, 1)}, 1);
  const std::string path = testing::TempDir() + "graph.dot";
  ASSERT_SUCCESS(CU(cuGraphDebugDotPrint)(graph.get(), path.c_str(), CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE));
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(text.find("digraph"), std::string::npos);
  EXPECT_NE(text.find("add_value"), std::string::npos);
  EXPECT_NE(text.find("->"), std::string::npos);
  std::remove(path.c_str());
}

// What NVIDIA's driver does with such a graph is not documented.
TEST_F(Graphs, AGraphMayOutliveTheContextOfItsKernels) {
  if (!is_softgpu()) GTEST_SKIP() << "undefined on other drivers";
  CUcontext context = nullptr;
  ASSERT_SUCCESS(CU(cuCtxCreate)(&context, nullptr, 0, device_));
  const TestGraph graph;
  {
    CUmodule module = nullptr;
    ASSERT_SUCCESS(CU(cuModuleLoadData)(&module, kKernels));
    CUDA_KERNEL_NODE_PARAMS params = kernel_params(nullptr);
    ASSERT_SUCCESS(CU(cuModuleGetFunction)(&params.func, module, "bounded"));
    CUgraphNode node = nullptr;
    ASSERT_SUCCESS(CU(cuGraphAddKernelNode)(&node, graph.get(), nullptr, 0, &params));
  }
  const TestGraphExec exec(graph.get());
  ASSERT_SUCCESS(CU(cuCtxDestroy)(context));
  ASSERT_SUCCESS(CU(cuCtxSetCurrent)(context_));
  const TestStream stream;
  EXPECT_CUDA_ERROR(CUDA_ERROR_CONTEXT_IS_DESTROYED, CU(cuGraphLaunch)(exec.get(), stream.get()));
}

// Leaves a context that can't be used, in a process of its own.
class FailingGraph : public GraphTest {
 protected:
  void TearDown() override {}
};

TEST_F(Graphs, MemoryThatIsGoneIsAnErrorOfTheLaunch) {
  EXPECT_EQ(run_in_child("FailingGraph.DISABLED_SetsMemoryThatIsGone"), 0);
}
TEST_F(FailingGraph, DISABLED_SetsMemoryThatIsGone) {
  CUdeviceptr memory = 0;
  ASSERT_SUCCESS(CU(cuMemAlloc)(&memory, size_t{64} << 20));
  const TestStream stream;
  const TestGraph graph(
      capture(stream.get(), [&] { EXPECT_SUCCESS(CU(cuMemsetD32Async)(memory, 7, 16 << 20, stream.get())); }));
  const TestGraphExec exec(graph.get());
  ASSERT_SUCCESS(CU(cuMemFree)(memory));
  ASSERT_SUCCESS(CU(cuGraphLaunch)(exec.get(), stream.get()));
  EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, CU(cuStreamSynchronize)(stream.get()));
}

TEST_F(Graphs, DestroyedHandlesAreNoLongerValid) {
  CUgraph graph = nullptr;
  ASSERT_SUCCESS(CU(cuGraphCreate)(&graph, 0));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuGraphCreate)(&graph, 1));
  EXPECT_SUCCESS(CU(cuGraphDestroy)(graph));
}

}  // namespace
}  // namespace conformance
