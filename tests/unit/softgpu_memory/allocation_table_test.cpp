#include "softgpu/memory/allocation_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace softgpu::memory {
namespace {

class Table : public testing::Test {
 protected:
  std::byte* at(std::size_t offset) { return memory_.data() + offset; }
  bool add(std::size_t offset, std::size_t size, std::uint64_t context = 0) {
    return table_.insert({.base = at(offset), .size = size, .context = context});
  }
  std::array<std::byte, 1000> memory_{};
  AllocationTable table_;
};

TEST_F(Table, FindsTheAllocationAnAddressIsIn) {
  add(100, 50);
  add(200, 50);
  EXPECT_EQ(table_.find(at(100))->base, at(100));
  EXPECT_EQ(table_.find(at(149))->base, at(100));
  EXPECT_EQ(table_.find(at(225))->base, at(200));
  EXPECT_FALSE(table_.find(at(99)));
  EXPECT_FALSE(table_.find(at(150)));
  EXPECT_FALSE(table_.find(at(250)));
}

TEST_F(Table, KnowsHowMuchIsLeftFromAnAddress) {
  add(100, 50);
  EXPECT_EQ(table_.extent(at(100), 60)->bytes, 50u);
  EXPECT_EQ(table_.extent(at(149), 60)->bytes, 1u);
  EXPECT_FALSE(table_.extent(at(150), 1));
}

TEST_F(Table, RefusesOverlaps) {
  EXPECT_TRUE(add(100, 50));
  EXPECT_FALSE(add(100, 50));
  EXPECT_FALSE(add(149, 10));
  EXPECT_FALSE(add(90, 11));
  EXPECT_FALSE(add(90, 100));
  EXPECT_TRUE(add(150, 10));
  EXPECT_TRUE(add(90, 10));
}

// Mappings of which device 0 has the rights, and device 1 may write to all.
class MappedTable : public Table {
 protected:
  static Rights rights(Access of_device_0) {
    Rights rights;
    rights.set(0, of_device_0);
    rights.set(1, Access::read_write);
    return rights;
  }
  void map(std::size_t offset, std::size_t size, Access access, Kind kind = Kind::device) {
    table_.insert(
        {.base = at(offset), .size = size, .kind = kind, .freed_by = FreedBy::unmapping, .rights = rights(access)});
  }
  Access access_to(std::size_t offset, std::size_t size, int device = 0) {
    return table_.extent(at(offset), size)->mapped->of(device);
  }
  bool any_in_row(std::size_t offset, Access access) {
    return table_.any_mapped_in_row(at(offset), [=](const Rights& rights) { return rights.of(0) == access; });
  }
};

TEST_F(MappedTable, TakesMappingsThatFollowEachOtherAsOne) {
  map(100, 50, Access::read_write);
  map(150, 50, Access::read_write);
  map(200, 50, Access::read);
  map(250, 50, Access::read, Kind::host);
  map(310, 50, Access::read, Kind::host);
  add(360, 10);
  EXPECT_EQ(table_.extent(at(120), 1000)->bytes, 130u) << "what follows is of another kind";
  EXPECT_EQ(table_.extent(at(260), 1000)->bytes, 40u) << "there is a gap";
  EXPECT_EQ(table_.extent(at(310), 1000)->bytes, 50u) << "what follows is no mapping";
  EXPECT_FALSE(table_.extent(at(360), 1)->mapped);
}

TEST_F(MappedTable, GivesTheRightsToAllOfARange) {
  map(100, 50, Access::read_write);
  map(150, 50, Access::read);
  map(200, 50, Access::none);
  EXPECT_EQ(access_to(100, 50), Access::read_write);
  EXPECT_EQ(access_to(100, 51), Access::read);
  EXPECT_EQ(access_to(120, 100), Access::none);
  EXPECT_EQ(access_to(120, 100, 1), Access::read_write);
  EXPECT_EQ(access_to(150, 50), Access::read);
}

TEST_F(MappedTable, LooksAtARowOfMappingsInBothDirections) {
  map(100, 50, Access::none);
  map(150, 50, Access::read_write);
  map(200, 50, Access::read);
  map(300, 50, Access::read_write);
  EXPECT_TRUE(any_in_row(160, Access::none));
  EXPECT_TRUE(any_in_row(160, Access::read));
  EXPECT_TRUE(any_in_row(249, Access::none));
  EXPECT_TRUE(any_in_row(100, Access::read));
  map(350, 50, Access::read, Kind::host);
  EXPECT_TRUE(any_in_row(300, Access::read)) << "whatever memory it is";
  EXPECT_FALSE(any_in_row(300, Access::none)) << "there is a gap";
  EXPECT_FALSE(any_in_row(290, Access::read)) << "nothing is there";
}

TEST_F(MappedTable, KnowsWhoHasWhichRights) {
  map(100, 50, Access::read);
  map(150, 50, Access::read);
  EXPECT_EQ(table_.owners().size(), 1u);
  const std::uint64_t before = table_.changes();
  table_.set_rights(at(150), rights(Access::none));
  EXPECT_GT(table_.changes(), before);
  ASSERT_EQ(table_.owners().size(), 2u);
  EXPECT_EQ(table_.find(at(160))->rights, rights(Access::none));
  table_.erase(at(100));
  ASSERT_EQ(table_.owners().size(), 1u);
  EXPECT_EQ(table_.owners()[0].mapped, rights(Access::none));
}

TEST_F(MappedTable, CountsMemoryOfTheHostThatSomebodyDecidesOn) {
  map(100, 50, Access::read_write);
  table_.insert({.base = at(200), .size = 50, .kind = Kind::host});
  EXPECT_FALSE(table_.any_owner_of_host_memory());
  map(300, 50, Access::read_write, Kind::host);
  map(400, 50, Access::read_write, Kind::host);
  EXPECT_TRUE(table_.any_owner_of_host_memory());
  table_.erase(at(300));
  EXPECT_TRUE(table_.any_owner_of_host_memory());
  table_.erase(at(400));
  EXPECT_FALSE(table_.any_owner_of_host_memory());
}

TEST_F(Table, AllocationsThatFollowEachOtherAreNotOne) {
  add(100, 50);
  add(150, 50);
  EXPECT_EQ(table_.extent(at(100), 100)->bytes, 50u);
}

TEST_F(Table, TellsWhetherARangeIsFree) {
  add(100, 50);
  EXPECT_FALSE(table_.any_in(at(0), 100));
  EXPECT_TRUE(table_.any_in(at(0), 101));
  EXPECT_TRUE(table_.any_in(at(120), 10));
  EXPECT_TRUE(table_.any_in(at(149), 100));
  EXPECT_FALSE(table_.any_in(at(150), 100));
}

TEST_F(Table, ChangesWhatStartsThere) {
  add(100, 50);
  EXPECT_TRUE(table_.modify(at(100), [](Allocation& allocation) { allocation.handle_types = 3; }));
  EXPECT_FALSE(table_.modify(at(101), [](Allocation&) {}));
  EXPECT_EQ(table_.find(at(120))->handle_types, 3u);
}

TEST_F(Table, FindsByWhatItIsToldToLookFor) {
  add(100, 50, 3);
  add(200, 50, 4);
  const auto of_context = [this](std::uint64_t context) {
    return table_.find_if([=](const Allocation& allocation) { return allocation.context == context; });
  };
  EXPECT_EQ(of_context(4)->base, at(200));
  EXPECT_FALSE(of_context(5));
}

TEST_F(Table, ErasesByTheFirstByteOnly) {
  add(100, 50);
  EXPECT_FALSE(table_.erase(at(101)));
  EXPECT_EQ(table_.erase(at(100))->size, 50u);
  EXPECT_FALSE(table_.erase(at(100)));
  EXPECT_FALSE(table_.find(at(120)));
}

TEST_F(Table, GivesIdsThatAreNeverUsedAgain) {
  add(100, 50);
  const auto first = table_.erase(at(100))->id;
  add(100, 50);
  EXPECT_NE(table_.find(at(100))->id, first);
}

TEST_F(Table, HandsOverWhatAContextLeaves) {
  add(0, 10, 1);
  add(10, 10, 2);
  add(20, 10, 1);
  std::size_t bytes = 0;
  table_.erase_context(1, [&](const Allocation& allocation) { bytes += allocation.size; });
  EXPECT_EQ(bytes, 20u);
  EXPECT_FALSE(table_.find(at(0)));
  EXPECT_TRUE(table_.find(at(10)));
}

TEST_F(Table, KnowsWhoDecidesOnAccess) {
  const auto has = [&](std::uint64_t context) {
    const std::vector<Owner> owners = table_.owners();
    return std::count(owners.begin(), owners.end(), Owner{.context = context}) == 1;
  };
  EXPECT_TRUE(table_.owners().empty());
  add(0, 10, 1);
  add(10, 10, 1);
  add(20, 10, 2);
  table_.insert({.base = at(30), .size = 10, .kind = Kind::managed, .context = 3});
  table_.insert({.base = at(40), .size = 10, .freed_by = FreedBy::unmapping});
  EXPECT_EQ(table_.owners().size(), 3u);
  EXPECT_TRUE(has(1) && has(2));
  EXPECT_EQ(table_.owners().front().mapped, Rights());
  table_.erase(at(0));
  EXPECT_TRUE(has(1));
  table_.erase(at(10));
  EXPECT_FALSE(has(1));
  table_.erase_context(2, [](const Allocation&) {});
  table_.erase(at(40));
  EXPECT_TRUE(table_.owners().empty());
}

// More memory of an owner changes nothing; what was known of memory that is gone holds no more.
TEST_F(Table, CountsChangesOfAccess) {
  std::uint64_t before = table_.changes();
  const auto changed = [&] { return std::exchange(before, table_.changes()) != table_.changes(); };
  add(0, 10, 1);
  EXPECT_TRUE(changed());
  add(10, 10, 1);
  EXPECT_FALSE(changed());
  table_.erase(at(10));
  EXPECT_TRUE(changed());
  add(20, 10, 2);
  EXPECT_TRUE(changed());
  table_.note_change_of_access();
  EXPECT_TRUE(changed());
}

}  // namespace
}  // namespace softgpu::memory
