#include "api/fixture.hpp"

namespace cuprum::tests {
namespace {

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

TEST_F(KernelTest, TellsItsOccupancy) {
  KernelOccupancy occupancy = compile(shapes_source, "shapes").occupancy();
  EXPECT_GE(occupancy.max_active_blocks_per_multiprocessor(128, 0), 1);
  const MaxPotentialBlockSize best = occupancy.max_potential_block_size(0, 256);
  EXPECT_GE(best.min_grid_size, 1);
  EXPECT_GE(best.max_block_size, 32);
  EXPECT_LE(best.max_block_size, 256);
  EXPECT_GT(occupancy.available_dynamic_shared_memory_per_block(1, 128), 1024u);
}

TEST_F(KernelTest, OutlivesItsProgramAndObjectCode) {
  Kernel scale = compile(scale_source, "scale");
  EXPECT_EQ(live_objects().programs, 0u);
  EXPECT_EQ(live_objects().object_codes, 1u);
  Stream stream = device.create_stream();
  Buffer data = upload(numbers(4), stream);
  launch(stream, {.block = 4}, scale, data, 2.0f, std::size_t{4});
  EXPECT_EQ(download<float>(data, stream)[3], 6.0f);
}

TEST_F(KernelTest, FromHandleRuns) {
  Kernel scale = compile(scale_source, "scale");
  Kernel wrapped = Kernel::from_handle(scale.handle());
  EXPECT_EQ(wrapped, scale);
  EXPECT_EQ(wrapped.name(), "scale");
  EXPECT_EQ(wrapped.num_arguments(), 3u);
}

}  // namespace
}  // namespace cuprum::tests
