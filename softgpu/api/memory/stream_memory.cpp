// Streams that wait for values in memory and write them.
#include "softgpu/runtime/memory/stream_memory.hpp"

#include <vector>

#include "softgpu/api/memory/requests.hpp"
#include "softgpu/api/work/streams.hpp"
#include "softgpu/runtime/graphs/submit.hpp"

namespace softgpu::api {
namespace {

using runtime::MemoryOperation;
using Operation = MemoryOperation::Kind;

void perform(const MemoryOperation& operation, CUstream stream, NullStream null) {
  const auto found = find_stream(stream, null);
  runtime::check(Driver::get().memory(), operation, found->context());
  runtime::submit_memory_operations(*found, {operation});
}

}  // namespace

MemoryOperation operation_of(const CUstreamBatchMemOpParams& request) {
  const auto& wait = request.waitValue;
  const auto& write = request.writeValue;
  switch (request.operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32: return {Operation::wait, wait.address, 4, wait.value, wait.flags};
    case CU_STREAM_MEM_OP_WAIT_VALUE_64: return {Operation::wait, wait.address, 8, wait.value64, wait.flags};
    case CU_STREAM_MEM_OP_WRITE_VALUE_32: return {Operation::write, write.address, 4, write.value, write.flags};
    case CU_STREAM_MEM_OP_WRITE_VALUE_64: return {Operation::write, write.address, 8, write.value64, write.flags};
    case CU_STREAM_MEM_OP_BARRIER: return {.kind = Operation::barrier, .flags = request.memoryBarrier.flags};
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
      throw Failure(CUDA_ERROR_NOT_SUPPORTED, "softgpu has no remote writes to flush");
    default: throw Failure(CUDA_ERROR_INVALID_VALUE, "no such memory operation");
  }
}

namespace {

// All are checked before the first is enqueued.
void perform(const CUstreamBatchMemOpParams* requests, unsigned count, unsigned flags, CUstream stream,
             NullStream null) {
  require(flags == 0, CUDA_ERROR_INVALID_VALUE, "flags must be 0");
  require(count == 0 || requests != nullptr, CUDA_ERROR_INVALID_VALUE, "no operations");
  const auto found = find_stream(stream, null);
  std::vector<MemoryOperation> operations;
  for (unsigned i = 0; i < count; ++i)
    runtime::check(Driver::get().memory(), operations.emplace_back(operation_of(requests[i])), found->context());
  runtime::submit_memory_operations(*found, std::move(operations));
}

}  // namespace
}  // namespace softgpu::api

using namespace softgpu::api;

extern "C" {

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuStreamWaitValue32_v2, _ptsz,
                              (CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned flags),
                              [&] { perform({Operation::wait, address, 4, value, flags}, stream, null_stream); })

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuStreamWaitValue64_v2, _ptsz,
                              (CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned flags),
                              [&] { perform({Operation::wait, address, 8, value, flags}, stream, null_stream); })

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuStreamWriteValue32_v2, _ptsz,
                              (CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned flags),
                              [&] { perform({Operation::write, address, 4, value, flags}, stream, null_stream); })

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuStreamWriteValue64_v2, _ptsz,
                              (CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned flags),
                              [&] { perform({Operation::write, address, 8, value, flags}, stream, null_stream); })

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuStreamBatchMemOp_v2, _ptsz,
                              (CUstream stream, unsigned count, CUstreamBatchMemOpParams* requests, unsigned flags),
                              [&] { perform(requests, count, flags, stream, null_stream); })

}  // extern "C"
