// Floating point, and conversions.
#pragma once

#include "softgpu/lower/function/handler.hpp"

namespace softgpu::lower {

// float.cpp
SOFTGPU_HANDLER(lower_float_add)
SOFTGPU_HANDLER(lower_float_sub)
SOFTGPU_HANDLER(lower_float_mul)
SOFTGPU_HANDLER(lower_fma)
SOFTGPU_HANDLER(lower_float_div)
SOFTGPU_HANDLER(lower_rcp)
SOFTGPU_HANDLER(lower_sqrt)
SOFTGPU_HANDLER(lower_float_abs)
SOFTGPU_HANDLER(lower_float_neg)
SOFTGPU_HANDLER(lower_float_min)
SOFTGPU_HANDLER(lower_float_max)
SOFTGPU_HANDLER(lower_copysign)
SOFTGPU_HANDLER(lower_testp)
// approximations.cpp
SOFTGPU_HANDLER(lower_rsqrt)
SOFTGPU_HANDLER(lower_sin)
SOFTGPU_HANDLER(lower_cos)
SOFTGPU_HANDLER(lower_lg2)
SOFTGPU_HANDLER(lower_ex2)
SOFTGPU_HANDLER(lower_tanh)
// convert.cpp
SOFTGPU_HANDLER(lower_cvt)

}  // namespace softgpu::lower
