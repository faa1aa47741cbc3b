#include "softgpu/jit/code_generation.hpp"

#include <stdexcept>

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/LowerAtomic.h"
#include "softgpu/jit/pipeline.hpp"

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

void probe_stacks(llvm::Module& code) {
  for (llvm::Function& function : code)
    if (!function.isDeclaration()) function.addFnAttr("probe-stack", "inline-asm");
}

std::string generate(llvm::Module& code, llvm::TargetMachine& target) {
  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream out(object);
  llvm::legacy::PassManager passes;
  if (target.addPassesToEmitFile(passes, out, nullptr, llvm::CodeGenFileType::ObjectFile))
    throw std::runtime_error("this CPU's code generator can't make object code");
  passes.run(code);
  return {object.data(), object.size()};
}

}  // namespace softgpu::jit
