#include "softgpu/exec/grid_run.hpp"

#include <algorithm>

namespace softgpu::exec {
namespace {

// A chunk of blocks should last about this long: long enough for the hand-out to cost nothing, short enough for a
// waiting host thread to come back.
constexpr std::chrono::microseconds kChunkTime{10};
// Spinning: see Backoff.
constexpr std::chrono::microseconds kSliceOfAWaitingBlock{50};
constexpr std::chrono::microseconds kLongestRest{200};

std::uint64_t volume(const abi::Dim3& extent) { return std::uint64_t{extent.x} * extent.y * extent.z; }

abi::Dim3 divided(const abi::Dim3& grid, const abi::Dim3& unit) {
  return {grid.x / unit.x, grid.y / unit.y, grid.z / unit.z};
}

}  // namespace

void Backoff::resume(Clock::time_point now) {
  if (has_rested_) slice_start_ = now;
  has_rested_ = false;
}

void Backoff::progress(Clock::time_point now) {
  last_progress_ = slice_start_ = now;
  resume_at_ = {};
  has_rested_ = false;
}

void Backoff::no_progress(Clock::time_point now, std::optional<Clock::time_point> wake) {
  if (wake && (next_wake_ <= now || *wake < next_wake_)) next_wake_ = *wake;
  if (last_progress_ == Clock::time_point{}) return progress(now);
  if (now - slice_start_ < kSliceOfAWaitingBlock) return;
  resume_at_ = now + std::min<Clock::duration>((now - last_progress_) / 16, kLongestRest);
  if (next_wake_ > now) resume_at_ = std::min(resume_at_, next_wake_);
  slice_start_ = resume_at_;
  has_rested_ = true;
}

GridRun::GridRun(GridLaunch work, std::uint64_t grid_id)
    : launch(std::move(work)),
      id(grid_id),
      unit(suspends() ? launch.cluster : abi::Dim3{}),
      total(volume(divided(launch.grid, unit))),
      unfinished(total) {
  priority = launch.priority;
  queue = launch.queue;
  grid = this;
}

std::uint64_t GridRun::blocks_left() const {
  const std::uint64_t taken = next.load(std::memory_order_relaxed);
  return taken < total ? total - taken : 0;
}

std::uint64_t GridRun::threads_per_unit() const { return volume(launch.block) * volume(unit); }

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

std::uint64_t GridRun::stop(Outcome why, const std::string& words) {
  Outcome expected = Outcome::completed;
  if (outcome.compare_exchange_strong(expected, why, std::memory_order_relaxed)) reason = words;
  const std::uint64_t taken = next.exchange(total, std::memory_order_relaxed);
  return taken < total ? total - taken : 0;
}

abi::Dim3 GridRun::index_of(std::uint64_t number) const {
  const abi::Dim3 units = divided(launch.grid, unit);
  const std::uint64_t row = number / units.x;
  return {static_cast<std::uint32_t>(number % units.x) * unit.x, static_cast<std::uint32_t>(row % units.y) * unit.y,
          static_cast<std::uint32_t>(row / units.y) * unit.z};
}

}  // namespace softgpu::exec
