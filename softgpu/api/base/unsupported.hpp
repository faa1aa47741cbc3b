// What the generated stubs call.
#pragma once

#include <cuda.h>

namespace softgpu::api {

// CUDA_ERROR_NOT_SUPPORTED; with SOFTGPU_TRACE=unsupported it says on stderr who was called.
CUresult unsupported(const char* name);

}  // namespace softgpu::api
