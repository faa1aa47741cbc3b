// The Op of a host function, which runs on the thread for them.
#pragma once

#include <cuda.h>

#include <functional>
#include <memory>

#include "softgpu/runtime/work/op.hpp"

namespace softgpu::runtime {

// What host functions do when the context has failed by the time it is their turn.
enum class AfterError { skipped, called };

// The function gets the context's state.
OpRef make_host_function_op(std::shared_ptr<Context> context, std::function<void(CUresult)> function,
                            AfterError after_error = AfterError::skipped);

}  // namespace softgpu::runtime
