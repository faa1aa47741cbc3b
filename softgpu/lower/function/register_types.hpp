// Which LLVM type each register gets.
#pragma once

#include <vector>

#include "softgpu/lower/values/types.hpp"
#include "softgpu/ptx/ast.hpp"

namespace softgpu::lower {

// An untyped register (.b32, .b64) that is mostly used as a float becomes one, so that values which live around
// loops need no change between integer and float.
std::vector<llvm::Type*> choose_register_types(llvm::LLVMContext&, const ptx::Function&);

}  // namespace softgpu::lower
