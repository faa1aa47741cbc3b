// The formats of images that CUDA takes, and how their pixels are moved.
#pragma once

#include <cstdint>

#include "softgpu/opengl/headers.hpp"

namespace softgpu::opengl {

enum class ChannelKind : std::uint8_t { u8, u16, u32, s8, s16, s32, f16, f32 };

struct ImageFormat {
  GLenum internal_format = 0;  // as OpenGL tells it of an image
  ChannelKind kind = ChannelKind::u8;
  unsigned channels = 0;
  GLenum transfer_format = 0;  // in which pixels go in and out without a change
  GLenum transfer_type = 0;

  unsigned bytes() const;
};

// Null for one that CUDA does not take.
const ImageFormat* find_image_format(GLenum internal_format);

}  // namespace softgpu::opengl
