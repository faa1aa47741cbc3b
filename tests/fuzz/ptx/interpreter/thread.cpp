#include "fuzz/ptx/interpreter/thread.hpp"

#include "fuzz/ptx/interpreter/compute.hpp"

namespace ptx_fuzz {
namespace {

unsigned bits_of(RegisterClass register_class) {
  constexpr unsigned kBits[] = {1, 16, 32, 64, 64};
  return kBits[static_cast<std::size_t>(register_class)];
}

std::uint64_t read_special(Special which, const Thread& thread, const Program& program) {
  const Extent& block = program.block;
  switch (which) {
    case Special::tid_x: return thread.index % block.x;
    case Special::tid_y: return thread.index / block.x % block.y;
    case Special::tid_z: return thread.index / block.x / block.y;
    case Special::ntid_x: return block.x;
    case Special::ntid_y: return block.y;
    case Special::ntid_z: return block.z;
    case Special::ctaid_x: return thread.block;
    case Special::nctaid_x: return program.blocks;
    case Special::laneid: return thread.lane();
    case Special::parameter0: return program.parameters[0];
    case Special::parameter1: return program.parameters[1];
    case Special::parameter2: return program.parameters[2];
  }
  return 0;
}

}  // namespace

std::uint64_t Thread::read(const Operand& operand, const Program& program) const {
  switch (operand.kind) {
    case Operand::Kind::none: return 0;
    case Operand::Kind::constant: return operand.value;
    case Operand::Kind::special: return read_special(static_cast<Special>(operand.value), *this, program);
    case Operand::Kind::reg: break;
  }
  const Frame& frame = frames.back();
  if (!frame.written[operand.value]) throw Undefined("reads a register that nothing was written to");
  return frame.registers[operand.value];
}

void Thread::write(int number, std::uint64_t value) {
  if (number < 0) return;
  const auto place = static_cast<std::size_t>(number);
  Frame& top = frame();
  top.registers[place] = truncate(value, bits_of(top.function->registers[place]));
  top.written[place] = true;
}

void Thread::resume(std::uint64_t value, bool predicate) {
  const std::vector<int>& results = at->results;
  if (!results.empty()) write(results[0], value);
  if (results.size() > 1) write(results[1], predicate ? 1 : 0);
  at = nullptr;
  state = State::ready;
}

void Thread::enter(const Function& function) {
  Frame frame;
  frame.function = &function;
  frame.registers.resize(function.registers.size());
  frame.written.resize(function.registers.size());
  frame.local_begin = local_bytes;
  local_bytes += function.local_bytes;
  // What an earlier call left there is gone.
  local.resize(frame.local_begin);
  local.resize(local_bytes);
  frames.push_back(std::move(frame));
}

}  // namespace ptx_fuzz
