// When spinning blocks are looked at again, and how blocks are handed out.
#include <gtest/gtest.h>

#include "softgpu/exec/grid_run.hpp"

namespace softgpu::exec {
namespace {

using namespace std::chrono_literals;

TEST(Backoff, RestsLongerTheLongerNothingHappensButNeverLong) {
  Backoff backoff;
  Clock::time_point now = Clock::now();
  backoff.no_progress(now);
  EXPECT_FALSE(backoff.resting(now));
  Clock::duration rested{};
  const Clock::time_point start = now;
  while (now - start < 100ms) {
    now += 1us;
    backoff.no_progress(now);
    if (backoff.resting(now)) {
      const Clock::duration rest = backoff.resume_at() - now;
      EXPECT_LE(rest, 200us);
      rested += rest;
      now = backoff.resume_at();
    }
  }
  EXPECT_GT(rested, 60ms);
}

TEST(Backoff, WhoWakesUpLateStillRunsForAWholeSlice) {
  Backoff backoff;
  Clock::time_point now = Clock::now();
  backoff.no_progress(now);
  for (int slice = 0; slice < 100; ++slice) {
    for (; !backoff.resting(now); now += 10us) backoff.no_progress(now);
    now = backoff.resume_at() + 3ms;
    backoff.resume(now);
    for (int i = 0; i < 5; ++i, now += 9us) {
      backoff.resume(now);  // the next block of the same slice
      backoff.no_progress(now);
      ASSERT_FALSE(backoff.resting(now)) << slice << " " << i;
    }
  }
}

TEST(Backoff, DoesNotRestWhileThereIsProgress) {
  Backoff backoff;
  Clock::time_point now = Clock::now();
  for (int i = 0; i < 10000; ++i) {
    now += 10us;
    if (i % 3 == 0) backoff.progress(now);
    backoff.no_progress(now);
    EXPECT_FALSE(backoff.resting(now));
  }
}

TEST(Backoff, RestsNoLongerThanUntilASleepingThreadWakesUp) {
  Backoff backoff;
  const Clock::time_point start = Clock::now();
  backoff.no_progress(start);
  const Clock::time_point now = start + 1s;
  backoff.no_progress(now, now + 30us);
  EXPECT_EQ(backoff.resume_at(), now + 30us);
  backoff.resume(now + 1us);
  backoff.no_progress(now +
                      60us);  // another block, in which nobody sleeps: the one that woke up at 30 us has had its turn
  EXPECT_EQ(backoff.resume_at(), now + 260us);

  backoff.resume(now + 61us);
  backoff.no_progress(now + 120us, now + 200us);
  backoff.resume(now + 121us);
  backoff.no_progress(now + 180us, now + 900us);
  EXPECT_EQ(backoff.resume_at(), now + 200us) << "the thread that wakes up first counts, whichever block it is in";
}

TEST(GridRun, TakesMoreBlocksAtOnceWhileTheyAreShort) {
  GridRun grid({.grid = {1000000, 1000, 1}, .block = {32}}, 1);
  EXPECT_EQ(grid.take(2).count, 1u);
  for (int i = 0; i < 10; ++i) grid.note_duration(grid.take(2), 1us);
  const std::uint64_t many = grid.take(2).count;
  EXPECT_GT(many, 256u);
  for (int i = 0; i < 10; ++i) grid.note_duration(grid.take(2), 1ms);
  EXPECT_LT(grid.take(2).count, many / 64);
}

TEST(GridRun, LeavesEnoughForTheOtherThreads) {
  GridRun grid({.grid = {64}, .block = {32}}, 1);
  for (int i = 0; i < 5; ++i) grid.note_duration(grid.take(4), 1us);
  EXPECT_LE(grid.take(4).count, 4u);
}

TEST(GridRun, CountsTheLargestGrid) {
  GridRun grid({.grid = {0x7fffffff, 65535, 65535}, .block = {1024}}, 1);
  EXPECT_EQ(grid.total, 0x7fffffffull * 65535 * 65535);
  const abi::Dim3 last = grid.index_of(grid.total - 1);
  EXPECT_EQ(last.x, 0x7ffffffeu);
  EXPECT_EQ(last.y, 65534u);
  EXPECT_EQ(last.z, 65534u);
  EXPECT_EQ(grid.stop(Outcome::cancelled), grid.total);
  EXPECT_EQ(grid.take(1).count, 0u);
}

}  // namespace
}  // namespace softgpu::exec
