// Where a function's registers, parameters and variables live.
#include <algorithm>

#include "softgpu/lower/function/function_lowering.hpp"

namespace softgpu::lower {

using ptx::Symbol;

llvm::AllocaInst* FunctionLowering::allocate(llvm::Type* type, std::uint32_t alignment, const llvm::Twine& name) {
  Builder at_entry(entry_);
  llvm::AllocaInst* memory = at_entry.CreateAlloca(type, nullptr, name);
  if (alignment) memory->setAlignment(llvm::Align(alignment));
  return memory;
}

llvm::AllocaInst* FunctionLowering::allocate_bytes(std::uint64_t size, std::uint32_t alignment,
                                                   const std::string& name) {
  llvm::AllocaInst* memory = allocate(llvm::ArrayType::get(ir.getInt8Ty(), size), std::max(alignment, 1u), name);
  memory->setMetadata(abi::kLocalMemory, llvm::MDNode::get(module.context(), {}));
  return memory;
}

// A register that is read before it is written holds some value. To LLVM it would have none, and a branch on it would
// mean that the code can't be reached.
llvm::AllocaInst* FunctionLowering::allocate_register(llvm::Type* type, const llvm::Twine& name) {
  llvm::AllocaInst* slot = allocate(type, 0, name);
  Builder(entry_).CreateStore(llvm::Constant::getNullValue(type), slot);
  return slot;
}

llvm::AllocaInst* FunctionLowering::storage(std::uint32_t index) {
  llvm::AllocaInst*& slot = registers_[index];
  if (!slot) slot = allocate_register(register_types_[index], source.registers[index].name);
  return slot;
}

// A kernel's parameters are in the parameter block. A device function gets scalars as values and stores them, so
// that ld.param and st.param see memory; arrays are memory of the caller.
void FunctionLowering::bind_parameters() {
  if (source.is_kernel) return;
  const Signature signature{source.results, source.parameters};
  Builder at_entry(entry_);
  auto argument = target_.arg_begin();
  for (const ptx::Parameter& result : source.results) {
    if (!signature.returns_value())
      parameter_memory_.push_back(&*argument++);
    else
      parameter_memory_.push_back(result.is_register ? nullptr
                                                     : allocate_bytes(result.size, result.alignment, result.name));
  }
  for (const ptx::Parameter& parameter : source.parameters) {
    llvm::Value* value = &*argument++;
    if (parameter.is_register) {
      parameter_memory_.push_back(nullptr);
      write_register(parameter.register_index, value);
    } else if (parameter.is_array) {
      parameter_memory_.push_back(value);
    } else {
      llvm::AllocaInst* memory = allocate_bytes(parameter.size, parameter.alignment, parameter.name);
      parameter_memory_.push_back(memory);
      ir.CreateStore(value, memory);
    }
  }
}

void FunctionLowering::return_from_function() {
  const Signature signature{source.results, source.parameters};
  if (source.is_kernel || !signature.returns_value()) {
    ir.CreateRetVoid();
    return;
  }
  const ptx::Parameter& result = source.results[0];
  llvm::Type* type = target_.getReturnType();
  if (!result.is_register) {
    ir.CreateRet(ir.CreateLoad(type, parameter_memory_[0]));
    return;
  }
  llvm::AllocaInst* slot = storage(result.register_index);
  ir.CreateRet(resize(ir, ir.CreateLoad(slot->getAllocatedType(), slot), type->getIntegerBitWidth(), false));
}

llvm::Value* FunctionLowering::memory_of(const Symbol& symbol) {
  if (symbol.kind == Symbol::Kind::parameter) {
    if (!source.is_kernel) return parameter_memory_[symbol.index];
    return displaced(call(abi::Mark::params), source.parameters[symbol.index].offset);
  }
  llvm::AllocaInst*& memory = variables_[symbol.index];
  if (!memory) {
    const ptx::Variable& variable = source.variables[symbol.index];
    memory = allocate_bytes(variable.size, variable.alignment, variable.name);
    if (variable.space == ptx::Space::local) local_memory_.push_back(memory);
  }
  return memory;
}

llvm::Value* FunctionLowering::scratch() {
  if (!scratch_) scratch_ = allocate_bytes(16, 16, "scratch");
  return scratch_;
}

llvm::Value* FunctionLowering::carry() {
  if (!carry_) carry_ = allocate_register(ir.getInt1Ty(), "carry");
  return ir.CreateLoad(ir.getInt1Ty(), carry_);
}

void FunctionLowering::set_carry(llvm::Value* value) {
  llvm::Value* previous = carry();
  ir.CreateStore(selecting_guard_ ? ir.CreateSelect(selecting_guard_, value, previous) : value, carry_);
}

}  // namespace softgpu::lower
