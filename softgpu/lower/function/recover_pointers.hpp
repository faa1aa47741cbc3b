// PTX computes addresses as integers. Where such a computation starts at an object that LLVM knows (a local
// variable, a module variable, shared memory), this rewrites it as pointer arithmetic, so that the object can be
// promoted and told from others.
#pragma once

namespace llvm {
class Function;
}

namespace softgpu::lower {

void recover_pointers(llvm::Function&);

}  // namespace softgpu::lower
