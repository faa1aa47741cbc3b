#include "fuzz/ptx/interpreter/interpreter.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "fuzz/ptx/interpreter/compute.hpp"
#include "fuzz/ptx/interpreter/waiting.hpp"
#include "fuzz/ptx/model/random.hpp"

namespace ptx_fuzz {
namespace {

// Orders in which threads may run. A program with one result has the same in all of them.
enum class Order { forward, backward, interleaved };

// More than any program needs that ends.
constexpr unsigned kMostSteps = 20000;
// How long a thread goes on before others get their turn: it may wait for what they write.
constexpr unsigned kTurn = 500;
constexpr std::size_t kMostFrames = 64;

class BlockRun {
 public:
  BlockRun(const Program& program, Memory& global, const std::vector<std::vector<std::size_t>>& labels, unsigned block)
      : program_(program), global_(global), labels_(labels) {
    threads_.resize(program.block.count());
    shared_.resize(program.shared_bytes);
    for (unsigned i = 0; i < threads_.size(); ++i) {
      threads_[i].block = block;
      threads_[i].index = i;
      threads_[i].enter(program.functions.front());
    }
  }

  void run(Order order) {
    std::vector<std::size_t> turn(threads_.size());
    std::iota(turn.begin(), turn.end(), 0);
    if (order == Order::backward) std::reverse(turn.begin(), turn.end());
    Random random(program_.seed);
    for (bool progress = true; progress;) {
      progress = false;
      if (order == Order::interleaved)
        for (std::size_t i = turn.size(); i > 1; --i) std::swap(turn[i - 1], turn[random.below(i)]);
      for (const std::size_t i : turn) {
        Thread& thread = threads_[i];
        unsigned steps = order == Order::interleaved ? 1 + random.below(6) : kTurn;
        for (; thread.state == Thread::State::ready && steps > 0; --steps) {
          step(thread);
          progress = true;
        }
      }
    }
    for (const Thread& thread : threads_)
      if (thread.state != Thread::State::ended) throw Undefined("threads wait for ever");
  }

 private:
  bool is_off(const Thread& thread, const Instruction& instruction) const {
    if (instruction.guard < 0) return false;
    return (thread.read(Operand::reg(instruction.guard), program_) != 0) == instruction.guard_negated;
  }

  void step(Thread& thread) {
    if (++thread.steps > kMostSteps) throw Undefined("runs too long");
    Frame& frame = thread.frame();
    if (frame.next >= frame.function->body.size()) return leave(thread);
    const Instruction& instruction = frame.function->body[frame.next++];
    if (keeps_no_carry(instruction.op)) thread.carry_is_known = false;
    if (instruction.op == Op::label || is_off(thread, instruction)) return;
    switch (instruction.op) {
      case Op::branch: frame.next = label(*frame.function, instruction.target); return;
      case Op::branch_table: return branch_by_table(thread, instruction);
      case Op::exit: return end(thread);
      case Op::ret: return leave(thread);
      case Op::call: return call(thread, instruction);
      case Op::address_of: thread.write(instruction.results[0], address_of(instruction.space, frame)); return;
      case Op::to_generic:
        thread.write(instruction.results[0],
                     source(thread, instruction, 0) | static_cast<std::uint64_t>(instruction.space) << kSpaceShift);
        return;
      case Op::fence: return;
      case Op::unpack: return unpack(thread, instruction);
      case Op::activemask: thread.write(instruction.results[0], std::uint64_t{1} << thread.lane()); return;
      case Op::load:
      case Op::store:
      case Op::atomic:
      case Op::reduction: return access(thread, instruction);
      case Op::barrier_sync:
      case Op::barrier_arrive:
      case Op::barrier_reduce:
      case Op::warp_sync:
      case Op::shuffle:
      case Op::vote:
      case Op::match:
      case Op::redux: return wait(thread, instruction);
      default: return calculate(thread, instruction);
    }
  }

  // Chains of extended precision are in straight code.
  static bool keeps_no_carry(Op op) { return op >= Op::label; }

  // Of the kernel's array, the block's shared memory, or the frame's local memory.
  static std::uint64_t address_of(Space space, const Frame& frame) {
    if (space == Space::global) return static_cast<std::uint64_t>(Space::global) << kSpaceShift;
    return space == Space::local ? frame.local_begin : 0;
  }

  std::size_t label(const Function& function, int number) const {
    return labels_[static_cast<std::size_t>(&function - program_.functions.data())][static_cast<std::size_t>(number)];
  }

  std::uint64_t source(const Thread& thread, const Instruction& instruction, std::size_t number) const {
    return number < instruction.sources.size() ? thread.read(instruction.sources[number], program_) : 0;
  }

  void calculate(Thread& thread, const Instruction& instruction) {
    std::uint64_t sources[5] = {};
    for (std::size_t i = 0; i < instruction.sources.size(); ++i) {
      // Constants are as wide as the instruction; registers are already.
      sources[i] = source(thread, instruction, i);
      if (instruction.sources[i].kind == Operand::Kind::constant && instruction.type != Type::pred)
        sources[i] =
            truncate(sources[i], instruction.op == Op::cvt ? bits_of(instruction.from) : bits_of(instruction.type));
    }
    if (!touches_carry(instruction.op)) return thread.write(instruction.results[0], compute(instruction, sources, 64));
    const bool reads = instruction.op != Op::add_cc && instruction.op != Op::sub_cc &&
                       instruction.op != Op::mad_lo_cc && instruction.op != Op::mad_hi_cc;
    if (reads && !thread.carry_is_known) throw Undefined("reads a carry that nothing was written to");
    bool carry = thread.carry;
    thread.write(instruction.results[0], compute_with_carry(instruction, sources, carry));
    const bool writes = instruction.op != Op::addc && instruction.op != Op::subc && instruction.op != Op::madc_lo &&
                        instruction.op != Op::madc_hi;
    if (writes) thread.carry = carry, thread.carry_is_known = true;
  }

  void unpack(Thread& thread, const Instruction& instruction) {
    const std::uint64_t whole = source(thread, instruction, 0);
    thread.write(instruction.results[0], whole);
    thread.write(instruction.results[1], whole >> (bits_of(instruction.type) / 2));
  }

  void branch_by_table(Thread& thread, const Instruction& instruction) {
    const std::uint64_t index = source(thread, instruction, 0);
    if (index >= instruction.targets.size()) throw Undefined("an index outside a branch table");
    Frame& frame = thread.frame();
    frame.next = label(*frame.function, instruction.targets[index]);
  }

  void call(Thread& thread, const Instruction& instruction) {
    const Function& function = program_.functions[static_cast<std::size_t>(instruction.target)];
    if (thread.frames.size() == kMostFrames) throw Undefined("calls too deep");
    std::vector<std::uint64_t> arguments;
    for (std::size_t i = 0; i < instruction.sources.size(); ++i) arguments.push_back(source(thread, instruction, i));
    thread.enter(function);
    for (std::size_t i = 0; i < arguments.size(); ++i) thread.write(function.parameters[i], arguments[i]);
  }

  void leave(Thread& thread) {
    if (thread.frames.size() == 1) return end(thread);
    const Frame& callee = thread.frame();
    const int result = callee.function->result;
    const std::uint64_t value = result < 0 ? 0 : thread.read(Operand::reg(result), program_);
    thread.local_bytes = callee.local_begin;
    thread.frames.pop_back();
    Frame& caller = thread.frame();
    const Instruction& call = caller.function->body[caller.next - 1];
    if (result >= 0) thread.write(call.results[0], value);
  }

  void end(Thread& thread) {
    thread.state = Thread::State::ended;
    settle_warp(threads_, thread.warp());
    barriers_.settle(threads_);
  }

  void wait(Thread& thread, const Instruction& instruction) {
    thread.state = Thread::State::waiting;
    thread.at = &instruction;
    thread.operands.clear();
    for (std::size_t i = 0; i < instruction.sources.size(); ++i)
      thread.operands.push_back(source(thread, instruction, i));
    if (instruction.op == Op::barrier_sync || instruction.op == Op::barrier_arrive ||
        instruction.op == Op::barrier_reduce) {
      thread.operands.resize(3);
      return barriers_.arrive(threads_, thread);
    }
    if ((thread.operands.back() >> thread.lane() & 1) == 0) throw Undefined("a thread that its own mask does not name");
    settle_warp(threads_, thread.warp());
  }

  void access(Thread& thread, const Instruction& instruction) {
    std::uint64_t address =
        source(thread, instruction, 0) + static_cast<std::uint64_t>(std::int64_t{instruction.offset});
    Memory& memory = memory_of(thread, instruction.space, address);
    const Type type = instruction.type;
    const unsigned size = bytes_of(type);
    if (instruction.op == Op::load) {
      for (std::size_t i = 0; i < instruction.results.size(); ++i) {
        const std::uint64_t value = memory.load(address + i * size, size);
        thread.write(instruction.results[i],
                     is_signed(type) ? static_cast<std::uint64_t>(sign_extend(value, 8 * size)) : value);
      }
    } else if (instruction.op == Op::store) {
      for (std::size_t i = 1; i < instruction.sources.size(); ++i)
        memory.store(address + (i - 1) * size, size, source(thread, instruction, i));
    } else {
      const std::uint64_t old = memory.load(address, size);
      const auto operand = [&](std::size_t i) { return truncate(source(thread, instruction, i), 8 * size); };
      memory.store(address, size, compute_atomic(instruction.variant, type, old, operand(1), operand(2)));
      if (instruction.op == Op::atomic) thread.write(instruction.results[0], old);
    }
  }

  // Takes the space out of a generic address.
  Memory& memory_of(Thread& thread, Space space, std::uint64_t& address) {
    if (space == Space::generic) {
      space = static_cast<Space>(address >> kSpaceShift);
      address = truncate(address, kSpaceShift);
    } else if (space == Space::global) {
      if (address >> kSpaceShift != static_cast<std::uint64_t>(Space::global)) throw Undefined("not a global address");
      address = truncate(address, kSpaceShift);
    }
    switch (space) {
      case Space::global: return global_;
      case Space::shared: return shared_;
      case Space::local: return thread.local;
      case Space::generic: break;
    }
    throw Undefined("not an address");
  }

  const Program& program_;
  Memory& global_;
  const std::vector<std::vector<std::size_t>>& labels_;
  Memory shared_;
  std::vector<Thread> threads_;
  Barriers barriers_;
};

std::vector<std::vector<std::size_t>> find_labels(const Program& program) {
  std::vector<std::vector<std::size_t>> labels;
  for (const Function& function : program.functions) {
    std::vector<std::size_t>& places = labels.emplace_back(static_cast<std::size_t>(function.labels));
    for (std::size_t i = 0; i < function.body.size(); ++i)
      if (function.body[i].op == Op::label) places[static_cast<std::size_t>(function.body[i].target)] = i;
  }
  return labels;
}

std::vector<std::uint8_t> run(const Program& program, Order order) {
  const auto labels = find_labels(program);
  Memory global(program.memory);
  for (unsigned i = 0; i < program.blocks; ++i) {
    const unsigned block = order == Order::backward ? program.blocks - 1 - i : i;
    BlockRun(program, global, labels, block).run(order);
  }
  return global.bytes();
}

}  // namespace

Outcome interpret(const Program& program) {
  Outcome outcome;
  try {
    outcome.memory = run(program, Order::forward);
    for (const Order order : {Order::backward, Order::interleaved})
      if (run(program, order) != outcome.memory) throw Undefined("the order of the threads changes the result");
  } catch (const Undefined& why) {
    outcome.undefined = why.what();
  }
  return outcome;
}

}  // namespace ptx_fuzz
