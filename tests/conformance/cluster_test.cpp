// Launches whose blocks form clusters: what may be asked for, and who decides on the size.
#include <optional>
#include <string>
#include <utility>

#include "conformance/driver.hpp"

namespace conformance {
namespace {

// A kernel (unsigned* out): block 0 writes the size of its cluster in blocks, and how many clusters there are.
std::string cluster_kernel(const std::string& name, const std::string& directives) {
  return ".visible .entry " + name + "(.param .u64 out) " + directives + R"({
  .reg .pred %p<2>;
  .reg .b32 %r<8>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [out];
  cvta.to.global.u64 %rd1, %rd1;
  mov.u32 %r1, %ctaid.x;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 exit;
  mov.u32 %r2, %cluster_nctarank;
  st.global.u32 [%rd1], %r2;
  mov.u32 %r3, %nclusterid.x;
  st.global.u32 [%rd1+4], %r3;
  ret;
}
)";
}

const std::string kClusterKernels = ".version 8.0\n.target sm_90\n.address_size 64\n" + cluster_kernel("plain", "") +
                                    cluster_kernel("pairs", ".explicitcluster .reqnctapercluster 2, 1, 1 ") +
                                    ".visible .entry at_most_four(.param .u64 out) .maxclusterrank 4 { ret; }\n";

class Cluster : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    int supported = 0;
    ASSERT_SUCCESS(CU(cuDeviceGetAttribute)(&supported, CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, device_));
    if (supported == 0) GTEST_SKIP() << "the device has no clusters";
    ASSERT_SUCCESS(CU(cuModuleLoadData)(&module_, kClusterKernels.c_str()));
    out_.emplace(2);
  }
  void TearDown() override {
    out_.reset();
    if (module_ != nullptr) CU(cuModuleUnload)(module_);
    DriverTest::TearDown();
  }
  CUfunction function(const char* name) {
    CUfunction function = nullptr;
    EXPECT_SUCCESS(CU(cuModuleGetFunction)(&function, module_, name));
    return function;
  }

  struct Extent {
    unsigned x = 1, y = 1, z = 1;
  };
  // A configuration of blocks of one thread; cluster.x of 0: none is asked for.
  CUlaunchConfig config(Extent grid, Extent cluster) {
    attribute_.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attribute_.value.clusterDim = {cluster.x, cluster.y, cluster.z};
    CUlaunchConfig config{};
    config.gridDimX = grid.x, config.gridDimY = grid.y, config.gridDimZ = grid.z;
    config.blockDimX = config.blockDimY = config.blockDimZ = 1;
    config.attrs = &attribute_;
    config.numAttrs = cluster.x != 0 ? 1 : 0;
    return config;
  }
  CUresult launch(const char* name, Extent grid, Extent cluster) { return launch(function(name), grid, cluster); }
  CUresult launch(CUfunction kernel, Extent grid, Extent cluster) {
    const CUlaunchConfig how = config(grid, cluster);
    CUdeviceptr out = out_->device();
    void* parameters[] = {&out};
    const CUresult result = CU(cuLaunchKernelEx)(&how, kernel, parameters, nullptr);
    EXPECT_SUCCESS(CU(cuCtxSynchronize)());
    return result;
  }
  unsigned blocks_per_cluster() const { return (*out_)[0]; }
  unsigned clusters() const { return (*out_)[1]; }

  CUmodule module_ = nullptr;
  CUlaunchAttribute attribute_{};
  std::optional<PinnedMemory<unsigned>> out_;  // needs a context
};

TEST_F(Cluster, LaunchAsksForThem) {
  ASSERT_SUCCESS(launch("plain", {8}, {2}));
  EXPECT_EQ(blocks_per_cluster(), 2u);
  EXPECT_EQ(clusters(), 4u);
  ASSERT_SUCCESS(launch("plain", {8, 2, 2}, {2, 2, 2}));
  EXPECT_EQ(blocks_per_cluster(), 8u);
  EXPECT_EQ(clusters(), 4u);
  ASSERT_SUCCESS(launch("plain", {8}, {0}));
  EXPECT_EQ(blocks_per_cluster(), 1u);
  EXPECT_EQ(clusters(), 8u);
}

TEST_F(Cluster, GridIsOfWholeClusters) {
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_CLUSTER_SIZE, launch("plain", {7}, {2}));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_CLUSTER_SIZE, launch("plain", {8, 3}, {2, 2}));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_CLUSTER_SIZE, launch("pairs", {3}, {0}));
}

TEST_F(Cluster, ANodesNextShapeHasToFitThoseThatItHas) {
  CUgraph graph = nullptr;
  ASSERT_SUCCESS(CU(cuGraphCreate)(&graph, 0));
  CUdeviceptr out = out_->device();
  void* parameters[] = {&out};
  CUDA_KERNEL_NODE_PARAMS params{};
  params.func = function("plain");
  params.gridDimX = 4;
  params.gridDimY = params.gridDimZ = params.blockDimX = params.blockDimY = params.blockDimZ = 1;
  params.kernelParams = parameters;
  CUgraphNode node = nullptr;
  ASSERT_SUCCESS(CU(cuGraphAddKernelNode)(&node, graph, nullptr, 0, &params));
  CUkernelNodeAttrValue cluster{};
  cluster.clusterDim = {2, 1, 1};
  EXPECT_SUCCESS(CU(cuGraphKernelNodeSetAttribute)(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &cluster));
  params.gridDimX = 3;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_CLUSTER_SIZE, CU(cuGraphKernelNodeSetParams)(node, &params));
  cluster.clusterDim = {0, 0, 0};
  EXPECT_SUCCESS(CU(cuGraphKernelNodeSetAttribute)(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &cluster));
  EXPECT_SUCCESS(CU(cuGraphKernelNodeSetParams)(node, &params));
  EXPECT_SUCCESS(CU(cuGraphDestroy)(graph));
}

TEST_F(Cluster, LargeOnesHaveToBeAllowed) {
  const CUfunction kernel = function("plain");
  EXPECT_SUCCESS(launch(kernel, {8}, {8}));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_CLUSTER_SIZE, launch(kernel, {16}, {16}));
  ASSERT_SUCCESS(CU(cuFuncSetAttribute)(kernel, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
  EXPECT_SUCCESS(launch(kernel, {16}, {16}));
  EXPECT_EQ(blocks_per_cluster(), 16u);
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_CLUSTER_SIZE, launch(kernel, {32}, {32}));
}

TEST_F(Cluster, KernelWithASizeOfItsOwnTakesNoOther) {
  ASSERT_SUCCESS(launch("pairs", {6}, {0}));
  EXPECT_EQ(blocks_per_cluster(), 2u);
  EXPECT_EQ(clusters(), 3u);
  EXPECT_SUCCESS(launch("pairs", {6}, {2}));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_CLUSTER_SIZE, launch("pairs", {8}, {4}));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_CLUSTER_SIZE, launch("at_most_four", {8}, {8}));
  EXPECT_SUCCESS(launch("at_most_four", {8}, {4}));
}

TEST_F(Cluster, AttributesTellWhatTheKernelNeeds) {
  const auto attribute = [&](const char* name, CUfunction_attribute which) {
    int value = -1;
    EXPECT_SUCCESS(CU(cuFuncGetAttribute)(&value, which, function(name)));
    return value;
  };
  EXPECT_EQ(attribute("pairs", CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET), 1);
  EXPECT_EQ(attribute("plain", CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET), 0);
  EXPECT_EQ(attribute("pairs", CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH), 2);
  EXPECT_EQ(attribute("pairs", CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH), 1);
  EXPECT_EQ(attribute("plain", CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH), 0);
}

TEST_F(Cluster, AttributesCanRequireASize) {
  const CUfunction kernel = function("plain");
  for (const CUfunction_attribute extent :
       {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT,
        CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH})
    ASSERT_SUCCESS(CU(cuFuncSetAttribute)(kernel, extent, extent == CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH ? 4 : 1));
  ASSERT_SUCCESS(launch(kernel, {8}, {0}));
  EXPECT_EQ(blocks_per_cluster(), 4u);
}

TEST_F(Cluster, GridsOfSomeKernelsCountThem) {
  const TestModule module(
      ".version 9.0\n.target sm_90\n.address_size 64\n"
      ".visible .entry k(.param .u64 out) .blocksareclusters .reqntid 1, 1, 1 .reqnctapercluster 2, 1, 1 {\n"
      ".reg .b32 %r<3>; .reg .b64 %d; ld.param.u64 %d, [out]; cvta.to.global.u64 %d, %d;\n"
      "mov.u32 %r0, %cluster_nctarank; st.global.u32 [%d], %r0; mov.u32 %r1, %nclusterid.x; st.global.u32 [%d+4], %r1; "
      "ret; }");
  ASSERT_SUCCESS(launch(module.function("k"), {3}, {0}));
  EXPECT_EQ(blocks_per_cluster(), 2u);
  EXPECT_EQ(clusters(), 3u);
}

TEST_F(Cluster, NodesOfGraphsHaveThem) {
  const TestStream stream(CU_STREAM_NON_BLOCKING);
  CUlaunchConfig how = config({6}, {3});
  how.hStream = stream.get();
  CUdeviceptr out = out_->device();
  void* parameters[] = {&out};
  ASSERT_SUCCESS(CU(cuStreamBeginCapture)(stream.get(), CU_STREAM_CAPTURE_MODE_RELAXED));
  EXPECT_SUCCESS(CU(cuLaunchKernelEx)(&how, function("plain"), parameters, nullptr));
  CUgraph graph = nullptr;
  ASSERT_SUCCESS(CU(cuStreamEndCapture)(stream.get(), &graph));
  CUgraphExec exec = nullptr;
  ASSERT_SUCCESS(CU(cuGraphInstantiate)(&exec, graph, 0));
  ASSERT_SUCCESS(CU(cuGraphLaunch)(exec, stream.get()));
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  EXPECT_EQ(blocks_per_cluster(), 3u);
  EXPECT_EQ(clusters(), 2u);
  EXPECT_SUCCESS(CU(cuGraphExecDestroy)(exec));
  EXPECT_SUCCESS(CU(cuGraphDestroy)(graph));
}

TEST_F(Cluster, OccupancyKnowsHowLargeTheyCanBe) {
  const CUfunction kernel = function("plain");
  CUlaunchConfig how = config({64}, {0});
  how.blockDimX = 128;
  int size = 0;
  ASSERT_SUCCESS(CU(cuOccupancyMaxPotentialClusterSize)(&size, kernel, &how));
  EXPECT_EQ(size, 8);
  ASSERT_SUCCESS(CU(cuOccupancyMaxPotentialClusterSize)(&size, function("pairs"), &how));
  EXPECT_EQ(size, 8);
  ASSERT_SUCCESS(CU(cuFuncSetAttribute)(kernel, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
  ASSERT_SUCCESS(CU(cuOccupancyMaxPotentialClusterSize)(&size, kernel, &how));
  EXPECT_EQ(size, 16);
}

TEST_F(Cluster, OccupancyCountsThoseThatFit) {
  const CUfunction kernel = function("plain");
  const auto count = [&](unsigned blocks, unsigned threads) {
    CUlaunchConfig how = config({64}, {blocks});
    how.blockDimX = threads;
    int clusters = -1;
    EXPECT_SUCCESS(CU(cuOccupancyMaxActiveClusters)(&clusters, kernel, &how));
    return clusters;
  };
  EXPECT_GE(count(8, 1024), 1);
  EXPECT_GT(count(1, 128), count(2, 128));
  EXPECT_GE(count(2, 32), count(2, 1024));
  EXPECT_EQ(count(0, 128), 0) << "nobody names a size";
  ASSERT_SUCCESS(CU(cuFuncSetAttribute)(kernel, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
  EXPECT_EQ(count(32, 128), 0);
}

TEST_F(Cluster, OccupancyIsOfPossibleLaunches) {
  const CUfunction kernel = function("plain");
  for (const auto& [blocks, cluster] : {std::pair{64u, 3u}, std::pair{1u, 2u}, std::pair{64u, 16u}}) {
    const CUlaunchConfig how = config({blocks}, {cluster});
    int answer = 0;
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_CLUSTER_SIZE, CU(cuOccupancyMaxActiveClusters)(&answer, kernel, &how));
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_CLUSTER_SIZE, CU(cuOccupancyMaxPotentialClusterSize)(&answer, kernel, &how));
  }
}

TEST_F(Cluster, NoExtentIsZero) {
  CUdeviceptr out = out_->device();
  void* parameters[] = {&out};
  CUlaunchConfig how = config({8}, {1, 0, 1});
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_CLUSTER_SIZE,
                    CU(cuLaunchKernelEx)(&how, function("plain"), parameters, nullptr));
}

TEST_F(Cluster, ThreeZerosAskForNone) {
  CUlaunchConfig how = config({4}, {0});
  attribute_.value.clusterDim = {0, 0, 0};
  how.numAttrs = 1;
  CUdeviceptr out = out_->device();
  void* parameters[] = {&out};
  EXPECT_SUCCESS(CU(cuLaunchKernelEx)(&how, function("plain"), parameters, nullptr));
  EXPECT_SUCCESS(CU(cuCtxSynchronize)());
}

TEST_F(Cluster, PreferredOnesAreMadeOfThoseOfTheLaunch) {
  CUlaunchConfig how = config({8}, {2});
  CUlaunchAttribute both[2] = {attribute_, {}};
  both[1].id = CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION;
  how.attrs = both;
  how.numAttrs = 2;
  CUdeviceptr out = out_->device();
  void* parameters[] = {&out};
  both[1].value.preferredClusterDim = {4, 1, 1};
  EXPECT_SUCCESS(CU(cuLaunchKernelEx)(&how, function("plain"), parameters, nullptr));
  both[1].value.preferredClusterDim = {3, 1, 1};
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_CLUSTER_SIZE,
                    CU(cuLaunchKernelEx)(&how, function("plain"), parameters, nullptr));
  how.attrs = both + 1;
  how.numAttrs = 1;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_CLUSTER_SIZE,
                    CU(cuLaunchKernelEx)(&how, function("plain"), parameters, nullptr));
  EXPECT_SUCCESS(CU(cuCtxSynchronize)());
}

TEST_F(Cluster, PolicyIsOneOfThree) {
  CUlaunchConfig how = config({4}, {2});
  CUlaunchAttribute both[2] = {attribute_, {}};
  both[1].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE;
  both[1].value.clusterSchedulingPolicyPreference = CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING;
  how.attrs = both;
  how.numAttrs = 2;
  CUdeviceptr out = out_->device();
  void* parameters[] = {&out};
  EXPECT_SUCCESS(CU(cuLaunchKernelEx)(&how, function("plain"), parameters, nullptr));
  EXPECT_SUCCESS(CU(cuCtxSynchronize)());
  both[1].value.clusterSchedulingPolicyPreference = static_cast<CUclusterSchedulingPolicy>(3);
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuLaunchKernelEx)(&how, function("plain"), parameters, nullptr));
}

}  // namespace
}  // namespace conformance
