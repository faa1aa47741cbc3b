#include "softgpu/memory/address_space.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <random>
#include <vector>

#include "softgpu/memory/heap.hpp"

namespace softgpu::memory {
namespace {

constexpr std::size_t kGiB = std::size_t{1} << 30;

bool readable(const std::byte* pointer) {
  // The system refuses to read from memory that is not there, and tells so.
  int pipe_ends[2];
  if (pipe(pipe_ends) != 0) return false;
  const bool wrote = write(pipe_ends[1], pointer, 1) == 1;
  close(pipe_ends[0]);
  close(pipe_ends[1]);
  return wrote;
}

TEST(AddressSpace, MapsZeroedMemory) {
  AddressSpace space(kGiB);
  std::byte* memory = space.map(10000);
  for (int i = 0; i < 10000; ++i) ASSERT_EQ(memory[i], std::byte{0});
  std::memset(memory, 1, 10000);
  space.unmap(memory, 10000);
  std::byte* again = space.map(10000);
  for (int i = 0; i < 10000; ++i) ASSERT_EQ(again[i], std::byte{0});
}

TEST(AddressSpace, NothingIsAccessibleBehindAMapping) {
  AddressSpace space(kGiB);
  std::byte* first = space.map(5000);
  std::byte* second = space.map(5000);
  EXPECT_TRUE(readable(first + 8191)) << "the rest of the last page";
  EXPECT_FALSE(readable(first + 8192));
  EXPECT_FALSE(readable(second + 8192));
}

TEST(AddressSpace, NothingIsAccessibleAfterUnmapping) {
  AddressSpace space(kGiB);
  std::byte* memory = space.map(4096);
  EXPECT_TRUE(readable(memory));
  space.unmap(memory, 4096);
  EXPECT_FALSE(readable(memory));
  EXPECT_TRUE(space.contains(memory));
}

TEST(AddressSpace, LargeMappingsStartAtHugePages) {
  AddressSpace space(kGiB);
  space.map(4096);
  const auto address = reinterpret_cast<std::uintptr_t>(space.map(3 * kHugePageBytes));
  EXPECT_EQ(address % kHugePageBytes, 0u);
}

TEST(AddressSpace, IsWholeAgainWhenEverythingIsUnmapped) {
  AddressSpace space(kGiB);
  std::mt19937 random(1);
  std::vector<std::pair<std::byte*, std::size_t>> mapped;
  for (int round = 0; round < 2000; ++round) {
    if (mapped.size() > 50 || (!mapped.empty() && random() % 2 == 0)) {
      const std::size_t which = random() % mapped.size();
      space.unmap(mapped[which].first, mapped[which].second);
      mapped.erase(mapped.begin() + static_cast<std::ptrdiff_t>(which));
    } else {
      const std::size_t bytes = 1 + random() % (std::size_t{4} << 20);
      mapped.emplace_back(space.map(bytes), bytes);
      mapped.back().first[bytes - 1] = std::byte{1};
    }
  }
  for (const auto& [memory, bytes] : mapped) space.unmap(memory, bytes);
  const std::size_t all_but_guard = space.size() / 2 - kHugePageBytes;
  EXPECT_NO_THROW(space.unmap(space.map(all_but_guard), all_but_guard));
}

TEST(AddressSpace, ReservesWhereItIsAskedTo) {
  AddressSpace space(kGiB);
  std::byte* first = space.reserve(kHugePageBytes, kHugePageBytes, nullptr);
  std::byte* behind = space.reserve(kHugePageBytes, kHugePageBytes, first + kHugePageBytes);
  EXPECT_EQ(behind, first + kHugePageBytes);
  std::byte* elsewhere = space.reserve(kHugePageBytes, kHugePageBytes, first);
  EXPECT_NE(elsewhere, first);
  EXPECT_FALSE(readable(first));
  space.release(first, kHugePageBytes);
  EXPECT_EQ(space.reserve(kHugePageBytes, kHugePageBytes, first), first);
}

TEST(AddressSpace, ReservesOnlyWhatIsForThat) {
  AddressSpace space(kGiB);
  std::byte* mapped = space.map(kPageBytes);
  std::byte* freed = space.map(kHugePageBytes);
  space.unmap(freed, kHugePageBytes);
  EXPECT_NE(space.reserve(kPageBytes, kPageBytes, mapped), mapped);
  EXPECT_NE(space.reserve(kPageBytes, kPageBytes, freed), freed);
  std::byte outside{};
  EXPECT_TRUE(space.contains(space.reserve(kPageBytes, kPageBytes, &outside)));
}

TEST(AddressSpace, ThrowsWhenThereIsNothingToReserve) {
  AddressSpace space(kGiB);
  EXPECT_THROW(space.reserve(2 * kGiB, kPageBytes, nullptr), OutOfMemory);
  EXPECT_THROW(space.reserve(kPageBytes, std::size_t{1} << 62, nullptr), OutOfMemory);
}

TEST(AddressSpace, ThrowsWhenThereIsNoRoom) {
  AddressSpace space(kGiB);
  EXPECT_THROW(space.map(2 * kGiB), OutOfMemory);
  EXPECT_THROW(space.map(SIZE_MAX), OutOfMemory);
}

TEST(Heap, HandsOutAsMuchAsItHas) {
  AddressSpace space(kGiB);
  Heap heap(space, 10 * kPageBytes);
  std::byte* most = heap.allocate(9 * kPageBytes + 1);
  EXPECT_EQ(heap.used(), 10 * kPageBytes);
  EXPECT_THROW(heap.allocate(1), OutOfMemory);
  heap.release(most, 9 * kPageBytes + 1);
  EXPECT_EQ(heap.used(), 0u);
  EXPECT_THROW(heap.allocate(11 * kPageBytes), OutOfMemory);
  EXPECT_EQ(heap.used(), 0u);
}

}  // namespace
}  // namespace softgpu::memory
