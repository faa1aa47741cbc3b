// The named barriers of one block, as PTX's bar and barrier instructions see them, and the barrier of a cluster. Plain
// counting: the schedulers of a block's gangs (block_run.hpp) and of a cluster's blocks (cluster_run.hpp) decide what
// runs.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "softgpu/abi/kernel.hpp"

namespace softgpu::exec {

struct Barrier {
  std::vector<std::uint32_t> waiting;  // gangs, by index
  std::uint32_t expected = 0;          // threads; 0: all that have not exited
  std::uint32_t arrived = 0;           // threads that wait or have signalled, counted as PTX does: by whole warps
  // Of the threads that wait, for reductions:
  std::uint32_t predicates = 0, predicates_true = 0;

  void clear() {
    waiting.clear();
    expected = arrived = predicates = predicates_true = 0;
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
using Barriers = std::array<Barrier, kBarriers>;

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
