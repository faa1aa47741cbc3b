// Branches, calls and the ends of threads.
#pragma once

#include "softgpu/lower/function/handler.hpp"

namespace softgpu::lower {

// control.cpp
SOFTGPU_HANDLER(lower_bra)
SOFTGPU_HANDLER(lower_brx)
SOFTGPU_HANDLER(lower_ret)
SOFTGPU_HANDLER(lower_exit)
SOFTGPU_HANDLER(lower_trap)
SOFTGPU_HANDLER(lower_nanosleep)
SOFTGPU_HANDLER(lower_nothing)
// call.cpp
SOFTGPU_HANDLER(lower_call)

}  // namespace softgpu::lower
