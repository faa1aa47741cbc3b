// The shapes of launches as values, and what of them a device or a kernel refuses.
#include <unordered_set>

#include "api/fixture.hpp"
#include "api/printed.hpp"

namespace cuprum::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(LaunchConfigValue, HasNoShapeUntilItIsGiven) {
  const LaunchConfig config;
  EXPECT_EQ(config.grid, Dim3(0, 0, 0));
  EXPECT_EQ(config.block, Dim3(0, 0, 0));
  EXPECT_EQ(config.cluster, std::nullopt);
  EXPECT_EQ(config.shmem_size, 0u);
  EXPECT_FALSE(config.is_cooperative);
  EXPECT_FALSE(config.programmatic_stream_serialization);
  EXPECT_EQ(config.priority, std::nullopt);
}

TEST(LaunchConfigValue, KeepsTheGridInClustersAsGiven) {
  const LaunchConfig config{.grid = {2, 3}, .block = 32, .cluster = Dim3(2, 2)};
  EXPECT_EQ(config.grid, Dim3(2, 3, 1));
  EXPECT_EQ(config.cluster, Dim3(2, 2, 1));
}

const std::vector<LaunchConfig>& all_different() {
  static const std::vector<LaunchConfig> configs = {
      {},
      {.grid = 2, .block = 1},
      {.grid = {1, 2}, .block = 1},
      {.grid = {1, 1, 2}, .block = 1},
      {.grid = 1, .block = 2},
      {.grid = 1, .block = 1, .cluster = Dim3()},
      {.grid = 1, .block = 1, .cluster = 2},
      {.grid = 1, .block = 1, .shmem_size = 2},
      {.grid = 1, .block = 1, .is_cooperative = true},
      {.grid = 1, .block = 1, .programmatic_stream_serialization = true},
      {.grid = 1, .block = 1, .priority = 0},
      {.grid = 1, .block = 1, .priority = -1},
  };
  return configs;
}

TEST(LaunchConfigValue, IsEqualWhenEverythingIs) {
  const auto& configs = all_different();
  for (std::size_t i = 0; i < configs.size(); ++i) {
    for (std::size_t j = 0; j < configs.size(); ++j) EXPECT_EQ(configs[i] == configs[j], i == j) << i << ' ' << j;
  }
}

TEST(LaunchConfigValue, HashesEveryMember) {
  std::unordered_set<std::size_t> hashes;
  for (const LaunchConfig& config : all_different()) {
    hashes.insert(std::hash<LaunchConfig>()(config));
    EXPECT_EQ(std::hash<LaunchConfig>()(config), std::hash<LaunchConfig>()(LaunchConfig(config)));
  }
  EXPECT_EQ(hashes.size(), all_different().size());
}

TEST(LaunchConfigValue, CanBeAKey) {
  std::unordered_set<LaunchConfig> configs(all_different().begin(), all_different().end());
  configs.insert({.grid = 2, .block = 1});
  EXPECT_EQ(configs.size(), all_different().size());
  EXPECT_TRUE(configs.contains({.grid = 1, .block = 1, .shmem_size = 2}));
  EXPECT_FALSE(configs.contains({.grid = 1, .block = 1, .shmem_size = 3}));
}

TEST(LaunchConfigValue, PrintsItsShape) {
  EXPECT_EQ(printed(LaunchConfig{.grid = 2, .block = {3, 4}}), "grid (2, 1, 1), block (3, 4, 1)");
  EXPECT_EQ(printed(Dim3(1, 2, 3)), "(1, 2, 3)");
}

TEST(LaunchConfigValue, PrintsWhatElseIsSet) {
  const LaunchConfig config{.grid = 1,
                            .block = 1,
                            .cluster = 2,
                            .shmem_size = 16,
                            .is_cooperative = true,
                            .programmatic_stream_serialization = true,
                            .priority = -1};
  EXPECT_EQ(printed(config),
            "grid (1, 1, 1), block (1, 1, 1), cluster (2, 1, 1), 16 bytes of dynamic shared memory, cooperative, "
            "programmatic stream serialization, priority -1");
}

/// Launches of a kernel that counts its threads.
class LaunchConfigTest : public ApiTest {
 protected:
  Stream stream = device.create_stream();
  Kernel count = compile("extern \"C\" __global__ void count(int* threads) { atomicAdd(threads, 1); }", "count");
  Buffer threads = upload(std::vector<int>{0}, stream);
  const DeviceProperties properties = device.properties();

  std::string refusal(const LaunchConfig& config) {
    return error_of<InvalidArgument>([&] { launch(stream, config, count, threads); });
  }

  int run(const LaunchConfig& config) {
    threads.fill<int>(0, stream);
    launch(stream, config, count, threads);
    return download<int>(threads, stream).front();
  }
};

/// An extent that is too large in one direction, and what the message has to say.
struct OverLimit {
  const char* axis;
  Dim3 (*extents)(std::int64_t);
  int (DeviceProperties::*limit)() const;
};

void PrintTo(const OverLimit& extent, std::ostream* out) { *out << extent.axis; }

TEST_F(LaunchConfigTest, TheGridAndTheBlockMustBeGiven) {
  EXPECT_THAT(refusal({.block = 32}),
              HasSubstr("launching kernel count: the configuration has no grid; give both, such "
                        "as {.grid = 1, .block = 256}"));
  EXPECT_THAT(refusal({.grid = 2}), HasSubstr("the configuration has no block"));
  EXPECT_THAT(refusal({}), HasSubstr("the configuration has no grid"));
}

class BlockLimit : public LaunchConfigTest, public ::testing::WithParamInterface<OverLimit> {};
class GridLimit : public LaunchConfigTest, public ::testing::WithParamInterface<OverLimit> {};

constexpr auto along_x = [](std::int64_t n) { return Dim3(n); };
constexpr auto along_y = [](std::int64_t n) { return Dim3(1, n); };
constexpr auto along_z = [](std::int64_t n) { return Dim3(1, 1, n); };

TEST_P(BlockLimit, IsNamed) {
  const auto [axis, extents, limit] = GetParam();
  const int most = (properties.*limit)();
  EXPECT_THAT(refusal({.grid = 1, .block = extents(most + 1)}),
              AllOf(HasSubstr("launching kernel count: block."), HasSubstr(std::string(axis) + " is "),
                    HasSubstr("over the limit of " + std::to_string(most)), HasSubstr(device.name())));
}

TEST_P(BlockLimit, ZeroIsTooFew) {
  EXPECT_THAT(refusal({.grid = 1, .block = GetParam().extents(0)}),
              HasSubstr(std::string("block.") + GetParam().axis + " is 0; it must be at least 1"));
}

TEST_P(BlockLimit, IsTheLastThatRuns) {
  const int most = (properties.*GetParam().limit)();
  EXPECT_EQ(run({.grid = 1, .block = GetParam().extents(most)}), most);
}

INSTANTIATE_TEST_SUITE_P(Each, BlockLimit,
                         ::testing::Values(OverLimit{"x", along_x, &DeviceProperties::max_block_dim_x},
                                           OverLimit{"y", along_y, &DeviceProperties::max_block_dim_y},
                                           OverLimit{"z", along_z, &DeviceProperties::max_block_dim_z}),
                         [](const auto& extent) { return std::string(extent.param.axis); });

TEST_P(GridLimit, IsNamed) {
  const auto [axis, extents, limit] = GetParam();
  const std::int64_t most = (properties.*limit)();
  EXPECT_THAT(refusal({.grid = extents(most + 1), .block = 1}),
              AllOf(HasSubstr(std::string("launching kernel count: grid.") + axis + " is "),
                    HasSubstr("over the limit of " + std::to_string(most)), HasSubstr(device.name())));
}

TEST_P(GridLimit, NegativeExtentsAreRefused) {
  EXPECT_THAT(refusal({.grid = GetParam().extents(-1), .block = 1}),
              HasSubstr(std::string("grid.") + GetParam().axis + " is -1; it must be at least 1"));
}

INSTANTIATE_TEST_SUITE_P(Each, GridLimit,
                         ::testing::Values(OverLimit{"x", along_x, &DeviceProperties::max_grid_dim_x},
                                           OverLimit{"y", along_y, &DeviceProperties::max_grid_dim_y},
                                           OverLimit{"z", along_z, &DeviceProperties::max_grid_dim_z}),
                         [](const auto& extent) { return std::string(extent.param.axis); });

TEST_F(LaunchConfigTest, ABlockHasAsManyThreadsAsTheDeviceAllows) {
  const int most = properties.max_threads_per_block();
  EXPECT_EQ(run({.grid = 1, .block = {most / 2, 2}}), most);
  EXPECT_THAT(refusal({.grid = 1, .block = {most / 2, 2, 2}}),
              HasSubstr("a block of " + std::to_string(2 * most) + " threads is over the limit of " +
                        std::to_string(most) + " threads per block of device 0"));
}

TEST_F(LaunchConfigTest, SharedMemoryIsCheckedWithTheKernelsOwn) {
  Kernel box = compile(
      "extern \"C\" __global__ void box(int* out) { __shared__ int b[256]; b[threadIdx.x] = 1; "
      "__syncthreads(); *out = b[blockDim.x - 1 - threadIdx.x]; }",
      "box");
  const int most = properties.max_shared_memory_per_block_optin();
  const auto config = [](int bytes) {
    return LaunchConfig{.grid = 1, .block = 1, .shmem_size = static_cast<std::size_t>(bytes)};
  };
  launch(stream, config(most - 1024), box, threads);
  EXPECT_EQ(download<int>(threads, stream).front(), 1);
  EXPECT_THAT(error_of<InvalidArgument>([&] { launch(stream, config(most), box, threads); }),
              AllOf(HasSubstr(std::to_string(most) + " bytes of dynamic and "),
                    HasSubstr(" bytes of static shared memory are over the limit of " + std::to_string(most))));
}

TEST_F(LaunchConfigTest, HandlesOfOneKernelDoNotTakeSharedMemoryFromEachOther) {
  const auto most = static_cast<std::size_t>(properties.max_shared_memory_per_block_optin());
  ObjectCode code = Program("extern \"C\" __global__ void touch() {}").compile(Target::cubin);
  Kernel one = code.get_kernel("touch");
  Kernel other = code.get_kernel("touch");
  launch(stream, {.grid = 1, .block = 1, .shmem_size = most}, one);
  launch(stream, {.grid = 1, .block = 1, .shmem_size = 49153}, other);
  launch(stream, {.grid = 1, .block = 1, .shmem_size = most}, one);
  stream.sync();
}

TEST_F(LaunchConfigTest, PrioritiesOfTheDeviceAreTaken) {
  int least = device.create_stream().priority();
  EXPECT_EQ(run({.grid = 1, .block = 2, .priority = least}), 2);
  EXPECT_EQ(run({.grid = 1, .block = 3, .priority = least - 1}), 3);
}

TEST_F(LaunchConfigTest, APriorityOutOfRangeIsRefused) {
  EXPECT_THAT(refusal({.grid = 1, .block = 1, .priority = 1}),
              AllOf(HasSubstr("launching kernel count: priority 1: device 0"), HasSubstr(" has priorities from "),
                    HasSubstr(" (first) to 0 (last)")));
  EXPECT_THAT(refusal({.grid = 1, .block = 1, .priority = -1000}), HasSubstr("priority -1000"));
}

TEST_F(LaunchConfigTest, ProgrammaticSerializationWaitsWhereTheKernelSaysSo) {
  if (device.compute_capability() < ComputeCapability{9, 0})
    GTEST_SKIP() << "programmatic serialization needs compute capability 9.0";
  ObjectCode code = Program(R"(
extern "C" __global__ void first(int* out) {
  asm volatile("griddepcontrol.launch_dependents;");
  for (int i = 0; i < 1000; ++i) atomicAdd(out, 1);
}
extern "C" __global__ void second(int* out) {
  asm volatile("griddepcontrol.wait;" ::: "memory");
  out[1] = out[0];
})")
                        .compile(Target::cubin);
  Buffer out = upload(std::vector<int>{0, 0}, stream);
  launch(stream, {.grid = 1, .block = 1}, code.get_kernel("first"), out);
  launch(stream, {.grid = 1, .block = 1, .programmatic_stream_serialization = true}, code.get_kernel("second"), out);
  EXPECT_EQ(download<int>(out, stream), (std::vector<int>{1000, 1000}));
}

TEST_F(LaunchConfigTest, ACooperativeGridMustFitOnTheDevice) {
  if (!properties.cooperative_launch()) GTEST_SKIP() << "the device has no cooperative launches";
  const int per_multiprocessor = count.occupancy().max_active_blocks_per_multiprocessor(128, 0);
  const int most = per_multiprocessor * properties.multiprocessor_count();
  EXPECT_EQ(run({.grid = most, .block = 128, .is_cooperative = true}), most * 128);
  EXPECT_THAT(refusal({.grid = most + 1, .block = 128, .is_cooperative = true}),
              AllOf(HasSubstr("launching kernel count: a cooperative grid of " + std::to_string(most + 1) +
                              " blocks is over the limit of " + std::to_string(most) + " blocks of 128 threads"),
                    HasSubstr(device.name()), HasSubstr("runs at the same time")));
}

TEST_F(LaunchConfigTest, BlocksOfACooperativeGridMeet) {
  if (!properties.cooperative_launch()) GTEST_SKIP() << "the device has no cooperative launches";
  Kernel meet = compile(R"(
extern "C" __global__ void meet(int* arrived, int* seen) {
  atomicAdd(arrived, 1);
  while (*(volatile int*)arrived < gridDim.x) {}
  atomicAdd(seen, 1);
})",
                        "meet");
  Buffer counters = upload(std::vector<int>{0, 0}, stream);
  launch(stream, {.grid = 4, .block = 1, .is_cooperative = true}, meet, counters, counters.handle() + sizeof(int));
  EXPECT_EQ(download<int>(counters, stream), (std::vector<int>{4, 4}));
}

TEST_F(LaunchConfigTest, ClustersAreRefusedWhereTheDeviceHasNone) {
  if (properties.cluster_launch()) GTEST_SKIP() << "the device has clusters";
  EXPECT_THAT(error_of<NotSupported>([&] { launch(stream, {.grid = 1, .block = 1, .cluster = 1}, count, threads); }),
              AllOf(HasSubstr("can't launch clusters"), HasSubstr("GPUs of 9.0 and newer can")));
}

TEST_F(LaunchConfigTest, AClusterOverTheLimitIsRefused) {
  if (!properties.cluster_launch()) GTEST_SKIP() << "the device has no clusters";
  EXPECT_EQ(run({.grid = 2, .block = 32, .cluster = 8}), 2 * 8 * 32);
  EXPECT_THAT(refusal({.grid = 1, .block = 32, .cluster = 64}),
              AllOf(HasSubstr("a cluster of 64 blocks is over the limit of "), HasSubstr(" blocks per cluster")));
  EXPECT_THAT(refusal({.grid = 1, .block = 1, .cluster = Dim3(2, 0)}),
              HasSubstr("cluster.y is 0; it must be at least 1"));
}

TEST_F(LaunchConfigTest, AKernelWithClustersOfItsOwnTakesNoOthers) {
  if (!properties.cluster_launch()) GTEST_SKIP() << "the device has no clusters";
  Kernel pairs =
      compile("extern \"C\" __global__ void __cluster_dims__(2, 1, 1) pairs(int* n) { atomicAdd(n, 1); }", "pairs");
  launch(stream, {.grid = 4, .block = 1}, pairs, threads);
  launch(stream, {.grid = 4, .block = 1, .cluster = 2}, pairs, threads);
  EXPECT_EQ(download<int>(threads, stream).front(), 4 + 8);
  EXPECT_THAT(error_of<InvalidArgument>([&] { launch(stream, {.grid = 3, .block = 1}, pairs, threads); }),
              HasSubstr("grid (3, 1, 1) is not a multiple of the clusters of (2, 1, 1) blocks"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { launch(stream, {.grid = 1, .block = 1, .cluster = 4}, pairs, threads); }),
              HasSubstr("cluster is (4, 1, 1), but the kernel was compiled for clusters of (2, 1, 1)"));
}

}  // namespace
}  // namespace cuprum::tests
