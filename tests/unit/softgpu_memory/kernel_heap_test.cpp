#include "softgpu/memory/kernel_heap.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

namespace softgpu::memory {
namespace {

constexpr std::size_t kLimit = std::size_t{8} << 20;

class KernelHeapTest : public testing::Test {
 protected:
  AddressSpace space_{std::size_t{1} << 30};
  std::shared_ptr<Heap> device_ = std::make_shared<Heap>(space_, std::size_t{64} << 20);
  KernelHeap heap_{device_, kLimit};
};

TEST_F(KernelHeapTest, StaysWithinItsLimit) {
  void* const most = heap_.allocate(kLimit - 100);
  ASSERT_NE(most, nullptr);
  EXPECT_EQ(heap_.allocate(101), nullptr);
  void* const rest = heap_.allocate(100);
  EXPECT_NE(rest, nullptr);
  EXPECT_TRUE(heap_.release(most));
  EXPECT_TRUE(heap_.release(rest));
  EXPECT_TRUE(heap_.release(nullptr));
  EXPECT_EQ(heap_.allocate(~std::size_t{0}), nullptr);
  EXPECT_EQ(heap_.allocate(0), nullptr);
  EXPECT_NE(heap_.allocate(kLimit), nullptr);
}

TEST_F(KernelHeapTest, HandsOutEveryByteOfItInSmallPieces) {
  for (const std::size_t bytes : {16u, 48u, 1000u, 15360u, 20000u}) {
    std::vector<void*> pieces;
    while (void* const piece = heap_.allocate(bytes)) pieces.push_back(piece);
    EXPECT_EQ(pieces.size(), kLimit / bytes);
    for (void* const piece : pieces) EXPECT_TRUE(heap_.release(piece));
  }
}

TEST_F(KernelHeapTest, KeepsAllocationsApart) {
  struct Piece {
    unsigned char* memory;
    std::size_t bytes;
  };
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < 900; ++i) {
    const std::size_t bytes = 1 + i * i * 7 % 17000;
    auto* const memory = static_cast<unsigned char*>(heap_.allocate(bytes));
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 16, 0u);
    std::memset(memory, static_cast<int>(i % 251), bytes);
    pieces.push_back({memory, bytes});
    if (i % 3 == 0) {
      EXPECT_TRUE(heap_.release(pieces[i / 3].memory)) << i;
      pieces[i / 3].bytes = 0;
    }
  }
  for (std::size_t i = 0; i < pieces.size(); ++i)
    EXPECT_TRUE(std::all_of(pieces[i].memory, pieces[i].memory + pieces[i].bytes, [i](unsigned char byte) {
      return byte == i % 251;
    })) << i;
}

TEST_F(KernelHeapTest, NoticesWhatIsNotToBeReleased) {
  alignas(16) char foreign[64] = {};
  EXPECT_FALSE(heap_.release(foreign));
  for (const std::size_t bytes : {40u, 100000u}) {
    auto* const memory = static_cast<char*>(heap_.allocate(bytes));
    auto* const other = heap_.allocate(bytes);
    EXPECT_FALSE(heap_.release(foreign));
    EXPECT_FALSE(heap_.release(memory + 16));
    EXPECT_FALSE(heap_.release(memory - 4096));
    EXPECT_TRUE(heap_.release(memory));
    EXPECT_FALSE(heap_.release(memory)) << "twice";
    EXPECT_TRUE(heap_.release(other));
    EXPECT_FALSE(heap_.release(other)) << "twice";
  }
}

TEST_F(KernelHeapTest, IsTheDevicesMemoryFromItsFirstUseOn) {
  EXPECT_EQ(device_->used(), 0u);
  {
    KernelHeap heap(device_, kLimit);
    EXPECT_EQ(device_->used(), 0u);
    EXPECT_NE(heap.allocate(1), nullptr);
    EXPECT_EQ(device_->used(), kLimit);
  }
  EXPECT_EQ(device_->used(), 0u);
  KernelHeap too_large(device_, std::size_t{65} << 20);
  EXPECT_EQ(too_large.allocate(1), nullptr);
}

TEST_F(KernelHeapTest, ServesManyThreads) {
  std::atomic<int> wrong{0};
  const auto work = [&](unsigned seed) {
    std::vector<std::uint32_t*> mine;
    for (std::uint32_t i = 0; i < 20000; ++i) {
      const std::uint32_t number = i * 2654435761U + seed;
      if (mine.size() < 100 && number % 3 != 0) {
        const std::size_t bytes = 4 + number % (i % 100 == 0 ? 40000 : 500);
        auto* const memory = static_cast<std::uint32_t*>(heap_.allocate(bytes));
        if (memory == nullptr) continue;
        *memory = seed;
        mine.push_back(memory);
      } else if (!mine.empty()) {
        std::swap(mine[number % mine.size()], mine.back());
        wrong += *mine.back() != seed || !heap_.release(mine.back());
        mine.pop_back();
      }
    }
    for (std::uint32_t* const memory : mine) wrong += *memory != seed || !heap_.release(memory);
  };
  std::vector<std::thread> threads;
  for (unsigned seed = 1; seed <= 8; ++seed) threads.emplace_back(work, seed);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_NE(heap_.allocate(kLimit), nullptr) << "all was released";
}

TEST_F(KernelHeapTest, LargeAllocationEndsAtAnInaccessiblePage) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  auto* const memory = static_cast<volatile char*>(heap_.allocate(50000));
  memory[49999] = 1;
  EXPECT_DEATH(memory[50000 + 15] = 1, "");
}

}  // namespace
}  // namespace softgpu::memory
