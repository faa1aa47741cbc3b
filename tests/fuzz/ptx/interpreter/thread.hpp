// An interpreted thread: its frames, and what it waits for.
#pragma once

#include <cstdint>
#include <vector>

#include "fuzz/ptx/interpreter/memory.hpp"
#include "fuzz/ptx/model/program.hpp"

namespace ptx_fuzz {

/// A call in progress.
struct Frame {
  const Function* function = nullptr;
  std::size_t next = 0;  // the instruction that follows
  std::vector<std::uint64_t> registers;
  std::vector<bool> written;
  std::size_t local_begin = 0;  // of this frame's local memory
};

struct Thread {
  enum class State { ready, waiting, ended };

  unsigned block = 0;
  unsigned index = 0;  // in the block
  State state = State::ready;
  std::vector<Frame> frames;
  Memory local;
  std::size_t local_bytes = 0;
  unsigned steps = 0;
  bool carry = false, carry_is_known = false;

  // While waiting: at which instruction, and with which operands.
  const Instruction* at = nullptr;
  std::vector<std::uint64_t> operands;

  unsigned lane() const { return index % 32; }
  unsigned warp() const { return index / 32; }
  Frame& frame() { return frames.back(); }

  std::uint64_t read(const Operand& operand, const Program& program) const;
  void write(int number, std::uint64_t value);
  /// Goes on behind the instruction it waited at, whose result is `value`.
  void resume(std::uint64_t value, bool predicate = false);
  void enter(const Function& function);
};

}  // namespace ptx_fuzz
