// PTX of one kernel, and of all it calls, to LLVM IR of one thread.
//
// The result is a module with:
//  - the kernel as `define void @NAME()`. Everything outside the thread is a marked function (abi/marks.def)
//    or a runtime call (abi/runtime_calls.def);
//  - device functions with internal linkage, `alwaysinline` unless recursive or address-taken;
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

// Where a kernel's shared variables are: those of its own body, of the functions it can reach and of the
// module, in declaration order. Extern unsized arrays all start at `static_bytes`.
struct SharedLayout {
  struct Entry {
    const ptx::Variable* variable;
    std::uint32_t offset;
  };
  std::vector<Entry> entries;
  std::uint32_t static_bytes = 0;  // rounded up to the largest alignment of an extern array, at least 16 when one exists
};
SharedLayout shared_layout(const ptx::Module&, const ptx::Function& kernel);

std::unique_ptr<llvm::Module> lower_kernel(llvm::LLVMContext&, const ptx::Module&, const ptx::Function& kernel);

}  // namespace softgpu::lower
