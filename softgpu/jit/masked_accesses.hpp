// Masked accesses that the CPU has no instruction for: of bytes and 16-bit values at addresses of each lane's own,
// above all.
#pragma once

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace softgpu::jit {

// LLVM would make a branch for each lane of them. Makes code without branches: bytes are picked out of gathered words,
// and where there is no gather or scatter at all, lanes that are off access a place of the function's own.
void expand_masked_accesses(llvm::Module&, const llvm::TargetMachine&);

}  // namespace softgpu::jit
