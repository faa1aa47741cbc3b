// Images of OpenGL for tests.
#pragma once

#include "conformance/graphics.hpp"
#include "conformance/texture.hpp"

namespace conformance {

class GraphicsImage : public GraphicsTest {
 protected:
  explicit GraphicsImage(Profile profile = Profile::core) : GraphicsTest(profile) {}

  GLuint make_texture(GLenum target) const {
    GLuint name = 0;
    GL(glGenTextures)(1, &name);
    GL(glBindTexture)(target, name);
    if (target != GL_TEXTURE_RECTANGLE) GL(glTexParameteri)(target, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    GL(glPixelStorei)(GL_UNPACK_ALIGNMENT, 1);
    GL(glPixelStorei)(GL_PACK_ALIGNMENT, 1);
    return name;
  }
  GLuint make_picture(unsigned width, unsigned height, const std::vector<std::uint32_t>& pixels) const {
    const GLuint name = make_texture(GL_TEXTURE_2D);
    GL(glTexImage2D)(GL_TEXTURE_2D, 0, GL_RGBA8, static_cast<GLsizei>(width), static_cast<GLsizei>(height), 0, GL_RGBA,
                     GL_UNSIGNED_BYTE, pixels.data());
    return name;
  }
  template <typename T>
  std::vector<T> image_of(GLuint name, GLenum target, GLenum image, int level, GLenum format, GLenum type,
                          std::size_t count) const {
    std::vector<T> pixels(count);
    GL(glBindTexture)(target, name);
    GL(glGetTexImage)(image, level, format, type, pixels.data());
    return pixels;
  }
  void delete_texture(GLuint name) const { GL(glDeleteTextures)(1, &name); }
  CUresult try_register(GLuint name, GLenum target, unsigned flags = 0) const {
    CUgraphicsResource resource = nullptr;
    const CUresult result = CU(cuGraphicsGLRegisterImage)(&resource, name, target, flags);
    if (result == CUDA_SUCCESS) CU(cuGraphicsUnregisterResource)(resource);
    return result;
  }
};

}  // namespace conformance
