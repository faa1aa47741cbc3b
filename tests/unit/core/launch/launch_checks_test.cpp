// The limits of devices that we don't have.
#include "core/launch/launch_checks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cuprum/error.hpp>

namespace cuprum::core {
namespace {

using ::testing::HasSubstr;

class LaunchChecks : public ::testing::Test {
 protected:
  static std::string refusal_of(auto&& check) {
    try {
      check();
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  }

  std::string refusal(const LaunchConfig& config) {
    return refusal_of([&] { check_shape(config, kernel, "k"); });
  }

  const ContextRecord context{nullptr, 1, 0};
  DeviceFacts device{.device = 0,
                     .name = "Old GPU",
                     .compute_capability = {7, 5},
                     .multiprocessor_count = 10,
                     .max_threads_per_block = 1024,
                     .max_block_dim = {1024, 1024, 64},
                     .max_grid_dim = {2147483647, 65535, 65535},
                     .max_shared_memory_per_block = 49152,
                     .max_shared_memory_per_block_optin = 65536,
                     .cluster_launch = false,
                     .cooperative_launch = false,
                     .memory_pools = true,
                     .host_memory_pools = false};
  ResolvedKernel kernel{&context, device, nullptr, 1024, 1000, 49152, Dim3(0, 0, 0), {0, -5}, nullptr};
};

TEST_F(LaunchChecks, AcceptWhatFits) {
  EXPECT_EQ(refusal({.grid = {2147483647, 65535, 65535}, .block = {1024, 1, 1}}), "accepted");
  EXPECT_EQ(refusal({.grid = 1, .block = {4, 4, 64}, .shmem_size = 64536}), "accepted");
}

TEST_F(LaunchChecks, CountStaticSharedMemory) {
  EXPECT_EQ(
      refusal({.grid = 1, .block = 1, .shmem_size = 64537}),
      "launching kernel k: 64537 bytes of dynamic and 1000 bytes of static shared memory are over the limit of 65536 "
      "bytes per block of device 0 (Old GPU)");
}

TEST_F(LaunchChecks, NameTheDimension) {
  EXPECT_EQ(refusal({.grid = 1, .block = {1, 1025}}),
            "launching kernel k: block.y is 1025, over the limit of 1024 of device 0 (Old GPU)");
  EXPECT_EQ(refusal({.grid = {1, 1, 65536}, .block = 1}),
            "launching kernel k: grid.z is 65536, over the limit of 65535 of device 0 (Old GPU)");
}

TEST_F(LaunchChecks, SayWhatClustersNeed) {
  EXPECT_EQ(refusal({.grid = 1, .block = 1, .cluster = 2}),
            "launching kernel k: device 0 (Old GPU), of compute capability 7.5, can't launch clusters; GPUs of 9.0 and "
            "newer can");
}

TEST_F(LaunchChecks, CountTheGridInClusters) {
  device.cluster_launch = true;
  EXPECT_EQ(refusal({.grid = {1, 1000}, .block = 1, .cluster = Dim3(1, 8)}), "accepted");
  EXPECT_THAT(refusal({.grid = {1, 10000}, .block = 1, .cluster = Dim3(1, 8)}), HasSubstr("over the limit of 8191"));
  EXPECT_THAT(refusal({.grid = 1, .block = 1, .cluster = Dim3(0)}), HasSubstr("cluster.x is 0; it must be at least 1"));
}

TEST_F(LaunchChecks, SayThatCooperativeLaunchesAreMissing) {
  EXPECT_THAT(refusal({.grid = 1, .block = 1, .is_cooperative = true}), HasSubstr("has no cooperative launches"));
}

TEST_F(LaunchChecks, SayHowManyBlocksOfACooperativeGridFit) {
  const LaunchConfig config{.grid = {21, 2}, .block = 64, .shmem_size = 100, .is_cooperative = true};
  EXPECT_EQ(refusal_of([&] { check_co_residency(config, kernel, "k", 4); }),
            "launching kernel k: a cooperative grid of 42 blocks is over the limit of 40 blocks of 64 threads and 100 "
            "bytes of "
            "dynamic shared memory that device 0 (Old GPU) runs at the same time; launch fewer, and let each do more");
  EXPECT_EQ(refusal_of([&] { check_co_residency(config, kernel, "k", 5); }), "accepted");
}

TEST_F(LaunchChecks, CountTheBlocksOfClustersInACooperativeGrid) {
  const LaunchConfig config{.grid = 11, .block = 1, .cluster = 4, .is_cooperative = true};
  EXPECT_THAT(refusal_of([&] { check_co_residency(config, kernel, "k", 4); }),
              HasSubstr("a cooperative grid of 44 blocks is over the limit of 40 blocks"));
}

TEST_F(LaunchChecks, NameTheLargestCluster) {
  EXPECT_EQ(refusal_of([&] { check_cluster_size({.grid = 1, .block = 1, .cluster = Dim3(4, 4)}, kernel, "k", 8); }),
            "launching kernel k: a cluster of 16 blocks is over the limit of 8 blocks per cluster for this launch on "
            "device 0 (Old GPU)");
  EXPECT_EQ(refusal_of([&] { check_cluster_size({.grid = 1, .block = 1, .cluster = Dim3(4, 4)}, kernel, "k", 16); }),
            "accepted");
}

TEST_F(LaunchChecks, HoldAKernelToTheClustersItWasCompiledFor) {
  device.cluster_launch = true;
  kernel.required_cluster = Dim3(2, 2);
  EXPECT_EQ(refusal({.grid = {4, 2}, .block = 1}), "accepted");
  EXPECT_EQ(refusal({.grid = {3, 1}, .block = 1, .cluster = Dim3(2, 2)}), "accepted");
  EXPECT_EQ(refusal({.grid = {4, 3}, .block = 1}),
            "launching kernel k: grid (4, 3, 1) is not a multiple of the clusters of (2, 2, 1) blocks that the kernel "
            "was compiled for");
  EXPECT_EQ(
      refusal({.grid = 1, .block = 1, .cluster = 4}),
      "launching kernel k: cluster is (4, 1, 1), but the kernel was compiled for clusters of (2, 2, 1); pass that "
      "or no cluster");
}

TEST_F(LaunchChecks, NameThePriorities) {
  EXPECT_EQ(refusal({.grid = 1, .block = 1, .priority = 0}), "accepted");
  EXPECT_EQ(refusal({.grid = 1, .block = 1, .priority = -5}), "accepted");
  EXPECT_EQ(refusal({.grid = 1, .block = 1, .priority = -6}),
            "launching kernel k: priority -6: device 0 (Old GPU) has priorities from -5 (first) to 0 (last)");
  EXPECT_THAT(refusal({.grid = 1, .block = 1, .priority = 1}), HasSubstr("priority 1:"));
}

}  // namespace
}  // namespace cuprum::core
