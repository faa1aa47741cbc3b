// Bindings and settings of a context that a transfer changes, and puts back as the program left them.
#pragma once

#include <array>
#include <span>

#include "softgpu/opengl/context.hpp"

namespace softgpu::opengl {

class SavedBuffer {
 public:
  SavedBuffer(const CurrentContext& gl, GLenum target, GLenum binding)
      : gl_(gl), target_(target), name_(static_cast<GLuint>(gl.integer(binding))) {}
  ~SavedBuffer() { gl_->BindBuffer(target_, name_); }
  SavedBuffer(const SavedBuffer&) = delete;
  SavedBuffer& operator=(const SavedBuffer&) = delete;

 private:
  const CurrentContext& gl_;
  GLenum target_;
  GLuint name_;
};

// Of the texture unit that is active.
class SavedTexture {
 public:
  SavedTexture(const CurrentContext& gl, GLenum target);
  ~SavedTexture() { gl_->BindTexture(target_, name_); }
  SavedTexture(const SavedTexture&) = delete;
  SavedTexture& operator=(const SavedTexture&) = delete;

 private:
  const CurrentContext& gl_;
  GLenum target_;
  GLuint name_;
};

class SavedRenderbuffer {
 public:
  explicit SavedRenderbuffer(const CurrentContext& gl)
      : gl_(gl), name_(static_cast<GLuint>(gl.integer(GL_RENDERBUFFER_BINDING))) {}
  ~SavedRenderbuffer() { gl_->BindRenderbuffer(GL_RENDERBUFFER, name_); }
  SavedRenderbuffer(const SavedRenderbuffer&) = delete;
  SavedRenderbuffer& operator=(const SavedRenderbuffer&) = delete;

 private:
  const CurrentContext& gl_;
  GLuint name_;
};

enum class Direction { from_gl, to_gl };

// How pixels lie in the program's memory: here without gaps, and not in a buffer object.
class PlainPixels {
 public:
  PlainPixels(const CurrentContext& gl, Direction direction);
  ~PlainPixels();
  PlainPixels(const PlainPixels&) = delete;
  PlainPixels& operator=(const PlainPixels&) = delete;

 private:
  const CurrentContext& gl_;
  std::span<const GLenum> names_;
  std::array<GLint, 8> values_{};
  SavedBuffer buffer_;
};

}  // namespace softgpu::opengl
