#include <algorithm>
#include <ctime>

#include "ptx/run_kernel.hpp"

namespace ptx_test {
namespace {

using U = std::uint32_t;
using SpecialRegister = PtxTest;

constexpr Shape kShape = {.grid_x = 3, .grid_y = 2, .grid_z = 2, .block_x = 5, .block_y = 4, .block_z = 3};
constexpr unsigned kBlockSize = 60, kBlocks = 12;

// One register as every thread of a three-dimensional grid sees it, in the order of blocks and threads.
std::vector<U> read(const std::string& name) {
  const std::string text = kernel_text(
      "mov.u32 %r0, %ctaid.z; mov.u32 %r1, %nctaid.y; mov.u32 %r2, %ctaid.y; mad.lo.u32 %r0, %r0, %r1, %r2; mov.u32 "
      "%r1, %nctaid.x; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r0, %r0, %r1, %r2;\n"
      "mov.u32 %r1, %ntid.z; mov.u32 %r2, %tid.z; mad.lo.u32 %r0, %r0, %r1, %r2; mov.u32 %r1, %ntid.y; mov.u32 %r2, "
      "%tid.y; mad.lo.u32 %r0, %r0, %r1, %r2; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x; mad.lo.u32 %r0, %r0, %r1, "
      "%r2;\n"
      "mul.wide.u32 %d0, %r0, 4; add.u64 %d0, %data, %d0; mov.u32 %r3, " +
      name + "; st.global.u32 [%d0], %r3;");
  return run_kernel(text, std::vector<U>(kBlockSize * kBlocks), kShape);
}

template <typename Function>
void expect(const std::string& name, Function value) {
  EXPECT_EQ(read(name),
            each_thread(kBlockSize * kBlocks, [&](unsigned i) { return value(i % kBlockSize, i / kBlockSize); }))
      << name;
}

TEST_F(SpecialRegister, TellsThreadAndBlock) {
  expect("%tid.x", [](unsigned t, unsigned) { return t % 5; });
  expect("%tid.y", [](unsigned t, unsigned) { return t / 5 % 4; });
  expect("%tid.z", [](unsigned t, unsigned) { return t / 20; });
  expect("%ctaid.x", [](unsigned, unsigned b) { return b % 3; });
  expect("%ctaid.y", [](unsigned, unsigned b) { return b / 3 % 2; });
  expect("%ctaid.z", [](unsigned, unsigned b) { return b / 6; });
  expect("%ntid.x", [](unsigned, unsigned) { return 5; });
  expect("%ntid.y", [](unsigned, unsigned) { return 4; });
  expect("%ntid.z", [](unsigned, unsigned) { return 3; });
  expect("%nctaid.x", [](unsigned, unsigned) { return 3; });
  expect("%nctaid.y", [](unsigned, unsigned) { return 2; });
  expect("%nctaid.z", [](unsigned, unsigned) { return 2; });
}

TEST_F(SpecialRegister, TellsLaneAndWarp) {
  expect("%laneid", [](unsigned t, unsigned) { return t % 32; });
  expect("%lanemask_eq", [](unsigned t, unsigned) { return 1u << t % 32; });
  expect("%lanemask_lt", [](unsigned t, unsigned) { return (1u << t % 32) - 1; });
  expect("%lanemask_le", [](unsigned t, unsigned) { return (2ull << t % 32) - 1; });
  expect("%lanemask_gt", [](unsigned t, unsigned) { return ~((2ull << t % 32) - 1); });
  expect("%lanemask_ge", [](unsigned t, unsigned) { return ~((1u << t % 32) - 1); });
  expect("WARP_SZ", [](unsigned, unsigned) { return 32; });
}

// A GPU numbers the warps of all blocks on a multiprocessor, so only this much is certain.
TEST_F(SpecialRegister, TellsLanesOfOneWarpTheSameNumber) {
  const auto warp = read("%warpid");
  for (unsigned block = 0; block < kBlocks; ++block)
    for (unsigned t = 0; t < kBlockSize; ++t) {
      const unsigned first = block * kBlockSize;
      EXPECT_EQ(warp[first + t] == warp[first], t < 32) << t;
    }
}

TEST_F(SpecialRegister, TellsABlockWithoutAClusterThatItIsAlone) {
  expect("%clusterid.x", [](unsigned, unsigned b) { return b % 3; });
  expect("%nclusterid.y", [](unsigned, unsigned) { return 2; });
  expect("%cluster_ctarank", [](unsigned, unsigned) { return 0; });
  expect("%cluster_nctarank", [](unsigned, unsigned) { return 1; });
}

TEST_F(SpecialRegister, TellsTheSizeOfSharedMemory) {
  const std::string text = kernel_text(
      "mov.u32 %r0, %dynamic_smem_size; st.global.u32 [%data], %r0; mov.u32 %r1, %total_smem_size; st.global.u32 "
      "[%data+4], %r1; st.shared.u32 [fixed], %r0;",
      ".shared .align 16 .b8 fixed[64];\n.extern .shared .align 16 .b8 dynamic[];\n");
  const auto result = run_kernel(text, std::vector<U>(2), {.block_x = 1, .dynamic_shared = 512});
  EXPECT_EQ(result[0], 512u);
  EXPECT_GE(result[1], 576u);
}

TEST_F(SpecialRegister, TellsTheTime) {
  const std::string text = kernel_text(
      "mov.u64 %d0, %clock64; mov.u64 %d1, %globaltimer; mov.u32 %r0, 0;\nLOOP: nanosleep.u32 1000; add.u32 %r0, %r0, "
      "1; setp.lt.u32 %p0, %r0, 1000; @%p0 bra LOOP;\n"
      "mov.u64 %d2, %clock64; mov.u64 %d3, %globaltimer; sub.u64 %d2, %d2, %d0; sub.u64 %d3, %d3, %d1; st.global.u64 "
      "[%data], %d2; st.global.u64 [%data+8], %d3;\n"
      "mov.u32 %r1, %clock; mov.u32 %r2, %clock_hi; mov.u32 %r3, %globaltimer_lo; mov.u32 %r4, %globaltimer_hi;");
  const auto result = run_kernel(text, std::vector<std::uint64_t>(2), {.block_x = 1});
  EXPECT_GT(result[0], 0u);
  EXPECT_GT(result[1], 0u);
  EXPECT_LT(result[1], 100'000'000'000u);
}

// libcu++ makes its system_clock of it.
TEST_F(SpecialRegister, GlobaltimerCountsFrom1970) {
  const std::string text = kernel_text("mov.u64 %d0, %globaltimer; st.global.u64 [%data], %d0;");
  const auto now = static_cast<double>(run_kernel(text, std::vector<std::uint64_t>(1), {.block_x = 1})[0]) * 1e-9;
  EXPECT_NEAR(now, static_cast<double>(std::time(nullptr)), 3600);
}

TEST_F(SpecialRegister, TellsTheMultiprocessor) {
  const auto count = read("%nsmid"), index = read("%smid");
  for (std::size_t i = 0; i < count.size(); ++i) EXPECT_LT(index[i], count[i]);
  const auto warps = read("%nwarpid"), warp = read("%warpid");
  for (std::size_t i = 0; i < warps.size(); ++i) EXPECT_LT(warp[i], warps[i]);
}

}  // namespace
}  // namespace ptx_test
