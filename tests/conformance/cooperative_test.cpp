// Cooperative launches: all blocks run at once and can wait for each other.
#include <numeric>
#include <vector>

#include "conformance/driver.hpp"
#include "conformance/graph.hpp"

namespace conformance {
namespace {

// two_phases(int* data, int* out, int n): writes data[i], waits for the whole grid, reads data[n - 1 - i]. The barrier
// is what the grid_group of CUDA's cooperative_groups does: %envreg1 and %envreg2 hold the address of the grid's
// workspace. has_workspace(int* out): whether there is one.
constexpr const char* kCooperative = R"(
.version 7.0
.target sm_70
.address_size 64

.visible .entry two_phases(.param .u64 data, .param .u64 out, .param .u32 n) {
  .reg .pred %p<4>;
  .reg .b32 %r<20>;
  .reg .b64 %rd<12>;
  ld.param.u64 %rd1, [data];
  ld.param.u64 %rd2, [out];
  ld.param.u32 %r1, [n];
  cvta.to.global.u64 %rd1, %rd1;
  cvta.to.global.u64 %rd2, %rd2;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mov.u32 %r5, %nctaid.x;
  mad.lo.u32 %r6, %r2, %r3, %r4;
  setp.ge.u32 %p1, %r6, %r1;
  @%p1 bra WRITTEN;
  mul.wide.u32 %rd3, %r6, 4;
  add.u64 %rd4, %rd1, %rd3;
  add.u32 %r7, %r6, 1;
  st.global.u32 [%rd4], %r7;
WRITTEN:
  mov.u32 %r8, %envreg1;
  mov.u32 %r9, %envreg2;
  mov.b64 %rd5, {%r9, %r8};
  barrier.sync 0;
  setp.ne.u32 %p2, %r4, 0;
  @%p2 bra PASSED;
  mov.u32 %r10, 1;
  setp.ne.u32 %p3, %r2, 0;
  @%p3 bra ARRIVE;
  sub.u32 %r11, %r5, 1;
  sub.u32 %r10, 0x80000000, %r11;
ARRIVE:
  fence.acq_rel.gpu;
  atom.add.release.gpu.u32 %r12, [%rd5+4], %r10;
AGAIN:
  ld.acquire.gpu.u32 %r13, [%rd5+4];
  xor.b32 %r14, %r12, %r13;
  setp.ge.s32 %p3, %r14, 0;
  @%p3 bra AGAIN;
PASSED:
  barrier.sync 0;
  @%p1 bra DONE;
  sub.u32 %r15, %r1, %r6;
  sub.u32 %r15, %r15, 1;
  mul.wide.u32 %rd6, %r15, 4;
  add.u64 %rd7, %rd1, %rd6;
  ld.relaxed.gpu.global.u32 %r16, [%rd7];
  add.u64 %rd8, %rd2, %rd3;
  st.global.u32 [%rd8], %r16;
DONE:
  ret;
}

.visible .entry has_workspace(.param .u64 out) {
  .reg .pred %p1;
  .reg .b32 %r<4>;
  .reg .b64 %rd1;
  ld.param.u64 %rd1, [out];
  cvta.to.global.u64 %rd1, %rd1;
  mov.u32 %r1, %envreg1;
  mov.u32 %r2, %envreg2;
  or.b32 %r1, %r1, %r2;
  setp.ne.u32 %p1, %r1, 0;
  selp.u32 %r3, 1, 0, %p1;
  st.global.u32 [%rd1], %r3;
  ret;
}
)";

class Cooperative : public DriverTest {
 protected:
  static constexpr unsigned kThreads = 64;

  void SetUp() override {
    DriverTest::SetUp();
    int supported = 0;
    ASSERT_SUCCESS(CU(cuDeviceGetAttribute)(&supported, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, device_));
    if (supported == 0) GTEST_SKIP() << "the device has no cooperative launches";
  }
  unsigned most_blocks(CUfunction function) {
    int per_multiprocessor = 0, multiprocessors = 0;
    EXPECT_SUCCESS(CU(cuOccupancyMaxActiveBlocksPerMultiprocessor)(&per_multiprocessor, function, kThreads, 0));
    EXPECT_SUCCESS(CU(cuDeviceGetAttribute)(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device_));
    return static_cast<unsigned>(per_multiprocessor * multiprocessors);
  }
  CUresult run(CUfunction function, unsigned blocks, CUdeviceptr data, CUdeviceptr out, int n, CUstream stream) {
    void* parameters[] = {&data, &out, &n};
    return CU(cuLaunchCooperativeKernel)(function, blocks, 1, 1, kThreads, 1, 1, 0, stream, parameters);
  }
  static CUkernelNodeAttrValue attribute(CUgraphNode node, CUkernelNodeAttrID id) {
    CUkernelNodeAttrValue value{};
    EXPECT_SUCCESS(CU(cuGraphKernelNodeGetAttribute)(node, id, &value));
    return value;
  }
  void expect_reversed(CUdeviceptr out, int n) {
    std::vector<int> values(static_cast<std::size_t>(n));
    ASSERT_SUCCESS(CU(cuMemcpyDtoH)(values.data(), out, values.size() * 4));
    for (int i = 0; i < n; ++i) ASSERT_EQ(values[static_cast<std::size_t>(i)], n - i);
  }
};

TEST_F(Cooperative, BlocksWaitForEachOther) {
  const TestModule module(kCooperative);
  const CUfunction function = module.function("two_phases");
  const unsigned blocks = most_blocks(function);
  const int n = static_cast<int>(blocks * kThreads);
  const DeviceMemory data(static_cast<std::size_t>(n) * 4), out(static_cast<std::size_t>(n) * 4);
  ASSERT_SUCCESS(run(function, blocks, data.get(), out.get(), n, nullptr));
  expect_reversed(out.get(), n);
}

TEST_F(Cooperative, LaunchesOfOneKernelHaveTheirOwnBarriers) {
  const TestModule module(kCooperative);
  const CUfunction function = module.function("two_phases");
  const TestStream a(CU_STREAM_NON_BLOCKING), b(CU_STREAM_NON_BLOCKING);
  constexpr int n = 2 * kThreads;
  const DeviceMemory data(2 * n * 4), out(2 * n * 4);
  for (int i = 0; i < 20; ++i) {
    ASSERT_SUCCESS(run(function, 2, data.get(), out.get(), n, a.get()));
    ASSERT_SUCCESS(run(function, 2, data.get() + n * 4, out.get() + n * 4, n, b.get()));
  }
  ASSERT_SUCCESS(CU(cuCtxSynchronize)());
  expect_reversed(out.get(), n);
  expect_reversed(out.get() + n * 4, n);
}

TEST_F(Cooperative, MoreBlocksThanFitAreRefused) {
  const TestModule module(kCooperative);
  const CUfunction function = module.function("two_phases");
  const DeviceMemory memory(64);
  EXPECT_CUDA_ERROR(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
                    run(function, most_blocks(function) + 1, memory.get(), memory.get(), 0, nullptr));
}

TEST_F(Cooperative, ExtendedFormHasAnAttributeForIt) {
  const TestModule module(kCooperative);
  const PinnedMemory<int> result(1);
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  attribute.value.cooperative = 1;
  CUlaunchConfig config{};
  config.gridDimX = config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = config.blockDimY = config.blockDimZ = 1;
  config.attrs = &attribute;
  config.numAttrs = 1;
  CUdeviceptr out = result.device();
  void* parameters[] = {&out};
  ASSERT_SUCCESS(CU(cuLaunchKernelEx)(&config, module.function("has_workspace"), parameters, nullptr));
  ASSERT_SUCCESS(CU(cuCtxSynchronize)());
  EXPECT_EQ(result[0], 1);
  config.gridDimX = most_blocks(module.function("two_phases")) * 100;
  EXPECT_CUDA_ERROR(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
                    CU(cuLaunchKernelEx)(&config, module.function("has_workspace"), parameters, nullptr));
}

TEST_F(Cooperative, NodesThatAreCapturedStayWhatTheLaunchWas) {
  const TestModule module(kCooperative);
  const PinnedMemory<int> result(1);
  int least = 0, greatest = 0;
  ASSERT_SUCCESS(CU(cuCtxGetStreamPriorityRange)(&least, &greatest));
  CUstream stream = nullptr;
  ASSERT_SUCCESS(CU(cuStreamCreateWithPriority)(&stream, CU_STREAM_NON_BLOCKING, greatest));
  CUdeviceptr out = result.device();
  void* parameters[] = {&out};
  const TestGraph graph(capture(stream, [&] {
    ASSERT_SUCCESS(
        CU(cuLaunchCooperativeKernel)(module.function("has_workspace"), 1, 1, 1, 1, 1, 1, 0, stream, parameters));
  }));
  const CUgraphNode node = graph.nodes().at(0);
  const TestGraphExec exec(graph.get());
  CUDA_KERNEL_NODE_PARAMS params{};
  ASSERT_SUCCESS(CU(cuGraphKernelNodeGetParams)(node, &params));
  EXPECT_SUCCESS(CU(cuGraphExecKernelNodeSetParams)(exec.get(), node, &params));
  exec.run(stream);
  EXPECT_EQ(result[0], 1);
  EXPECT_SUCCESS(CU(cuGraphKernelNodeSetParams)(node, &params));
  EXPECT_EQ(attribute(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE).cooperative, 1);
  EXPECT_EQ(attribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY).priority, greatest);
  const CUkernelNodeAttrValue priority{.priority = least};
  EXPECT_SUCCESS(CU(cuGraphKernelNodeSetAttribute)(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &priority));
  EXPECT_EQ(attribute(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE).cooperative, 1);
  const TestGraph other;
  CUgraphNode copy = nullptr;
  ASSERT_SUCCESS(CU(cuGraphKernelNodeGetParams)(node, &params));  // its pointers were good until the node was changed
  ASSERT_SUCCESS(CU(cuGraphAddKernelNode)(&copy, other.get(), nullptr, 0, &params));
  ASSERT_SUCCESS(CU(cuGraphKernelNodeCopyAttributes)(copy, node));
  EXPECT_EQ(attribute(copy, CU_LAUNCH_ATTRIBUTE_COOPERATIVE).cooperative, 1);
  EXPECT_SUCCESS(CU(cuStreamDestroy)(stream));
}

TEST_F(Cooperative, OtherLaunchesHaveNoWorkspace) {
  const TestModule module(kCooperative);
  const PinnedMemory<int> result(1);
  result[0] = 7;
  ASSERT_SUCCESS(launch(module.function("has_workspace"), 1, 1, nullptr, result.device()));
  ASSERT_SUCCESS(CU(cuCtxSynchronize)());
  EXPECT_EQ(result[0], 0);
}

}  // namespace
}  // namespace conformance
