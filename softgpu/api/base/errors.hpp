// Names and descriptions of result codes.
#pragma once

#include <cuda.h>

namespace softgpu::api {

// "CUDA_ERROR_INVALID_VALUE"; null for a number that is no result code.
const char* error_name(CUresult code);

}  // namespace softgpu::api
