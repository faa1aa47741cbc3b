// CUDA's names for texel formats.
#pragma once

#include <cuda.h>

#include "softgpu/texture/texel.hpp"

namespace softgpu::runtime {

// Throws CUDA_ERROR_INVALID_VALUE for what is no format, or has not this many channels, and CUDA_ERROR_NOT_SUPPORTED
// for compressed and video formats.
texture::TexelFormat texel_format(CUarray_format format, unsigned channels);

// The format that a view gives texels which are stored as `stored`. The same errors.
texture::TexelFormat view_format(CUresourceViewFormat format, texture::TexelFormat stored);

}  // namespace softgpu::runtime
