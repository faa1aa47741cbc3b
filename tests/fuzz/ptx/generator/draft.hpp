// A function that is being written: what statements it can use at this point, and how to add to it.
#pragma once

#include <vector>

#include "fuzz/ptx/generator/features.hpp"
#include "fuzz/ptx/model/program.hpp"
#include "fuzz/ptx/model/random.hpp"

namespace ptx_fuzz {

/// Which threads are known to get to a point together; those that have ended aside.
enum class Together {
  block,   // all of the block
  warp,    // those of the warp that a mask names
  nobody,  // a thread knows of itself only
};

struct Loop {
  int again;               // label: the next iteration
  std::vector<int> exits;  // labels behind the loop
};

struct Context {
  Together together = Together::block;
  Operand mask = Operand::constant(0xffffffffu);  // of the threads of the warp that are here
  std::vector<Loop> loops;                        // those that a single thread may leave from here
  int depth = 0;
};

/// Places in the kernel's array, in bytes.
struct Layout {
  unsigned own = 0, own_bytes = 32;  // each thread's own piece
  unsigned results = 0;              // where threads leave their registers
  unsigned input = 0, input_bytes = 256;
  unsigned common = 0, common_bytes = 256;  // atomics of all threads
  unsigned common_used = 0;
};

/// Places in shared memory.
struct SharedLayout {
  static constexpr unsigned kOwnBytes = 16;
  unsigned own = 0;
  unsigned exchange = 0;  // a word for each thread
  static constexpr unsigned kCommonBytes = 64;
  unsigned common = 0;  // words of all threads, each for one statement
  unsigned common_used = 0;
};

/// Which parts of it any function uses.
struct SharedUse {
  bool own = false, exchange = false, common = false;
};

struct Callee {
  int function;
  Together together;  // what must be true of its callers
};

/// What is known of the whole program while it is written.
struct Plan {
  Features features;
  Layout layout;
  SharedLayout shared;
  SharedUse shared_use;
  bool uses_shared = false;
  std::vector<Callee> callees;
};

class Draft {
 public:
  Draft(Program& whole_program, Plan& whole_plan, std::size_t function, Random& source)
      : program(whole_program), plan(whole_plan), random(source), index_(function) {}

  Program& program;
  Plan& plan;
  Random& random;
  Context context;
  int budget = 60;                   // instructions that may still be added before the function should end
  std::size_t statements_begin = 0;  // in the function's body, behind the prologue

  // Registers with values. Statements read and write these.
  std::vector<int> halves, words, wides, predicates;
  std::vector<int> uniforms;   // words that are the same in all threads of the block
  std::vector<int> read_only;  // words
  int thread = -1;             // the thread's place in its block
  int in_grid = -1;            // its place in the grid, known in kernels
  int lane = -1;
  // Addresses: of the thread's own pieces of memory, and of what is common. -1 where there is none.
  int own_global = -1, own_shared = -1, exchange = -1, local = -1, input = -1, common = -1, shared_common = -1;
  int exchange_slot = -1;  // the thread's own word of what is exchanged
  int pointer = -1;        // to 16 bytes that are this thread's, generic

  Function& function() { return program.functions[index_]; }
  std::size_t index() const { return index_; }
  bool is_kernel() const { return index_ == 0; }

  int fresh(RegisterClass register_class) { return function().add_register(register_class); }
  int new_label() { return function().labels++; }
  void place(int label) { emit({.op = Op::label, .target = label}); }
  Instruction& emit(Instruction instruction);

  /// op.type of these into a new register as wide as the type, or into `into`.
  int make(Op op, Type type, std::vector<Operand> sources, int into = -1);
  /// setp.comparison.type of these.
  int compare(Variant comparison, Type type, Operand a, Operand b);
  /// base + offset, an address.
  int address(int base, int offset_word, unsigned scale);
  void branch(int label, int guard = -1, bool negated = false);

  const std::vector<int>& pool(unsigned bits) const;
  int register_of(unsigned bits) { return random.pick(pool(bits)); }
  /// A register or a constant.
  Operand value(Type type);
  Operand word() { return value(Type::u32); }
  std::uint64_t constant(unsigned bits);
  /// A predicate on which threads disagree, or, if `uniform`, one on which those of a block agree.
  int condition(bool uniform = false);

 private:
  std::size_t index_;
};

}  // namespace ptx_fuzz
