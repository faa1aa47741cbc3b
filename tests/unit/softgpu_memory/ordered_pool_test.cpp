#include "softgpu/memory/ordered_pool.hpp"

#include <gtest/gtest.h>

namespace softgpu::memory {
namespace {

class PoolTest : public testing::Test {
 protected:
  // A stream that comes after whatever is noted.
  struct Stream final : OrderedPool::Client {
    explicit Stream(OrderedPool::Stream number) : id(number) {}
    OrderedPool::Stream stream() const override { return id; }
    bool comes_after(OrderedPool::Stream other, OrderedPool::Position position) const override {
      return other == followed && position <= followed_up_to;
    }
    void wait_for(void* free) override { awaited = free; }

    const OrderedPool::Stream id;
    OrderedPool::Stream followed = 0;
    OrderedPool::Position followed_up_to = 0;
    void* awaited = nullptr;
  };
  static constexpr OrderedPool::Stream kFirst = 1;
  Stream one_{kFirst}, two_{2};
  AddressSpace space_{std::size_t{1} << 30};
  std::shared_ptr<Heap> heap_ = std::make_shared<Heap>(space_, std::size_t{64} << 20);
};

TEST_F(PoolTest, SameStreamReusesAtOnce) {
  OrderedPool pool(heap_, 0);
  std::byte* block = pool.allocate(10000, one_);
  pool.free(block, kFirst);
  EXPECT_EQ(pool.allocate(10000, one_), block);
}

TEST_F(PoolTest, OtherStreamsReuseOnceTheFreeIsReached) {
  OrderedPool pool(heap_, 0);
  std::byte* block = pool.allocate(10000, one_);
  const OrderedPool::Ticket ticket = pool.free(block, kFirst);
  std::byte* other = pool.allocate(10000, two_);
  EXPECT_NE(other, block);
  pool.reached(ticket);
  EXPECT_EQ(pool.allocate(10000, two_), block);
}

TEST_F(PoolTest, ReachingTheFreeOfABlockInUseAgainChangesNothing) {
  OrderedPool pool(heap_, 0);
  std::byte* block = pool.allocate(10000, one_);
  const OrderedPool::Ticket ticket = pool.free(block, kFirst);
  ASSERT_EQ(pool.allocate(10000, one_), block);
  pool.reached(ticket);
  EXPECT_NE(pool.allocate(10000, two_), block) << "it belongs to the first stream";
}

TEST_F(PoolTest, BlocksServeRequestsThatAreLittleSmaller) {
  OrderedPool pool(heap_, 0);
  std::byte* block = pool.allocate(100 * kPageBytes, one_);
  pool.free_now(block);
  EXPECT_NE(pool.allocate(50 * kPageBytes, one_), block);
  EXPECT_EQ(pool.allocate(95 * kPageBytes, one_), block);
}

TEST_F(PoolTest, TrimGivesBackWhatIsNotUsed) {
  OrderedPool pool(heap_, 0);
  std::byte* used = pool.allocate(kPageBytes, one_);
  pool.free_now(pool.allocate(10 * kPageBytes, one_));
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
  OrderedPool pool(heap_, 0);
  pool.set_release_threshold(8 * kPageBytes);
  std::byte* a = pool.allocate(6 * kPageBytes, one_);
  std::byte* b = pool.allocate(6 * kPageBytes, one_);
  pool.free_now(a);
  pool.free_now(b);
  pool.trim_to_threshold();
  EXPECT_EQ(heap_->used(), 6 * kPageBytes);
}

TEST_F(PoolTest, CountsWhatIsUsed) {
  OrderedPool pool(heap_, 0);
  std::byte* block = pool.allocate(1, one_);
  EXPECT_EQ(pool.usage().used, kPageBytes);
  pool.free(block, kFirst);
  EXPECT_EQ(pool.usage().used, 0u);
  EXPECT_EQ(pool.usage().used_high, kPageBytes);
  pool.reset_used_high();
  EXPECT_EQ(pool.usage().used_high, 0u);
}

TEST_F(PoolTest, KeepsToItsLimit) {
  OrderedPool pool(heap_, 4 * kPageBytes);
  std::byte* block = pool.allocate(3 * kPageBytes, one_);
  EXPECT_THROW(pool.allocate(2 * kPageBytes, one_), OutOfMemory);
  pool.free_now(block);
  EXPECT_EQ(pool.allocate(3 * kPageBytes, two_), block);
  EXPECT_THROW(pool.allocate(SIZE_MAX, one_), OutOfMemory);
}

TEST_F(PoolTest, GivesEverythingBackInTheEnd) {
  {
    OrderedPool pool(heap_, 0);
    pool.allocate(10, one_);
    pool.free(pool.allocate(20, one_), kFirst);
    pool.free_now(pool.allocate(30, two_));
  }
  EXPECT_EQ(heap_->used(), 0u);
}

TEST_F(PoolTest, StreamsThatComeAfterTheFreeReuseBeforeItIsReached) {
  OrderedPool pool(heap_, 0);
  std::byte* block = pool.allocate(10000, one_);
  int op = 0;
  pool.place(pool.free(block, kFirst), 5, &op);
  two_.followed = kFirst;
  two_.followed_up_to = 4;
  std::byte* other = pool.allocate(10000, two_);
  EXPECT_NE(other, block) << "it is after something before the free";
  two_.followed_up_to = 5;
  pool.set_reuse_rule(&ReuseRules::follow_event_dependencies, false);
  EXPECT_NE(pool.allocate(10000, two_), block);
  pool.set_reuse_rule(&ReuseRules::follow_event_dependencies, true);
  EXPECT_EQ(pool.allocate(10000, two_), block);
  EXPECT_EQ(two_.awaited, nullptr);
}

TEST_F(PoolTest, WithoutOpportunismAHostThreadHasToSynchronise) {
  OrderedPool pool(heap_, 0);
  pool.set_reuse_rule(&ReuseRules::opportunistic, false);
  std::byte* block = pool.allocate(10000, one_);
  pool.reached(pool.free(block, kFirst));
  EXPECT_NE(pool.allocate(10000, two_), block);
  pool.synchronized();
  EXPECT_EQ(pool.allocate(10000, two_), block);
}

TEST_F(PoolTest, WhereThereIsNoOtherMemoryAStreamIsMadeToWait) {
  OrderedPool pool(heap_, 10 * kPageBytes);
  std::byte* block = pool.allocate(8 * kPageBytes, one_);
  int op = 0;
  const OrderedPool::Ticket ticket = pool.free(block, kFirst);
  EXPECT_THROW(pool.allocate(6 * kPageBytes, two_), OutOfMemory) << "where the free is, is not known yet";
  pool.place(ticket, 1, &op);
  pool.set_reuse_rule(&ReuseRules::internal_dependencies, false);
  EXPECT_THROW(pool.allocate(6 * kPageBytes, two_), OutOfMemory);
  pool.set_reuse_rule(&ReuseRules::internal_dependencies, true);
  EXPECT_EQ(pool.allocate(6 * kPageBytes, two_), block);
  EXPECT_EQ(two_.awaited, &op);
}

TEST_F(PoolTest, FreeBlocksOfOtherSizesMakeRoom) {
  OrderedPool pool(heap_, 10 * kPageBytes);
  pool.free_now(pool.allocate(4 * kPageBytes, one_));
  std::byte* second = pool.allocate(4 * kPageBytes + 1, one_);
  pool.reached(pool.free(second, kFirst));
  EXPECT_NE(pool.allocate(10 * kPageBytes, two_), nullptr);
  EXPECT_EQ(pool.usage().reserved, 10 * kPageBytes);
}

TEST_F(PoolTest, TrimmingKeepsAtLeastWhatIsAskedFor) {
  OrderedPool pool(heap_, 0);
  std::byte *large = pool.allocate(8 * kPageBytes, one_), *small = pool.allocate(2 * kPageBytes, one_);
  pool.free_now(large);
  pool.free_now(small);
  pool.trim(5 * kPageBytes);
  EXPECT_EQ(pool.usage().reserved, 8 * kPageBytes);
}

TEST_F(PoolTest, ARetiredOneKeepsNothing) {
  OrderedPool pool(heap_, 0);
  std::byte *first = pool.allocate(kPageBytes, one_), *second = pool.allocate(kPageBytes, one_);
  pool.retire();
  EXPECT_EQ(heap_->used(), 2 * kPageBytes);
  pool.free_now(first);
  EXPECT_EQ(heap_->used(), kPageBytes);
  pool.reached(pool.free(second, kFirst));
  EXPECT_EQ(heap_->used(), 0u);
}

}  // namespace
}  // namespace softgpu::memory
