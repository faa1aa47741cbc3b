#include "softgpu/exec/cluster_run.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "softgpu/exec/fault.hpp"
#include "softgpu/exec/fault_report.hpp"

namespace softgpu::exec {
namespace {

// A block whose threads keep meeting at barriers while they wait for something outside never looks idle: after
// this long the others get a turn.
constexpr std::chrono::milliseconds kSlice{10};
constexpr std::uint64_t kPassesBetweenLooksAtTheClock = 64;

bool cancelled(const GridLaunch& launch) { return launch.cancel && launch.cancel->load(std::memory_order_relaxed); }

}  // namespace

ClusterRun::ClusterRun() { blocks_.push_back(std::make_unique<BlockRun>()); }

abi::Block& ClusterRun::prepare_block(const GridLaunch& launch, std::uint64_t grid_id, std::uint32_t worker) {
  BlockRun& block = *blocks_.front();
  const std::uint32_t shared_bytes = launch.static_shared_bytes + launch.dynamic_shared_bytes;
  block.prepare(launch, grid_id, worker, shared_.base(shared_bytes, launch.shared_alignment));
  return block.block();
}

void ClusterRun::start(const GridLaunch& launch, std::uint64_t grid_id, std::uint32_t worker, abi::Dim3 first) {
  const abi::Dim3 size = launch.cluster;
  in_use_ = size.x * size.y * size.z;
  shared_.provide(in_use_);
  while (blocks_.size() < in_use_) blocks_.push_back(std::make_unique<BlockRun>());
  barrier_ = {};
  const std::uint32_t shared_bytes = launch.static_shared_bytes + launch.dynamic_shared_bytes;
  for (std::uint32_t rank = 0; rank < in_use_; ++rank) {
    BlockRun& block = *blocks_[rank];
    block.prepare(launch, grid_id, worker, shared_.base(shared_bytes, launch.shared_alignment, in_use_ - 1 - rank));
    const std::uint32_t row = rank / size.x;
    block.block().index = {first.x + rank % size.x, first.y + row % size.y, first.z + row / size.y};
    block.start(launch, barrier_);
  }
}

ClusterRun::Advance ClusterRun::advance(const GridLaunch& launch, std::uint32_t worker) {
  for (std::uint32_t rank = 0; rank < in_use_; ++rank) blocks_[rank]->block().worker = worker;
  progress_ = false;
  const std::uint64_t steps_before = steps();

  Running running{
      .launch = &launch, .block = &blocks_.front()->block(), .block_run = blocks_.front().get(), .local = &local()};
  Outcome outcome = run_guarded(running, [](void* self) { static_cast<ClusterRun*>(self)->run_passes(); }, this);
  std::string reason = describe_fault(running, outcome);
  if (outcome == Outcome::completed && barrier_.live > 0) {
    if (!can_run()) {
      reason = describe_deadlock(launch);
      outcome = Outcome::barrier_deadlock;
    } else if (cancelled(launch)) {
      outcome = Outcome::cancelled;
    }
  }
  const Status status = outcome != Outcome::completed ? Status::failed
                        : barrier_.live == 0          ? Status::finished
                                                      : Status::yielding;
  return {status, outcome, std::move(reason), progress_, steps() - steps_before, first_wake()};
}

// Returns when all gangs have ended, when none can run, or when it is time for others. Inside run_guarded: a fault
// in a gang leaves this function from anywhere, so nothing here may need a destructor.
void ClusterRun::run_passes() {
  const GridLaunch& launch = *running()->launch;
  const auto started = std::chrono::steady_clock::now();
  for (std::uint64_t pass = 1; can_run(); ++pass) {
    if (!run_pass()) return;
    progress_ = true;
    if (pass % kPassesBetweenLooksAtTheClock == 0 &&
        (cancelled(launch) || std::chrono::steady_clock::now() - started > kSlice))
      return;
  }
}

// Runs every gang of the cluster that can run once. Says whether that brought one any further.
bool ClusterRun::run_pass() {
  Running& current = *running();
  bool progress = false;
  for (std::uint32_t rank = 0; rank < in_use_; ++rank) {
    BlockRun& block = *blocks_[rank];
    if (!block.can_run()) continue;
    current.block = &block.block();
    current.block_run = &block;
    progress |= block.run_pass();
  }
  if (barrier_.complete())
    for (std::uint32_t rank = 0; rank < in_use_; ++rank) blocks_[rank]->pass_cluster_barrier();
  return progress;
}

bool ClusterRun::can_run() const {
  for (std::uint32_t rank = 0; rank < in_use_; ++rank)
    if (blocks_[rank]->can_run()) return true;
  return false;
}

std::uint64_t ClusterRun::steps() const {
  std::uint64_t steps = 0;
  for (std::uint32_t rank = 0; rank < in_use_; ++rank) steps += blocks_[rank]->steps();
  return steps;
}

std::optional<std::chrono::steady_clock::time_point> ClusterRun::first_wake() const {
  std::optional<std::chrono::steady_clock::time_point> first;
  for (std::uint32_t rank = 0; rank < in_use_; ++rank)
    if (const auto wake = blocks_[rank]->first_wake()) first = std::min(first.value_or(*wake), *wake);
  return first;
}

// A line for each block.
std::string ClusterRun::describe_deadlock(const GridLaunch& launch) const {
  std::string lines;
  for (std::uint32_t rank = 0; rank < in_use_; ++rank) {
    const std::string waits = blocks_[rank]->describe_waits();
    if (waits.empty()) continue;
    lines += (lines.empty() ? "" : "\n") + describe_block(launch, blocks_[rank]->block()) +
             ": all remaining threads wait and none can go on: " + waits;
  }
  return lines;
}

}  // namespace softgpu::exec
