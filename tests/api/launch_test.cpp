#include <array>

#include "api/fixture.hpp"

namespace cuprum::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class LaunchTest : public ApiTest {
 protected:
  Stream stream = device.create_stream();
};

TEST(CeilDiv, RoundsUp) {
  static_assert(ceil_div(0, 256) == 0);
  static_assert(ceil_div(1, 256) == 1);
  static_assert(ceil_div(std::size_t{256}, 256) == 1);
  static_assert(ceil_div(257, 256u) == 2);
  static_assert(ceil_div(std::numeric_limits<std::size_t>::max(), 2) == std::size_t{1} << 63);
}

TEST(Dim3Test, IsWrittenAsANumberOrAList) {
  EXPECT_EQ(Dim3(7), Dim3(7, 1, 1));
  const LaunchConfig config{.grid = {2, 3u}, .block = {std::size_t{4}, 5, 6}};
  EXPECT_EQ(config.grid, Dim3(2, 3, 1));
  EXPECT_EQ(config.block, Dim3(4, 5, 6));
  EXPECT_EQ(Dim3(~std::size_t{0}).x, std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(Dim3(-1).x, -1);
}

constexpr const char* kinds_source = R"(
struct Point { double x; int y; char z; };
extern "C" __global__ void kinds(double* out, bool b, char c, short s, int i, long long l, float f, double d, Point p, int* null) {
  out[0] = b; out[1] = c; out[2] = s; out[3] = i; out[4] = l; out[5] = f; out[6] = d; out[7] = p.x + p.y + p.z; out[8] = null == nullptr;
}
)";

TEST_F(LaunchTest, PassesEveryKindOfArgument) {
  struct Place {
    double x;
    int y;
    char z;
  };
  Kernel kinds = compile(kinds_source, "kinds");
  Buffer out = device.allocate(9 * sizeof(double), stream);
  launch(stream, {.grid = 1, .block = 1}, kinds, out, true, 'a', short{-3}, 1 << 20, 1ll << 40, 0.5f, 0.25,
         Place{1.5, 2, 3}, nullptr);
  EXPECT_EQ(download<double>(out, stream),
            (std::vector<double>{1, 'a', -3, 1 << 20, 1099511627776.0, 0.5, 0.25, 6.5, 1}));
}

TEST_F(LaunchTest, PassesPointersAndRawAddresses) {
  Kernel scale = compile(scale_source, "scale");
  Buffer data = upload(numbers(4), stream);
  launch(stream, {.grid = 1, .block = 4}, scale, reinterpret_cast<float*>(data.handle()), 2.0f, std::size_t{4});
  launch(stream, {.grid = 1, .block = 4}, scale, data.handle(), 5.0f, std::size_t{4});
  EXPECT_EQ(download<float>(data, stream)[3], 30.0f);
}

constexpr const char* index_source = R"(
extern "C" __global__ void index(unsigned* out) {
  unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  unsigned i = block * blockDim.x * blockDim.y * blockDim.z + thread;
  out[i] = i;
}
)";

TEST_F(LaunchTest, RunsGridsOfThreeDimensions) {
  Kernel index = compile(index_source, "index");
  constexpr std::size_t count = 2 * 3 * 4 * 5 * 6 * 7;
  Buffer out = device.allocate(count * sizeof(unsigned), stream);
  launch(stream, {.grid = {2, 3, 4}, .block = {5, 6, 7}}, index, out);
  std::vector<unsigned> expected(count);
  std::iota(expected.begin(), expected.end(), 0u);
  EXPECT_EQ(download<unsigned>(out, stream), expected);
}

constexpr const char* reverse_source = R"(
extern "C" __global__ void reverse(int* data) {
  extern __shared__ int box[];
  box[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  data[threadIdx.x] = box[blockDim.x - 1 - threadIdx.x];
}
)";

TEST_F(LaunchTest, GivesDynamicSharedMemory) {
  Kernel reverse = compile(reverse_source, "reverse");
  Buffer data = upload(std::vector<int>{1, 2, 3, 4}, stream);
  launch(stream, {.grid = 1, .block = 4, .shmem_size = 16}, reverse, data);
  EXPECT_EQ(download<int>(data, stream), (std::vector<int>{4, 3, 2, 1}));
}

TEST_F(LaunchTest, GivesMoreThan48KiBWhenTheDeviceHasThem) {
  const auto most = static_cast<std::size_t>(device.properties().max_shared_memory_per_block_optin());
  Kernel reverse = compile(reverse_source, "reverse");
  Buffer data = upload(std::vector<int>{1, 2}, stream);
  launch(stream, {.grid = 1, .block = 2, .shmem_size = most}, reverse, data);
  EXPECT_EQ(download<int>(data, stream), (std::vector<int>{2, 1}));
  EXPECT_THAT(error_of<InvalidArgument>(
                  [&] { launch(stream, {.grid = 1, .block = 2, .shmem_size = most + 1}, reverse, data); }),
              AllOf(HasSubstr("launching kernel reverse"), HasSubstr("over the limit of " + std::to_string(most)),
                    HasSubstr(device.name())));
}

constexpr const char* count_source = R"(
extern "C" __global__ void count(int* threads) { atomicAdd(threads, 1); }
)";

TEST_F(LaunchTest, CooperativeLaunchesRunWhereTheDeviceHasThem) {
  Kernel count = compile(count_source, "count");
  Buffer threads = upload(std::vector<int>{0}, stream);
  auto cooperative = [&] { launch(stream, {.grid = 1, .block = 64, .is_cooperative = true}, count, threads); };
  if (device.properties().cooperative_launch()) {
    cooperative();
    EXPECT_EQ(download<int>(threads, stream).front(), 64);
  } else {
    EXPECT_THAT(error_of<NotSupported>(cooperative), HasSubstr("has no cooperative launches"));
  }
}

TEST_F(LaunchTest, TheGridOfAClusterLaunchCountsClusters) {
  Kernel count = compile(count_source, "count");
  Buffer threads = upload(std::vector<int>{0}, stream);
  auto clusters = [&] { launch(stream, {.grid = 3, .block = 32, .cluster = 2}, count, threads); };
  if (device.properties().cluster_launch()) {
    clusters();
    EXPECT_EQ(download<int>(threads, stream).front(), 3 * 2 * 32);
  } else {
    EXPECT_THAT(error_of<NotSupported>(clusters), HasSubstr("can't launch clusters"));
  }
}

// Each thread reads what the same thread of the cluster's next block has written to its shared memory.
constexpr const char* neighbours_source = R"(
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void neighbours(unsigned* out) {
  __shared__ unsigned cell[32];
  const auto grid = cg::this_grid();
  const auto cluster = cg::this_cluster();
  const unsigned thread = threadIdx.x, next = (cluster.block_rank() + 1) % cluster.num_blocks();
  cell[thread] = 1000 * blockIdx.x + thread;
  cluster.sync();
  const unsigned* remote = cluster.map_shared_rank(cell, next);
  const bool consistent = cluster.query_shared_rank(remote) == next && cluster.dim_blocks().x == 4 &&
                          grid.num_clusters() == 2 && grid.cluster_rank() == blockIdx.x / 4;
  out[grid.thread_rank()] = consistent ? remote[thread] : 0;
  cluster.sync();
}
)";

TEST_F(LaunchTest, BlocksOfAClusterSeeEachOthersSharedMemory) {
  if (!device.properties().cluster_launch()) GTEST_SKIP() << "the device has no clusters";
  Kernel neighbours = compile(neighbours_source, "neighbours");
  Buffer out = device.allocate(8 * 32 * sizeof(unsigned), stream);
  launch(stream, {.grid = 2, .block = 32, .cluster = 4}, neighbours, out);
  const auto values = download<unsigned>(out, stream);
  for (unsigned i = 0; i < values.size(); ++i) {
    const unsigned block = i / 32, next = block / 4 * 4 + (block + 1) % 4;
    EXPECT_EQ(values[i], 1000 * next + i % 32) << i;
  }
}

TEST_F(LaunchTest, RefusesTheWrongNumberOfArguments) {
  Kernel scale = compile(scale_source, "scale");
  Buffer data = device.allocate(64, stream);
  EXPECT_THAT(error_of<InvalidArgument>([&] { launch(stream, {.grid = 1, .block = 1}, scale, data, 1.0f); }),
              HasSubstr("launching kernel scale: it takes 3 arguments of 8, 4, 8 bytes; 2 were given of 8, 4 bytes"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { launch(stream, {.grid = 1, .block = 1}, scale); }),
              HasSubstr("; 0 were given"));
}

TEST_F(LaunchTest, RefusesAnArgumentOfTheWrongSize) {
  Kernel scale = compile(scale_source, "scale");
  Buffer data = device.allocate(64, stream);
  EXPECT_THAT(
      error_of<InvalidArgument>([&] { launch(stream, {.grid = 1, .block = 1}, scale, data, 1.0, std::size_t{1}); }),
      HasSubstr("argument 2 of 3 has 8 bytes, but the kernel's parameter has 4"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { launch(stream, {.grid = 1, .block = 1}, scale, data, 1.0f, 1); }),
              HasSubstr("argument 3 of 3 has 4 bytes, but the kernel's parameter has 8"));
}

TEST_F(LaunchTest, RefusesABlockOverTheLimit) {
  Kernel scale = compile(scale_source, "scale");
  auto launch_block = [&](const Dim3& block) {
    return error_of<InvalidArgument>(
        [&] { launch(stream, {.grid = 1, .block = block}, scale, nullptr, 1.0f, std::size_t{0}); });
  };
  const DeviceProperties properties = device.properties();
  EXPECT_THAT(
      launch_block(properties.max_block_dim_x() + 1),
      AllOf(HasSubstr("block.x is "), HasSubstr("over the limit of " + std::to_string(properties.max_block_dim_x())),
            HasSubstr(device.name())));
  EXPECT_THAT(launch_block({1, 1, properties.max_block_dim_z() + 1}), HasSubstr("block.z is "));
  EXPECT_THAT(launch_block({64, 64}), AllOf(HasSubstr("a block of 4096 threads is over the limit of "),
                                            HasSubstr("threads per block of device 0")));
  EXPECT_THAT(launch_block(0), HasSubstr("block.x is 0; it must be at least 1"));
  EXPECT_THAT(launch_block(-5), HasSubstr("block.x is -5; it must be at least 1"));
}

TEST_F(LaunchTest, RefusesABlockOverTheKernelsOwnLimit) {
  Kernel small = compile("extern \"C\" __global__ void __launch_bounds__(64) small() {}", "small");
  EXPECT_THAT(error_of<InvalidArgument>([&] { launch(stream, {.grid = 1, .block = 65}, small); }),
              AllOf(HasSubstr("a block of 65 threads is over the limit of 64 threads per block of this kernel"),
                    HasSubstr("__launch_bounds__")));
}

TEST_F(LaunchTest, RefusesAGridOverTheLimit) {
  Kernel scale = compile(scale_source, "scale");
  auto launch_grid = [&](const Dim3& grid) {
    return error_of<InvalidArgument>(
        [&] { launch(stream, {.grid = grid, .block = 1}, scale, nullptr, 1.0f, std::size_t{0}); });
  };
  EXPECT_THAT(launch_grid(std::size_t{1} << 40),
              AllOf(HasSubstr("grid.x is 1099511627776, over the limit of "), HasSubstr(device.name())));
  EXPECT_THAT(launch_grid({1, device.properties().max_grid_dim_y() + 1}), HasSubstr("grid.y is "));
  EXPECT_THAT(launch_grid({1, 1, 0}), HasSubstr("grid.z is 0"));
}

TEST_F(LaunchTest, RefusedLaunchesLeaveTheStreamUsable) {
  Kernel scale = compile(scale_source, "scale");
  Buffer data = upload(numbers(4), stream);
  EXPECT_THROW(launch(stream, {.grid = 1, .block = 100000}, scale, data, 1.0f, std::size_t{4}), InvalidArgument);
  launch(stream, {.grid = 1, .block = 4}, scale, data, 2.0f, std::size_t{4});
  EXPECT_EQ(download<float>(data, stream)[3], 6.0f);
}

TEST_F(LaunchTest, AFaultyKernelIsReportedBySync) {
  // The context is lost afterwards, so this happens in a process of its own.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        Stream doomed = device.create_stream();
        launch(doomed, {.grid = 1, .block = 1}, compile(scale_source, "scale"), reinterpret_cast<float*>(16), 1.0f,
               std::size_t{1});
        try {
          doomed.sync();
        } catch (const DriverError& error) {
          std::fputs(error.what(), stderr);
          std::_Exit(error.code() == 700 ? 0 : 1);
        }
        std::_Exit(2);
      },
      ::testing::ExitedWithCode(0),
      "waiting for stream .* on device 0: cuStreamSynchronize failed with CUDA_ERROR_ILLEGAL_ADDRESS");
}

}  // namespace
}  // namespace cuprum::tests
