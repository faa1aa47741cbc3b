// Memory, addresses, textures.
#pragma once

#include "softgpu/lower/function/handler.hpp"

namespace softgpu::lower {

// A vector's elements; what is none is its own.
inline llvm::ArrayRef<ptx::Operand> elements_of(const ptx::Operand& operand) {
  if (const auto* vector = std::get_if<ptx::VectorOperand>(&operand.value)) return vector->elements;
  return operand;
}

// move.cpp
SOFTGPU_HANDLER(lower_mov)
SOFTGPU_HANDLER(lower_cvta)
SOFTGPU_HANDLER(lower_isspacep)
SOFTGPU_HANDLER(lower_mapa)
SOFTGPU_HANDLER(lower_getctarank)
// memory.cpp
SOFTGPU_HANDLER(lower_ld)
SOFTGPU_HANDLER(lower_st)
SOFTGPU_HANDLER(lower_fence)
SOFTGPU_HANDLER(lower_membar)
// atomic.cpp
SOFTGPU_HANDLER(lower_atom)
SOFTGPU_HANDLER(lower_red)
// texture.cpp
SOFTGPU_HANDLER(lower_tex)
SOFTGPU_HANDLER(lower_tld4)
SOFTGPU_HANDLER(lower_txq)
SOFTGPU_HANDLER(lower_suld)
SOFTGPU_HANDLER(lower_sust)
SOFTGPU_HANDLER(lower_suq)

}  // namespace softgpu::lower
