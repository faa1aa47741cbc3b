// CUDA arrays, and copies of bytes from and to them.
#include "softgpu/runtime/memory/array.hpp"

#include "softgpu/api/memory/array_places.hpp"
#include "softgpu/api/work/streams.hpp"
#include "softgpu/runtime/base/device.hpp"
#include "softgpu/runtime/graphs/submit.hpp"

namespace softgpu::api {
namespace {

using runtime::Array;
using runtime::Copy;
using runtime::MipmappedArray;
using runtime::Side;

std::shared_ptr<Array> find_array(CUarray handle) {
  return find(Driver::get().memory().arrays, handle, "not an array, or one that was destroyed");
}
std::shared_ptr<MipmappedArray> find_mipmapped(CUmipmappedArray handle) {
  return find(Driver::get().memory().mipmapped_arrays, handle, "not a mipmapped array, or one that was destroyed");
}

void check_device(CUdevice device) { Driver::get().device(device); }

// One side of a copy of bytes.
struct Bytes {
  std::byte* first;
  Side side;
};

// From an offset on in a one-dimensional array, or in the rows of a two-dimensional one, one after the other.
Bytes in_array(CUarray handle, std::size_t offset, std::size_t count) {
  const texture::Level& level = find_array(handle)->image().levels[0];
  require(offset <= level.slice_bytes && count <= level.slice_bytes - offset, CUDA_ERROR_INVALID_VALUE,
          "the copy reaches beyond the array");
  return {level.base + offset, Side::device};
}
Bytes in_memory(const void* pointer) { return {static_cast<std::byte*>(const_cast<void*>(pointer)), Side::any}; }
Bytes in_memory(CUdeviceptr pointer) { return {runtime::to_pointer(pointer), Side::device}; }

Copy line(const Bytes& target, const Bytes& source, std::size_t count) {
  return {.target = target.first,
          .source = source.first,
          .width = count,
          .target_side = target.side,
          .source_side = source.side};
}

void now(const Copy& copy, NullStream null) {
  runtime::copy(Driver::get().memory(), *find_stream(nullptr, null), copy);
}

}  // namespace
}  // namespace softgpu::api

using namespace softgpu::api;

extern "C" {

CUresult cuArray3DCreate_v2(CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR* descriptor) {
  return call_in_context(__func__, [&](Context& context) {
    require_pointer(array);
    require_pointer(descriptor, "no descriptor");
    *array = Driver::get().memory().arrays.add(Array::create(Driver::get().memory(), context, *descriptor));
  });
}

CUresult cuArrayCreate_v2(CUarray* array, const CUDA_ARRAY_DESCRIPTOR* descriptor) {
  return call_in_context(__func__, [&](Context& context) {
    require_pointer(array);
    require_pointer(descriptor, "no descriptor");
    const CUDA_ARRAY3D_DESCRIPTOR full{.Width = descriptor->Width,
                                       .Height = descriptor->Height,
                                       .Depth = 0,
                                       .Format = descriptor->Format,
                                       .NumChannels = descriptor->NumChannels,
                                       .Flags = 0};
    *array = Driver::get().memory().arrays.add(Array::create(Driver::get().memory(), context, full));
  });
}

CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR* descriptor, CUarray array) {
  return call_in_context(__func__, [&](Context&) {
    require_pointer(descriptor);
    *descriptor = find_array(array)->descriptor();
  });
}

CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR* descriptor, CUarray array) {
  return call_in_context(__func__, [&](Context&) {
    require_pointer(descriptor);
    const CUDA_ARRAY3D_DESCRIPTOR& full = find_array(array)->descriptor();
    *descriptor = {.Width = full.Width, .Height = full.Height, .Format = full.Format, .NumChannels = full.NumChannels};
  });
}

CUresult cuArrayDestroy(CUarray array) {
  return call_in_context(__func__, [&](Context&) { runtime::destroy_array(Driver::get().memory(), array); });
}

// For arrays that get their memory later, or that have several planes: there are none here.
CUresult cuArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS* requirements, CUarray array, CUdevice device) {
  return call_in_context(__func__, [&](Context&) {
    require_pointer(requirements);
    check_device(device);
    find_array(array);
    throw Failure(CUDA_ERROR_INVALID_VALUE, "the array has its memory already (no CUDA_ARRAY3D_DEFERRED_MAPPING)");
  });
}
CUresult cuArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES* properties, CUarray array) {
  return call_in_context(__func__, [&](Context&) {
    require_pointer(properties);
    find_array(array);
    throw Failure(CUDA_ERROR_INVALID_VALUE, "the array is not sparse");
  });
}
CUresult cuArrayGetPlane(CUarray* plane, CUarray array, unsigned) {
  return call_in_context(__func__, [&](Context&) {
    require_pointer(plane);
    find_array(array);
    throw Failure(CUDA_ERROR_INVALID_VALUE, "the array's format has no planes");
  });
}

CUresult cuMipmappedArrayCreate(CUmipmappedArray* array, const CUDA_ARRAY3D_DESCRIPTOR* descriptor, unsigned levels) {
  return call_in_context(__func__, [&](Context& context) {
    require_pointer(array);
    require_pointer(descriptor, "no descriptor");
    *array = Driver::get().memory().mipmapped_arrays.add(
        MipmappedArray::create(Driver::get().memory(), context, *descriptor, levels));
  });
}

CUresult cuMipmappedArrayGetLevel(CUarray* level_array, CUmipmappedArray array, unsigned level) {
  return call_in_context(__func__, [&](Context&) {
    require_pointer(level_array);
    *level_array = find_mipmapped(array)->level(level);
  });
}

CUresult cuMipmappedArrayDestroy(CUmipmappedArray array) {
  return call_in_context(__func__, [&](Context&) { runtime::destroy_mipmapped_array(Driver::get().memory(), array); });
}

CUresult cuMipmappedArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS* requirements, CUmipmappedArray array,
                                               CUdevice device) {
  return call_in_context(__func__, [&](Context&) {
    require_pointer(requirements);
    check_device(device);
    find_mipmapped(array);
    throw Failure(CUDA_ERROR_INVALID_VALUE, "the array has its memory already (no CUDA_ARRAY3D_DEFERRED_MAPPING)");
  });
}
CUresult cuMipmappedArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES* properties, CUmipmappedArray array) {
  return call_in_context(__func__, [&](Context&) {
    require_pointer(properties);
    find_mipmapped(array);
    throw Failure(CUDA_ERROR_INVALID_VALUE, "the array is not sparse");
  });
}

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuMemcpyHtoA_v2, _ptds, (CUarray target, size_t offset, const void* source, size_t bytes),
                              [&] {
                                now(line(in_array(target, offset, bytes), in_memory(source), bytes), null_stream);
                              })

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuMemcpyAtoH_v2, _ptds, (void* target, CUarray source, size_t offset, size_t bytes), [&] {
  now(line(in_memory(target), in_array(source, offset, bytes), bytes), null_stream);
})

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuMemcpyDtoA_v2, _ptds, (CUarray target, size_t offset, CUdeviceptr source, size_t bytes),
                              [&] {
                                now(line(in_array(target, offset, bytes), in_memory(source), bytes), null_stream);
                              })

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuMemcpyAtoD_v2, _ptds, (CUdeviceptr target, CUarray source, size_t offset, size_t bytes),
                              [&] {
                                now(line(in_memory(target), in_array(source, offset, bytes), bytes), null_stream);
                              })

SOFTGPU_FOR_BOTH_NULL_STREAMS(
    cuMemcpyAtoA_v2, _ptds, (CUarray target, size_t target_offset, CUarray source, size_t source_offset, size_t bytes),
    [&] {
      now(line(in_array(target, target_offset, bytes), in_array(source, source_offset, bytes), bytes), null_stream);
    })

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuMemcpyHtoAAsync_v2, _ptsz,
                              (CUarray target, size_t offset, const void* source, size_t bytes, CUstream stream), [&] {
                                runtime::submit_copy(Driver::get().graphs(), *find_stream(stream, null_stream),
                                                     line(in_array(target, offset, bytes), in_memory(source), bytes));
                              })

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuMemcpyAtoHAsync_v2, _ptsz,
                              (void* target, CUarray source, size_t offset, size_t bytes, CUstream stream), [&] {
                                runtime::submit_copy(Driver::get().graphs(), *find_stream(stream, null_stream),
                                                     line(in_memory(target), in_array(source, offset, bytes), bytes));
                              })

}  // extern "C"
