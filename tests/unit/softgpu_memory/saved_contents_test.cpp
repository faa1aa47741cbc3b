// What is in memory of all kinds, taken away and put back.
#include "softgpu/memory/saved_contents.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "softgpu/memory/kernel_heap.hpp"
#include "softgpu/memory/pages.hpp"
#include "softgpu/memory/shared_heap.hpp"

namespace softgpu::memory {
namespace {

class SavedContentsTest : public testing::Test {
 protected:
  static bool has_memory(std::byte* base, std::size_t bytes) { return find_pages_with_memory(base, bytes).has_value(); }

  AddressSpace space_{std::size_t{1} << 30};
  std::shared_ptr<Heap> heap_ = std::make_shared<Heap>(space_, std::size_t{256} << 20);
};

TEST_F(SavedContentsTest, PagesHaveNoMemoryMeanwhile) {
  constexpr std::size_t kBytes = std::size_t{3} << 20;
  std::byte* const block = heap_->allocate(kBytes);
  std::memset(block, 7, kBytes);
  SavedContents saved;
  saved.take(*heap_);
  EXPECT_EQ(saved.bytes(), kBytes);
  EXPECT_FALSE(has_memory(block, kBytes));
  saved.put_back();
  EXPECT_EQ(saved.bytes(), 0u);
  EXPECT_EQ(std::count(block, block + kBytes, std::byte{7}), static_cast<std::ptrdiff_t>(kBytes));
  heap_->release(block, kBytes);
}

TEST_F(SavedContentsTest, ZerosAndUntouchedPagesAreNotKept) {
  constexpr std::size_t kBytes = std::size_t{64} << 20;
  std::byte* const block = heap_->allocate(kBytes);
  std::memset(block, 0, kBytes / 2);
  block[kBytes - 1] = std::byte{1};
  SavedContents saved;
  saved.take(*heap_);
  EXPECT_LE(saved.bytes(), kHugePageBytes);
  saved.put_back();
  EXPECT_EQ(block[kBytes - 1], std::byte{1});
  EXPECT_EQ(block[0], std::byte{0});
  heap_->release(block, kBytes);
}

TEST_F(SavedContentsTest, AllKindsOfMemoryComeBack) {
  const unsigned seed = 20;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  const auto shared = std::make_shared<SharedHeap>(
      heap_, SharedFile::create(SharedFile::Purpose::pool, SharedHeap::kFileBytes, int{0}));
  KernelHeap kernels(heap_, std::size_t{8} << 20);
  struct Block {
    Heap* heap;  // null: of kernels
    std::byte* base;
    std::vector<std::byte> expected;
  };
  std::vector<Block> blocks;
  for (int i = 0; i < 60; ++i) {
    Heap* const heap = i % 3 == 0 ? heap_.get() : i % 3 == 1 ? shared.get() : nullptr;
    const std::size_t bytes = 1 + random() % (i % 10 == 0 ? 3'000'000 : 60'000);
    auto* const base = heap != nullptr ? heap->allocate(bytes) : static_cast<std::byte*>(kernels.allocate(bytes));
    ASSERT_NE(base, nullptr);
    std::vector<std::byte> expected(bytes);
    for (std::size_t at = 0; at < bytes; ++at)
      if (at / 8192 % 2 == 0) expected[at] = static_cast<std::byte>(random());  // and zeros between
    std::memcpy(base, expected.data(), bytes);
    blocks.push_back({heap, base, std::move(expected)});
  }
  for (int round = 0; round < 3; ++round) {
    int steps = 0;
    SavedContents saved([&] { ++steps; });
    saved.take(*heap_);
    EXPECT_GT(steps, 0);
    for (const Block& block : blocks) EXPECT_EQ(block.base[0], std::byte{0});
    saved.put_back();
    for (const Block& block : blocks)
      ASSERT_EQ(std::memcmp(block.base, block.expected.data(), block.expected.size()), 0);
  }
  for (const Block& block : blocks) {
    if (block.heap != nullptr)
      block.heap->release(block.base, block.expected.size());
    else
      kernels.release(block.base);
  }
}

TEST_F(SavedContentsTest, WithoutRoomWhatWasTakenCanBePutBack) {
  constexpr std::size_t kBytes = std::size_t{8} << 20;
  std::byte* const block = heap_->allocate(kBytes);
  std::memset(block, 5, kBytes);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{std::size_t{3} << 20, before.rlim_max};
  const auto handler = signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  SavedContents saved;
  EXPECT_THROW(saved.take(*heap_), OutOfMemory);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  signal(SIGXFSZ, handler);
  EXPECT_GT(saved.bytes(), 0u);
  saved.put_back();
  EXPECT_EQ(std::count(block, block + kBytes, std::byte{5}), static_cast<std::ptrdiff_t>(kBytes));
  heap_->release(block, kBytes);
}

}  // namespace
}  // namespace softgpu::memory
