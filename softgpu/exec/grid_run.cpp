#include "softgpu/exec/grid_run.hpp"

#include <algorithm>

namespace softgpu::exec {
namespace {

// A chunk of blocks should last about this long: long enough for the hand-out to cost nothing, short enough for a
// waiting host thread to come back.
constexpr std::chrono::microseconds kChunkTime{10};
// Spinning: see Backoff.
constexpr std::chrono::microseconds kSlice{50};
constexpr std::chrono::microseconds kLongestRest{200};

std::uint64_t count_blocks(const abi::Dim3& grid) { return std::uint64_t{grid.x} * grid.y * grid.z; }

}  // namespace

void Backoff::progress(Clock::time_point now) {
  last_progress_ = slice_start_ = now;
  resume_at_ = {};
}

void Backoff::no_progress(Clock::time_point now) {
  if (last_progress_ == Clock::time_point{}) return progress(now);
  if (now - slice_start_ < kSlice) return;
  resume_at_ = now + std::min<Clock::duration>((now - last_progress_) / 16, kLongestRest);
  slice_start_ = resume_at_;
}

GridRun::GridRun(GridLaunch work, std::uint64_t grid_id)
    : launch(std::move(work)), id(grid_id), total(count_blocks(launch.grid)), unfinished(total) {
  priority = launch.priority;
  queue = launch.queue;
  grid = this;
}

std::uint64_t GridRun::blocks_left() const {
  const std::uint64_t taken = next.load(std::memory_order_relaxed);
  return taken < total ? total - taken : 0;
}

BlockRange GridRun::take(std::size_t threads) {
  const std::uint64_t fair = blocks_left() / (4 * threads);
  const std::uint64_t wanted = std::clamp<std::uint64_t>(fair, 1, chunk.load(std::memory_order_relaxed));
  // The counter may run past the end, by one chunk for each thread that looks.
  const std::uint64_t first = next.fetch_add(wanted, std::memory_order_relaxed);
  if (first >= total) return {};
  return {first, std::min(wanted, total - first)};
}

void GridRun::note_duration(BlockRange range, Clock::duration duration) {
  const std::uint64_t now = chunk.load(std::memory_order_relaxed);
  if (duration < kChunkTime && range.count >= now) chunk.store(2 * now, std::memory_order_relaxed);
  if (duration > 2 * kChunkTime && now > 1) chunk.store(now / 2, std::memory_order_relaxed);
}

std::uint64_t GridRun::stop(Outcome why) {
  Outcome expected = Outcome::completed;
  outcome.compare_exchange_strong(expected, why, std::memory_order_relaxed);
  const std::uint64_t taken = next.exchange(total, std::memory_order_relaxed);
  return taken < total ? total - taken : 0;
}

abi::Dim3 GridRun::index_of(std::uint64_t block) const {
  const std::uint64_t row = block / launch.grid.x;
  return {static_cast<std::uint32_t>(block % launch.grid.x), static_cast<std::uint32_t>(row % launch.grid.y),
          static_cast<std::uint32_t>(row / launch.grid.y)};
}

}  // namespace softgpu::exec
