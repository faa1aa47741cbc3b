// PTX of one kernel, and of all it calls, to LLVM IR of one thread.
//
// The result is a module with:
//  - the kernel as `define void @NAME()`. Everything outside the thread is a marked function (abi/marks.def)
//    or a runtime call (abi/runtime_calls.def);
//  - device functions with internal linkage, `alwaysinline` unless recursive. All calls are direct: a call through
//    a pointer is a switch over the functions whose address is taken (see function_address);
//  - module variables as external globals with their PTX names (the JIT binds them), declared with their alignment;
//  - values of scalar types only: i1..i64, i128 inside wide products, half, bfloat, float, double, ptr. No vectors,
//    no aggregates but as alloca types; no invoke, no switch on types wider than i64;
//  - pointers in address space 0: global, const, local and param addresses are host addresses. An address in the
//    shared space is an offset from the marked function `shared`; cvta adds or subtracts that base. Static shared
//    variables are laid out by shared_layout(); dynamic shared memory starts behind them.
//  - accesses carry their alignment (the size of the accessed type: PTX requires it). Loads that PTX says are
//    read-only (ld.global.nc, ld.const, ld.param) carry !invariant.load.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "softgpu/lower/module/call_graph.hpp"
#include "softgpu/lower/module/shared_layout.hpp"
#include "softgpu/ptx/ast.hpp"

namespace llvm {
class LLVMContext;
class Module;
}  // namespace llvm

namespace softgpu::lower {

// What keeps a kernel from running: functions it can reach that are declared but defined nowhere and that softgpu
// does not provide. Empty when all is there. Meant for module loading, so that the refusal comes early.
std::vector<std::string> missing_functions(const CallGraph&, const ptx::Function& kernel);

// Whether the kernel can call malloc() or free().
bool uses_heap(const CallGraph&, const ptx::Function& kernel);
// Whether the kernel calls cudaGraphLaunch().
bool launches_graphs(const CallGraph&, const ptx::Function& kernel);

// Throws std::runtime_error with the PTX line for what can't be lowered.
std::unique_ptr<llvm::Module> lower_kernel(llvm::LLVMContext&, const ptx::Module&, const ptx::Function& kernel);

}  // namespace softgpu::lower
