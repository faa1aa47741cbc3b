// Valid PTX that can't be run though each instruction of it can: found before anything is compiled, so that a module is
// refused when it is loaded.
#pragma once

#include <vector>

#include "softgpu/ptx/ast.hpp"
#include "softgpu/ptx/diagnostic.hpp"

namespace softgpu::lower {

// In what kernels can reach.
std::vector<ptx::DiagnosticInPart> refusals(const ptx::Module&);

}  // namespace softgpu::lower
