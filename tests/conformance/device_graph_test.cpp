// Graphs that kernels launch.
#include "conformance/conditional.hpp"

namespace conformance {
namespace {

// launch_graph(exec, stream, int* result): cudaGraphLaunch() by one thread
// launch_twice(first, second, stream, int* result): both
// relaunch(int* counter): the graph that it is in at that one's tail, while the counter, which it lowers, is not 0
// current_graph(long* result), multiply(int* data, int factor)
// What they call is declared here and defined by the driver.
constexpr const char* kLaunchKernels = R"(
.version 8.0
.target sm_75
.address_size 64

.extern .func (.param .b32 result) cudaGraphLaunch(.param .b64 graph, .param .b64 stream);

.visible .entry launch_graph(.param .u64 graph, .param .u64 stream, .param .u64 result) {
  .reg .b32 %r1;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [graph];
  ld.param.u64 %rd2, [stream];
  ld.param.u64 %rd3, [result];
  cvta.to.global.u64 %rd3, %rd3;
  {
    .param .b64 p0;
    .param .b64 p1;
    .param .b32 r0;
    st.param.b64 [p0], %rd1;
    st.param.b64 [p1], %rd2;
    call.uni (r0), cudaGraphLaunch, (p0, p1);
    ld.param.b32 %r1, [r0];
  }
  st.global.u32 [%rd3], %r1;
  ret;
}

.visible .entry launch_twice(.param .u64 first, .param .u64 second, .param .u64 stream, .param .u64 result) {
  .reg .b32 %r<3>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [first];
  ld.param.u64 %rd2, [second];
  ld.param.u64 %rd3, [stream];
  ld.param.u64 %rd4, [result];
  cvta.to.global.u64 %rd4, %rd4;
  {
    .param .b64 p0;
    .param .b64 p1;
    .param .b32 r0;
    st.param.b64 [p0], %rd1;
    st.param.b64 [p1], %rd3;
    call.uni (r0), cudaGraphLaunch, (p0, p1);
    ld.param.b32 %r1, [r0];
  }
  {
    .param .b64 p0;
    .param .b64 p1;
    .param .b32 r0;
    st.param.b64 [p0], %rd2;
    st.param.b64 [p1], %rd3;
    call.uni (r0), cudaGraphLaunch, (p0, p1);
    ld.param.b32 %r2, [r0];
  }
  or.b32 %r1, %r1, %r2;
  st.global.u32 [%rd4], %r1;
  ret;
}

.visible .entry relaunch(.param .u64 counter) {
  .reg .pred %p;
  .reg .b32 %r<3>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [counter];
  cvta.to.global.u64 %rd1, %rd1;
  ld.global.u32 %r1, [%rd1];
  sub.u32 %r1, %r1, 1;
  st.global.u32 [%rd1], %r1;
  setp.eq.u32 %p, %r1, 0;
  @%p bra DONE;
  mov.u64 %rd2, %current_graph_exec;
  mov.u64 %rd3, 0x0100000000000000;
  {
    .param .b64 p0;
    .param .b64 p1;
    .param .b32 r0;
    st.param.b64 [p0], %rd2;
    st.param.b64 [p1], %rd3;
    call.uni (r0), cudaGraphLaunch, (p0, p1);
    ld.param.b32 %r2, [r0];
  }
DONE:
  ret;
}

.visible .entry current_graph(.param .u64 result) {
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [result];
  cvta.to.global.u64 %rd1, %rd1;
  mov.u64 %rd2, %current_graph_exec;
  st.global.u64 [%rd1], %rd2;
  ret;
}

.visible .entry multiply(.param .u64 data, .param .u32 factor) {
  .reg .b32 %r<3>;
  .reg .b64 %rd1;
  ld.param.u64 %rd1, [data];
  ld.param.u32 %r1, [factor];
  cvta.to.global.u64 %rd1, %rd1;
  ld.global.u32 %r2, [%rd1];
  mul.lo.u32 %r2, %r2, %r1;
  st.global.u32 [%rd1], %r2;
  ret;
}
)";

// The streams of device code, as its headers define them.
constexpr unsigned long long kTail = 0x0100000000000000, kFireAndForget = 0x0200000000000000,
                             kSibling = 0x0300000000000000;

class DeviceGraphs : public GraphTest {
 protected:
  void SetUp() override {
    GraphTest::SetUp();
    launches_ = std::make_unique<TestModule>(kLaunchKernels);
    stream_ = std::make_unique<TestStream>();
  }
  void TearDown() override {
    stream_.reset();
    launches_.reset();
    GraphTest::TearDown();
  }
  CUfunction kernel(const char* name) const { return launches_->function(name); }
  CUstream stream() const { return stream_->get(); }
  static unsigned long long number_of(const TestGraphExec& exec) {
    return reinterpret_cast<unsigned long long>(exec.get());
  }
  // Makes it known to the device, as graphs must be before a kernel launches them.
  void upload(const TestGraphExec& exec) const {
    ASSERT_SUCCESS(CU(cuGraphUpload)(exec.get(), stream()));
    ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream()));
  }

  static constexpr unsigned long long kDevice = CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH;
  static constexpr size_t kResult = 15;  // where kernels say how a launch went
  std::unique_ptr<TestModule> launches_;
  std::unique_ptr<TestStream> stream_;
};

TEST_F(DeviceGraphs, AreLaunchedByTheHost) {
  const TestGraph graph;
  add_node(graph.get(), {}, 1);
  const TestGraphExec exec(graph.get(), kDevice);
  cuuint64_t flags = 0;
  EXPECT_SUCCESS(CU(cuGraphExecGetFlags)(exec.get(), &flags));
  EXPECT_EQ(flags, kDevice);
  exec.run(stream());
  exec.run(stream());
  EXPECT_EQ(value(0), 2);
}

TEST_F(DeviceGraphs, AreLaunchedAndForgotten) {
  const TestGraph graph, launching;
  add_node(graph.get(), {add_node(graph.get(), {}, 1)}, 2);
  const TestGraphExec exec(graph.get(), kDevice);
  upload(exec);
  value(kResult) = -1;
  add_kernel(launching.get(), {}, kernel("launch_graph"), number_of(exec), kFireAndForget, data(kResult));
  const TestGraphExec launcher(launching.get());
  for (int i = 1; i <= 3; ++i) {
    launcher.run(stream());
    EXPECT_EQ(value(kResult), 0);
    EXPECT_EQ(value(0), 3 * i);
  }
}

TEST_F(DeviceGraphs, AreDoneBeforeWhatFollowsInTheStream) {
  const TestGraph graph, launching;
  CUgraphNode last = add_node(graph.get(), {}, 1);
  for (int i = 0; i < 20; ++i) last = add_node(graph.get(), {last}, 1);
  const TestGraphExec exec(graph.get(), kDevice);
  upload(exec);
  add_kernel(launching.get(), {}, kernel("launch_graph"), number_of(exec), kFireAndForget, data(kResult));
  const TestGraphExec launcher(launching.get());
  ASSERT_SUCCESS(CU(cuGraphLaunch)(launcher.get(), stream()));
  ASSERT_SUCCESS(launch(kernel("multiply"), 1, 1, stream(), data(), 10));
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream()));
  EXPECT_EQ(value(0), 210);
}

TEST_F(DeviceGraphs, AtTheTailFollowTheGraphOneByOne) {
  const TestGraph ten, one, launching;
  add_kernel(ten.get(), {}, kernel("multiply"), data(), 10);
  add_node(one.get(), {}, 1);
  const TestGraphExec first(ten.get(), kDevice), second(one.get(), kDevice);
  upload(first);
  upload(second);
  const CUgraphNode launched = add_kernel(launching.get(), {}, kernel("launch_twice"), number_of(first),
                                          number_of(second), kTail, data(kResult));
  add_node(launching.get(), {launched}, 5);
  const TestGraphExec launcher(launching.get());
  launcher.run(stream());
  EXPECT_EQ(value(kResult), 0);
  EXPECT_EQ(value(0), 51);
}

TEST_F(DeviceGraphs, AtTheTailComeAfterWhatWasForgotten) {
  const TestGraph forgotten, tail, launching;
  CUgraphNode last = add_node(forgotten.get(), {}, 1);
  for (int i = 0; i < 20; ++i) last = add_node(forgotten.get(), {last}, 1);
  add_kernel(tail.get(), {}, kernel("multiply"), data(), 10);
  const TestGraphExec first(forgotten.get(), kDevice), second(tail.get(), kDevice);
  upload(first);
  upload(second);
  add_kernel(launching.get(), {}, kernel("launch_graph"), number_of(first), kFireAndForget, data(kResult));
  add_kernel(launching.get(), {}, kernel("launch_graph"), number_of(second), kTail, data(kResult - 1));
  const TestGraphExec launcher(launching.get());
  launcher.run(stream());
  EXPECT_EQ(value(kResult), 0);
  EXPECT_EQ(value(kResult - 1), 0);
  EXPECT_EQ(value(0), 210);
}

TEST_F(DeviceGraphs, RepeatThemselves) {
  const TestGraph graph;
  add_kernel(graph.get(), {add_node(graph.get(), {}, 1)}, kernel("relaunch"), data(1));
  const TestGraphExec exec(graph.get(), kDevice);
  for (int i = 1; i <= 2; ++i) {
    value(1) = 50;
    exec.run(stream());
    EXPECT_EQ(value(1), 0);
    EXPECT_EQ(value(0), 50 * i);
  }
}

TEST_F(DeviceGraphs, AreLaunchedAsSiblings) {
  const TestGraph graph, launching, outer;
  add_node(graph.get(), {}, 1);
  const TestGraphExec exec(graph.get(), kDevice);
  upload(exec);
  add_kernel(launching.get(), {}, kernel("launch_graph"), number_of(exec), kSibling, data(kResult));
  const TestGraphExec launcher(launching.get(), kDevice);
  upload(launcher);
  add_kernel(outer.get(), {}, kernel("launch_graph"), number_of(launcher), kFireAndForget, data(kResult - 1));
  const TestGraphExec outermost(outer.get());
  outermost.run(stream());
  EXPECT_EQ(value(kResult), 0);
  EXPECT_EQ(value(kResult - 1), 0);
  EXPECT_EQ(value(0), 1);
}

TEST_F(DeviceGraphs, KnowWhichTheyAre) {
  const TestGraph graph, other;
  add_kernel(graph.get(), {}, kernel("current_graph"), data());
  add_kernel(other.get(), {}, kernel("current_graph"), data(2));
  const TestGraphExec exec(graph.get(), kDevice), plain(other.get());
  value(2) = value(3) = -1;
  exec.run(stream());
  plain.run(stream());
  EXPECT_EQ(reinterpret_cast<unsigned long long&>(value(0)), number_of(exec));
  EXPECT_EQ(reinterpret_cast<unsigned long long&>(value(2)), 0u);
  value(2) = value(3) = -1;
  ASSERT_SUCCESS(launch(kernel("current_graph"), 1, 1, stream(), data(2)));
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream()));
  EXPECT_EQ(reinterpret_cast<unsigned long long&>(value(2)), 0u);
}

TEST_F(DeviceGraphs, CanNotBeLaunchedTwiceAtATime) {
  const TestGraph graph;
  const CUgraphNode node = add_kernel(graph.get(), {}, kernel("launch_graph"), 0ULL, kFireAndForget, data(kResult));
  const TestGraphExec exec(graph.get(), kDevice);
  // The graph that the kernel launches is the one that it is in.
  unsigned long long itself = number_of(exec), stream_number = kFireAndForget;
  CUdeviceptr result = data(kResult);
  void* arguments[] = {&itself, &stream_number, &result};
  CUDA_KERNEL_NODE_PARAMS changed = kernel_params(arguments);
  changed.func = kernel("launch_graph");
  ASSERT_SUCCESS(CU(cuGraphExecKernelNodeSetParams)(exec.get(), node, &changed));
  exec.run(stream());
  EXPECT_NE(value(kResult), 0);
}

class DeviceGraphRefusals : public DeviceGraphs {
 protected:
  CUDA_GRAPH_INSTANTIATE_PARAMS refuse(CUgraph graph) const {
    CUDA_GRAPH_INSTANTIATE_PARAMS params{};
    params.flags = kDevice;
    CUgraphExec exec = nullptr;
    EXPECT_NE(CU(cuGraphInstantiateWithParams)(&exec, graph, &params), CUDA_SUCCESS);
    return params;
  }
};

TEST_F(DeviceGraphRefusals, HostFunctions) {
  const TestGraph graph;
  CUDA_HOST_NODE_PARAMS host{[](void*) {}, nullptr};
  CUgraphNode node = nullptr;
  ASSERT_SUCCESS(CU(cuGraphAddHostNode)(&node, graph.get(), nullptr, 0, &host));
  const CUDA_GRAPH_INSTANTIATE_PARAMS params = refuse(graph.get());
  EXPECT_EQ(params.result_out, CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED);
  EXPECT_EQ(params.hErrNode_out, node);
}

TEST_F(DeviceGraphRefusals, EmptyGraphs) {
  const TestGraph graph;
  refuse(graph.get());
}

TEST_F(DeviceGraphRefusals, MemoryThatIsFreedAtTheLaunch) {
  const TestGraph graph;
  add_node(graph.get(), {}, 1);
  CUgraphExec exec = nullptr;
  EXPECT_CUDA_ERROR(
      CUDA_ERROR_INVALID_VALUE,
      CU(cuGraphInstantiateWithFlags)(&exec, graph.get(), kDevice | CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH));
}

TEST_F(DeviceGraphRefusals, KernelsThatLaunchWhereNoneDid) {
  const TestGraph graph;
  const CUgraphNode node = add_node(graph.get(), {}, 1);
  const TestGraphExec exec(graph.get());
  CUdeviceptr counter = data(1);
  void* arguments[] = {&counter};
  CUDA_KERNEL_NODE_PARAMS changed = kernel_params(arguments);
  changed.func = kernel("relaunch");
  EXPECT_NE(CU(cuGraphExecKernelNodeSetParams)(exec.get(), node, &changed), CUDA_SUCCESS);
}

}  // namespace
}  // namespace conformance
