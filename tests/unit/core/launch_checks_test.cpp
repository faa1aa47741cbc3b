// The limits of devices that we don't have.
#include "core/launch_checks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cuprum/error.hpp>

namespace cuprum::core {
namespace {

using ::testing::HasSubstr;

class LaunchChecks : public ::testing::Test {
 protected:
  std::string refusal(const LaunchConfig& config) {
    try {
      check_shape(config, kernel, "k");
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  }

  const Context context{nullptr, 1, 0};
  DeviceFacts device{.device = 0,
                     .name = "Old GPU",
                     .compute_capability = {7, 5},
                     .max_threads_per_block = 1024,
                     .max_block_dim = {1024, 1024, 64},
                     .max_grid_dim = {2147483647, 65535, 65535},
                     .max_shared_memory_per_block = 49152,
                     .max_shared_memory_per_block_optin = 65536,
                     .cluster_launch = false,
                     .cooperative_launch = false,
                     .memory_pools = true,
                     .host_memory_pools = false};
  const ResolvedKernel kernel{context, device, nullptr, 1024, 1000, 49152, nullptr};
};

TEST_F(LaunchChecks, AcceptWhatFits) {
  EXPECT_EQ(refusal({.grid = {2147483647, 65535, 65535}, .block = {1024, 1, 1}}), "accepted");
  EXPECT_EQ(refusal({.block = {4, 4, 64}, .shmem_size = 64536}), "accepted");
}

TEST_F(LaunchChecks, CountStaticSharedMemory) {
  EXPECT_EQ(
      refusal({.shmem_size = 64537}),
      "launching kernel k: 64537 bytes of dynamic and 1000 bytes of static shared memory are over the limit of 65536 "
      "bytes per block of device 0 (Old GPU)");
}

TEST_F(LaunchChecks, NameTheDimension) {
  EXPECT_EQ(refusal({.block = {1, 1025}}),
            "launching kernel k: block.y is 1025, over the limit of 1024 of device 0 (Old GPU)");
  EXPECT_EQ(refusal({.grid = {1, 1, 65536}}),
            "launching kernel k: grid.z is 65536, over the limit of 65535 of device 0 (Old GPU)");
}

TEST_F(LaunchChecks, SayWhatClustersNeed) {
  EXPECT_EQ(refusal({.cluster = 2}),
            "launching kernel k: device 0 (Old GPU), of compute capability 7.5, can't launch clusters; GPUs of 9.0 and "
            "newer can");
}

TEST_F(LaunchChecks, CountTheGridInClusters) {
  device.cluster_launch = true;
  EXPECT_EQ(refusal({.grid = {1, 1000}, .cluster = Dim3(1, 8)}), "accepted");
  EXPECT_THAT(refusal({.grid = {1, 10000}, .cluster = Dim3(1, 8)}), HasSubstr("over the limit of 8191"));
  EXPECT_THAT(refusal({.cluster = Dim3(0)}), HasSubstr("cluster.x is 0; it must be at least 1"));
}

TEST_F(LaunchChecks, SayThatCooperativeLaunchesAreMissing) {
  EXPECT_THAT(refusal({.is_cooperative = true}), HasSubstr("has no cooperative launches"));
}

TEST(DescribeShape, NamesWhatIsSet) {
  EXPECT_EQ(describe_shape({.grid = 2, .block = {3, 4}}), "grid (2, 1, 1), block (3, 4, 1)");
  EXPECT_EQ(describe_shape({.cluster = 2, .shmem_size = 16, .is_cooperative = true}),
            "grid (1, 1, 1), block (1, 1, 1), cluster (2, 1, 1), 16 bytes of dynamic shared memory, cooperative");
}

}  // namespace
}  // namespace cuprum::core
