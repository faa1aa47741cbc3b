// What the batched entry points have in common.
#pragma once

#include <cstddef>

#include "softgpu/api/work/streams.hpp"

namespace softgpu::api {

// Whether a run may start where the next one does.
enum class EmptyRuns { refused, allowed };

// Settings that are given for runs of a batch's operations: the k-th from operation starts[k] up to the next run's
// start. Throws CUDA_ERROR_INVALID_VALUE unless the runs cover the batch in order.
class BatchRuns {
 public:
  BatchRuns(std::size_t operations, const void* settings, const std::size_t* starts, std::size_t count,
            EmptyRuns empty = EmptyRuns::refused);

  // Which of the settings an operation has.
  std::size_t of(std::size_t operation) const;

 private:
  const std::size_t* starts_;
  std::size_t count_;
};

bool is_legacy(CUstream stream, NullStream null);

// As find_stream(); batches are not for the legacy default stream.
std::shared_ptr<runtime::Stream> find_batch_stream(CUstream stream, NullStream null);

}  // namespace softgpu::api
