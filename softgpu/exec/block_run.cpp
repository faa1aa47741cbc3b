#include "softgpu/exec/block_run.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>

#include "softgpu/exec/fault.hpp"

namespace softgpu::exec {
namespace {

constexpr std::uint32_t kWarp = 32;
// A block whose threads keep meeting at barriers while they wait for something outside never looks idle: after
// this long the others get a turn.
constexpr std::chrono::milliseconds kSlice{10};
constexpr std::uint64_t kPassesBetweenLooksAtTheClock = 64;

abi::ResumeGang resume_function(void* frame) { return *static_cast<abi::ResumeGang*>(frame); }

std::uint32_t round_up_to_warps(std::uint32_t threads) { return (threads + kWarp - 1) / kWarp * kWarp; }

bool cancelled(const GridLaunch& launch) { return launch.cancel && launch.cancel->load(std::memory_order_relaxed); }

}  // namespace

void BlockRun::prepare(const GridLaunch& launch, std::uint64_t grid_id, std::uint32_t worker) {
  block_.params = launch.params.data();
  block_.grid = launch.grid;
  block_.size = launch.block;
  block_.shared_bytes = launch.static_shared_bytes + launch.dynamic_shared_bytes;
  block_.dynamic_shared_bytes = launch.dynamic_shared_bytes;
  block_.shared = shared_.base(block_.shared_bytes);
  block_.worker = worker;
  block_.grid_id = grid_id;
  block_.workspace = reinterpret_cast<std::uintptr_t>(launch.workspace.get());
}

void BlockRun::start() {
  threads_ = block_.size.x * block_.size.y * block_.size.z;
  frames_.reset();
  for (Barrier& barrier : barriers_) barrier.clear();
  ready_.clear();
  next_.clear();
  gangs_.clear();
  signalled_ = false;
}

BlockRun::Advance BlockRun::advance(const GridLaunch& launch, std::uint32_t worker) {
  launch_ = &launch;
  block_.worker = worker;
  if (gangs_.empty()) {
    const unsigned width = launch.code.width;
    for (std::uint32_t first = 0; first < threads_; first += width) {
      next_.push_back(static_cast<std::uint32_t>(gangs_.size()));
      gangs_.push_back({.gang = {.block = &block_, .first_thread = first, .lanes = std::min(width, threads_ - first)}});
    }
    live_gangs_ = static_cast<std::uint32_t>(gangs_.size());
  }
  progress_ = false;
  steps_ = 0;

  Running running{.launch = &launch, .block = &block_, .block_run = this};
  Outcome outcome = run_guarded(running, [](void* self) { static_cast<BlockRun*>(self)->run_passes(); }, this);
  if (outcome == Outcome::completed && live_gangs_ > 0) {
    if (next_.empty()) {
      report_deadlock();
      outcome = Outcome::barrier_deadlock;
    } else if (cancelled(launch)) {
      outcome = Outcome::cancelled;
    }
  }
  const Status status = outcome != Outcome::completed ? Status::failed
                        : live_gangs_ == 0            ? Status::finished
                                                      : Status::yielding;
  return {status, outcome, progress_, steps_};
}

// Returns when all gangs have ended, when none can run, or when it is time for others. Inside run_guarded: a fault
// in a gang leaves this function from anywhere, so nothing here may need a destructor.
void BlockRun::run_passes() {
  const auto started = std::chrono::steady_clock::now();
  for (std::uint64_t pass = 1; !next_.empty(); ++pass) {
    ready_.swap(next_);
    next_.clear();
    pass_progress_ = false;
    if (run_ready_gangs()) next_.swap(ready_);
    progress_ |= pass_progress_;
    if (!pass_progress_) return;
    if (pass % kPassesBetweenLooksAtTheClock == 0 &&
        (cancelled(*launch_) || std::chrono::steady_clock::now() - started > kSlice))
      return;
  }
}

// Runs every ready gang once. Returns true when the whole block has come to the same plain __syncthreads(), as it does
// nearly always: then all of them can go on, and there was no need to count. Else the barriers' rules decide.
bool BlockRun::run_ready_gangs() {
  const bool whole_block = ready_.size() == live_gangs_ && !signalled_;
  std::size_t together = 0;  // gangs at that barrier, not counted yet
  for (std::size_t i = 0; i < ready_.size(); ++i) {
    GangRun& run = gangs_[ready_[i]];
    run_gang(run);
    if (whole_block && together == i && at_plain_barrier(run)) {
      ++together;
      continue;
    }
    if (together == i)
      for (std::size_t before = 0; before < i; ++before) wait_at_barrier(ready_[before]);
    settle(ready_[i]);
  }
  if (!whole_block || together != ready_.size() || signalled_) {
    if (together == ready_.size())
      for (std::uint32_t index : ready_) wait_at_barrier(index);
    return false;
  }
  pass_progress_ = true;
  return true;
}

void BlockRun::run_gang(GangRun& run) {
  ++steps_;
  run.gang.reason = abi::Suspend::none;
  if (!run.started) {
    run.started = true;
    run.frame = launch_->code.start_gang(&run.gang);
  } else {
    resume_function(run.frame)(run.frame);
  }
}

bool BlockRun::has_ended(const GangRun& run) { return run.frame == nullptr || resume_function(run.frame) == nullptr; }

bool BlockRun::at_plain_barrier(const GangRun& run) {
  const abi::Gang& gang = run.gang;
  return !has_ended(run) && gang.reason == abi::Suspend::barrier && gang.barrier_id == 0 && gang.barrier_threads == 0 &&
         gang.reduction == abi::BarrierReduction::none;
}

// What a gang's return means for the others.
void BlockRun::settle(std::uint32_t index) {
  const GangRun& run = gangs_[index];
  if (has_ended(run)) return end_gang();
  if (run.gang.reason == abi::Suspend::barrier) return wait_at_barrier(index);
  next_.push_back(index);
}

void BlockRun::end_gang() {
  pass_progress_ = true;
  --live_gangs_;
  // Exited threads no longer count: the others may have been waiting for them alone.
  for (Barrier& barrier : barriers_) release_if_complete(barrier);
}

// PTX counts arrivals by whole warps. A waiting gang has no thread left elsewhere, so it counts in full, and the
// block's last gang fills up its warp.
std::uint32_t BlockRun::threads_counted(const abi::Gang& gang) const {
  const bool last = gang.first_thread + gang.lanes == threads_;
  return last ? round_up_to_warps(threads_) - gang.first_thread : gang.lanes;
}

void BlockRun::wait_at_barrier(std::uint32_t index) {
  pass_progress_ = true;
  abi::Gang& gang = gangs_[index].gang;
  Barrier& barrier = barriers_[gang.barrier_id % kBarriers];
  barrier.waiting.push_back(index);
  barrier.expected = gang.barrier_threads;
  barrier.arrived += threads_counted(gang);
  barrier.predicates += gang.arrived;
  barrier.predicates_true += gang.reduction_in;
  release_if_complete(barrier);
}

void BlockRun::arrive(const abi::Gang& gang, std::uint32_t id, std::uint32_t threads, std::uint32_t arrived) {
  signalled_ = true;
  Barrier& barrier = barriers_[id % kBarriers];
  barrier.expected = threads;
  barrier.arrived += arrived == gang.lanes ? threads_counted(gang) : arrived;
  pass_progress_ = true;
  release_if_complete(barrier);
}

bool BlockRun::complete(const Barrier& barrier) const {
  if (barrier.expected != 0) return barrier.arrived >= barrier.expected;
  return (!barrier.waiting.empty() && barrier.waiting.size() == live_gangs_) ||
         barrier.arrived >= round_up_to_warps(threads_);
}

void BlockRun::release_if_complete(Barrier& barrier) {
  if (barrier.arrived == 0 || !complete(barrier)) return;
  for (std::uint32_t index : barrier.waiting) {
    abi::Gang& gang = gangs_[index].gang;
    gang.reduction_out = barrier.reduce(gang.reduction);
    next_.push_back(index);
  }
  barrier.clear();
}

void BlockRun::report_deadlock() const {
  std::string waits;
  for (std::uint32_t id = 0; id < kBarriers; ++id) {
    const Barrier& barrier = barriers_[id];
    if (barrier.arrived == 0) continue;
    const std::string expected = barrier.expected ? std::to_string(barrier.expected) : "all";
    waits += (waits.empty() ? "" : ", ") + std::string("barrier ") + std::to_string(id) + " has " +
             std::to_string(barrier.arrived) + " of " + expected + " threads";
  }
  std::fprintf(stderr,
               "softgpu: kernel %s, block (%u,%u,%u): all remaining threads wait at barriers and none can go on: %s\n",
               launch_->kernel_name.c_str(), block_.index.x, block_.index.y, block_.index.z, waits.c_str());
}

}  // namespace softgpu::exec
