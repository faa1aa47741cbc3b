#include "softgpu/simt/found_addresses.hpp"

#include <algorithm>
#include <utility>

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"
#include "softgpu/simt/marks.hpp"
#include "softgpu/simt/memory_uses.hpp"

namespace softgpu::simt {

using namespace llvm;

namespace {

// What a value may be, as bits of a set; a sum is the greatest of its parts.
using Kinds = unsigned;
constexpr Kinds kNothing = 1;   // a small number: null, say
constexpr Kinds kDistance = 2;  // what is an address only together with one
constexpr Kinds kAddress = 4;   // of the parameters, of a variable, or of memory of its own, moved by some distance
constexpr Kinds kFound = 8;     // what may be an address in memory, or a part of one

Kinds sum_of(Kinds a, Kinds b) {
  Kinds sum = 0;
  for (const Kinds x : {kNothing, kDistance, kAddress, kFound})
    for (const Kinds y : {kNothing, kDistance, kAddress, kFound})
      if ((a & x) != 0 && (b & y) != 0) sum |= std::max(x, y);
  return sum;
}

// Follows addresses back to where they come from. What can't be told comes from memory.
class Origins {
 public:
  Origins(bool is_kernel, const DataLayout& layout) : is_kernel_(is_kernel), layout_(layout) {}

  void add_address(const Value* address) {
    add(address, Part::whole);
    addresses_.insert({address, Part::whole});
  }
  // Whether one of them is found, or nothing but a distance: an address packed into fewer bits, say.
  bool find_one() {
    for (std::size_t i = 0; i < kinds_.size(); ++i) {  // which grows meanwhile
      const auto [value, part] = kinds_.begin()[i].first;
      kinds_of(value, part);
    }
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t i = kinds_.size(); i-- > 0;) {  // what others are made of was added behind them
        auto& [node, known] = kinds_.begin()[i];
        const Kinds kinds = known | kinds_of(node.first, node.second);
        changed |= kinds != std::exchange(known, kinds);
      }
    }
    return any_of(addresses_, [this](const Node& node) { return (kinds_[node] & (kDistance | kFound)) != 0; });
  }

 private:
  enum class Part : std::uint8_t {
    whole,  // an address, or a distance
    piece,  // some bits of an address: no scale or width shows that it is a distance
  };
  using Node = std::pair<const Value*, Part>;

  Kinds add(const Value* value, Part part) { return kinds_.insert({{value, part}, 0}).first->second; }

  Kinds kinds_of(const Value* value, Part part) {
    if (const auto* constant = dyn_cast<Constant>(value)) return kinds_of(*constant, part);
    if (isa<AllocaInst>(value) || (isa<Argument>(value) && is_kernel_)) return kAddress;
    const auto* instruction = dyn_cast<Instruction>(value);
    if (!instruction) return kFound;  // an argument of a function
    if (part == Part::whole && is_distance(*instruction)) return kDistance;
    switch (instruction->getOpcode()) {
      case Instruction::Load: return kinds_of(cast<LoadInst>(*instruction));
      case Instruction::AtomicRMW:
      case Instruction::AtomicCmpXchg: return kFound;
      case Instruction::Call: return kinds_of(cast<CallInst>(*instruction), part);
      case Instruction::GetElementPtr: return kinds_of(cast<GEPOperator>(*instruction), part);
      case Instruction::Select: return add(instruction->getOperand(1), part) | add(instruction->getOperand(2), part);
      case Instruction::PHI: return any_of_operands(cast<PHINode>(*instruction).incoming_values(), part);
      case Instruction::InsertElement:
      case Instruction::InsertValue:
        return add(instruction->getOperand(0), part) | add(instruction->getOperand(1), part);
      case Instruction::ShuffleVector: return any_of_operands(instruction->operands(), part);
      case Instruction::ExtractElement: return add(instruction->getOperand(0), part);
      case Instruction::Xor: return kinds_of_exclusive_or(*instruction, part);
      case Instruction::Shl:
      case Instruction::LShr:
      case Instruction::AShr: return sum_of_operands(instruction->operands(), Part::piece);
      case Instruction::ICmp:
      case Instruction::FCmp: return kNothing;
      case Instruction::FPToSI:
      case Instruction::FPToUI: return kDistance;
      default: return sum_of_operands(instruction->operands(), part);
    }
  }

  // Only below 4 GiB is there no memory.
  Kinds kinds_of(const Constant& constant, Part part) {
    if (const auto* number = dyn_cast<ConstantInt>(&constant))
      return number->getValue().isSignedIntN(33) ? kNothing : kDistance;
    if (isa<GlobalValue>(constant)) return kAddress;
    if (const auto* gep = dyn_cast<GEPOperator>(&constant)) return kinds_of(*gep, part);
    if (isa<ConstantExpr>(constant)) return sum_of_operands(constant.operands(), part);
    if (isa<ConstantAggregate>(constant)) return any_of_operands(constant.operands(), part);
    return isa<ConstantData>(constant) && !isa<ConstantDataSequential>(constant) ? kNothing : kDistance;
  }

  template <typename Operands>
  Kinds any_of_operands(const Operands& operands, Part part) {
    Kinds any = 0;
    for (const Use& operand : operands) any |= add(operand.get(), part);
    return any;
  }
  template <typename Operands>
  Kinds sum_of_operands(const Operands& operands, Part part) {
    Kinds sum = kNothing;
    for (const Use& operand : operands) sum = sum_of(sum, add(operand.get(), part));
    return sum;
  }

  // Two words of the parameters that hide an address from the launch.
  Kinds kinds_of_exclusive_or(const Instruction& instruction, Part part) {
    const Kinds a = add(instruction.getOperand(0), part), b = add(instruction.getOperand(1), part);
    return (a & b & kAddress) != 0 ? kFound : sum_of(a, b);
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
  static Kinds kinds_of(const LoadInst& load) {
    const bool is_parameter = mark_of(getUnderlyingObject(load.getPointerOperand(), 0)) == abi::Mark::params;
    const Type* element = load.getType()->getScalarType();
    const bool is_word = element->isPointerTy() || element->getScalarSizeInBits() == 64;
    return is_parameter && is_word && load.getAlign() >= Align(8) ? kAddress : kFound;
  }

  Kinds kinds_of(const CallInst& call, Part part) {
    if (const auto mark = mark_of(&call)) {
      if (call.getType()->isPointerTy() || mark == abi::Mark::workspace) return kAddress;
      return abi::info(*mark).kind == abi::MarkKind::warp ? sum_of_operands(call.args(), part) : kDistance;
    }
    if (isa<MinMaxIntrinsic>(call)) return any_of_operands(call.args(), part);
    if (isa<IntrinsicInst>(call)) return sum_of_operands(call.args(), Part::piece);
    const Function* callee = call.getCalledFunction();
    return callee && callee->getName() == "softgpu_rt_malloc" ? kAddress : kFound;
  }

  // Indices of elements are scaled.
  Kinds kinds_of(const GEPOperator& gep, Part part) {
    const Kinds base = add(gep.getPointerOperand(), part);
    if (part == Part::whole && layout_.getTypeAllocSize(gep.getSourceElementType()) != 1)
      return sum_of(base, gep.hasAllConstantIndices() ? kNothing : kDistance);
    Kinds sum = base;
    for (const Use& index : gep.indices()) sum = sum_of(sum, add(index.get(), part));
    return sum;
  }

  const bool is_kernel_;
  const DataLayout& layout_;
  MapVector<Node, Kinds> kinds_;  // growing, from none, until they agree with each other
  SetVector<Node> addresses_;
};

}  // namespace

bool finds_addresses(Function& function, bool is_kernel) {
  Origins origins(is_kernel, function.getDataLayout());
  for (Instruction& instruction : instructions(function))
    for (const MemoryUse& use : memory_uses(instruction)) origins.add_address(use.address);
  return origins.find_one();
}

}  // namespace softgpu::simt
