// Integers, bits and comparisons.
#pragma once

#include "softgpu/lower/function/handler.hpp"

namespace softgpu::lower {

inline bool is_signed(const ptx::Instruction& i) { return ptx::is_signed(element_of(i.types[0])); }

// integer.cpp: those of add … max also take floats, and hand them on to float.cpp
SOFTGPU_HANDLER(lower_add)
SOFTGPU_HANDLER(lower_sub)
SOFTGPU_HANDLER(lower_mul)
SOFTGPU_HANDLER(lower_mad)
SOFTGPU_HANDLER(lower_mul24)
SOFTGPU_HANDLER(lower_mad24)
SOFTGPU_HANDLER(lower_sad)
SOFTGPU_HANDLER(lower_abs)
SOFTGPU_HANDLER(lower_neg)
SOFTGPU_HANDLER(lower_min)
SOFTGPU_HANDLER(lower_max)
SOFTGPU_HANDLER(lower_dp4a)
SOFTGPU_HANDLER(lower_dp2a)
// video.cpp
SOFTGPU_HANDLER(lower_vadd2)
SOFTGPU_HANDLER(lower_vadd4)
SOFTGPU_HANDLER(lower_vsub2)
SOFTGPU_HANDLER(lower_vsub4)
SOFTGPU_HANDLER(lower_vabsdiff2)
SOFTGPU_HANDLER(lower_vabsdiff4)
SOFTGPU_HANDLER(lower_vmin2)
SOFTGPU_HANDLER(lower_vmin4)
SOFTGPU_HANDLER(lower_vmax2)
SOFTGPU_HANDLER(lower_vmax4)
SOFTGPU_HANDLER(lower_vavrg2)
SOFTGPU_HANDLER(lower_vavrg4)
// division.cpp
SOFTGPU_HANDLER(lower_div)
SOFTGPU_HANDLER(lower_rem)
// carry.cpp
SOFTGPU_HANDLER(lower_addc)
SOFTGPU_HANDLER(lower_subc)
SOFTGPU_HANDLER(lower_madc)
// bits.cpp, bit_fields.cpp
SOFTGPU_HANDLER(lower_and)
SOFTGPU_HANDLER(lower_or)
SOFTGPU_HANDLER(lower_xor)
SOFTGPU_HANDLER(lower_not)
SOFTGPU_HANDLER(lower_cnot)
SOFTGPU_HANDLER(lower_lop3)
SOFTGPU_HANDLER(lower_shl)
SOFTGPU_HANDLER(lower_shr)
SOFTGPU_HANDLER(lower_shf)
SOFTGPU_HANDLER(lower_popc)
SOFTGPU_HANDLER(lower_clz)
SOFTGPU_HANDLER(lower_bfind)
SOFTGPU_HANDLER(lower_fns)
SOFTGPU_HANDLER(lower_brev)
SOFTGPU_HANDLER(lower_bfe)
SOFTGPU_HANDLER(lower_bfi)
SOFTGPU_HANDLER(lower_bmsk)
SOFTGPU_HANDLER(lower_szext)
SOFTGPU_HANDLER(lower_prmt)
// compare.cpp
SOFTGPU_HANDLER(lower_setp)
SOFTGPU_HANDLER(lower_set)
SOFTGPU_HANDLER(lower_selp)
SOFTGPU_HANDLER(lower_slct)

}  // namespace softgpu::lower
