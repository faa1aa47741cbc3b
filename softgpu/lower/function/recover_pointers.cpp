#include "softgpu/lower/function/recover_pointers.hpp"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Transforms/Utils/Local.h>

#include "softgpu/lower/values/types.hpp"

namespace softgpu::lower {
namespace {

using llvm::Value;

bool is_small(const Value* value) {
  const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(value);
  return constant && constant->getValue().ule(UINT32_MAX);
}

bool is_index(const llvm::Instruction& operation) {
  const auto is_constant = [&](unsigned operand) {
    return llvm::isa<llvm::ConstantInt>(operation.getOperand(operand));
  };
  switch (operation.getOpcode()) {
    case llvm::Instruction::ZExt:
    case llvm::Instruction::SExt: return operation.getOperand(0)->getType()->getIntegerBitWidth() <= 8;
    case llvm::Instruction::Call: return llvm::cast<llvm::CallInst>(operation).arg_empty();  // %tid.x, say
    case llvm::Instruction::Mul: return is_constant(0) || is_constant(1);
    case llvm::Instruction::Shl: return is_constant(1);
    case llvm::Instruction::And: return is_small(operation.getOperand(0)) || is_small(operation.getOperand(1));
    case llvm::Instruction::URem: return is_small(operation.getOperand(1));
    default: return false;
  }
}

// Whether a distance is an index as programs write them: scaled, small, counted, or made of the thread's own. Any other
// number may be the way from one variable to another, since an address is a number like any other in PTX; LLVM would
// not believe that a pointer leads there. So may an index, where the program has looked at the variable's address.
bool stays_inside(const Value* distance) {
  llvm::SmallPtrSet<const Value*, 16> seen;
  llvm::SmallVector<const Value*, 16> work{distance};
  while (!work.empty()) {
    const Value* part = work.pop_back_val();
    if (!seen.insert(part).second || llvm::isa<llvm::ConstantInt>(part)) continue;
    const auto* operation = llvm::dyn_cast<llvm::Instruction>(part);
    if (!operation) return false;
    if (is_index(*operation)) continue;
    switch (operation->getOpcode()) {
      case llvm::Instruction::Add:
      case llvm::Instruction::Sub:
      case llvm::Instruction::Or:
      case llvm::Instruction::ZExt:
      case llvm::Instruction::SExt:
      case llvm::Instruction::Freeze:
      case llvm::Instruction::PHI: work.append(operation->value_op_begin(), operation->value_op_end()); break;
      case llvm::Instruction::Select: work.append(operation->value_op_begin() + 1, operation->value_op_end()); break;
      default: return false;
    }
  }
  return true;
}

class Recovery {
 public:
  explicit Recovery(llvm::Function& function) {
    find_known_addresses(function);
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      if (llvm::isa<llvm::PtrToIntInst>(instruction)) add(&instruction);
      for (Value* operand : instruction.operands())
        if (llvm::isa<llvm::Constant>(operand) && starts_at_object(operand) && moves_address(instruction, operand))
          add(&instruction);
    }
    while (!pending_.empty()) {
      Value* address = pending_.pop_back_val();
      for (llvm::User* user : address->users())
        if (moves_address(*user, address)) add(user);
    }
  }

  // The pointer that `address` was computed from, moved by the same distance; null when there is none.
  Value* pointer(Value* address) { return starts_at_object(address) ? build(address) : nullptr; }

 private:
  void add(Value* address) {
    if (derived_.insert(address).second) pending_.push_back(address);
  }

  // All that is computed from the addresses of module variables, which the host and other kernels may know, and from
  // those of the function's own objects that it uses as numbers.
  void find_known_addresses(llvm::Function& function) {
    llvm::MapVector<const Value*, llvm::SmallVector<Value*, 4>> objects;
    llvm::SmallVector<Value*, 4> of_module_variables;
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      if (llvm::isa<llvm::PtrToIntInst>(instruction))
        objects[llvm::getUnderlyingObject(instruction.getOperand(0))].push_back(&instruction);
      if (llvm::any_of(instruction.operands(), is_module_variable)) of_module_variables.push_back(&instruction);
    }
    follow(of_module_variables, known_);
    for (const auto& [object, addresses] : objects) {
      llvm::DenseSet<Value*> computed;
      if (follow(addresses, computed) || llvm::isa<llvm::GlobalVariable>(object))
        known_.insert(computed.begin(), computed.end());
    }
  }

  // Collects the addresses that are computed from these; true if one of them is used as anything else than an address.
  static bool follow(llvm::ArrayRef<Value*> addresses, llvm::DenseSet<Value*>& computed) {
    bool is_used_as_number = false;
    llvm::SmallVector<Value*, 32> work(addresses);
    while (!work.empty()) {
      Value* address = work.pop_back_val();
      if (!computed.insert(address).second) continue;
      for (llvm::User* user : address->users()) {
        switch (llvm::cast<llvm::Instruction>(user)->getOpcode()) {
          case llvm::Instruction::Sub: is_used_as_number |= user->getOperand(1) == address; [[fallthrough]];
          case llvm::Instruction::Add:
          case llvm::Instruction::Select:
          case llvm::Instruction::PHI:
          case llvm::Instruction::Freeze: work.push_back(user); break;
          case llvm::Instruction::IntToPtr:
          case llvm::Instruction::ICmp: break;
          default: is_used_as_number = true;
        }
      }
    }
    return is_used_as_number;
  }

  // Constant expressions are addresses of module variables, possibly with an offset.
  static bool is_module_variable(const Value* address) {
    auto* constant = llvm::dyn_cast<llvm::ConstantExpr>(address);
    if (constant && constant->getOpcode() == llvm::Instruction::Add)
      constant = llvm::dyn_cast<llvm::ConstantExpr>(constant->getOperand(0));
    return constant && constant->getOpcode() == llvm::Instruction::PtrToInt;
  }

  bool is_known(const Value* address) const { return llvm::isa<llvm::Constant>(address) || known_.contains(address); }

  bool starts_at_object(Value* address) const {
    if (!llvm::isa<llvm::ConstantExpr>(address)) return derived_.contains(address);
    return is_module_variable(address);
  }

  // Whether a user of an address gives an address within the same object.
  bool moves_address(llvm::User& user, Value* address) const {
    auto* instruction = llvm::dyn_cast<llvm::Instruction>(&user);
    if (!instruction) return false;
    const auto is_moved_inside_by = [&](const Value* distance) {
      return is_known(address) ? llvm::isa<llvm::ConstantInt>(distance) : stays_inside(distance);
    };
    switch (instruction->getOpcode()) {
      case llvm::Instruction::PHI: return !is_known(instruction);
      case llvm::Instruction::Add: return is_moved_inside_by(user.getOperand(user.getOperand(0) == address ? 1 : 0));
      // A difference of two addresses is a distance.
      case llvm::Instruction::Sub:
        return user.getOperand(0) == address && !starts_at_object(user.getOperand(1)) &&
               is_moved_inside_by(user.getOperand(1));
      case llvm::Instruction::Select: return user.getOperand(0) != address;
      default: return false;
    }
  }

  Value* build(Value* address) {
    if (Value* done = built_.lookup(address)) return done;
    if (auto* phi = llvm::dyn_cast<llvm::PHINode>(address)) return build(*phi);
    auto& operation = llvm::cast<llvm::Operator>(*address);
    if (operation.getOpcode() == llvm::Instruction::PtrToInt) return operation.getOperand(0);
    if (auto* constant = llvm::dyn_cast<llvm::ConstantExpr>(address)) return build(*constant);
    return built_[address] = build(llvm::cast<llvm::Instruction>(*address));
  }

  Value* build(llvm::ConstantExpr& sum) {
    auto* variable = llvm::cast<llvm::Constant>(build(sum.getOperand(0)));
    return llvm::ConstantExpr::getGetElementPtr(llvm::Type::getInt8Ty(sum.getContext()), variable, sum.getOperand(1));
  }

  Value* build(llvm::Instruction& operation) {
    Builder ir(&operation);
    Value* left = operation.getOperand(0);
    Value* right = operation.getOperand(1);
    switch (operation.getOpcode()) {
      case llvm::Instruction::Select:
        return ir.CreateSelect(left, as_pointer(ir, right), as_pointer(ir, operation.getOperand(2)));
      case llvm::Instruction::Sub: return ir.CreateGEP(ir.getInt8Ty(), build(left), ir.CreateNeg(right));
      default: break;
    }
    if (!starts_at_object(left)) std::swap(left, right);
    return ir.CreateGEP(ir.getInt8Ty(), build(left), right);
  }

  Value* build(llvm::PHINode& phi) {
    auto* result = llvm::PHINode::Create(llvm::PointerType::getUnqual(phi.getContext()), phi.getNumIncomingValues(),
                                         phi.getName(), phi.getIterator());
    built_[&phi] = result;
    for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i) {
      llvm::BasicBlock* from = phi.getIncomingBlock(i);
      const int known = result->getBasicBlockIndex(from);  // a block may come in by several edges, with one value
      Builder at_edge(from->getTerminator());
      result->addIncoming(known >= 0 ? result->getIncomingValue(static_cast<unsigned>(known))
                                     : as_pointer(at_edge, phi.getIncomingValue(i)),
                          from);
    }
    return result;
  }

  Value* as_pointer(Builder& ir, Value* address) {
    return starts_at_object(address) ? build(address) : ir.CreateIntToPtr(address, ir.getPtrTy());
  }

  llvm::DenseSet<Value*> known_;
  llvm::DenseSet<Value*> derived_;
  llvm::SmallVector<Value*, 32> pending_;
  llvm::DenseMap<Value*, Value*> built_;
};

}  // namespace

void recover_pointers(llvm::Function& function) {
  llvm::SmallVector<llvm::IntToPtrInst*, 32> casts;
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (auto* cast = llvm::dyn_cast<llvm::IntToPtrInst>(&instruction)) casts.push_back(cast);
  Recovery recovery(function);
  llvm::SmallVector<llvm::WeakTrackingVH, 32> replaced;
  for (llvm::IntToPtrInst* cast : casts) {
    if (Value* pointer = recovery.pointer(cast->getOperand(0))) {
      cast->replaceAllUsesWith(pointer);
      replaced.push_back(cast);
    }
  }
  llvm::RecursivelyDeleteTriviallyDeadInstructionsPermissive(replaced);
}

}  // namespace softgpu::lower
