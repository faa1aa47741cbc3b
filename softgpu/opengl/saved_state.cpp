#include "softgpu/opengl/saved_state.hpp"

namespace softgpu::opengl {
namespace {

constexpr GLenum kPacking[] = {GL_PACK_ALIGNMENT,    GL_PACK_ROW_LENGTH,  GL_PACK_SKIP_ROWS,  GL_PACK_SKIP_PIXELS,
                               GL_PACK_IMAGE_HEIGHT, GL_PACK_SKIP_IMAGES, GL_PACK_SWAP_BYTES, GL_PACK_LSB_FIRST};
constexpr GLenum kUnpacking[] = {GL_UNPACK_ALIGNMENT,   GL_UNPACK_ROW_LENGTH,   GL_UNPACK_SKIP_ROWS,
                                 GL_UNPACK_SKIP_PIXELS, GL_UNPACK_IMAGE_HEIGHT, GL_UNPACK_SKIP_IMAGES,
                                 GL_UNPACK_SWAP_BYTES,  GL_UNPACK_LSB_FIRST};

GLenum binding_of(GLenum texture_target) {
  switch (texture_target) {
    case GL_TEXTURE_RECTANGLE: return GL_TEXTURE_BINDING_RECTANGLE;
    case GL_TEXTURE_CUBE_MAP: return GL_TEXTURE_BINDING_CUBE_MAP;
    case GL_TEXTURE_3D: return GL_TEXTURE_BINDING_3D;
    case GL_TEXTURE_2D_ARRAY: return GL_TEXTURE_BINDING_2D_ARRAY;
    default: return GL_TEXTURE_BINDING_2D;
  }
}

}  // namespace

SavedTexture::SavedTexture(const CurrentContext& gl, GLenum target)
    : gl_(gl), target_(target), name_(static_cast<GLuint>(gl.integer(binding_of(target)))) {}

PlainPixels::PlainPixels(const CurrentContext& gl, Direction direction)
    : gl_(gl),
      names_(direction == Direction::from_gl ? kPacking : kUnpacking),
      buffer_(gl, direction == Direction::from_gl ? GL_PIXEL_PACK_BUFFER : GL_PIXEL_UNPACK_BUFFER,
              direction == Direction::from_gl ? GL_PIXEL_PACK_BUFFER_BINDING : GL_PIXEL_UNPACK_BUFFER_BINDING) {
  for (std::size_t i = 0; i < names_.size(); ++i) {
    values_[i] = gl_.integer(names_[i]);
    gl_->PixelStorei(names_[i], i == 0 ? 1 : 0);
  }
  gl_->BindBuffer(direction == Direction::from_gl ? GL_PIXEL_PACK_BUFFER : GL_PIXEL_UNPACK_BUFFER, 0);
}

PlainPixels::~PlainPixels() {
  for (std::size_t i = 0; i < names_.size(); ++i) gl_->PixelStorei(names_[i], values_[i]);
}

}  // namespace softgpu::opengl
