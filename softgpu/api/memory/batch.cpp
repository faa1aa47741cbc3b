#include "softgpu/api/memory/batch.hpp"

#include <algorithm>

namespace softgpu::api {

BatchRuns::BatchRuns(std::size_t operations, const void* settings, const std::size_t* starts, std::size_t count,
                     EmptyRuns empty)
    : starts_(starts), count_(count) {
  require(settings != nullptr && starts != nullptr && count != 0, CUDA_ERROR_INVALID_VALUE,
          "the operations of a batch need settings");
  require(starts[0] == 0, CUDA_ERROR_INVALID_VALUE, "the first settings are for the first operation");
  for (std::size_t i = 1; i < count; ++i)
    require(starts[i] > starts[i - 1] || (empty == EmptyRuns::allowed && starts[i] == starts[i - 1]),
            CUDA_ERROR_INVALID_VALUE, "runs of a batch's operations come in order");
  require(starts[count - 1] < operations, CUDA_ERROR_INVALID_VALUE, "settings for operations that are not there");
}

std::size_t BatchRuns::of(std::size_t operation) const {
  return static_cast<std::size_t>(std::upper_bound(starts_, starts_ + count_, operation) - starts_ - 1);
}

bool is_legacy(CUstream stream, NullStream null) {
  return stream == CU_STREAM_LEGACY || (stream == nullptr && null == NullStream::legacy);
}

std::shared_ptr<runtime::Stream> find_batch_stream(CUstream stream, NullStream null) {
  require(!is_legacy(stream, null), CUDA_ERROR_INVALID_VALUE, "batches can't go into the legacy default stream");
  return find_stream(stream, null);
}

}  // namespace softgpu::api
