// From handles of contexts and green contexts to what they stand for.
#pragma once

#include <memory>

#include "softgpu/api/base/call.hpp"
#include "softgpu/runtime/work/green_context.hpp"

namespace softgpu::api {

// Throws CUDA_ERROR_INVALID_CONTEXT.
std::shared_ptr<Context> find_context(CUcontext handle);
// The same.
std::shared_ptr<runtime::GreenContext> find_green(CUgreenCtx handle);

}  // namespace softgpu::api
