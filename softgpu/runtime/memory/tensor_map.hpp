// Tensor maps: what cuTensorMapEncode* demands of its arguments, after the comments in <cuda.h> and what NVIDIA's
// driver does, and what it makes of them.
#pragma once

#include <cuda.h>

#include "softgpu/abi/tensor_map.hpp"

namespace softgpu::runtime {

// What the three kinds have in common. Arrays are as long as the rank, strides by one less.
struct TensorMapRequest {
  CUtensorMapDataType data_type;
  cuuint32_t rank;
  const void* address;
  const cuuint64_t* extents;
  const cuuint64_t* strides;
  const cuuint32_t* element_strides;
  CUtensorMapInterleave interleave;
  CUtensorMapSwizzle swizzle;
  CUtensorMapL2promotion l2_promotion;
  CUtensorMapFloatOOBfill fill;
};

struct Im2colRequest {
  const int* lower_corner;  // of rank - 2 axes, from the last to the first as all others
  const int* upper_corner;
  cuuint32_t channels_per_pixel;
  cuuint32_t pixels_per_column;
};

struct Im2colWideRequest {
  int lower_corner;
  int upper_corner;
  cuuint32_t channels_per_pixel;
  cuuint32_t pixels_per_column;
  CUtensorMapIm2ColWideMode mode;
};

// Throw CUDA_ERROR_INVALID_VALUE with the rule that was broken. The address is one that a kernel will use, and not
// looked at: programs make maps of null, too, and replace it later.
abi::TensorMap encode_tiled(unsigned compute_capability, const TensorMapRequest& request, const cuuint32_t* box);
abi::TensorMap encode_im2col(unsigned compute_capability, const TensorMapRequest& request, const Im2colRequest& im2col);
abi::TensorMap encode_im2col_wide(unsigned compute_capability, const TensorMapRequest& request,
                                  const Im2colWideRequest& im2col);

// Throws CUDA_ERROR_INVALID_VALUE for bytes that are no map, and for an address that is no multiple of 16 or has more
// than 57 bits. The map may be at any address.
void replace_address(void* map, const void* address);

}  // namespace softgpu::runtime
