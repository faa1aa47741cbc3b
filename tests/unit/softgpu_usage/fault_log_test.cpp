// Faults that processes note, and those who read them: later, after a file was replaced, and where there is none.
#include "softgpu/usage/fault_log.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "support/temporary_folder.hpp"

namespace softgpu::usage {
namespace {

struct FaultLogTest : testing::Test {
  TemporaryFolder outer;
  std::string folder = outer / "softgpu";
  void SetUp() override { ASSERT_EQ(mkdir(folder.c_str(), 0700), 0); }

  static std::vector<std::uint32_t> numbers(const std::vector<Fault>& faults) {
    std::vector<std::uint32_t> xids;
    for (const Fault& fault : faults) xids.push_back(fault.xid);
    return xids;
  }
};

using Numbers = std::vector<std::uint32_t>;

TEST_F(FaultLogTest, AReaderGetsWhatIsNotedAfterItBegan) {
  const FaultLog log(folder);
  log.note({.pid_namespace = 1, .unit = 0, .xid = 13});
  FaultReader reader(folder);
  EXPECT_TRUE(reader.next().empty());
  log.note({.pid_namespace = 7, .unit = 3, .xid = 31});
  log.note({.pid_namespace = 7, .unit = 3, .xid = 43});
  const std::vector<Fault> found = reader.next();
  EXPECT_EQ(numbers(found), (Numbers{31, 43}));
  EXPECT_EQ(found[0].pid_namespace, 7u);
  EXPECT_EQ(found[0].unit, 3u);
  EXPECT_TRUE(reader.next().empty());
}

TEST_F(FaultLogTest, AReaderMayBeThereBeforeTheFile) {
  FaultReader reader(folder);
  EXPECT_TRUE(reader.next().empty());
  FaultLog(folder).note({1, 0, 31});
  EXPECT_EQ(numbers(reader.next()), Numbers{31});
}

TEST_F(FaultLogTest, EachReaderGetsThemAll) {
  FaultReader first(folder), second(folder);
  FaultLog(folder).note({1, 0, 31});
  EXPECT_EQ(first.next().size(), 1u);
  EXPECT_EQ(second.next().size(), 1u);
}

TEST_F(FaultLogTest, ALongFileIsReplacedAndNothingIsLost) {
  constexpr std::uint32_t kMany = 10'000;
  const FaultLog log(folder);
  FaultReader reader(folder);
  Numbers found, noted;
  for (std::uint32_t i = 0; i < kMany; ++i) {
    log.note({1, 0, i});
    noted.push_back(i);
    if (i % 1000 != 0) continue;
    for (const std::uint32_t xid : numbers(reader.next())) found.push_back(xid);
  }
  for (const std::uint32_t xid : numbers(reader.next())) found.push_back(xid);
  EXPECT_EQ(found, noted);
  EXPECT_LT(std::filesystem::file_size(folder + "/faults"), 128u << 10);
}

TEST_F(FaultLogTest, ThreadsNoteAtTheSameTime) {
  FaultReader reader(folder);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([this] {
      for (int k = 0; k < 200; ++k) FaultLog(folder).note({1, 0, 31});
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(reader.next().size(), 800u);
}

TEST_F(FaultLogTest, WhatIsNoRecordIsSkipped) {
  FaultReader reader(folder);
  std::ofstream(folder + "/faults") << std::string(240, 'x') << "and a part";
  EXPECT_TRUE(reader.next().empty());
}

TEST_F(FaultLogTest, ALinkIsNotFollowed) {
  const std::string target = outer / "target";
  std::ofstream(target) << "";
  std::filesystem::create_symlink(target, folder + "/faults");
  FaultLog(folder).note({1, 0, 31});
  EXPECT_EQ(std::filesystem::file_size(target), 0u);
}

TEST(FaultLog, GoesNowhereWithoutAFolder) {
  FaultLog().note({1, 0, 31});
  FaultLog("/no/such/place").note({1, 0, 31});
  EXPECT_TRUE(FaultReader("/no/such/place").next().empty());
}

}  // namespace
}  // namespace softgpu::usage
