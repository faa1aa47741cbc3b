// The named barriers of one block, as PTX's bar and barrier instructions see them. Plain counting: the block's
// scheduler (block_run.hpp) decides what runs.
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

}  // namespace softgpu::exec
