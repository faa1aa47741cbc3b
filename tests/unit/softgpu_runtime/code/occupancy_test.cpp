// Expected values are worked out by hand from the rules in the CUDA programming guide.
#include "softgpu/runtime/code/occupancy.hpp"

#include <gtest/gtest.h>

namespace softgpu::runtime {
namespace {

jit::KernelFacts kernel(std::uint32_t registers, std::uint32_t shared = 0, std::uint32_t max_threads = 1024) {
  jit::KernelFacts facts;
  facts.registers = registers;
  facts.static_shared_bytes = shared;
  facts.max_threads_per_block = max_threads;
  return facts;
}

constexpr int kOptIn = 227 * 1024;

int blocks(unsigned capability, const jit::KernelFacts& facts, int block_size, std::size_t dynamic_shared = 0) {
  return max_active_blocks(profile_of(capability), {facts, kOptIn}, block_size, dynamic_shared);
}

TEST(Occupancy, SmallKernelsAreLimitedByThreadsOrBlocks) {
  EXPECT_EQ(blocks(90, kernel(16), 1024), 2);
  EXPECT_EQ(blocks(90, kernel(16), 256), 8);
  EXPECT_EQ(blocks(90, kernel(16), 32), 32);
  EXPECT_EQ(blocks(86, kernel(16), 1024), 1);
  EXPECT_EQ(blocks(86, kernel(16), 32), 16);
}

TEST(Occupancy, RegistersLimitWarps) {
  EXPECT_EQ(blocks(90, kernel(64), 256), 4);
  EXPECT_EQ(blocks(90, kernel(128), 512), 1);
  EXPECT_EQ(blocks(90, kernel(255), 256), 1);
  EXPECT_EQ(blocks(90, kernel(33), 256), 6) << "registers are given in units of 256 to a warp";
  EXPECT_EQ(blocks(90, kernel(128), 1024), 0) << "a block that does not fit";
}

TEST(Occupancy, SharedMemoryLimitsBlocks) {
  EXPECT_EQ(blocks(90, kernel(16, 48 * 1024), 64), 4) << "with 1 KiB for the system in each";
  EXPECT_EQ(blocks(90, kernel(16), 64, 227 * 1024), 1);
  EXPECT_EQ(blocks(90, kernel(16), 64, 227 * 1024 + 1), 0);
  EXPECT_EQ(blocks(75, kernel(16, 32 * 1024), 64), 2);
}

TEST(Occupancy, BlocksOverTheKernelsLimitDoNotFit) { EXPECT_EQ(blocks(90, kernel(16, 0, 128), 256), 0); }

TEST(Occupancy, BestBlockSizeFillsTheMultiprocessor) {
  const auto none = [](int) { return std::size_t{0}; };
  const BlockSize best = best_block_size(profile_of(90), {kernel(16), kOptIn}, none, 0);
  EXPECT_EQ(best.block_size, 1024);
  EXPECT_EQ(best.blocks_per_multiprocessor, 2);
  EXPECT_EQ(best_block_size(profile_of(86), {kernel(16), kOptIn}, none, 0).block_size, 768);
  EXPECT_EQ(best_block_size(profile_of(90), {kernel(16), kOptIn}, none, 100).block_size, 64);
  EXPECT_EQ(best_block_size(profile_of(90), {kernel(16, 0, 256), kOptIn}, none, 0).block_size, 256);
}

TEST(Occupancy, DynamicSharedMemoryCanDependOnTheBlockSize) {
  const auto kib_per_thread = [](int size) { return static_cast<std::size_t>(size) * 1024; };
  const BlockSize best = best_block_size(profile_of(90), {kernel(16), kOptIn}, kib_per_thread, 0);
  EXPECT_LE(best.block_size, 224);
  EXPECT_GT(best.blocks_per_multiprocessor, 0);
}

TEST(Occupancy, SharedMemoryThatEachBlockCanHave) {
  EXPECT_EQ(available_dynamic_shared(profile_of(90), {kernel(16), kOptIn}, 1), 227u * 1024);
  EXPECT_EQ(available_dynamic_shared(profile_of(90), {kernel(16), kOptIn}, 2), 113u * 1024);
  EXPECT_EQ(available_dynamic_shared(profile_of(90), {kernel(16, 1024), kOptIn}, 4), 55u * 1024);
  EXPECT_EQ(available_dynamic_shared(profile_of(90), {kernel(16), 48 * 1024}, 1), 48u * 1024) << "not opted in";
}

}  // namespace
}  // namespace softgpu::runtime
