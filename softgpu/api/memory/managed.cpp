// Managed memory: advice, prefetching and discarding, and what is known of a range.
#include <vector>

#include "softgpu/api/memory/batch.hpp"
#include "softgpu/api/work/streams.hpp"
#include "softgpu/runtime/memory/managed_memory.hpp"
#include "softgpu/runtime/memory/memory_operations.hpp"

namespace softgpu::api {
namespace {

using runtime::MemoryRange;
using runtime::Prefetch;

void prefetch(MemoryRange range, const CUmemLocation& location, CUstream stream, NullStream null) {
  const auto found = find_stream(stream, null);
  const Prefetch one{range, location};
  runtime::prefetch(Driver::get().memory(), *found, {&one, 1});
}

std::vector<MemoryRange> ranges(const CUdeviceptr* pointers, const size_t* sizes, size_t count) {
  require(pointers != nullptr && sizes != nullptr && count != 0, CUDA_ERROR_INVALID_VALUE, "an empty batch");
  std::vector<MemoryRange> result(count);
  for (size_t i = 0; i < count; ++i) result[i] = {pointers[i], sizes[i]};
  return result;
}

std::vector<Prefetch> prefetches(const std::vector<MemoryRange>& ranges, const CUmemLocation* locations,
                                 const size_t* starts, size_t count) {
  const BatchRuns runs(ranges.size(), locations, starts, count, EmptyRuns::allowed);
  std::vector<Prefetch> result(ranges.size());
  for (size_t i = 0; i < ranges.size(); ++i) result[i] = {ranges[i], locations[runs.of(i)]};
  return result;
}

}  // namespace
}  // namespace softgpu::api

using namespace softgpu::api;

extern "C" {

CUresult cuMemAllocManaged(CUdeviceptr* pointer, size_t bytes, unsigned flags) {
  return call_in_context(__func__, [&](Context& context) {
    require_pointer(pointer);
    *pointer = runtime::allocate_managed(Driver::get().memory(), context, bytes, flags);
  });
}

CUresult cuMemAdvise(CUdeviceptr pointer, size_t bytes, CUmem_advise advice, CUdevice device) {
  return call(__func__, [&] {
    if (device != CU_DEVICE_CPU) Driver::get().device(device);
    runtime::advise(Driver::get().memory(), {pointer, bytes}, advice, runtime::location_of_device(device));
  });
}
CUresult cuMemAdvise_v2(CUdeviceptr pointer, size_t bytes, CUmem_advise advice, CUmemLocation location) {
  return call(__func__, [&] { runtime::advise(Driver::get().memory(), {pointer, bytes}, advice, location); });
}

CUresult cuMemRangeGetAttribute(void* data, size_t size, CUmem_range_attribute attribute, CUdeviceptr pointer,
                                size_t bytes) {
  return call(__func__,
              [&] { runtime::get_range_attribute(Driver::get().memory(), data, size, attribute, {pointer, bytes}); });
}

CUresult cuMemRangeGetAttributes(void** data, size_t* sizes, CUmem_range_attribute* attributes, size_t count,
                                 CUdeviceptr pointer, size_t bytes) {
  return call(__func__, [&] {
    require(data != nullptr && sizes != nullptr && attributes != nullptr && count != 0, CUDA_ERROR_INVALID_VALUE,
            "no attributes");
    for (size_t i = 0; i < count; ++i)
      runtime::get_range_attribute(Driver::get().memory(), data[i], sizes[i], attributes[i], {pointer, bytes});
  });
}

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuMemPrefetchAsync, _ptsz,
                              (CUdeviceptr pointer, size_t bytes, CUdevice device, CUstream stream), [&] {
                                prefetch({pointer, bytes}, runtime::location_of_device(device), stream, null_stream);
                              })

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuMemPrefetchAsync_v2, _ptsz,
                              (CUdeviceptr pointer, size_t bytes, CUmemLocation location, unsigned flags,
                               CUstream stream),
                              [&] {
                                require_no_flags(flags);
                                prefetch({pointer, bytes}, location, stream, null_stream);
                              })

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuMemPrefetchBatchAsync, _ptsz,
                              (CUdeviceptr * pointers, size_t* sizes, size_t count, CUmemLocation* locations,
                               size_t* starts, size_t location_count, unsigned long long flags, CUstream stream),
                              [&] {
                                require_no_flags(flags);
                                const auto found = find_batch_stream(stream, null_stream);
                                const auto batch = ranges(pointers, sizes, count);
                                runtime::prefetch(Driver::get().memory(), *found,
                                                  prefetches(batch, locations, starts, location_count));
                              })

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuMemDiscardBatchAsync, _ptsz,
                              (CUdeviceptr * pointers, size_t* sizes, size_t count, unsigned long long flags,
                               CUstream stream),
                              [&] {
                                require_no_flags(flags);
                                const auto found = find_batch_stream(stream, null_stream);
                                runtime::discard(Driver::get().memory(), *found, ranges(pointers, sizes, count));
                              })

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuMemDiscardAndPrefetchBatchAsync, _ptsz,
                              (CUdeviceptr * pointers, size_t* sizes, size_t count, CUmemLocation* locations,
                               size_t* starts, size_t location_count, unsigned long long flags, CUstream stream),
                              [&] {
                                require_no_flags(flags);
                                const auto found = find_batch_stream(stream, null_stream);
                                const auto batch = ranges(pointers, sizes, count);
                                const auto to = prefetches(batch, locations, starts, location_count);
                                for (const Prefetch& one : to)
                                  runtime::checked_location(one.location, Driver::get().devices());
                                runtime::discard(Driver::get().memory(), *found, batch);
                                runtime::prefetch(Driver::get().memory(), *found, to);
                              })

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuStreamAttachMemAsync, _ptsz,
                              (CUstream stream, CUdeviceptr pointer, size_t bytes, unsigned flags), [&] {
                                const auto found = find_stream(stream, null_stream);
                                require(flags != CU_MEM_ATTACH_SINGLE || !is_legacy(stream, null_stream),
                                        CUDA_ERROR_INVALID_VALUE,
                                        "the default stream is no single stream to attach memory to");
                                runtime::attach(Driver::get().memory(), *found, {pointer, bytes}, flags);
                              })

}  // extern "C"
