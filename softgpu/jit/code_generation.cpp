#include "softgpu/jit/code_generation.hpp"

#include <stdexcept>

#include "llvm/CodeGen/MachineModuleInfo.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/LowerAtomic.h"
#include "softgpu/jit/pipeline.hpp"
#include "softgpu/simt/code_length.hpp"

namespace softgpu::jit {

void name_variables(llvm::Module& code, const ptx::Module& module) {
  for (const ptx::Variable& variable : module.variables)
    if (llvm::GlobalVariable* global = code.getNamedGlobal(variable.name))
      global->setName(llvm::StringRef(kVariablePrefix) + variable.name);
}

void drop_locks(llvm::Module& code) {
  constexpr auto kOneThread = llvm::SyncScope::SingleThread;
  for (llvm::Function& function : code)
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction);
      auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction);
      if (update && update->getSyncScopeID() == kOneThread) llvm::lowerAtomicRMWInst(update);
      if (exchange && exchange->getSyncScopeID() == kOneThread) llvm::lowerAtomicCmpXchgInst(exchange);
    }
}

namespace {

// The instruction that moves so many bits to a mask register.
const char* move_to_mask(unsigned bits) {
  switch (bits) {
    case 8: return "kmovb $1, $0";
    case 16: return "kmovw $1, $0";
    case 32: return "kmovd $1, $0";
    default: return nullptr;
  }
}

// (a & ~constant) | (b & constant), in one of the forms that LLVM gives it.
bool puts_bits_together(const llvm::Value* value) {
  const auto* logic = llvm::dyn_cast<llvm::BinaryOperator>(value);
  if (!logic || (logic->getOpcode() != llvm::Instruction::Or && logic->getOpcode() != llvm::Instruction::Xor))
    return false;
  return llvm::any_of(logic->operands(), [](const llvm::Value* operand) {
    const auto* part = llvm::dyn_cast<llvm::BinaryOperator>(operand);
    return part && part->getOpcode() == llvm::Instruction::And && llvm::isa<llvm::Constant>(part->getOperand(1));
  });
}

bool combines_masks(const llvm::User* user) {
  const auto* instruction = llvm::dyn_cast<llvm::Instruction>(user);
  if (!instruction || !instruction->getType()->isVectorTy() || !instruction->getType()->getScalarType()->isIntegerTy(1))
    return false;
  return instruction->isBitwiseLogicOp() || llvm::isa<llvm::SelectInst, llvm::FreezeInst>(instruction);
}

}  // namespace

void settle_masks(llvm::Module& code, const llvm::TargetMachine& target) {
  if (!target.getMCSubtargetInfo()->checkFeatures("+avx512bw,+avx512dq")) return;
  for (llvm::Function& function : code)
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      auto* cast = llvm::dyn_cast<llvm::BitCastInst>(&instruction);
      if (!cast || !cast->getSrcTy()->isIntegerTy() || !cast->getDestTy()->isVectorTy()) continue;
      if (!cast->getDestTy()->getScalarType()->isIntegerTy(1) || llvm::none_of(cast->users(), combines_masks)) continue;
      const char* move = move_to_mask(cast->getSrcTy()->getIntegerBitWidth());
      if (!move) continue;
      auto* type = llvm::FunctionType::get(cast->getDestTy(), {llvm::Type::getInt32Ty(code.getContext())}, false);
      llvm::IRBuilder<> builder(cast);
      llvm::Value* bits = builder.CreateZExt(cast->getOperand(0), builder.getInt32Ty());
      cast->replaceAllUsesWith(builder.CreateCall(llvm::InlineAsm::get(type, move, "=^Yk,r", false), {bits}));
      cast->eraseFromParent();
    }
}

void choose_bit_fields_by_logic(llvm::Module& code, const llvm::TargetMachine& target) {
  if (!target.getMCSubtargetInfo()->checkFeatures("+avx512f")) return;
  for (llvm::Function& function : code)
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      auto* select = llvm::dyn_cast<llvm::SelectInst>(&instruction);
      if (!select || !select->getType()->isIntOrIntVectorTy() || !select->getCondition()->getType()->isVectorTy())
        continue;
      if (!puts_bits_together(select->getTrueValue()) && !puts_bits_together(select->getFalseValue())) continue;
      llvm::IRBuilder<> builder(select);
      // The side that is not chosen may be poison, which logic would let through.
      llvm::Value* yes = builder.CreateFreeze(select->getTrueValue());
      llvm::Value* no = builder.CreateFreeze(select->getFalseValue());
      llvm::Value* chosen = builder.CreateSExt(select->getCondition(), select->getType());
      select->replaceAllUsesWith(builder.CreateXor(builder.CreateAnd(builder.CreateXor(yes, no), chosen), no));
      select->eraseFromParent();
    }
}

void settle_undefined(llvm::Module& code) {
  for (llvm::Function& function : code)
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      auto* freeze = llvm::dyn_cast<llvm::FreezeInst>(&instruction);
      if (!freeze || !llvm::isa<llvm::UndefValue>(freeze->getOperand(0))) continue;
      freeze->replaceAllUsesWith(llvm::Constant::getNullValue(freeze->getType()));
      freeze->eraseFromParent();
    }
}

void probe_stacks(llvm::Module& code) {
  for (llvm::Function& function : code)
    if (!function.isDeclaration()) function.addFnAttr("probe-stack", "inline-asm");
}

namespace {

// What llvm::TargetMachine::addPassesToEmitFile() does, with a choice of passes. Huge code is spared the search for
// common subexpressions in all of its machine code: it looks at all uses of a constant for each block that uses it.
bool add_passes(llvm::legacy::PassManager& passes, const llvm::Module& code, llvm::LLVMTargetMachine& target,
                llvm::raw_pwrite_stream& out) {
  auto* machine_code = new llvm::MachineModuleInfoWrapperPass(&target);  // the pass manager owns passes
  llvm::TargetPassConfig* config = target.createPassConfig(passes);
  config->setDisableVerify(true);  // as run() has verified it
  if (simt::is_huge(code)) config->disablePass(&llvm::MachineCSEID);
  passes.add(config);
  passes.add(machine_code);
  if (config->addISelPasses()) return false;
  config->addMachinePasses();
  config->setInitialized();
  if (target.addAsmPrinter(passes, out, nullptr, llvm::CodeGenFileType::ObjectFile,
                           machine_code->getMMI().getContext()))
    return false;
  passes.add(llvm::createFreeMachineFunctionPass());
  return true;
}

}  // namespace

std::string generate(llvm::Module& code, llvm::TargetMachine& target) {
  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream out(object);
  llvm::legacy::PassManager passes;
  if (!add_passes(passes, code, static_cast<llvm::LLVMTargetMachine&>(target), out))
    throw std::runtime_error("this CPU's code generator can't make object code");
  passes.run(code);
  return {object.data(), object.size()};
}

}  // namespace softgpu::jit
