// Functions that CUDA's headers declare and the driver provides: printf, assert, malloc, free; and of those that come
// as machine code in libcudadevrt.a, the barrier of a grid.
#pragma once

#include "softgpu/lower/module/module_lowering.hpp"

namespace softgpu::lower {

bool is_provided(const ptx::Function&);

// Gives a declared function a body that calls the runtime. Throws std::runtime_error for one we do not know.
void define_provided(ModuleLowering&, const ptx::Function&, llvm::Function& target);

}  // namespace softgpu::lower
