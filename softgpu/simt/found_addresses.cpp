#include "softgpu/simt/found_addresses.hpp"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "softgpu/simt/marks.hpp"
#include "softgpu/simt/memory_uses.hpp"

namespace softgpu::simt {

using namespace llvm;

namespace {

// Follows an address back to where it comes from. What can't be told comes from memory.
class Origin {
 public:
  Origin(const Value* address, bool is_kernel, const DataLayout& layout) : is_kernel_(is_kernel), layout_(layout) {
    add(address, Part::whole);
    while (!work_.empty() && !found_) {
      const auto [value, part] = work_.pop_back_val();
      follow(value, part);
    }
  }

  // Without a base, what looks like a distance is the address itself: packed into fewer bits, say.
  bool is_memory() const { return found_ || !has_base_; }

 private:
  // What a value may be.
  enum class Part : std::uint8_t {
    whole,  // an address, or a distance
    piece,  // some bits of an address: no scale or width shows that it is a distance
  };

  void add(const Value* value, Part part) {
    if (seen_[static_cast<std::size_t>(part)].insert(value).second) work_.push_back({value, part});
  }
  void add_operands(const User& user, Part part) {
    for (const Value* operand : user.operand_values()) add(operand, part);
  }

  void follow(const Value* value, Part part) {
    if (isa<ConstantInt>(value) || isa<ConstantPointerNull>(value) || isa<UndefValue>(value)) return;
    if (isa<Constant>(value) || isa<AllocaInst>(value) || (isa<Argument>(value) && is_kernel_)) {
      has_base_ = true;
      return;
    }
    const auto* instruction = dyn_cast<Instruction>(value);
    if (!instruction) {
      found_ = true;  // an argument of a function
      return;
    }
    if (part == Part::whole && is_distance(*instruction)) return;
    switch (instruction->getOpcode()) {
      case Instruction::Load: return follow(cast<LoadInst>(*instruction));
      case Instruction::AtomicRMW:
      case Instruction::AtomicCmpXchg: found_ = true; return;
      case Instruction::Call: return follow(cast<CallInst>(*instruction), part);
      case Instruction::GetElementPtr: return follow(cast<GetElementPtrInst>(*instruction), part);
      case Instruction::Select:
        add(instruction->getOperand(1), part);
        add(instruction->getOperand(2), part);
        return;
      case Instruction::Shl:
      case Instruction::LShr:
      case Instruction::AShr: return add_operands(*instruction, Part::piece);
      case Instruction::ICmp:
      case Instruction::FCmp:
      case Instruction::FPToSI:
      case Instruction::FPToUI: return;  // no bits of an address
      default: return add_operands(*instruction, part);
    }
  }

  // Numbers of elements, and of 32 bits.
  static bool is_distance(const Instruction& instruction) {
    switch (instruction.getOpcode()) {
      case Instruction::ZExt:
      case Instruction::SExt: return instruction.getOperand(0)->getType()->getScalarSizeInBits() <= 32;
      case Instruction::Mul: return true;
      case Instruction::Shl: {  // the upper half of an address is shifted further
        const auto* places = dyn_cast<ConstantInt>(instruction.getOperand(1));
        return places && places->getValue().ult(32);
      }
      default: return false;
    }
  }

  // Launches look at each word of the parameters that lies at a multiple of its size.
  void follow(const LoadInst& load) {
    const bool is_parameter = mark_of(getUnderlyingObject(load.getPointerOperand(), 0)) == abi::Mark::params;
    const Type* element = load.getType()->getScalarType();
    const bool is_word = element->isPointerTy() || element->getScalarSizeInBits() == 64;
    if (is_parameter && is_word && load.getAlign() >= Align(8))
      has_base_ = true;
    else
      found_ = true;
  }

  void follow(const CallInst& call, Part part) {
    if (const auto mark = mark_of(&call)) {
      has_base_ |= call.getType()->isPointerTy() || mark == abi::Mark::workspace;
      if (abi::info(*mark).kind == abi::MarkKind::warp)
        for (const Value* argument : call.args()) add(argument, part);
      return;
    }
    if (isa<IntrinsicInst>(call)) {
      for (const Value* argument : call.args()) add(argument, isa<MinMaxIntrinsic>(call) ? part : Part::piece);
      return;
    }
    const Function* callee = call.getCalledFunction();
    if (callee && callee->getName() == "softgpu_rt_malloc")
      has_base_ = true;
    else
      found_ = true;
  }

  // Indices of elements are scaled.
  void follow(const GetElementPtrInst& gep, Part part) {
    add(gep.getPointerOperand(), part);
    if (part == Part::whole && layout_.getTypeAllocSize(gep.getSourceElementType()) != 1) return;
    for (const Value* index : gep.indices()) add(index, part);
  }

  const bool is_kernel_;
  const DataLayout& layout_;
  SmallVector<std::pair<const Value*, Part>, 16> work_;
  SmallPtrSet<const Value*, 16> seen_[2];
  bool found_ = false, has_base_ = false;
};

}  // namespace

bool finds_addresses(Function& function, bool is_kernel) {
  const DataLayout& layout = function.getDataLayout();
  SmallPtrSet<const Value*, 32> known;
  for (Instruction& instruction : instructions(function))
    for (const MemoryUse& use : memory_uses(instruction))
      if (known.insert(use.address).second && Origin(use.address, is_kernel, layout).is_memory()) return true;
  return false;
}

}  // namespace softgpu::simt
