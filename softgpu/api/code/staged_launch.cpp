// Launches as in CUDA 3: a kernel's block, shared memory and parameters are set one by one, then it is launched.
#include <cstring>

#include "softgpu/api/code/functions.hpp"
#include "softgpu/api/work/streams.hpp"
#include "softgpu/runtime/graphs/submit.hpp"

namespace softgpu::api {
namespace {

using runtime::StagedLaunch;

template <typename Change>
CUresult stage(const char* name, CUfunction handle, Change&& change) {
  return call_in_context(name, [&](Context& context) { find_function(handle, context)->with_staged_launch(change); });
}

void put_parameter(StagedLaunch& launch, int offset, const void* value, std::size_t bytes) {
  require(offset >= 0, CUDA_ERROR_INVALID_VALUE, "a negative offset of a parameter");
  const std::size_t end = static_cast<std::size_t>(offset) + bytes;
  require(end <= runtime::kMaxParameterBytes, CUDA_ERROR_INVALID_VALUE,
          "a parameter behind the end of what there can be");
  if (launch.parameters.size() < end) launch.parameters.resize(end);
  std::memcpy(launch.parameters.data() + offset, value, bytes);
}

CUresult launch_staged(const char* name, CUfunction handle, int width, int height, CUstream stream_handle) {
  return call(name, [&] {
    require(width > 0 && height > 0, CUDA_ERROR_INVALID_VALUE, "a grid of no blocks");
    const auto stream = find_stream(stream_handle, NullStream::legacy);
    const auto function = find_function(handle, stream->context());
    function->with_staged_launch([&](StagedLaunch& staged) {
      std::size_t bytes = staged.parameters.size();
      void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, staged.parameters.data(), CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                       CU_LAUNCH_PARAM_END};
      runtime::submit_launch(*stream, function,
                             {.grid = {static_cast<unsigned>(width), static_cast<unsigned>(height), 1},
                              .block = staged.block,
                              .dynamic_shared_bytes = staged.dynamic_shared_bytes,
                              .priority = stream->priority(),
                              .extra = extra});
    });
  });
}

}  // namespace
}  // namespace softgpu::api

using namespace softgpu::api;

extern "C" {

CUresult cuFuncSetBlockShape(CUfunction function, int x, int y, int z) {
  return stage(__func__, function, [&](StagedLaunch& launch) {
    require(x > 0 && y > 0 && z > 0, CUDA_ERROR_INVALID_VALUE, "a block of no threads");
    launch.block = {static_cast<unsigned>(x), static_cast<unsigned>(y), static_cast<unsigned>(z)};
  });
}

CUresult cuFuncSetSharedSize(CUfunction function, unsigned bytes) {
  return stage(__func__, function, [&](StagedLaunch& launch) { launch.dynamic_shared_bytes = bytes; });
}

CUresult cuParamSetSize(CUfunction function, unsigned bytes) {
  return stage(__func__, function, [&](StagedLaunch& launch) {
    require(bytes <= runtime::kMaxParameterBytes, CUDA_ERROR_INVALID_VALUE, "more parameters than there can be");
    launch.parameters.resize(bytes);
  });
}

CUresult cuParamSeti(CUfunction function, int offset, unsigned value) {
  return stage(__func__, function, [&](StagedLaunch& launch) { put_parameter(launch, offset, &value, sizeof value); });
}

CUresult cuParamSetf(CUfunction function, int offset, float value) {
  return stage(__func__, function, [&](StagedLaunch& launch) { put_parameter(launch, offset, &value, sizeof value); });
}

CUresult cuParamSetv(CUfunction function, int offset, void* value, unsigned bytes) {
  return stage(__func__, function, [&](StagedLaunch& launch) {
    require_pointer(value, "no value of a parameter");
    put_parameter(launch, offset, value, bytes);
  });
}

CUresult cuLaunch(CUfunction function) { return launch_staged(__func__, function, 1, 1, nullptr); }

CUresult cuLaunchGrid(CUfunction function, int width, int height) {
  return launch_staged(__func__, function, width, height, nullptr);
}

CUresult cuLaunchGridAsync(CUfunction function, int width, int height, CUstream stream) {
  return launch_staged(__func__, function, width, height, stream);
}

}  // extern "C"
