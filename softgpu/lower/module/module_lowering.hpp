// The LLVM module that one kernel becomes: its functions, its variables, and what it refers to outside.
#pragma once

#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/DebugLoc.h>
#include <llvm/IR/Module.h>

#include <functional>
#include <map>
#include <memory>

#include "softgpu/abi/marks.hpp"
#include "softgpu/lower/module/call_graph.hpp"
#include "softgpu/lower/values/types.hpp"

namespace softgpu::lower {

// Functions of the executing process that lowered code calls (abi/runtime_calls.def).
enum class RuntimeCall : std::uint8_t {
#define RUNTIME_CALL(name, result, arguments, kind) name,
#include "softgpu/abi/runtime_calls.def"
#undef RUNTIME_CALL
};

// How a function is called, by the bytes of its parameters, so that direct calls and calls through a prototype
// agree: a scalar goes as an integer of its width, an array as a pointer to memory of the caller. One scalar
// result is returned; other results are memory of the caller, whose pointers come before the parameters.
struct Signature {
  bool returns_value() const { return results.size() == 1 && !results[0].is_array; }
  llvm::FunctionType* type(llvm::LLVMContext&) const;

  const std::vector<ptx::Parameter>& results;
  const std::vector<ptx::Parameter>& parameters;
};

class ModuleLowering {
 public:
  ModuleLowering(llvm::LLVMContext&, const ptx::Module&, const ptx::Function& kernel);
  // Declares what the kernel can reach, and has each function's body made by `fill`.
  using Fill = std::function<void(ModuleLowering&, const ptx::Function& source, llvm::Function& target)>;
  std::unique_ptr<llvm::Module> run(const Fill& fill);

  llvm::LLVMContext& context() { return module_->getContext(); }
  const ptx::Module& source() const { return source_; }
  const CallGraph& call_graph() const { return call_graph_; }

  llvm::Function* mark(abi::Mark);
  llvm::Function* runtime_call(RuntimeCall);
  llvm::Function* function(std::uint32_t index);
  llvm::GlobalVariable* variable(std::uint32_t index);
  std::uint32_t shared_offset(const ptx::Variable&) const;
  std::uint32_t reserved_shared_bytes() const { return reserved_shared_bytes_; }
  // What is said of a line of the PTX by the code that it becomes.
  llvm::DebugLoc line(std::uint32_t number);

 private:
  void declare(std::uint32_t index);

  const ptx::Module& source_;
  const ptx::Function& kernel_;
  CallGraph call_graph_;
  std::map<const ptx::Variable*, std::uint32_t> shared_offsets_;
  std::uint32_t reserved_shared_bytes_ = 0;
  std::unique_ptr<llvm::Module> module_;
  std::map<std::uint32_t, llvm::Function*> functions_;
  llvm::DISubprogram* lines_ = nullptr;
};

}  // namespace softgpu::lower
