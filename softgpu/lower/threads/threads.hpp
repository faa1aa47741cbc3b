// What threads do together: barriers and warp-wide operations.
#pragma once

#include "softgpu/lower/function/handler.hpp"

namespace softgpu::lower {

// mbarrier.cpp
SOFTGPU_HANDLER(lower_mbarrier)
SOFTGPU_HANDLER(lower_cp)
// barrier.cpp
SOFTGPU_HANDLER(lower_barrier)
// warp.cpp
SOFTGPU_HANDLER(lower_shfl)
SOFTGPU_HANDLER(lower_vote)
SOFTGPU_HANDLER(lower_match)
SOFTGPU_HANDLER(lower_activemask)
SOFTGPU_HANDLER(lower_redux)
SOFTGPU_HANDLER(lower_elect)

}  // namespace softgpu::lower
