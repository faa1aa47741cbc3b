#include "softgpu/opengl/buffer.hpp"

#include <cstring>

#include "softgpu/opengl/saved_state.hpp"

namespace softgpu::opengl {
namespace {

// The program's buffer may be one that can't be mapped or written by the host. Copies between buffers can be made with
// all of them, so the contents go through a buffer of our own.
class StagingBuffer {
 public:
  StagingBuffer(const CurrentContext& gl, GLenum target, std::size_t bytes, GLenum usage) : gl_(gl) {
    gl_->GenBuffers(1, &name_);
    gl_->BindBuffer(target, name_);
    gl_->BufferData(target, static_cast<GLsizeiptr>(bytes), nullptr, usage);
    gl_.check("making a buffer to copy through");
  }
  ~StagingBuffer() { gl_->DeleteBuffers(1, &name_); }
  StagingBuffer(const StagingBuffer&) = delete;
  StagingBuffer& operator=(const StagingBuffer&) = delete;

 private:
  const CurrentContext& gl_;
  GLuint name_ = 0;
};

void* map_all(const CurrentContext& gl, GLenum target, std::size_t bytes, GLbitfield access) {
  void* mapped = gl->MapBufferRange(target, 0, static_cast<GLsizeiptr>(bytes), access);
  if (mapped == nullptr) {
    gl.check("mapping a buffer to copy through");
    throw Error(Problem::failed, "OpenGL does not map a buffer to copy through");
  }
  return mapped;
}

void copy_all(const CurrentContext& gl, std::size_t bytes) {
  gl->CopyBufferSubData(GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER, 0, 0, static_cast<GLsizeiptr>(bytes));
  gl.check("copying the buffer");
}

// The contents are lost when the memory was, as with a change of the display.
void unmap(const CurrentContext& gl, GLenum target) {
  demand(gl->UnmapBuffer(target) == GL_TRUE, Problem::failed, "OpenGL has lost the contents of a buffer");
}

}  // namespace

std::size_t size_of_buffer(const CurrentContext& gl, GLuint buffer) {
  demand(gl->IsBuffer(buffer) == GL_TRUE, Problem::no_object, "there is no such buffer in the current OpenGL context");
  const SavedBuffer saved(gl, GL_COPY_READ_BUFFER, GL_COPY_READ_BUFFER_BINDING);
  gl->BindBuffer(GL_COPY_READ_BUFFER, buffer);
  GLint is_mapped = 0, access = 0;
  gl->GetBufferParameteriv(GL_COPY_READ_BUFFER, GL_BUFFER_MAPPED, &is_mapped);
  gl->GetBufferParameteriv(GL_COPY_READ_BUFFER, GL_BUFFER_ACCESS_FLAGS, &access);
  GLint64 bytes = 0;
  gl->GetBufferParameteri64v(GL_COPY_READ_BUFFER, GL_BUFFER_SIZE, &bytes);
  gl.check("asking for the size of a buffer");
  demand(is_mapped == 0 || (access & GL_MAP_PERSISTENT_BIT) != 0, Problem::mapped,
         "the program has mapped the buffer in OpenGL: call glUnmapBuffer first");
  demand(bytes > 0, Problem::unfit, "the buffer has no memory: call glBufferData first");
  return static_cast<std::size_t>(bytes);
}

void read_buffer(const CurrentContext& gl, GLuint buffer, std::span<std::byte> target) {
  const SavedBuffer saved_source(gl, GL_COPY_READ_BUFFER, GL_COPY_READ_BUFFER_BINDING);
  const SavedBuffer saved_target(gl, GL_COPY_WRITE_BUFFER, GL_COPY_WRITE_BUFFER_BINDING);
  gl->BindBuffer(GL_COPY_READ_BUFFER, buffer);
  const StagingBuffer staging(gl, GL_COPY_WRITE_BUFFER, target.size(), GL_STREAM_READ);
  copy_all(gl, target.size());
  std::memcpy(target.data(), map_all(gl, GL_COPY_WRITE_BUFFER, target.size(), GL_MAP_READ_BIT), target.size());
  unmap(gl, GL_COPY_WRITE_BUFFER);
}

void write_buffer(const CurrentContext& gl, GLuint buffer, std::span<const std::byte> source) {
  const SavedBuffer saved_source(gl, GL_COPY_READ_BUFFER, GL_COPY_READ_BUFFER_BINDING);
  const SavedBuffer saved_target(gl, GL_COPY_WRITE_BUFFER, GL_COPY_WRITE_BUFFER_BINDING);
  gl->BindBuffer(GL_COPY_WRITE_BUFFER, buffer);
  const StagingBuffer staging(gl, GL_COPY_READ_BUFFER, source.size(), GL_STREAM_COPY);
  std::memcpy(map_all(gl, GL_COPY_READ_BUFFER, source.size(), GL_MAP_WRITE_BIT), source.data(), source.size());
  unmap(gl, GL_COPY_READ_BUFFER);
  copy_all(gl, source.size());
}

}  // namespace softgpu::opengl
