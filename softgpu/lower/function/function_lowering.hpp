// One PTX function to LLVM IR. What lowers instructions (handler.hpp) uses the second half of the interface.
//
// Registers are allocas, always accessed with the alloca's own type; run() promotes them to values at the end.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "softgpu/lower/function/instruction_row.hpp"
#include "softgpu/lower/module/module_lowering.hpp"

namespace softgpu::lower {

class FunctionLowering {
 public:
  FunctionLowering(ModuleLowering&, RowOf, const ptx::Function& source, llvm::Function& target);
  void run();

  // What instruction handlers build with.
  Builder ir;
  ModuleLowering& module;
  const ptx::Function& source;

  // The value of an operand as the LLVM type of `type`. A wider register is truncated, a narrower one zero-extended.
  llvm::Value* read(const ptx::Operand&, ptx::Type type);
  // A predicate operand with its '!', or a constant.
  llvm::Value* read_predicate(const ptx::Operand&);
  // Writes a value of `type`, extended by the type's signedness where the register is wider. Under a guard that is
  // done by selection, the register keeps its value where the guard is false.
  void write(const ptx::Operand& destination, llvm::Value*, ptx::Type type);
  void write_register(std::uint32_t index, llvm::Value*, bool sign_extend = false);

  // Where an address operand points. `space` is that of the instruction; none means generic.
  llvm::Value* pointer(const ptx::Operand& address, std::optional<ptx::Space> space);
  // The same at a distance in bytes.
  llvm::Value* displaced(llvm::Value* pointer, std::uint64_t bytes);
  llvm::Value* shared_base();

  llvm::Value* carry();
  void set_carry(llvm::Value*);

  llvm::CallInst* call(abi::Mark, llvm::ArrayRef<llvm::Value*> arguments = {});
  llvm::CallInst* call(RuntimeCall, llvm::ArrayRef<llvm::Value*> arguments = {});
  llvm::Value* intrinsic(llvm::Intrinsic::ID, llvm::ArrayRef<llvm::Value*> arguments);  // overloaded on the first

  llvm::Value* guard_of(const ptx::Instruction&);  // i1, or null without a guard
  llvm::BasicBlock* block_of_label(const ptx::Symbol&);
  llvm::BasicBlock* new_block(const char* name);
  // The block that control falls into behind the current instruction.
  llvm::BasicBlock* next_block();
  void return_from_function();

  // Memory of a parameter, result or variable of the body.
  llvm::Value* memory_of(const ptx::Symbol&);
  // Sixteen bytes for what a runtime call gives; they last until the next one.
  llvm::Value* scratch();
  const std::vector<llvm::AllocaInst*>& local_memory() const { return local_memory_; }

  [[noreturn]] void refuse(const ptx::Instruction&, const std::string& why) const;

 private:
  void make_blocks();
  void bind_parameters();
  void lower(const ptx::Instruction&);
  void finish();

  llvm::AllocaInst* storage(std::uint32_t register_index);
  llvm::AllocaInst* allocate(llvm::Type*, std::uint32_t alignment, const llvm::Twine& name);
  llvm::AllocaInst* allocate_register(llvm::Type*, const llvm::Twine& name);
  llvm::AllocaInst* allocate_bytes(std::uint64_t size, std::uint32_t alignment, const std::string& name);
  llvm::Value* constant(const ptx::Immediate&, ptx::Type);
  llvm::Value* address_value(const ptx::Address&);
  llvm::Value* symbol_pointer(const ptx::Symbol&);
  const ptx::Variable* variable_of(const ptx::Symbol&) const;
  bool is_shared(const ptx::Symbol&) const;

  const RowOf row_of_;
  llvm::Function& target_;
  llvm::BasicBlock* entry_ = nullptr;
  std::vector<llvm::BasicBlock*> block_at_;   // by instruction; null where no label stands
  std::vector<llvm::AllocaInst*> registers_;  // made on first use
  std::vector<llvm::Type*> register_types_;
  std::vector<llvm::AllocaInst*> variables_;  // made on first use
  std::vector<llvm::AllocaInst*> local_memory_;
  std::vector<llvm::Value*> parameter_memory_;  // results, then parameters; null for registers
  llvm::AllocaInst* carry_ = nullptr;
  llvm::AllocaInst* scratch_ = nullptr;
  llvm::Value* selecting_guard_ = nullptr;
  std::size_t current_ = 0;
};

}  // namespace softgpu::lower
