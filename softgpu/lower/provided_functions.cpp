#include "softgpu/lower/provided_functions.hpp"

#include <stdexcept>
#include <string>

namespace softgpu::lower {
namespace {

using abi::Mark;
using llvm::Value;

Value* pointer(Builder& ir, Value* address) { return ir.CreateIntToPtr(address, ir.getPtrTy()); }

void define_vprintf(ModuleLowering& m, Builder& ir, llvm::Function& f) {
  ir.CreateRet(
      ir.CreateCall(m.runtime_call(RuntimeCall::vprintf), {pointer(ir, f.getArg(0)), pointer(ir, f.getArg(1))}));
}

// message, file, line, function, size of a character
void define_assertfail(ModuleLowering& m, Builder& ir, llvm::Function& f) {
  llvm::SmallVector<Value*, 10> arguments{pointer(ir, f.getArg(0)), pointer(ir, f.getArg(1)), f.getArg(2),
                                          pointer(ir, f.getArg(3))};
  for (Mark mark : {Mark::ctaid_x, Mark::ctaid_y, Mark::ctaid_z, Mark::tid_x, Mark::tid_y, Mark::tid_z})
    arguments.push_back(ir.CreateCall(m.mark(mark)));
  ir.CreateCall(m.runtime_call(RuntimeCall::assert_fail), arguments);
  ir.CreateUnreachable();
}

void define_malloc(ModuleLowering& m, Builder& ir, llvm::Function& f) {
  Value* memory = ir.CreateCall(m.runtime_call(RuntimeCall::malloc), {f.getArg(0)});
  ir.CreateRet(ir.CreatePtrToInt(memory, ir.getInt64Ty()));
}

void define_free(ModuleLowering& m, Builder& ir, llvm::Function& f) {
  ir.CreateCall(m.runtime_call(RuntimeCall::free), {pointer(ir, f.getArg(0))});
  ir.CreateRetVoid();
}

struct Provided {
  std::string_view name;
  std::string_view shape;  // bytes of the result, then of each parameter
  void (*define)(ModuleLowering&, Builder&, llvm::Function&);
};

constexpr Provided kProvided[] = {
    {"vprintf", "4:88", define_vprintf},
    {"__assertfail", ":88488", define_assertfail},
    {"malloc", "8:8", define_malloc},
    {"free", ":8", define_free},
};

std::string shape_of(const ptx::Function& function) {
  std::string shape;
  for (const ptx::Parameter& result : function.results) shape += std::to_string(result.size);
  shape += ':';
  for (const ptx::Parameter& parameter : function.parameters) shape += std::to_string(parameter.size);
  return shape;
}

const Provided* provided(const ptx::Function& function) {
  for (const Provided& candidate : kProvided)
    if (candidate.name == function.name && candidate.shape == shape_of(function)) return &candidate;
  return nullptr;
}

}  // namespace

bool is_provided(const ptx::Function& function) { return provided(function) != nullptr; }

void define_provided(ModuleLowering& module, const ptx::Function& function, llvm::Function& target) {
  const Provided* known = provided(function);
  if (!known)
    throw std::runtime_error("the function '" + function.name +
                             "' is called but defined nowhere; link the module with the one that defines it");
  Builder ir(llvm::BasicBlock::Create(module.context(), "entry", &target));
  known->define(module, ir, target);
}

}  // namespace softgpu::lower
