// The named barriers of one block, as PTX's bar and barrier instructions see them, and the barrier of a cluster. Plain
// counting: the schedulers of a block's gangs (block_run.hpp) and of a cluster's blocks (cluster_run.hpp) decide what
// runs.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "softgpu/abi/kernel.hpp"

namespace softgpu::exec {

// Which threads of a block have exited, warp by warp.
class Exits {
 public:
  void start(std::uint32_t threads) {
    warps_ = (threads + 31) / 32;
    gone_.fill(0);
    if (threads % 32 != 0) gone_[warps_ - 1] = ~std::uint32_t{0} << threads % 32;
  }
  void add(std::uint32_t first_thread, std::uint32_t threads) {
    gone_[first_thread / 32] |= lanes(first_thread, threads);
  }
  std::uint32_t warps() const { return warps_; }
  std::uint32_t gone(std::uint32_t warp) const { return gone_[warp]; }  // lanes, those without a thread among them

  // The lanes of threads that lie in one warp.
  static std::uint32_t lanes(std::uint32_t first_thread, std::uint32_t threads) {
    return static_cast<std::uint32_t>(((std::uint64_t{1} << threads) - 1) << first_thread % 32);
  }

 private:
  std::uint32_t warps_ = 0;
  std::array<std::uint32_t, 32> gone_{};
};

// PTX counts arrivals by whole warps: one whose threads have all arrived or exited counts as 32, also if it has fewer.
struct Barrier {
  std::vector<std::uint32_t> waiting;  // gangs, by index
  std::uint32_t expected = 0;          // threads; 0: all that have not exited
  bool reached = false;
  std::array<std::uint32_t, 32> lanes{};  // that have arrived, by warp
  std::uint32_t again = 0;                // arrivals of threads that had arrived before, without waiting
  // Of the threads that wait, for reductions:
  std::uint32_t predicates = 0, predicates_true = 0;

  void arrive(std::uint32_t first_thread, std::uint32_t threads) {
    std::uint32_t& warp = lanes[first_thread / 32];
    const std::uint32_t arriving = Exits::lanes(first_thread, threads);
    again += static_cast<std::uint32_t>(std::popcount(warp & arriving));
    warp |= arriving;
    reached = true;
  }

  // Threads that have arrived, as PTX counts them.
  std::uint32_t arrived(const Exits& exits) const {
    std::uint32_t count = again;
    for (std::uint32_t warp = 0; warp < exits.warps(); ++warp) {
      if (lanes[warp] == 0) continue;
      const bool whole = (lanes[warp] | exits.gone(warp)) == ~std::uint32_t{0};
      count += whole ? 32 : static_cast<std::uint32_t>(std::popcount(lanes[warp]));
    }
    return count;
  }

  bool complete(const Exits& exits) const {
    if (!reached) return false;
    if (expected != 0) return arrived(exits) >= expected;
    for (std::uint32_t warp = 0; warp < exits.warps(); ++warp)
      if ((lanes[warp] | exits.gone(warp)) != ~std::uint32_t{0}) return false;
    return true;
  }

  void clear() {
    waiting.clear();
    if (reached) lanes.fill(0);
    expected = again = predicates = predicates_true = 0;
    reached = false;
  }

  std::uint32_t reduce(abi::BarrierReduction reduction) const {
    switch (reduction) {
      case abi::BarrierReduction::none: return 0;
      case abi::BarrierReduction::all: return predicates_true == predicates;
      case abi::BarrierReduction::any: return predicates_true != 0;
      case abi::BarrierReduction::count: return predicates_true;
    }
    return 0;
  }
};

inline constexpr std::uint32_t kBarriers = 16;

// Most kernels use one of them: only those that have been used are ever looked at.
class Barriers {
 public:
  Barrier& use(std::uint32_t id) {
    used_ |= 1U << id;
    return barriers_[id];
  }
  const Barrier& operator[](std::uint32_t id) const { return barriers_[id]; }

  template <typename Visit>
  void for_each_used(Visit visit) {
    for (std::uint32_t left = used_; left != 0; left &= left - 1)
      visit(barriers_[static_cast<std::uint32_t>(std::countr_zero(left))]);
  }
  void clear() {
    for_each_used([](Barrier& barrier) { barrier.clear(); });
    used_ = 0;
  }

 private:
  std::array<Barrier, kBarriers> barriers_;
  std::uint32_t used_ = 0;
};

// barrier.cluster, where arriving and waiting are two steps. A thread arrives again only after it has waited, so all
// arrivals that are counted are of one phase. Gangs arrive as a whole.
struct ClusterBarrier {
  std::uint64_t phase = 1;    // the one that gangs arrive in now
  std::uint32_t live = 0;     // gangs of the cluster that have not ended
  std::uint32_t arrived = 0;  // those of them that have arrived

  // Goes on to the next phase once everybody has arrived.
  bool complete() {
    if (arrived == 0 || arrived < live) return false;
    ++phase;
    arrived = 0;
    return true;
  }
};

}  // namespace softgpu::exec
