// Branches and the ends of threads.
#include "softgpu/lower/control/control.hpp"

namespace softgpu::lower {

using llvm::Value;
using ptx::Instruction;
using ptx::Symbol;

namespace {

const Symbol& symbol_of(const ptx::Operand& operand) {
  return std::get<Symbol>(std::get<ptx::Address>(operand.value).base);
}

}  // namespace

void lower_bra(FunctionLowering& f, const Instruction& i) {
  llvm::BasicBlock* target = f.block_of_label(symbol_of(i.operands[0]));
  if (Value* guard = f.guard_of(i))
    f.ir.CreateCondBr(guard, target, f.next_block());
  else
    f.ir.CreateBr(target);
}

// An index past the end is undefined in PTX; here it takes the first target.
void lower_brx(FunctionLowering& f, const Instruction& i) {
  const std::vector<Symbol>& labels = f.source.branch_targets[symbol_of(i.operands[1]).index].labels;
  Value* index = f.read(i.operands[0], ptx::Type::u32);
  llvm::SwitchInst* choice =
      f.ir.CreateSwitch(index, f.block_of_label(labels[0]), static_cast<unsigned>(labels.size()));
  for (std::uint32_t k = 1; k < labels.size(); ++k) choice->addCase(f.ir.getInt32(k), f.block_of_label(labels[k]));
}

void lower_ret(FunctionLowering& f, const Instruction&) { f.return_from_function(); }

void lower_exit(FunctionLowering& f, const Instruction&) {
  if (f.source.is_kernel) return f.return_from_function();
  f.call(abi::Mark::exit);
  f.ir.CreateUnreachable();
}

void lower_trap(FunctionLowering& f, const Instruction&) {
  f.call(RuntimeCall::trap);
  f.ir.CreateUnreachable();
}

void lower_nanosleep(FunctionLowering& f, const Instruction& i) {
  f.call(abi::Mark::nanosleep, {f.read(i.operands[0], ptx::Type::u32)});
}

void lower_nothing(FunctionLowering&, const Instruction&) {}

}  // namespace softgpu::lower
