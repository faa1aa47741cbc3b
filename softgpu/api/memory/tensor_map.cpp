// Tensor maps. Nothing is asked of a map's own address: the documentation demands a multiple of 64, but NVIDIA's driver
// takes any.
#include "softgpu/runtime/memory/tensor_map.hpp"

#include "softgpu/api/base/call.hpp"
#include "softgpu/runtime/base/device.hpp"

using namespace softgpu::api;

namespace {

unsigned capability_of(const Context& context) { return context.device().compute_capability(); }

}  // namespace

extern "C" {

CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType data_type, cuuint32_t rank, void* address,
                                const cuuint64_t* extents, const cuuint64_t* strides, const cuuint32_t* box,
                                const cuuint32_t* element_strides, CUtensorMapInterleave interleave,
                                CUtensorMapSwizzle swizzle, CUtensorMapL2promotion l2_promotion,
                                CUtensorMapFloatOOBfill fill) {
  return call_in_context(__func__, [&](Context& context) {
    require_pointer(map);
    const runtime::TensorMapRequest request{data_type,       rank,       address, extents,      strides,
                                            element_strides, interleave, swizzle, l2_promotion, fill};
    runtime::encode_tiled(capability_of(context), request, box).encode(map);
  });
}

CUresult cuTensorMapEncodeIm2col(CUtensorMap* map, CUtensorMapDataType data_type, cuuint32_t rank, void* address,
                                 const cuuint64_t* extents, const cuuint64_t* strides, const int* lower_corner,
                                 const int* upper_corner, cuuint32_t channels_per_pixel, cuuint32_t pixels_per_column,
                                 const cuuint32_t* element_strides, CUtensorMapInterleave interleave,
                                 CUtensorMapSwizzle swizzle, CUtensorMapL2promotion l2_promotion,
                                 CUtensorMapFloatOOBfill fill) {
  return call_in_context(__func__, [&](Context& context) {
    require_pointer(map);
    const runtime::TensorMapRequest request{data_type,       rank,       address, extents,      strides,
                                            element_strides, interleave, swizzle, l2_promotion, fill};
    const runtime::Im2colRequest im2col{lower_corner, upper_corner, channels_per_pixel, pixels_per_column};
    runtime::encode_im2col(capability_of(context), request, im2col).encode(map);
  });
}

CUresult cuTensorMapEncodeIm2colWide(CUtensorMap* map, CUtensorMapDataType data_type, cuuint32_t rank, void* address,
                                     const cuuint64_t* extents, const cuuint64_t* strides, int lower_corner,
                                     int upper_corner, cuuint32_t channels_per_pixel, cuuint32_t pixels_per_column,
                                     const cuuint32_t* element_strides, CUtensorMapInterleave interleave,
                                     CUtensorMapIm2ColWideMode mode, CUtensorMapSwizzle swizzle,
                                     CUtensorMapL2promotion l2_promotion, CUtensorMapFloatOOBfill fill) {
  return call_in_context(__func__, [&](Context& context) {
    require_pointer(map);
    const runtime::TensorMapRequest request{data_type,       rank,       address, extents,      strides,
                                            element_strides, interleave, swizzle, l2_promotion, fill};
    const runtime::Im2colWideRequest im2col{lower_corner, upper_corner, channels_per_pixel, pixels_per_column, mode};
    runtime::encode_im2col_wide(capability_of(context), request, im2col).encode(map);
  });
}

CUresult cuTensorMapReplaceAddress(CUtensorMap* map, void* address) {
  return call_in_context(__func__, [&](Context&) {
    require_pointer(map);
    runtime::replace_address(map, address);
  });
}

}  // extern "C"
