#include <cuprum/driver.hpp>

#include "api/changed_api.hpp"
#include "api/fixture.hpp"

namespace cuprum::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class KernelTest : public ApiTest {};

constexpr const char* shapes_source = R"(
struct Triple { float x, y, z; };
extern "C" __global__ void shapes(char a, double b, Triple c, int* d) {
  __shared__ int box[64];
  box[threadIdx.x % 64] = a;
  __syncthreads();
  d[threadIdx.x] = box[0] + int(b) + int(c.z);
}
extern "C" __global__ void none() {}
extern "C" __global__ void __launch_bounds__(128) small(int* p) { *p = 1; }
)";

TEST_F(KernelTest, KnowsItsParameters) {
  Kernel shapes = compile(shapes_source, "shapes");
  EXPECT_EQ(shapes.name(), "shapes");
  EXPECT_EQ(shapes.num_arguments(), 4u);
  EXPECT_EQ(shapes.arguments_info(), (std::vector<ParameterInfo>{{0, 1}, {8, 8}, {16, 12}, {32, 8}}));
  EXPECT_EQ(compile(shapes_source, "none").num_arguments(), 0u);
}

TEST_F(KernelTest, KnowsItsAttributes) {
  Kernel shapes = compile(shapes_source, "shapes");
  EXPECT_GE(shapes.attributes().shared_size_bytes(), 256);
  EXPECT_GE(shapes.attributes().max_threads_per_block(), 128);
  EXPECT_GE(shapes.attributes(device).num_regs(), 1);
  EXPECT_EQ(compile(shapes_source, "small").attributes().max_threads_per_block(), 128);
}

TEST_F(KernelTest, MoreDynamicSharedMemoryCanBeAllowed) {
  Kernel shapes = compile(shapes_source, "shapes");
  const int most = device.properties().max_shared_memory_per_block_optin() - shapes.attributes().shared_size_bytes();
  shapes.attributes().set_max_dynamic_shared_size_bytes(most);
  EXPECT_EQ(shapes.attributes().max_dynamic_shared_size_bytes(), most);
  EXPECT_THAT(error_of<InvalidArgument>([&] { shapes.attributes().set_max_dynamic_shared_size_bytes(most + 1); }),
              AllOf(HasSubstr("setting max_dynamic_shared_size_bytes of kernel shapes to "),
                    HasSubstr("it can be 0 to " + std::to_string(most) + " on device 0")));
  EXPECT_THROW(shapes.attributes().set_max_dynamic_shared_size_bytes(-1), InvalidArgument);
  EXPECT_EQ(shapes.occupancy().max_active_blocks_per_multiprocessor(128, static_cast<std::size_t>(most)), 1);
}

class ManyContextsTest : public KernelTest {
 protected:
  /// Launches it in contexts that are gone afterwards.
  void launch_in_contexts(int how_many, std::size_t shared_memory) {
    for (int i = 0; i < how_many; ++i) {
      const Stream stream = device.create_context().create_stream();
      launch(stream, {.grid = 1, .block = 1, .shmem_size = shared_memory}, none);
      stream.sync();
    }
  }
  const Kernel none = compile(shapes_source, "none");
};

TEST_F(ManyContextsTest, AKernelDoesNotAskForThoseThatAreGone) {
  launch_in_contexts(20, 0);
  static int asked;
  asked = 0;
  ChangedApi api;
  api.table.cuCtxGetId.function = [](CUcontext context, unsigned long long* id) {
    ++asked;
    return ChangedApi::real->cuCtxGetId(context, id);
  };
  none.attributes().set_max_dynamic_shared_size_bytes(100);
  EXPECT_LT(asked, 5);
}

TEST_F(ManyContextsTest, ANewOneHasItsOwnLimits) {
  launch_in_contexts(3, 100'000);  // more than a kernel may have before the launch asks for it
  const Stream stream = device.create_stream();
  launch(stream, {.grid = 1, .block = 1, .shmem_size = 100'000}, none);
  stream.sync();
}

TEST_F(KernelTest, SettingsHoldForTheNextLaunch) {
  Stream stream = device.create_stream();
  Kernel none = compile(shapes_source, "none");
  launch(stream, {.grid = 1, .block = 1}, none);  // whose facts are now known
  none.attributes().set_max_dynamic_shared_size_bytes(100);
  launch(stream, {.grid = 1, .block = 1, .shmem_size = 64}, none);
  launch(stream, {.grid = 1, .block = 1, .shmem_size = 4096}, none);  // raises the limit again
  stream.sync();
}

TEST_F(KernelTest, PreferencesAreSettable) {
  const KernelAttributes attributes = compile(shapes_source, "none").attributes();
  attributes.set_preferred_shared_memory_carveout(50);
  EXPECT_EQ(attributes.preferred_shared_memory_carveout(), 50);
  EXPECT_THAT(error_of<InvalidArgument>([&] { attributes.set_preferred_shared_memory_carveout(101); }),
              HasSubstr("to 101: it can be -1 to 100"));
  attributes.set_non_portable_cluster_size_allowed(true);
  EXPECT_TRUE(attributes.non_portable_cluster_size_allowed());
  attributes.set_cluster_scheduling_policy_preference(CU_CLUSTER_SCHEDULING_POLICY_SPREAD);
  EXPECT_EQ(attributes.cluster_scheduling_policy_preference(), CU_CLUSTER_SCHEDULING_POLICY_SPREAD);
}

TEST_F(KernelTest, ARequiredClusterIsKnownToTheNextLaunch) {
  Stream stream = device.create_stream();
  Kernel none = compile(shapes_source, "none");
  launch(stream, {.grid = 1, .block = 1}, none);
  const KernelAttributes attributes = none.attributes();
  attributes.set_required_cluster_width(2);
  attributes.set_required_cluster_height(1);
  attributes.set_required_cluster_depth(1);
  EXPECT_EQ(attributes.required_cluster_width(), 2);
  EXPECT_EQ(attributes.required_cluster_height(), 1);
  EXPECT_EQ(attributes.required_cluster_depth(), 1);
  EXPECT_THAT(error_of<InvalidArgument>([&] { launch(stream, {.grid = 3, .block = 1}, none); }),
              HasSubstr("grid (3, 1, 1) is not a multiple of the clusters of (2, 1, 1)"));
  stream.sync();
}

TEST_F(KernelTest, TellsItsOccupancy) {
  KernelOccupancy occupancy = compile(shapes_source, "shapes").occupancy();
  EXPECT_GE(occupancy.max_active_blocks_per_multiprocessor(128, 0), 1);
  const MaxPotentialBlockSize best = occupancy.max_potential_block_size(0, 256);
  EXPECT_GE(best.min_grid_size, 1);
  EXPECT_GE(best.max_block_size, 32);
  EXPECT_LE(best.max_block_size, 256);
  EXPECT_GT(occupancy.available_dynamic_shared_memory_per_block(1, 128), 1024u);
}

TEST_F(KernelTest, OccupancyIsWhatTheDriverSays) {
  Kernel shapes = compile(shapes_source, "shapes");
  CUfunction function = nullptr;
  driver::call<&driver::Api::cuKernelGetFunction>(&function, shapes.handle());
  for (const int threads : {32, 96, 256, 1000}) {
    int blocks = 0;
    driver::call<&driver::Api::cuOccupancyMaxActiveBlocksPerMultiprocessor>(&blocks, function, threads, 2048u);
    EXPECT_EQ(shapes.occupancy().max_active_blocks_per_multiprocessor(threads, 2048), blocks);
    std::size_t shared = 0;
    driver::call<&driver::Api::cuOccupancyAvailableDynamicSMemPerBlock>(&shared, function, 2, threads);
    EXPECT_EQ(shapes.occupancy().available_dynamic_shared_memory_per_block(2, threads), shared);
  }
  int grid = 0, block = 0;
  driver::call<&driver::Api::cuOccupancyMaxPotentialBlockSize>(
      &grid, &block, function, [](int size) { return static_cast<std::size_t>(size) * 64; }, 0u, 0);
  const int bytes_per_thread = 64;
  const MaxPotentialBlockSize best = shapes.occupancy().max_potential_block_size(
      [&](int size) { return static_cast<std::size_t>(size * bytes_per_thread); }, 0);
  EXPECT_EQ(best.min_grid_size, grid);
  EXPECT_EQ(best.max_block_size, block);
}

TEST_F(KernelTest, WhatTheSharedMemoryFunctionThrowsComesOut) {
  KernelOccupancy occupancy = compile(shapes_source, "none").occupancy();
  EXPECT_THROW(
      occupancy.max_potential_block_size([](int) -> std::size_t { throw std::out_of_range("no such block"); }, 0),
      std::out_of_range);
  EXPECT_THAT(error_of<InvalidArgument>([&] { occupancy.max_potential_block_size(nullptr, 0); }),
              HasSubstr("the function for shared memory is empty"));
  const auto nested = [&](int) {
    return static_cast<std::size_t>(occupancy.max_potential_block_size(0, 64).max_block_size);
  };
  EXPECT_GE(occupancy.max_potential_block_size(nested, 0).max_block_size, 1);
}

// As the driver says; `cluster` 0 for none.
int active_clusters(const Kernel& kernel, unsigned blocks, unsigned cluster) {
  CUfunction function = nullptr;
  driver::call<&driver::Api::cuKernelGetFunction>(&function, kernel.handle());
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attribute.value.clusterDim = {cluster, 1, 1};
  CUlaunchConfig config{};
  config.gridDimX = blocks;
  config.blockDimX = 128;
  config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
  config.attrs = &attribute;
  config.numAttrs = cluster == 0 ? 0 : 1;
  int clusters = -1;
  driver::call<&driver::Api::cuOccupancyMaxActiveClusters>(&clusters, function, &config);
  return clusters;
}

TEST_F(KernelTest, TellsTheOccupancyOfClusters) {
  Stream stream = device.create_stream();
  const Kernel none = compile(shapes_source, "none");
  KernelOccupancy occupancy = none.occupancy();
  EXPECT_GE(occupancy.max_potential_cluster_size({.grid = 64, .block = 128}, stream), 1);
  EXPECT_EQ(occupancy.max_active_clusters({.grid = 64, .block = 128}, stream), active_clusters(none, 64, 0));
  if (device.properties().cluster_launch()) {
    EXPECT_GE(occupancy.max_active_clusters({.grid = 32, .block = 128, .cluster = 2}, stream), 1);
    EXPECT_EQ(occupancy.max_active_clusters({.grid = 32, .block = 128, .cluster = 2}, stream),
              active_clusters(none, 64, 2));
  }
  EXPECT_THAT(error_of<InvalidArgument>([&] { occupancy.max_active_clusters({.grid = 1, .block = 100'000}, stream); }),
              HasSubstr("over the limit"));
}

TEST_F(KernelTest, OutlivesItsProgramAndObjectCode) {
  Kernel scale = compile(scale_source, "scale");
  EXPECT_EQ(live_objects().programs, 0u);
  EXPECT_EQ(live_objects().object_codes, 1u);
  Stream stream = device.create_stream();
  Buffer data = upload(numbers(4), stream);
  launch(stream, {.grid = 1, .block = 4}, scale, data, 2.0f, std::size_t{4});
  EXPECT_EQ(download<float>(data, stream)[3], 6.0f);
}

TEST_F(KernelTest, FromHandleRuns) {
  Kernel scale = compile(scale_source, "scale");
  Kernel wrapped = Kernel::from_handle(scale.handle());
  EXPECT_EQ(wrapped, scale);
  EXPECT_EQ(std::hash<Kernel>{}(wrapped), std::hash<Kernel>{}(scale));
  EXPECT_EQ(wrapped.name(), "scale");
  EXPECT_EQ(wrapped.num_arguments(), 3u);
  EXPECT_THAT(error_of<InvalidArgument>([] { Kernel::from_handle(nullptr); }), HasSubstr("the handle is null"));
}

TEST_F(KernelTest, FromHandleKeepsItsOwner) {
  ObjectCode code = Program(scale_source).compile(Target::cubin);
  auto owner = std::make_shared<ObjectCode>(code);
  Kernel wrapped = Kernel::from_handle(code.get_kernel("scale").handle(), owner);
  EXPECT_EQ(owner.use_count(), 2);
}

TEST_F(KernelTest, FromHandleKeepsTheCodeOfAKernelOfTheLibrarysOwn) {
  if (!driver::api().cuKernelGetLibrary.function) GTEST_SKIP() << "the driver does not tell the library of a kernel";
  std::optional<ObjectCode> code = Program(scale_source).compile(Target::cubin);
  Kernel wrapped = Kernel::from_handle(code->get_kernel("scale").handle());
  EXPECT_EQ(wrapped, code->get_kernel("scale"));
  code.reset();
  EXPECT_EQ(live_objects().object_codes, 1u);
  Stream stream = device.create_stream();
  Buffer data = upload(numbers(4), stream);
  launch(stream, {.grid = 1, .block = 4}, wrapped, data, 2.0f, std::size_t{4});
  EXPECT_EQ(download<float>(data, stream)[3], 6.0f);
}

TEST_F(KernelTest, FromHandleKeepsItsCode) {
  std::optional<ObjectCode> code = Program(scale_source, {.name = "scale.cu"}).compile(Target::cubin);
  CUkernel handle = code->get_kernel("scale").handle();
  Kernel wrapped = Kernel::from_handle(handle, *code);
  EXPECT_EQ(wrapped, code->get_kernel("scale"));
  const ObjectCode other = Program(shapes_source, {.name = "shapes.cu"}).compile(Target::cubin);
  EXPECT_THAT(error_of<InvalidArgument>([&] { Kernel::from_handle(handle, other); }),
              HasSubstr("kernel scale does not belong to object code 'shapes.cu'"));
  code.reset();
  Stream stream = device.create_stream();
  Buffer data = upload(numbers(4), stream);
  launch(stream, {.grid = 1, .block = 4}, wrapped, data, 2.0f, std::size_t{4});
  EXPECT_EQ(download<float>(data, stream)[3], 6.0f);
}

}  // namespace
}  // namespace cuprum::tests
