#include "softgpu/exec/block_run.hpp"

#include <algorithm>

namespace softgpu::exec {
namespace {

constexpr std::uint32_t kWarp = 32;

abi::ResumeGang resume_function(void* frame) { return *static_cast<abi::ResumeGang*>(frame); }

std::uint32_t round_up_to_warps(std::uint32_t threads) { return (threads + kWarp - 1) / kWarp * kWarp; }

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
  launch_ = &launch;
  cluster_barrier_ = &cluster_barrier;
  threads_ = block_.size.x * block_.size.y * block_.size.z;
  frames_.reset();
  for (Barrier& barrier : barriers_) barrier.clear();
  ready_.clear();
  next_.clear();
  waiting_for_cluster_.clear();
  waiting_for_warps_ = 0;
  gangs_.clear();
  signalled_ = false;
  steps_ = 0;
  const unsigned width = launch.code.width;
  for (std::uint32_t first = 0; first < threads_; first += width) {
    next_.push_back(static_cast<std::uint32_t>(gangs_.size()));
    gangs_.push_back({.gang = {.block = &block_, .first_thread = first, .lanes = std::min(width, threads_ - first)}});
  }
  live_gangs_ = static_cast<std::uint32_t>(gangs_.size());
  cluster_barrier.live += live_gangs_;
}

bool BlockRun::run_pass() {
  ready_.swap(next_);
  next_.clear();
  pass_progress_ = false;
  if (run_ready_gangs()) next_.swap(ready_);
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
  if (has_ended(run)) return end_gang(run);
  if (run.gang.reason == abi::Suspend::barrier) return wait_at_barrier(index);
  if (run.gang.reason == abi::Suspend::cluster_barrier) return wait_at_cluster_barrier(index);
  if (run.gang.reason == abi::Suspend::warp_barrier) return wait_for_warp(index);
  next_.push_back(index);
}

void BlockRun::end_gang(const GangRun& run) {
  pass_progress_ = true;
  --live_gangs_;
  --cluster_barrier_->live;
  if (run.arrived_in == cluster_barrier_->phase) --cluster_barrier_->arrived;
  // Exited threads no longer count: the others may have been waiting for them alone.
  for (Barrier& barrier : barriers_) release_if_complete(barrier);
  if (waiting_for_warps_ != 0) release_in_warp(run.gang.first_thread);
}

void BlockRun::wait_for_warp(std::uint32_t thread) {
  pass_progress_ = true;
  gangs_[thread].waits_for_warp = true;
  ++waiting_for_warps_;
  release_in_warp(thread);
}

// Threads of a warp may wait in groups, each with a mask of its own. Those that have exited are not waited for.
void BlockRun::release_in_warp(std::uint32_t thread) {
  const std::uint32_t warp = thread / kWarp * kWarp, end = std::min(warp + kWarp, threads_);
  for (std::uint32_t first = warp; first < end; ++first) {
    const std::uint32_t mask = gangs_[first].gang.warp_mask;
    if (!gangs_[first].waits_for_warp || !all_here(warp, mask)) continue;
    for (std::uint32_t each = first; each < end; ++each) {
      GangRun& run = gangs_[each];
      if (!run.waits_for_warp || run.gang.warp_mask != mask) continue;
      run.waits_for_warp = false;
      --waiting_for_warps_;
      next_.push_back(each);
    }
  }
}

bool BlockRun::all_here(std::uint32_t warp, std::uint32_t mask) const {
  for (std::uint32_t thread = warp; thread < std::min(warp + kWarp, threads_); ++thread) {
    const GangRun& run = gangs_[thread];
    if ((mask >> (thread - warp) & 1) == 0 || (run.started && has_ended(run))) continue;
    if (!run.waits_for_warp || run.gang.warp_mask != mask) return false;
  }
  return true;
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

std::string BlockRun::describe_waits() const {
  std::string waits;
  const auto add = [&](const std::string& wait) { waits += (waits.empty() ? "" : ", ") + wait; };
  for (std::uint32_t id = 0; id < kBarriers; ++id) {
    const Barrier& barrier = barriers_[id];
    if (barrier.arrived == 0) continue;
    const std::string expected = barrier.expected ? std::to_string(barrier.expected) : "all";
    add("barrier " + std::to_string(id) + " has " + std::to_string(barrier.arrived) + " of " + expected + " threads");
  }
  if (waiting_for_warps_ != 0) add(std::to_string(waiting_for_warps_) + " threads wait for others of their warp");
  if (!waiting_for_cluster_.empty()) {
    std::uint32_t threads = 0;
    for (std::uint32_t index : waiting_for_cluster_) threads += gangs_[index].gang.lanes;
    add(std::to_string(threads) + " threads wait for the rest of the cluster to arrive at its barrier");
  }
  return waits;
}

}  // namespace softgpu::exec
