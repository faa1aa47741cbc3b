// Graphs for tests, destroyed with the object.
#pragma once

#include <memory>
#include <vector>

#include "conformance/driver.hpp"
#include "conformance/kernels.hpp"

namespace conformance {

class TestGraph {
 public:
  TestGraph() { EXPECT_SUCCESS(CU(cuGraphCreate)(&graph_, 0)); }
  explicit TestGraph(CUgraph graph) : graph_(graph) {}
  ~TestGraph() {
    if (graph_ != nullptr) CU(cuGraphDestroy)(graph_);
  }
  TestGraph(const TestGraph&) = delete;
  TestGraph& operator=(const TestGraph&) = delete;
  CUgraph get() const { return graph_; }

  std::vector<CUgraphNode> nodes() const {
    size_t count = 0;
    EXPECT_SUCCESS(CU(cuGraphGetNodes)(graph_, nullptr, &count));
    std::vector<CUgraphNode> nodes(count);
    EXPECT_SUCCESS(CU(cuGraphGetNodes)(graph_, nodes.data(), &count));
    return nodes;
  }
  size_t edges() const {
    size_t count = 0;
    EXPECT_SUCCESS(CU(cuGraphGetEdges)(graph_, nullptr, nullptr, nullptr, &count));
    return count;
  }

 private:
  CUgraph graph_ = nullptr;
};

class TestGraphExec {
 public:
  explicit TestGraphExec(CUgraph graph, unsigned long long flags = 0) {
    EXPECT_SUCCESS(CU(cuGraphInstantiateWithFlags)(&exec_, graph, flags));
  }
  ~TestGraphExec() { CU(cuGraphExecDestroy)(exec_); }
  TestGraphExec(const TestGraphExec&) = delete;
  TestGraphExec& operator=(const TestGraphExec&) = delete;
  CUgraphExec get() const { return exec_; }

  void run(CUstream stream) const {
    ASSERT_SUCCESS(CU(cuGraphLaunch)(exec_, stream));
    ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream));
  }

 private:
  CUgraphExec exec_ = nullptr;
};

inline CUgraphNodeType type_of(CUgraphNode node) {
  CUgraphNodeType type{};
  EXPECT_SUCCESS(CU(cuGraphNodeGetType)(node, &type));
  return type;
}

// What `work()` puts into the stream, as a graph.
template <typename Work>
CUgraph capture(CUstream stream, Work&& work, CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL) {
  EXPECT_SUCCESS(CU(cuStreamBeginCapture)(stream, mode));
  work();
  CUgraph graph = nullptr;
  EXPECT_SUCCESS(CU(cuStreamEndCapture)(stream, &graph));
  return graph;
}

inline CUstreamCaptureStatus capture_status(CUstream stream) {
  CUstreamCaptureStatus status{};
  EXPECT_SUCCESS(CU(cuStreamIsCapturing)(stream, &status));
  return status;
}

// Kernels, and memory of the host that they work on.
class GraphTest : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    module_ = std::make_unique<TestModule>(kKernels);
    data_ = std::make_unique<PinnedMemory<int>>(kCount);
  }
  void TearDown() override {
    data_.reset();
    module_.reset();
    DriverTest::TearDown();
  }

  CUdeviceptr data(size_t index = 0) const { return data_->device() + index * sizeof(int); }
  int& value(size_t index) const { return (*data_)[index]; }

  // data[index] += amount
  void add(CUstream stream, int amount, size_t index = 0) const {
    EXPECT_SUCCESS(launch(module_->function("add_value"), 1, 1, stream, data(index), 1, amount));
  }
  CUgraphNode add_node(CUgraph graph, const std::vector<CUgraphNode>& after, int amount, size_t index = 0) const {
    CUdeviceptr target = data(index);
    int count = 1;
    void* arguments[] = {&target, &count, &amount};
    const CUDA_KERNEL_NODE_PARAMS params = kernel_params(arguments);
    CUgraphNode node = nullptr;
    EXPECT_SUCCESS(CU(cuGraphAddKernelNode)(&node, graph, after.data(), after.size(), &params));
    return node;
  }
  CUDA_KERNEL_NODE_PARAMS kernel_params(void** arguments) const {
    CUDA_KERNEL_NODE_PARAMS params{};
    params.func = module_->function("add_value");
    params.gridDimX = params.gridDimY = params.gridDimZ = 1;
    params.blockDimX = params.blockDimY = params.blockDimZ = 1;
    params.kernelParams = arguments;
    return params;
  }

  static constexpr size_t kCount = 16;
  std::unique_ptr<TestModule> module_;
  std::unique_ptr<PinnedMemory<int>> data_;
};

}  // namespace conformance
