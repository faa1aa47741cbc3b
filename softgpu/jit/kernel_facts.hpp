// What can be said of a kernel from its PTX alone.
#pragma once

#include "softgpu/jit/program.hpp"
#include "softgpu/lower/lower.hpp"

namespace softgpu::jit {

KernelFacts facts_of(const lower::CallGraph&, const ptx::Function& kernel);

// How many 32-bit registers ptxas would need, about: the most that are live at a time when each register is live from
// its first to its last mention.
std::uint32_t estimate_registers(const ptx::Function&);

}  // namespace softgpu::jit
