// Processes that see each other's counters: those that exit, those that are killed, and those that are no processes.
#include "softgpu/usage/publication.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <optional>

#include "softgpu/usage/process.hpp"
#include "softgpu/usage/running.hpp"
#include "support/temporary_folder.hpp"

namespace softgpu::usage {
namespace {

struct PublicationTest : testing::Test {
  TemporaryFolder outer;
  std::string folder = outer / "softgpu";

  std::ptrdiff_t files() const { return std::distance(std::filesystem::directory_iterator(folder), {}); }

  // A child that makes a page and then waits to be killed.
  pid_t start_publisher() const {
    int ends[2];
    if (pipe(ends) != 0) return -1;
    const pid_t child = fork();
    if (child == 0) {
      Publication publication(folder, 1, 1);
      publication.page().device[0].memory_bytes = 4096;
      (void)!write(ends[1], "!", 1);
      for (;;) pause();
    }
    char ready;
    (void)!read(ends[0], &ready, 1);
    close(ends[0]);
    close(ends[1]);
    return child;
  }
};

TEST_F(PublicationTest, OthersSeeThePageAndItsCounters) {
  Publication publication(folder, 2, 3);
  ASSERT_TRUE(publication.is_visible());
  shared(publication.page().device[1].memory_bytes).fetch_add(4096);
  const std::vector<Page> pages = running(folder);
  ASSERT_EQ(pages.size(), 1u);
  EXPECT_EQ(pages[0].pid, static_cast<std::uint32_t>(getpid()));
  EXPECT_EQ(pages[0].devices, 2u);
  EXPECT_EQ(pages[0].seats, 3u);
  EXPECT_EQ(pages[0].device[1].memory_bytes, 4096u);
}

TEST_F(PublicationTest, OthersSeeTheDevicesOnWhichItGoesOn) {
  Publication publication(folder, 2, 1);
  Page& page = publication.page();
  page.device[0].memory_bytes = 4096;
  page.seat[0] = {.since_ns = 5, .device = 1};
  page.unit[0] = 1;
  page.unit[1] = 0;
  const std::vector<Page> pages = running(folder);
  ASSERT_EQ(pages.size(), 1u);
  EXPECT_EQ(pages[0].device[0].memory_bytes, 0u);
  EXPECT_EQ(pages[0].device[1].memory_bytes, 4096u);
  EXPECT_EQ(pages[0].seat[0].device, 0u);
  page.unit[1] = 1;  // two on one: no page
  EXPECT_TRUE(running(folder).empty());
  page.unit[1] = 200;
  EXPECT_TRUE(running(folder).empty());
}

TEST_F(PublicationTest, EndsWithItsOwner) {
  {
    const Publication publication(folder, 1, 1);
  }
  EXPECT_TRUE(running(folder).empty());
  EXPECT_EQ(files(), 0);
}

TEST_F(PublicationTest, NobodyElseCanLookIntoTheFolder) {
  const Publication publication(folder, 1, 1);
  struct stat status;
  ASSERT_EQ(stat(folder.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
}

TEST_F(PublicationTest, AChildThatExitsLeavesTheParentsPageAlone) {
  Publication publication(folder, 1, 1);
  if (const pid_t child = fork(); child == 0) {
    publication.withdraw();
    _exit(0);
  } else {
    waitpid(child, nullptr, 0);
  }
  EXPECT_EQ(running(folder).size(), 1u);
}

TEST_F(PublicationTest, WhatAKilledProcessLeavesBehindIsNotListedAndIsRemoved) {
  const pid_t child = start_publisher();
  ASSERT_EQ(running(folder).size(), 1u);
  kill(child, SIGKILL);
  siginfo_t info;
  waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);  // it is dead, and nobody has buried it
  EXPECT_TRUE(running(folder).empty());
  EXPECT_EQ(files(), 0);
  waitpid(child, nullptr, 0);
}

TEST_F(PublicationTest, ANewProcessRemovesWhatKilledOnesHaveLeftBehind) {
  for (int i = 0; i < 3; ++i) {
    const pid_t child = start_publisher();
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
  const Publication publication(folder, 1, 1);
  EXPECT_EQ(files(), 1);
}

TEST_F(PublicationTest, AProcessWithTheNumberOfADeadOneIsAnotherProcess) {
  Publication publication(folder, 1, 1);
  publication.page().start_time -= 1;  // as one that had this number before would have left it
  EXPECT_TRUE(running(folder).empty());
  EXPECT_EQ(files(), 0);
}

TEST_F(PublicationTest, AProcessThatHasBecomeAnotherProgramIsNotListed) {
  Publication publication(folder, 1, 1);
  ASSERT_NE(publication.page().stack_start, 0u);
  publication.page().stack_start += 4096;  // as the program before it would have left it
  EXPECT_TRUE(running(folder).empty());
  publication.page().stack_start = 0;  // where the kernel does not tell
  EXPECT_EQ(running(folder).size(), 1u);
}

TEST_F(PublicationTest, PagesOfOtherNamespacesAreLeftAlone) {
  Publication publication(folder, 1, 1);
  publication.page().pid_namespace += 1;
  EXPECT_TRUE(running(folder).empty());
  EXPECT_EQ(files(), 1);
}

TEST_F(PublicationTest, FilesThatAreNoPagesAreSkipped) {
  const Publication publication(folder, 1, 1);
  std::ofstream(folder + "/1-2") << "short";
  std::ofstream(folder + "/3-4") << std::string(sizeof(Page), 'x');
  ASSERT_EQ(symlink("/proc/self/mem", (folder + "/5-6").c_str()), 0);
  ASSERT_EQ(mkfifo((folder + "/7-8").c_str(), 0600), 0);
  EXPECT_EQ(running(folder).size(), 1u);
}

TEST_F(PublicationTest, AFolderThatOthersCanReachIsNotUsed) {
  ASSERT_EQ(mkdir(folder.c_str(), 0755), 0);
  testing::internal::CaptureStderr();
  Publication publication(folder, 1, 1);
  const Publication again(folder, 1, 1);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(said, "softgpu: other processes can't see or control this one through " + folder +
                      ": others may look into it (chmod go-rwx). SOFTGPU_RUNTIME_DIR names another folder\n");
  EXPECT_FALSE(publication.is_visible());
  publication.page().device[0].memory_bytes = 1;  // counts all the same
  EXPECT_TRUE(running(folder).empty());
  EXPECT_EQ(files(), 0);
}

TEST_F(PublicationTest, ALinkIsNotFollowed) {
  const std::string target = outer / "target";
  ASSERT_EQ(mkdir(target.c_str(), 0700), 0);
  ASSERT_EQ(symlink(target.c_str(), folder.c_str()), 0);
  const Publication publication(folder, 1, 1);
  EXPECT_FALSE(publication.is_visible());
  EXPECT_TRUE(std::filesystem::is_empty(target));
}

TEST_F(PublicationTest, ThereMayBeNoFolder) {
  EXPECT_TRUE(running(folder).empty());
  const Publication publication("/no/such/place", 1, 1);
  EXPECT_FALSE(publication.is_visible());
}

TEST(BusyTime, CountsWhatStillRuns) {
  Page page{};
  page.seats = 2;
  page.device[1].busy_ns = 100;
  page.seat[0] = {.since_ns = 1000, .device = 1};
  page.seat[1] = {.since_ns = 1200, .device = 0};
  EXPECT_EQ(busy_ns(page, 1, 1500), 600u);
  EXPECT_EQ(busy_ns(page, 0, 1500), 300u);
}

TEST(StartTime, IsTheProcesssOwn) {
  EXPECT_EQ(start_time(static_cast<std::uint32_t>(getpid())), start_time(static_cast<std::uint32_t>(getpid())));
  EXPECT_EQ(start_time(0xFFFFFFF), std::nullopt);
}

}  // namespace
}  // namespace softgpu::usage
