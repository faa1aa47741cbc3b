#include "softgpu/memory/pool.hpp"

#include <gtest/gtest.h>

namespace softgpu::memory {
namespace {

class PoolTest : public testing::Test {
 protected:
  static constexpr Pool::Stream kOne = 1, kTwo = 2;
  AddressSpace space_{std::size_t{1} << 30};
  std::shared_ptr<Heap> heap_ = std::make_shared<Heap>(space_, std::size_t{64} << 20);
};

TEST_F(PoolTest, SameStreamReusesAtOnce) {
  Pool pool(heap_, 0);
  std::byte* block = pool.allocate(10000, kOne);
  pool.free(block, kOne);
  EXPECT_EQ(pool.allocate(10000, kOne), block);
}

TEST_F(PoolTest, OtherStreamsReuseOnceTheFreeIsReached) {
  Pool pool(heap_, 0);
  std::byte* block = pool.allocate(10000, kOne);
  const Pool::Ticket ticket = pool.free(block, kOne);
  std::byte* other = pool.allocate(10000, kTwo);
  EXPECT_NE(other, block);
  pool.reached(ticket);
  EXPECT_EQ(pool.allocate(10000, kTwo), block);
}

TEST_F(PoolTest, ReachingTheFreeOfABlockInUseAgainChangesNothing) {
  Pool pool(heap_, 0);
  std::byte* block = pool.allocate(10000, kOne);
  const Pool::Ticket ticket = pool.free(block, kOne);
  ASSERT_EQ(pool.allocate(10000, kOne), block);
  pool.reached(ticket);
  EXPECT_NE(pool.allocate(10000, kTwo), block) << "it belongs to the first stream";
}

TEST_F(PoolTest, BlocksServeRequestsThatAreLittleSmaller) {
  Pool pool(heap_, 0);
  std::byte* block = pool.allocate(100 * kPageBytes, kOne);
  pool.free_now(block);
  EXPECT_NE(pool.allocate(50 * kPageBytes, kOne), block);
  EXPECT_EQ(pool.allocate(95 * kPageBytes, kOne), block);
}

TEST_F(PoolTest, TrimGivesBackWhatIsNotUsed) {
  Pool pool(heap_, 0);
  std::byte* used = pool.allocate(kPageBytes, kOne);
  pool.free_now(pool.allocate(10 * kPageBytes, kOne));
  EXPECT_EQ(heap_->used(), 11 * kPageBytes);
  pool.trim(0);
  EXPECT_EQ(heap_->used(), kPageBytes);
  pool.free_now(used);
  pool.trim(0);
  EXPECT_EQ(heap_->used(), 0u);
  EXPECT_EQ(pool.usage().reserved, 0u);
  EXPECT_EQ(pool.usage().reserved_high, 11 * kPageBytes);
}

TEST_F(PoolTest, ThresholdSaysHowMuchIsKept) {
  Pool pool(heap_, 0);
  pool.set_release_threshold(8 * kPageBytes);
  std::byte* a = pool.allocate(6 * kPageBytes, kOne);
  std::byte* b = pool.allocate(6 * kPageBytes, kOne);
  pool.free_now(a);
  pool.free_now(b);
  pool.trim_to_threshold();
  EXPECT_EQ(heap_->used(), 6 * kPageBytes);
}

TEST_F(PoolTest, CountsWhatIsUsed) {
  Pool pool(heap_, 0);
  std::byte* block = pool.allocate(1, kOne);
  EXPECT_EQ(pool.usage().used, kPageBytes);
  pool.free(block, kOne);
  EXPECT_EQ(pool.usage().used, 0u);
  EXPECT_EQ(pool.usage().used_high, kPageBytes);
  pool.reset_used_high();
  EXPECT_EQ(pool.usage().used_high, 0u);
}

TEST_F(PoolTest, KeepsToItsLimit) {
  Pool pool(heap_, 4 * kPageBytes);
  std::byte* block = pool.allocate(3 * kPageBytes, kOne);
  EXPECT_THROW(pool.allocate(2 * kPageBytes, kOne), OutOfMemory);
  pool.free_now(block);
  EXPECT_EQ(pool.allocate(3 * kPageBytes, kTwo), block);
  EXPECT_THROW(pool.allocate(SIZE_MAX, kOne), OutOfMemory);
}

TEST_F(PoolTest, GivesEverythingBackInTheEnd) {
  {
    Pool pool(heap_, 0);
    pool.allocate(10, kOne);
    pool.free(pool.allocate(20, kOne), kOne);
    pool.free_now(pool.allocate(30, kTwo));
  }
  EXPECT_EQ(heap_->used(), 0u);
}

}  // namespace
}  // namespace softgpu::memory
