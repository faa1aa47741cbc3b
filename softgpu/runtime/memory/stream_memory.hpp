// Streams that wait for values in memory and write them.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <vector>

#include "softgpu/runtime/work/op.hpp"

namespace softgpu::runtime {

struct MemoryServices;
class Stream;

// One operation of cuStreamBatchMemOp.
struct MemoryOperation {
  enum class Kind : std::uint8_t { wait, write, barrier };
  Kind kind = Kind::barrier;
  CUdeviceptr address = 0;
  unsigned bytes = 4;  // or 8
  std::uint64_t value = 0;
  unsigned flags = 0;  // CUstreamWaitValue_flags, CUstreamWriteValue_flags
};

// Throws CUDA_ERROR_INVALID_VALUE for addresses that are not a device's to use, or not the context's, and for unknown
// flags.
void check(const MemoryServices& services, const MemoryOperation& operation, const Context& context);
// All of them, one after the other, in a stream that is not captured.
void enqueue(Stream& stream, std::vector<MemoryOperation> operations);
OpRef make_op(const OpPlace& place, std::vector<MemoryOperation> operations);

}  // namespace softgpu::runtime
