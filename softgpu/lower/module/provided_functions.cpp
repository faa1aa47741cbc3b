#include "softgpu/lower/module/provided_functions.hpp"

#include <cstddef>
#include <initializer_list>
#include <stdexcept>
#include <string>

#include "softgpu/abi/kernel.hpp"

namespace softgpu::lower {
namespace {

using abi::Mark;
using llvm::Value;

Value* pointer(Builder& ir, Value* address) { return ir.CreateIntToPtr(address, ir.getPtrTy()); }

// Some compilers declare it without its result.
void define_vprintf(ModuleLowering& m, Builder& ir, llvm::Function& f) {
  Value* count =
      ir.CreateCall(m.runtime_call(RuntimeCall::vprintf), {pointer(ir, f.getArg(0)), pointer(ir, f.getArg(1))});
  if (f.getReturnType()->isVoidTy())
    ir.CreateRetVoid();
  else
    ir.CreateRet(count);
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

void define_set_conditional(ModuleLowering& m, Builder& ir, llvm::Function& f) {
  ir.CreateCall(m.runtime_call(RuntimeCall::set_conditional), {f.getArg(0), f.getArg(1)});
  ir.CreateRetVoid();
}

void define_graph_launch(ModuleLowering& m, Builder& ir, llvm::Function& f) {
  ir.CreateRet(ir.CreateCall(m.runtime_call(RuntimeCall::launch_graph), {f.getArg(0), f.getArg(1)}));
}

void define_set_node_parameter(ModuleLowering& m, Builder& ir, llvm::Function& f) {
  ir.CreateRet(ir.CreateCall(m.runtime_call(RuntimeCall::set_node_parameter),
                             {f.getArg(0), f.getArg(1), pointer(ir, f.getArg(2)), f.getArg(3)}));
}

// The extents are a dim3.
void define_set_node_grid(ModuleLowering& m, Builder& ir, llvm::Function& f) {
  llvm::SmallVector<Value*, 4> arguments{f.getArg(0)};
  for (unsigned i = 0; i < 3; ++i) {
    Value* place = ir.CreateConstInBoundsGEP1_64(ir.getInt32Ty(), f.getArg(1), i);
    arguments.push_back(ir.CreateAlignedLoad(ir.getInt32Ty(), place, llvm::Align(4)));
  }
  ir.CreateRet(ir.CreateCall(m.runtime_call(RuntimeCall::set_node_grid), arguments));
}

void define_set_node_enabled(ModuleLowering& m, Builder& ir, llvm::Function& f) {
  Value* enabled = ir.CreateAnd(f.getArg(1), 0xff);  // a bool
  ir.CreateRet(ir.CreateCall(m.runtime_call(RuntimeCall::set_node_enabled), {f.getArg(0), enabled}));
}

void define_update_nodes(ModuleLowering& m, Builder& ir, llvm::Function& f) {
  ir.CreateRet(ir.CreateCall(m.runtime_call(RuntimeCall::update_nodes), {pointer(ir, f.getArg(0)), f.getArg(1)}));
}

Value* product(ModuleLowering& m, Builder& ir, std::initializer_list<Mark> sizes) {
  Value* result = ir.getInt32(1);
  for (Mark size : sizes) result = ir.CreateMul(result, ir.CreateCall(m.mark(size)));
  return result;
}

Value* are_zero(ModuleLowering& m, Builder& ir, std::initializer_list<Mark> indices) {
  Value* bits = ir.getInt32(0);
  for (Mark index : indices) bits = ir.CreateOr(bits, ir.CreateCall(m.mark(index)));
  return ir.CreateICmpEQ(bits, ir.getInt32(0));
}

// A grid is known by its workspace. There is none, and so no handle, unless it was launched to cooperate.
void define_grid_handle(ModuleLowering& m, Builder& ir, llvm::Function&) {
  ir.CreateRet(ir.CreateCall(m.mark(Mark::workspace)));
}

// handle, flags. As in CUDA's cooperative_groups: one thread of each block adds to a number, whose sign changes when
// all have.
void define_grid_sync(ModuleLowering& m, Builder& ir, llvm::Function& f) {
  const auto block_barrier = [&] { ir.CreateCall(m.mark(Mark::barrier_sync), {ir.getInt32(0), ir.getInt32(0)}); };
  auto* arrive = llvm::BasicBlock::Create(m.context(), "arrive", &f);
  auto* wait = llvm::BasicBlock::Create(m.context(), "wait", &f);
  auto* passed = llvm::BasicBlock::Create(m.context(), "passed", &f);
  block_barrier();
  ir.CreateCondBr(are_zero(m, ir, {Mark::tid_x, Mark::tid_y, Mark::tid_z}), arrive, passed);

  ir.SetInsertPoint(arrive);
  Value* others = ir.CreateSub(product(m, ir, {Mark::nctaid_x, Mark::nctaid_y, Mark::nctaid_z}), ir.getInt32(1));
  Value* share = ir.CreateSelect(are_zero(m, ir, {Mark::ctaid_x, Mark::ctaid_y, Mark::ctaid_z}),
                                 ir.CreateSub(ir.getInt32(0x80000000U), others), ir.getInt32(1));
  Value* number = pointer(ir, ir.CreateAdd(f.getArg(0), ir.getInt64(offsetof(abi::GridWorkspace, barrier))));
  Value* before =
      ir.CreateAtomicRMW(llvm::AtomicRMWInst::Add, number, share, llvm::Align(4), llvm::AtomicOrdering::AcquireRelease);
  ir.CreateBr(wait);

  ir.SetInsertPoint(wait);
  llvm::LoadInst* now = ir.CreateAlignedLoad(ir.getInt32Ty(), number, llvm::Align(4));
  now->setAtomic(llvm::AtomicOrdering::Acquire);
  ir.CreateCondBr(ir.CreateICmpSLT(ir.CreateXor(before, now), ir.getInt32(0)), passed, wait);

  ir.SetInsertPoint(passed);
  block_barrier();
  ir.CreateRet(ir.getInt32(0));
}

struct Provided {
  std::string_view name;
  std::string_view shape;  // bytes of the result, then of each parameter
  void (*define)(ModuleLowering&, Builder&, llvm::Function&);
};

constexpr Provided kProvided[] = {
    {"vprintf", "4:88", define_vprintf},
    {"vprintf", ":88", define_vprintf},
    {"__assertfail", ":88488", define_assertfail},
    {"malloc", "8:8", define_malloc},
    {"free", ":8", define_free},
    {"cudaGraphSetConditional", ":84", define_set_conditional},
    {"cudaGraphLaunch", "4:88", define_graph_launch},
    {"cudaGraphKernelNodeSetParam", "4:8888", define_set_node_parameter},
    {"cudaGraphKernelNodeSetGridDim", "4:812", define_set_node_grid},
    {"cudaGraphKernelNodeSetEnabled", "4:84", define_set_node_enabled},
    {"cudaGraphKernelNodeUpdatesApply", "4:88", define_update_nodes},
    {"cudaCGGetIntrinsicHandle", "8:4", define_grid_handle},
    {"cudaCGSynchronize", "4:84", define_grid_sync},
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
