// Calls of device functions. How arguments travel is said at Signature.
#include "softgpu/lower/control/control.hpp"

namespace softgpu::lower {
namespace {

using llvm::Value;
using ptx::Call;
using ptx::Instruction;
using ptx::Parameter;
using ptx::Symbol;

// The .param variable that an argument or result names; null for a register or constant.
const Symbol* parameter_variable(const ptx::Operand& operand) {
  const auto* address = std::get_if<ptx::Address>(&operand.value);
  return address ? std::get_if<Symbol>(&address->base) : nullptr;
}

Value* argument(FunctionLowering& f, const ptx::Operand& operand, const Parameter& parameter) {
  const Symbol* variable = parameter_variable(operand);
  if (parameter.is_array) return f.memory_of(*variable);
  const ptx::Type type = integer_of_width(ptx::bits(parameter.type));
  if (!variable) return f.read(operand, type);
  return f.ir.CreateLoad(llvm_type(f.module.context(), type), f.memory_of(*variable));
}

llvm::SmallVector<Value*, 8> arguments_of(FunctionLowering& f, const Call& call, const Signature& signature) {
  llvm::SmallVector<Value*, 8> arguments;
  if (!signature.returns_value())
    for (const ptx::Operand& result : call.results) arguments.push_back(f.memory_of(*parameter_variable(result)));
  for (std::size_t k = 0; k < call.arguments.size(); ++k)
    arguments.push_back(argument(f, call.arguments[k], signature.parameters[k]));
  return arguments;
}

void take_result(FunctionLowering& f, const Call& call, const Signature& signature, Value* value) {
  if (!signature.returns_value() || call.results.empty()) return;
  if (const Symbol* variable = parameter_variable(call.results[0]))
    f.ir.CreateStore(value, f.memory_of(*variable));
  else
    f.write(call.results[0], value, signature.results[0].type);
}

void check_count(FunctionLowering& f, const Instruction& i, const Signature& signature) {
  if (i.call->arguments.size() != signature.parameters.size() || i.call->results.size() != signature.results.size())
    f.refuse(i, "does not pass as many arguments and results as the function has");
}

void call_direct(FunctionLowering& f, const Instruction& i, std::uint32_t index) {
  const ptx::Function& callee = f.module.source().functions[index];
  const Signature signature{callee.results, callee.parameters};
  check_count(f, i, signature);
  Value* value = f.ir.CreateCall(f.module.function(index), arguments_of(f, *i.call, signature));
  take_result(f, *i.call, signature, value);
}

// A switch over the functions that the pointer can mean; any other value traps.
void call_indirect(FunctionLowering& f, const Instruction& i, ptx::Register pointer) {
  const ptx::Prototype& prototype = f.source.prototypes[i.call->prototype];
  const Signature signature{prototype.results, prototype.parameters};
  check_count(f, i, signature);
  Value* address = f.read({.value = pointer, .negated = false, .where = i.where}, ptx::Type::u64);
  llvm::SmallVector<Value*, 8> arguments = arguments_of(f, *i.call, signature);

  llvm::BasicBlock* invalid = f.new_block("no.such.function");
  llvm::BasicBlock* done = f.new_block("called");
  const std::vector<std::uint32_t> candidates = f.module.call_graph().candidates(prototype);
  llvm::SwitchInst* choice = f.ir.CreateSwitch(address, invalid, static_cast<unsigned>(candidates.size()));
  for (std::uint32_t index : candidates) {
    llvm::BasicBlock* target = f.new_block("call");
    choice->addCase(f.ir.getInt64(function_address(index)), target);
    f.ir.SetInsertPoint(target);
    take_result(f, *i.call, signature, f.ir.CreateCall(f.module.function(index), arguments));
    f.ir.CreateBr(done);
  }
  f.ir.SetInsertPoint(invalid);
  f.call(RuntimeCall::trap);
  f.ir.CreateUnreachable();
  f.ir.SetInsertPoint(done);
}

}  // namespace

void lower_call(FunctionLowering& f, const Instruction& i) {
  if (const auto* symbol = std::get_if<Symbol>(&i.call->callee)) return call_direct(f, i, symbol->index);
  if (i.call->prototype >= f.source.prototypes.size()) f.refuse(i, "needs the prototype of the called function");
  call_indirect(f, i, std::get<ptx::Register>(i.call->callee));
}

}  // namespace softgpu::lower
