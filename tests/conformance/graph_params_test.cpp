// What nodes are told to do: read back, changed in the graph, and changed in the executable graph, by the functions of
// their type and by those for all types.
#include <atomic>
#include <chrono>
#include <thread>

#include "conformance/conditional.hpp"
#include "conformance/gate.hpp"

namespace conformance {
namespace {

class GraphParams : public GraphTest {
 protected:
  void SetUp() override {
    GraphTest::SetUp();
    stream_ = std::make_unique<TestStream>();
  }
  void TearDown() override {
    stream_.reset();
    GraphTest::TearDown();
  }
  void run(const TestGraphExec& exec) const { exec.run(stream_->get()); }
  void run(const TestGraph& graph) const { run(TestGraphExec(graph.get())); }

  CUDA_MEMSET_NODE_PARAMS fill(size_t index, unsigned number, size_t width = 1) const {
    CUDA_MEMSET_NODE_PARAMS params{};
    params.dst = data(index);
    params.value = number;
    params.elementSize = sizeof(int);
    params.width = width;
    params.height = 1;
    return params;
  }
  CUDA_MEMCPY3D copy(size_t to, size_t from) const {
    CUDA_MEMCPY3D params{};
    params.srcMemoryType = params.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    params.srcDevice = data(from);
    params.dstDevice = data(to);
    params.WidthInBytes = sizeof(int);
    params.Height = params.Depth = 1;
    return params;
  }
  CUgraphNode add_fill(CUgraph graph, const CUDA_MEMSET_NODE_PARAMS& params) const {
    CUgraphNode node = nullptr;
    EXPECT_SUCCESS(CU(cuGraphAddMemsetNode)(&node, graph, nullptr, 0, &params, context_));
    return node;
  }
  CUgraphNode add_copy(CUgraph graph, const CUDA_MEMCPY3D& params) const {
    CUgraphNode node = nullptr;
    EXPECT_SUCCESS(CU(cuGraphAddMemcpyNode)(&node, graph, nullptr, 0, &params, context_));
    return node;
  }
  CUDA_HOST_NODE_PARAMS increment(size_t index) const {
    return {[](void* number) { ++*static_cast<int*>(number); }, &value(index)};
  }
  CUgraphNode add_host(CUgraph graph, size_t index) const {
    const CUDA_HOST_NODE_PARAMS params = increment(index);
    CUgraphNode node = nullptr;
    EXPECT_SUCCESS(CU(cuGraphAddHostNode)(&node, graph, nullptr, 0, &params));
    return node;
  }
  // Writes a number.
  CUstreamBatchMemOpParams write(size_t index, unsigned number) const {
    CUstreamBatchMemOpParams params{};
    params.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    params.writeValue.address = data(index);
    params.writeValue.value = number;
    return params;
  }
  CUDA_BATCH_MEM_OP_NODE_PARAMS batch(std::vector<CUstreamBatchMemOpParams>& operations) const {
    CUDA_BATCH_MEM_OP_NODE_PARAMS params{};
    params.ctx = context_;
    params.count = static_cast<unsigned>(operations.size());
    params.paramArray = operations.data();
    return params;
  }
  CUgraphNode add_batch(CUgraph graph, std::vector<CUstreamBatchMemOpParams> operations) const {
    const CUDA_BATCH_MEM_OP_NODE_PARAMS params = batch(operations);
    CUgraphNode node = nullptr;
    EXPECT_SUCCESS(CU(cuGraphAddBatchMemOpNode)(&node, graph, nullptr, 0, &params));
    return node;
  }
  static bool is_recorded(const TestEvent& event) { return CU(cuEventQuery)(event.get()) == CUDA_SUCCESS; }

  std::unique_ptr<TestStream> stream_;
};

// ---- Fills ----------------------------------------------------------------------------------------------------------

TEST_F(GraphParams, AFillTellsWhatItDoes) {
  const TestGraph graph;
  const CUgraphNode node = add_fill(graph.get(), fill(2, 7, 3));
  CUDA_MEMSET_NODE_PARAMS params{};
  ASSERT_SUCCESS(CU(cuGraphMemsetNodeGetParams)(node, &params));
  EXPECT_EQ(params.dst, data(2));
  EXPECT_EQ(params.value, 7u);
  EXPECT_EQ(params.elementSize, sizeof(int));
  EXPECT_EQ(params.width, 3u);
  EXPECT_EQ(params.height, 1u);
}

TEST_F(GraphParams, AFillIsChangedInTheGraph) {
  const TestGraph graph;
  const CUgraphNode node = add_fill(graph.get(), fill(0, 7));
  const TestGraphExec before(graph.get());
  const CUDA_MEMSET_NODE_PARAMS next = fill(1, 8, 2);
  ASSERT_SUCCESS(CU(cuGraphMemsetNodeSetParams)(node, &next));
  run(graph);
  EXPECT_EQ(value(0), 0);
  EXPECT_EQ(value(1), 8);
  EXPECT_EQ(value(2), 8);
  run(before);
  EXPECT_EQ(value(0), 7) << "what was instantiated before is as before";
}

TEST_F(GraphParams, AFillIsChangedInTheExecutableGraph) {
  const TestGraph graph;
  const CUgraphNode node = add_fill(graph.get(), fill(0, 7));
  const TestGraphExec exec(graph.get());
  const CUDA_MEMSET_NODE_PARAMS next = fill(1, 8);
  ASSERT_SUCCESS(CU(cuGraphExecMemsetNodeSetParams)(exec.get(), node, &next, context_));
  run(exec);
  EXPECT_EQ(value(0), 0);
  EXPECT_EQ(value(1), 8);
  run(graph);
  EXPECT_EQ(value(0), 7) << "the graph is as before";
}

TEST_F(GraphParams, AFillOfNothingIsRefused) {
  const TestGraph graph;
  const CUgraphNode node = add_fill(graph.get(), fill(0, 7));
  CUDA_MEMSET_NODE_PARAMS wrong = fill(0, 7);
  wrong.elementSize = 3;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuGraphMemsetNodeSetParams)(node, &wrong));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuGraphMemsetNodeSetParams)(node, nullptr));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuGraphMemsetNodeGetParams)(node, nullptr));
  run(graph);
  EXPECT_EQ(value(0), 7);
}

// ---- Copies ---------------------------------------------------------------------------------------------------------

TEST_F(GraphParams, ACopyIsChangedInTheGraph) {
  value(4) = 40;
  value(5) = 50;
  const TestGraph graph;
  const CUgraphNode node = add_copy(graph.get(), copy(0, 4));
  const CUDA_MEMCPY3D next = copy(1, 5);
  ASSERT_SUCCESS(CU(cuGraphMemcpyNodeSetParams)(node, &next));
  CUDA_MEMCPY3D params{};
  ASSERT_SUCCESS(CU(cuGraphMemcpyNodeGetParams)(node, &params));
  EXPECT_EQ(params.dstDevice, data(1));
  EXPECT_EQ(params.srcDevice, data(5));
  run(graph);
  EXPECT_EQ(value(0), 0);
  EXPECT_EQ(value(1), 50);
}

TEST_F(GraphParams, ACopyIsChangedInTheExecutableGraph) {
  value(4) = 40;
  value(5) = 50;
  const TestGraph graph;
  const CUgraphNode node = add_copy(graph.get(), copy(0, 4));
  const TestGraphExec exec(graph.get());
  const CUDA_MEMCPY3D next = copy(1, 5);
  ASSERT_SUCCESS(CU(cuGraphExecMemcpyNodeSetParams)(exec.get(), node, &next, context_));
  run(exec);
  EXPECT_EQ(value(0), 0);
  EXPECT_EQ(value(1), 50);
}

// ---- Functions of the host ------------------------------------------------------------------------------------------

TEST_F(GraphParams, AFunctionOfTheHostIsChangedInTheGraph) {
  const TestGraph graph;
  const CUgraphNode node = add_host(graph.get(), 0);
  const CUDA_HOST_NODE_PARAMS next = increment(1);
  ASSERT_SUCCESS(CU(cuGraphHostNodeSetParams)(node, &next));
  CUDA_HOST_NODE_PARAMS params{};
  ASSERT_SUCCESS(CU(cuGraphHostNodeGetParams)(node, &params));
  EXPECT_EQ(params.fn, next.fn);
  EXPECT_EQ(params.userData, next.userData);
  run(graph);
  EXPECT_EQ(value(0), 0);
  EXPECT_EQ(value(1), 1);
}

TEST_F(GraphParams, AFunctionOfTheHostIsChangedInTheExecutableGraph) {
  const TestGraph graph;
  const CUgraphNode node = add_host(graph.get(), 0);
  const TestGraphExec exec(graph.get());
  const CUDA_HOST_NODE_PARAMS next = increment(1);
  ASSERT_SUCCESS(CU(cuGraphExecHostNodeSetParams)(exec.get(), node, &next));
  run(exec);
  EXPECT_EQ(value(0), 0);
  EXPECT_EQ(value(1), 1);
}

// ---- Events ---------------------------------------------------------------------------------------------------------

TEST_F(GraphParams, ARecordTellsItsEventAndGetsAnother) {
  const TestEvent first, second, third;
  const TestGraph graph;
  CUgraphNode node = nullptr;
  CUevent told = nullptr;
  ASSERT_SUCCESS(CU(cuGraphAddEventRecordNode)(&node, graph.get(), nullptr, 0, first.get()));
  ASSERT_SUCCESS(CU(cuGraphEventRecordNodeGetEvent)(node, &told));
  EXPECT_EQ(told, first.get());
  ASSERT_SUCCESS(CU(cuGraphEventRecordNodeSetEvent)(node, second.get()));
  ASSERT_SUCCESS(CU(cuGraphEventRecordNodeGetEvent)(node, &told));
  EXPECT_EQ(told, second.get());
  const TestStream held;
  Latch latch(held.get());
  for (const TestEvent* event : {&first, &second, &third}) ASSERT_SUCCESS(CU(cuEventRecord)(event->get(), held.get()));
  const TestGraphExec exec(graph.get());
  run(exec);
  EXPECT_FALSE(is_recorded(first));
  EXPECT_TRUE(is_recorded(second));
  ASSERT_SUCCESS(CU(cuGraphExecEventRecordNodeSetEvent)(exec.get(), node, third.get()));
  EXPECT_FALSE(is_recorded(third));
  run(exec);
  EXPECT_TRUE(is_recorded(third));
  latch.open();
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(held.get()));
}

TEST_F(GraphParams, AWaitTellsItsEventAndGetsAnother) {
  const TestEvent never, past;
  const TestGraph graph;
  CUgraphNode node = nullptr;
  CUevent told = nullptr;
  ASSERT_SUCCESS(CU(cuGraphAddEventWaitNode)(&node, graph.get(), nullptr, 0, never.get()));
  ASSERT_SUCCESS(CU(cuGraphEventWaitNodeGetEvent)(node, &told));
  EXPECT_EQ(told, never.get());
  const TestStream held;
  Latch latch(held.get());
  ASSERT_SUCCESS(CU(cuEventRecord)(never.get(), held.get()));
  ASSERT_SUCCESS(CU(cuEventRecord)(past.get(), stream_->get()));
  {
    const TestGraphExec exec(graph.get());
    ASSERT_SUCCESS(CU(cuGraphExecEventWaitNodeSetEvent)(exec.get(), node, past.get()));
    run(exec);
  }
  ASSERT_SUCCESS(CU(cuGraphEventWaitNodeSetEvent)(node, past.get()));
  ASSERT_SUCCESS(CU(cuGraphEventWaitNodeGetEvent)(node, &told));
  EXPECT_EQ(told, past.get());
  run(graph);
  latch.open();
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(held.get()));
}

// ---- Memory operations ----------------------------------------------------------------------------------------------

TEST_F(GraphParams, MemoryOperationsAreDoneInOrder) {
  const TestGraph graph;
  add_batch(graph.get(), {write(0, 5), write(1, 6), write(0, 7)});
  run(graph);
  EXPECT_EQ(value(0), 7);
  EXPECT_EQ(value(1), 6);
}

TEST_F(GraphParams, MemoryOperationsAreToldAndChanged) {
  const TestGraph graph;
  const CUgraphNode node = add_batch(graph.get(), {write(0, 5), write(1, 6)});
  EXPECT_EQ(type_of(node), CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
  CUDA_BATCH_MEM_OP_NODE_PARAMS told{};
  ASSERT_SUCCESS(CU(cuGraphBatchMemOpNodeGetParams)(node, &told));
  ASSERT_EQ(told.count, 2u);
  EXPECT_EQ(told.paramArray[1].writeValue.address, data(1));
  EXPECT_EQ(told.paramArray[1].writeValue.value, 6u);
  std::vector<CUstreamBatchMemOpParams> next{write(2, 9)};
  const CUDA_BATCH_MEM_OP_NODE_PARAMS params = batch(next);
  const TestGraphExec exec(graph.get());
  ASSERT_SUCCESS(CU(cuGraphBatchMemOpNodeSetParams)(node, &params));
  run(graph);
  EXPECT_EQ(value(0), 0);
  EXPECT_EQ(value(2), 9);
  run(exec);
  EXPECT_EQ(value(0), 5);
  EXPECT_EQ(value(1), 6);
}

TEST_F(GraphParams, MemoryOperationsAreChangedInTheExecutableGraph) {
  const TestGraph graph;
  const CUgraphNode node = add_batch(graph.get(), {write(0, 5)});
  const TestGraphExec exec(graph.get());
  std::vector<CUstreamBatchMemOpParams> next{write(0, 9)};
  const CUDA_BATCH_MEM_OP_NODE_PARAMS params = batch(next);
  ASSERT_SUCCESS(CU(cuGraphExecBatchMemOpNodeSetParams)(exec.get(), node, &params));
  run(exec);
  EXPECT_EQ(value(0), 9);
}

// ---- Child graphs ---------------------------------------------------------------------------------------------------

TEST_F(GraphParams, AChildGraphIsReplacedInTheExecutableGraph) {
  const TestGraph child, like, unlike;
  add_node(child.get(), {}, 1);
  add_node(like.get(), {}, 2);
  add_node(unlike.get(), {add_node(unlike.get(), {}, 3)}, 4);
  const TestGraph graph;
  CUgraphNode node = nullptr;
  ASSERT_SUCCESS(CU(cuGraphAddChildGraphNode)(&node, graph.get(), nullptr, 0, child.get()));
  const TestGraphExec exec(graph.get());
  ASSERT_SUCCESS(CU(cuGraphExecChildGraphNodeSetParams)(exec.get(), node, like.get()));
  run(exec);
  EXPECT_EQ(value(0), 2);
  EXPECT_NE(CU(cuGraphExecChildGraphNodeSetParams)(exec.get(), node, unlike.get()), CUDA_SUCCESS);
  run(exec);
  EXPECT_EQ(value(0), 4);
}

// ---- Attributes of kernel nodes -------------------------------------------------------------------------------------

TEST_F(GraphParams, AKernelNodeHasAttributes) {
  const TestGraph graph;
  const CUgraphNode node = add_node(graph.get(), {}, 1);
  CUkernelNodeAttrValue attribute{};
  ASSERT_SUCCESS(CU(cuGraphKernelNodeGetAttribute)(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &attribute));
  EXPECT_EQ(attribute.cooperative, 0);
  attribute.cooperative = 1;
  ASSERT_SUCCESS(CU(cuGraphKernelNodeSetAttribute)(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &attribute));
  attribute = {};
  ASSERT_SUCCESS(CU(cuGraphKernelNodeGetAttribute)(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &attribute));
  EXPECT_EQ(attribute.cooperative, 1);
  run(graph);
  EXPECT_EQ(value(0), 1);
}

TEST_F(GraphParams, AttributesAreCopiedFromOneKernelNodeToAnother) {
  const TestGraph graph;
  const CUgraphNode from = add_node(graph.get(), {}, 1), to = add_node(graph.get(), {from}, 2);
  CUkernelNodeAttrValue attribute{};
  attribute.priority = -1;
  ASSERT_SUCCESS(CU(cuGraphKernelNodeSetAttribute)(from, CU_LAUNCH_ATTRIBUTE_PRIORITY, &attribute));
  ASSERT_SUCCESS(CU(cuGraphKernelNodeCopyAttributes)(to, from));
  attribute = {};
  ASSERT_SUCCESS(CU(cuGraphKernelNodeGetAttribute)(to, CU_LAUNCH_ATTRIBUTE_PRIORITY, &attribute));
  EXPECT_EQ(attribute.priority, -1);
  run(graph);
  EXPECT_EQ(value(0), 3);
}

TEST_F(GraphParams, AttributesOfTheGraphAreNotThoseOfTheExecutableOne) {
  if (!is_softgpu()) GTEST_SKIP() << "not known of other drivers";
  const TestGraph graph;
  const CUgraphNode node = add_node(graph.get(), {}, 1);
  const TestGraphExec exec(graph.get());
  CUkernelNodeAttrValue attribute{};
  attribute.cooperative = 1;
  ASSERT_SUCCESS(CU(cuGraphKernelNodeSetAttribute)(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &attribute));
  CUDA_KERNEL_NODE_PARAMS params{};
  ASSERT_SUCCESS(CU(cuGraphKernelNodeGetParams)(node, &params));
  EXPECT_SUCCESS(CU(cuGraphExecKernelNodeSetParams)(exec.get(), node, &params));
  run(exec);
  EXPECT_EQ(value(0), 1);
}

TEST_F(GraphParams, OtherNodesHaveNoAttributes) {
  const TestGraph graph;
  const CUgraphNode node = add_fill(graph.get(), fill(0, 7));
  CUkernelNodeAttrValue attribute{};
  EXPECT_NE(CU(cuGraphKernelNodeGetAttribute)(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &attribute), CUDA_SUCCESS);
  EXPECT_NE(CU(cuGraphKernelNodeSetAttribute)(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &attribute), CUDA_SUCCESS);
}

// ---- Memory of graphs -----------------------------------------------------------------------------------------------

TEST_F(GraphParams, AnAllocationTellsWhatItAllocatesAndAFreeWhat) {
  const TestGraph graph;
  CUDA_MEM_ALLOC_NODE_PARAMS request{};
  request.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  request.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  request.bytesize = 1000;
  CUgraphNode allocated = nullptr, freed = nullptr;
  ASSERT_SUCCESS(CU(cuGraphAddMemAllocNode)(&allocated, graph.get(), nullptr, 0, &request));
  ASSERT_SUCCESS(CU(cuGraphAddMemFreeNode)(&freed, graph.get(), &allocated, 1, request.dptr));
  CUDA_MEM_ALLOC_NODE_PARAMS told{};
  ASSERT_SUCCESS(CU(cuGraphMemAllocNodeGetParams)(allocated, &told));
  EXPECT_EQ(told.dptr, request.dptr);
  EXPECT_EQ(told.poolProps.location.type, CU_MEM_LOCATION_TYPE_DEVICE);
  EXPECT_GE(told.bytesize, 1000u);
  CUdeviceptr freed_address = 0;
  ASSERT_SUCCESS(CU(cuGraphMemFreeNodeGetParams)(freed, &freed_address));
  EXPECT_EQ(freed_address, request.dptr);
  EXPECT_NE(CU(cuGraphMemAllocNodeGetParams)(freed, &told), CUDA_SUCCESS) << "a node of another type";
}

// ---- The functions for all types ------------------------------------------------------------------------------------

TEST_F(GraphParams, AnyNodeIsChangedInTheGraph) {
  value(4) = 40;
  const TestGraph graph;
  const CUgraphNode filled = add_fill(graph.get(), fill(0, 7)), copied = add_copy(graph.get(), copy(1, 5)),
                    called = add_host(graph.get(), 2);
  CUgraphNodeParams params{};
  params.type = CU_GRAPH_NODE_TYPE_MEMSET;
  params.memset.dst = data(0);
  params.memset.value = 8;
  params.memset.elementSize = sizeof(int);
  params.memset.width = params.memset.height = 1;
  params.memset.ctx = context_;
  ASSERT_SUCCESS(CU(cuGraphNodeSetParams)(filled, &params));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuGraphNodeSetParams)(copied, &params)) << "parameters of a fill";
  params = {};
  params.type = CU_GRAPH_NODE_TYPE_MEMCPY;
  params.memcpy.copyParams = copy(1, 4);
  params.memcpy.copyCtx = context_;
  ASSERT_SUCCESS(CU(cuGraphNodeSetParams)(copied, &params));
  params = {};
  params.type = CU_GRAPH_NODE_TYPE_HOST;
  params.host.fn = increment(3).fn;
  params.host.userData = increment(3).userData;
  ASSERT_SUCCESS(CU(cuGraphNodeSetParams)(called, &params));
  run(graph);
  EXPECT_EQ(value(0), 8);
  EXPECT_EQ(value(1), 40);
  EXPECT_EQ(value(2), 0);
  EXPECT_EQ(value(3), 1);
}

TEST_F(GraphParams, AnyNodeIsChangedInTheExecutableGraph) {
  const TestGraph graph;
  const CUgraphNode filled = add_fill(graph.get(), fill(0, 7)), called = add_host(graph.get(), 2);
  const TestGraphExec exec(graph.get());
  CUgraphNodeParams params{};
  params.type = CU_GRAPH_NODE_TYPE_MEMSET;
  params.memset.dst = data(1);
  params.memset.value = 8;
  params.memset.elementSize = sizeof(int);
  params.memset.width = params.memset.height = 1;
  params.memset.ctx = context_;
  ASSERT_SUCCESS(CU(cuGraphExecNodeSetParams)(exec.get(), filled, &params));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuGraphExecNodeSetParams)(exec.get(), called, &params));
  run(exec);
  EXPECT_EQ(value(0), 0);
  EXPECT_EQ(value(1), 8);
  EXPECT_EQ(value(2), 1);
}

// ---- User objects ---------------------------------------------------------------------------------------------------

TEST_F(GraphParams, UserObjectsAreCounted) {
  static std::atomic<int> destroyed;
  destroyed = 0;
  CUuserObject object = nullptr;
  ASSERT_SUCCESS(CU(cuUserObjectCreate)(
      &object, &destroyed, [](void* count) { ++*static_cast<std::atomic<int>*>(count); }, 1,
      CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  ASSERT_SUCCESS(CU(cuUserObjectRetain)(object, 2));
  ASSERT_SUCCESS(CU(cuUserObjectRelease)(object, 2));
  EXPECT_EQ(destroyed, 0);
  {
    const TestGraph graph;
    ASSERT_SUCCESS(CU(cuGraphRetainUserObject)(graph.get(), object, 1, 0));
    ASSERT_SUCCESS(CU(cuUserObjectRelease)(object, 1));
    EXPECT_EQ(destroyed, 0) << "the graph has one of its own";
    ASSERT_SUCCESS(CU(cuGraphReleaseUserObject)(graph.get(), object, 1));
    for (int i = 0; i < 5000 && destroyed == 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_EQ(destroyed, 1);
  }
}

}  // namespace
}  // namespace conformance
