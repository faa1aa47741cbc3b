// Cooperative groups: partitions of warps and blocks, in step and in divergent code.
#include <algorithm>
#include <bit>
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
  auto tile = cg::tiled_partition<size>(cg::this_thread_block());
  int t = threadIdx.x, v = in[t];
  int sum = cg::reduce(tile, v, cg::plus<int>()), most = cg::reduce(tile, v, cg::greater<int>());
  int before = cg::exclusive_scan(tile, v), next = tile.shfl_down(v, 1), first = tile.shfl(v, 0);
  out[t] = sum + most * 3 + before * 5 + (tile.thread_rank() + 1 < size ? next : 0) + first * 7 + tile.any(v == 13) * 10000 +
           tile.all(v < 90) * 20000 + __popc(tile.ballot(v % 2)) * 100000 + tile.meta_group_rank() * 1000000;
}
KERNEL(tiles_of_4)(int* out, const int* in) { tiles<4>(out, in); }
KERNEL(tiles_of_8)(int* out, const int* in) { tiles<8>(out, in); }
KERNEL(tiles_of_16)(int* out, const int* in) { tiles<16>(out, in); }
KERNEL(tiles_of_32)(int* out, const int* in) { tiles<32>(out, in); }

// Each tile goes its own way, for as long as its own data says.
KERNEL(tiles_that_diverge)(int* out, const int* in) {
  auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  int t = threadIdx.x, v = in[t], rounds = 0;
  while (tile.any(v > 10)) {
    int sum = cg::reduce(tile, v, cg::plus<int>());
    v = v > 10 ? v / 2 + sum % 3 : v;
    tile.sync();
    if (++rounds == 20) break;
  }
  if (tile.meta_group_rank() % 2) v += 1000 * tile.shfl_xor(v, 3); else v += 500 * tile.shfl_up(v, 2);
  out[t] = v * 100 + rounds;
}

// Two branches, each of which works with the threads that are there.
KERNEL(coalesced_branches)(int* out, const int* in, int* counters) {
  int t = threadIdx.x;
  if (in[t] % 3 == 0) {
    auto active = cg::coalesced_threads();
    if (active.thread_rank() == 0) atomicAdd(counters, (int)active.num_threads());
    out[t] = active.shfl(1, 0);
  } else {
    auto active = cg::coalesced_threads();
    int sum = cg::reduce(active, 1, cg::plus<int>());
    if (active.thread_rank() == active.num_threads() - 1) atomicAdd(counters + 1, sum);
    out[t] = sum == (int)active.num_threads() ? 2 : -1;
  }
}

__device__ int next_place(int* counter) {
  auto active = cg::coalesced_threads();
  int base = 0;
  if (active.thread_rank() == 0) base = atomicAdd(counter, (int)active.num_threads());
  return active.shfl(base, 0) + active.thread_rank();
}
KERNEL(compaction_in_a_loop)(int* out, int* count, const int* in, int n) {
  for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += gridDim.x * blockDim.x)
    if (in[i] > 40) out[next_place(count)] = in[i];
}

KERNEL(labelled)(int* out, const int* in) {
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  int t = threadIdx.x, v = in[t];
  auto same = cg::labeled_partition(warp, v % 5);
  int sum = cg::reduce(same, v, cg::plus<int>());
  out[t] = sum * 1000 + same.num_threads() * 32 + same.thread_rank();
}
KERNEL(binary)(int* out, const int* in) {
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  int t = threadIdx.x, v = in[t];
  auto half = cg::binary_partition(warp, v < 30);
  int least = cg::reduce(half, v, cg::less<int>());
  out[t] = least * 1000 + half.shfl(v, half.num_threads() - 1);
}
KERNEL(labels_in_divergent_code)(int* out, const int* in) {
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  int t = threadIdx.x, v = in[t];
  auto half = cg::binary_partition(warp, v % 2 == 0);
  if (v % 2 == 0) {
    int rank = half.thread_rank(), sum = 0;
    for (int i = 0; i < half.num_threads(); ++i) sum = sum * 3 % 10007 + half.shfl(v, i);
    out[t] = sum + rank;
  } else {
    out[t] = -cg::inclusive_scan(half, v, cg::plus<int>());
  }
}

KERNEL(matching)(unsigned* out, const int* in) {
  auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  int t = threadIdx.x, all;
  unsigned any = tile.match_any(in[t] % 4), same = tile.match_all(in[t] >= 0, all);
  out[t] = any * 2 + (same == 0xffff && all);
}

KERNEL(scans)(int* out, const int* in) {
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  int t = threadIdx.x, v = in[t];
  int sum = cg::inclusive_scan(warp, v), most = cg::inclusive_scan(warp, v, cg::greater<int>());
  out[t] = sum * 100 + most;
}
KERNEL(bits_of_a_group)(unsigned* out, const unsigned* in) {
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  unsigned v = in[threadIdx.x];
  out[threadIdx.x] = cg::reduce(warp, v, cg::bit_xor<unsigned>()) ^ cg::reduce(warp, v, cg::bit_and<unsigned>()) ^
                     cg::reduce(warp, v | threadIdx.x, cg::bit_or<unsigned>());
}
struct Fraction { int above, below; };
KERNEL(structs_and_doubles)(double* out, const int* in) {
  auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  int t = threadIdx.x;
  Fraction f = tile.shfl(Fraction{in[t], t + 1}, 5);
  double sum = cg::reduce(tile, in[t] * 0.5, cg::plus<double>());
  Fraction total = cg::reduce(tile, Fraction{in[t], 1}, [](Fraction a, Fraction b) { return Fraction{a.above + b.above, a.below + b.below}; });
  out[t] = f.above + f.below * 0.25 + sum * 16 + (total.below == 16 ? total.above * 1000.0 : -1.0);
}

KERNEL(blocks_in_pieces)(int* out, const int* in) {
  auto block = cg::this_thread_block();
  __shared__ int cells[128];
  cells[block.thread_rank()] = in[block.thread_rank()];
  block.sync();
  auto token = block.barrier_arrive();
  int own = in[block.thread_rank()] * 2;
  block.barrier_wait(static_cast<decltype(token)&&>(token));
  int v = cells[(block.thread_rank() + 37) % block.num_threads()];
  block.sync();
  cells[block.thread_rank()] = v + own;
  auto tile = cg::tiled_partition(block, 8);
  tile.sync();
  out[block.thread_rank()] = cells[block.thread_rank() ^ 5] + cg::invoke_one_broadcast(cg::tiled_partition<32>(block), [&] { return 7; });
}

KERNEL(whole_grid)(int* cells, int rounds) {
  auto grid = cg::this_grid();
  int n = grid.num_threads(), i = grid.thread_rank();
  for (int r = 0; r < rounds; ++r) {
    int v = cells[(i * 5 + r) % n];
    grid.sync();
    cells[i] = v + i;
    grid.sync();
  }
  if (blockIdx.x == 1 && threadIdx.x % 2) return;
  cells[i] += 1;
}
)";

class Groups : public KernelsTest {
 protected:
  Groups() : KernelsTest(source) {}
  const std::vector<int> in = scrambled_numbers(256, 100);

  /// Those of the warp of thread t for which f holds.
  template <typename Function>
  std::vector<int> of_warp(int t, Function f) const {
    std::vector<int> values;
    for (int i = t / 32 * 32; i < t / 32 * 32 + 32; ++i)
      if (f(i)) values.push_back(at(in, i));
    return values;
  }
  static int rank(int t, auto f) {
    int count = 0;
    for (int i = t / 32 * 32; i < t; ++i) count += f(i) ? 1 : 0;
    return count;
  }
};

int total(const std::vector<int>& values) { return std::accumulate(values.begin(), values.end(), 0); }

class Tiles : public Groups, public ::testing::WithParamInterface<int> {};

TEST_P(Tiles, ReduceScanShuffleAndVote) {
  const int size = GetParam();
  const auto expected = each<int>(128, [&](int t) {
    const int start = t / size * size, rank = t - start;
    const std::vector<int> tile(in.begin() + start, in.begin() + start + size);
    const int before = std::accumulate(tile.begin(), tile.begin() + rank, 0);
    return total(tile) + *std::ranges::max_element(tile) * 3 + before * 5 + (rank + 1 < size ? at(tile, rank + 1) : 0) +
           tile[0] * 7 + (std::ranges::count(tile, 13) > 0 ? 10000 : 0) +
           (std::ranges::all_of(tile, [](int v) { return v < 90; }) ? 20000 : 0) +
           static_cast<int>(std::ranges::count_if(tile, [](int v) { return v % 2 == 1; })) * 100000 +
           t / size * 1000000;
  });
  EXPECT_SAME(run(("tiles_of_" + std::to_string(size)).c_str(), {.block = 128}, zeros<int>(128), in), expected);
}

INSTANTIATE_TEST_SUITE_P(OfEachSize, Tiles, ::testing::Values(4, 8, 16, 32), ::testing::PrintToStringParamName());

std::vector<int> tile_that_diverges(std::vector<int> v, bool odd) {
  int rounds = 0;
  while (std::ranges::any_of(v, [](int x) { return x > 10; })) {
    const int sum = total(v);
    for (int& x : v) x = x > 10 ? x / 2 + sum % 3 : x;
    if (++rounds == 20) break;
  }
  return each<int>(8, [&](int i) {
    const int other = odd ? 1000 * at(v, i ^ 3) : 500 * at(v, i >= 2 ? i - 2 : i);
    return (at(v, i) + other) * 100 + rounds;
  });
}

TEST_F(Groups, TilesThatDiverge) {
  std::vector<int> expected;
  for (int tile = 0; tile < 16; ++tile) {
    const auto start = in.begin() + tile * 8;
    std::ranges::copy(tile_that_diverges({start, start + 8}, tile % 2 == 1), std::back_inserter(expected));
  }
  EXPECT_SAME(run("tiles_that_diverge", {.block = 128}, zeros<int>(128), in), expected);
}

TEST_F(Groups, CoalescedThreadsOfTwoBranches) {
  EXPECT_SAME(run("coalesced_branches", {.block = 96}, zeros<int>(96), in, zeros<int>(2)),
              each<int>(96, [&](int t) { return at(in, t) % 3 == 0 ? 1 : 2; }));
}

TEST_F(Groups, CompactionByCoalescedThreads) {
  std::vector<int> expected;
  std::ranges::copy_if(in, std::back_inserter(expected), [](int v) { return v > 40; });
  std::vector<int> found =
      run("compaction_in_a_loop", {.grid = 2, .block = 48}, zeros<int>(expected.size()), zeros<int>(1), in, 256);
  std::ranges::sort(found);
  std::ranges::sort(expected);
  EXPECT_SAME(found, expected);
}

TEST_F(Groups, LabelledPartitions) {
  EXPECT_SAME(run("labelled", {.block = 64}, zeros<int>(64), in), each<int>(64, [&](int t) {
                const auto same = [&](int i) { return at(in, i) % 5 == at(in, t) % 5; };
                const std::vector<int> group = of_warp(t, same);
                return total(group) * 1000 + static_cast<int>(group.size()) * 32 + rank(t, same);
              }));
}

TEST_F(Groups, BinaryPartitions) {
  EXPECT_SAME(run("binary", {.block = 64}, zeros<int>(64), in), each<int>(64, [&](int t) {
                const std::vector<int> group = of_warp(t, [&](int i) { return (at(in, i) < 30) == (at(in, t) < 30); });
                return *std::ranges::min_element(group) * 1000 + group.back();
              }));
}

TEST_F(Groups, PartitionsInDivergentCode) {
  EXPECT_SAME(run("labels_in_divergent_code", {.block = 64}, zeros<int>(64), in), each<int>(64, [&](int t) {
                const auto same = [&](int i) { return at(in, i) % 2 == at(in, t) % 2; };
                const std::vector<int> group = of_warp(t, same);
                const int place = rank(t, same);
                if (at(in, t) % 2 == 1) return -std::accumulate(group.begin(), group.begin() + place + 1, 0);
                int sum = 0;
                for (int v : group) sum = sum * 3 % 10007 + v;
                return sum + place;
              }));
}

TEST_F(Groups, MatchingInTiles) {
  EXPECT_SAME(run("matching", {.block = 64}, zeros<unsigned>(64), in), each<unsigned>(64, [&](int t) {
                unsigned bits = 0;
                for (int i = 0; i < 16; ++i)
                  if (at(in, t / 16 * 16 + i) % 4 == at(in, t) % 4) bits |= 1u << i;
                return bits * 2 + 1;
              }));
}

TEST_F(Groups, Scans) {
  EXPECT_SAME(run("scans", {.block = 64}, zeros<int>(64), in), each<int>(64, [&](int t) {
                const std::vector<int> up_to = of_warp(t, [&](int i) { return i <= t; });
                return total(up_to) * 100 + *std::ranges::max_element(up_to);
              }));
}

TEST_F(Groups, BitsOfAGroup) {
  const auto words = each<unsigned>(64, [](int i) { return scrambled(static_cast<std::uint32_t>(i)) | 0x01010000u; });
  EXPECT_SAME(run("bits_of_a_group", {.block = 64}, zeros<unsigned>(64), words), each<unsigned>(64, [&](int t) {
                unsigned odd = 0, all = ~0u, some = 0;
                for (int i = t / 32 * 32; i < t / 32 * 32 + 32; ++i) {
                  odd ^= at(words, i);
                  all &= at(words, i);
                  some |= at(words, i) | static_cast<unsigned>(i);
                }
                return odd ^ all ^ some;
              }));
}

TEST_F(Groups, StructsAndDoubles) {
  EXPECT_SAME(run("structs_and_doubles", {.block = 64}, zeros<double>(64), in), each<double>(64, [&](int t) {
                const int start = t / 16 * 16;
                const int sum = std::accumulate(in.begin() + start, in.begin() + start + 16, 0);
                return at(in, start + 5) + (start + 6) * 0.25 + sum * 0.5 * 16 + sum * 1000.0;
              }));
}

TEST_F(Groups, BlocksInPieces) {
  const auto values = each<int>(128, [&](int t) { return at(in, (t + 37) % 128) + at(in, t) * 2; });
  EXPECT_SAME(run("blocks_in_pieces", {.block = 128}, zeros<int>(128), in),
              each<int>(128, [&](int t) { return at(values, t ^ 5) + 7; }));
}

TEST_F(Groups, TheWholeGrid) {
  std::vector<int> cells(in.begin(), in.begin() + 192);
  const std::vector<int> found = run("whole_grid", {.grid = 3, .block = 64, .is_cooperative = true}, cells, 4);
  for (int r = 0; r < 4; ++r) cells = each<int>(192, [&](int i) { return at(cells, (i * 5 + r) % 192) + i; });
  EXPECT_SAME(found, each<int>(192, [&](int i) { return at(cells, i) + (i / 64 == 1 && i % 2 == 1 ? 0 : 1); }));
}

}  // namespace
}  // namespace cuprum::tests
