#include "softgpu/memory/address_space.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "softgpu/memory/heap.hpp"
#include "softgpu/memory/shared_file.hpp"

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

TEST(AddressSpace, NothingIsAccessibleInFrontOfTheFirstMappingOrBehindTheLast) {
  AddressSpace space(kGiB);
  std::byte* const first = space.map(5000);
  EXPECT_FALSE(readable(first - 1));
  EXPECT_TRUE(space.contains(first - 1)) << "else it is the program's";
  const std::size_t rest = space.size() / 2 - kHugePageBytes;
  EXPECT_TRUE(space.contains(space.reserve(rest, kHugePageBytes, nullptr) + rest));
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
  const std::size_t all_but_guards = space.size() / 2 - 2 * kHugePageBytes;
  EXPECT_NO_THROW(space.unmap(space.map(all_but_guards), all_but_guards));
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

// Entries of the system's table that begin in the space.
std::size_t mappings(const AddressSpace& space) {
  std::ifstream maps("/proc/self/maps");
  std::size_t count = 0;
  for (std::string line; std::getline(maps, line);)
    count += space.contains(reinterpret_cast<const std::byte*>(std::stoull(line, nullptr, 16)));
  return count;
}

TEST(AddressSpace, ManyMappingsTakeFewEntriesOfTheSystemsTable) {
  AddressSpace space(4 * kGiB, 100);
  const std::size_t before = mappings(space);
  std::vector<std::byte*> mapped;
  for (int i = 0; i < 200'000; ++i) mapped.push_back(space.map(kPageBytes));
  EXPECT_LT(mappings(space) - before, 300u);
  for (std::size_t i = 0; i < mapped.size(); i += 1000) std::memset(mapped[i], 1, kPageBytes);
  for (std::byte* memory : mapped) space.unmap(memory, kPageBytes);
  EXPECT_LT(mappings(space), before + 10) << "all of it was given back";
}

TEST(AddressSpace, MappingsInAChunkAreZeroedAndDontOverlap) {
  AddressSpace space(kGiB, 0);
  std::mt19937 random(1);
  std::vector<std::pair<std::byte*, std::size_t>> mapped;
  for (int round = 0; round < 2000; ++round) {
    if (mapped.size() > 50 || (!mapped.empty() && random() % 2 == 0)) {
      const std::size_t which = random() % mapped.size();
      const auto [memory, bytes] = mapped[which];
      ASSERT_EQ(std::count(memory, memory + bytes, std::byte{0xa5}), static_cast<std::ptrdiff_t>(bytes));
      space.unmap(memory, bytes);
      mapped.erase(mapped.begin() + static_cast<std::ptrdiff_t>(which));
    } else {
      const std::size_t bytes = 1 + random() % (random() % 8 == 0 ? 3 * kHugePageBytes : 5 * kPageBytes);
      mapped.emplace_back(space.map(bytes), bytes);
      std::byte* const memory = mapped.back().first;
      ASSERT_EQ(std::count(memory, memory + bytes, std::byte{0}), static_cast<std::ptrdiff_t>(bytes));
      std::memset(memory, 0xa5, bytes);
    }
  }
  for (const auto& [memory, bytes] : mapped) space.unmap(memory, bytes);
  const std::size_t all_but_guards = space.size() / 2 - 2 * kHugePageBytes;
  EXPECT_NO_THROW(space.unmap(space.map(all_but_guards), all_but_guards));
}

TEST(AddressSpace, NothingIsAccessibleBehindAChunk) {
  AddressSpace space(kGiB, 0);
  std::byte* const first = space.map(kPageBytes);
  std::byte* last = first;
  while (std::byte* const next = space.map(kPageBytes)) {
    if (next != last + kPageBytes) break;
    last = next;
  }
  EXPECT_TRUE(readable(last));
  EXPECT_FALSE(readable(last + kPageBytes));
}

// A file that was mapped over the memory is not what the next owner of the addresses gets.
TEST(AddressSpace, FilesDontStayInAChunk) {
  AddressSpace space(kGiB, 0);
  std::byte* const neighbour = space.map(kPageBytes);
  std::byte* const memory = space.map(kPageBytes);
  const auto file = SharedFile::create(SharedFile::Purpose::device_memory, kPageBytes, 0);
  file->map_at(memory, 0, kPageBytes, Access::read_write);
  space.note_file(memory);
  memory[0] = std::byte{1};
  space.unmap(memory, kPageBytes);
  std::byte* const again = space.map(kPageBytes);
  ASSERT_EQ(again, memory);
  EXPECT_EQ(again[0], std::byte{0});
  again[0] = std::byte{2};
  std::byte in_file{};
  EXPECT_TRUE(file->read(0, &in_file, 1));
  EXPECT_EQ(in_file, std::byte{1});
  space.unmap(again, kPageBytes);
  space.unmap(neighbour, kPageBytes);
}

// In a process of its own, whose table of mappings it fills: every second page is made inaccessible.
TEST(AddressSpaceDeathTest, FreesWhereTheTableOfMappingsIsFull) {
  const auto run = [] {
    AddressSpace space(kGiB);
    std::vector<std::byte*> mapped;
    for (int i = 0; i < 1000; ++i) mapped.push_back(space.map(kPageBytes));
    for (std::byte* memory : mapped) memory[0] = std::byte{1};
    const std::size_t pages = std::size_t{1} << 22;
    auto* const filler = static_cast<std::byte*>(
        mmap(nullptr, pages * kPageBytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    std::size_t page = 0;
    while (page < pages && mprotect(filler + page * kPageBytes, kPageBytes, PROT_NONE) == 0) page += 2;
    if (page >= pages) std::_Exit(3);  // the table is not as small as this test takes it to be
    for (std::byte* memory : mapped) space.unmap(memory, kPageBytes);
    for (const std::byte* memory : mapped)
      if (readable(memory)) std::_Exit(1);
    for (int i = 0; i < 1000; ++i) {
      std::byte* const memory = space.map(kPageBytes);
      if (memory[0] != std::byte{0}) std::_Exit(2);
    }
    std::_Exit(0);
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace softgpu::memory
