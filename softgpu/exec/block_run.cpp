#include "softgpu/exec/block_run.hpp"

#include <algorithm>
#include <cstdio>
#include <map>

#include "softgpu/exec/fault.hpp"

namespace softgpu::exec {
namespace {

// PTX has no longer sleeps.
constexpr std::chrono::nanoseconds kLongestSleep = std::chrono::milliseconds(1);

abi::ResumeGang resume_function(void* frame) { return *static_cast<abi::ResumeGang*>(frame); }

}  // namespace

void BlockRun::prepare(const GridLaunch& launch, std::uint64_t grid_id, std::uint32_t worker, std::byte* shared) {
  block_.params = launch.params.data();
  block_.shared = shared;
  block_.grid = launch.grid;
  block_.size = launch.block;
  block_.shared_bytes = launch.static_shared_bytes + launch.dynamic_shared_bytes;
  block_.dynamic_shared_bytes = launch.dynamic_shared_bytes;
  block_.worker = worker;
  block_.grid_id = grid_id;
  block_.workspace = reinterpret_cast<std::uintptr_t>(launch.workspace.get());
  block_.cluster = launch.cluster;
  block_.explicit_cluster = launch.explicit_cluster;
}

void BlockRun::start(const GridLaunch& launch, ClusterBarrier& cluster_barrier) {
  clear_shared(launch, block_);
  launch_ = &launch;
  cluster_barrier_ = &cluster_barrier;
  threads_ = block_.size.x * block_.size.y * block_.size.z;
  frames_.reset();
  barriers_.clear();
  local_.reset();
  ready_.clear();
  next_.clear();
  waiting_for_cluster_.clear();
  sleeping_.clear();
  warps_.clear();
  exits_.start(threads_);
  gangs_.clear();
  signalled_ = false;
  steps_ = 0;
  const unsigned width = launch.code.width;
  for (std::uint32_t first = 0; first < threads_; first += width) {
    next_.push_back(static_cast<std::uint32_t>(gangs_.size()));
    gangs_.push_back({.gang = {.block = &block_, .first_thread = first, .lanes = std::min(width, threads_ - first)}});
  }
  if (width == 1)
    for (std::uint32_t first = 0; first < threads_; first += kWarp)
      warps_.emplace_back(std::min(kWarp, threads_ - first));
  live_gangs_ = static_cast<std::uint32_t>(gangs_.size());
  cluster_barrier.live += live_gangs_;
}

bool BlockRun::run_pass() {
  if (!sleeping_.empty()) wake_sleepers();
  ready_.swap(next_);
  next_.clear();
  pass_progress_ = false;
  if (run_ready_gangs()) next_.swap(ready_);
  release_active();
  return pass_progress_;
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
  block_.running = run.gang.first_thread;
  if (!run.started) {
    run.started = true;
    run.frame = launch_->code.start_gang(&run.gang);
  } else {
    abi::resume_gang(run.gang, run.frame);
  }
  if (run.gang.got_on == 0) return;
  run.gang.got_on = 0;
  pass_progress_ = true;
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
  if (has_ended(run)) return end_gang(run);
  if (run.gang.reason == abi::Suspend::barrier) return wait_at_barrier(index);
  if (run.gang.reason == abi::Suspend::cluster_barrier) return wait_at_cluster_barrier(index);
  if (run.gang.reason == abi::Suspend::warp) return wait_for_warp(index);
  if (run.gang.reason == abi::Suspend::sleep) return put_to_sleep(index);
  next_.push_back(index);
}

void BlockRun::put_to_sleep(std::uint32_t index) {
  const std::chrono::nanoseconds asked(gangs_[index].gang.nanoseconds);
  sleeping_.push_back({index, Clock::now() + std::min(asked, kLongestSleep)});
}

void BlockRun::wake_sleepers() {
  const Clock::time_point now = Clock::now();
  std::erase_if(sleeping_, [&](const Sleeper& sleeper) {
    if (sleeper.wake > now) return false;
    next_.push_back(sleeper.gang);
    return true;
  });
}

std::optional<BlockRun::Clock::time_point> BlockRun::first_wake() const {
  std::optional<Clock::time_point> first;
  for (const Sleeper& sleeper : sleeping_) first = std::min(first.value_or(sleeper.wake), sleeper.wake);
  return first;
}

void BlockRun::end_gang(const GangRun& run) {
  pass_progress_ = true;
  --live_gangs_;
  --cluster_barrier_->live;
  if (run.arrived_in == cluster_barrier_->phase) --cluster_barrier_->arrived;
  // Exited threads no longer count: the others may have been waiting for them alone.
  const std::uint32_t first = run.gang.first_thread;
  exits_.add(first, run.gang.lanes);
  barriers_.for_each_used([&](Barrier& barrier) { release_if_complete(barrier); });
  if (warps_.empty()) return;
  warps_[first / kWarp].exit(first % kWarp, released_);
  go_on_in_warp(first / kWarp);
}

void BlockRun::wait_for_warp(std::uint32_t thread) {
  pass_progress_ = true;
  warps_[thread / kWarp].wait(thread % kWarp, gangs_[thread].gang, released_);
  go_on_in_warp(thread / kWarp);
}

void BlockRun::go_on_in_warp(std::uint32_t warp) {
  for (std::uint32_t lane : released_) next_.push_back(warp * kWarp + lane);
  released_.clear();
}

// Which threads are active is known once no other thread of their warp can run, but to spin.
void BlockRun::release_active() {
  for (std::uint32_t warp = 0; warp < warps_.size(); ++warp) {
    if (!warps_[warp].has_active_waiting()) continue;
    const bool busy = std::any_of(next_.begin(), next_.end(), [&](std::uint32_t thread) {
      return thread / kWarp == warp && gangs_[thread].gang.reason != abi::Suspend::yield;
    });
    if (busy) continue;
    warps_[warp].release_active(released_);
    go_on_in_warp(warp);
  }
}

Barrier& BlockRun::barrier_numbered(const abi::Gang& gang, std::uint32_t id) {
  if (id < kBarriers) return barriers_.use(id);
  end_kernel(Outcome::illegal_instruction, "line %u of the PTX names barrier %u; there are %u, from 0 on", gang.line,
             id, kBarriers);
}

void BlockRun::wait_at_barrier(std::uint32_t index) {
  pass_progress_ = true;
  abi::Gang& gang = gangs_[index].gang;
  Barrier& barrier = barrier_numbered(gang, gang.barrier_id);
  barrier.waiting.push_back(index);
  barrier.expected = gang.barrier_threads;
  // A waiting gang has no thread left elsewhere, so it counts in full.
  barrier.arrive(gang.first_thread, gang.lanes);
  barrier.predicates += gang.arrived;
  barrier.predicates_true += gang.reduction_in;
  release_if_complete(barrier);
}

void BlockRun::arrive(const abi::Gang& gang, std::uint32_t id, std::uint32_t threads) {
  signalled_ = true;
  Barrier& barrier = barrier_numbered(gang, id);
  barrier.expected = threads;
  barrier.arrive(gang.first_thread, gang.lanes);
  pass_progress_ = true;
  release_if_complete(barrier);
}

void BlockRun::arrive_at_cluster(const abi::Gang& gang) {
  pass_progress_ = true;
  GangRun& run = gangs_[gang.first_thread / launch_->code.width];
  if (run.arrived_in == cluster_barrier_->phase) return;  // twice without a wait, which PTX leaves undefined
  run.arrived_in = cluster_barrier_->phase;
  ++cluster_barrier_->arrived;
}

void BlockRun::wait_at_cluster_barrier(std::uint32_t index) {
  pass_progress_ = true;
  const bool others_missing = gangs_[index].arrived_in == cluster_barrier_->phase;
  (others_missing ? waiting_for_cluster_ : next_).push_back(index);
}

void BlockRun::pass_cluster_barrier() {
  next_.insert(next_.end(), waiting_for_cluster_.begin(), waiting_for_cluster_.end());
  waiting_for_cluster_.clear();
}

void BlockRun::release_if_complete(Barrier& barrier) {
  if (!barrier.complete(exits_)) return;
  for (std::uint32_t index : barrier.waiting) {
    abi::Gang& gang = gangs_[index].gang;
    gang.result = barrier.reduce(gang.reduction);
    next_.push_back(index);
  }
  barrier.clear();
}

// By the lines at which they wait.
std::string BlockRun::describe_waits() const {
  std::map<std::pair<std::uint32_t, abi::Suspend>, std::uint32_t> threads;
  for (const GangRun& run : gangs_)
    if (run.started && !has_ended(run)) threads[{run.gang.line, run.gang.reason}] += run.gang.lanes;
  std::string waits;
  for (const auto& [wait, count] : threads) {
    const auto [line, reason] = wait;
    waits += (waits.empty() ? "" : ", ") + std::to_string(count) + (count == 1 ? " thread waits" : " threads wait");
    if (line != 0) waits += " in line " + std::to_string(line) + " of the PTX";
    if (reason == abi::Suspend::barrier) waits += " at a barrier";
    if (reason == abi::Suspend::cluster_barrier) waits += " for the rest of the cluster to arrive at its barrier";
    if (reason == abi::Suspend::warp) waits += " for others of the warp";
  }
  for (std::uint32_t id = 0; id < kBarriers; ++id) {
    if (!barriers_[id].reached) continue;
    const std::string expected = barriers_[id].expected ? std::to_string(barriers_[id].expected) : "all";
    waits += "; barrier " + std::to_string(id) + " has " + std::to_string(barriers_[id].arrived(exits_)) + " of " +
             expected + " threads";
  }
  return waits;
}

}  // namespace softgpu::exec
