// Batches of copies.
#include <vector>

#include "softgpu/api/memory/array_places.hpp"
#include "softgpu/api/memory/batch.hpp"
#include "softgpu/runtime/base/location.hpp"
#include "softgpu/runtime/memory/memory_operations.hpp"

namespace softgpu::api {
namespace {

using runtime::BatchedCopy;
using runtime::Copy;
using runtime::SourceAccess;
using runtime::to_pointer;

// An error that is no single copy's.
constexpr size_t kNoCopy = SIZE_MAX;

void set_failed(size_t* failed, size_t index) {
  if (failed != nullptr) *failed = index;
}

SourceAccess source_access(CUmemcpySrcAccessOrder order) {
  switch (order) {
    case CU_MEMCPY_SRC_ACCESS_ORDER_STREAM: return SourceAccess::in_stream;
    case CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL: return SourceAccess::during_call;
    case CU_MEMCPY_SRC_ACCESS_ORDER_ANY: return SourceAccess::any_time;
    default: throw Failure(CUDA_ERROR_INVALID_VALUE, "a copy has to say when its source may be read");
  }
}

void check_flags(unsigned flags) {
  constexpr unsigned kKnown = CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE;
  require((flags & ~kKnown) == 0, CUDA_ERROR_INVALID_VALUE, "unknown flags of a copy");
}

// A hint is for memory that can be in several places; elsewhere it is ignored, whatever it is.
void check_hint(const CUmemLocation& hint, CUdeviceptr pointer) {
  if (hint.type == CU_MEM_LOCATION_TYPE_INVALID) return;
  const auto extent = Driver::get().memory().allocations.extent(to_pointer(pointer), 1);
  if (extent && extent->kind == memory::Kind::managed) runtime::checked_location(hint, Driver::get().devices());
}

void copy_lines(CUdeviceptr* targets, CUdeviceptr* sources, size_t* sizes, size_t count, CUmemcpyAttributes* attributes,
                size_t* starts, size_t attribute_count, size_t* failed, CUstream stream, NullStream null) {
  set_failed(failed, kNoCopy);
  require(targets != nullptr && sources != nullptr && sizes != nullptr && count != 0, CUDA_ERROR_INVALID_VALUE,
          "an empty batch");
  const auto found = find_batch_stream(stream, null);
  const BatchRuns runs(count, attributes, starts, attribute_count);
  std::vector<BatchedCopy> batch(count);
  for (size_t i = 0; i < count; ++i) {
    const CUmemcpyAttributes& attribute = attributes[runs.of(i)];
    set_failed(failed, i);
    check_flags(attribute.flags);
    check_hint(attribute.srcLocHint, sources[i]);
    check_hint(attribute.dstLocHint, targets[i]);
    batch[i] = {.copy = {.target = to_pointer(targets[i]), .source = to_pointer(sources[i]), .width = sizes[i]},
                .access = source_access(attribute.srcAccessOrder)};
  }
  runtime::copy_batch(Driver::get().memory(), *found, batch, failed);
  set_failed(failed, kNoCopy);
}

// Where rows and layers of an operand are; what it leaves out is packed.
Place place(const CUmemcpy3DOperand& operand, const CUextent3D& extent, const Copy& copy) {
  if (operand.type == CU_MEMCPY_OPERAND_TYPE_ARRAY) {
    const CUoffset3D& offset = operand.op.array.offset;
    return place_in_array(operand.op.array.array, {offset.x, offset.y, offset.z}, copy);
  }
  require(operand.type == CU_MEMCPY_OPERAND_TYPE_POINTER, CUDA_ERROR_INVALID_VALUE, "no such type of an operand");
  const auto& memory = operand.op.ptr;
  const std::size_t pitch = memory.rowLength != 0 ? memory.rowLength : extent.width;
  const std::size_t height = memory.layerHeight != 0 ? memory.layerHeight : extent.height;
  require(pitch >= extent.width, CUDA_ERROR_INVALID_VALUE, "a row is shorter than the copy is wide");
  require(height >= extent.height, CUDA_ERROR_INVALID_VALUE, "a layer is lower than the copy is high");
  check_hint(memory.locHint, memory.ptr);
  return {to_pointer(memory.ptr), pitch, runtime::checked_product(pitch, height), runtime::Side::any};
}

BatchedCopy volume(const CUDA_MEMCPY3D_BATCH_OP& request) {
  const CUextent3D& extent = request.extent;
  require(extent.width != 0 && extent.height != 0 && extent.depth != 0, CUDA_ERROR_INVALID_VALUE, "an empty copy");
  check_flags(request.flags);
  Copy copy{.width = extent.width, .height = extent.height, .depth = extent.depth};
  set_target(copy, place(request.dst, extent, copy));
  set_source(copy, place(request.src, extent, copy));
  return {.copy = copy, .access = source_access(request.srcAccessOrder)};
}

void copy_volumes(size_t count, CUDA_MEMCPY3D_BATCH_OP* requests, size_t* failed, unsigned long long flags,
                  CUstream stream, NullStream null) {
  set_failed(failed, kNoCopy);
  require(requests != nullptr && count != 0, CUDA_ERROR_INVALID_VALUE, "an empty batch");
  require(flags == 0, CUDA_ERROR_INVALID_VALUE, "flags must be 0");
  const auto found = find_batch_stream(stream, null);
  std::vector<BatchedCopy> batch(count);
  for (size_t i = 0; i < count; ++i) {
    set_failed(failed, i);
    batch[i] = volume(requests[i]);
  }
  runtime::copy_batch(Driver::get().memory(), *found, batch, failed);
  set_failed(failed, kNoCopy);
}

}  // namespace
}  // namespace softgpu::api

using namespace softgpu::api;

extern "C" {

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuMemcpyBatchAsync, _ptsz,
                              (CUdeviceptr * targets, CUdeviceptr* sources, size_t* sizes, size_t count,
                               CUmemcpyAttributes* attributes, size_t* starts, size_t attribute_count, size_t* failed,
                               CUstream stream),
                              [&] {
                                copy_lines(targets, sources, sizes, count, attributes, starts, attribute_count, failed,
                                           stream, null_stream);
                              })

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuMemcpyBatchAsync_v2, _ptsz,
                              (CUdeviceptr * targets, CUdeviceptr* sources, size_t* sizes, size_t count,
                               CUmemcpyAttributes* attributes, size_t* starts, size_t attribute_count, CUstream stream),
                              [&] {
                                copy_lines(targets, sources, sizes, count, attributes, starts, attribute_count, nullptr,
                                           stream, null_stream);
                              })

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuMemcpy3DBatchAsync, _ptsz,
                              (size_t count, CUDA_MEMCPY3D_BATCH_OP* requests, size_t* failed, unsigned long long flags,
                               CUstream stream),
                              [&] { copy_volumes(count, requests, failed, flags, stream, null_stream); })

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuMemcpy3DBatchAsync_v2, _ptsz,
                              (size_t count, CUDA_MEMCPY3D_BATCH_OP* requests, unsigned long long flags,
                               CUstream stream),
                              [&] { copy_volumes(count, requests, nullptr, flags, stream, null_stream); })

}  // extern "C"
