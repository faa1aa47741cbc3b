// From the handles of external semaphores, and what is to be done with them, to the work of a stream or a node.
#pragma once

#include "softgpu/api/base/call.hpp"
#include "softgpu/runtime/graphs/graph_node.hpp"

namespace softgpu::api {

// Both throw CUDA_ERROR_INVALID_HANDLE for a semaphore that is none, else CUDA_ERROR_INVALID_VALUE.
runtime::SignalSemaphoresWork signals_of(const CUexternalSemaphore* semaphores,
                                         const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS* params, unsigned count);
runtime::WaitSemaphoresWork waits_of(const CUexternalSemaphore* semaphores,
                                     const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS* params, unsigned count);

}  // namespace softgpu::api
