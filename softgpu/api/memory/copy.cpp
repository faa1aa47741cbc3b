// Copies.
#include "softgpu/api/memory/array_places.hpp"
#include "softgpu/api/memory/requests.hpp"
#include "softgpu/api/work/streams.hpp"
#include "softgpu/runtime/graphs/submit.hpp"

namespace softgpu::api {
namespace {

using runtime::checked_product;
using runtime::checked_sum;
using runtime::Copy;
using runtime::Side;
using runtime::to_device;
using runtime::to_pointer;

Copy linear(CUdeviceptr target, Side target_side, CUdeviceptr source, Side source_side, std::size_t bytes) {
  return {.target = to_pointer(target),
          .source = to_pointer(source),
          .width = bytes,
          .target_side = target_side,
          .source_side = source_side};
}

constexpr std::size_t kMaxPitch = 0x7fffffff;  // CU_DEVICE_ATTRIBUTE_MAX_PITCH

// What the requests say of a side. Pitch and height may be left out where they don't matter.
struct PlaceRequest {
  CUmemorytype type;
  const void* host;
  CUdeviceptr device;
  CUarray array;
  std::size_t pitch, height, x, y, z, level;
};

Place place(const PlaceRequest& side, const Copy& copy) {
  require(side.level == 0, CUDA_ERROR_INVALID_VALUE, "the level of detail must be 0");
  if (side.type == CU_MEMORYTYPE_ARRAY) return place_in_array(side.array, {side.x, side.y, side.z}, copy);
  require(side.type == CU_MEMORYTYPE_HOST || side.type == CU_MEMORYTYPE_DEVICE || side.type == CU_MEMORYTYPE_UNIFIED,
          CUDA_ERROR_INVALID_VALUE, "no such type of memory");
  require(side.pitch <= kMaxPitch && copy.width <= kMaxPitch && side.x <= kMaxPitch, CUDA_ERROR_INVALID_VALUE,
          "a row is longer than CU_DEVICE_ATTRIBUTE_MAX_PITCH");
  const std::size_t row_end = side.x + copy.width, slice_end = checked_sum(side.y, copy.height);
  const std::size_t pitch = side.pitch != 0 ? side.pitch : row_end;
  const std::size_t height = side.height != 0 ? side.height : slice_end;
  const bool rows_matter = copy.height > 1 || copy.depth > 1 || side.y > 0;
  require(!rows_matter || row_end <= pitch, CUDA_ERROR_INVALID_VALUE, "a row of the copy reaches beyond the pitch");
  const bool slices_matter = copy.depth > 1 || side.z > 0;
  require(!slices_matter || slice_end <= height, CUDA_ERROR_INVALID_VALUE,
          "a slice of the copy reaches beyond the height");
  const std::size_t slice = slices_matter ? checked_product(pitch, height) : pitch * height;
  std::byte* base =
      side.type == CU_MEMORYTYPE_HOST ? static_cast<std::byte*>(const_cast<void*>(side.host)) : to_pointer(side.device);
  require(base != nullptr, CUDA_ERROR_INVALID_VALUE, "a null pointer");
  const std::size_t offset =
      checked_sum(checked_sum(checked_product(side.z, slice), checked_product(side.y, pitch)), side.x);
  const std::size_t first = checked_sum(to_device(base), offset);
  return {to_pointer(first), pitch, slice, side.type == CU_MEMORYTYPE_DEVICE ? Side::device : Side::any};
}

// CUDA_MEMCPY3D and CUDA_MEMCPY3D_PEER, whose fields have the same names.
template <typename Request>
Copy volume(const Request* request) {
  require_pointer(request, "no parameters");
  Copy copy{.width = request->WidthInBytes, .height = request->Height, .depth = request->Depth};
  if (copy.bytes() == 0) return copy;
  const Place to =
      place({request->dstMemoryType, request->dstHost, request->dstDevice, request->dstArray, request->dstPitch,
             request->dstHeight, request->dstXInBytes, request->dstY, request->dstZ, request->dstLOD},
            copy);
  const Place from =
      place({request->srcMemoryType, request->srcHost, request->srcDevice, request->srcArray, request->srcPitch,
             request->srcHeight, request->srcXInBytes, request->srcY, request->srcZ, request->srcLOD},
            copy);
  set_target(copy, to);
  set_source(copy, from);
  return copy;
}

Copy plane(const CUDA_MEMCPY2D* request) {
  require_pointer(request, "no parameters");
  const CUDA_MEMCPY3D_PEER as_volume{.srcXInBytes = request->srcXInBytes,
                                     .srcY = request->srcY,
                                     .srcMemoryType = request->srcMemoryType,
                                     .srcHost = request->srcHost,
                                     .srcDevice = request->srcDevice,
                                     .srcArray = request->srcArray,
                                     .srcPitch = request->srcPitch,
                                     .dstXInBytes = request->dstXInBytes,
                                     .dstY = request->dstY,
                                     .dstMemoryType = request->dstMemoryType,
                                     .dstHost = request->dstHost,
                                     .dstDevice = request->dstDevice,
                                     .dstArray = request->dstArray,
                                     .dstPitch = request->dstPitch,
                                     .WidthInBytes = request->WidthInBytes,
                                     .Height = request->Height,
                                     .Depth = 1};
  return volume(&as_volume);
}

void now(const Copy& request, NullStream null) {
  runtime::copy(Driver::get().memory(), *find_stream(nullptr, null), request);
}

void in_stream(const Copy& request, CUstream stream, NullStream null) {
  runtime::submit_copy(Driver::get().graphs(), *find_stream(stream, null), request);
}

std::shared_ptr<Context> peer_context(CUcontext handle) {
  auto context = Driver::get().work().contexts.find(handle);
  require(context != nullptr, CUDA_ERROR_INVALID_CONTEXT, "not a context, or one that was destroyed");
  return context;
}

// Each side by the device of its own context, so that neither needs access to the other's memory.
Copy between(Copy copy, CUcontext target, CUcontext source) {
  copy.target_device = peer_context(target)->device().ordinal();
  copy.source_device = peer_context(source)->device().ordinal();
  return copy;
}

// The contexts of sides that are on the host don't matter.
Copy between(const CUDA_MEMCPY3D_PEER* request) {
  Copy copy = volume(request);
  const auto device_of = [](CUmemorytype type, CUcontext context) {
    const auto found = type == CU_MEMORYTYPE_HOST ? nullptr : Driver::get().work().contexts.find(context);
    return found != nullptr ? std::optional(found->device().ordinal()) : std::nullopt;
  };
  copy.target_device = device_of(request->dstMemoryType, request->dstContext);
  copy.source_device = device_of(request->srcMemoryType, request->srcContext);
  return copy;
}

// Between contexts, a copy without a stream comes after the work of both.
void between_contexts(const Copy& request, CUcontext target, CUcontext source, NullStream null) {
  for (const CUcontext handle : {target, source})
    if (handle != nullptr) peer_context(handle)->wait_idle();
  now(request, null);
}

constexpr Side kAny = Side::any, kDevice = Side::device;

}  // namespace

Copy copy_of(const CUDA_MEMCPY3D* request) { return volume(request); }

}  // namespace softgpu::api

using namespace softgpu::api;

extern "C" {

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuMemcpy, _ptds, (CUdeviceptr target, CUdeviceptr source, size_t bytes),
                              [&] { now(linear(target, kAny, source, kAny, bytes), null_stream); })

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuMemcpyAsync, _ptsz,
                              (CUdeviceptr target, CUdeviceptr source, size_t bytes, CUstream stream),
                              [&] { in_stream(linear(target, kAny, source, kAny, bytes), stream, null_stream); })

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuMemcpyHtoD_v2, _ptds, (CUdeviceptr target, const void* source, size_t bytes),
                              [&] { now(linear(target, kDevice, to_device(source), kAny, bytes), null_stream); })

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuMemcpyDtoH_v2, _ptds, (void* target, CUdeviceptr source, size_t bytes),
                              [&] { now(linear(to_device(target), kAny, source, kDevice, bytes), null_stream); })

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuMemcpyDtoD_v2, _ptds, (CUdeviceptr target, CUdeviceptr source, size_t bytes),
                              [&] { now(linear(target, kDevice, source, kDevice, bytes), null_stream); })

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuMemcpyHtoDAsync_v2, _ptsz,
                              (CUdeviceptr target, const void* source, size_t bytes, CUstream stream), [&] {
                                in_stream(linear(target, kDevice, to_device(source), kAny, bytes), stream, null_stream);
                              })

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuMemcpyDtoHAsync_v2, _ptsz,
                              (void* target, CUdeviceptr source, size_t bytes, CUstream stream), [&] {
                                in_stream(linear(to_device(target), kAny, source, kDevice, bytes), stream, null_stream);
                              })

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuMemcpyDtoDAsync_v2, _ptsz,
                              (CUdeviceptr target, CUdeviceptr source, size_t bytes, CUstream stream),
                              [&] { in_stream(linear(target, kDevice, source, kDevice, bytes), stream, null_stream); })

SOFTGPU_FOR_BOTH_NULL_STREAMS(
    cuMemcpyPeer, _ptds,
    (CUdeviceptr target, CUcontext target_context, CUdeviceptr source, CUcontext source_context, size_t bytes), [&] {
      const Copy copy = linear(target, kDevice, source, kDevice, bytes);
      between_contexts(between(copy, target_context, source_context), target_context, source_context, null_stream);
    })

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuMemcpyPeerAsync, _ptsz,
                              (CUdeviceptr target, CUcontext target_context, CUdeviceptr source,
                               CUcontext source_context, size_t bytes, CUstream stream),
                              [&] {
                                const Copy copy = linear(target, kDevice, source, kDevice, bytes);
                                in_stream(between(copy, target_context, source_context), stream, null_stream);
                              })

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuMemcpy2D_v2, _ptds, (const CUDA_MEMCPY2D* request),
                              [&] { now(plane(request), null_stream); })

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuMemcpy2DUnaligned_v2, _ptds, (const CUDA_MEMCPY2D* request),
                              [&] { now(plane(request), null_stream); })

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuMemcpy2DAsync_v2, _ptsz, (const CUDA_MEMCPY2D* request, CUstream stream),
                              [&] { in_stream(plane(request), stream, null_stream); })

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuMemcpy3D_v2, _ptds, (const CUDA_MEMCPY3D* request),
                              [&] { now(volume(request), null_stream); })

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuMemcpy3DAsync_v2, _ptsz, (const CUDA_MEMCPY3D* request, CUstream stream),
                              [&] { in_stream(volume(request), stream, null_stream); })

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuMemcpy3DPeer, _ptds, (const CUDA_MEMCPY3D_PEER* request), [&] {
  const Copy copy = between(request);
  between_contexts(copy, request->dstContext, request->srcContext, null_stream);
})

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuMemcpy3DPeerAsync, _ptsz, (const CUDA_MEMCPY3D_PEER* request, CUstream stream),
                              [&] { in_stream(between(request), stream, null_stream); })

}  // extern "C"
