// Cooperative groups of several warps, which meet in the part of shared memory that CUDA keeps for itself.
#include <algorithm>
#include <numeric>

#include "kernels/fixture.hpp"

namespace cuprum::tests {
namespace {

constexpr const char* source = R"(
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

template <int size>
__device__ void tiles(int* out, const int* in) {
  __shared__ int cells[1024];
  extern __shared__ int more[];
  auto tile = cg::tiled_partition<size>(cg::this_thread_block());
  int t = threadIdx.x, b = blockIdx.x * blockDim.x, v = in[b + t];
  cells[t] = v;
  more[t] = -v;
  tile.sync();
  int neighbour = cells[t / size * size + (t + 37) % size] - more[t / size * size + (t + 41) % size];
  int sum = cg::reduce(tile, v, cg::plus<int>()), most = cg::reduce(tile, v, cg::greater<int>());
  int before = cg::exclusive_scan(tile, v), third = tile.shfl(v, size - 3);
  out[b + t] = sum + most * 3 + before * 5 + third * 7 + neighbour * 11 + tile.any(v == 13) * 100000 + tile.all(v < 97) * 200000 +
               tile.meta_group_rank() * 1000000 + (int)tile.thread_rank() * 13;
}
KERNEL(tiles_of_64)(int* out, const int* in) { tiles<64>(out, in); }
KERNEL(tiles_of_128)(int* out, const int* in) { tiles<128>(out, in); }
KERNEL(tiles_of_256)(int* out, const int* in) { tiles<256>(out, in); }
KERNEL(tiles_of_512)(int* out, const int* in) { tiles<512>(out, in); }

// Each tile has its own number of rounds, and only some of them have any.
KERNEL(tiles_apart)(int* out, const int* in) {
  __shared__ cg::block_tile_memory<512> memory;
  auto tile = cg::tiled_partition<128>(cg::this_thread_block(memory));
  int t = threadIdx.x, v = in[t];
  if (tile.meta_group_rank() != 2)
    for (int round = 0; round <= (int)tile.meta_group_rank() * 3; ++round) {
      int sum = cg::reduce(tile, v, cg::plus<int>());
      if (tile.any(v % 7 == round % 7)) v = (v + sum) % 1001;
      tile.sync();
    }
  out[t] = v;
}

// Pairs of warps of pairs of pairs.
KERNEL(tiles_of_tiles)(long long* out, const int* in) {
  auto wide = cg::tiled_partition<256>(cg::this_thread_block());
  auto narrow = cg::tiled_partition<64>(wide);
  auto warp = cg::tiled_partition<32>(narrow);
  int t = threadIdx.x;
  long long v = in[t];
  out[t] = cg::reduce(wide, v, cg::plus<long long>()) * 1000000 + cg::reduce(narrow, v, cg::plus<long long>()) * 1000 +
           cg::reduce(warp, v, cg::greater<long long>());
}

KERNEL(places)(int* out) {
  __shared__ int cells[8];
  int words[5];
  asm volatile("mov.u32 %0, %%reserved_smem_offset_begin;" : "=r"(words[0]));
  asm volatile("mov.u32 %0, %%reserved_smem_offset_end;" : "=r"(words[1]));
  asm volatile("mov.u32 %0, %%reserved_smem_offset_cap;" : "=r"(words[2]));
  asm volatile("mov.u32 %0, %%reserved_smem_offset_0;" : "=r"(words[3]));
  asm volatile("mov.u32 %0, %%reserved_smem_offset_1;" : "=r"(words[4]));
  unsigned own = (unsigned)__cvta_generic_to_shared(cells), not_zero = 0;
  for (unsigned at = words[0]; at < (unsigned)words[1]; at += 4) {
    unsigned word;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(word) : "r"(at) : "memory");
    not_zero += word != 0;
  }
  __syncthreads();
  for (unsigned at = words[0]; at < (unsigned)words[1]; at += 4)
    asm volatile("st.shared.u32 [%0], %1;" :: "r"(at), "r"(-1) : "memory");
  if (threadIdx.x != 0) return;
  for (int i = 0; i < 5; ++i) out[blockIdx.x * 8 + i] = words[i];
  out[blockIdx.x * 8 + 5] = own >= (unsigned)words[2];
  out[blockIdx.x * 8 + 6] = not_zero;
}
)";

class WideGroups : public KernelsTest {
 protected:
  WideGroups() : KernelsTest(source) {}
  const std::vector<int> in = scrambled_numbers(3072, 100);
};

int total(std::span<const int> values) { return std::accumulate(values.begin(), values.end(), 0); }
int most(std::span<const int> values) { return *std::ranges::max_element(values); }

class WideTiles : public WideGroups, public ::testing::WithParamInterface<int> {};

TEST_P(WideTiles, ReduceScanShuffleVoteAndWait) {
  const int size = GetParam();
  const auto expected = each<int>(3072, [&](int i) {
    const int start = i / size * size, rank = i - start;
    const std::span<const int> tile(in.data() + start, static_cast<std::size_t>(size));
    const auto cell = [&](int at) { return tile[static_cast<std::size_t>(at)]; };
    return total(tile) + most(tile) * 3 + total(tile.first(static_cast<std::size_t>(rank))) * 5 + cell(size - 3) * 7 +
           (cell((rank + 37) % size) + cell((rank + 41) % size)) * 11 +
           (std::ranges::count(tile, 13) > 0 ? 100000 : 0) +
           (std::ranges::all_of(tile, [](int v) { return v < 97; }) ? 200000 : 0) + i % 1024 / size * 1000000 +
           rank * 13;
  });
  const LaunchConfig config{.grid = 3, .block = 1024, .shmem_size = 4096};
  EXPECT_SAME(run(("tiles_of_" + std::to_string(size)).c_str(), config, zeros<int>(3072), in), expected);
}

INSTANTIATE_TEST_SUITE_P(OfEachSize, WideTiles, ::testing::Values(64, 128, 256, 512),
                         ::testing::PrintToStringParamName());

TEST_F(WideGroups, TilesDoNotWaitForEachOther) {
  std::vector<int> expected(in.begin(), in.begin() + 512);
  for (int tile = 0; tile < 4; ++tile) {
    if (tile == 2) continue;
    const std::span<int> values(expected.data() + tile * 128, 128);
    for (int round = 0; round <= tile * 3; ++round) {
      const int sum = total(values);
      if (std::ranges::any_of(values, [&](int v) { return v % 7 == round % 7; }))
        for (int& v : values) v = (v + sum) % 1001;
    }
  }
  EXPECT_SAME(run("tiles_apart", {.block = 512}, zeros<int>(512), in), expected);
}

TEST_F(WideGroups, TilesOfTiles) {
  const auto expected = each<long long>(1024, [&](int t) {
    const auto tile = [&](int size) { return std::span(in.data() + t / size * size, static_cast<std::size_t>(size)); };
    return total(tile(256)) * 1000000LL + total(tile(64)) * 1000LL + most(tile(32));
  });
  EXPECT_SAME(run("tiles_of_tiles", {.block = 1024}, zeros<long long>(1024), in), expected);
}

// On softgpu a block finds nothing of the one before; a GPU clears only what tiles count in.
TEST_F(WideGroups, TheReservedPartIsZeroAndInFrontOfTheKernelsOwn) {
  const std::vector<int> found = run("places", {.grid = 40, .block = 64}, zeros<int>(320));
  const bool is_softgpu = Device().name().find("softgpu") != std::string::npos;
  for (int block = 0; block < 40; ++block) {
    const std::span<const int> words(found.data() + block * 8, 8);
    EXPECT_LE(words[0], words[3]);
    EXPECT_LE(words[0], words[4]);
    EXPECT_GE(words[1] - words[4], 288) << "what tiles need";
    EXPECT_GE(words[2], words[1] - words[0]);
    EXPECT_EQ(words[5], 1) << "the kernel's own variables are behind";
    EXPECT_TRUE(words[6] == 0 || !is_softgpu) << words[6] << " words of block " << block << " are not zero";
  }
}

}  // namespace
}  // namespace cuprum::tests
