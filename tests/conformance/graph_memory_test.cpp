// Memory that graphs allocate and free.
#include <memory>

#include "conformance/graph.hpp"

namespace conformance {
namespace {

class GraphMemory : public GraphTest {
 protected:
  CUDA_MEM_ALLOC_NODE_PARAMS params(size_t bytes) const {
    CUDA_MEM_ALLOC_NODE_PARAMS params{};
    params.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    params.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    params.poolProps.location.id = device_;
    params.bytesize = bytes;
    return params;
  }
  // A graph that allocates, fills and copies to the host.
  struct Allocation {
    CUdeviceptr pointer = 0;
    CUgraphNode last = nullptr;
  };
  Allocation add_allocation(CUgraph graph) const {
    CUDA_MEM_ALLOC_NODE_PARAMS request = params(4);
    CUgraphNode allocated = nullptr, filled = nullptr;
    EXPECT_SUCCESS(CU(cuGraphAddMemAllocNode)(&allocated, graph, nullptr, 0, &request));
    CUDA_MEMSET_NODE_PARAMS fill{};
    fill.dst = request.dptr;
    fill.value = 9;
    fill.elementSize = 4;
    fill.width = fill.height = 1;
    EXPECT_SUCCESS(CU(cuGraphAddMemsetNode)(&filled, graph, &allocated, 1, &fill, context_));
    return {request.dptr, filled};
  }
  cuuint64_t attribute(CUgraphMem_attribute attribute) const {
    cuuint64_t value = 0;
    EXPECT_SUCCESS(CU(cuDeviceGetGraphMemAttribute)(device_, attribute, &value));
    return value;
  }
  const TestStream& stream() {
    if (stream_ == nullptr) stream_ = std::make_unique<TestStream>();
    return *stream_;
  }
  void TearDown() override {
    stream_.reset();
    EXPECT_SUCCESS(CU(cuDeviceGraphMemTrim)(device_));
    GraphTest::TearDown();
  }

 private:
  std::unique_ptr<TestStream> stream_;
};

TEST_F(GraphMemory, IsAllocatedAndFreedByCapturedWork) {
  const TestGraph graph(capture(stream().get(), [&] {
    CUdeviceptr scratch = 0;
    ASSERT_SUCCESS(CU(cuMemAllocAsync)(&scratch, 64, stream().get()));
    ASSERT_SUCCESS(CU(cuMemsetD32Async)(scratch, 5, 16, stream().get()));
    ASSERT_SUCCESS(CU(cuMemcpyAsync)(data(), scratch, 64, stream().get()));
    ASSERT_SUCCESS(CU(cuMemFreeAsync)(scratch, stream().get()));
  }));
  std::vector<CUgraphNodeType> types;
  for (const CUgraphNode node : graph.nodes()) types.push_back(type_of(node));
  EXPECT_EQ(types, (std::vector{CU_GRAPH_NODE_TYPE_MEM_ALLOC, CU_GRAPH_NODE_TYPE_MEMSET, CU_GRAPH_NODE_TYPE_MEMCPY,
                                CU_GRAPH_NODE_TYPE_MEM_FREE}));
  const TestGraphExec exec(graph.get());
  exec.run(stream().get());
  exec.run(stream().get());
  EXPECT_EQ(value(15), 5);
}

TEST_F(GraphMemory, OutlivesTheLaunchUntilItIsFreed) {
  const TestGraph graph;
  const Allocation allocation = add_allocation(graph.get());
  const TestGraphExec exec(graph.get());
  exec.run(stream().get());
  int result = 0;
  ASSERT_SUCCESS(CU(cuMemcpyDtoH)(&result, allocation.pointer, sizeof result));
  EXPECT_EQ(result, 9);
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuGraphLaunch)(exec.get(), stream().get()));
  ASSERT_SUCCESS(CU(cuMemFreeAsync)(allocation.pointer, stream().get()));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemFreeAsync)(allocation.pointer, stream().get()));
  exec.run(stream().get());
  ASSERT_SUCCESS(CU(cuMemFree)(allocation.pointer));
}

TEST_F(GraphMemory, CanBeFreedByTheNextLaunch) {
  const TestGraph graph;
  const Allocation allocation = add_allocation(graph.get());
  const TestGraphExec exec(graph.get(), CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH);
  cuuint64_t flags = 0;
  EXPECT_SUCCESS(CU(cuGraphExecGetFlags)(exec.get(), &flags));
  EXPECT_EQ(flags, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH);
  exec.run(stream().get());
  exec.run(stream().get());
  ASSERT_SUCCESS(CU(cuMemFreeAsync)(allocation.pointer, stream().get()));
}

TEST_F(GraphMemory, CanBeFreedByAnotherGraph) {
  const TestGraph allocating, freeing;
  const Allocation allocation = add_allocation(allocating.get());
  CUgraphNode node = nullptr;
  ASSERT_SUCCESS(CU(cuGraphAddMemFreeNode)(&node, freeing.get(), nullptr, 0, allocation.pointer));
  CUdeviceptr pointer = 0;
  EXPECT_SUCCESS(CU(cuGraphMemFreeNodeGetParams)(node, &pointer));
  EXPECT_EQ(pointer, allocation.pointer);
  const TestGraphExec allocate(allocating.get()), free(freeing.get());
  for (int i = 0; i < 2; ++i) {
    allocate.run(stream().get());
    free.run(stream().get());
  }
}

TEST_F(GraphMemory, IsFreedOnceInAGraph) {
  const TestGraph graph;
  const Allocation allocation = add_allocation(graph.get());
  CUgraphNode node = nullptr;
  ASSERT_SUCCESS(CU(cuGraphAddMemFreeNode)(&node, graph.get(), &allocation.last, 1, allocation.pointer));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE,
                    CU(cuGraphAddMemFreeNode)(&node, graph.get(), &allocation.last, 1, allocation.pointer));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuGraphAddMemFreeNode)(&node, graph.get(), nullptr, 0, 0));
}

TEST_F(GraphMemory, IsCountedFromTheFirstLaunch) {
  EXPECT_SUCCESS(CU(cuDeviceGraphMemTrim)(device_));
  const TestGraph graph;
  const Allocation allocation = add_allocation(graph.get());
  const TestGraphExec exec(graph.get());
  exec.run(stream().get());
  EXPECT_GE(attribute(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT), 4u);
  EXPECT_GE(attribute(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT), attribute(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT));
  EXPECT_GE(attribute(CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH), attribute(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT));
  ASSERT_SUCCESS(CU(cuMemFree)(allocation.pointer));
  cuuint64_t one = 1;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE,
                    CU(cuDeviceSetGraphMemAttribute)(device_, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &one));
  cuuint64_t zero = 0;
  EXPECT_SUCCESS(CU(cuDeviceSetGraphMemAttribute)(device_, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &zero));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE,
                    CU(cuDeviceSetGraphMemAttribute)(device_, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &zero));
}

TEST_F(GraphMemory, OfGraphsThatAreGoneIsThereForOthers) {
  constexpr size_t bytes = 32 << 20;
  EXPECT_SUCCESS(CU(cuDeviceGraphMemTrim)(device_));
  const cuuint64_t used_before = attribute(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT);
  cuuint64_t reserved_by_one = 0;
  for (int i = 0; i < 5; ++i) {
    {
      const TestGraph graph;
      CUDA_MEM_ALLOC_NODE_PARAMS request = params(bytes);
      CUgraphNode allocated = nullptr, freed = nullptr;
      ASSERT_SUCCESS(CU(cuGraphAddMemAllocNode)(&allocated, graph.get(), nullptr, 0, &request));
      ASSERT_SUCCESS(CU(cuGraphAddMemFreeNode)(&freed, graph.get(), &allocated, 1, request.dptr));
      const TestGraphExec exec(graph.get());
      exec.run(stream().get());
      EXPECT_GE(attribute(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT), used_before + bytes);
    }
    if (i == 0) reserved_by_one = attribute(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT);
  }
  EXPECT_GE(reserved_by_one, bytes);
  EXPECT_EQ(attribute(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT), reserved_by_one);
  EXPECT_LE(attribute(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT), reserved_by_one);
  EXPECT_SUCCESS(CU(cuDeviceGraphMemTrim)(device_));
  EXPECT_LT(attribute(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT), bytes);
  EXPECT_EQ(attribute(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT), used_before);
}

TEST_F(GraphMemory, ThatOutlivesItsGraphsStaysUntilItIsFreed) {
  EXPECT_SUCCESS(CU(cuDeviceGraphMemTrim)(device_));
  const cuuint64_t used_before = attribute(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT);
  Allocation allocation;
  {
    const TestGraph graph;
    allocation = add_allocation(graph.get());
    const TestGraphExec exec(graph.get());
    exec.run(stream().get());
  }
  EXPECT_SUCCESS(CU(cuDeviceGraphMemTrim)(device_));
  EXPECT_GT(attribute(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT), used_before);
  unsigned value = 0;
  ASSERT_SUCCESS(CU(cuMemcpyDtoH)(&value, allocation.pointer, sizeof value));
  EXPECT_EQ(value, 9u);
  ASSERT_SUCCESS(CU(cuMemFree)(allocation.pointer));
  EXPECT_SUCCESS(CU(cuDeviceGraphMemTrim)(device_));
  EXPECT_EQ(attribute(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT), used_before);
}

TEST_F(GraphMemory, AFreeThatIsRefusedCanBeAddedAfterAll) {
  const TestGraph graph, other;
  const Allocation allocation = add_allocation(graph.get());
  const CUgraphNode elsewhere = add_node(other.get(), {}, 1);
  CUgraphNode freed = nullptr;
  EXPECT_NE(CU(cuGraphAddMemFreeNode)(&freed, graph.get(), &elsewhere, 1, allocation.pointer), CUDA_SUCCESS);
  EXPECT_SUCCESS(CU(cuGraphAddMemFreeNode)(&freed, graph.get(), &allocation.last, 1, allocation.pointer));
  EXPECT_NE(CU(cuGraphAddMemFreeNode)(&freed, graph.get(), &allocation.last, 1, allocation.pointer), CUDA_SUCCESS)
      << "it is freed already";
  const TestGraphExec exec(graph.get());
  exec.run(stream().get());
  exec.run(stream().get());
}

TEST_F(GraphMemory, GraphsThatHaveItAreNotCloned) {
  const TestGraph graph;
  add_allocation(graph.get());
  CUgraph clone = nullptr;
  EXPECT_NE(CU(cuGraphClone)(&clone, graph.get()), CUDA_SUCCESS);
  EXPECT_NE(CU(cuGraphDestroyNode)(graph.nodes()[1]), CUDA_SUCCESS);
}

}  // namespace
}  // namespace conformance
