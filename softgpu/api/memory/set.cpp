// Setting memory.
#include "softgpu/api/work/streams.hpp"
#include "softgpu/runtime/graphs/submit.hpp"

namespace softgpu::api {
namespace {

// Like on a GPU, also the plain forms may return before it is done; what comes later in the stream sees it.
template <typename Value>
void fill(CUdeviceptr target, std::size_t pitch, Value value, std::size_t width, std::size_t height, CUstream stream,
          NullStream null) {
  runtime::submit_fill(Driver::get().graphs(), *find_stream(stream, null),
                       {.target = runtime::to_pointer(target),
                        .width = width,
                        .height = height,
                        .pitch = pitch,
                        .element_bytes = sizeof value,
                        .value = value});
}

}  // namespace
}  // namespace softgpu::api

using namespace softgpu::api;

extern "C" {

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuMemsetD8_v2, _ptds, (CUdeviceptr target, unsigned char value, size_t count),
                              [&] { fill(target, 0, value, count, 1, nullptr, null_stream); })
SOFTGPU_FOR_BOTH_NULL_STREAMS(cuMemsetD16_v2, _ptds, (CUdeviceptr target, unsigned short value, size_t count),
                              [&] { fill(target, 0, value, count, 1, nullptr, null_stream); })
SOFTGPU_FOR_BOTH_NULL_STREAMS(cuMemsetD32_v2, _ptds, (CUdeviceptr target, unsigned value, size_t count),
                              [&] { fill(target, 0, value, count, 1, nullptr, null_stream); })

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuMemsetD8Async, _ptsz,
                              (CUdeviceptr target, unsigned char value, size_t count, CUstream stream),
                              [&] { fill(target, 0, value, count, 1, stream, null_stream); })
SOFTGPU_FOR_BOTH_NULL_STREAMS(cuMemsetD16Async, _ptsz,
                              (CUdeviceptr target, unsigned short value, size_t count, CUstream stream),
                              [&] { fill(target, 0, value, count, 1, stream, null_stream); })
SOFTGPU_FOR_BOTH_NULL_STREAMS(cuMemsetD32Async, _ptsz,
                              (CUdeviceptr target, unsigned value, size_t count, CUstream stream),
                              [&] { fill(target, 0, value, count, 1, stream, null_stream); })

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuMemsetD2D8_v2, _ptds,
                              (CUdeviceptr target, size_t pitch, unsigned char value, size_t width, size_t height),
                              [&] { fill(target, pitch, value, width, height, nullptr, null_stream); })
SOFTGPU_FOR_BOTH_NULL_STREAMS(cuMemsetD2D16_v2, _ptds,
                              (CUdeviceptr target, size_t pitch, unsigned short value, size_t width, size_t height),
                              [&] { fill(target, pitch, value, width, height, nullptr, null_stream); })
SOFTGPU_FOR_BOTH_NULL_STREAMS(cuMemsetD2D32_v2, _ptds,
                              (CUdeviceptr target, size_t pitch, unsigned value, size_t width, size_t height),
                              [&] { fill(target, pitch, value, width, height, nullptr, null_stream); })

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuMemsetD2D8Async, _ptsz,
                              (CUdeviceptr target, size_t pitch, unsigned char value, size_t width, size_t height,
                               CUstream stream),
                              [&] { fill(target, pitch, value, width, height, stream, null_stream); })
SOFTGPU_FOR_BOTH_NULL_STREAMS(cuMemsetD2D16Async, _ptsz,
                              (CUdeviceptr target, size_t pitch, unsigned short value, size_t width, size_t height,
                               CUstream stream),
                              [&] { fill(target, pitch, value, width, height, stream, null_stream); })
SOFTGPU_FOR_BOTH_NULL_STREAMS(cuMemsetD2D32Async, _ptsz,
                              (CUdeviceptr target, size_t pitch, unsigned value, size_t width, size_t height,
                               CUstream stream),
                              [&] { fill(target, pitch, value, width, height, stream, null_stream); })

}  // extern "C"
