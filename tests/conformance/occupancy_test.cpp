// Occupancy: how many blocks of a kernel a multiprocessor holds.
#include <vector>

#include "conformance/driver.hpp"
#include "conformance/kernels.hpp"

namespace conformance {
namespace {

class Occupancy : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    ASSERT_SUCCESS(CU(cuModuleLoadData)(&module_, kKernels));
    ASSERT_SUCCESS(CU(cuModuleGetFunction)(&function_, module_, "increment"));
  }
  void TearDown() override {
    EXPECT_SUCCESS(CU(cuModuleUnload)(module_));
    DriverTest::TearDown();
  }

  int attribute(CUdevice_attribute which) {
    int value = 0;
    EXPECT_SUCCESS(CU(cuDeviceGetAttribute)(&value, which, device_));
    return value;
  }
  int blocks(int threads, size_t shared = 0) {
    int count = -1;
    EXPECT_SUCCESS(CU(cuOccupancyMaxActiveBlocksPerMultiprocessor)(&count, function_, threads, shared));
    return count;
  }

  CUmodule module_ = nullptr;
  CUfunction function_ = nullptr;
};

TEST_F(Occupancy, ThreadsAndBlocksLimitSmallKernels) {
  const int threads = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  const int most = attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
  EXPECT_EQ(blocks(1024), threads / 1024);
  EXPECT_EQ(blocks(32), most);
  int with_flags = -1;
  ASSERT_SUCCESS(CU(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags)(&with_flags, function_, 1024, 0,
                                                                          CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE));
  EXPECT_EQ(with_flags, blocks(1024));
}

TEST_F(Occupancy, SharedMemoryLimitsThem) {
  EXPECT_LT(blocks(32, 40 * 1024), blocks(32, 0));
  EXPECT_GT(blocks(32, 40 * 1024), 0);
}

size_t kilobyte_per_warp(int threads) { return static_cast<size_t>(threads) / 32 * 1024; }

TEST_F(Occupancy, BestBlockSizeRespectsItsLimit) {
  const int multiprocessors = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  int grid = 0, block = 0;
  ASSERT_SUCCESS(CU(cuOccupancyMaxPotentialBlockSize)(&grid, &block, function_, nullptr, 0, 0));
  EXPECT_EQ(grid, multiprocessors * blocks(block));
  ASSERT_SUCCESS(CU(cuOccupancyMaxPotentialBlockSize)(&grid, &block, function_, nullptr, 0, 100));
  EXPECT_LE(block, 100);
  ASSERT_SUCCESS(CU(cuOccupancyMaxPotentialBlockSizeWithFlags)(&grid, &block, function_, kilobyte_per_warp, 0, 0,
                                                               CU_OCCUPANCY_DEFAULT));
  EXPECT_GT(block, 0);
  EXPECT_EQ(grid, multiprocessors * blocks(block, kilobyte_per_warp(block)));
}

TEST_F(Occupancy, AvailableSharedMemoryLetsTheBlocksFit) {
  for (const int count : {1, 4}) {
    size_t shared = 0;
    ASSERT_SUCCESS(CU(cuOccupancyAvailableDynamicSMemPerBlock)(&shared, function_, count, 64));
    EXPECT_GT(shared, 0u);
    EXPECT_GE(blocks(64, shared), count);
  }
}

TEST_F(Occupancy, KernelsOfALibraryCanBeAskedAbout) {
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  ASSERT_SUCCESS(CU(cuLibraryLoadData)(&library, kKernels, nullptr, nullptr, 0, nullptr, nullptr, 0));
  ASSERT_SUCCESS(CU(cuLibraryGetKernel)(&kernel, library, "increment"));
  int count = 0;
  ASSERT_SUCCESS(
      CU(cuOccupancyMaxActiveBlocksPerMultiprocessor)(&count, reinterpret_cast<CUfunction>(kernel), 1024, 0));
  EXPECT_EQ(count, blocks(1024));
  EXPECT_SUCCESS(CU(cuLibraryUnload)(library));
}

TEST_F(Occupancy, ClustersAreCounted) {
  CUlaunchAttribute cluster{};
  cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  cluster.value.clusterDim = {1, 1, 1};
  CUlaunchConfig config{};
  config.gridDimX = config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = 1024;
  config.blockDimY = config.blockDimZ = 1;
  config.attrs = &cluster;
  config.numAttrs = 1;
  int size = 0, count = 0;
  ASSERT_SUCCESS(CU(cuOccupancyMaxPotentialClusterSize)(&size, function_, &config));
  EXPECT_GE(size, 1);
  ASSERT_SUCCESS(CU(cuOccupancyMaxActiveClusters)(&count, function_, &config));
  EXPECT_EQ(count, blocks(1024) * attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuOccupancyMaxActiveClusters)(&count, function_, nullptr));
  if (attribute(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH) != 0) return;
  cluster.value.clusterDim = {2, 1, 1};
  ASSERT_SUCCESS(CU(cuOccupancyMaxActiveClusters)(&count, function_, &config));
  EXPECT_EQ(count, 0) << "it has none";
}

TEST_F(Occupancy, WrongArgumentsAreRefused) {
  int count = 0, grid = 0;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuOccupancyMaxActiveBlocksPerMultiprocessor)(&count, function_, 0, 0));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE,
                    CU(cuOccupancyMaxActiveBlocksPerMultiprocessor)(nullptr, function_, 32, 0));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE,
                    CU(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags)(&count, function_, 32, 0, 64));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE,
                    CU(cuOccupancyMaxPotentialBlockSize)(&grid, nullptr, function_, nullptr, 0, 0));
}

}  // namespace
}  // namespace conformance
