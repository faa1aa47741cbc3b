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

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "softgpu/ptx/ast.hpp"

namespace llvm {
class LLVMContext;
class Module;
}  // namespace llvm

namespace softgpu::lower {

// Where a kernel's shared variables are: those of the module that the kernel and the functions it can reach
// name, then those of their bodies, in declaration order. Extern unsized arrays all start at `static_bytes`.
struct SharedLayout {
  struct Entry {
    const ptx::Variable* variable;
    std::uint32_t offset;
  };
  std::vector<Entry> entries;
  std::uint32_t static_bytes =
      0;                        // rounded up to the largest alignment of an extern array, at least 16 when one exists
  std::uint32_t alignment = 1;  // of all of it: the largest of a variable
};
SharedLayout shared_layout(const ptx::Module&, const ptx::Function& kernel);

// The address of a device function as PTX code sees it: a number made from its place in the module, the same in
// every kernel. Indirect calls are a choice between the functions that fit, so this is nothing to jump to.
constexpr std::uint64_t function_address(std::size_t index_in_module) { return (index_in_module + 1) * 16; }

// What keeps a kernel from running: functions it can reach that are declared but defined nowhere and that softgpu
// does not provide. Empty when all is there. Meant for module loading, so that the refusal comes early.
std::vector<std::string> missing_functions(const ptx::Module&, const ptx::Function& kernel);

// Throws std::runtime_error with the PTX line for what can't be lowered.
std::unique_ptr<llvm::Module> lower_kernel(llvm::LLVMContext&, const ptx::Module&, const ptx::Function& kernel);

}  // namespace softgpu::lower
