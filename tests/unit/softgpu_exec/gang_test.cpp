// Kernels with suspend points: barriers, reductions, spinning.
#include <gmock/gmock.h>

#include <numeric>
#include <vector>

#include "softgpu/exec/cluster_run.hpp"
#include "unit/softgpu_exec/launch.hpp"

extern "C" void softgpu_rt_barrier_arrive(void* gang, std::uint32_t id, std::uint32_t threads);

namespace softgpu::exec {
namespace {

class GangsOn : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Workers, GangsOn, testing::Values(1, 2, 4));

// Every gang adds a one per round; after each barrier all must see the ones of all.
struct Rounds {
  static constexpr int kRounds = 20;
  std::atomic<int> wrong{0};

  static bool step(Frame& gang) {
    auto* sum = reinterpret_cast<std::uint32_t*>(gang.block().shared);
    const std::uint32_t gangs = (gang.block().size.x + 7) / 8;
    if (gang.state == 0 && gang.is_first()) sum[0] = 0;
    if (gang.state == 0) return gang.barrier();
    // Odd steps add, even steps look.
    if (gang.state % 2 == 1) {
      sum[0] += 1;
    } else {
      argument<Rounds>(gang.block()).wrong += sum[0] != gangs * static_cast<std::uint32_t>(gang.state / 2);
    }
    return gang.state < 2 * kRounds ? gang.barrier(static_cast<std::uint32_t>(gang.state) % 16) : gang.end();
  }
};

TEST_P(GangsOn, MeetAtBarriers) {
  Pool pool({.workers = GetParam()});
  for (std::uint32_t threads : {1u, 8u, 9u, 256u, 1000u, 1024u}) {
    Rounds rounds;
    GridLaunch launch = launch_of(Gangs<Rounds::step>::code(), {200}, {threads}, &rounds);
    launch.static_shared_bytes = 4;
    EXPECT_EQ(run(pool, std::move(launch)), Outcome::completed);
    EXPECT_EQ(rounds.wrong.load(), 0) << threads;
  }
}

struct Reductions {
  std::atomic<int> wrong{0};

  static bool step(Frame& gang) {
    Reductions& self = argument<Reductions>(gang.block());
    const std::uint32_t threads = gang.block().size.x, lanes = gang.gang->lanes, result = gang.gang->result;
    using enum abi::BarrierReduction;
    switch (gang.state) {
      case 0: return gang.reduce(all, lanes);
      case 1: self.wrong += result != 1; return gang.reduce(all, gang.is_first() ? lanes - 1 : lanes);
      case 2: self.wrong += result != 0; return gang.reduce(any, gang.is_first());
      case 3: self.wrong += result != 1; return gang.reduce(any, 0);
      case 4: self.wrong += result != 0; return gang.reduce(count, lanes);
      default: self.wrong += result != threads; return gang.end();
    }
  }
};

TEST_P(GangsOn, ReduceAtBarriers) {
  Pool pool({.workers = GetParam()});
  for (std::uint32_t threads : {8u, 100u, 1024u}) {
    Reductions reductions;
    EXPECT_EQ(run(pool, launch_of(Gangs<Reductions::step>::code(), {50}, {threads}, &reductions)), Outcome::completed);
    EXPECT_EQ(reductions.wrong.load(), 0) << threads;
  }
}

// The first warp waits for the third at barrier 1; the second takes no part.
bool named_barrier_step(Frame& gang) {
  auto* shared = reinterpret_cast<std::uint32_t*>(gang.block().shared);
  const std::uint32_t warp = gang.gang->first_thread / 32;
  if (warp == 1) return gang.end();
  if (gang.state == 0) {
    if (warp == 2) shared[gang.gang->first_thread - 64] = 42;
    return gang.barrier(1, 64);
  }
  if (warp == 0) argument<std::atomic<std::uint32_t>>(gang.block()) += shared[gang.gang->first_thread];
  return gang.end();
}

TEST_P(GangsOn, MeetInPartAtNamedBarriers) {
  Pool pool({.workers = GetParam()});
  std::atomic<std::uint32_t> sum = 0;
  GridLaunch launch = launch_of(Gangs<named_barrier_step>::code(), {1}, {96}, &sum);
  launch.static_shared_bytes = 32 * 4;
  EXPECT_EQ(run(pool, std::move(launch)), Outcome::completed);
  EXPECT_EQ(sum.load(), 4 * 42u);
}

// Producers only arrive; consumers wait for them. The block's last warp is not full.
bool producer_consumer_step(Frame& gang) {
  auto* shared = reinterpret_cast<std::uint32_t*>(gang.block().shared);
  const bool consumer = gang.gang->first_thread < 32;
  if (consumer && gang.state == 0) return gang.barrier(3, 128);
  if (!consumer) {
    shared[0] += 1;
    softgpu_rt_barrier_arrive(gang.gang, 3, 128);
  } else {
    argument<std::atomic<std::uint32_t>>(gang.block()) += shared[0];
  }
  return gang.end();
}

TEST_P(GangsOn, WaitForThoseThatOnlyArrive) {
  Pool pool({.workers = GetParam()});
  std::atomic<std::uint32_t> sum = 0;
  GridLaunch launch = launch_of(Gangs<producer_consumer_step>::code(), {1}, {100}, &sum);
  launch.static_shared_bytes = 4;
  EXPECT_EQ(run(pool, std::move(launch)), Outcome::completed);
  EXPECT_EQ(sum.load(), 4 * 9u);  // 4 gangs of consumers see all 9 of producers
}

bool exit_early_step(Frame& gang) {
  if (gang.state == 0 && gang.gang->first_thread >= 64) return gang.yield();
  if (gang.state == 0) return gang.barrier();
  if (gang.gang->first_thread < 64) argument<std::atomic<int>>(gang.block()) += 1;
  return gang.end();
}

TEST_P(GangsOn, DoNotWaitForThreadsThatHaveExited) {
  Pool pool({.workers = GetParam()});
  std::atomic<int> passed = 0;
  EXPECT_EQ(run(pool, launch_of(Gangs<exit_early_step>::code(), {10}, {256}, &passed)), Outcome::completed);
  EXPECT_EQ(passed.load(), 10 * 8);
}

bool wait_for_flag_step(Frame& gang) { return argument<std::atomic<bool>>(gang.block()) ? gang.end() : gang.yield(); }

TEST_P(GangsOn, SpinOnAFlagOfTheHostWithoutStarvingOthers) {
  Pool pool({.workers = GetParam()});
  std::atomic<bool> flag = false;
  Submitted spinning(pool, launch_of(Gangs<wait_for_flag_step>::code(), {100}, {64}, &flag));
  std::atomic<int> blocks = 0;
  const auto bump = [](const abi::Block* block) { argument<std::atomic<int>>(*block).fetch_add(1); };
  for (int round = 0; round < 20; ++round) run(pool, launch_of(plain(bump), {50}, {32}, &blocks));
  EXPECT_EQ(blocks.load(), 1000);
  EXPECT_FALSE(spinning.done());
  flag = true;
  EXPECT_EQ(spinning.wait(), Outcome::completed);
}

// Each gang sleeps for as long as its block's row of the table asks.
struct Naps {
  static constexpr std::uint32_t kAsked[] = {0, 1000, 300'000, 4'000'000'000};
  std::atomic<std::int64_t> slept[4][4];

  static bool step(Frame& gang) {
    const std::uint64_t now =
        static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1));
    const std::uint32_t row = gang.block().index.x;
    if (gang.state == 0) {
      gang.value = now;
      return gang.sleep(kAsked[row]);
    }
    argument<Naps>(gang.block()).slept[row][gang.gang->first_thread / 8] = static_cast<std::int64_t>(now - gang.value);
    return gang.end();
  }
};

TEST_P(GangsOn, SleepForAsLongAsTheyAsk) {
  Pool pool({.workers = GetParam()});
  Naps naps{};
  ASSERT_EQ(run(pool, launch_of(Gangs<Naps::step>::code(), {4}, {32}, &naps)), Outcome::completed);
  for (std::size_t row = 0; row < 4; ++row)
    for (const auto& slept : naps.slept[row]) EXPECT_GE(slept, std::min<std::int64_t>(Naps::kAsked[row], 1'000'000));
  for (const auto& slept : naps.slept[3]) EXPECT_LT(slept, 3'000'000'000) << "a millisecond is the longest sleep";
}

// The first gang of the first block sleeps until the last gang of the last block, which starts later, has been run.
bool sleep_for_flag_step(Frame& gang) {
  auto& flag = argument<std::atomic<bool>>(gang.block());
  if (gang.block().index.x == 0 && gang.is_first()) return flag ? gang.end() : gang.sleep(100'000);
  if (gang.block().index.x == 30 && gang.gang->first_thread == 56) flag = true;
  return gang.end();
}

TEST_P(GangsOn, LetOthersRunWhileTheySleep) {
  Pool pool({.workers = GetParam()});
  std::atomic<bool> flag = false;
  EXPECT_EQ(run(pool, launch_of(Gangs<sleep_for_flag_step>::code(), {31}, {64}, &flag)), Outcome::completed);
}

// Three times the gang waits to good purpose, then in vain.
bool get_on_step(Frame& gang) {
  gang.gang->got_on = gang.state < 3;
  return gang.yield();
}

TEST(Cluster, GetsOnWhenAThreadLeavesALoopInWhichItWaited) {
  const Pool pool({.workers = 1});  // for its fault handlers
  const GridLaunch launch = launch_of(Gangs<get_on_step>::code(), {1}, {8});
  ClusterRun cluster;
  cluster.start(launch, 1, 0, {0, 0, 0});
  const ClusterRun::Advance first = cluster.advance(launch, 0), second = cluster.advance(launch, 0);
  EXPECT_EQ(first.status, ClusterRun::Status::yielding);
  EXPECT_TRUE(first.progress);
  EXPECT_EQ(first.steps, 4u);
  EXPECT_FALSE(second.progress);
  EXPECT_EQ(second.steps, 1u);
}

TEST_P(GangsOn, SpinOnAFlagThatAnotherGridSets) {
  Pool pool({.workers = GetParam()});
  std::atomic<bool> flag = false;
  Submitted spinning(pool, launch_of(Gangs<wait_for_flag_step>::code(), {3}, {1024}, &flag));
  const auto set = [](const abi::Block* block) { argument<std::atomic<bool>>(*block) = true; };
  Submitted setting(pool, launch_of(plain(set), {1}, {1}, &flag));
  EXPECT_EQ(spinning.wait(), Outcome::completed);
}

// Each block waits for the one after it, which has not started when it first looks.
bool wait_for_next_block_step(Frame& gang) {
  auto& done = argument<std::vector<std::atomic<bool>>>(gang.block());
  const std::uint32_t i = gang.block().index.x;
  if (i + 1 < done.size() && !done[i + 1]) return gang.yield();
  done[i] = true;
  return gang.end();
}

TEST_P(GangsOn, SpinOnBlocksThatStartLater) {
  Pool pool({.workers = GetParam()});
  std::vector<std::atomic<bool>> done(300);
  EXPECT_EQ(run(pool, launch_of(Gangs<wait_for_next_block_step>::code(), {300}, {32}, &done)), Outcome::completed);
  for (const std::atomic<bool>& block : done) EXPECT_TRUE(block.load());
}

// A barrier of the whole grid: first gangs count up and spin, the others wait for them at the block's barrier.
struct GridBarrier {
  static constexpr std::uint32_t kRounds = 5;
  std::atomic<std::uint32_t> arrived{0}, wrong{0};

  static bool step(Frame& gang) {
    GridBarrier& self = argument<GridBarrier>(gang.block());
    const auto round = static_cast<std::uint32_t>(gang.value / 2);
    const std::uint32_t goal = (round + 1) * gang.block().grid.x;
    if (round == kRounds) return gang.end();
    const bool arriving = gang.value % 2 == 0;
    if (!gang.is_first()) {
      gang.value += 2;
      return gang.barrier();
    }
    if (arriving) {
      gang.value += 1;
      self.arrived.fetch_add(1);
    }
    if (self.arrived < goal) return gang.yield();
    gang.value += 1;
    return gang.barrier();
  }
};

TEST_P(GangsOn, SynchroniseACooperativeGrid) {
  Pool pool({.workers = GetParam()});
  GridBarrier barrier;
  GridLaunch launch = launch_of(Gangs<GridBarrier::step>::code(), {500}, {64}, &barrier);
  launch.cooperative = true;
  EXPECT_EQ(run(pool, std::move(launch)), Outcome::completed);
  EXPECT_EQ(barrier.arrived.load(), 500 * GridBarrier::kRounds);
}

// Looks at the flag once between two barriers, for ever: never idle, never finished.
bool poll_between_barriers_step(Frame& gang) {
  return argument<std::atomic<bool>>(gang.block()) ? gang.end() : gang.barrier();
}

TEST_P(GangsOn, PollingBetweenBarriersDoesNotStarveOthers) {
  Pool pool({.workers = GetParam()});
  std::atomic<bool> flag = false;
  Submitted polling(pool, launch_of(Gangs<poll_between_barriers_step>::code(), {4}, {64}, &flag));
  const auto set = [](const abi::Block* block) { argument<std::atomic<bool>>(*block) = true; };
  Submitted setting(pool, launch_of(plain(set), {1}, {1}, &flag));
  EXPECT_EQ(polling.wait(), Outcome::completed);
}

TEST_P(GangsOn, AreCancelledWhileTheySpin) {
  Pool pool({.workers = GetParam()});
  const auto cancel = std::make_shared<std::atomic<bool>>(false);
  std::atomic<bool> never = false;
  for (const KernelCode code : {Gangs<wait_for_flag_step>::code(), Gangs<poll_between_barriers_step>::code()}) {
    *cancel = false;
    GridLaunch launch = launch_of(code, {20}, {64}, &never);
    launch.cancel = cancel;
    Submitted grid(pool, std::move(launch));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_FALSE(grid.done());
    *cancel = true;
    EXPECT_EQ(grid.wait(), Outcome::cancelled);
  }
}

bool deadlock_step(Frame& gang) {
  return gang.state > 0 ? gang.end() : gang.barrier(gang.is_first() ? 2 : 5, gang.is_first() ? 64 : 0);
}

TEST_P(GangsOn, AreStoppedWithAMessageWhenAllWaitForEver) {
  Pool pool({.workers = GetParam()});
  testing::internal::CaptureStderr();
  EXPECT_EQ(run(pool, launch_of(Gangs<deadlock_step>::code(32), {1}, {96})), Outcome::barrier_deadlock);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::AllOf(testing::HasSubstr("kernel test_kernel, block (0,0,0)"),
                             testing::HasSubstr("barrier 2 has 32 of 64 threads"),
                             testing::HasSubstr("barrier 5 has 64 of all threads")));
}

bool fault_in_one_gang_step(Frame& gang) {
  if (gang.state == 0) return gang.barrier();
  if (gang.block().index.x == 50 && gang.is_first()) write_to(4096);
  return gang.barrier(), gang.state < 3;
}

TEST_P(GangsOn, FailTogether) {
  Pool pool({.workers = GetParam()});
  EXPECT_EQ(run(pool, launch_of(Gangs<fault_in_one_gang_step>::code(), {100000}, {128})), Outcome::illegal_address);
  std::atomic<int> passed = 0;
  EXPECT_EQ(run(pool, launch_of(Gangs<exit_early_step>::code(), {10}, {256}, &passed)), Outcome::completed);
  EXPECT_EQ(passed.load(), 80);
}

bool no_such_barrier(Frame& gang) { return gang.state == 0 ? gang.barrier(16) : gang.end(); }

TEST_P(GangsOn, CantWaitAtABarrierThatDoesNotExist) {
  Pool pool({.workers = GetParam()});
  testing::internal::CaptureStderr();
  EXPECT_EQ(run(pool, launch_of(Gangs<no_such_barrier>::code(8), {1}, {64})), Outcome::illegal_instruction);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("names barrier 16"), std::string::npos);
}

}  // namespace
}  // namespace softgpu::exec
