// softgpu's settings, which are read once per process.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "conformance/driver.hpp"
#include "conformance/kernels.hpp"

namespace conformance {
namespace {

class Settings : public testing::Test {
 protected:
  void SetUp() override {
    if (!is_softgpu()) GTEST_SKIP() << "settings of softgpu";
  }
};

TEST(WithSettings, DISABLED_BadValue) { EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuInit)(0)); }

TEST_F(Settings, BadValuesMakeInitFail) {
  EXPECT_EQ(run_in_child("WithSettings.DISABLED_BadValue", {"SOFTGPU_DEVICES=none"}), 0);
  EXPECT_EQ(run_in_child("WithSettings.DISABLED_BadValue", {"SOFTGPU_MEMORY=much"}), 0);
  EXPECT_EQ(run_in_child("WithSettings.DISABLED_BadValue", {"SOFTGPU_CONFIG=/no/such/file"}), 0);
}

TEST(WithSettings, DISABLED_SmallDevice) {
  ASSERT_SUCCESS(CU(cuInit)(0));
  size_t bytes = 0;
  int major = 0, minor = 0, multiprocessors = 0;
  ASSERT_SUCCESS(CU(cuDeviceTotalMem)(&bytes, 0));
  ASSERT_SUCCESS(CU(cuDeviceGetAttribute)(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0));
  ASSERT_SUCCESS(CU(cuDeviceGetAttribute)(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0));
  ASSERT_SUCCESS(CU(cuDeviceGetAttribute)(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
  EXPECT_EQ(bytes, std::size_t{64} << 20);
  EXPECT_EQ(10 * major + minor, 86);
  EXPECT_EQ(multiprocessors, 7);

  CUcontext context = nullptr;
  ASSERT_SUCCESS(CU(cuDevicePrimaryCtxRetain)(&context, 0));
  ASSERT_SUCCESS(CU(cuCtxSetCurrent)(context));
  CUdeviceptr most = 0, more = 0;
  ASSERT_SUCCESS(CU(cuMemAlloc)(&most, std::size_t{60} << 20));
  EXPECT_CUDA_ERROR(CUDA_ERROR_OUT_OF_MEMORY, CU(cuMemAlloc)(&more, std::size_t{8} << 20));
  ASSERT_SUCCESS(CU(cuMemFree)(most));
  EXPECT_SUCCESS(CU(cuMemAlloc)(&more, std::size_t{8} << 20));
}

TEST_F(Settings, ShapeTheDevice) {
  EXPECT_EQ(run_in_child("WithSettings.DISABLED_SmallDevice",
                         {"SOFTGPU_MEMORY=64M", "SOFTGPU_COMPUTE_CAPABILITY=8.6", "SOFTGPU_MULTIPROCESSORS=7"}),
            0);
}

TEST(WithSettings, DISABLED_TwoDevices) {
  ASSERT_SUCCESS(CU(cuInit)(0));
  int count = 0, can = 0;
  ASSERT_SUCCESS(CU(cuDeviceGetCount)(&count));
  ASSERT_EQ(count, 2);
  ASSERT_SUCCESS(CU(cuDeviceCanAccessPeer)(&can, 0, 1));
  EXPECT_EQ(can, 1);

  CUcontext contexts[2];
  CUdeviceptr memory[2];
  for (int i = 0; i < 2; ++i) {
    ASSERT_SUCCESS(CU(cuDevicePrimaryCtxRetain)(&contexts[i], i));
    ASSERT_SUCCESS(CU(cuCtxSetCurrent)(contexts[i]));
    ASSERT_SUCCESS(CU(cuMemAlloc)(&memory[i], 400));
    ASSERT_SUCCESS(CU(cuMemsetD32)(memory[i], static_cast<unsigned>(i + 1), 100));
    ASSERT_SUCCESS(CU(cuCtxSynchronize)());
  }
  // The second is current: its kernel works on what comes from the first.
  ASSERT_SUCCESS(CU(cuMemcpyPeer)(memory[1], contexts[1], memory[0], contexts[0], 400));
  const TestModule module(kKernels);
  ASSERT_SUCCESS(launch(module.function("increment"), 4, 32, nullptr, memory[1], 100));
  std::vector<int> values(100);
  ASSERT_SUCCESS(CU(cuMemcpyDtoH)(values.data(), memory[1], 400));
  EXPECT_EQ(values, std::vector<int>(100, 2));

  ASSERT_SUCCESS(CU(cuCtxEnablePeerAccess)(contexts[0], 0));
  EXPECT_CUDA_ERROR(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, CU(cuCtxEnablePeerAccess)(contexts[0], 0));
  int ordinal = -1;
  ASSERT_SUCCESS(CU(cuPointerGetAttribute)(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, memory[0]));
  EXPECT_EQ(ordinal, 0);
  // A kernel of one context can't go into a stream of the other.
  ASSERT_SUCCESS(CU(cuCtxSetCurrent)(contexts[0]));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_HANDLE, launch(module.function("bounded"), 1, 1, nullptr));
}

TEST_F(Settings, MakeSeveralDevices) {
  EXPECT_EQ(run_in_child("WithSettings.DISABLED_TwoDevices", {"SOFTGPU_DEVICES=2"}), 0);
}

// busy(long* out, int rounds): keeps its thread for a while, without a point where it could be set aside.
// take_turn(int* next, int* turn): turn = (*next)++
constexpr const char* kTurns = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry busy(.param .u64 out, .param .u32 rounds) {
  .reg .pred %p;
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [rounds];
  cvta.to.global.u64 %rd1, %rd1;
  mov.u64 %rd2, 1;
AGAIN:
  mul.hi.u64 %rd3, %rd2, 0x9e3779b97f4a7c15;
  mad.lo.u64 %rd2, %rd2, 6364136223846793005, %rd3;
  sub.u32 %r1, %r1, 1;
  setp.ne.u32 %p, %r1, 0;
  @%p bra AGAIN;
  st.global.u64 [%rd1], %rd2;
  ret;
}
.visible .entry take_turn(.param .u64 next, .param .u64 turn) {
  .reg .b32 %r1;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [next];
  ld.param.u64 %rd2, [turn];
  cvta.to.global.u64 %rd1, %rd1;
  cvta.to.global.u64 %rd2, %rd2;
  atom.global.add.u32 %r1, [%rd1], 1;
  st.global.u32 [%rd2], %r1;
  ret;
}
)";

// With one worker, which is busy while both are put in.
TEST(WithSettings, DISABLED_Priorities) {
  ASSERT_SUCCESS(CU(cuInit)(0));
  CUcontext context = nullptr;
  ASSERT_SUCCESS(CU(cuDevicePrimaryCtxRetain)(&context, 0));
  ASSERT_SUCCESS(CU(cuCtxSetCurrent)(context));
  const TestModule module(kTurns);
  const CUfunction busy = module.function("busy"), take_turn = module.function("take_turn");
  const PinnedMemory<int> turns(3);
  const PinnedMemory<long> out(1);
  CUstream streams[2];
  ASSERT_SUCCESS(CU(cuStreamCreateWithPriority)(&streams[0], CU_STREAM_NON_BLOCKING, 0));
  ASSERT_SUCCESS(CU(cuStreamCreateWithPriority)(&streams[1], CU_STREAM_NON_BLOCKING, -1));
  const TestStream holder(CU_STREAM_NON_BLOCKING);
  // Compiled before it counts.
  ASSERT_SUCCESS(launch(take_turn, 1, 1, holder.get(), turns.device(), turns.device() + 4));
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(holder.get()));
  ASSERT_SUCCESS(launch(busy, 1, 1, holder.get(), out.device(), 200'000'000));
  for (unsigned i = 0; i < 2; ++i)
    ASSERT_SUCCESS(launch(take_turn, 1, 1, streams[i], turns.device(), turns.device() + 4 + 4 * i));
  EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_READY, CU(cuStreamQuery)(holder.get()));
  ASSERT_SUCCESS(CU(cuCtxSynchronize)());
  EXPECT_LT(turns[2], turns[1]) << "the stream of higher priority goes first";
}

TEST_F(Settings, OneWorkerPrefersStreamsOfHigherPriority) {
  EXPECT_EQ(run_in_child("WithSettings.DISABLED_Priorities", {"SOFTGPU_WORKERS=1"}), 0);
}

TEST(WithSettings, DISABLED_ExitWhileAKernelRuns) {
  ASSERT_SUCCESS(CU(cuInit)(0));
  CUcontext context = nullptr;
  ASSERT_SUCCESS(CU(cuDevicePrimaryCtxRetain)(&context, 0));
  ASSERT_SUCCESS(CU(cuCtxSetCurrent)(context));
  CUmodule module = nullptr;
  CUfunction wait = nullptr;
  CUdeviceptr flag = 0;
  ASSERT_SUCCESS(CU(cuModuleLoadData)(&module, kKernels));
  ASSERT_SUCCESS(CU(cuModuleGetFunction)(&wait, module, "wait_for"));
  ASSERT_SUCCESS(CU(cuMemAlloc)(&flag, 4));
  ASSERT_SUCCESS(CU(cuMemsetD32)(flag, 0, 1));
  ASSERT_SUCCESS(launch(wait, 1, 1, nullptr, flag));
  std::exit(0);
}

TEST_F(Settings, ProcessExitsWhileAKernelRuns) {
  EXPECT_EQ(run_in_child("WithSettings.DISABLED_ExitWhileAKernelRuns"), 0);
}

// What each of these does is harmless on softgpu, unless it is told to be strict.
class WithStrictness : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_SUCCESS(CU(cuInit)(0));
    ASSERT_SUCCESS(CU(cuDevicePrimaryCtxRetain)(&context_, 0));
    ASSERT_SUCCESS(CU(cuCtxSetCurrent)(context_));
    ASSERT_SUCCESS(CU(cuStreamCreate)(&stream_, CU_STREAM_NON_BLOCKING));
  }
  CUgraph begin_capture() const {
    CUgraph graph = nullptr;
    CUstreamCaptureStatus status{};
    EXPECT_SUCCESS(CU(cuStreamBeginCapture)(stream_, CU_STREAM_CAPTURE_MODE_RELAXED));
    EXPECT_SUCCESS(CU(cuStreamGetCaptureInfo)(stream_, &status, nullptr, &graph, nullptr, nullptr, nullptr));
    return graph;
  }
  CUcontext context_ = nullptr;
  CUstream stream_ = nullptr;
};

TEST_F(WithStrictness, DISABLED_AStaleGraph) {
  CUgraph graph = nullptr;
  ASSERT_SUCCESS(CU(cuGraphCreate)(&graph, 0));
  ASSERT_SUCCESS(CU(cuGraphDestroy)(graph));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuGraphDestroy)(graph));
}
TEST_F(WithStrictness, DISABLED_AStaleStream) {
  ASSERT_SUCCESS(CU(cuStreamDestroy)(stream_));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_HANDLE, CU(cuStreamQuery)(stream_));
}
TEST_F(WithStrictness, DISABLED_ANodeOfACapture) {
  CUgraphNode node = nullptr;
  ASSERT_SUCCESS(CU(cuGraphAddEmptyNode)(&node, begin_capture(), nullptr, 0));
  EXPECT_SUCCESS(CU(cuGraphDestroyNode)(node));
}
TEST_F(WithStrictness, DISABLED_TheGraphOfACapture) { EXPECT_SUCCESS(CU(cuGraphDestroy)(begin_capture())); }
TEST_F(WithStrictness, DISABLED_AStreamThatIsCaptured) {
  begin_capture();
  EXPECT_SUCCESS(CU(cuStreamDestroy)(stream_));
}

TEST_F(Settings, StrictEndsWhatAGpusDriverMayCrashBy) {
  for (const char* test :
       {"AStaleGraph", "AStaleStream", "ANodeOfACapture", "TheGraphOfACapture", "AStreamThatIsCaptured"}) {
    const std::string name = std::string("WithStrictness.DISABLED_") + test;
    EXPECT_EQ(run_in_child(name, {"SOFTGPU_STRICT=0"}), 0) << test;
    EXPECT_NE(run_in_child(name, {"SOFTGPU_STRICT=1"}), 0) << test;
  }
}

// What no PTX is known to bring about: the compiler fails when a kernel is first launched. The call fails, and the log
// says why; what was loaded stays usable.
TEST(WithSettings, DISABLED_CompilerFails) {
  ASSERT_SUCCESS(CU(cuInit)(0));
  CUcontext context = nullptr;
  ASSERT_SUCCESS(CU(cuDevicePrimaryCtxRetain)(&context, 0));
  ASSERT_SUCCESS(CU(cuCtxSetCurrent)(context));
  const TestModule module(kKernels);
  CUdeviceptr memory = 0;
  ASSERT_SUCCESS(CU(cuMemAlloc)(&memory, 400));
  CUlogIterator start = 0;
  ASSERT_SUCCESS(CU(cuLogsCurrent)(&start, 0));
  for (int attempt = 0; attempt < 2; ++attempt) {
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_PTX, launch(module.function("increment"), 4, 32, nullptr, memory, 100));
    std::string log(25600, '\0');
    size_t size = log.size();
    ASSERT_SUCCESS(CU(cuLogsDumpToMemory)(&start, log.data(), &size, 0));
    log.resize(size);
    for (const char* words : {"kernel 'increment' can't be compiled", "pass make-gangs fails", "cuLaunchKernel"})
      EXPECT_NE(log.find(words), std::string::npos) << words << ": " << log;
  }
  EXPECT_SUCCESS(CU(cuMemsetD32)(memory, 7, 100));
  EXPECT_SUCCESS(CU(cuCtxSynchronize)());
}

TEST_F(Settings, AFailureOfTheCompilerReachesWhoLaunches) {
  EXPECT_EQ(
      run_in_child("WithSettings.DISABLED_CompilerFails", {"SOFTGPU_FAILING_PASS=make-gangs", "SOFTGPU_CACHE_SIZE=0"}),
      0);
  EXPECT_EQ(run_in_child("WithSettings.DISABLED_BadValue", {"SOFTGPU_FAILING_PASS=no-such-pass"}), 0);
}

TEST(WithSettings, DISABLED_TracedCalls) {
  std::fflush(stderr);
  ASSERT_SUCCESS(CU(cuInit)(0));
  CUcontext context = nullptr;
  ASSERT_SUCCESS(CU(cuDevicePrimaryCtxRetain)(&context, 0));
  ASSERT_SUCCESS(CU(cuCtxSetCurrent)(context));
  testing::internal::CaptureStderr();
  CUdeviceptr pointer = 0;
  ASSERT_SUCCESS(CU(cuMemAlloc)(&pointer, 1234));
  CUmodule module = nullptr;
  ASSERT_SUCCESS(CU(cuModuleLoadData)(&module, kKernels));
  CUfunction function = nullptr;
  EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_FOUND, CU(cuModuleGetFunction)(&function, module, "no_such_kernel"));
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = pointer;
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = pointer;
  copy.WidthInBytes = 77;
  copy.Height = 3;
  copy.srcPitch = copy.dstPitch = 99;
  ASSERT_SUCCESS(CU(cuMemcpy2D)(&copy));
  ASSERT_SUCCESS(CU(cuMemFree)(pointer));
  const std::string trace = testing::internal::GetCapturedStderr();
  char address[32];
  std::snprintf(address, sizeof address, "0x%llx", pointer);
  for (const std::string& expected :
       {std::string("softgpu: cuMemAlloc_v2("), " -> " + std::string(address) + ", bytesize=1234) -> CUDA_SUCCESS",
        std::string("name=\"no_such_kernel\") -> CUDA_ERROR_NOT_FOUND"), "device " + std::string(address) + " pitch 99",
        std::string("extent=(77, 3, 1)"), "softgpu: cuMemFree_v2(dptr=" + std::string(address) + ") -> CUDA_SUCCESS"})
    EXPECT_NE(trace.find(expected), std::string::npos) << expected << "\n" << trace;
}

TEST_F(Settings, TraceCallsWithTheirArguments) {
  EXPECT_EQ(run_in_child("WithSettings.DISABLED_TracedCalls", {"SOFTGPU_TRACE=calls"}), 0);
}

}  // namespace
}  // namespace conformance
