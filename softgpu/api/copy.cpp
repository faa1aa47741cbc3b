// Copies.
#include "softgpu/api/streams.hpp"
#include "softgpu/runtime/memory_operations.hpp"

namespace softgpu::api {
namespace {

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

// One side of a two- or three-dimensional copy.
struct Place {
  std::byte* first = nullptr;
  std::size_t pitch = 0, slice = 0;
  Side side = Side::any;
};

Place place(CUmemorytype type, const void* host, CUdeviceptr device, std::size_t pitch, std::size_t height,
            std::size_t x, std::size_t y, std::size_t z, const Copy& copy) {
  require(type != CU_MEMORYTYPE_ARRAY, CUDA_ERROR_NOT_SUPPORTED, "softgpu has no CUDA arrays");
  require(type == CU_MEMORYTYPE_HOST || type == CU_MEMORYTYPE_DEVICE || type == CU_MEMORYTYPE_UNIFIED,
          CUDA_ERROR_INVALID_VALUE, "no such type of memory");
  const std::size_t row = pitch != 0 ? pitch : x + copy.width;  // may be left out where there is one row
  const std::size_t slice = row * (height != 0 ? height : y + copy.height);
  std::byte* base = type == CU_MEMORYTYPE_HOST ? static_cast<std::byte*>(const_cast<void*>(host)) : to_pointer(device);
  require(base != nullptr, CUDA_ERROR_INVALID_VALUE, "a null pointer");
  return {base + z * slice + y * row + x, row, slice, type == CU_MEMORYTYPE_DEVICE ? Side::device : Side::any};
}

// CUDA_MEMCPY3D and CUDA_MEMCPY3D_PEER, whose fields have the same names.
template <typename Request>
Copy volume(const Request* request) {
  require_pointer(request, "no parameters");
  Copy copy{.width = request->WidthInBytes, .height = request->Height, .depth = request->Depth};
  if (copy.bytes() == 0) return copy;
  const Place to = place(request->dstMemoryType, request->dstHost, request->dstDevice, request->dstPitch,
                         request->dstHeight, request->dstXInBytes, request->dstY, request->dstZ, copy);
  const Place from = place(request->srcMemoryType, request->srcHost, request->srcDevice, request->srcPitch,
                           request->srcHeight, request->srcXInBytes, request->srcY, request->srcZ, copy);
  copy.target = to.first;
  copy.target_pitch = to.pitch;
  copy.target_slice = to.slice;
  copy.target_side = to.side;
  copy.source = from.first;
  copy.source_pitch = from.pitch;
  copy.source_slice = from.slice;
  copy.source_side = from.side;
  return copy;
}

Copy plane(const CUDA_MEMCPY2D* request) {
  require_pointer(request, "no parameters");
  const CUDA_MEMCPY3D_PEER as_volume{.srcXInBytes = request->srcXInBytes,
                                     .srcY = request->srcY,
                                     .srcMemoryType = request->srcMemoryType,
                                     .srcHost = request->srcHost,
                                     .srcDevice = request->srcDevice,
                                     .srcPitch = request->srcPitch,
                                     .dstXInBytes = request->dstXInBytes,
                                     .dstY = request->dstY,
                                     .dstMemoryType = request->dstMemoryType,
                                     .dstHost = request->dstHost,
                                     .dstDevice = request->dstDevice,
                                     .dstPitch = request->dstPitch,
                                     .WidthInBytes = request->WidthInBytes,
                                     .Height = request->Height,
                                     .Depth = 1};
  return volume(&as_volume);
}

void now(const Copy& request, NullStream null) { runtime::copy(*find_stream(nullptr, null), request); }

void in_stream(const Copy& request, CUstream stream, NullStream null) {
  runtime::copy_async(*find_stream(stream, null), request);
}

void require_contexts(CUcontext target, CUcontext source) {
  find(Driver::get().handles().contexts, target, "not a context");
  find(Driver::get().handles().contexts, source, "not a context");
}

void batch(const CUdeviceptr* targets, const CUdeviceptr* sources, const size_t* sizes, size_t count, size_t* failed,
           CUstream stream, NullStream null) {
  require(targets != nullptr && sources != nullptr && sizes != nullptr && count != 0, CUDA_ERROR_INVALID_VALUE,
          "an empty batch");
  const auto found = find_stream(stream, null);
  for (size_t i = 0; i < count; ++i) {
    if (failed != nullptr) *failed = i;
    runtime::copy_async(*found, linear(targets[i], Side::any, sources[i], Side::any, sizes[i]));
  }
}

constexpr Side kAny = Side::any, kDevice = Side::device;

}  // namespace
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

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuMemcpyPeer, _ptds,
                              (CUdeviceptr target, CUcontext target_context, CUdeviceptr source,
                               CUcontext source_context, size_t bytes),
                              [&] {
                                require_contexts(target_context, source_context);
                                now(linear(target, kDevice, source, kDevice, bytes), null_stream);
                              })

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuMemcpyPeerAsync, _ptsz,
                              (CUdeviceptr target, CUcontext target_context, CUdeviceptr source,
                               CUcontext source_context, size_t bytes, CUstream stream),
                              [&] {
                                require_contexts(target_context, source_context);
                                in_stream(linear(target, kDevice, source, kDevice, bytes), stream, null_stream);
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

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuMemcpy3DPeer, _ptds, (const CUDA_MEMCPY3D_PEER* request),
                              [&] { now(volume(request), null_stream); })

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuMemcpy3DPeerAsync, _ptsz, (const CUDA_MEMCPY3D_PEER* request, CUstream stream),
                              [&] { in_stream(volume(request), stream, null_stream); })

// The attributes say where operands are and when they may be read; both hold anyway.
SOFTGPU_FOR_BOTH_NULL_STREAMS(cuMemcpyBatchAsync, _ptsz,
                              (CUdeviceptr * targets, CUdeviceptr* sources, size_t* sizes, size_t count,
                               CUmemcpyAttributes*, size_t*, size_t, size_t* failed, CUstream stream),
                              [&] { batch(targets, sources, sizes, count, failed, stream, null_stream); })

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuMemcpyBatchAsync_v2, _ptsz,
                              (CUdeviceptr * targets, CUdeviceptr* sources, size_t* sizes, size_t count,
                               CUmemcpyAttributes*, size_t*, size_t, CUstream stream),
                              [&] { batch(targets, sources, sizes, count, nullptr, stream, null_stream); })

}  // extern "C"
