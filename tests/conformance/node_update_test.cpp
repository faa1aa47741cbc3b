// Kernel nodes that other kernels change: CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE.
#include "conformance/conditional.hpp"

namespace conformance {
namespace {

// set_value(node, offset, int value, int* result), set_grid(node, x, y, z, int* result), set_enabled(node, int, int*
// result), apply(updates, count, int* result): what is in the names, by one thread; the result is a cudaError_t.
// count(int* counter, int amount): each block adds the amount.
// What they call is declared here and defined by the driver.
constexpr const char* kUpdateKernels = R"(
.version 8.0
.target sm_75
.address_size 64

.extern .func (.param .b32 result) cudaGraphKernelNodeSetParam(.param .b64 node, .param .b64 offset, .param .b64 value, .param .b64 size);
.extern .func (.param .b32 result) cudaGraphKernelNodeSetGridDim(.param .b64 node, .param .align 4 .b8 extents[12]);
.extern .func (.param .b32 result) cudaGraphKernelNodeSetEnabled(.param .b64 node, .param .b32 enabled);
.extern .func (.param .b32 result) cudaGraphKernelNodeUpdatesApply(.param .b64 updates, .param .b64 count);

.visible .entry set_value(.param .u64 node, .param .u64 offset, .param .u32 value, .param .u64 result) {
  .local .align 4 .b8 memory[4];
  .reg .b32 %r<3>;
  .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [node];
  ld.param.u64 %rd2, [offset];
  ld.param.u32 %r1, [value];
  ld.param.u64 %rd3, [result];
  cvta.to.global.u64 %rd3, %rd3;
  mov.u64 %rd4, memory;
  st.local.u32 [%rd4], %r1;
  cvta.local.u64 %rd5, %rd4;
  {
    .param .b64 p0;
    .param .b64 p1;
    .param .b64 p2;
    .param .b64 p3;
    .param .b32 r0;
    st.param.b64 [p0], %rd1;
    st.param.b64 [p1], %rd2;
    st.param.b64 [p2], %rd5;
    st.param.b64 [p3], 4;
    call.uni (r0), cudaGraphKernelNodeSetParam, (p0, p1, p2, p3);
    ld.param.b32 %r2, [r0];
  }
  st.global.u32 [%rd3], %r2;
  ret;
}

.visible .entry set_grid(.param .u64 node, .param .u32 x, .param .u32 y, .param .u32 z, .param .u64 result) {
  .reg .b32 %r<5>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [node];
  ld.param.u32 %r1, [x];
  ld.param.u32 %r2, [y];
  ld.param.u32 %r3, [z];
  ld.param.u64 %rd2, [result];
  cvta.to.global.u64 %rd2, %rd2;
  {
    .param .b64 p0;
    .param .align 4 .b8 p1[12];
    .param .b32 r0;
    st.param.b64 [p0], %rd1;
    st.param.b32 [p1], %r1;
    st.param.b32 [p1+4], %r2;
    st.param.b32 [p1+8], %r3;
    call.uni (r0), cudaGraphKernelNodeSetGridDim, (p0, p1);
    ld.param.b32 %r4, [r0];
  }
  st.global.u32 [%rd2], %r4;
  ret;
}

.visible .entry set_enabled(.param .u64 node, .param .u32 enabled, .param .u64 result) {
  .reg .b32 %r<3>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [node];
  ld.param.u32 %r1, [enabled];
  ld.param.u64 %rd2, [result];
  cvta.to.global.u64 %rd2, %rd2;
  {
    .param .b64 p0;
    .param .b32 p1;
    .param .b32 r0;
    st.param.b64 [p0], %rd1;
    st.param.b32 [p1], %r1;
    call.uni (r0), cudaGraphKernelNodeSetEnabled, (p0, p1);
    ld.param.b32 %r2, [r0];
  }
  st.global.u32 [%rd2], %r2;
  ret;
}

.visible .entry apply(.param .u64 updates, .param .u64 count, .param .u64 result) {
  .reg .b32 %r1;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [updates];
  ld.param.u64 %rd2, [count];
  ld.param.u64 %rd3, [result];
  cvta.to.global.u64 %rd3, %rd3;
  {
    .param .b64 p0;
    .param .b64 p1;
    .param .b32 r0;
    st.param.b64 [p0], %rd1;
    st.param.b64 [p1], %rd2;
    call.uni (r0), cudaGraphKernelNodeUpdatesApply, (p0, p1);
    ld.param.b32 %r1, [r0];
  }
  st.global.u32 [%rd3], %r1;
  ret;
}

.visible .entry count(.param .u64 counter, .param .u32 amount) {
  .reg .b32 %r1;
  .reg .b64 %rd1;
  ld.param.u64 %rd1, [counter];
  ld.param.u32 %r1, [amount];
  cvta.to.global.u64 %rd1, %rd1;
  red.global.add.u32 [%rd1], %r1;
  ret;
}
)";

// cudaGraphKernelNodeUpdate, as CUDA's headers for device code have it.
struct Update {
  CUgraphDeviceNode node;
  unsigned field;
  union {
    unsigned grid[3];
    struct {
      const void* value;
      size_t offset, size;
    } parameter;
    unsigned is_enabled;
  };
};
constexpr unsigned kGridField = 1, kParameterField = 2, kEnabledField = 3;
constexpr int kCudaSuccess = 0, kCudaInvalidValue = 1, kNothing = -1;
constexpr unsigned long long kAmountOffset = 8;  // of count()'s parameters

class NodeUpdateTest : public GraphTest {
 protected:
  // NVIDIA's driver 580 loads a module that declares these functions, and crashes when a graph with such a node is
  // used: they come from NVIDIA's library of device functions, with which programs link their modules.
  void SetUp() override {
    if (!is_softgpu()) GTEST_SKIP() << "a driver need not provide the functions";
    GraphTest::SetUp();
    kernels_ = std::make_unique<TestModule>(kUpdateKernels);
    stream_ = std::make_unique<TestStream>();
    value(kResult) = kNothing;
  }
  void TearDown() override {
    if (!kernels_) return;
    stream_.reset();
    kernels_.reset();
    GraphTest::TearDown();
  }

  CUfunction kernel(const char* name) const { return kernels_->function(name); }
  CUdeviceptr counter() const { return data(0); }
  CUdeviceptr result_place() const { return data(kResult); }
  int count() const { return value(0); }
  int result() const { return value(kResult); }

  CUgraphNode add_count(CUgraph graph, const std::vector<CUgraphNode>& after, int amount) const {
    return add_kernel(graph, after, kernel("count"), counter(), amount);
  }
  static CUgraphDeviceNode make_updatable(CUgraphNode node) {
    CUkernelNodeAttrValue value{};
    value.deviceUpdatableKernelNode.deviceUpdatable = 1;
    EXPECT_SUCCESS(CU(cuGraphKernelNodeSetAttribute)(node, kAttribute, &value));
    return device_node(node);
  }
  static CUgraphDeviceNode device_node(CUgraphNode node) {
    CUkernelNodeAttrValue value{};
    EXPECT_SUCCESS(CU(cuGraphKernelNodeGetAttribute)(node, kAttribute, &value));
    EXPECT_EQ(value.deviceUpdatableKernelNode.deviceUpdatable, 1);
    return value.deviceUpdatableKernelNode.devNode;
  }
  void run(const TestGraphExec& exec) const {
    ASSERT_SUCCESS(CU(cuGraphUpload)(exec.get(), stream_->get()));
    launch_again(exec);
  }
  void launch_again(const TestGraphExec& exec) const {
    ASSERT_SUCCESS(CU(cuGraphLaunch)(exec.get(), stream_->get()));
    ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream_->get()));
  }

  static constexpr auto kAttribute = CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE;
  static constexpr size_t kResult = 3;
  std::unique_ptr<TestModule> kernels_;
  std::unique_ptr<TestStream> stream_;
};

TEST_F(NodeUpdateTest, AKernelChangesAParameterOfALaterNode) {
  const TestGraph graph;
  // The node is there before the one that it comes after, whose argument it is.
  const CUgraphNode counted = add_count(graph.get(), {}, 1);
  const CUgraphDeviceNode node = make_updatable(counted);
  EXPECT_NE(node, nullptr);
  const CUgraphNode updates = add_kernel(graph.get(), {}, kernel("set_value"), node, kAmountOffset, 5, result_place());
  ASSERT_SUCCESS(CU(cuGraphAddDependencies)(graph.get(), &updates, &counted, nullptr, 1));
  const TestGraphExec exec(graph.get());
  run(exec);
  EXPECT_EQ(result(), kCudaSuccess);
  EXPECT_EQ(count(), 5);
  launch_again(exec);
  EXPECT_EQ(count(), 10);
}

TEST_F(NodeUpdateTest, AKernelOfAStreamChangesANodeForLaterLaunches) {
  const TestGraph graph;
  const CUgraphDeviceNode node = make_updatable(add_count(graph.get(), {}, 1));
  const TestGraphExec exec(graph.get());
  run(exec);
  EXPECT_EQ(count(), 1);
  ASSERT_SUCCESS(launch(kernel("set_value"), 1, 1, stream_->get(), node, kAmountOffset, 7, result_place()));
  launch_again(exec);
  EXPECT_EQ(result(), kCudaSuccess);
  EXPECT_EQ(count(), 8);
  launch_again(exec);
  EXPECT_EQ(count(), 15) << "it stays";
}

TEST_F(NodeUpdateTest, AKernelChangesTheGrid) {
  const TestGraph graph;
  const CUgraphDeviceNode node = make_updatable(add_count(graph.get(), {}, 1));
  const TestGraphExec exec(graph.get());
  run(exec);
  ASSERT_SUCCESS(launch(kernel("set_grid"), 1, 1, stream_->get(), node, 3, 2, 2, result_place()));
  launch_again(exec);
  EXPECT_EQ(result(), kCudaSuccess);
  EXPECT_EQ(count(), 13);
}

TEST_F(NodeUpdateTest, AKernelDisablesAndEnables) {
  const TestGraph graph;
  const CUgraphDeviceNode node = make_updatable(add_count(graph.get(), {}, 1));
  const TestGraphExec exec(graph.get());
  run(exec);
  ASSERT_SUCCESS(launch(kernel("set_enabled"), 1, 1, stream_->get(), node, 0, result_place()));
  launch_again(exec);
  EXPECT_EQ(result(), kCudaSuccess);
  EXPECT_EQ(count(), 1);
  ASSERT_SUCCESS(launch(kernel("set_enabled"), 1, 1, stream_->get(), node, 1, result_place()));
  launch_again(exec);
  EXPECT_EQ(count(), 2);
}

TEST_F(NodeUpdateTest, SeveralUpdatesAreOneCall) {
  const TestGraph graph;
  const CUgraphDeviceNode first = make_updatable(add_count(graph.get(), {}, 1));
  const CUgraphDeviceNode second = make_updatable(add_count(graph.get(), {}, 100));
  const TestGraphExec exec(graph.get());
  run(exec);
  EXPECT_EQ(count(), 101);
  const PinnedMemory<int> amount(1);
  amount[0] = 10;
  const PinnedMemory<Update> updates(3);
  updates[0] = {.node = first, .field = kGridField, .grid = {4, 1, 1}};
  updates[1] = {.node = first, .field = kParameterField, .parameter = {amount.data(), kAmountOffset, sizeof(int)}};
  updates[2] = {.node = second, .field = kEnabledField, .is_enabled = 0};
  ASSERT_SUCCESS(launch(kernel("apply"), 1, 1, stream_->get(), updates.device(), 3ULL, result_place()));
  launch_again(exec);
  EXPECT_EQ(result(), kCudaSuccess);
  EXPECT_EQ(count(), 141);
}

TEST_F(NodeUpdateTest, WhatDoesNotFitIsRefused) {
  const TestGraph graph;
  const CUgraphDeviceNode node = make_updatable(add_count(graph.get(), {}, 1));
  const TestGraphExec exec(graph.get());
  run(exec);
  ASSERT_SUCCESS(launch(kernel("set_value"), 1, 1, stream_->get(), node, 12ULL, 7, result_place()));
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream_->get()));
  EXPECT_EQ(result(), kCudaInvalidValue) << "behind the parameters";
  if (is_softgpu()) {  // elsewhere it may be found out later, or never
    ASSERT_SUCCESS(launch(kernel("set_grid"), 1, 1, stream_->get(), node, 0, 1, 1, result_place()));
    ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream_->get()));
    EXPECT_EQ(result(), kCudaInvalidValue) << "no blocks";
    const CUgraphDeviceNode none = nullptr;
    ASSERT_SUCCESS(launch(kernel("set_enabled"), 1, 1, stream_->get(), none, 0, result_place()));
    ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream_->get()));
    EXPECT_EQ(result(), kCudaInvalidValue) << "no node";
  }
  launch_again(exec);
  EXPECT_EQ(count(), 2) << "nothing has changed";
}

TEST_F(NodeUpdateTest, TheHostChangesTheNodeToo) {
  const TestGraph graph;
  const CUgraphNode counted = add_count(graph.get(), {}, 1);
  const CUgraphDeviceNode node = make_updatable(counted);
  const TestGraphExec exec(graph.get());
  run(exec);
  ASSERT_SUCCESS(launch(kernel("set_value"), 1, 1, stream_->get(), node, kAmountOffset, 7, result_place()));
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream_->get()));
  CUDA_KERNEL_NODE_PARAMS params{};
  ASSERT_SUCCESS(CU(cuGraphKernelNodeGetParams)(counted, &params));
  int amount = 20;
  CUdeviceptr target = counter();
  void* arguments[] = {&target, &amount};
  params.kernelParams = arguments;
  ASSERT_SUCCESS(CU(cuGraphExecKernelNodeSetParams)(exec.get(), counted, &params));
  run(exec);
  EXPECT_EQ(count(), 21);
}

TEST_F(NodeUpdateTest, ACapturedLaunchBecomesSuchANode) {
  CUlaunchAttribute attribute{};
  attribute.id = kAttribute;
  attribute.value.deviceUpdatableKernelNode.deviceUpdatable = 1;
  CUlaunchConfig config{};
  config.gridDimX = config.gridDimY = config.gridDimZ = config.blockDimX = config.blockDimY = config.blockDimZ = 1;
  config.hStream = stream_->get();
  config.attrs = &attribute;
  config.numAttrs = 1;
  CUdeviceptr target = counter();
  int amount = 1;
  void* arguments[] = {&target, &amount};
  EXPECT_NE(CU(cuLaunchKernelEx)(&config, kernel("count"), arguments, nullptr), CUDA_SUCCESS) << "not captured";
  CUgraph captured = nullptr;
  ASSERT_SUCCESS(CU(cuStreamBeginCapture)(stream_->get(), CU_STREAM_CAPTURE_MODE_RELAXED));
  ASSERT_SUCCESS(CU(cuLaunchKernelEx)(&config, kernel("count"), arguments, nullptr));
  ASSERT_SUCCESS(CU(cuStreamEndCapture)(stream_->get(), &captured));
  const TestGraph graph(captured);
  const CUgraphDeviceNode node = attribute.value.deviceUpdatableKernelNode.devNode;
  EXPECT_EQ(node, device_node(graph.nodes()[0]));
  const TestGraphExec exec(graph.get());
  run(exec);
  ASSERT_SUCCESS(launch(kernel("set_value"), 1, 1, stream_->get(), node, kAmountOffset, 4, result_place()));
  launch_again(exec);
  EXPECT_EQ(count(), 5);
}

TEST_F(NodeUpdateTest, SuchANodeStaysOne) {
  const TestGraph graph;
  const CUgraphNode counted = add_count(graph.get(), {}, 1), other = add_count(graph.get(), {}, 1);
  const CUgraphDeviceNode node = make_updatable(counted);
  CUkernelNodeAttrValue value{};
  EXPECT_NE(CU(cuGraphKernelNodeSetAttribute)(counted, kAttribute, &value), CUDA_SUCCESS) << "no way back";
  value.deviceUpdatableKernelNode.deviceUpdatable = 2;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuGraphKernelNodeSetAttribute)(other, kAttribute, &value));
  EXPECT_NE(CU(cuGraphDestroyNode)(counted), CUDA_SUCCESS);
  EXPECT_NE(CU(cuGraphKernelNodeCopyAttributes)(other, counted), CUDA_SUCCESS);
  EXPECT_NE(CU(cuGraphKernelNodeCopyAttributes)(counted, other), CUDA_SUCCESS);
  EXPECT_EQ(device_node(counted), node);
}

TEST_F(NodeUpdateTest, ItsGraphHasOneExecutableGraphAndIsNotForUpdates) {
  const TestGraph graph;
  make_updatable(add_count(graph.get(), {}, 1));
  {
    const TestGraphExec exec(graph.get());
    CUgraphExec second = nullptr;
    EXPECT_NE(CU(cuGraphInstantiate)(&second, graph.get(), 0), CUDA_SUCCESS);
    CUgraphExecUpdateResultInfo info{};
    EXPECT_CUDA_ERROR(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, CU(cuGraphExecUpdate)(exec.get(), graph.get(), &info));
  }
  const TestGraph plain;
  add_count(plain.get(), {}, 1);
  const TestGraphExec exec(plain.get());
  CUgraphExecUpdateResultInfo info{};
  EXPECT_CUDA_ERROR(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, CU(cuGraphExecUpdate)(exec.get(), graph.get(), &info));
}

}  // namespace
}  // namespace conformance
