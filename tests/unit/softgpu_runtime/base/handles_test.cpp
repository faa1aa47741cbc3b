#include "softgpu/runtime/base/handles.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace softgpu::runtime {
namespace {

using Handle = struct Opaque*;
using Table = HandleTable<Handle, int>;

// A value that is no handle, as the compiler can't see.
Handle forged(std::uintptr_t value) {
  volatile std::uintptr_t hidden = value;
  return reinterpret_cast<Handle>(hidden);
}

TEST(Handles, LeadToTheirObjects) {
  Table table;
  const Handle one = table.add(std::make_shared<int>(1)), two = table.add(std::make_shared<int>(2));
  EXPECT_EQ(*table.find(one), 1);
  EXPECT_EQ(*table.find(two), 2);
  EXPECT_EQ(table.all().size(), 2u);
}

TEST(Handles, AnythingElseLeadsNowhere) {
  Table table;
  const Handle one = table.add(std::make_shared<int>(1));
  const auto address = reinterpret_cast<std::uintptr_t>(one);
  int local = 0;
  EXPECT_EQ(table.find(forged(0)), nullptr);
  EXPECT_EQ(table.find(forged(1)), nullptr);
  EXPECT_EQ(table.find(forged(reinterpret_cast<std::uintptr_t>(&local))), nullptr);
  EXPECT_EQ(table.find(forged(address + 1)), nullptr);
  EXPECT_EQ(table.find(forged(address + 32)), nullptr) << "never given out";
}

TEST(Handles, RemovedOnesAreNotReusedSoon) {
  Table table;
  const Handle dead = table.add(std::make_shared<int>(1));
  EXPECT_EQ(*table.remove(dead), 1);
  EXPECT_EQ(table.remove(dead), nullptr);
  for (int i = 0; i < 500; ++i) EXPECT_NE(table.add(std::make_shared<int>(i)), dead);
  EXPECT_EQ(table.find(dead), nullptr);
}

TEST(Handles, CanBeLookedAt) {
  Table table;
  const Handle handle = table.add(std::make_shared<int>(7));
  int seen = 0;
  EXPECT_TRUE(table.peek(handle, [&](int value) { seen = value; }));
  EXPECT_EQ(seen, 7);
  table.remove(handle);
  EXPECT_FALSE(table.peek(handle, [&](int) { seen = -1; }));
  EXPECT_FALSE(table.peek(nullptr, [&](int) { seen = -1; }));
  EXPECT_EQ(seen, 7);
}

TEST(Handles, CanGetAnotherObject) {
  Table table;
  const Handle handle = table.add(std::make_shared<int>(1));
  EXPECT_EQ(*table.replace(handle, nullptr), 1);
  EXPECT_EQ(table.find(handle), nullptr);
  table.replace(handle, std::make_shared<int>(2));
  EXPECT_EQ(*table.find(handle), 2);
}

TEST(Handles, WithoutAnObjectCanBeGivenUp) {
  Table table;
  const Handle handle = table.add(std::make_shared<int>(1));
  table.replace(handle, nullptr);
  table.discard(handle);
  EXPECT_EQ(table.find(handle), nullptr);
  for (int i = 0; i < 5000; ++i) table.remove(table.add(std::make_shared<int>(i)));
  EXPECT_TRUE(table.all().empty());
}

TEST(Handles, CanBeUsedWhileOthersAreRemoved) {
  Table table;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&table, t] {
      for (int i = 0; i < 2000; ++i) {
        const Handle handle = table.add(std::make_shared<int>(t));
        ASSERT_EQ(*table.find(handle), t);
        ASSERT_EQ(*table.remove(handle), t);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(table.all().empty());
}

}  // namespace
}  // namespace softgpu::runtime
