// Plain kernels, jobs, waiting.
#include <gmock/gmock.h>

#include <mutex>
#include <vector>

#include "unit/softgpu_exec/launch.hpp"

namespace softgpu::exec {
namespace {

class PoolOf : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Workers, PoolOf, testing::Values(1, 2, 3, 8));

void count_block(const abi::Block* block) {
  const abi::Dim3 i = block->index, n = block->grid;
  auto& counts = argument<std::vector<std::atomic<int>>>(*block);
  counts[i.x + std::size_t{n.x} * (i.y + std::size_t{n.y} * i.z)].fetch_add(1);
}

TEST_P(PoolOf, RunsEveryBlockOnce) {
  Pool pool({.workers = GetParam()});
  for (const abi::Dim3 grid : {abi::Dim3{1, 1, 1}, {7, 1, 1}, {1, 5, 3}, {100, 10, 7}, {1, 1, 1000}, {3, 3, 3}}) {
    std::vector<std::atomic<int>> counts(std::size_t{grid.x} * grid.y * grid.z);
    EXPECT_EQ(run(pool, launch_of(plain(count_block), grid, {256}, &counts)), Outcome::completed);
    for (const std::atomic<int>& count : counts) EXPECT_EQ(count.load(), 1);
  }
}

TEST_P(PoolOf, RunsGridsOfManyThreadsAtOnce) {
  Pool pool({.workers = GetParam()});
  std::vector<std::thread> hosts;
  for (int host = 0; host < 4; ++host)
    hosts.emplace_back([&pool, host] {
      for (std::uint32_t round = 0; round < 200; ++round) {
        std::vector<std::atomic<int>> counts(1 + round % 50);
        GridLaunch launch = launch_of(plain(count_block), {1 + round % 50}, {64}, &counts);
        launch.queue = host % 2 ? &counts : nullptr;
        EXPECT_EQ(run(pool, std::move(launch)), Outcome::completed);
        for (const std::atomic<int>& count : counts) EXPECT_EQ(count.load(), 1);
      }
    });
  for (std::thread& host : hosts) host.join();
}

TEST(Pool, StartsBlocksInOrderWithXFastest) {
  Pool pool({.workers = 1});
  std::vector<abi::Dim3> seen;
  const auto record = [](const abi::Block* block) { argument<std::vector<abi::Dim3>>(*block).push_back(block->index); };
  run(pool, launch_of(plain(record), {3, 2, 2}, {1}, &seen));
  ASSERT_EQ(seen.size(), 12u);
  for (std::uint32_t i = 0; i < 12; ++i) {
    EXPECT_EQ(seen[i].x, i % 3);
    EXPECT_EQ(seen[i].y, i / 3 % 2);
    EXPECT_EQ(seen[i].z, i / 6);
  }
}

TEST(Pool, TellsBlocksWhatTheyAre) {
  Pool pool({.workers = 2});
  abi::Block seen;
  const auto record = [](const abi::Block* block) { argument<abi::Block>(*block) = *block; };
  GridLaunch launch = launch_of(plain(record), {1}, {32, 4, 2}, &seen);
  launch.static_shared_bytes = 1000;
  launch.dynamic_shared_bytes = 24;
  run(pool, std::move(launch));
  EXPECT_EQ(seen.size.x, 32u);
  EXPECT_EQ(seen.size.y, 4u);
  EXPECT_EQ(seen.size.z, 2u);
  EXPECT_EQ(seen.shared_bytes, 1024u);
  EXPECT_EQ(seen.dynamic_shared_bytes, 24u);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(seen.shared) % 128, 0u);
  EXPECT_LT(seen.worker, 2u);
  EXPECT_NE(seen.grid_id, 0u);
}

TEST(Pool, GivesAllOfTheSharedMemoryAskedFor) {
  Pool pool({.workers = 2});
  const auto fill = [](const abi::Block* block) {
    std::memset(block->shared, 0x5a, block->shared_bytes);
    argument<std::atomic<int>>(*block).fetch_add(1);
  };
  for (std::uint32_t bytes : {1u, 128u, 48u << 10, 228u << 10}) {
    std::atomic<int> blocks = 0;
    GridLaunch launch = launch_of(plain(fill), {16}, {32}, &blocks);
    launch.dynamic_shared_bytes = bytes;
    EXPECT_EQ(run(pool, std::move(launch)), Outcome::completed) << bytes;
    EXPECT_EQ(blocks.load(), 16);
  }
}

TEST(Pool, EndsAnEmptyGridAtOnce) {
  Pool pool({.workers = 1});
  EXPECT_EQ(run(pool, launch_of(plain(count_block), {0, 1, 1}, {1})), Outcome::completed);
}

TEST_P(PoolOf, StartsWorkThatNobodyWaitsFor) {
  Pool pool({.workers = GetParam()});
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> ran = 0;
    const auto bump = [](const abi::Block* block) { argument<std::atomic<int>>(*block).fetch_add(1); };
    Submitted grid(pool, launch_of(plain(bump), {1}, {1}, &ran));
    pool.post({.run = [&ran] { ran.fetch_add(1); }});
    EXPECT_TRUE(happens([&] { return ran.load() == 2; }));
    if (round == 10) std::this_thread::sleep_for(std::chrono::milliseconds(50));  // all workers asleep
    EXPECT_TRUE(happens([&] { return grid.done(); }));
  }
}

TEST_P(PoolOf, RunsChainsSubmittedFromOnDoneAndFromJobs) {
  Pool pool({.workers = GetParam()});
  std::atomic<int> left = 300;
  std::function<void()> next = [&] {
    if (left.fetch_sub(1) <= 1) return;
    if (left.load() % 2) return pool.post({.run = next});
    GridLaunch launch = launch_of(plain([](const abi::Block*) {}), {3}, {1});
    launch.on_done = [&](Outcome, std::string_view) { next(); };
    pool.submit(std::move(launch));
  };
  next();
  pool.wait_until([&] { return left.load() <= 0; });
  EXPECT_EQ(left.load(), 0);
}

struct Gate {
  std::atomic<bool> entered{false}, open{false};
  static void block(const abi::Block* block) {
    Gate& gate = argument<Gate>(*block);
    gate.entered = true;
    while (!gate.open) std::this_thread::yield();
  }
};

TEST(Pool, RunsHigherPrioritiesFirst) {
  Pool pool({.workers = 1});
  Gate gate;
  Submitted blocker(pool, launch_of(plain(Gate::block), {1}, {1}, &gate));
  ASSERT_TRUE(happens([&] { return gate.entered.load(); }));
  std::vector<int> order;
  for (int priority : {0, -5, 3, -5, -1})
    pool.post({.run = [&order, priority] { order.push_back(priority); }, .priority = priority});
  gate.open = true;
  pool.wait_until([&] { return blocker.done(); });
  std::atomic<bool> last = false;
  pool.post({.run = [&] { last = true; }, .priority = 100});
  pool.wait_until([&] { return last.load(); });
  EXPECT_THAT(order, testing::ElementsAre(-5, -5, -1, 0, 3));
}

TEST(Pool, LetsAHigherPriorityOvertakeARunningGrid) {
  Pool pool({.workers = 1});
  std::atomic<bool> overtaken = false;
  const auto slow = [](const abi::Block* block) {
    if (!argument<std::atomic<bool>>(*block)) std::this_thread::sleep_for(std::chrono::microseconds(200));
  };
  Submitted grid(pool, launch_of(plain(slow), {1u << 20}, {32}, &overtaken));
  pool.post({.run = [&] { overtaken = true; }, .priority = -1});
  EXPECT_TRUE(happens([&] { return overtaken.load(); }));  // three minutes before the grid's end otherwise
}

TEST(Pool, WaitingForOneQueueDoesNotGetStuckInAnother) {
  Pool pool({.workers = 2});
  Gate gate;
  int queue_a = 0, queue_b = 0;
  GridLaunch endless = launch_of(plain(Gate::block), {1}, {1}, &gate);
  endless.queue = &queue_a;
  Submitted a(pool, std::move(endless));
  GridLaunch quick = launch_of(plain([](const abi::Block*) {}), {100}, {32});
  quick.queue = &queue_b;
  EXPECT_EQ(run(pool, std::move(quick)), Outcome::completed);
  EXPECT_FALSE(a.done());
  gate.open = true;
}

TEST(Pool, WaitingThreadsHelp) {
  Pool pool({.workers = 2});
  int helped = 0;
  for (int round = 0; round < 500 && helped == 0; ++round) {
    std::thread::id ran_on;
    const auto record = [](const abi::Block* block) { argument<std::thread::id>(*block) = std::this_thread::get_id(); };
    run(pool, launch_of(plain(record), {1}, {1}, &ran_on));
    helped += ran_on == std::this_thread::get_id();
  }
  EXPECT_GT(helped, 0);
}

TEST(Pool, KernelsWithLargeStacksRunOnWorkersOnly) {
  Pool pool({.workers = 2});
  for (int round = 0; round < 100; ++round) {
    std::thread::id ran_on;
    const auto record = [](const abi::Block* block) {
      volatile char large[16 << 20];
      large[0] = 1;
      argument<std::thread::id>(*block) = large[0] ? std::this_thread::get_id() : std::thread::id();
    };
    KernelCode code = plain(record);
    code.stack_bytes = 16 << 20;
    EXPECT_EQ(run(pool, launch_of(code, {1}, {1}, &ran_on)), Outcome::completed);
    EXPECT_NE(ran_on, std::this_thread::get_id());
  }
}

TEST(Pool, NotifyMakesWaitingThreadsLookAgain) {
  Pool pool({.workers = 1});
  std::atomic<bool> set = false;
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    set = true;
    pool.notify();
  });
  pool.wait_until([&] { return set.load(); });
  other.join();
}

TEST(Pool, CancelsAGridOfMoreBlocksThanCanEverRun) {
  Pool pool({.workers = 2});
  const auto cancel = std::make_shared<std::atomic<bool>>(false);
  std::atomic<std::uint64_t> blocks = 0;
  const auto bump = [](const abi::Block* block) { argument<std::atomic<std::uint64_t>>(*block).fetch_add(1); };
  GridLaunch launch = launch_of(plain(bump), {0x7fffffff, 65535, 65535}, {1024}, &blocks);
  launch.cancel = cancel;
  Submitted grid(pool, std::move(launch));
  EXPECT_TRUE(happens([&] { return blocks.load() > 1000; }));
  *cancel = true;
  EXPECT_EQ(grid.wait(), Outcome::cancelled);
}

TEST(Pool, CancelsWhatIsLeftWhenItEnds) {
  std::atomic<int> ends = 0;
  {
    Pool pool({.workers = 1});
    for (int i = 0; i < 5; ++i) {
      GridLaunch launch = launch_of(plain([](const abi::Block*) {}), {0x7fffffff, 65535, 1}, {32});
      launch.on_done = [&](Outcome outcome, std::string_view) { ends += outcome == Outcome::cancelled; };
      pool.submit(std::move(launch));
    }
  }
  EXPECT_EQ(ends.load(), 5);
}

TEST(Pool, AProcessCanExitWhileAKernelRuns) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  const auto exit_with_an_endless_kernel = [] {
    static Pool& pool = *new Pool({.workers = 2});
    static std::atomic<bool> entered = false;
    pool.submit(launch_of(plain([](const abi::Block*) {
                            entered = true;
                            for (;;) std::this_thread::yield();
                          }),
                          {1}, {1}));
    while (!entered) std::this_thread::yield();
    std::exit(7);
  };
  EXPECT_EXIT(exit_with_an_endless_kernel(), testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace softgpu::exec
