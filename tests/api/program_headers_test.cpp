// CUDA's own headers: they are found without an include path, with the NVRTC that they belong to.
#include <numeric>

#include "api/fixture.hpp"

namespace cuprum::tests {
namespace {

struct Case {
  const char* name;
  const char* source;
};

class ProgramHeadersTest : public ApiTest, public ::testing::WithParamInterface<Case> {};

TEST_P(ProgramHeadersTest, CompileWithNoIncludePath) {
  const ObjectCode code = Program(GetParam().source, {.std = "c++17"}).compile(Target::cubin);
  EXPECT_FALSE(code.code().empty());
}

const Case cases[] = {
    {"fp16", R"(#include <cuda_fp16.h>
     __global__ void k(__half* p) { *p = __hadd(*p, *p); })"},
    {"bf16", R"(#include <cuda_bf16.h>
     __global__ void k(__nv_bfloat16* p) { *p = __hadd(*p, *p); })"},
    {"fp8", R"(#include <cuda_fp8.h>
     __global__ void k(float* p) { *p = float(__nv_fp8_e4m3(*p)); })"},
    {"cooperative_groups", R"(#include <cooperative_groups.h>
     __global__ void k(int* p) { p[0] = cooperative_groups::this_thread_block().size(); })"},
    {"cooperative_groups_reduce", R"(#include <cooperative_groups.h>
     #include <cooperative_groups/reduce.h>
     namespace cg = cooperative_groups;
     __global__ void k(int* p) {
       auto warp = cg::tiled_partition<32>(cg::this_thread_block());
       p[0] = cg::reduce(warp, p[threadIdx.x], cg::plus<int>());
     })"},
    {"cub", R"(#include <cub/block/block_reduce.cuh>
     __global__ void k(int* p) {
       using Reduce = cub::BlockReduce<int, 128>;
       __shared__ typename Reduce::TempStorage storage;
       int sum = Reduce(storage).Sum(p[threadIdx.x]);
       if (threadIdx.x == 0) *p = sum;
     })"},
    {"cuda_std", R"(#include <cuda/std/array>
     #include <cuda/std/type_traits>
     __global__ void k(int* p) { cuda::std::array<int, 3> a = {1, 2, 3}; *p = a[*p % 3]; })"},
    {"cuda_atomic", R"(#include <cuda/atomic>
     __global__ void k(int* p) { cuda::atomic_ref<int, cuda::thread_scope_device>(*p).fetch_add(1); })"},
    {"curand", R"(#include <curand_kernel.h>
     __global__ void k(float* p) {
       curandStatePhilox4_32_10_t state;
       curand_init(1, threadIdx.x, 0, &state);
       *p = curand_uniform(&state);
     })"},
    {"mma", R"(#include <mma.h>
     __global__ void k(float* p) {
       nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> c;
       nvcuda::wmma::fill_fragment(c, 1.0f);
       nvcuda::wmma::store_matrix_sync(p, c, 16, nvcuda::wmma::mem_row_major);
     })"},
};
INSTANTIATE_TEST_SUITE_P(Each, ProgramHeadersTest, ::testing::ValuesIn(cases),
                         [](const auto& parameter) { return std::string(parameter.param.name); });

// Each thread writes what the one at the other end of the block has copied.
constexpr const char* barriers_source = R"(
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>
namespace cg = cooperative_groups;
extern "C" __global__ void with_barrier(const int* in, int* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ alignas(16) int cell[64];
  const auto block = cg::this_thread_block();
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  block.sync();
  for (int round = 0; round < 3; ++round) {
    cuda::memcpy_async(block, cell, in, cuda::aligned_size_t<16>(sizeof cell), barrier);
    barrier.arrive_and_wait();
    out[threadIdx.x] += cell[63 - threadIdx.x];
    barrier.arrive_and_wait();
  }
}
extern "C" __global__ void with_pipeline(const int* in, int* out) {
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  __shared__ int cell[2][64];
  const auto block = cg::this_thread_block();
  auto pipeline = cuda::make_pipeline(block, &state);
  for (int stage = 0; stage < 3; ++stage) {
    if (stage < 2) {
      pipeline.producer_acquire();
      cuda::memcpy_async(block, cell[stage], in, sizeof cell[stage], pipeline);
      pipeline.producer_commit();
    }
    if (stage == 0) continue;
    pipeline.consumer_wait();
    out[threadIdx.x] += cell[stage - 1][63 - threadIdx.x];
    pipeline.consumer_release();
  }
}
)";

class ProgramBarriersTest : public ApiTest {};

TEST_F(ProgramBarriersTest, AsynchronousBarriersAndPipelinesRun) {
  const ObjectCode code = Program(barriers_source, {.std = "c++17"}).compile(Target::cubin);
  Stream stream = device.create_stream();
  std::vector<int> values(64);
  std::iota(values.begin(), values.end(), 1);
  const Buffer in = upload(values, stream);
  for (const auto& [kernel, times] : {std::pair{"with_barrier", 3}, std::pair{"with_pipeline", 2}}) {
    Buffer out = upload(std::vector<int>(64), stream);
    launch(stream, {.grid = 1, .block = 64}, code.get_kernel(kernel), in, out);
    std::vector<int> expected(values.rbegin(), values.rend());
    for (int& value : expected) value *= times;
    EXPECT_EQ(download<int>(out, stream), expected) << kernel;
  }
}

}  // namespace
}  // namespace cuprum::tests
