// Grids that may run on some of the pool's seats only.
#include <memory>
#include <set>
#include <vector>

#include "softgpu/exec/seat_set.hpp"
#include "unit/softgpu_exec/launch.hpp"

namespace softgpu::exec {
namespace {

std::shared_ptr<const SeatSet> seats(std::initializer_list<std::size_t> numbers) {
  auto set = std::make_shared<SeatSet>();
  for (const std::size_t number : numbers) set->add(number);
  return set;
}

// Which seats the blocks of a grid have been on, and how many at once.
struct Seen {
  std::vector<std::atomic<int>> on = std::vector<std::atomic<int>>(8);
  std::atomic<int> running{0}, most{0};

  std::set<std::size_t> numbers() const {
    std::set<std::size_t> used;
    for (std::size_t i = 0; i < on.size(); ++i)
      if (on[i].load() > 0) used.insert(i);
    return used;
  }
};

void note_seat(const abi::Block* block) {
  Seen& seen = argument<Seen>(*block);
  const int now = seen.running.fetch_add(1) + 1;
  for (int most = seen.most.load(); now > most && !seen.most.compare_exchange_weak(most, now);) {
  }
  seen.on[block->worker].fetch_add(1);
  std::this_thread::sleep_for(std::chrono::microseconds(200));
  seen.running.fetch_sub(1);
}

GridLaunch on(std::shared_ptr<const SeatSet> where, Seen& seen, std::uint32_t blocks) {
  GridLaunch launch = launch_of(plain(note_seat), {blocks}, {1}, &seen);
  launch.seats = std::move(where);
  return launch;
}

TEST(Seats, AGridStaysOnItsOwn) {
  Pool pool({.workers = 4});
  Seen seen;
  EXPECT_EQ(run(pool, on(seats({1, 3}), seen, 200)), Outcome::completed);
  for (const std::size_t used : seen.numbers()) EXPECT_TRUE(used == 1 || used == 3) << used;
  EXPECT_LE(seen.most.load(), 2);
}

TEST(Seats, OfTwoGridsDoNotMixAndBothGoOn) {
  Pool pool({.workers = 4});
  Seen left, right;
  Submitted first(pool, on(seats({0, 1}), left, 200));
  Submitted second(pool, on(seats({2, 3}), right, 200));
  EXPECT_EQ(first.wait(), Outcome::completed);
  EXPECT_EQ(second.wait(), Outcome::completed);
  for (const std::size_t used : left.numbers()) EXPECT_LT(used, 2u);
  for (const std::size_t used : right.numbers()) EXPECT_GE(used, 2u);
}

TEST(Seats, ManyGridsOnOneSeatAreAllRun) {
  Pool pool({.workers = 3});
  Seen seen;
  std::vector<std::unique_ptr<Submitted>> grids;
  for (int i = 0; i < 20; ++i) grids.push_back(std::make_unique<Submitted>(pool, on(seats({2}), seen, 5)));
  for (const auto& grid : grids) EXPECT_EQ(grid->wait(), Outcome::completed);
  EXPECT_EQ(seen.on[2].load(), 100);
  EXPECT_EQ(seen.most.load(), 1);
}

// A block that spins on a seat lets the others of that seat get on.
std::atomic<bool>* released = nullptr;
bool spin_until_released(Frame& frame) { return released->load() ? frame.end() : frame.yield(); }

TEST(Seats, WhatSpinsOnOneDoesNotKeepItFromOthers) {
  std::atomic<bool> release{false};
  released = &release;
  Pool pool({.workers = 2});
  GridLaunch spinning = launch_of(Gangs<spin_until_released>::code(), {4}, {1});
  spinning.seats = seats({0});
  Submitted spins(pool, std::move(spinning));
  Seen seen;
  EXPECT_EQ(run(pool, on(seats({0}), seen, 10)), Outcome::completed);
  EXPECT_EQ(seen.on[0].load(), 10);
  release = true;
  pool.notify();
  EXPECT_EQ(spins.wait(), Outcome::completed);
}

TEST(Seats, CancelledGridsEndAlthoughTheirSeatIsTaken) {
  Pool pool({.workers = 2});
  const auto cancel = std::make_shared<std::atomic<bool>>(false);
  Seen busy, never;
  Submitted first(pool, on(seats({1}), busy, 100));
  GridLaunch launch = on(seats({1}), never, 100);
  launch.cancel = cancel;
  Submitted second(pool, std::move(launch));
  *cancel = true;
  pool.notify();
  EXPECT_NE(second.wait(), Outcome::illegal_address);
  EXPECT_EQ(first.wait(), Outcome::completed);
  EXPECT_LT(never.on[1].load(), 100);
}

}  // namespace
}  // namespace softgpu::exec
