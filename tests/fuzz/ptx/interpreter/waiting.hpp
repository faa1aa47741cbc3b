// When threads that wait for each other go on, and with what.
#pragma once

#include <vector>

#include "fuzz/ptx/interpreter/thread.hpp"

namespace ptx_fuzz {

/// Lets the warp of the thread that has just begun to wait, or has ended, go on if all that it waits for are there.
void settle_warp(std::vector<Thread>& block, unsigned warp);

/// The barriers of one block.
class Barriers {
 public:
  /// The thread is at a barrier instruction, `thread.at`, with `thread.operands`: barrier, count (0: all), predicate.
  void arrive(std::vector<Thread>& block, Thread& thread);
  /// A thread has ended: barriers that wait for all threads of the block no longer wait for it.
  void settle(std::vector<Thread>& block);

 private:
  struct Arrival {
    Thread* thread;
    const Instruction* at;
    bool predicate;
  };
  struct Barrier {
    std::uint64_t count = 0;
    std::vector<Arrival> arrivals;
  };

  void complete_if_full(std::vector<Thread>& block, Barrier& barrier);

  Barrier barriers_[16];
};

}  // namespace ptx_fuzz
